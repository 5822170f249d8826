"""Can this subtree run on the vector engine?  Asked before numpy is imported: this module must not import any numpy room.

``rows_of_subtree(node, context)`` gives the number of rows that the largest tree under the node holds, or None where the subtree can't be
run: an operator, path, expression or collation that the vector engine has not.  ``cost`` says about how many microseconds a row the row engine would
spend: sorting, grouping and function calls cost more than filtering, so that the break-even comes earlier.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.vector.range_size import share_of
from sqlvec.expr import bound
from sqlvec.plan import physical
from sqlvec.values.text import UTF8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.physical import Node

SEEK_MICROSECONDS = 6.0
SCAN_MICROSECONDS = 0.15
START_MICROSECONDS = 200_000.0
_KNOWN_AGGREGATES = frozenset(("count", "sum", "total", "avg", "min", "max", "group_concat"))
_WINDOW_FUNCTIONS = frozenset(("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value", "last_value",
                               "nth_value"))


class Ineligible(Exception):
    """The subtree stays on the row engine."""


class Survey:
    """What is found while walking a subtree: ``rows`` of its largest tree, ``cost``, whether it ``blocks`` (some operator reads
    all before it gives the first row), ``has_limit`` (a LIMIT above nothing that blocks)."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.rows = 0
        self.cost = 0.5                           # microseconds of the row engine per row of the largest tree
        self.blocks = False
        self.has_limit = False

    # --- nodes -----------------------------------------------------------------------------------------------------------------

    def node(self, node: Node) -> None:
        """Check a node and all below it; raises Ineligible."""
        check = _NODES.get(type(node))
        if check is None:
            raise Ineligible
        check(self, node)

    def join(self, node: physical.Join) -> None:
        self.expressions(node.constants)
        self.cost += 1.2 * (len(node.levels) - 1)
        for number, level in enumerate(node.levels):
            self.level(level, number, len(node.levels))

    def level(self, level: physical.Level, number: int, count: int) -> None:
        if level.kind not in ("inner", "left") or level.rest is not None or (level.kind == "left" and number == 0):
            raise Ineligible
        self.expressions(level.match)
        self.expressions(level.conditions)
        path: Any = level.path
        if isinstance(path, physical.QueryScan):
            self.query(path)
            return
        if count == 1 or number == 0:
            if not _is_full_scan(path) and not _is_index_order_scan(path) and not self.is_big_search(path, level, count):
                self.range_search(path)
                return
        elif isinstance(path, physical.AutomaticIndex):
            self.automatic(path)
            return
        elif not isinstance(path, (physical.TableScan, physical.RowidSearch, physical.IndexSearch)):
            raise Ineligible
        else:
            self.search(path)
        self.table(path)

    def range_search(self, path: Any) -> None:
        """An outermost search by constants that finds so much that reading the whole tree is quicker than seeking row by row."""
        if not isinstance(path, (physical.RowidSearch, physical.IndexSearch)) or (path.lower is None and path.upper is None and not
                                                                                  getattr(path, "keys", ())):
            raise Ineligible
        self.search(path)
        terms = getattr(path, "keys", ())
        edges = [edge for edge in (path.lower, path.upper) if edge is not None]
        expressions = [term.expression for term in terms] + [expression for edge in edges for expression in edge.expressions]
        if any(bound.columns_of(expression) for expression in expressions) or any(term.kind != "=" for term in terms):
            raise Ineligible
        try:
            share = share_of(path, self.context)
        except errors.SqlError:
            raise Ineligible from None
        whole = tree_rows(path, self.context)
        if self.context.settings.engine == "auto" and share * whole * SEEK_MICROSECONDS < whole * SCAN_MICROSECONDS + START_MICROSECONDS:
            raise Ineligible
        self.table(path)
        self.rows = max(1, int(share * whole))
        self.cost += SEEK_MICROSECONDS

    def is_big_search(self, path: Any, level: physical.Level, count: int) -> bool:
        """An outermost search that may find much (IN of a sub-query), with work left for the levels or sub-queries behind it."""
        if not isinstance(path, (physical.RowidSearch, physical.IndexSearch)):
            return False
        keys = [path.key] if isinstance(path, physical.RowidSearch) else list(path.keys)
        if not any(key is not None and isinstance(key.expression, bound.InSubquery) and not key.expression.subquery.outer for key in keys):
            return False
        for key in keys:
            if key is not None and key.expression is not None:
                self.expressions((key.expression,))
        for edge in (path.lower, path.upper):
            if edge is not None:
                self.expressions(edge.expressions)
        is_correlated = any(getattr(node, "subquery", None) is not None and node.subquery.outer  # type: ignore[attr-defined]
                            for condition in level.conditions for node in condition.walk())
        return count > 1 or is_correlated

    def query(self, path: physical.QueryScan) -> None:
        """A FROM sub-query, read as it is."""
        if path.outer or path.reverse or path.conversions is not None:
            raise Ineligible
        self.node(path.plan)

    def automatic(self, path: physical.AutomaticIndex) -> None:
        if path.descending:
            raise Ineligible
        self.key_terms(path.keys)
        if path.condition is not None:
            self.expressions((path.condition,))
        for using in path.using:
            self.collation(using)
        if isinstance(path.input, physical.QueryScan):
            self.query(path.input)
        elif _is_full_scan(path.input):
            self.table(path.input)
        else:
            raise Ineligible

    def search(self, path: Any) -> None:
        """An inner level's search, readable as a join."""
        if _is_full_scan(path):
            return
        if isinstance(path, physical.TableScan) or path.descending:
            raise Ineligible
        edges = [edge for edge in (path.lower, path.upper) if edge is not None]
        for edge in edges:
            if len(edge.expressions) != 1:
                raise Ineligible
            self.expressions(edge.expressions)
        if isinstance(path, physical.RowidSearch):
            if path.key is not None:
                if path.key.kind != "=":
                    raise Ineligible
                self.key_terms((path.key,))
            return
        index = path.index
        if path.null_scan is not None or index.where is not None or any(column.column < -1 for column in index.columns):
            raise Ineligible
        self.key_terms(path.keys)
        for column in index.columns[:len(path.keys) + 1]:
            self.collation(column.collation)
        if edges:
            column = index.columns[len(path.keys)]
            if column.column < 0 or column.descending:
                raise Ineligible

    def key_terms(self, terms: Any) -> None:
        for term in terms:
            if term.kind not in ("=", "IS") or term.expression is None:
                raise Ineligible
            self.expressions((term.expression,))

    def table(self, path: Any) -> None:
        """A tree that will be read: stored columns only, UTF-8, no virtual tables."""
        table = path.table
        if table.kind != "table" or (table.root < 2 and not table.without_rowid):
            raise Ineligible
        for number in path.used:
            if number >= 0 and number != table.rowid_column and table.fields[number] < 0:
                raise Ineligible
        self.rows = max(self.rows, tree_rows(path, self.context))

    def filter(self, node: physical.Filter) -> None:
        self.expressions((node.condition,))
        self.node(node.input)

    def project(self, node: physical.Project) -> None:
        self.expressions(node.expressions)
        self.node(node.input)

    def aggregate(self, node: physical.Aggregate) -> None:
        self.expressions(node.keys)
        for name in node.collations:
            self.collation(name)
        if node.extreme is not None and node.aggregates[node.extreme].condition is not None:
            raise Ineligible            # what rules the bare columns then changes from row to row
        for call in node.aggregates:
            function = call.function
            if not function.builtin or function.json_args or function.kind not in _KNOWN_AGGREGATES:
                raise Ineligible
            self.expressions(call.arguments)
            self.collation(call.using)
            if call.condition is not None:
                self.expressions((call.condition,))
        self.blocks = True
        self.cost += 0.3 * len(node.keys) + 0.2 * len(node.aggregates)
        self.node(node.input)

    def sort(self, node: physical.Sort) -> None:
        for term in node.keys:
            self.expressions((term.expression,))
            self.collation(term.collation)
        self.blocks = True
        if not isinstance(node.input, physical.Project) or not isinstance(node.input.input, (physical.Aggregate, physical.Filter)):
            self.cost += 1.0 + 0.4 * len(node.columns)
        self.node(node.input)

    def distinct(self, node: physical.Distinct) -> None:
        for name in node.collations:
            self.collation(name)
        self.cost += 0.3
        self.node(node.input)

    def limit(self, node: physical.Limit) -> None:
        self.expressions([expression for expression in (node.limit, node.offset) if expression is not None])
        outside = self.blocks
        self.blocks = False
        self.node(node.input)
        if not self.blocks:
            self.has_limit = True
        self.blocks |= outside

    def union_all(self, node: physical.UnionAll) -> None:
        for arm in node.arms:
            self.node(arm)

    def set_operation(self, node: physical.SetOperation) -> None:
        for name in node.collations:
            self.collation(name)
        self.blocks = True
        self.cost += 1.0
        self.node(node.left)
        self.node(node.right)

    def window_pass(self, node: physical.WindowPass) -> None:
        window = node.window
        self.expressions(window.partition)
        for expression in window.partition:
            self.collation(expression.collation)
        for term in window.order:
            self.expressions((term.expression,))
            self.collation(term.collation)
        frame = window.frame
        self.expressions([offset for _, offset in (frame.start, frame.end) if offset is not None])
        for call in node.calls:
            if not _is_known_window_call(call, frame):
                raise Ineligible
            self.expressions(call.arguments)
            self.collation(call.using)
            if call.condition is not None:
                self.expressions((call.condition,))
        self.blocks |= not window.partition
        self.cost += 1.0 + 1.0 * len(node.calls)
        self.node(node.input)

    # --- expressions -----------------------------------------------------------------------------------------------------------

    def expressions(self, expressions: Any) -> None:
        for expression in expressions:
            for node in expression.walk():
                if not is_deterministic(node):
                    raise Ineligible
                self.cost += 1.5 if isinstance(node, bound.Call) else 0.05
                subquery = getattr(node, "subquery", None)
                if subquery is not None and subquery.plan is not None:
                    self.cost += 10.0 if subquery.outer else 0.2
                    self.whole_plan(subquery.plan)

    def whole_plan(self, plan: Any) -> None:
        """Check the expressions anywhere in the plan of a sub-query: it may be run any number of times."""
        stack = [plan]
        seen: set[int] = set()
        while stack:
            thing = stack.pop()
            if isinstance(thing, bound.Expression):
                self.expressions((thing,))
            elif isinstance(thing, (tuple, list)):
                stack.extend(thing)
            elif isinstance(thing, _PLAN_PARTS) and id(thing) not in seen:
                seen.add(id(thing))
                if isinstance(thing, physical.VtabScan):
                    raise Ineligible
                for cls in type(thing).__mro__:
                    stack.extend(getattr(thing, name) for name in getattr(cls, "__slots__", ()) if name not in ("table", "index", "columns"))

    def collation(self, name: str | None) -> None:
        found = self.context.collations.lookup(name)
        if found is None or not found.is_builtin:
            raise Ineligible


def reads_all_first(node: Any) -> bool:
    """Is everything read before the first row leaves this subtree?"""
    while isinstance(node, (physical.Project, physical.Filter, physical.Limit, physical.WindowPass)):
        node = node.input
    return isinstance(node, (physical.Aggregate, physical.Sort, physical.SetOperation))


def _is_known_window_call(call: bound.WindowCall, frame: bound.Frame) -> bool:
    """Has the vector engine this function over this frame?

    Functions of a position take all frames but those of a RANGE by distance and those with EXCLUDE.  Of aggregates min and max need a frame that
    begins with the partition; sums take frames of rows that slide too, unless they begin behind the current row."""
    by_distance = frame.unit == "RANGE" and (frame.start[1] is not None or frame.end[1] is not None)
    if by_distance or frame.exclude is not None:
        return False
    function = call.function
    if function.is_window:
        return function.kind in _WINDOW_FUNCTIONS
    if not function.builtin or function.kind not in ("count", "sum", "total", "avg", "min", "max"):
        return False
    if frame.start[0] == "UNBOUNDED PRECEDING" or function.kind == "count":
        return True
    return function.kind not in ("min", "max") and frame.unit == "ROWS" and frame.start[0] in ("PRECEDING", "CURRENT ROW")


def is_deterministic(node: Expression) -> bool:
    """May this one node be evaluated in any order and any number of times?"""
    if isinstance(node, bound.Call):
        return node.function.builtin and node.function.deterministic
    return not isinstance(node, bound.Raise)


def _is_full_scan(path: Any) -> bool:
    if isinstance(path, physical.TableScan):
        return not path.descending
    if isinstance(path, physical.IndexSearch):
        return (not path.keys and path.lower is None and path.upper is None and not path.descending and path.null_scan is None
                and path.index.where is None and all(column.column >= -1 for column in path.index.columns)
                and (path.covering or path.index.is_table_tree))
    return False


def _is_index_order_scan(path: Any) -> bool:
    return (isinstance(path, physical.IndexSearch) and not path.keys and path.lower is None and path.upper is None and not path.descending
            and path.null_scan is None and not path.covering and not path.index.is_table_tree and not path.table.without_rowid
            and path.index.where is None and all(column.column >= -1 for column in path.index.columns))


_PLAN_PARTS = (physical.Node, physical.Path, physical.Level, physical.KeyTerm, physical.RangeBound, bound.OrderTerm, bound.Window, bound.Frame)

_NODES: dict[type, Any] = {
    physical.Join: Survey.join, physical.Filter: Survey.filter, physical.Project: Survey.project, physical.Aggregate: Survey.aggregate,
    physical.Sort: Survey.sort, physical.Distinct: Survey.distinct, physical.Limit: Survey.limit, physical.UnionAll: Survey.union_all,
    physical.SetOperation: Survey.set_operation, physical.WindowPass: Survey.window_pass,
}


def tree_rows(path: Any, context: RunContext) -> int:
    """About how many rows the tree of a path has, by sampling it."""
    table = path.table
    if table.without_rowid:
        return int(context.index_tree(table.key_index).physical_size()[1])
    return int(context.table_tree(table).physical_size()[1])


def survey(node: Node, context: RunContext) -> Survey | None:
    """The survey of a subtree, or None where it stays on the row engine."""
    if context.collations.encoding != UTF8:
        return None
    found = Survey(context)
    try:
        found.node(node)
    except Ineligible:
        return None
    return found

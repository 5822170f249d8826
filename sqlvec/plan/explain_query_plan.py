"""EXPLAIN QUERY PLAN: the physical plan as SQLite prints its own.

The answer is a tree given as rows ``(id, parent, notused, detail)``.  The order of the lines is the order in which SQLite generates code:

    LIMIT sub-queries, FROM sub-queries (FROM order), then per loop: the loop, sub-queries of its keys, sub-queries of its conditions;
    GROUP BY's temp b-tree, sub-queries of aggregate arguments, HAVING and the result list; temp b-trees of DISTINCT and ORDER BY

Window passes don't exist as sub-queries here, but SQLite makes co-routines of them, and so they are printed.

Ids count the lines (SQLite's are addresses of its byte code).

Follows "EXPLAIN QUERY PLAN" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column
from sqlvec.plan import physical
from sqlvec.plan.access.describe import path_text
from sqlvec.plan.logical import Block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from sqlvec.expr.bound import Expression, InSubquery, Subquery

Row = tuple[int, int, int, str]


def explain(plan: physical.Plan) -> list[Row]:
    """The rows of EXPLAIN QUERY PLAN for a whole statement."""
    printer = Printer(plan.next_number)
    printer.statement(plan.root)
    return printer.rows


class Printer:
    """Collects the lines.  ``number`` is the next SELECT number, for window passes; ``shown`` are FROM sub-queries (by slot) and expression
    sub-queries printed already."""

    def __init__(self, number: int) -> None:
        self.rows: list[Row] = []
        self.number = number
        self.shown: set[int] = set()
        self.lists: dict[int, int] = {}         # IN operators that drive the current loop: how many operands do
        self.deferred: list[tuple[physical.Level, int]] = []      # right joins whose unmatched rows come after the loop body

    def line(self, parent: int, detail: str) -> int:
        """Add a line below ``parent``; returns its id."""
        identifier = len(self.rows) + 1
        self.rows.append((identifier, parent, 0, detail))
        return identifier

    def statement(self, root: Any) -> None:
        kind = type(root).__name__
        if kind == "Insert" or (kind == "VtabWrite" and root.event == "INSERT"):
            self._insert(root)
        elif kind in ("Update", "Delete", "VtabWrite"):
            if root.source is not None:
                self.query(root.source, 0)
                if self.rows and getattr(root, "in_place", False):
                    first = self.rows[0]                # rows are changed through the table: no index covers it
                    self.rows[0] = (*first[:3], first[3].replace(" USING COVERING INDEX ", " USING INDEX "))
            key = root.write.table.rowid_column         # a new rowid is computed first
            for _, expression in sorted(getattr(root, "assignments", ()), key=lambda pair: -1 if pair[0] == key else pair[0]):
                self.expressions([expression], 0)
            self._returning(root)
        else:
            self.query(root, 0)

    def _insert(self, root: Any) -> None:
        if root.value_rows is not None:
            if len(root.value_rows) > 1:
                self.line(0, f"SCAN {len(root.value_rows)} CONSTANT ROWS")
            for row in root.value_rows:
                self.expressions(row, 0)
        elif root.source is not None and not getattr(root, "is_moved", False):
            self.query(root.source, 0)
        for clause in getattr(root, "upserts", ()):
            if clause.where is not None:
                self.expressions([clause.where], 0)
            self.expressions([expression for _, expression in clause.assignments or ()], 0)
        self._returning(root)

    def _returning(self, root: Any) -> None:
        if root.returning is not None:
            self.expressions(root.returning.expressions, 0)

    # --- queries ----------------------------------------------------------------------------------------------------------------------

    def query(self, node: physical.Node, parent: int) -> int | None:
        """The lines of one query (everything down to its loops, or to the arms of a compound).

        Returns where SQLite puts the lines that follow the query, if not where one would expect them (see :meth:`_compound`)."""
        above: list[physical.Node] = []
        base = node
        while True:
            if isinstance(base, (physical.Limit, physical.Sort, physical.Distinct, physical.Filter, physical.Project, physical.Aggregate)):
                above.append(base)
                base = base.inputs()[0]
            elif isinstance(base, physical.WindowPass):
                self._windowed(base, above, parent)
                return None
            else:
                break
        above.reverse()
        for upper in above:
            if isinstance(upper, physical.Limit):
                self.expressions([limit for limit in (upper.limit, upper.offset) if limit is not None], parent)
        if isinstance(base, (physical.UnionAll, physical.SetOperation)):
            return self._compound(base, parent)
        parent = self._base(base, above, parent)
        self._upper(above, parent)
        return None

    def _base(self, base: physical.Node, above: list[physical.Node], parent: int) -> int:
        """The lines below the upper nodes; returns their parent for what follows."""
        if isinstance(base, physical.Join):
            parent = self._sources(base, parent)
            for upper in above:
                if isinstance(upper, physical.Aggregate) and upper.mode == "plain":
                    self._distinct_aggregates(upper, parent, is_streamed=_streams_distinct(upper))
            self.expressions(base.constants, parent)
            hides_first = not base.constants and any(isinstance(upper, physical.Distinct) and upper.ordered for upper in above) \
                and isinstance(base.levels[0].path, physical.QueryScan) and not base.levels[0].path.materialized
            for at, level in enumerate(base.levels):
                self._level(level, parent, is_hidden=hides_first and at == 0)
            for level in base.levels:
                if level.rest is not None:
                    self.deferred.append((level, parent))
        elif isinstance(base, physical.SingleRow):
            self.line(parent, "SCAN CONSTANT ROW")
        elif isinstance(base, physical.CountRows):
            index = base.index
            is_covered = index is not None and not index.is_table_tree
            self.line(parent, f"SCAN {base.table.name}{f' USING COVERING INDEX {index.name}' if is_covered else ''}")  # type: ignore[union-attr]
        elif isinstance(base, physical.Values):
            count = len(base.tuples)
            self.line(parent, "SCAN CONSTANT ROW" if count == 1 else f"SCAN {count} CONSTANT ROWS")
            for row in base.tuples:
                self.expressions(row, parent)
        elif isinstance(base, physical.MergeSetOperation):
            self._merge(base, self.query, parent)
        elif isinstance(base, physical.RecursiveCte):
            self.query(base.setup, self.line(parent, "SETUP"))
            at = self.line(parent, "RECURSIVE STEP")
            if len(base.steps) > 1:
                at = self.line(at, "COMPOUND QUERY")
                self.query(base.steps[0], self.line(at, "LEFT-MOST SUBQUERY"))
                for step in base.steps[1:]:
                    self.query(step, self.line(at, "UNION ALL"))
            else:
                self.query(base.steps[0], at)
        return parent

    def _upper(self, above: list[physical.Node], parent: int) -> None:
        """The lines above the loops, bottom up."""
        pending = self.deferred
        self.deferred = []
        late: list[str] = []
        grouped: physical.Aggregate | None = None
        for upper in above:
            if isinstance(upper, physical.Aggregate):
                if upper.mode == "sorted":
                    self.line(parent, f"USE TEMP B-TREE FOR {'DISTINCT' if upper.for_distinct else 'GROUP BY'}")
                self.expressions(upper.keys, parent)
                for call in upper.aggregates:
                    self.expressions([call], parent)
                if upper.mode != "plain":
                    grouped = upper
            elif isinstance(upper, physical.Filter):
                self.expressions([upper.condition], parent)
            elif isinstance(upper, physical.Project):
                self.expressions(upper.expressions, parent)
            elif isinstance(upper, physical.Distinct):
                if not upper.ordered:
                    late.append("USE TEMP B-TREE FOR DISTINCT")
            elif isinstance(upper, physical.Sort):
                part = "RIGHT PART OF " if upper.presorted else ""
                late.append(f"USE TEMP B-TREE FOR {part}ORDER BY")
        for level, at in pending:
            self._rest(level, at)
        if grouped is not None:
            self._distinct_aggregates(grouped, parent, is_streamed=_streams_distinct(grouped))
        for detail in late:
            self.line(parent, detail)

    def _distinct_aggregates(self, node: physical.Aggregate, parent: int, is_streamed: bool = False) -> None:
        for call in node.aggregates:
            if call.distinct and not is_streamed:
                self.line(parent, f"USE TEMP B-TREE FOR {call.function.name}(DISTINCT)")

    def _windowed(self, top: physical.WindowPass, above: list[physical.Node], parent: int) -> None:
        """A window pass: what feeds it is a co-routine."""
        above.reverse()
        for upper in above:
            if isinstance(upper, physical.Limit):
                self.expressions([limit for limit in (upper.limit, upper.offset) if limit is not None], parent)
        label = f"(subquery-{self.number})"
        self.number += 1
        self.query(top.input, self.line(parent, f"CO-ROUTINE {label}"))
        self.line(parent, f"SCAN {label}")
        for upper in above:
            if isinstance(upper, physical.Project):
                self.expressions(upper.expressions, parent)
        for upper in above:
            if isinstance(upper, physical.Distinct) and not upper.ordered:
                self.line(parent, "USE TEMP B-TREE FOR DISTINCT")
            elif isinstance(upper, physical.Sort):
                self.line(parent, f"USE TEMP B-TREE FOR {'RIGHT PART OF ' if upper.presorted else ''}ORDER BY")

    def _compound(self, base: physical.Node, parent: int) -> int | None:
        """A compound without ORDER BY: one line an arm.

        SQLite closes the lines of a compound that is an arm itself (from a merged sub-query) only if it is the last arm: all that follows
        stands below it.  Returns the parent of what follows the whole compound in that case."""
        arms: list[tuple[str, physical.Node]] = []
        node = base
        while True:
            if isinstance(node, physical.UnionAll):
                arms.extend(("UNION ALL", arm) for arm in reversed(node.arms[1:]))
                node = node.arms[0]
            elif isinstance(node, physical.SetOperation):
                arms.append((f"{node.operator} USING TEMP B-TREE", node.right))
                node = node.left
            else:
                break
        if isinstance(node, physical.Values) and len(node.tuples) > 1:     # rows of VALUES on the left are arms of their own
            ones = []
            for row in node.tuples:
                one = physical.Values((row,), node.source, node.columns)
                ones.append(one)
            arms.extend(("UNION ALL", one) for one in reversed(ones[1:]))
            node = ones[0]
        compound = self.line(parent, "COMPOUND QUERY")
        follows = None
        arms.append(("LEFT-MOST SUBQUERY", node))
        for detail, arm in reversed(arms):
            label = self.line(compound, detail)
            if isinstance(arm, (physical.UnionAll, physical.SetOperation)) and arm is not arms[0][1]:
                follows = compound
                compound = len(self.rows) + 1
            self._right_arm(arm, label)
        return follows

    def _merge(self, node: physical.MergeSetOperation, print_left: Callable[[physical.Node, int], Any], parent: int) -> None:
        merge = self.line(parent, f"MERGE ({node.operator})")
        print_left(node.left, self.line(merge, "LEFT"))
        self._right_arm(node.right, self.line(merge, "RIGHT"))

    def _right_arm(self, arm: physical.Node, parent: int) -> None:
        """An arm that isn't the first: VALUES of several rows is a sub-query there."""
        rows = arm.input if isinstance(arm, physical.Sort) else arm
        if isinstance(rows, physical.Values) and len(rows.tuples) > 1:
            label = f"(subquery-{rows.number})"
            self.query(rows, self.line(parent, f"CO-ROUTINE {label}"))
            self.line(parent, f"SCAN {label}")
            if rows is not arm:
                self.line(parent, "USE TEMP B-TREE FOR ORDER BY")
        elif isinstance(arm, physical.MergeSetOperation):
            self._merge(arm, self._right_arm, parent)
        else:
            self.query(arm, parent)

    # --- loops --------------------------------------------------------------------------------------------------------------------------

    def _sources(self, join: physical.Join, parent: int) -> int:
        """The FROM sub-queries of a join, in FROM order; returns the parent of what follows."""
        for path in [level.path for level in sorted(join.levels, key=lambda one: one.position)] + list(join.unused):
            while isinstance(path, physical.AutomaticIndex):
                path = path.input
            if not isinstance(path, physical.QueryScan):
                continue
            if path.materialized:
                if path.slot in self.shown:
                    continue
                self.shown.add(path.slot)
            follows = self.query(path.plan, self.line(parent, f"{'MATERIALIZE' if path.materialized else 'CO-ROUTINE'} {path.name}"))
            parent = parent if follows is None else follows
        return parent

    def _level(self, level: physical.Level, parent: int, is_hidden: bool = False) -> None:
        """One loop.  ``is_hidden``: it scans a co-routine for a DISTINCT that needs no b-tree: SQLite takes the line of the scan, the first instruction
        after the b-tree's, out together with that."""
        path = level.path
        lists = self.lists
        self.lists = {}
        if level.bloom:
            self.line(parent, f"BLOOM FILTER ON {path.label} ({' AND '.join(name + '=?' for name in level.bloom)})")
        if isinstance(path, physical.MultiIndexOr):
            self._branches(path, parent, level.kind)
        else:
            if not is_hidden:
                self.line(parent, path_text(path, level.kind))
            self._keys(path, parent)
        self.expressions(level.match, parent)
        self.expressions(level.conditions, parent)
        self.lists = lists

    def _branches(self, path: physical.MultiIndexOr, parent: int, kind: str) -> None:
        top = self.line(parent, "MULTI-INDEX OR")
        for number, (branch, condition) in zip(path.numbers, path.branches, strict=True):
            at = self.line(top, f"INDEX {number}")
            if isinstance(branch, physical.MultiIndexOr):
                self._branches(branch, at, kind)
            else:
                self._keys(branch, at)
            if condition is not None:
                self.expressions([condition], at)
            if not isinstance(branch, physical.MultiIndexOr):
                self.line(at, path_text(branch, kind))

    def _rest(self, level: physical.Level, parent: int) -> None:
        """The unmatched rows of a RIGHT or FULL JOIN."""
        assert level.rest is not None
        table = getattr(level.rest, "table", None)
        name = table.name if table is not None else getattr(level.rest, "name", "")
        at = self.line(parent, f"RIGHT-JOIN {name}")
        self.line(at, path_text(level.rest))
        before = len(self.rows)
        self._keys(level.rest, at)
        if len(self.rows) == before:
            self.expressions(level.conditions, at)

    def _keys(self, path: physical.Path, parent: int) -> None:
        """Sub-queries in what a path searches for."""
        keys = getattr(path, "keys", ()) or ([path.key] if getattr(path, "key", None) is not None else ())  # type: ignore[attr-defined]
        driving: dict[int, list[int]] = {}      # operands that drive the loop, for each sub-query
        for term in keys:
            if term.kind == "IN" and hasattr(term.expression, "subquery"):
                numbers = driving.setdefault(id(term.expression.subquery), [])
                if term.number not in numbers:  # an index may have a column twice
                    numbers.append(term.number)
        for term in keys:
            if term.expression is None:
                continue
            if term.kind == "IN" and hasattr(term.expression, "subquery"):
                components = driving.pop(id(term.expression.subquery), None)
                if components is not None:
                    self.in_operator(term.expression, parent, components)
            else:
                self.expressions([term.expression], parent)
        for bound in (getattr(path, "lower", None), getattr(path, "upper", None)):
            if bound is not None:
                self.expressions(bound.expressions, parent)
        self.expressions(getattr(path, "arguments", ()), parent)

    # --- sub-queries in expressions -------------------------------------------------------------------------------------------------

    def expressions(self, expressions: Iterable[Expression], parent: int) -> None:
        """Print the sub-queries of expressions, from the left."""
        for expression in expressions:
            stack = [expression]
            while stack:
                node = stack.pop()
                subquery = getattr(node, "subquery", None)
                if subquery is not None:
                    if type(node).__name__ == "InSubquery":
                        key = _list_key(node)  # type: ignore[arg-type]
                        if key in self.lists:               # row-value IN some of whose components drive the loop: all are compared again
                            if self.lists[key] < len(node.operands):  # type: ignore[attr-defined]
                                self.in_operator(node, parent)  # type: ignore[arg-type]
                            continue
                        self.in_operator(node, parent)  # type: ignore[arg-type]
                    else:
                        self.nested(subquery, "SCALAR SUBQUERY", parent)
                stack.extend(reversed(list(node.children())))

    def nested(self, subquery: Subquery, kind: str, parent: int) -> None:
        """One sub-query, unless it has been printed."""
        if id(subquery) in self.shown:
            self.line(parent, f"REUSE {'LIST ' if kind.startswith('LIST') else ''}SUBQUERY {subquery.number}")
            return
        self.shown.add(id(subquery))
        at = self.line(parent, f"{'CORRELATED ' if subquery.outer or subquery.is_correlated else ''}{kind} {subquery.number}")
        if subquery.plan is not None:
            self.query(subquery.plan, at)

    def in_operator(self, node: InSubquery, parent: int, driving: list[int] | None = None) -> None:
        """``IN (SELECT ...)``: a temporary list, or an existing tree that has the values.  ``driving`` are the operands that drive a loop."""
        if node.subquery is None:
            return
        if driving is not None:
            self.lists[_list_key(node)] = len(driving)
        existing = existing_tree(node, driving)
        if existing is not None:
            if id(node.subquery) not in self.shown or driving is not None:
                self.line(parent, existing)
            self.shown.add(id(node.subquery))
        else:
            self.nested(node.subquery, "LIST SUBQUERY", parent)
        if driving is not None and len(node.operands) > 1:      # it was a list of those operands only, nothing to use again
            self.shown.discard(id(node.subquery))


def _list_key(node: InSubquery) -> int:
    """Tells IN operators apart: a condition on another column made from one isn't the same, but components of row values are."""
    return id(node) if len(node.operands) == 1 else id(node.subquery)


def _streams_distinct(node: physical.Aggregate) -> bool:
    """Do the values of the only DISTINCT aggregate arrive adjacent?"""
    return node.distinct_ordered


def existing_tree(node: InSubquery, driving: list[int] | None = None) -> str | None:
    """The line for an IN operator that searches an existing table or index: the right side is plain columns of one table, all its rows.

    A loop needs the values of the ``driving`` operands only, each once, from an index that has no other columns or that is unique."""
    subquery = node.subquery
    query = subquery.query
    if subquery.outer or not isinstance(query, Block) or len(query.from_items) != 1 or query.conditions or query.limit is not None \
            or query.is_aggregate or query.distinct or query.windows or query.group_by is not None:
        return None
    item = query.from_items[0]
    table = item.table
    if table is None or table.kind != "table" or not all(type(result) is Column for result in query.result):
        return None
    chosen = range(len(node.operands)) if driving is None else driving
    columns = [query.result[at].number for at in chosen]  # type: ignore[attr-defined]
    if len(columns) == 1 and columns[0] in (-1, table.rowid_column) and not table.without_rowid:
        return f"USING ROWID SEARCH ON TABLE {table.name} FOR IN-OPERATOR"
    for at in chosen:
        left, right = node.operands[at].affinity, query.result[at].affinity
        is_numeric = (left is not None and left >= "C") or (right is not None and right >= "C")
        if is_numeric and not (right is not None and right >= "C"):
            return None
    using = tuple(node.using[at] for at in chosen)
    for index in table.indexes:
        if index.where is not None or len(index.columns) < len(columns):
            continue
        if driving is not None and (index.key_count > len(columns) or (len(index.columns) > len(columns) and not index.unique)):
            continue
        if _serves(index, columns, using):
            return f"USING INDEX {index.name} FOR IN-OPERATOR"
    return None


def _serves(index: Any, columns: list[int], using: tuple[str, ...]) -> bool:
    """Are the first fields of the index exactly these columns, with the collations of the comparison?"""
    fields = index.columns[:len(columns)]
    used = set()
    for column, collation in zip(columns, using, strict=True):
        at = next((number for number, field in enumerate(fields)
                   if number not in used and field.column == column and field.collation.upper() == collation.upper()), -1)
        if at < 0:
            return False
        used.add(at)
    return True

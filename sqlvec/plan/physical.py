"""The one physical plan: what both engines run.

A node is named by its algorithm, is immutable after lowering, and says nothing about an engine.  Every node has

    ``columns``   the bound Columns that its output rows hold, in order: rows are tuples of exactly these
    ``rows``      SQLite's row estimate as a LogEst (10*log2)

and reads its expressions against the columns of its input (see "environment" in expr/bound.py); Columns found in neither are outer values.

Drawing of a typical SELECT, bottom up::

    Limit( Project( Sort( Project( Filter?( Aggregate( Join(levels) ) ) ) ) ) )

``Join`` is the only node that touches tables: its ``levels`` are nested loops, outermost first; one level is a plain scan.  Paths below a level:
TableScan, RowidSearch, IndexSearch, MultiIndexOr, AutomaticIndex, VtabScan, QueryScan, RecursiveScan.

Invariants
1. Row order: a node's output order is what nested loops over its paths in the given directions produce; Sort and Aggregate say theirs.
2. A path yields rows of its own ``source`` only; ``columns`` of the Join are the union of what is needed above, for all levels.
3. ``visit_order(path)`` names the order that a path delivers: needed by readers that read in another order.

Follows "Query Planning", "EXPLAIN QUERY PLAN", "Rowid Tables" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, Unary
from sqlvec.values.affinity import BLOB, REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import AggregateCall, Expression, OrderTerm, Subquery, Window, WindowCall
    from sqlvec.schema.objects import Index, Table


class Node:
    """Base of physical nodes."""

    __slots__ = ("columns", "rows")
    INPUTS: tuple[str, ...] = ()

    def __init__(self, columns: tuple[Column, ...] = ()) -> None:
        self.columns = columns
        self.rows = 0

    def inputs(self) -> list[Node]:
        """Direct input nodes, left to right."""
        return [getattr(self, name) for name in self.INPUTS if getattr(self, name) is not None]

    def __repr__(self) -> str:
        names = [name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ()) if name not in ("table", "columns")]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


# --- access paths ------------------------------------------------------------------------------------------------------------------


class Path:
    """Base of access paths: how one level of a Join finds the rows of ``source``.

    ``label`` is the name that EXPLAIN QUERY PLAN prints; ``used`` the column numbers (of the table or query) read above, -1 = rowid.
    ``for_extreme``: the scan serves the only min() or max() of the query (EXPLAIN QUERY PLAN calls it SEARCH)."""

    __slots__ = ("for_extreme", "label", "source", "used")

    def __init__(self, source: int, label: str) -> None:
        self.source = source
        self.label = label
        self.used: tuple[int, ...] = ()
        self.for_extreme = False

    def __repr__(self) -> str:
        names = [name for cls in type(self).__mro__ for name in getattr(cls, "__slots__", ()) if name not in ("table", "index")]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"


class TableScan(Path):
    """Full scan of a rowid table in rowid order (``descending`` = backwards)."""

    __slots__ = ("descending", "table")

    def __init__(self, source: int, label: str, table: Table, descending: bool = False) -> None:
        super().__init__(source, label)
        self.table = table
        self.descending = descending


class KeyTerm:
    """One equality on an index column (or the rowid): ``kind`` '=' | 'IS' | 'NULL' | 'IN' | 'ANY' (skip-scan).

    For '=' and 'IS' ``expression`` is the value (of earlier levels or constants); for 'IN' it is an InList or InSubquery node and ``number`` the operand's
    position in a row-value IN.  ``applied`` is the affinity to apply to the value before the seek (the comparison's)."""

    __slots__ = ("applied", "expression", "kind", "number")

    def __init__(self, kind: str, expression: Expression | None, applied: str | None = None, number: int = 0) -> None:
        self.kind = kind
        self.expression = expression
        self.applied = applied
        self.number = number

    def __repr__(self) -> str:
        return f"KeyTerm({self.kind}, {self.expression!r}, {self.applied})"


class RangeBound:
    """A lower or upper bound: ``expressions`` (several for row values), ``inclusive``, one ``applied`` affinity per expression.

    NULL never lies within bounds: an index range without a lower bound starts after the NULLs.  ``after_nulls``: the bound of ``x IS NOT NULL``,
    nothing but that (its expression is a NULL literal)."""

    __slots__ = ("after_nulls", "applied", "expressions", "inclusive")

    def __init__(self, expressions: tuple[Expression, ...], inclusive: bool, applied: tuple[str | None, ...] = (None,)) -> None:
        self.expressions = expressions
        self.inclusive = inclusive
        self.applied = applied
        self.after_nulls = False

    def __repr__(self) -> str:
        return f"RangeBound({self.expressions!r}, inclusive={self.inclusive})"


class RowidSearch(Path):
    """Search of a rowid table: either ``key`` (a KeyTerm '=', 'IS' or 'IN') or a range ``lower``/``upper`` of rowids."""

    __slots__ = ("descending", "key", "lower", "table", "upper")

    def __init__(self, source: int, label: str, table: Table, key: KeyTerm | None = None, lower: RangeBound | None = None,
                 upper: RangeBound | None = None, descending: bool = False) -> None:
        super().__init__(source, label)
        self.table = table
        self.key = key
        self.lower = lower
        self.upper = upper
        self.descending = descending


class IndexSearch(Path):
    """Scan or search of an index tree (also the table tree of a WITHOUT ROWID table: ``index.is_table_tree``).

    ``keys`` are the equality terms on the first index columns, then ``lower``/``upper`` bound the next one.  No keys and no bounds = full scan.
    ``covering``: the table itself isn't read.  ``descending``: the index is walked backwards.
    ``null_scan``: None, 'first' or 'last': the column after the keys is ordered with NULLS FIRST/LAST against its natural place (two passes)."""

    __slots__ = ("covering", "descending", "index", "keys", "lower", "null_scan", "table", "upper")

    def __init__(self, source: int, label: str, table: Table, index: Index, keys: tuple[KeyTerm, ...] = (), lower: RangeBound | None = None,
                 upper: RangeBound | None = None, covering: bool = False, descending: bool = False) -> None:
        super().__init__(source, label)
        self.table = table
        self.index = index
        self.keys = keys
        self.lower = lower
        self.upper = upper
        self.covering = covering
        self.descending = descending
        self.null_scan: str | None = None


class MultiIndexOr(Path):
    """``branches``: (path, condition) in order; a row (by rowid, or key of a WITHOUT ROWID table) delivered by an earlier branch is skipped.

    Each branch path has the same source; ``condition`` (what the path doesn't enforce of the disjunct) is checked on its rows.  ``numbers`` are those
    that EXPLAIN QUERY PLAN prints for the branches (``INDEX n``)."""

    __slots__ = ("branches", "numbers", "table")

    def __init__(self, source: int, label: str, table: Table, branches: tuple[tuple[Path, Expression | None], ...]) -> None:
        super().__init__(source, label)
        self.table = table
        self.branches = branches
        self.numbers: tuple[int, ...] = ()


class AutomaticIndex(Path):
    """A temporary index over ``input`` (TableScan or QueryScan of the same source), built at first use of each run.

    ``key_columns`` with ``keys`` (KeyTerms '=' or 'IS') and ``using`` collations; entries of equal key come in the order of ``order_columns`` (BINARY), then
    insertion, or the other way round (``descending``).  ``condition``: partial automatic index.  ``names`` of the key columns are for EXPLAIN QUERY
    PLAN."""

    __slots__ = ("condition", "descending", "input", "key_columns", "keys", "names", "order_columns", "using")

    def __init__(self, source: int, label: str, input: Path, key_columns: tuple[int, ...], keys: tuple[KeyTerm, ...], using: tuple[str, ...],
                 order_columns: tuple[int, ...], condition: Expression | None = None) -> None:
        super().__init__(source, label)
        self.input = input
        self.key_columns = key_columns
        self.keys = keys
        self.using = using
        self.order_columns = order_columns
        self.condition = condition
        self.descending = False
        self.names: tuple[str, ...] = ()


class VtabScan(Path):
    """A virtual table or table-valued function: what best_index chose (``choice`` is the module's own plan), ``arguments`` expressions in its order."""

    __slots__ = ("arguments", "choice", "table")

    def __init__(self, source: int, label: str, table: Table, choice: Any, arguments: tuple[Expression, ...]) -> None:
        super().__init__(source, label)
        self.table = table
        self.choice = choice
        self.arguments = arguments


class QueryScan(Path):
    """Rows of a FROM sub-query: ``plan`` run as a co-routine (``materialized`` False, outermost level only) or materialised once per run
    of the statement (per outer row when ``outer`` is not empty).  Scans with the same ``slot`` share one materialisation.
    ``name`` is the name of the view, CTE or sub-query (``label`` may be an alias); ``conversions`` are the affinities that reading a compound
    applies to its columns, None where nothing can change.
    ``reverse``: the materialised rows are read last to first (PRAGMA reverse_unordered_selects; a co-routine can't be)."""

    __slots__ = ("conversions", "materialized", "name", "outer", "plan", "reverse", "slot")

    def __init__(self, source: int, label: str, plan: Node, materialized: bool, slot: int) -> None:
        super().__init__(source, label)
        self.plan = plan
        self.materialized = materialized
        self.slot = slot
        self.outer: tuple[Column, ...] = ()
        self.name = ""
        self.conversions: tuple[str | None, ...] | None = None
        self.reverse = False

    def convert(self, affinities: tuple[str | None, ...]) -> None:
        """Set ``conversions`` for columns of these affinities: a materialised compound's rows are stored with them; of a co-routine a REAL column reads
        as real even when it is only passed on.  Where each arm has the same affinity in each such column, nothing can change."""
        places = _sorted_reals(self.plan)
        if any(affinities[place] == REAL for place in places):
            self.conversions = tuple([affinity if place in places and affinity == REAL else None for place, affinity in enumerate(affinities)])
            return
        node = self.plan
        while isinstance(node, (Sort, Limit, Distinct)):
            node = node.input
        if isinstance(node, _COMPOUNDS):
            wanted = tuple([affinity if affinity == REAL or (self.materialized and affinity != BLOB) else None for affinity in affinities])
            self.conversions = wanted if _may_convert(node, wanted) else None


def _may_convert(node: Node, wanted: tuple[str | None, ...]) -> bool:
    if isinstance(node, (*_COMPOUNDS, Sort, Limit, Distinct)):
        return any(_may_convert(arm, wanted) for arm in node.inputs())
    return any(affinity is not None and column.affinity != affinity for affinity, column in zip(wanted, node.columns, strict=False))


def computed_reals(node: Node) -> tuple[int, ...]:
    """Where the rows of ``node`` hold REAL columns that are computed on reading (VIRTUAL), behind unary plus or not.

    The original keeps such a value as "an integer that is shown as a real"; its sorter stores the integer and forgets the rest."""
    loops = node.input if isinstance(node, Project) else node
    while isinstance(loops, (Sort, Filter)):
        loops = loops.input
    if not isinstance(loops, Join):
        return ()                   # windows and aggregates hand true reals on
    found = []
    for place, expression in enumerate(node.expressions if isinstance(node, Project) else node.columns):
        while isinstance(expression, Unary) and expression.operator == "+":
            expression = expression.operand
        if isinstance(expression, Column) and expression.table is not None and expression.number >= 0 and expression.table.kind == "table" \
                and expression.affinity == REAL and expression.table.fields[expression.number] < 0:
            found.append(place)
    return tuple(found)


def _sorted_reals(node: Node) -> tuple[int, ...]:
    """Where the rows of a sorted sub-query hold such columns as the sorter left them."""
    if isinstance(node, (Limit, Distinct)):
        return _sorted_reals(node.input)
    if isinstance(node, Sort):
        return computed_reals(node.input)
    if isinstance(node, Project) and isinstance(node.input, (Limit, Sort)):
        keys = {(node.input.columns[place].source, node.input.columns[place].number) for place in _sorted_reals(node.input)}
        return tuple([place for place, one in enumerate(node.expressions) if isinstance(one, Column) and (one.source, one.number) in keys])
    return ()


class RecursiveScan(Path):
    """The current row of the recursive CTE with queue ``slot``."""

    __slots__ = ("slot",)

    def __init__(self, source: int, label: str, slot: int) -> None:
        super().__init__(source, label)
        self.slot = slot


# --- nodes ---------------------------------------------------------------------------------------------------------------------------


class Level:
    """One nested loop of a Join.

    ``kind`` 'inner' | 'left' | 'right' | 'full': this level is the right operand of that join.  ``match`` are the conditions that decide matching
    (ON terms of an outer join; empty for inner), ``conditions`` those checked afterwards on every row, null-extended ones included (for inner levels
    everything is here).  Both are in evaluation order.  For 'right' and 'full' ``rest`` is the path that finds the unmatched rows after all loops
    have ended, emitted with NULLs for all earlier sources, subject to the conditions of this and the later levels.  ``bloom`` (key columns as
    printed) says that SQLite would put a Bloom filter before this level: EXPLAIN QUERY PLAN prints it, engines may ignore it.  ``position`` is the
    place of the item in the FROM clause."""

    __slots__ = ("bloom", "conditions", "kind", "match", "path", "position", "rest", "rows")

    def __init__(self, path: Path, kind: str = "inner", match: tuple[Expression, ...] = (), conditions: tuple[Expression, ...] = ()) -> None:
        self.path = path
        self.kind = kind
        self.match = match
        self.conditions = conditions
        self.rest: Path | None = None
        self.rows = 0
        self.bloom: tuple[str, ...] = ()
        self.position = 0

    def __repr__(self) -> str:
        return f"Level({self.kind}, {self.path!r}, match={self.match!r}, conditions={self.conditions!r})"


class Join(Node):
    """Nested loops over ``levels``.  ``constants`` are conditions without columns of any level, checked once before the loops.
    ``unused``: scans of FROM sub-queries that were found to be needless (EXPLAIN QUERY PLAN still shows them)."""

    __slots__ = ("constants", "levels", "unused")

    def __init__(self, levels: tuple[Level, ...], columns: tuple[Column, ...], constants: tuple[Expression, ...] = ()) -> None:
        super().__init__(columns)
        self.levels = levels
        self.constants = constants
        self.unused: tuple[QueryScan, ...] = ()


def ending_tables(join: Join) -> list[Table]:
    """Tables that inner loops scan whole: an empty one ends all loops, however many rows the outer ones would make."""
    if any(level.kind in ("right", "full") for level in join.levels):
        return []
    return [level.path.table for level in join.levels[1:] if level.kind == "inner" and isinstance(level.path, TableScan)]


class SingleRow(Node):
    """One row without columns: a SELECT without FROM."""

    __slots__ = ()


class Filter(Node):
    """Rows of ``input`` for which ``condition`` is true."""

    __slots__ = ("condition", "input")
    INPUTS = ("input",)

    def __init__(self, input: Node, condition: Expression) -> None:
        super().__init__(input.columns)
        self.input = input
        self.condition = condition


class Project(Node):
    """One output column ``Column(source, i)`` per expression."""

    __slots__ = ("expressions", "input", "source")
    INPUTS = ("input",)

    def __init__(self, input: Node, expressions: tuple[Expression, ...], source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.input = input
        self.expressions = expressions
        self.source = source


class Aggregate(Node):
    """GROUP BY and aggregates.  Output columns, all of ``source``: the ``keys``, then one per ``aggregates``, then the ``bare`` columns.

    ``mode`` 'plain': no GROUP BY, always one row; 'grouped': input arrives with equal keys adjacent, groups leave in arrival order;
    'sorted': input in any order, groups leave sorted by ``key_order`` (one OrderTerm per key, over input columns, in sorter order), rows inside a
    group keep arrival order.  Keys compare with ``collations``; the output form of a key is that of the group's first row.
    ``bare`` columns come from the group's first row, or, when ``extreme`` is not None, from the row where aggregates[extreme] (a min or max) last
    took a new value.  ``for_distinct``: this is a SELECT DISTINCT whose ORDER BY is its result list; ``distinct_ordered``: equal arguments of the only
    DISTINCT aggregate arrive adjacent."""

    __slots__ = ("aggregates", "bare", "collations", "distinct_ordered", "extreme", "for_distinct", "input", "key_order", "keys", "mode", "source")
    INPUTS = ("input",)

    def __init__(self, input: Node, mode: str, keys: tuple[Expression, ...], collations: tuple[str, ...], key_order: tuple[OrderTerm, ...],
                 aggregates: tuple[AggregateCall, ...], bare: tuple[Column, ...], extreme: int | None, source: int,
                 columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.input = input
        self.mode = mode
        self.keys = keys
        self.collations = collations
        self.key_order = key_order
        self.aggregates = aggregates
        self.bare = bare
        self.for_distinct = False
        self.distinct_ordered = False
        self.extreme = extreme
        self.source = source


class CountRows(Node):
    """``SELECT count(*)`` of one table without conditions: counted from the pages of ``table``'s (or the narrowest ``index``'s) tree.

    One column of ``source``."""

    __slots__ = ("index", "label", "source", "table")

    def __init__(self, table: Table, index: Index | None, label: str, source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.table = table
        self.index = index
        self.label = label
        self.source = source


class WindowPass(Node):
    """All window functions of one window definition, over input sorted by (partition, order).  Output: the input's columns followed by one
    column of ``source`` per call.  Row order is kept."""

    __slots__ = ("calls", "input", "source", "window")
    INPUTS = ("input",)

    def __init__(self, input: Node, window: Window, calls: tuple[WindowCall, ...], source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.input = input
        self.window = window
        self.calls = calls
        self.source = source


class Sort(Node):
    """Stable sort by ``keys`` (expressions are input columns).  ``presorted`` = how many leading keys the input already satisfies.

    ``limit``: bound expression for LIMIT (+ ``offset``) known to apply right above: keep only that many (top-N); the Limit node still stands above.
    ``for_window``: the rows go to a WindowPass, which reads them as columns of their types."""

    __slots__ = ("for_window", "input", "keys", "limit", "offset", "presorted")
    INPUTS = ("input",)

    def __init__(self, input: Node, keys: tuple[OrderTerm, ...], presorted: int = 0, limit: Expression | None = None, offset: Expression | None = None) -> None:
        super().__init__(input.columns)
        self.input = input
        self.keys = keys
        self.presorted = presorted
        self.limit = limit
        self.offset = offset
        self.for_window = False


class Distinct(Node):
    """First row of each set of equal rows over the first ``width`` columns, in arrival order; ``ordered``: duplicates arrive adjacent."""

    __slots__ = ("collations", "input", "ordered", "width")
    INPUTS = ("input",)

    def __init__(self, input: Node, width: int, collations: tuple[str, ...], ordered: bool = False) -> None:
        super().__init__(input.columns)
        self.input = input
        self.width = width
        self.collations = collations
        self.ordered = ordered


class Limit(Node):
    """LIMIT/OFFSET: evaluated once; negative limit = none, negative offset = 0; non-integers raise "datatype mismatch"."""

    __slots__ = ("input", "limit", "offset")
    INPUTS = ("input",)

    def __init__(self, input: Node, limit: Expression | None, offset: Expression | None) -> None:
        super().__init__(input.columns)
        self.input = input
        self.limit = limit
        self.offset = offset


class UnionAll(Node):
    """Rows of each arm in turn; output columns of ``source``."""

    __slots__ = ("arms", "source")

    def __init__(self, arms: tuple[Node, ...], source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.arms = arms
        self.source = source

    def inputs(self) -> list[Node]:
        return list(self.arms)


class SetOperation(Node):
    """UNION, INTERSECT or EXCEPT through a temporary tree: output sorted by all columns; an equal row inserted later replaces the stored form
    (UNION), INTERSECT and EXCEPT deliver the left form."""

    __slots__ = ("collations", "left", "operator", "right", "source")
    INPUTS = ("left", "right")

    def __init__(self, operator: str, left: Node, right: Node, collations: tuple[str, ...], source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.operator = operator
        self.left = left
        self.right = right
        self.collations = collations
        self.source = source


class MergeSetOperation(Node):
    """A compound with ORDER BY: both arms arrive sorted by ``keys`` (all result columns for other operators than UNION ALL) and are merged:
    on equal keys UNION ALL takes the left row first, UNION the right form, INTERSECT the left form, EXCEPT neither."""

    __slots__ = ("collations", "keys", "left", "operator", "right", "source")
    INPUTS = ("left", "right")

    def __init__(self, operator: str, left: Node, right: Node, keys: tuple[OrderTerm, ...], collations: tuple[str, ...], source: int,
                 columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.operator = operator
        self.left = left
        self.right = right
        self.keys = keys
        self.collations = collations
        self.source = source


class Values(Node):
    """Constant rows of expressions; output columns of ``source``.  ``number`` is its SELECT number."""

    __slots__ = ("number", "source", "tuples")

    def __init__(self, tuples: tuple[tuple[Expression, ...], ...], source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.tuples = tuples
        self.number = 0
        self.source = source


class RecursiveCte(Node):
    """The queue algorithm: rows of ``setup`` enter the queue ``slot``; the first row is taken, output, and each of ``steps`` (which read it through
    RecursiveScan(slot)) appends its rows.  ``order`` makes the queue a priority queue (terms over output columns; ties first in first out);
    ``distinct`` = UNION."""

    __slots__ = ("collations", "distinct", "limit", "offset", "order", "setup", "slot", "source", "steps")

    def __init__(self, setup: Node, steps: tuple[Node, ...], slot: int, distinct: bool, collations: tuple[str, ...], order: tuple[OrderTerm, ...],
                 limit: Expression | None, offset: Expression | None, source: int, columns: tuple[Column, ...]) -> None:
        super().__init__(columns)
        self.setup = setup
        self.steps = steps
        self.slot = slot
        self.distinct = distinct
        self.collations = collations
        self.order = order
        self.limit = limit
        self.offset = offset
        self.source = source

    def inputs(self) -> list[Node]:
        return [self.setup, *self.steps]


_COMPOUNDS = (UnionAll, SetOperation, MergeSetOperation, RecursiveCte)


class Plan:
    """A whole compiled statement: ``root`` node, ``names`` and declared types of the result columns, ``subqueries`` (in number order; their ``plan`` is set),
    ``parameters`` (names by index), ``slots`` = number of activation slots, ``databases`` read and ``writes`` written (database numbers),
    ``cookies`` {database: schema cookie} and ``generation`` it was made under.  ``explain`` = None | 'EXPLAIN' | 'QUERY PLAN'.
    ``next_number``: the SELECT number after those of the text (EXPLAIN QUERY PLAN gives it to window passes)."""

    __slots__ = ("cookies", "databases", "declared_types", "explain", "generation", "names", "next_number", "parameters", "root", "slots",
                 "subqueries", "writes")

    def __init__(self, root: Node, names: tuple[str, ...]) -> None:
        self.root = root
        self.names = names
        self.declared_types: tuple[str | None, ...] = ()
        self.subqueries: list[Subquery] = []
        self.parameters: list[str | None] = []
        self.slots = 0
        self.databases: frozenset[int] = frozenset()
        self.writes: frozenset[int] = frozenset()
        self.cookies: dict[int, int] = {}
        self.generation = 0
        self.explain: str | None = None
        self.next_number = 1

"""Physical nodes that change rows: Insert, Update, Delete, and the programs (triggers, foreign-key actions) they run.

Row images
    A row of a table is handled as one tuple, its *image*: one value per table column in declaration order (generated columns included), then the
    rowid (None for a WITHOUT ROWID table, whose key is among the columns).  So ``image[column]`` works for ``ROWID`` (-1) too.  The layout that
    expressions over an image are compiled against is ``TableWrite.columns``; NEW and OLD rows of programs are images as well.

Drawing of an UPDATE with triggers::

    Update(table, source = plan giving the keys, assignments)
       |-- TableWrite: what storing a row of this table takes (indexes, checks, generated columns, foreign keys)
       |-- Program: BEFORE UPDATE triggers    each statement of a program is a Plan of its own, which reads NEW and OLD as outer columns
       |-- Program: AFTER UPDATE triggers
       `-- Returning

Invariants
 1. A ``TableWrite`` is made once per table and statement and shared by all nodes, REPLACE and programs included; a ``Program`` once per trigger and
    conflict action.  Both may be recursive: whoever walks them must remember where it was.
 2. The writing node is the root of its plan: nothing reads its rows but the caller (RETURNING).
 3. ``compiled`` on nodes is a cache owned by exec/dml: functions, never state of a run.

Follows "INSERT", "UPDATE", "DELETE", "UPSERT", "RETURNING", "CREATE TRIGGER", "SQLite Foreign Key Support" of the manual.
"""
from __future__ import annotations

from sqlvec.plan.physical import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Column, Expression
    from sqlvec.plan.physical import Plan
    from sqlvec.schema.objects import ForeignKey, Index, Table


class IndexWrite:
    """How entries of one index are made: ``positions`` per field of the index record: a place in the image (-1 = rowid), or for an expression its
    place in ``expressions`` counted from -2 downwards.  ``where`` is the condition of a partial index."""

    __slots__ = ("action", "compiled", "expressions", "index", "positions", "real", "where")

    def __init__(self, index: Index, positions: tuple[int, ...], expressions: tuple[Expression, ...], where: Expression | None) -> None:
        self.index = index
        self.positions = positions
        self.expressions = expressions
        self.where = where
        self.action = index.conflict or "ABORT"
        self.real: tuple[int, ...] = ()
        self.compiled: Any = None


class ChildKey:
    """A foreign key of the written table, checked when its columns change.  The parent row is found by rowid (``parent_index`` None) or in
    ``parent_index``; ``order`` gives per key column of that index the position in ``columns``; ``parent`` None: the parent table doesn't exist.
    ``affinities`` are those of the parent columns, in the order of ``columns``."""

    __slots__ = ("affinities", "columns", "deferred", "error", "foreign_key", "order", "parent", "parent_columns", "parent_index")

    def __init__(self, foreign_key: ForeignKey, parent: Table | None) -> None:
        self.foreign_key = foreign_key
        self.columns = foreign_key.columns
        self.deferred = foreign_key.deferred
        self.parent = parent
        self.parent_columns: tuple[int, ...] = ()
        self.parent_index: Index | None = None
        self.order: tuple[int, ...] = ()
        self.affinities: tuple[str, ...] = ()
        self.error: Exception | None = None         # raised by statements that the key concerns: no such parent, mismatch


class ParentKey:
    """A foreign key that references the written table.  ``columns`` are its parent columns here.  ``count`` is a Plan ``SELECT count(*)`` of child rows
    referring to the OLD key, read as outer columns of ``old_source``.  ``actions``: 'DELETE' and 'UPDATE' -> Program or None."""

    __slots__ = ("actions", "columns", "count", "deferred", "error", "foreign_key", "on_delete", "on_update", "self_referencing")

    def __init__(self, foreign_key: ForeignKey, columns: tuple[int, ...]) -> None:
        self.foreign_key = foreign_key
        self.columns = columns
        self.deferred = foreign_key.deferred
        self.on_delete = foreign_key.on_delete
        self.on_update = foreign_key.on_update
        self.self_referencing = False
        self.count: Program | None = None
        self.actions: dict[str, Program | None] = {}
        self.error: Exception | None = None


class TableWrite:
    """What storing and removing rows of one table takes.  ``columns`` is the image layout (source ``source``).

    ``generated``: (column, expression) in an order in which each reads only earlier ones; ``not_null``: (column, action);
    ``checks``: (expression, name for the message); ``indexes`` in the order of uniqueness checks."""

    __slots__ = ("checks", "child_keys", "columns", "compiled", "defaults", "delete_programs", "generated", "indexes", "not_null",
                 "parent_keys", "source", "table")

    def __init__(self, table: Table, source: int, columns: tuple[Column, ...]) -> None:
        self.table = table
        self.source = source
        self.columns = columns
        self.indexes: tuple[IndexWrite, ...] = ()
        self.generated: tuple[tuple[int, Expression], ...] = ()
        self.not_null: tuple[tuple[int, str], ...] = ()
        self.checks: tuple[tuple[Expression, str], ...] = ()
        self.defaults: tuple[Any, ...] = ()                 # Expression, None, or the SqlError that using the default raises
        self.child_keys: tuple[ChildKey, ...] = ()
        self.parent_keys: tuple[ParentKey, ...] = ()
        self.delete_programs: TriggerSet | None = None      # for REPLACE with recursive triggers
        self.compiled: Any = None


class Program:
    """A trigger or foreign-key action.  ``statements`` are Plans; NEW and OLD are images of ``new_source`` and ``old_source``.

    ``token`` identifies the trigger: a program whose token is running isn't entered again unless ``is_recursive``."""

    __slots__ = ("columns", "is_recursive", "may_abort", "name", "new_source", "old_source", "statements", "token", "when")

    def __init__(self, name: str, token: Any, old_source: int, new_source: int, columns: tuple[Column, ...]) -> None:
        self.name = name
        self.token = token
        self.old_source = old_source
        self.new_source = new_source
        self.columns = columns                 # layout of an OLD image followed by a NEW image
        self.when: Expression | None = None
        self.statements: list[Plan] = []
        self.is_recursive = False
        self.may_abort = False                 # has RAISE(ABORT), or a statement that a constraint may abort


class TriggerSet:
    """The trigger programs of one statement kind on one table."""

    __slots__ = ("after", "before")

    def __init__(self, before: tuple[Program, ...] = (), after: tuple[Program, ...] = ()) -> None:
        self.before = before
        self.after = after

    def __bool__(self) -> bool:
        return bool(self.before or self.after)


class Returning:
    """RETURNING: ``expressions`` over the image layout; ``forms`` say for each how the value is shown: 'real' (integers as floats), 'stored'
    (integral floats as the integers that a REAL column stores) or None."""

    __slots__ = ("compiled", "expressions", "forms")

    def __init__(self, expressions: tuple[Expression, ...], forms: tuple[str | None, ...]) -> None:
        self.expressions = expressions
        self.forms = forms
        self.compiled: Any = None


class UpsertClause:
    """``ON CONFLICT (target) DO ...``: ``index`` None and ``on_rowid`` False mean "any conflict".  ``assignments`` None = DO NOTHING.

    Assignments and ``where`` read the stored row as the image layout of the table and the proposed row as ``excluded_source``."""

    __slots__ = ("assignments", "compiled", "excluded_source", "index", "on_rowid", "where")

    def __init__(self, index: Index | None, on_rowid: bool) -> None:
        self.index = index
        self.on_rowid = on_rowid
        self.assignments: tuple[tuple[int, Expression], ...] | None = None
        self.where: Expression | None = None
        self.excluded_source = -1
        self.compiled: Any = None

    @property
    def matches_all(self) -> bool:
        return self.index is None and not self.on_rowid


class WriteNode(Node):
    """What the writing nodes share.  ``action``: the statement's OR clause or None."""

    __slots__ = ("action", "compiled", "is_atomic", "may_abort", "returning", "triggers", "uses_frame", "write")

    def __init__(self, write: TableWrite) -> None:
        super().__init__(())
        self.write = write
        self.action: str | None = None
        self.triggers = TriggerSet()
        self.returning: Returning | None = None
        self.is_atomic = False                       # one row is stored, or nothing has changed
        self.may_abort = True                        # by a constraint or RAISE
        self.uses_frame = True                       # an abort may have to undo earlier changes of the statement
        self.compiled: Any = None


class Insert(WriteNode):
    """INSERT.  Either ``value_rows`` (expressions without input columns, one tuple per row) or ``source`` (a plan node) gives the values;
    ``targets``: per image position the place in the value row, or -1 for the default.  ``action``: the statement's OR clause or None."""

    __slots__ = ("buffered", "is_moved", "is_plain", "keeps_rowids", "runs", "source", "stores_one_row", "targets", "update_triggers",
                 "upserts", "value_rows")

    def __init__(self, write: TableWrite, rows: tuple[tuple[Expression, ...], ...] | None, source: Node | None, targets: tuple[int, ...]) -> None:
        super().__init__(write)
        self.value_rows = rows
        self.source = source
        self.targets = targets
        self.update_triggers = TriggerSet()          # for DO UPDATE
        self.upserts: tuple[UpsertClause, ...] = ()
        self.buffered = False
        self.keeps_rowids = False                    # the source's last value is its rowid, kept if the table is empty
        self.is_moved = False                        # SQLite makes no query of it (EXPLAIN QUERY PLAN)
        self.is_plain = False                        # exec/dml/fast_insert.py may store its rows
        self.stores_one_row = False                  # nothing but one row changes: foreign keys are checked before it is stored
        self.runs = 0                                # how often it ran: code is generated for what is run again

    def inputs(self) -> list[Node]:
        return [] if self.source is None else [self.source]


class Update(WriteNode):
    """UPDATE.  ``source`` yields, per row, the key (rowid, or the PRIMARY KEY columns of a WITHOUT ROWID table, or the whole row of a view), followed by
    the values of ``extra`` columns for UPDATE FROM.  ``assignments``: (image position, expression over the image layout and ``extra``).
    ``one_pass``: rows are changed while the source is still being read.  ``in_place``: SQLite would change them through the cursor of the scan, which
    therefore reads the table and no index alone (EXPLAIN QUERY PLAN).  ``condition``: the WHERE over the image layout, where it asks about the table itself
    and must see what the statement has changed so far; ``candidates`` are then the rows to ask it of."""

    __slots__ = ("assignments", "candidates", "condition", "extra", "in_place", "key_width", "one_pass", "source")

    def __init__(self, write: TableWrite, source: Node, assignments: tuple[tuple[int, Expression], ...]) -> None:
        super().__init__(write)
        self.source = source
        self.assignments = assignments
        self.extra: tuple[Column, ...] = ()
        self.candidates: Node | None = None
        self.condition: Expression | None = None
        self.key_width = 1
        self.one_pass = self.in_place = False

    def inputs(self) -> list[Node]:
        return [self.source]


class Delete(WriteNode):
    """DELETE.  ``source`` as in Update, or None to empty the table (no WHERE, triggers or foreign keys: the truncate optimisation); ``condition`` and
    ``candidates`` as there."""

    __slots__ = ("candidates", "condition", "in_place", "key_width", "one_pass", "source")

    def __init__(self, write: TableWrite, source: Node | None) -> None:
        super().__init__(write)
        self.source = source
        self.candidates: Node | None = None
        self.condition: Expression | None = None
        self.key_width = 1
        self.one_pass = self.in_place = False

    def inputs(self) -> list[Node]:
        return [] if self.source is None else [self.source]


class VtabWrite(WriteNode):
    """INSERT, UPDATE or DELETE of a virtual table.  ``event`` names it; ``source`` rows are, for INSERT, the values by ``targets`` (as Insert);
    for UPDATE and DELETE the rowid followed by all column values."""

    __slots__ = ("assignments", "event", "key_width", "source", "targets", "value_rows")

    def __init__(self, event: str, write: TableWrite, source: Node | None) -> None:
        super().__init__(write)
        self.event = event
        self.source = source
        self.value_rows: tuple[tuple[Expression, ...], ...] | None = None
        self.targets: tuple[int, ...] = ()
        self.assignments: tuple[tuple[int, Expression], ...] = ()
        self.key_width = 1

    def inputs(self) -> list[Node]:
        return [] if self.source is None else [self.source]

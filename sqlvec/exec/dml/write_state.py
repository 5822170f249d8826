"""What one run of a top-level INSERT, UPDATE or DELETE shares with the programs it sets off.

Everything here lives for one run: writers by table, running trigger tokens, the immediate foreign-key counter, AUTOINCREMENT numbers that
are written back at the end.  Nested statements of triggers and foreign-key actions get the same object.

:func:`drive` is the explicit stack on which programs run: a writing statement is a generator that yields *generators to run next* (a program, a
statement of a program); so recursion of triggers, 1,000 levels deep, takes no Python recursion.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.dml.table_writer import TableWriter
from sqlvec.pages.record import decode, encode
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.plan.physical_dml import TableWrite
    from sqlvec.schema.objects import Table

    Steps = Generator[Any, None, None]

MAX_DEPTH = 1000


def drive(steps: Steps) -> None:
    """Run a generator and all that it and its successors yield, on one explicit stack."""
    stack = [steps]
    failure: BaseException | None = None
    while stack:
        top = stack[-1]
        try:
            if failure is None:
                called = next(top)
            else:
                raised, failure = failure, None
                called = top.throw(raised)
        except StopIteration:
            stack.pop()
        except BaseException as error:
            stack.pop()
            failure = error
        else:
            stack.append(called)
    if failure is not None:
        raise failure


class Sequence:
    """The AUTOINCREMENT state of one table: ``value`` so far, ``row`` of sqlite_sequence (None: to be made)."""

    __slots__ = ("changed", "row", "table", "value")

    def __init__(self, table: Table, value: int, row: int | None) -> None:
        self.table = table
        self.value = value
        self.row = row
        self.changed = False


class WriteState:
    """See the module essay."""

    __slots__ = ("context", "immediate_violations", "override", "running", "sequences", "transaction", "writers")

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.transaction = context.transaction
        self.writers: dict[int, TableWriter] = {}
        self.running: list[Any] = []
        self.immediate_violations = 0
        self.sequences: dict[tuple[int, str], Sequence] = {}
        self.override: str | None = None            # the OR clause of the statement that set the program off

    def writer(self, write: TableWrite) -> TableWriter:
        """The writer of a table in this run."""
        found = self.writers.get(id(write))
        if found is None:
            found = self.writers[id(write)] = TableWriter(write, self)
        return found

    # --- AUTOINCREMENT -----------------------------------------------------------------------------------------------------------

    def sequence(self, table: Table) -> Sequence:
        """The sequence of an AUTOINCREMENT table, read from sqlite_sequence the first time."""
        key = (table.database, table.name)
        found = self.sequences.get(key)
        if found is None:
            found = self.sequences[key] = self._read_sequence(table)
        return found

    def _sequence_tree(self, table: Table) -> tuple[Any, str]:
        database = self.context.databases[table.database]
        stored = self.context.databases.catalog(table.database).find_table("sqlite_sequence")
        if stored is None or stored.kind != "table" or stored.without_rowid or len(stored.columns) != 2:
            raise errors.corrupt()
        return database.pager.table_tree(stored.root), database.pager.encoding

    def _read_sequence(self, table: Table) -> Sequence:
        tree, encoding = self._sequence_tree(table)
        for block in tree.blocks():
            for rowid, payload in block:
                values = decode(payload, encoding)
                if values and values[0] == table.name:
                    value = values[1] if len(values) > 1 else None
                    if type(value) is not int:
                        value = resolve("sqlvec.values.storage:cast_to_integer")(value) or 0
                    return Sequence(table, value, rowid)
        return Sequence(table, 0, None)

    def _write_sequences(self) -> None:
        for sequence in self.sequences.values():
            if not sequence.changed:
                continue
            tree, encoding = self._sequence_tree(sequence.table)
            if sequence.row is None:
                sequence.row = (tree.max_rowid() or 0) + 1
            tree.insert(sequence.row, encode((sequence.table.name, sequence.value), encoding))

    # --- the end -----------------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """End of the top-level statement: the foreign keys must be in order; sequences are written."""
        if self.immediate_violations > 0:
            raise errors.foreign_key_failed()
        if self.sequences:
            self._write_sequences()


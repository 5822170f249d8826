"""VACUUM: build the database anew in another pager, then make the file equal to it; or leave it in a file of its own (INTO).

Order: all tables with their automatic indexes in schema order, then the other indexes, then the contents, at last the rows of views, triggers and virtual
tables.  Rows are copied as they are stored; a table that has neither index nor INTEGER PRIMARY KEY gets its rowids renumbered (not with INTO).

Follows "VACUUM" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import schema_write
from sqlvec.commands.attach import evaluate
from sqlvec.pages.bulk_load import fill_index
from sqlvec.pages.pager import Pager
from sqlvec.pages.record import encode
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table


def vacuum(context: CommandContext, statement: ast.Vacuum, sql: str) -> None:
    """Carry out the command."""
    transaction = context.transaction
    number = 0
    if statement.schema is not None:
        found = context.databases.number_of(statement.schema.text)
        if found is None:
            raise errors.unknown_database(statement.schema.text, statement.schema.span[0])
        number = found
    target: Any = None
    if statement.into is not None:
        target = evaluate(context, statement.into)
    if not transaction.autocommit:
        raise errors.plain("cannot VACUUM from within a transaction")
    if transaction.active_reads + transaction.active_writes > 1:
        raise errors.plain("cannot VACUUM - SQL statements in progress")
    if number == 1:
        return
    if statement.into is not None:
        if type(target) is not str:
            raise errors.plain("non-text filename")
        _vacuum_into(context, number, target)
        return
    pager = context.databases[number].pager
    context.statement.becomes_write()
    transaction.begin_write(number)
    if pager.page_count == 0:
        return
    copy = Pager.open(None)
    try:
        _rebuild(context, number, copy, keep_rowids=False)
        resolve("sqlvec.pages.backup:replace_content")(pager, copy)
    finally:
        copy.close()
    transaction.schema_was_changed = True
    context.databases.install(number, None)


def _vacuum_into(context: CommandContext, number: int, path: str) -> None:
    options: dict[str, Any] = {}
    where: str | None = path
    if path.startswith("file:"):
        where, options = resolve("sqlvec.session.uri:parse_uri")(path, {})
    copy = Pager.open(None if where in ("", ":memory:") else where, **options)
    try:
        copy.begin_read()
        try:
            if copy.page_count:
                raise errors.plain("output file already exists")
        finally:
            copy.end_read()
        _rebuild(context, number, copy, keep_rowids=True)
        copy.commit()
    finally:
        copy.close()


def _rebuild(context: CommandContext, number: int, copy: Pager, keep_rowids: bool) -> None:
    """Fill the empty pager ``copy`` with everything of a database; its write transaction stays open."""
    pager = context.databases[number].pager
    pager.begin_read()
    try:
        size = pager.page_size
        if pager.pending_page_size and pager.file is not None and pager.wal is None:
            size = pager.pending_page_size
        copy.set_page_size(size, pager.page_size - pager.usable_size)
        mode = pager.next_auto_vacuum if pager.next_auto_vacuum >= 0 else pager.auto_vacuum
        copy.auto_vacuum = mode
        copy.encoding = pager.encoding
        copy.synchronous = 1 if copy.file is not None else 0
        copy.begin_read()
        copy.begin_write()
        copy.initialise_schema_fields()
        for field in ("user_version", "application_id", "default_cache_size"):
            copy.set_header(field, pager.header(field))
        copy.set_header("schema_cookie", pager.header("schema_cookie") + 1)
        _Copy(context, number, copy, keep_rowids).run()
    finally:
        pager.end_read()


class _Copy:
    """The copying of one database."""

    def __init__(self, context: CommandContext, number: int, copy: Pager, keep_rowids: bool) -> None:
        self.context = context
        self.source = context.databases[number].pager
        self.catalog = context.databases.catalog_for_vacuum(number)
        self.rows = schema_write.rows(context, number)
        self.copy = copy
        self.keep_rowids = keep_rowids
        self.roots: dict[int, int] = {}
        self.next_row = 1

    def add_row(self, kind: Any, name: Any, table: Any, root: int, sql: Any) -> None:
        tree = self.copy.table_tree(1)
        tree.insert(self.next_row, encode((kind, name, table, root, sql), self.copy.encoding, 4))
        self.next_row += 1

    def run(self) -> None:
        stored = [row for row in self.rows if row[1] == "table" and row[4]]
        tables: list[Table] = []
        waiting_sequence = next((row for row in stored if row[2] == "sqlite_sequence"), None)
        for row in stored:
            if row[2] == "sqlite_sequence":
                continue
            table = self.catalog.find_table(row[2] or "")
            if table is None:
                raise errors.corrupt()
            self._make_table(row, table)
            tables.append(table)
            if table.autoincrement and waiting_sequence is not None:
                sequence = self.catalog.find_table("sqlite_sequence")
                assert sequence is not None
                self._make_table(waiting_sequence, sequence)
                tables.append(sequence)
                waiting_sequence = None
        for row in self.rows:
            if row[1] == "index" and row[5]:
                self._make_tree(row, True)
        for table in tables:
            self._copy_rows(table)
        for row in self.rows:
            if row[1] in ("view", "trigger") or (row[1] == "table" and not row[4]):
                # These are inserted by an SQL statement, whose row number shows.
                self.context.transaction.last_insert_rowid = self.next_row
                self.add_row(row[1], row[2], row[3], 0, row[5])

    def _make_tree(self, row: Any, is_index: bool) -> None:
        root = self.roots[row[4]] = self.copy.create_tree(is_index)
        self.add_row(row[1], row[2], row[3], root, row[5])

    def _make_table(self, row: Any, table: Table) -> None:
        self._make_tree(row, table.without_rowid)
        key = table.name.lower()
        for other in self.rows:
            if other[1] == "index" and not other[5] and (other[3] or "").lower() == key:
                self._make_tree(other, True)

    def _copy_rows(self, table: Table) -> None:
        if table.without_rowid:
            assert table.key_index is not None
            self._copy_entries(table.key_index, table.root)
        else:
            renumber = not self.keep_rowids and not table.indexes and table.rowid_column < 0
            target = self.copy.table_tree(self.roots[table.root])
            count = 0
            for block in self.source.table_tree(table.root).blocks():
                for rowid, payload in block:
                    if type(payload) is not bytes:         # not all of it can be read
                        raise errors.corrupt()
                    count += 1
                    target.insert(count if renumber else rowid, payload)
        for index in table.indexes:
            if not index.is_table_tree:
                self._copy_entries(index, index.root)

    def _copy_entries(self, index: Any, root: int) -> None:
        source = self.context.run_context().index_tree(index)
        if root not in self.roots:
            return                                 # its row says that it is no index: it isn't made again
        target = self.copy.index_tree(self.roots[root], source.layout)
        fill_index(target, (_whole(payload) for block in source.blocks() for payload in block))


def _whole(payload: bytes) -> bytes:
    """Copies are made of what can be read in full."""
    if type(payload) is not bytes:
        raise errors.corrupt()
    return payload

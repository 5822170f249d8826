"""The catalog of one database file, and the set of catalogs in which a connection looks names up.

A :class:`Catalog` is immutable for its readers: every schema change makes the next one (``with_row``, ``without_table`` ...), which shares all
unchanged tables with the one before, so that a rollback simply puts the old Catalog back.  Small schemas are parsed at once, so that a malformed
entry shows where SQLite shows it; larger ones keep the rows of sqlite_schema by table name and parse a table, its indexes and triggers when the table
is first looked up.

Names are compared with A-Z folded.  Orders that matter:

* ``tables()`` in creation order (sqlite_schema order);
* ``hash_order()`` in the order in which SQLite's schema hash iterates: ANALYZE, integrity_check and friends visit tables in it;
* ``Table.indexes`` in planner list order, triggers newest first.

Unqualified names are searched in temp, main, then the attached databases.

Follows "The Schema Table" and "ATTACH DATABASE" of the manual.
"""
from __future__ import annotations

from sqlvec.resolve import resolve
from sqlvec.schema.objects import Column, Table
from sqlvec.values.affinity import INTEGER, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.schema.objects import Index, Trigger

MAIN = 0
TEMP = 1
EAGER_ROWS = 40
SCHEMA_NAMES = ("sqlite_master", "sqlite_schema")
TEMP_SCHEMA_NAMES = ("sqlite_temp_master", "sqlite_temp_schema")

STRICT, NO_AGREEMENT, NO_ERRORS = 0, 1, 2      # what is asked of stored rows: all; that text can be parsed; nothing (what can't be used is left out)

SchemaRow = tuple[int, str, str, str, int, "str | None"]     # rowid, type, name, tbl_name, rootpage, sql


def fold(name: str) -> str:
    """The key of a name: A-Z folded."""
    return name.lower() if name.isascii() else "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in name)


def schema_table(database: int) -> Table:
    """sqlite_schema itself, under its old name (which error texts use)."""
    columns = tuple(Column(name, declared, affinity) for name, declared, affinity in (
        ("type", "TEXT", TEXT), ("name", "TEXT", TEXT), ("tbl_name", "TEXT", TEXT), ("rootpage", "INT", INTEGER), ("sql", "TEXT", TEXT)))
    for column in columns:
        column.size_estimate = 1 if column.affinity == INTEGER else 5
    table = Table("sqlite_temp_master" if database == TEMP else "sqlite_master", database, columns, 1)
    table.row_size = resolve("sqlvec.schema.objects:table_row_size")(columns, False)
    return table


class Catalog:
    """The objects of one database file; ``number`` is its place in the CatalogSet, ``cookie`` the schema cookie it was read under."""

    def __init__(self, number: int, cookie: int = 0, encoding: str = "utf-8", name: str = "main") -> None:
        self.number = number
        self.cookie = cookie
        self.encoding = encoding
        self.name = name
        self.tolerance = STRICT
        self._order: list[str] = []                         # table and view keys in creation order
        self._tables: dict[str, Table] = {}                 # those parsed so far
        self._rows: dict[str, list[SchemaRow]] = {}         # rows by table key, not yet parsed
        self._index_table: dict[str, str] = {}              # index key -> table key
        self._trigger_table: dict[str, str] = {}            # trigger key -> table key
        self._triggers: dict[str, list[Trigger]] = {}       # table key -> triggers, newest first
        self._schema_table = schema_table(number)

    # --- look-up ----------------------------------------------------------------------------------------------------------------------

    def find_table(self, name: str) -> Table | None:
        """The table, view or virtual table of this name."""
        key = fold(name)
        found = self._tables.get(key)
        if found is not None:
            return found
        if key in self._rows and self._parse(key):
            return self._tables[key]
        if key.startswith("sqlite_"):
            if self.number == TEMP and (key in TEMP_SCHEMA_NAMES or key in SCHEMA_NAMES):
                return self._schema_table
            if self.number != TEMP and key in SCHEMA_NAMES:
                return self._schema_table
        return None

    def find_index(self, name: str) -> Index | None:
        key = fold(name)
        table_key = self._index_table.get(key)
        table = self.find_table(table_key) if table_key is not None else None
        if table is None:
            return None
        return next((index for index in table.indexes if fold(index.name) == key), None)

    def find_trigger(self, name: str) -> Trigger | None:
        key = fold(name)
        table_key = self._trigger_table.get(key)
        if table_key is None:
            return None
        return next((trigger for trigger in self.triggers_on(table_key) if fold(trigger.name) == key), None)

    def triggers_on(self, table_key: str) -> list[Trigger]:
        """Triggers of this catalog that watch a table called ``table_key`` (folded), newest first."""
        if table_key in self._rows:
            self._parse(table_key)
        return self._triggers.get(table_key, [])

    def tables(self) -> list[Table]:
        """All tables, views and virtual tables in creation order (without sqlite_schema)."""
        found = []
        for key in self._order:
            table = self.find_table(key)
            if table is not None:
                found.append(table)
        return found

    def known_tables(self) -> list[Table]:
        """The tables, views and virtual tables that have been looked at."""
        return list(self._tables.values())

    def indexes(self) -> list[Index]:
        """All indexes that have a row in sqlite_schema, table by table."""
        return [index for table in self.tables() for index in table.indexes if not index.is_table_tree]

    def triggers(self) -> list[Trigger]:
        """All triggers, oldest first within a table."""
        keys = dict.fromkeys(self._trigger_table.values())
        return [trigger for key in keys for trigger in reversed(self.triggers_on(key))]

    def schema_root(self) -> Table:
        """The sqlite_schema table of this file."""
        return self._schema_table

    def hash_order(self) -> list[Table]:
        """Tables in the order in which SQLite's schema hash iterates them."""
        return [self.find_table(key) for key in _hash_order(self._order) if key != "sqlite_master"]  # type: ignore[misc]

    def hash_order_with_schema(self) -> list[Table]:
        """The same with the schema table in its place."""
        return [self._schema_table if key == "sqlite_master" else self.find_table(key) for key in _hash_order(self._order)]  # type: ignore[misc]

    # --- parsing ------------------------------------------------------------------------------------------------------------------------

    def add_row(self, row: SchemaRow) -> None:
        """Take in one row of sqlite_schema (only while the Catalog is being made)."""
        kind, name, table_name = row[1], row[2], row[3]
        key = fold(table_name)
        if kind in ("table", "view"):
            key = fold(name)
            self._order.append(key)
        elif kind == "index":
            self._index_table[fold(name)] = key
        elif kind == "trigger":
            self._trigger_table[fold(name)] = key
        self._rows.setdefault(key, []).append(row)

    def parse_all(self) -> None:
        """Parse every entry."""
        for key in list(self._rows):
            self._parse(key)

    def _parse(self, key: str) -> bool:
        """Make the objects of one table name out of its rows; True if there is a table (a temp trigger may watch another file's table)."""
        rows = self._rows.pop(key)
        try:
            build = resolve("sqlvec.schema.load:build_table")
            table, triggers, index_names = build(self, key, rows)
        except BaseException:
            self._rows[key] = rows
            raise
        if table is not None:
            self._tables[key] = table
        if triggers:
            self._triggers[key] = triggers + self._triggers.get(key, [])
            if table is not None:
                table.triggers = self._triggers[key]
        for name in index_names:
            self._index_table[name] = key
        return table is not None

    # --- the next Catalog -----------------------------------------------------------------------------------------------------------------

    def _next(self) -> Catalog:
        new = Catalog.__new__(Catalog)
        new.__dict__.update(self.__dict__)
        new._order = list(self._order)
        new._tables = dict(self._tables)
        new._rows = {key: list(rows) for key, rows in self._rows.items()}
        new._index_table = dict(self._index_table)
        new._trigger_table = dict(self._trigger_table)
        new._triggers = dict(self._triggers)
        return new

    def with_cookie(self, cookie: int) -> Catalog:
        """The same objects under another schema cookie."""
        new = self._next()
        new.cookie = cookie
        return new

    def with_table(self, table: Table) -> Catalog:
        """The Catalog with a new table or view (and its automatic indexes)."""
        new = self._next()
        key = fold(table.name)
        new._order.append(key)
        new._tables[key] = table
        for index in table.indexes:
            new._index_table[fold(index.name)] = key
        return new

    def with_index(self, index: Index) -> Catalog:
        """The Catalog with a new index; its table is copied, the index then belongs to the copy."""
        new = self._next()
        key = fold(index.table.name)
        table = new._tables[key] = copy_table(index.table)
        index.table = table
        resolve("sqlvec.schema.from_ast:enter_index")(table, index)
        new._index_table[fold(index.name)] = key
        return new

    def with_trigger(self, trigger: Trigger) -> Catalog:
        """The Catalog with a new trigger, the newest of its table."""
        new = self._next()
        key = fold(trigger.table_name)
        self.triggers_on(key)
        new._trigger_table[fold(trigger.name)] = key
        new._set_triggers(key, [trigger, *self.triggers_on(key)])
        return new

    def _set_triggers(self, key: str, triggers: list[Trigger]) -> None:
        table = self.find_table(key)
        self._triggers[key] = triggers
        if table is not None and key in self._tables:
            table = self._tables[key] = copy_table(table)
            table.triggers = triggers

    def without_table(self, name: str) -> Catalog:
        """The Catalog without a table or view, its indexes and its triggers."""
        new = self._next()
        key = fold(name)
        new._order = [other for other in new._order if other != key]
        new._tables.pop(key, None)
        new._rows.pop(key, None)
        new._triggers.pop(key, None)
        for names in (new._index_table, new._trigger_table):
            for other in [other for other, table in names.items() if table == key]:
                del names[other]
        return new

    def without_index(self, name: str) -> Catalog:
        """The Catalog without an index."""
        index = self.find_index(name)
        assert index is not None
        new = self._next()
        key = fold(index.table.name)
        table = new._tables[key] = copy_table(index.table)
        table.indexes = [other for other in table.indexes if fold(other.name) != fold(name)]
        new._index_table.pop(fold(name), None)
        return new

    def without_trigger(self, name: str) -> Catalog:
        """The Catalog without a trigger."""
        trigger = self.find_trigger(name)
        assert trigger is not None
        new = self._next()
        key = fold(trigger.table_name)
        new._trigger_table.pop(fold(name), None)
        new._set_triggers(key, [other for other in self.triggers_on(key) if other is not trigger])
        return new


def copy_table(table: Table) -> Table:
    """A copy of a table with copies of its indexes and foreign keys, which refer to the copy."""
    new = _copy(table)
    new.indexes = []
    for index in table.indexes:
        twin = _copy(index)
        twin.table = new
        twin.row_estimates = list(index.row_estimates)
        new.indexes.append(twin)
        if index is table.key_index:
            new.key_index = twin
    keys = []
    for foreign_key in table.foreign_keys:
        key = _copy(foreign_key)
        key.table = new
        keys.append(key)
    new.foreign_keys = tuple(keys)
    return new


def _copy(thing: Any) -> Any:
    new = object.__new__(type(thing))
    for name in type(thing).__slots__:
        setattr(new, name, getattr(thing, name))
    return new


# --- iteration order of the schema hash ----------------------------------------------------------------------------------------------------

_FIRST_REHASH = 10
_BUCKET_LIMIT = 64


def _hash_of(key: str) -> int:
    value = 0
    for byte in key.encode("utf-8", "surrogateescape"):
        value = ((value + byte) * 0x9E3779B1) & 0xFFFFFFFF
    return value


def _hash_order(keys: list[str]) -> list[str]:
    """The list order of a hash into which sqlite_master and then ``keys`` were put."""
    order: list[str] = []                       # the linked list, front first
    heads: dict[int, str] = {}                  # bucket -> its most recently inserted key
    buckets = 0

    def insert(key: str) -> None:
        if not buckets:
            order.insert(0, key)
            return
        bucket = _hash_of(key) % buckets
        order.insert(order.index(heads[bucket]) if bucket in heads else 0, key)
        heads[bucket] = key

    for count, key in enumerate(["sqlite_master", *keys], 1):
        if count >= _FIRST_REHASH and count > 2 * buckets and min(2 * count, _BUCKET_LIMIT) != buckets:
            buckets = min(2 * count, _BUCKET_LIMIT)
            before, heads = list(order), {}
            order.clear()
            for old in before:
                insert(old)
        insert(key)
    return order


# --- all databases of a connection ---------------------------------------------------------------------------------------------------------


class CatalogSet:
    """The catalogs of a connection by number: 0 main, 1 temp, 2.. attached.  ``catalog(number)`` loads one when it is first asked for."""

    def __init__(self, names: list[str], catalog: Callable[[int], Catalog]) -> None:
        self.names = names
        self._catalog = catalog

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: int) -> Catalog:
        return self._catalog(number)

    def number_of(self, name: str) -> int | None:
        """The number of the database called ``name``; None if there is none."""
        key = fold(name)
        for number, known in enumerate(self.names):
            if fold(known) == key:
                return number
        return MAIN if key == "main" else None

    def search_order(self, schema: str | None) -> Iterator[Catalog]:
        """Catalogs in which a name with this qualifier may be found."""
        if schema is not None:
            number = self.number_of(schema)
            if number is not None:
                yield self._catalog(number)
            return
        yield self._catalog(TEMP)
        yield self._catalog(MAIN)
        for number in range(2, len(self.names)):
            yield self._catalog(number)

    def find_table(self, schema: str | None, name: str) -> Table | None:
        """The table or view ``name``, in ``schema`` or, without one, in the first database that has it."""
        if schema is None:
            key = fold(name)
            if key in SCHEMA_NAMES:
                return self._catalog(MAIN).find_table(key)
        for catalog in self.search_order(schema):
            table = catalog.find_table(name)
            if table is not None:
                return table
        return None

    def find_index(self, schema: str | None, name: str) -> Index | None:
        for catalog in self.search_order(schema):
            index = catalog.find_index(name)
            if index is not None:
                return index
        return None

    def find_trigger(self, schema: str | None, name: str) -> Trigger | None:
        for catalog in self.search_order(schema):
            trigger = catalog.find_trigger(name)
            if trigger is not None:
                return trigger
        return None

    def database_of(self, trigger: Trigger) -> int | None:
        """The number of the database whose table a trigger watches."""
        if trigger.database != TEMP:
            return trigger.database
        schema = trigger.statement.table_schema  # type: ignore[attr-defined]
        if schema is not None:
            return self.number_of(schema.text)
        table = self.find_table(None, trigger.table_name)
        return table.database if table is not None else None

    def triggers_of(self, table: Table) -> list[Trigger]:
        """Triggers of a table: those of temp first, each group from the newest to the oldest."""
        key = fold(table.name)
        found = [trigger for trigger in self._catalog(TEMP).triggers_on(key) if self.database_of(trigger) == table.database]
        if table.database != TEMP:
            found.extend(self._catalog(table.database).triggers_on(key))
        return found

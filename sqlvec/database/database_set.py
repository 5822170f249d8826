"""The files that one connection has open: main, temp and attached databases, each a pager with its Catalog.

A database's number is its place in the list: 0 main, 1 temp (its memory pager is made on first use), 2.. attached.  Catalogs are loaded lazily, at the
first name that must be looked up, under a read lock; they are immutable, so a changed schema is a new Catalog object.

Invariants
1. ``Database.loaded`` is None, or the Catalog made from the file's schema at the cookie ``Catalog.cookie``.
2. A statement checks the cookies of its plan under its read lock (``is_current``) before it trusts a Catalog.

Follows "ATTACH DATABASE" and "The Schema Table" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.pager import Pager
from sqlvec.pages.record import ENCODING_NUMBERS
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import NO_AGREEMENT, NO_ERRORS, STRICT, CatalogSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.pages.btree import IndexTree
    from sqlvec.schema.catalog import Catalog
    from sqlvec.schema.objects import Index
    from sqlvec.settings import Settings
    from sqlvec.values.compare import Collations

MAIN = 0
TEMP = 1
MAX_ATTACHED = 10
LOAD_CATALOG = "sqlvec.schema.load:load_catalog"


class Database:
    """One open file: ``name`` ("main", "temp", attached name), ``path`` as given ("" for memory), its ``pager`` and Catalog."""

    __slots__ = ("_make_pager", "_pager", "loaded", "name", "path")

    def __init__(self, name: str, path: str, make_pager: Any) -> None:
        self.name = name
        self.path = path
        self.loaded: Catalog | None = None
        self._pager: Pager | None = None
        self._make_pager = make_pager

    @property
    def is_open(self) -> bool:
        return self._pager is not None

    @property
    def pager(self) -> Pager:
        if self._pager is None:
            self._pager = self._make_pager()
        return self._pager


class DatabaseSet:
    """All databases of a connection.  Errors: those of Pager.open; "database NAME is already in use"; "no such database: NAME"."""

    def __init__(self, settings: Settings, collations: Collations) -> None:
        self.settings = settings
        self.collations = collations
        self.busy: Any = None                      # busy callback handed to every pager
        self._databases: list[Database] = []
        self._catalogs: CatalogSet | None = None
        self._layouts: dict[int, tuple[Any, ...]] = {}      # id(index) -> (index, collations generation, KeyLayout, pager)
        self.pager_options: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._databases)

    def __getitem__(self, number: int) -> Database:
        return self._databases[number]

    def __iter__(self) -> Iterator[Database]:
        return iter(self._databases)

    def opened(self) -> list[tuple[int, Database]]:
        """(number, database) of those whose pager exists."""
        return [(number, database) for number, database in enumerate(self._databases) if database.is_open]

    def add(self, name: str, path: str | None, **options: Any) -> Database:
        """Append a database; its file is opened at first use of ``pager``."""
        def make_pager() -> Pager:
            pager = Pager.open(path, busy=self._call_busy, **options)
            if options.get("temp"):
                pager.encoding = self._main_encoding()
            return pager

        database = Database(name, path or "", make_pager)
        self._databases.append(database)
        self._catalogs = None
        return database

    def _call_busy(self, count: int) -> bool:
        return self.busy is not None and self.busy(count)

    def open_main(self, path: str | None, **options: Any) -> None:
        """Add main and temp; the temp database is a memory pager with the encoding of main."""
        self.pager_options = options
        self.add("main", path, **options)
        self.add("temp", None, temp=True)

    def number_of(self, name: str) -> int | None:
        """The number of the database called ``name`` (case-insensitive), or None."""
        key = name.lower()
        for number, database in enumerate(self._databases):
            if database.name.lower() == key:
                return number
        return 0 if key == "main" else None

    def remove(self, number: int) -> None:
        """Forget an attached database (its pager closed)."""
        database = self._databases.pop(number)
        if database.is_open:
            database.pager.close()
        for later in self._databases[number:]:
            later.loaded = None                    # their objects carry database numbers
        self._catalogs = None
        self.settings.changed()

    def replace_content(self, number: int, image: bytes) -> None:
        """Put a private memory database with the pages of ``image`` in the place of a database."""
        database = self._databases[number]
        if database.is_open:
            database.pager.close()
        database.path = ""
        database._pager = None

        def make_pager() -> Pager:
            pager = Pager.open(None, busy=self._call_busy)
            if image:
                pager.fill(image)
            return pager

        database._make_pager = make_pager
        self.install(number, None)

    def forget_temp(self) -> None:
        """Throw the temp database away (its storage was changed)."""
        temp = self._databases[TEMP]
        if temp.is_open:
            temp.pager.close()
        temp._pager = None
        self.install(TEMP, None)

    def has_fixed_encoding(self) -> bool:
        """Was anything stored in main or temp yet?  That fixed the text encoding of the connection."""
        pagers = [database.pager for database in self._databases[:2] if database.is_open]
        return any(pager.page_count and pager.header("text_encoding") for pager in pagers)

    def set_encoding(self, encoding: str) -> None:
        """Choose the text encoding of a connection in which nothing is stored yet."""
        for database in self._databases[:2]:
            if database.is_open or database is self._databases[MAIN]:
                database.pager.encoding = encoding
        self._note_encoding(encoding)

    def _main_encoding(self) -> str:
        """The text encoding of main, which is that of the whole connection."""
        pager = self._databases[MAIN].pager
        if pager.in_read:
            return pager.encoding
        pager.begin_read()
        try:
            return pager.encoding
        finally:
            pager.end_read()

    def _note_encoding(self, encoding: str) -> None:
        self.collations.set_encoding(ENCODING_NUMBERS[encoding])

    # --- catalogs -------------------------------------------------------------------------------------------------------------------

    @property
    def catalogs(self) -> CatalogSet:
        """The CatalogSet over all databases; each Catalog is loaded when first asked for."""
        if self._catalogs is None:
            self._catalogs = CatalogSet([database.name for database in self._databases], self.catalog)
        return self._catalogs

    def catalog(self, number: int) -> Catalog:
        """The Catalog of one database, read from its file when not loaded."""
        database = self._databases[number]
        if database.loaded is None:
            database.loaded = self._load(number, database)
        return database.loaded

    def read_schema(self, number: int) -> None:
        """Load the Catalog on behalf of a statement that SQLite would be preparing now: so are its errors marked."""
        try:
            self.catalog(number)
        except errors.SqlError as error:
            error.phase = "prepare"
            raise

    def catalog_for_vacuum(self, number: int) -> Catalog:
        """The Catalog of a file that VACUUM builds anew: rows needn't agree with their text, but must be usable."""
        try:
            return self.catalog(number)
        except errors.SqlError as error:
            if error.code != errors.CORRUPT:
                raise
        try:
            return self._load(number, self._databases[number], NO_AGREEMENT)
        except errors.SqlError as error:
            if error.code != errors.CORRUPT:
                raise
            raise errors.cannot_attach_damaged() from None

    def _load(self, number: int, database: Database, tolerance: int = STRICT) -> Catalog:
        if self.settings.writable_schema:
            tolerance = NO_ERRORS
        if number == TEMP and not database.is_open:
            return resolve(LOAD_CATALOG)(number, [], 0, "utf-8", database.name)
        pager = database.pager
        was_reading = pager.in_read
        if not was_reading:
            pager.begin_read()
        try:
            if pager.schema_format > 4:
                raise errors.plain("unsupported file format")
            if number == MAIN:
                self._note_encoding(pager.encoding)
            rows: list[Any] = []
            if pager.page_count:
                for block in pager.table_tree(1).blocks():
                    rows.extend(block)
            catalog = resolve(LOAD_CATALOG)(number, rows, pager.schema_cookie, pager.encoding, database.name, pager.page_count, tolerance)
            if catalog.find_table("sqlite_stat1") is not None:
                resolve("sqlvec.schema.statistics:apply")(catalog, self._stat_rows(pager, catalog))
            return catalog
        finally:
            if not was_reading:
                pager.end_read()

    def _stat_rows(self, pager: Pager, catalog: Catalog) -> list[tuple[Any, ...]]:
        """The rows (tbl, idx, stat, ...) of sqlite_stat1; none if it is another kind of table, and not those behind damage."""
        table = catalog.find_table("sqlite_stat1")
        decode = resolve("sqlvec.pages.record:decode")
        rows: list[tuple[Any, ...]] = []
        if table is None or not table.root or table.without_rowid or [column.name.lower() for column in table.columns[:3]] != ["tbl", "idx", "stat"]:
            return rows
        try:
            for block in pager.table_tree(table.root).blocks():
                rows.extend(decode(payload, pager.encoding) for _, payload in block)
        except errors.SqlError as error:
            if error.code != errors.CORRUPT:
                raise
        return rows

    def install(self, number: int, catalog: Catalog | None) -> None:
        """Put a new Catalog in place after a schema change (None: reload at next use)."""
        self._databases[number].loaded = catalog
        self._catalogs = None
        self.settings.changed()

    def catalog_list(self) -> list[Catalog | None]:
        return [database.loaded for database in self._databases]

    def restore_catalogs(self, catalogs: list[Catalog | None]) -> None:
        """Go back to remembered Catalogs (databases attached since keep theirs)."""
        changed = False
        for database, catalog in zip(self._databases, catalogs, strict=False):
            if database.loaded is not catalog:
                database.loaded = catalog
                changed = True
        if changed:
            self._catalogs = None
            self.settings.changed()

    def is_current(self, number: int) -> bool:
        """Does the loaded Catalog carry the cookie that the file has now?  Call under the read lock."""
        database = self._databases[number]
        return database.loaded is None or database.loaded.cookie == database.pager.schema_cookie

    def forget_stale(self) -> bool:
        """Drop every Catalog whose file has another cookie by now; True if one was dropped."""
        dropped = False
        for number, database in self.opened():
            if database.loaded is None:
                continue
            was_reading = database.pager.in_read
            if not was_reading:
                database.pager.begin_read()
            try:
                if not self.is_current(number):
                    database.loaded = None
                    dropped = True
            finally:
                if not was_reading:
                    database.pager.end_read()
        if dropped:
            self._catalogs = None
            self.settings.changed()
        return dropped

    # --- trees ----------------------------------------------------------------------------------------------------------------------

    def index_tree(self, index: Index) -> IndexTree:
        """The tree of ``index`` with its collations bound; the same object as long as its key order is the same, so that readers see writes."""
        pager = self._databases[index.table.database].pager
        known = self._layouts.get(id(index))
        if known is None or known[0] is not index or known[1] != self.collations.generation or known[3] is not pager:
            layout = resolve("sqlvec.database.key_binding:bind_layout")(index, self.collations, pager.encoding)
            tree = pager.trees.get(index.root)
            if tree is not None and not tree.is_table and tree.layout.orders_like(layout):
                layout = tree.layout
            if len(self._layouts) > 1000:
                self._layouts.clear()
            known = self._layouts[id(index)] = (index, self.collations.generation, layout, pager)
        return pager.index_tree(index.root, known[2])

    def close(self) -> None:
        for _, database in self.opened():
            database.pager.close()
        self._databases.clear()

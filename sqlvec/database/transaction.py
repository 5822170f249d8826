"""The transaction state of one connection: autocommit, the savepoint stack, active statements, change counters.

Idea: SQLite's transaction is a stack of frames over all open files.  The outermost frame is the transaction itself (BEGIN, or the implicit one of an
autocommit statement); named savepoints and anonymous statement frames lie above it.  A frame remembers, per database that was being written,
the pager's savepoint depth, the Catalogs, and the deferred foreign-key counter, so that rolling back restores all three together.

Invariants
1. A pager gets savepoints only once it is in a write transaction: ``begin_write`` opens the missing ones for the frames already on the stack (nothing was
   written before, so they mean the same state).
2. Catalogs are immutable; restoring one is assigning it.
3. Files are committed only when the deferred counter is zero, in one step for all files (super-journal where there are several).
4. The read lock of a file is released only when no statement is active and autocommit is on.

Follows "Transaction", "Savepoints", "Atomic Commit In SQLite" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.database.database_set import DatabaseSet


class Frame:
    """One savepoint or statement frame: ``name`` (lower-case, None for a statement), pager ``depths`` by database number, ``catalogs``, ``deferred``."""

    __slots__ = ("catalogs", "deferred", "depths", "is_transaction", "name", "vtab_depth")

    def __init__(self, name: str | None, catalogs: list[Any], deferred: int) -> None:
        self.name = name
        self.catalogs = catalogs
        self.deferred = deferred
        self.depths: dict[int, int] = {}
        self.is_transaction = False
        self.vtab_depth = 0


class Transaction:
    """Owner of autocommit, frames, active statements and counters.  Errors: those of the pager; "cannot start a transaction within a transaction" etc."""

    def __init__(self, databases: DatabaseSet) -> None:
        self.databases = databases
        self.autocommit = True
        self.frames: list[Frame] = []
        self.base_catalogs: list[Any] | None = None      # catalogs when the first write of the transaction began
        self.deferred_violations = 0                     # deferred foreign-key counter
        self.changes = 0
        self.total_changes = 0
        self.last_insert_rowid = 0
        self.active_reads = 0                            # statements stepped and not yet reset
        self.active_writes = 0
        self.rollback_count = 0                          # readers compare it: a rollback under them aborts them
        self.schema_was_changed = False                  # in this transaction
        self.reading: set[int] = set()                   # databases whose read lock this transaction holds
        self.virtual_tables: list[Any] = []              # vtabs taking part, in order of joining
        self.commit_hook: Any = None
        self.rollback_hook: Any = None

    # --- locks -------------------------------------------------------------------------------------------------------------------

    def begin_read(self, number: int) -> None:
        """Hold a read lock on database ``number``."""
        if number not in self.reading:
            self.databases[number].pager.begin_read()
            self.reading.add(number)

    def begin_write(self, number: int, exclusive: bool = False) -> None:
        """Make database ``number`` writable, opening the pager savepoints that the frames on the stack still lack."""
        pager = self.databases[number].pager
        if not pager.in_write or exclusive:
            pager.begin_write(exclusive)
            self.begin_read(number)
        if self.base_catalogs is None:
            self.base_catalogs = self.databases.catalog_list()
        for frame in self.frames:
            if number not in frame.depths:
                frame.depths[number] = pager.savepoint()

    @property
    def is_writing(self) -> bool:
        return any(database.is_open and database.pager.in_write for database in self.databases)

    # --- BEGIN, COMMIT, ROLLBACK --------------------------------------------------------------------------------------------------

    def begin(self, kind: str = "DEFERRED") -> None:
        if not self.autocommit:
            raise errors.plain("cannot start a transaction within a transaction")
        if kind != "DEFERRED":
            for number in range(len(self.databases)):
                if number != 1:
                    self.begin_write(number, kind == "EXCLUSIVE")
        self.autocommit = False

    def commit(self) -> None:
        """COMMIT of an explicit transaction."""
        if self.autocommit:
            raise errors.plain("cannot commit - no transaction is active")
        if self.active_writes > 0:
            raise errors.SqlError(errors.BUSY, "cannot commit transaction - SQL statements in progress")
        if self.deferred_violations > 0:
            raise errors.foreign_key_failed()
        try:
            self._commit_files()
        except errors.SqlError as error:
            if error.code != errors.BUSY and not self.autocommit:
                self.rollback_all()
            raise
        self.autocommit = True
        self._finish()

    def rollback(self) -> None:
        """ROLLBACK of an explicit transaction."""
        if self.autocommit:
            raise errors.plain("cannot rollback - no transaction is active")
        self.rollback_all()

    def rollback_all(self) -> None:
        """Undo everything since the transaction began and go back to autocommit (also after errors that force a rollback)."""
        self.frames.clear()
        schema_was_changed = self.schema_was_changed
        for database in self.databases:
            if database.is_open and database.pager.in_write:
                database.pager.rollback()
        for table in self.virtual_tables:
            table.rollback()
        self.virtual_tables.clear()
        if self.base_catalogs is not None and schema_was_changed:
            self.databases.restore_catalogs(self.base_catalogs)
        self.rollback_count += 1
        self.autocommit = True
        if self.rollback_hook is not None:
            self.rollback_hook()
        self._finish()

    def end_statement(self) -> None:
        """A statement has ended well: in autocommit mode commit what it wrote, and release locks when nothing is active.

        Errors: "FOREIGN KEY constraint failed" for deferred violations, those of the pager; the transaction is then rolled back."""
        if not self.autocommit:
            return
        if self.active_writes == 0 and self.is_writing:
            if self.deferred_violations > 0:
                self.rollback_all()
                raise errors.foreign_key_failed()
            try:
                self._commit_files()
            except BaseException as error:
                if not (isinstance(error, errors.SqlError) and error.code == errors.BUSY and self.active_reads):
                    self.rollback_all()
                raise
            self._finish()
        elif self.active_reads == 0 and self.active_writes == 0:
            self._finish(bool(self.reading))

    def _commit_files(self) -> None:
        for table in self.virtual_tables:
            table.sync()
        if self.commit_hook is not None and self.is_writing and self.commit_hook():
            self.rollback_all()
            raise errors.SqlError(errors.CONSTRAINT, "constraint failed", errors.CONSTRAINT_COMMITHOOK)
        writing = [database.pager for database in self.databases if database.is_open and database.pager.in_write]
        files = [pager for pager in writing if pager.file is not None and pager.changed]
        if len(files) > 1:
            resolve("sqlvec.pages.super_journal:commit_together")(files)
        for pager in writing:
            if pager.in_write:
                pager.commit()
        for table in self.virtual_tables:
            table.commit()
        self.virtual_tables.clear()

    def _finish(self, ends_transaction: bool = True) -> None:
        self.frames.clear()
        self.base_catalogs = None
        self.schema_was_changed = False
        self.deferred_violations = 0
        if ends_transaction:                # a statement that has read nothing leaves the pragma for the transaction to come
            self.databases.settings.defer_foreign_keys = False
        if self.active_reads == 0 and self.active_writes == 0:
            for number in self.reading:
                if number < len(self.databases) and self.databases[number].pager.in_read:
                    self.databases[number].pager.end_read()
            self.reading.clear()

    # --- savepoints ------------------------------------------------------------------------------------------------------------------

    def open_frame(self, name: str | None) -> Frame:
        """Push a frame: a named savepoint, or (None) a statement frame."""
        frame = Frame(name, self.databases.catalog_list(), self.deferred_violations)
        for number, database in enumerate(self.databases):
            if database.is_open and database.pager.in_write:
                frame.depths[number] = database.pager.savepoint()
        self.frames.append(frame)
        return frame

    def savepoint(self, name: str) -> None:
        opens_transaction = self.autocommit
        if self.active_writes > 0:
            raise errors.SqlError(errors.BUSY, "cannot open savepoint - SQL statements in progress")
        frame = self.open_frame(name.lower())
        if opens_transaction:
            frame.is_transaction = True
            self.autocommit = False

    def _find(self, name: str) -> int:
        key = name.lower()
        for position in range(len(self.frames) - 1, -1, -1):
            if self.frames[position].name == key:
                return position
        raise errors.plain(f"no such savepoint: {name}")

    def release(self, name: str) -> None:
        position = self._find(name)
        if self.active_writes > 0:
            raise errors.SqlError(errors.BUSY, "cannot release savepoint - SQL statements in progress")
        frame = self.frames[position]
        if frame.is_transaction:
            self.commit()
            return
        self.release_frame(frame)

    def release_frame(self, frame: Frame) -> None:
        """Keep what was done since the frame was opened; frames above go too."""
        position = self.frames.index(frame)
        for number, depth in frame.depths.items():
            self.databases[number].pager.release(depth)
        del self.frames[position:]

    def rollback_to(self, name: str) -> None:
        frame = self.frames[self._find(name)]
        self.rollback_frame(frame)

    def rollback_frame(self, frame: Frame) -> None:
        """Undo what was done since the frame was opened; the frame stays on the stack, frames above go."""
        position = self.frames.index(frame)
        for number, depth in frame.depths.items():
            self.databases[number].pager.rollback_to(depth)
        del self.frames[position + 1:]
        self.deferred_violations = frame.deferred
        self.databases.restore_catalogs(frame.catalogs)
        if frame.name is not None:
            self.rollback_count += 1

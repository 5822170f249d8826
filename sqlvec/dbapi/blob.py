"""``Blob``: a BLOB or TEXT value opened for incremental reading and writing, as the standard module's.

The value is read when the blob is opened and written back in place at each write: its size cannot change.  As in SQLite a blob expires when its row
is changed by anybody else ("query aborted"): while the database changes, the value is compared with what is stored before each use.
"""
from __future__ import annotations

from operator import index

from sqlvec import errors
from sqlvec.dbapi.exceptions import ProgrammingError, translate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.schema.objects import Table


def _refuse_column(session: Any, table: Table, number: int) -> None:
    """Columns of indexes and foreign keys aren't written.  Errors: "cannot open indexed column for writing", "... foreign key column ..."."""
    if session.settings.foreign_keys and any(number in key.columns for key in table.foreign_keys):
        raise errors.plain("cannot open foreign key column for writing")
    for tree in table.indexes:
        if any(part.column == number or part.column == -2 for part in tree.columns):
            raise errors.plain("cannot open indexed column for writing")


class Blob:
    """Made by ``Connection.blobopen``.  Errors: "no such rowid: N", "cannot open value of type X", "no such column: \"c\"", "no such table: t"."""

    __iter__ = None
    _connection: Any
    _readonly: bool
    _offset: int
    _closed: bool
    _is_null: bool
    _select: str
    _update: str
    _changes: int
    _rollbacks: int
    _row: int
    _value: Any
    _image: Any                 # the whole row as it was read or written last
    _data: Any                  # bytearray; None once the blob has expired

    def __init__(self, *arguments: Any) -> None:
        raise TypeError("cannot create 'sqlvec.Blob' instances")

    @classmethod
    def _open(cls, connection: Any, table: str, column: str, row: int, readonly: bool, name: str) -> Blob:
        """Open the value of a column in the row with this rowid."""
        session = connection._session
        found = session.databases.catalogs.find_table(name, table)
        if found is None:
            raise errors.plain(f"no such table: {name}.{table}")
        if found.kind == "view":
            raise errors.plain(f"cannot open view: {table}")
        if found.kind == "virtual":
            raise errors.plain(f"cannot open virtual table: {table}")
        if found.without_rowid:
            raise errors.plain(f"cannot open table without rowid: {table}")
        number = found.by_name.get(column.lower())
        if number is None:
            raise errors.plain(f'no such column: "{column}"')
        if not readonly:
            _refuse_column(session, found, number)
        made = object.__new__(cls)
        quoted = [part.replace('"', '""') for part in (name, table, column)]
        made._connection = connection
        made._readonly = readonly
        made._offset = 0
        made._closed = False
        made._is_null = number == found.rowid_column or (found.columns[number].generated is not None and not found.columns[number].is_stored)
        made._select = 'SELECT "{2}", * FROM "{0}"."{1}" WHERE rowid = ?'.format(*quoted)
        made._update = 'UPDATE "{}"."{}" SET "{}" = ? WHERE rowid = ?'.format(*quoted)
        made._changes = session.transaction.total_changes
        made._rollbacks = session.transaction.rollback_count
        made._load(row)
        return made

    def _stored(self) -> Any:
        session = self._connection._session
        rows = session.quietly(session.run, self._select, self._row)
        return rows[0] if rows else None

    def _load(self, row: int) -> None:
        session = self._connection._session
        rows = session.quietly(session.run, self._select, row)
        if not rows:
            raise errors.plain(f"no such rowid: {row}")
        value = None if self._is_null else rows[0][0]
        if not isinstance(value, (str, bytes)):
            kind = "null" if value is None else "integer" if isinstance(value, int) else "real"
            raise errors.plain(f"cannot open value of type {kind}")
        self._row = row
        self._image = rows[0]
        self._value = value
        self._data = bytearray(value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape"))

    def _check(self) -> None:
        self._connection._check()
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed blob.")

    def _touch(self) -> None:
        """Errors: "query aborted" once the row was changed or deleted."""
        if self._data is not None:
            transaction = self._connection._session.transaction
            if transaction.total_changes == self._changes and transaction.rollback_count == self._rollbacks:
                return
            self._changes, self._rollbacks = transaction.total_changes, transaction.rollback_count
            if self._stored() == self._image:
                return
            self._data = None
        raise translate(errors.SqlError(errors.ABORT, "query aborted"))

    def __len__(self) -> int:
        self._check()
        return 0 if self._data is None else len(self._data)

    def read(self, length: int = -1, /) -> bytes:
        """Up to ``length`` bytes from the current offset."""
        self._check()
        length = index(length)
        size = len(self)
        end = size if length < 0 else min(size, self._offset + length)
        if end == self._offset and self._data is not None:
            return b""
        self._touch()
        part = bytes(self._data[self._offset:end])
        self._offset = end
        return part

    def write(self, data: Any, /) -> None:
        """Overwrite from the current offset.  Errors: ValueError beyond the end."""
        self._check()
        part = _bytes(data)
        if self._offset + len(part) > len(self):
            raise ValueError("data longer than blob length")
        self._store(self._offset, part)
        self._offset += len(part)

    def _store(self, start: int, part: bytes) -> None:
        self._touch()
        if self._readonly:
            raise translate(errors.readonly())
        self._data[start:start + len(part)] = part
        value: Any = bytes(self._data)
        if isinstance(self._value, str):
            value = value.decode("utf-8", "surrogateescape")
        session = self._connection._session
        transaction = session.transaction
        counters = transaction.changes, transaction.total_changes
        self._connection._call(session.quietly, session.run, self._update, value, self._row)
        transaction.changes, transaction.total_changes = counters       # a blob's writes count as no change
        self._value = value
        self._image = self._stored()

    def tell(self) -> int:
        """The current offset."""
        self._check()
        return self._offset

    def seek(self, offset: int, origin: int = 0, /) -> None:
        """Move the current offset; ``origin`` 0 start, 1 here, 2 end."""
        self._check()
        offset = index(offset)
        if not -0x80000000 <= offset <= 0x7FFFFFFF:
            raise OverflowError("Python int too large to convert to C int")
        base = {0: 0, 1: self._offset, 2: len(self)}.get(origin)
        if base is None:
            raise ValueError("'origin' should be os.SEEK_SET, os.SEEK_CUR, or os.SEEK_END")
        if base + offset > 0x7FFFFFFF:
            raise OverflowError("seek offset results in overflow")
        if not 0 <= base + offset <= len(self):
            raise ValueError("offset out of blob range")
        self._offset = base + offset

    def _place(self, key: Any) -> int:
        """The offset of an index.  Errors: TypeError, IndexError."""
        if not hasattr(key, "__index__"):
            raise TypeError("Blob indices must be integers")
        number = index(key)
        if not -0x8000000000000000 <= number <= 0x7FFFFFFFFFFFFFFF:
            raise IndexError("cannot fit 'int' into an index-sized integer")
        if number < 0:
            number += len(self)
        if not 0 <= number < len(self):
            raise IndexError("Blob index out of range")
        return int(number)

    def __getitem__(self, key: Any) -> Any:
        self._check()
        if isinstance(key, slice):
            places = range(*key.indices(len(self)))
            if not places:
                return b""
            self._touch()
            return bytes(self._data[key])
        place = self._place(key)
        self._touch()
        return self._data[place]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check()
        if isinstance(key, slice):
            self._set_slice(key, value)
            return
        place = self._place(key)
        if not isinstance(value, int):
            raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
        if not 0 <= value <= 255:
            raise ValueError("byte must be in range(0, 256)")
        self._store(place, bytes((value,)))

    def _set_slice(self, key: slice, value: Any) -> None:
        places = range(*key.indices(len(self)))
        if not places:
            return
        part = _bytes(value)
        if len(part) != len(places):
            raise IndexError("Blob slice assignment is wrong size")
        if places.step == 1:
            self._store(places.start, part)
            return
        self._touch()
        changed = bytearray(self._data)
        changed[key] = part
        first = min(places)
        self._store(first, bytes(changed[first:max(places) + 1]))

    def __delitem__(self, key: Any) -> None:
        self._check()
        raise TypeError("Blob doesn't support slice deletion" if isinstance(key, slice) else "Blob doesn't support item deletion")

    def close(self) -> None:
        """Close the blob; closing again does nothing."""
        self._connection._check_thread()
        self._closed = True

    def __enter__(self) -> Blob:
        self._check()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._check()
        self.close()


def _bytes(data: Any) -> bytes:
    if isinstance(data, (str, int)):
        raise TypeError(f"a bytes-like object is required, not '{type(data).__name__}'")
    view = memoryview(data)
    if not view.c_contiguous:
        raise BufferError("memoryview: underlying buffer is not C-contiguous")
    return view.tobytes()

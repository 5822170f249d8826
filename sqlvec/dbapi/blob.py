"""``Blob``: a BLOB or TEXT value opened for incremental reading and writing, as the standard module's.

The value is read when the blob is opened and written back in place at each write: its size cannot change.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.dbapi.exceptions import ProgrammingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Blob:
    """Errors: "no such rowid: N", "cannot open value of type X", "no such column: \"c\"", "no such table: t"."""

    def __init__(self, connection: Any, table: str, column: str, row: int, readonly: bool, name: str) -> None:
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
        if column.lower() not in found.by_name:
            raise errors.plain(f'no such column: "{column}"')
        quoted = [part.replace('"', '""') for part in (name, table, column)]
        self._connection = connection
        self._readonly = readonly
        self._offset = 0
        self._closed = False
        self._select = 'SELECT "{2}" FROM "{0}"."{1}" WHERE rowid = ?'.format(*quoted)
        self._update = 'UPDATE "{}"."{}" SET "{}" = ? WHERE rowid = ?'.format(*quoted)
        self._load(row)

    def _load(self, row: int) -> None:
        rows = self._connection._session.run(self._select, row)
        if not rows:
            raise errors.plain(f"no such rowid: {row}")
        value = rows[0][0]
        if not isinstance(value, (str, bytes)):
            kind = "null" if value is None else "integer" if isinstance(value, int) else "real"
            raise errors.plain(f"cannot open value of type {kind}")
        self._row = row
        self._is_text = isinstance(value, str)
        self._data = bytearray(value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape"))

    def _check(self) -> None:
        self._connection._check()
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed blob.")

    def __len__(self) -> int:
        self._check()
        return len(self._data)

    def read(self, length: int = -1, /) -> bytes:
        self._check()
        end = len(self._data) if length < 0 else min(len(self._data), self._offset + length)
        part = bytes(self._data[self._offset:end])
        self._offset = end
        return part

    def write(self, data: Any, /) -> None:
        self._check()
        part = bytes(data)
        if self._offset + len(part) > len(self._data):
            raise ValueError("data longer than blob length")
        self._store(self._offset, part)
        self._offset += len(part)

    def _store(self, start: int, part: bytes) -> None:
        if self._readonly:
            raise self._connection.OperationalError("attempt to write a readonly database")
        self._data[start:start + len(part)] = part
        value: Any = bytes(self._data)
        if self._is_text:
            value = value.decode("utf-8", "surrogateescape")
        self._connection._call(self._connection._session.run, self._update, value, self._row)

    def tell(self) -> int:
        self._check()
        return self._offset

    def seek(self, offset: int, origin: int = 0, /) -> None:
        self._check()
        base = {0: 0, 1: self._offset, 2: len(self._data)}.get(origin)
        if base is None:
            raise ValueError("'origin' should be os.SEEK_SET, os.SEEK_CUR, or os.SEEK_END")
        if not 0 <= base + offset <= len(self._data):
            raise ValueError("offset out of blob range")
        self._offset = base + offset

    def __getitem__(self, key: Any) -> Any:
        self._check()
        part = self._data[key]
        return part if isinstance(part, int) else bytes(part)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check()
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self._data))
            if step != 1 or len(value) != stop - start:
                raise IndexError("Blob slice assignment is wrong size")
            self._store(start, bytes(value))
        else:
            position = key + len(self._data) if key < 0 else key
            if not 0 <= position < len(self._data):
                raise IndexError("Blob index out of range")
            self._store(position, bytes([value]))

    def close(self) -> None:
        self._closed = True

    def __enter__(self) -> Blob:
        self._check()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.close()

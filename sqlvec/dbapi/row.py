"""``Row``: a result row addressed by number or by column name, as the standard module's."""
from __future__ import annotations

from collections.abc import Sequence

from sqlvec.dbapi.cursor import Cursor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def _type_name(value: Any) -> str:
    return "None" if value is None else type(value).__name__


class Row:
    """Use as ``connection.row_factory``.  Names compare without regard to ASCII case."""

    __slots__ = ("_description", "_values")
    _description: Any
    _values: tuple[Any, ...]

    def __new__(cls, cursor: Any, values: tuple[Any, ...], /) -> Row:
        if not issubclass(type(cursor), Cursor):
            raise TypeError(f"Row() argument 1 must be sqlite3.Cursor, not {_type_name(cursor)}")
        if not isinstance(values, tuple):
            raise TypeError(f"Row() argument 2 must be tuple, not {_type_name(values)}")
        made = super().__new__(cls)
        made._description = cursor.description
        made._values = values
        return made

    def keys(self) -> list[str]:
        """The column names."""
        return [entry[0] for entry in self._description or ()]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            for number, entry in enumerate(self._description or ()):
                name = entry[0]
                if name == key or (name.isascii() and key.isascii() and name.lower() == key.lower()):
                    return self._values[number]
            raise IndexError("No item with that key")
        if isinstance(key, (int, slice)):
            if isinstance(key, int) and not -0x8000000000000000 <= key <= 0x7FFFFFFFFFFFFFFF:
                raise IndexError("cannot fit 'int' into an index-sized integer")
            return self._values[key]
        raise IndexError("Index must be int or string")

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __hash__(self) -> int:
        return hash((self._description, self._values))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            return bool(self._description == other._description and self._values == other._values)
        return NotImplemented

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle 'sqlite3.Row' object")

    def __repr__(self) -> str:
        return f"<sqlvec.Row object at {id(self):#x}>"


Sequence.register(Row)

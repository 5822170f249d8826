"""``Row``: a result row addressed by number or by column name, as the standard module's."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Row:
    """Use as ``connection.row_factory``.  Names compare without regard to ASCII case."""

    __slots__ = ("_description", "_values")

    def __init__(self, cursor: Any, values: tuple[Any, ...]) -> None:
        self._description = cursor.description
        self._values = values

    def keys(self) -> list[str]:
        return [entry[0] for entry in self._description or ()]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            folded = key.lower()
            for number, entry in enumerate(self._description or ()):
                if entry[0].lower() == folded:
                    return self._values[number]
            raise IndexError("No item with that key")
        return self._values[key]

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __hash__(self) -> int:
        return hash((self._description, self._values))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Row):
            return self._description == other._description and self._values == other._values
        return NotImplemented

    def __repr__(self) -> str:
        return f"<sqlvec.Row object at {id(self):#x}>"

"""Index entries of row images: which entry a row has in each index, if any, and keeping trees in step with rows.

The values of an entry are the index columns, then what makes it unique (the rowid, or the rest of the PRIMARY KEY).  A partial index has an entry only
for rows that satisfy its WHERE; index expressions are computed from the image.
"""
from __future__ import annotations

from sqlvec.expr.compile import compile_expressions
from sqlvec.pages.record import encode, integer_form
from sqlvec.values.storage import cast_to_real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.physical_dml import IndexWrite, TableWrite

    Image = tuple[Any, ...]


class EntryMaker:
    """Makes the entries of one index: ``values(image)`` -> tuple, or None where a partial index leaves the row out."""

    __slots__ = ("condition", "encoding", "expressions", "index", "is_plain", "is_unique", "key_count", "pick", "positions", "reads", "schema_format", "write")

    def __init__(self, entry: IndexWrite, write: TableWrite, context: Any, schema_format: int) -> None:
        self.write = entry
        self.index = entry.index
        self.key_count = entry.index.key_count
        self.is_unique = entry.index.unique
        self.positions = entry.positions
        self.encoding = context.databases[write.table.database].pager.encoding
        self.schema_format = schema_format
        self.condition = compile_expressions((entry.where,), write.columns, context) if entry.where is not None else None
        self.expressions = compile_expressions(entry.expressions, write.columns, context) if entry.expressions else None
        self.is_plain = self.condition is None and self.expressions is None

    def values(self, image: Image) -> tuple[Any, ...] | None:
        """The entry of a row."""
        if self.is_plain:
            return tuple([image[position] for position in self.positions])
        if self.condition is not None and not is_true(self.condition(image)[0]):
            return None
        computed = self.expressions(image) if self.expressions is not None else ()
        return tuple([image[position] if position > -2 else computed[-2 - position] for position in self.positions])

    def payload(self, values: tuple[Any, ...]) -> bytes:
        """The record of an entry."""
        for value in values:
            if type(value) is float:
                values = tuple([self.stored(position, value) for position, value in enumerate(values)])
                break
        return encode(values, self.encoding, self.schema_format)

    def stored(self, position: int, value: Any) -> Any:
        """REAL columns keep integral values as integers in index records as well."""
        if type(value) is float and position in self.write.real:
            return integer_form(value)
        return value


def is_true(value: Any) -> bool:
    """Truth of a condition's value: NULL is not true; text and blobs go by their numeric prefix."""
    if value is None:
        return False
    kind = type(value)
    if kind is int or kind is float:
        return bool(value)
    return bool(cast_to_real(value))

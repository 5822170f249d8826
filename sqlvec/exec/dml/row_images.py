"""Row images and records: from a stored payload to the tuple that expressions read, and back.

An image holds one value per table column, then the rowid (plan/physical_dml.py).  What a record lacks comes back here: the INTEGER
PRIMARY KEY from the rowid, VIRTUAL generated columns by computing them, columns added after the row was written from their defaults;
integers of REAL columns become floats.  The other way, REAL values that are integers become integers and the rowid alias NULL.
"""
from __future__ import annotations

from sqlvec.exec.row.schema_values import default_value
from sqlvec.expr.compile import compile_expressions
from sqlvec.pages.record import encode, integer_form, projector
from sqlvec.values.storage import AFFINITY_FUNCTIONS, REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.plan.physical_dml import TableWrite
    from sqlvec.schema.objects import Table

    Image = tuple[Any, ...]


def constant_default(write: TableWrite, column: int, context: Any) -> Any:
    """The value that rows written before ADD COLUMN have in ``column``."""
    return default_value(context, write.table, column)


class RowCodec:
    """Images of one table: ``image(payload, rowid)``, ``record(image)``."""

    __slots__ = ("affinities", "alias", "columns", "compute", "encoding", "fields", "generated", "is_simple", "project", "real", "schema_format",
                 "table", "virtual")

    def __init__(self, write: TableWrite, context: Any) -> None:
        table = self.table = write.table
        self.columns = len(table.columns)
        self.alias = table.rowid_column
        database = context.databases[table.database]
        self.encoding = database.pager.encoding
        self.schema_format = database.pager.header("schema_format") or 4
        stored = [number for number in range(self.columns) if table.fields[number] >= 0]
        self.virtual = tuple(number for number in range(self.columns) if table.fields[number] < 0)
        real = frozenset(table.fields[number] for number in stored if table.columns[number].affinity == REAL)
        defaults = {
            table.fields[number]: constant_default(write, number, context) for number in stored if table.columns[number].default is not None
        }
        self.project = projector(tuple(table.fields[number] for number in stored), self.encoding, real, defaults)
        # record field -> image position
        order = sorted(stored, key=lambda number: table.fields[number])
        self.fields = tuple(order)
        self.real = tuple(position for position, number in enumerate(order) if table.columns[number].affinity == REAL)
        self.affinities = tuple(AFFINITY_FUNCTIONS[column.affinity] for column in table.columns)
        self.generated = tuple(number for number, _ in write.generated)
        self.compute = tuple(
            (number, compile_expressions((expression,), write.columns, context), self.affinities[number]) for number, expression in write.generated
        )
        self.is_simple = not self.virtual

    def image(self, payload: bytes, rowid: int | None) -> Image:
        """The image of a stored row."""
        values = self.project(payload)
        alias = self.alias
        if self.is_simple:
            if alias >= 0:
                return (*values[:alias], rowid, *values[alias + 1 :], rowid)
            return (*values, rowid)
        filled: list[Any] = [None] * (self.columns + 1)
        stored = iter(values)
        virtual = self.virtual
        for number in range(self.columns):
            if number not in virtual:
                filled[number] = next(stored)
        filled[-1] = rowid
        if alias >= 0:
            filled[alias] = rowid
        self.compute_generated(filled, virtual)
        return tuple(filled)

    def compute_generated(self, image: list[Any], wanted: tuple[int, ...] | None = None) -> None:
        """Fill in generated columns (all, or the ``wanted`` ones)."""
        for number, function, affinity in self.compute:
            if wanted is None or number in wanted:
                image[number] = affinity(function(tuple(image))[0])

    def apply_affinities(self, image: list[Any]) -> None:
        """What storing does to values (the rowid alias is left alone)."""
        for number, affinity in enumerate(self.affinities):
            value = image[number]
            if value is not None:
                image[number] = affinity(value)

    def record(self, image: Image | list[Any]) -> bytes:
        """The record of an image."""
        values = [image[number] for number in self.fields]
        if self.alias >= 0 and not self.table.without_rowid:
            values[self.table.fields[self.alias]] = None
        for position in self.real:
            value = values[position]
            if type(value) is float:
                values[position] = integer_form(value)
        return encode(tuple(values), self.encoding, self.schema_format)

    def field_values(self, image: Image | list[Any]) -> tuple[Any, ...]:
        """The values of the record of a WITHOUT ROWID table, in field order."""
        return tuple([image[number] for number in self.fields])


def scan_images(table: Table, write: TableWrite, context: Any, codec: RowCodec | None = None) -> Iterator[Image]:
    """The images of all rows in tree order."""
    codec = codec or RowCodec(write, context)
    if table.without_rowid:
        assert table.key_index is not None
        for block in context.index_tree(table.key_index).blocks():
            for payload in block:
                yield codec.image(payload, None)
    else:
        for block in context.table_tree(table).blocks():
            for rowid, payload in block:
                yield codec.image(payload, rowid)

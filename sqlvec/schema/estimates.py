"""Sizes that the planner reads from the schema: column widths, row widths, and default row counts per index prefix.

All are LogEst numbers (10*log2, rounded) except a column's width, which counts units of four bytes.  They come from declarations alone; statistics
of ANALYZE replace them (schema/statistics.py).

Follows "The Next-Generation Query Planner" of the manual; the formulas were measured.
"""
from __future__ import annotations

from sqlvec.values.affinity import BLOB, NUMERIC, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.schema.objects import Column, Index, Table

_FRACTION = (0, 2, 3, 5, 6, 7, 8, 9)
_PREFIX_DEFAULTS = (33, 32, 30, 28, 26)


def log_estimate(number: int) -> int:
    """LogEst of an integer >= 0."""
    if number < 2:
        return 0
    power = number.bit_length() - 1
    mantissa = (number >> (power - 3)) if power >= 3 else (number << (3 - power))
    return 10 * power + _FRACTION[mantissa - 8]


def column_width(declared_type: str, affinity: str) -> int:
    """Expected width of a column in units of 4 bytes: from the number in ``VARCHAR(n)`` or ``BLOB(n)``, else by affinity."""
    if not declared_type or affinity >= NUMERIC:
        return 1
    lowered = declared_type.lower()
    at = lowered.find("char")
    if affinity == BLOB:
        at = lowered.find("blob(")
    elif affinity == TEXT and at < 0:
        return 5
    if at < 0:
        return 5
    digits = ""
    for character in lowered[at:]:
        if character.isdigit():
            digits += character
        elif digits:
            break
    return min((int(digits) // 4 if digits else 0) + 1, 255)


def table_row_size(columns: tuple[Column, ...], has_rowid_column: bool) -> int:
    """LogEst of the width of a table row."""
    return log_estimate(4 * (sum(column.size_estimate for column in columns) + (0 if has_rowid_column else 1)))


def index_row_size(index: Index) -> int:
    """LogEst of the width of an index entry; rowid and expression fields count 1."""
    columns = index.table.columns
    return log_estimate(4 * sum(columns[field.column].size_estimate if field.column >= 0 else 1 for field in index.columns))


def set_default_estimates(table: Table, index: Index) -> None:
    """Fill ``index.row_estimates`` as for an index never analysed."""
    table.row_estimate = max(table.row_estimate, 99)
    rows = table.row_estimate - (10 if index.where is not None else 0)
    estimates = [rows]
    for position in range(index.key_count):
        estimates.append(_PREFIX_DEFAULTS[position] if position < 5 else 23)
    if index.unique:
        estimates[index.key_count] = 0
    index.row_estimates = estimates

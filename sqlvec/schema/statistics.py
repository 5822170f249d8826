"""Statistics of ANALYZE: rows of sqlite_stat1 become the planner's numbers on tables and indexes.

Each row is (tbl, idx, stat).  ``stat`` begins with integers: rows of the index, then rows per distinct value of each longer key prefix; words may follow:
``unordered``, ``noskipscan``, ``sz=N``.  idx NULL speaks of the table alone; idx equal to the table's name is the PRIMARY KEY of a WITHOUT ROWID table.
Rows naming unknown objects are ignored.

Follows "ANALYZE" and "The sqlite_stat1 Table" of the manual.
"""
from __future__ import annotations

from sqlvec.schema.catalog import fold
from sqlvec.schema.objects import log_estimate, set_default_estimates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sqlvec.schema.catalog import Catalog
    from sqlvec.schema.objects import Index, Table

DEFAULT_ROWS = 200


def apply(catalog: Catalog, rows: Iterable[tuple[Any, ...]]) -> None:
    """Put statistics into the objects of a Catalog that nobody reads yet; objects without a row get default estimates."""
    by_table: dict[str, list[tuple[Any, str]]] = {}
    for row in rows:
        if len(row) >= 3 and row[0] is not None and row[2] is not None:
            by_table.setdefault(fold(str(row[0])), []).append((row[1], str(row[2])))
    for key, entries in by_table.items():
        table = catalog.find_table(key)
        if table is not None and table.kind == "table":
            _reset(table)
            _apply_rows(table, entries)
            for index in table.indexes:
                if not index.has_statistics:
                    set_default_estimates(table, index)


def row_estimates(catalog: Catalog) -> dict[str, int]:
    """The row estimates of all tables that anybody has asked for yet."""
    return {fold(table.name): table.row_estimate for table in catalog.known_tables() if table.kind == "table"}


def carry_over(catalog: Catalog, estimates: dict[str, int]) -> None:
    """Give the tables of a Catalog loaded by ANALYZE the estimates they had: they change only where statistics say another number."""
    for key, rows in estimates.items():
        if rows == DEFAULT_ROWS:
            continue
        table = catalog.find_table(key)
        if table is None or table.has_statistics:
            continue
        table.row_estimate = rows
        for index in table.indexes:
            if not index.has_statistics:
                set_default_estimates(table, index)


def _reset(table: Table) -> None:
    table.row_estimate = DEFAULT_ROWS
    table.has_statistics = False
    for index in table.indexes:
        index.has_statistics = False
        set_default_estimates(table, index)


def _apply_rows(table: Table, entries: list[tuple[Any, str]]) -> None:
    for index_name, text in entries:
        numbers, words = _split(text)
        if index_name is None:
            if numbers:
                table.row_estimate = log_estimate(numbers[0])
            for word in words:
                if word.startswith("sz="):
                    table.row_size = log_estimate(max(_leading_integer(word[3:]), 2))
            table.has_statistics = True
            continue
        index = _find_index(table, fold(str(index_name)))
        if index is None:
            continue
        _apply_index(index, numbers, words)
        if index.where is None:
            table.row_estimate = index.row_estimates[0]
            table.has_statistics = True


def _find_index(table: Table, key: str) -> Index | None:
    if key == fold(table.name):
        return table.key_index
    return next((index for index in table.indexes if fold(index.name) == key), None)


def _apply_index(index: Index, numbers: list[int], words: list[str]) -> None:
    index.is_unordered = False
    index.no_skip_scan = False
    for position, number in enumerate(numbers[: index.key_count + 1]):
        index.row_estimates[position] = log_estimate(number)
    for word in words:
        if word.startswith("unordered"):
            index.is_unordered = True
        elif word.startswith("sz="):
            index.row_size = log_estimate(max(_leading_integer(word[3:]), 2))
        elif word.startswith("noskipscan"):
            index.no_skip_scan = True
    index.has_statistics = True


def _split(text: str) -> tuple[list[int], list[str]]:
    numbers: list[int] = []
    words: list[str] = []
    for word in text.split(" "):
        if word and word[0].isdigit() and not words:
            numbers.append(_leading_integer(word))
        elif word:
            words.append(word)
    return numbers, words


def _leading_integer(text: str) -> int:
    digits = ""
    for character in text:
        if not character.isdigit():
            break
        digits += character
    return int(digits) if digits else 0

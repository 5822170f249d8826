"""``dbstat``: how the pages of each tree are used; eponymous only.  Constraints on schema, name and aggregate are taken, and an ORDER BY name (, path).

Follows "The DBSTAT Virtual Table" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.storage_stats import page_rows
from sqlvec.vtab.api import Choice, Constraint, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME, PATH, SCHEMA, AGGREGATE = 0, 1, 10, 11
BY_SCHEMA, BY_NAME, IS_AGGREGATE, SORTED = 1, 2, 4, 8


class DbstatTable(VirtualTable):
    """Rows ``(name, path, pageno, pagetype, ncell, payload, unused, mx_payload, pgoffset, pgsize, schema, aggregate)``."""

    columns = (
        ("name", "TEXT", False), ("path", "TEXT", False), ("pageno", "INTEGER", False), ("pagetype", "TEXT", False), ("ncell", "INTEGER", False),
        ("payload", "INTEGER", False), ("unused", "INTEGER", False), ("mx_payload", "INTEGER", False), ("pgoffset", "INTEGER", False),
        ("pgsize", "INTEGER", False), ("schema", "TEXT", True), ("aggregate", "BOOLEAN", True),
    )

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        wanted: dict[int, int] = {}
        for number, constraint in enumerate(constraints):
            if constraint.operator != "=" or constraint.column not in (SCHEMA, NAME, AGGREGATE):
                continue
            if not constraint.usable:
                return None
            wanted.setdefault(constraint.column, number)
        flags = sum(flag for column, flag in ((SCHEMA, BY_SCHEMA), (NAME, BY_NAME), (AGGREGATE, IS_AGGREGATE)) if column in wanted)
        arguments = tuple(wanted[column] for column in (SCHEMA, NAME, AGGREGATE) if column in wanted)
        in_order = order in ([(NAME, False)], [(NAME, False), (PATH, False)])
        return Choice(flags | (SORTED if in_order else 0), None, arguments, frozenset(wanted.values()), 10.0, 25, in_order)

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        values = list(arguments)
        schema = values.pop(0) if choice.number & BY_SCHEMA else "main"
        wanted = values.pop(0) if choice.number & BY_NAME else None
        is_aggregate = bool(values.pop(0)) if choice.number & IS_AGGREGATE else False
        number = context.databases.number_of(str(schema))
        if number is None:
            raise errors.plain(f"no such database: {schema}")
        database = context.databases[number]
        context.transaction.begin_read(number)
        trees = [("sqlite_schema", 1), *_trees(context.databases.catalog(number))]
        if wanted is not None:
            trees = [tree for tree in trees if tree[0].lower() == str(wanted).lower()]
        if choice.number & SORTED:
            trees.sort()
        for position, row in enumerate(_rows(database.pager, trees, is_aggregate), 1):
            yield position, (*row, schema, int(is_aggregate))


def _trees(catalog: Any) -> list[tuple[str, int]]:
    """(name, root) of every tree in the order of sqlite_schema: a table before its indexes, oldest first."""
    found = []
    for table in catalog.tables():
        if table.kind == "table":
            found.append((table.name, table.root))
            found.extend((index.name, index.root) for index in reversed(table.indexes) if not index.is_table_tree)
    return found


def _rows(pager: Any, trees: list[tuple[str, int]], is_aggregate: bool) -> Iterator[tuple[Any, ...]]:
    for name, root in trees:
        if pager.page_count < root:
            continue
        rows = page_rows(pager, root)
        if not is_aggregate:
            for row in rows:
                yield (name, *row, pager.page_size)
            continue
        pages = cells = payload = unused = largest = 0
        for row in rows:
            pages += 1
            cells += row[3]
            payload += row[4]
            unused += row[5]
            largest = max(largest, row[6])
        yield name, None, pages, None, cells, payload, unused, largest, None, pages * pager.page_size


class DbstatModule(Module):
    """Eponymous, and usable with CREATE VIRTUAL TABLE."""

    eponymous = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return DbstatTable()

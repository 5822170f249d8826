"""ORDER BY with LIMIT over one table: sort keys and rowids first, whole rows for the winners only.

``SELECT * FROM t ORDER BY x LIMIT 10`` delivers ten rows but would decode every column of all.  In a large table the loops deliver only the sort keys
and the rowid; after the sort the rows that are left are read again by rowid and projected.  All of that happens before the first row leaves, so nobody can have
changed the table in between.

Only for results that cannot raise and have no side effects, since those of the losers are never evaluated.
"""
from __future__ import annotations

from sqlvec.exec.program import RowProgram
from sqlvec.exec.row.pipeline_source import below
from sqlvec.expr.bound import Column, ScalarSubquery, columns_of
from sqlvec.expr.emit import is_total
from sqlvec.plan import physical
from sqlvec.schema.objects import ROWID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.exec.row.ephemeral import SortTerm

LARGE = 1500
"""Rows of a table from which on the second compilation pays."""
SPARED = 3
"""Columns that must be spared."""
_OUTER = -1000000


class LateRows:
    """The two programs of a late projection."""

    __slots__ = ("full", "narrow", "outer_columns", "table")

    def __init__(self, node: physical.Sort, table: Any, join: physical.Join, conditions: list[Any], project: physical.Project,
                 places: list[int], compiler: Compiler) -> None:
        path = join.levels[0].path
        self.table = table
        self.outer_columns = compiler.outer_columns
        rowid = Column(path.source, ROWID, "rowid", None, None, False, table)
        narrow: physical.Node = join
        for condition in conditions:
            narrow = physical.Filter(narrow, condition)
        keys = (*(project.expressions[place] for place in places), rowid)
        columns = tuple(Column(project.source, number) for number in range(len(keys)))
        self.narrow = RowProgram(physical.Project(narrow, keys, project.source, columns), compiler.outer_columns)
        wanted = Column(_OUTER, 0, "rowid")
        search = physical.RowidSearch(path.source, path.label, table, physical.KeyTerm("=", wanted))
        reading = physical.Join((physical.Level(search),), join.columns)
        self.full = RowProgram(physical.Project(reading, project.expressions, project.source, project.columns), (*compiler.outer_columns, wanted))

    def is_worthwhile(self, activation: Any) -> bool:
        """Is the table large enough?"""
        return activation.table_tree(self.table).physical_size()[1] >= LARGE  # type: ignore[no-any-return]

    def rows(self, activation: Any, outer: Any, top: Any, terms: list[SortTerm], wanted: int) -> Iterator[tuple[Any, ...]]:
        """The first ``wanted`` rows of the order; ``top`` is the sort."""
        winners = list(top(self.narrow.rows(activation, outer), lambda rows: rows, terms, wanted))
        found: list[Any] = []
        for winner in winners:
            found += self.full.rows(activation, (*outer, winner[-1]))
        yield from found


def late_rows(node: physical.Sort, places: list[int] | None, compiler: Compiler) -> LateRows | None:
    """The late projection for a Sort with a limit whose keys are the columns ``places`` of its input; None where it isn't possible or spares little."""
    project = node.input
    if places is None or node.presorted or not isinstance(project, physical.Project):
        return None
    conditions, join = below(project.input)
    if not isinstance(join, physical.Join) or len(join.levels) != 1:
        return None
    path = join.levels[0].path
    table = getattr(path, "table", None)
    if table is None or table.kind != "table" or table.without_rowid or not isinstance(path, (physical.TableScan, physical.RowidSearch, physical.IndexSearch)):
        return None
    read = set()
    early = set()
    for place, expression in enumerate(project.expressions):
        if not is_total(expression) or any(isinstance(part, ScalarSubquery) for part in expression.walk()):
            return None
        columns = {number for source, number in columns_of(expression) if source == path.source}
        read |= columns
        if place in places:
            early |= columns
    for condition in (*conditions, *join.levels[0].conditions):
        early |= {number for source, number in columns_of(condition) if source == path.source}
    if len(read - early - {ROWID, table.rowid_column}) < SPARED:
        return None
    return LateRows(node, table, join, conditions, project, places, compiler)

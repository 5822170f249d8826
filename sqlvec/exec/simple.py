"""Operators that need no generated code: counting the rows of a tree, and projecting constants and counts.

They keep ``SELECT 1`` and ``SELECT count(*) FROM t`` free of the emitter, so that a cold process loads little.
"""
from __future__ import annotations

from sqlvec.expr.bound import Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.plan import physical


def open_count_rows(node: physical.CountRows, compiler: Compiler) -> Any:
    """Compile a CountRows: the number of entries of a tree."""
    table, index = node.table, node.index

    def count(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        if index is not None:
            yield (activation.index_tree(index).count_entries(),)
        elif table.without_rowid:
            yield (activation.index_tree(table.key_index).count_entries(),)
        else:
            yield (activation.table_tree(table).count_rows(),)

    return count


def open_simple_project(node: physical.Project, compiler: Compiler) -> Any:
    """Compile a Project whose expressions are literals and columns of its input (``operators.is_simple``)."""
    places = {(column.source, column.number): place for place, column in enumerate(node.input.columns)}
    parts = [(None, expression.value) if type(expression) is Literal
             else (places[expression.source, expression.number], None) for expression in node.expressions]  # type: ignore[attr-defined]
    source = None if not node.input.columns else compiler.operator(node.input)

    def project(activation: Any, outer: Any) -> Iterator[tuple[Any, ...]]:
        for row in ((),) if source is None else source(activation, outer):
            yield tuple([value if place is None else row[place] for place, value in parts])

    return project

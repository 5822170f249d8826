"""Every operator of the row engine by the name of its physical node, and the compiler that turns a plan into openers.

An *opener* is a function ``(activation, outer_values) -> iterator of row tuples``.  ``Compiler.operator(node)`` makes the opener of a node; the module
that knows the node is imported when the first such node is compiled.

The operators that need no generated code, counting the rows of a tree and projecting constants and counts, are here: they keep ``SELECT 1`` and
``SELECT count(*) FROM t`` free of the emitter, so that a cold process loads little.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, Literal
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.expr.bound import Expression
    from sqlvec.plan import physical
    from sqlvec.plan.physical import Node


_ROW = "sqlvec.exec.row."

OPERATORS: dict[str, str] = {
    "Join": _ROW + "pipeline_source:open_pipeline",
    "Project": _ROW + "pipeline_source:open_pipeline",
    "Filter": _ROW + "pipeline_source:open_pipeline",
    "SingleRow": _ROW + "pipeline_source:open_pipeline",
    "VectorInput": "sqlvec.exec.bridge:open_vector",
    "Measured": "sqlvec.exec.measure:open_measured",
    "Aggregate": _ROW + "aggregate:open_aggregate",
    "CountRows": "sqlvec.exec.operators:open_count_rows",
    "WindowPass": _ROW + "window:open_window_pass",
    "Sort": _ROW + "sort:open_sort",
    "Distinct": _ROW + "sort:open_distinct",
    "Limit": _ROW + "sort:open_limit",
    "Values": _ROW + "set_operation:open_values",
    "UnionAll": _ROW + "set_operation:open_union_all",
    "SetOperation": _ROW + "set_operation:open_set_operation",
    "MergeSetOperation": _ROW + "set_operation:open_merge",
    "RecursiveCte": _ROW + "recursive:open_recursive",
}

SIMPLE_PROJECT = "sqlvec.exec.operators:open_simple_project"

WRITERS: dict[str, str] = {
    "Insert": "sqlvec.exec.dml.insert:run",
    "Update": "sqlvec.exec.dml.update:run",
    "Delete": "sqlvec.exec.dml.delete:run",
    "VtabWrite": "sqlvec.exec.dml.vtab_write:run",
}


def is_simple(node: Node) -> bool:
    """Is this a Project of constants and counts that needs no generated code?"""
    source = node.input  # type: ignore[attr-defined]
    if type(source).__name__ not in ("SingleRow", "CountRows"):
        return False
    known = {(column.source, column.number) for column in source.columns}
    return all(type(expression) is Literal or (type(expression) is Column and (expression.source, expression.number) in known)
               for expression in node.expressions)  # type: ignore[attr-defined]


class Compiler:
    """Compiles one program: ``outer_columns`` are the columns of its outer values; ``context`` a run context, of which only what belongs to the
    connection is read (collations, catalogs)."""

    __slots__ = ("collations", "context", "keeps_json", "outer_columns")

    def __init__(self, context: RunContext, outer_columns: tuple[Column, ...] = (), keeps_json: bool = False) -> None:
        self.keeps_json = keeps_json
        self.context = context
        self.collations = context.collations
        self.outer_columns = outer_columns

    def operator(self, node: Node) -> Callable[[Any, Any], Any]:
        """The opener of a node."""
        name = type(node).__name__
        if name == "Project" and is_simple(node):
            return resolve(SIMPLE_PROJECT)(node, self)  # type: ignore[no-any-return]
        return resolve(OPERATORS[name])(node, self)  # type: ignore[no-any-return]

    def function(self, expressions: tuple[Expression, ...], layout: tuple[Column, ...], kind: str = "tuple") -> Any:
        """A Maker: ``.bind(activation)`` gives ``f(row, outer)``; kinds: tuple, value, condition."""
        return resolve("sqlvec.expr.compile:maker")(expressions, layout, self.collations, self.outer_columns, kind)


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

"""Every operator of the row engine by the name of its physical node, and the compiler that turns a plan into openers.

An *opener* is a function ``(activation, outer_values) -> iterator of row tuples``.  ``Compiler.operator(node)`` makes the opener of a node; the module
that knows the node is imported when the first such node is compiled.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column, Literal
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.physical import Node

_ROW = "sqlvec.exec.row."

OPERATORS: dict[str, str] = {
    "Join": _ROW + "pipeline_source:open_pipeline",
    "Project": _ROW + "pipeline_source:open_pipeline",
    "Filter": _ROW + "pipeline_source:open_pipeline",
    "SingleRow": _ROW + "pipeline_source:open_pipeline",
    "VectorInput": "sqlvec.exec.bridge:open_vector",
    "Aggregate": _ROW + "aggregate:open_aggregate",
    "CountRows": "sqlvec.exec.simple:open_count_rows",
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

SIMPLE_PROJECT = "sqlvec.exec.simple:open_simple_project"

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

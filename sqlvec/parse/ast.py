"""The abstract syntax of the whole language: ``from sqlvec.parse import ast`` and then ``ast.Select``, ``ast.CreateTable``, ...

The nodes live in three files by family: ``ast_expr`` (names, expressions, windows), ``ast_select`` (queries, INSERT, UPDATE, DELETE)
and ``ast_ddl`` (everything else).  The last is loaded when one of its names is first asked for, since a query needs none of them.
``ast_expr`` states the invariants all nodes share.
"""
from __future__ import annotations

from sqlvec.parse.ast_expr import (
    Between,
    Binary,
    Case,
    Cast,
    Collate,
    ColumnRef,
    CurrentTime,
    Exists,
    Frame,
    FrameBound,
    FunctionCall,
    InList,
    InSelect,
    InTable,
    IsNull,
    Like,
    Literal,
    Name,
    Nary,
    Node,
    OrderTerm,
    Parameter,
    Raise,
    RowValue,
    ScalarSelect,
    Span,
    Statement,
    Unary,
    WindowSpec,
)
from sqlvec.parse.ast_select import (
    JOIN_COMMA,
    JOIN_CROSS,
    JOIN_FULL,
    JOIN_INNER,
    JOIN_LEFT,
    JOIN_NATURAL,
    JOIN_OUTER,
    JOIN_RIGHT,
    Compound,
    Cte,
    Delete,
    Insert,
    JoinItem,
    ParenthesisedJoin,
    ResultColumn,
    Select,
    SelectCore,
    SetClause,
    Star,
    SubqueryFrom,
    TableName,
    TableStar,
    Update,
    Upsert,
    Values,
    WindowDefinition,
    With,
)
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.parse.ast_ddl import (
        AlterAddColumn,
        AlterDropColumn,
        AlterRenameColumn,
        AlterRenameTable,
        Analyze,
        Attach,
        Begin,
        Check,
        ColumnCollate,
        ColumnDef,
        Commit,
        CreateIndex,
        CreateTable,
        CreateTrigger,
        CreateView,
        CreateVirtualTable,
        Default,
        Detach,
        Drop,
        Explain,
        ForeignKey,
        Generated,
        NotNull,
        Nullable,
        Pragma,
        PrimaryKey,
        Reindex,
        Release,
        Rollback,
        Savepoint,
        Unique,
        Vacuum,
    )

_DDL = (
    "AlterAddColumn", "AlterDropColumn", "AlterRenameColumn", "AlterRenameTable", "Analyze", "Attach", "Begin", "Check", "ColumnCollate",
    "ColumnDef", "Commit", "CreateIndex", "CreateTable", "CreateTrigger", "CreateView", "CreateVirtualTable", "Default", "Detach", "Drop",
    "Explain", "ForeignKey", "Generated", "NotNull", "Nullable", "Pragma", "PrimaryKey", "Reindex", "Release", "Rollback", "Savepoint",
    "Unique", "Vacuum",
)  # fmt: skip

__all__ = [
    "JOIN_COMMA", "JOIN_CROSS", "JOIN_FULL", "JOIN_INNER", "JOIN_LEFT", "JOIN_NATURAL", "JOIN_OUTER", "JOIN_RIGHT", "AlterAddColumn",
    "AlterDropColumn", "AlterRenameColumn", "AlterRenameTable", "Analyze", "Attach", "Begin", "Between", "Binary", "Case", "Cast",
    "Check", "Collate", "ColumnCollate", "ColumnDef", "ColumnRef", "Commit", "Compound", "CreateIndex", "CreateTable", "CreateTrigger",
    "CreateView", "CreateVirtualTable", "Cte", "CurrentTime", "Default", "Delete", "Detach", "Drop", "Exists", "Explain", "ForeignKey",
    "Frame", "FrameBound", "FunctionCall", "Generated", "InList", "InSelect", "InTable", "Insert", "IsNull", "JoinItem", "Like",
    "Literal", "Name", "Nary", "Node", "NotNull", "Nullable", "OrderTerm", "Parameter", "ParenthesisedJoin", "Pragma", "PrimaryKey",
    "Raise", "Reindex", "Release", "ResultColumn", "Rollback", "RowValue", "Savepoint", "ScalarSelect", "Select", "SelectCore",
    "SetClause", "Span", "Star", "Statement", "SubqueryFrom", "TableName", "TableStar", "Unary", "Unique", "Update", "Upsert", "Vacuum",
    "Values", "WindowDefinition", "WindowSpec", "With",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the nodes of ``ast_ddl`` on first use."""
    if name not in _DDL:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = resolve("sqlvec.parse.ast_ddl:" + name)
    return found

"""Which error the real one reports first.

It looks all FROM tables of a statement up (sub-queries in expressions included, the last arm of a compound first, ``table.*`` in passing) before it
resolves any column.  Binding here goes through the statement once; so when it fails on a name, this module makes that first walk and raises what it
would have found.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse import ast
from sqlvec.plan.cte import CteFrame
from sqlvec.plan.scope import Binding, Scope
from sqlvec.resolve import resolve
from sqlvec.schema.catalog import fold
from sqlvec.schema.from_ast import children_in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.planner import PlanContext


def raise_earlier(statement: ast.Statement, context: PlanContext) -> None:
    """Raise the error of a missing table anywhere in a SELECT, if there is one."""
    if isinstance(statement, ast.Select):
        _select(statement, Binding(context))


def _select(select: ast.Select, binding: Binding) -> None:
    saved = binding.ctes
    if select.with_ is not None:
        binding.ctes = CteFrame(select.with_, binding.ctes, binding)
    try:
        body = select.body
        cores = list(reversed(body.cores)) if isinstance(body, ast.Compound) else [body]
        for core in cores:
            if isinstance(core, ast.SelectCore):
                _from(core.from_, binding)
                _stars(core)
            for part in _expressions(core):
                _expression(part, binding)
            if core is cores[0]:
                for term in select.order_by:
                    _expression(term, binding)
                for limit in (select.limit, select.offset):
                    if limit is not None:
                        _expression(limit, binding)
    finally:
        binding.ctes = saved


def _expressions(core: Any) -> list[ast.Node]:
    if isinstance(core, ast.Values):
        return [item for row in core.rows for item in row]
    found: list[ast.Node] = [column for column in core.columns if isinstance(column, ast.ResultColumn)]
    found += [item.on for item in core.from_ if item.on is not None]
    found += core.windows
    found += [part for part in (core.where, *core.group_by, core.having) if part is not None]
    return found


def _from(items: list[ast.JoinItem], binding: Binding) -> None:
    for item in items:
        source = item.source
        if isinstance(source, ast.ParenthesisedJoin):
            _from(source.items, binding)
        elif isinstance(source, ast.SubqueryFrom):
            _select(source.select, binding)
        elif not (source.schema is None and binding.ctes is not None and binding.ctes.find(fold(source.name.text)) is not None):
            resolve("sqlvec.plan.from_:find_table")(source.schema, source.name, Scope(binding))


def _stars(core: ast.SelectCore) -> None:
    """``x.*`` must name a source, ``*`` needs one."""
    for column in core.columns:
        if isinstance(column, ast.Star) and not core.from_:
            raise errors.no_tables_specified()
        if isinstance(column, ast.TableStar) and not any(fold(column.table.text) in _names(item.source) for item in core.from_):
            raise errors.no_such_table(column.table.text)


def _names(source: Any) -> set[str]:
    found = {fold(source.alias.text)} if source.alias is not None else set()
    if isinstance(source, ast.TableName) and not found:
        found.add(fold(source.name.text))
    if isinstance(source, ast.ParenthesisedJoin):
        for item in source.items:
            found |= _names(item.source)
    return found


def _expression(node: ast.Node, binding: Binding) -> None:
    if isinstance(node, ast.Select):
        _select(node, binding)
        return
    if isinstance(node, ast.InTable):
        if binding.ctes is None or node.schema is not None or binding.ctes.find(fold(node.table.text)) is None:
            resolve("sqlvec.plan.from_:find_table")(node.schema, node.table, Scope(binding))
    for child in children_in_order(node):
        _expression(child, binding)

"""Queries inside writing statements: binding and lowering them, and what their plans tell about the order of writing.

Follows "Query Planning" of the manual; facts: when UPDATE and DELETE work in one pass.
"""
from __future__ import annotations

from sqlvec.expr.bound import Column
from sqlvec.parse import ast
from sqlvec.plan import physical
from sqlvec.plan.logical import Block, columns_read
from sqlvec.plan.scope import ROWID_NAMES, Binding, Frame, Scope
from sqlvec.plan.select import bind_select
from sqlvec.resolve import resolve
from sqlvec.values.affinity import INTEGER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.physical_dml import TableWrite
    from sqlvec.schema.objects import Index

_NOWHERE = (0, 0)


def plan_select(select: ast.Select, binding: Binding, parent: Scope | None) -> Any:
    """The physical node of a query inside the scope ``parent`` (NEW and OLD of a program) or at the top level."""
    frame = Frame(parent.frame if parent is not None else None)
    query = bind_select(select, binding, parent, frame)
    return resolve("sqlvec.plan.lower:Lowering")(binding).lower_statement(query)


def plan_keys(select: ast.Select, binding: Binding, parent: Scope | None, kind: str) -> Any:
    """The plan that finds the rows of an UPDATE or DELETE (``kind``).  What WHERE reads decides whether an index covers the scan."""
    frame = Frame(parent.frame if parent is not None else None)
    query = bind_select(select, binding, parent, frame)
    items = getattr(query, "from_items", [])
    if items and items[0].table is not None and isinstance(query, Block):
        _use_true_rowid(query, items[0])
    lowering = resolve("sqlvec.plan.lower:Lowering")(binding)
    if len(items) == 1 and items[0].table is not None and isinstance(query, Block):
        read = columns_read(condition.expression for condition in query.conditions)
        items[0].resolved = {number for source, number in read if source == items[0].source}
        lowering.scan = (query, kind)
    elif items and items[0].table is not None and items[0].table.kind == "table" and isinstance(query, Block):
        keys = len(items[0].table.primary_key) if items[0].table.without_rowid else 1
        read = columns_read([*query.result[keys:], *(condition.expression for condition in query.conditions),
                             *(term.expression for term in query.order_by)])
        items[0].resolved = {number for source, number in read if source == items[0].source}
        items[0].is_target = True
    return lowering.lower_statement(query)


def _use_true_rowid(query: Block, item: Any) -> None:
    """The first result is the rowid, also where columns have taken all its names."""
    table = item.table
    if table.kind != "table" or table.without_rowid or table.rowid_column >= 0 or not all(name in table.by_name for name in ROWID_NAMES):
        return
    item.used.add(-1)
    query.result = (Column(item.source, -1, "rowid", INTEGER, None, True, table), *query.result[1:])  # type: ignore[arg-type]


def lower_expressions(expressions: Any, binding: Binding, outer_rows: int = 0) -> None:
    """Give the sub-queries inside expressions, evaluated for ``outer_rows`` rows (LogEst), their plans."""
    if not binding.subqueries:
        return
    lowering = resolve("sqlvec.plan.lower:Lowering")(binding)
    expressions = [expression for expression in expressions if expression is not None]
    for subquery in resolve("sqlvec.plan.logical:subqueries_in")(expressions):
        if subquery.plan is None:
            subquery.query = lowering.rewrite(subquery.query)
    lowering.lower_subqueries(expressions, outer_rows)


def enter_with(node: ast.With, binding: Binding, parent: Scope | None) -> None:
    """Put the names of a WITH clause in sight."""
    binding.ctes = resolve("sqlvec.plan.cte:CteFrame")(node, binding.ctes, binding)


def column_of_select(expr: ast.Node, place: int, count: int) -> ast.Node:
    """Column ``place`` of a row-valued sub-query, as a sub-query of one column."""
    if not isinstance(expr, ast.ScalarSelect):
        raise resolve("sqlvec.errors:columns_assigned_values")(count, 1)
    names = [ast.Name(f"c{number}", _NOWHERE, '"') for number in range(count)]
    with_ = ast.With(False, [ast.Cte(ast.Name("row", _NOWHERE, '"'), names, None, expr.select, _NOWHERE)], _NOWHERE)
    table = ast.TableName(None, ast.Name("row", _NOWHERE, '"'), None, None, False, None, _NOWHERE)
    column = ast.ResultColumn(ast.ColumnRef(None, None, names[place], _NOWHERE), None, "", _NOWHERE)
    core = ast.SelectCore(False, [column], [ast.JoinItem(table, 0, None, None, _NOWHERE)], None, [], None, [], _NOWHERE)
    return ast.ScalarSelect(ast.Select(with_, core, [], None, None, _NOWHERE), _NOWHERE)


# --- what a plan says about its order -------------------------------------------------------------------------------------------------------


def _scan_path(node: Any) -> Any:
    """The access path of a plan over one table, or None."""
    while node is not None and not isinstance(node, physical.Join):
        inputs = node.inputs()
        node = inputs[0] if len(inputs) == 1 else None
    if node is None or len(node.levels) != 1:
        return None
    return node.levels[0].path


def is_one_pass_path(node: Any) -> bool:
    """Is there one scan of the table that changes in step with its rows?"""
    path = _scan_path(node)
    return isinstance(path, (physical.TableScan, physical.RowidSearch, physical.IndexSearch))


def is_same_path(node: Any, other: Any) -> bool:
    """Do two plans over one table visit its rows in the same way?"""
    path, second = _scan_path(node), _scan_path(other)
    return type(path) is type(second) and getattr(path, "index", None) is getattr(second, "index", None) and len(
        getattr(path, "keys", ())) == len(getattr(second, "keys", ()))


def finds_one_row(node: Any) -> bool:
    """Does the scan find at most one row: by its rowid, or a whole unique key?"""
    path = _scan_path(node)
    if isinstance(path, physical.RowidSearch):
        return path.key is not None and path.key.kind in ("=", "IS")
    if isinstance(path, physical.IndexSearch):
        index = path.index
        kinds = ("=", "IS") if resolve("sqlvec.plan.access.candidates:all_not_null")(index, path.table) else ("=",)
        return index.unique and len(path.keys) >= index.key_count and all(key.kind in kinds for key in path.keys[: index.key_count])
    return False


def scanned_index(node: Any) -> Index | None:
    """The index that the scan walks."""
    path = _scan_path(node)
    return path.index if isinstance(path, physical.IndexSearch) else None


def index_reads(write: TableWrite, index: Index) -> set[int]:
    """Columns whose change changes entries of the index."""
    for entry in write.indexes:
        if entry.index is index:
            found = {position for position in entry.positions if position >= 0}
            for expression in (*entry.expressions, *((entry.where,) if entry.where is not None else ())):
                found |= {part.number for part in expression.walk() if isinstance(part, Column)}
            return found
    return set()


def has_correlated(node: Any) -> bool:
    """Does a condition of the scan have a correlated sub-query?"""
    while node is not None and not isinstance(node, physical.Join):
        inputs = node.inputs()
        node = inputs[0] if len(inputs) == 1 else None
    if node is None:
        return False
    for level in node.levels:
        for condition in (*level.conditions, *level.match):
            for part in condition.walk():
                subquery = getattr(part, "subquery", None)
                if subquery is not None and subquery.outer:
                    return True
    return False

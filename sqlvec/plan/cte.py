"""Common table expressions: what a WITH name means, and recursive queries.

A WITH clause opens a :class:`CteFrame`; all its names see each other.  Every use of a CTE binds the body again, as a FROM sub-query would be, except
that an uncorrelated body without the hint NOT MATERIALIZED is bound once and shared: used twice it is materialised anyway.

A body ``setup UNION [ALL] step ...`` whose last arms name the CTE itself in FROM is recursive: those arms are the steps, all before them the setup.

Follows "The WITH Clause" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse import ast
from sqlvec.plan.compound import bind_arms, bind_compound_order, compound_collations, make_compound
from sqlvec.plan.from_ import query_source, table_names, unique_names
from sqlvec.plan.logical import Compound, CteUse, FromItem, RecursiveQuery
from sqlvec.plan.scope import Frame
from sqlvec.plan.select import bind_body, bind_limit, bind_select
from sqlvec.schema.catalog import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.logical import Query
    from sqlvec.plan.scope import Binding, Scope, Source


class Definition:
    """One CTE: its AST, the frame it is defined in, its shared CteUse.  ``error`` is set while the body is being bound: a use then is an
    error, unless it is one of the recursive ``references``, which read (query, names) of ``recursive``."""

    __slots__ = ("error", "frame", "node", "recursive", "references", "use")

    def __init__(self, node: ast.Cte, frame: CteFrame) -> None:
        self.node = node
        self.frame = frame
        self.use = CteUse(node.name.text, node.materialized)
        self.error: Any = None
        self.recursive: tuple[RecursiveQuery, tuple[str, ...]] | None = None
        self.references: list[ast.TableName] = []


class CteFrame:
    """The names of one WITH clause and, through ``parent``, of those around it."""

    __slots__ = ("definitions", "parent")

    def __init__(self, node: ast.With, parent: CteFrame | None, binding: Binding) -> None:
        self.parent = parent
        self.definitions: dict[str, Definition] = {}
        for cte in node.ctes:
            key = fold(cte.name.text)
            if key in self.definitions:
                raise errors.duplicate_with(cte.name.text)
            self.definitions[key] = Definition(cte, self)

    def find(self, key: str) -> Definition | None:
        frame: CteFrame | None = self
        while frame is not None:
            found = frame.definitions.get(key)
            if found is not None:
                return found
            frame = frame.parent
        return None


def bind_reference(node: ast.TableName, definition: Definition, scope: Scope) -> Source:
    """A FROM item that names a CTE."""
    name = definition.node.name.text
    if node.args is not None:
        raise errors.not_a_function(node.name.text)
    if definition.error is not None:
        if definition.recursive is None:
            raise definition.error(name)
        if not any(node is reference for reference in definition.references):
            raise errors.multiple_recursive_uses(name)
        return _recursive_source(node, definition, scope)
    if node.indexed_by is not None:
        raise errors.no_such_index(node.indexed_by.text)
    binding = scope.binding
    definition.use.references += 1
    shared = binding.shared.get(id(definition))
    if shared is not None:
        query, names, correlated = shared
    else:
        saved = binding.ctes, binding.is_derived
        binding.ctes = definition.frame
        if binding.views and not binding.in_trigger:
            binding.is_derived = False          # errors in the WITH of a view tell their place, though it is one in the view's text
        frame = Frame(scope.frame, is_from=True)
        binding.readers.append(name)
        try:
            query = _bind_body(definition, scope, frame)
        finally:
            binding.readers.pop()
            binding.ctes, binding.is_derived = saved
            definition.error = None
            definition.recursive = None
        names = _column_names(definition, query)
        correlated = bool(frame.outer)
        if not correlated and definition.node.materialized is not False:
            binding.shared[id(definition)] = (query, names, correlated)
    item = FromItem(binding.statement.new_source(), node.name.text)
    if node.alias is not None:
        item.alias = item.label = node.alias.text
    item.cte = definition.use
    item.is_correlated = correlated
    return query_source(item, query, names, scope, fold(node.alias.text if node.alias is not None else node.name.text))


def _column_names(definition: Definition, query: Query) -> tuple[str, ...]:
    written = definition.node.columns
    if not written:
        return table_names(query)
    if len(written) != len(query.names):
        raise errors.cte_columns(definition.node.name.text, len(query.names), len(written))
    return unique_names(tuple(name.text for name in written))


def _recursive_source(node: ast.TableName, definition: Definition, scope: Scope) -> Source:
    """The recursive reference: the current row of the queue."""
    assert definition.recursive is not None
    recursive, names = definition.recursive
    item = FromItem(scope.binding.statement.new_source(), node.name.text)
    if node.alias is not None:
        item.alias = item.label = node.alias.text
    source = query_source(item, recursive, names, scope, fold(node.alias.text if node.alias is not None else node.name.text))
    item.query = None
    item.recursive = recursive
    return source


def _bind_body(definition: Definition, scope: Scope, frame: Frame) -> Query:
    select = definition.node.select
    definition.error = errors.circular_reference
    body = select.body
    binding = scope.binding
    if not (isinstance(body, ast.Compound) and body.operators[-1] in ("UNION", "UNION ALL")):
        return bind_select(select, binding, scope.parent, frame)
    saved = binding.ctes
    if select.with_ is not None:
        binding.ctes = CteFrame(select.with_, binding.ctes, binding)
    try:
        first = _first_step(body, fold(definition.node.name.text))
        if first == len(body.cores):
            return bind_body(body, select, binding, scope.parent, frame)
        return _bind_recursive(definition, body, select, first, scope, frame)
    finally:
        binding.ctes = saved


def _first_step(body: ast.Compound, key: str) -> int:
    """The number of the first recursive arm: the last arms, joined by the last operator, that name the CTE in FROM."""
    position = len(body.cores)
    while position > 1 and body.operators[position - 2] == body.operators[-1] and _references(body.cores[position - 1], key):
        position -= 1
    return position


def _references(core: ast.Node, key: str) -> list[ast.TableName]:
    """The FROM items of a core that name the CTE."""
    if not isinstance(core, ast.SelectCore):
        return []
    return [item.source for item in core.from_
            if isinstance(item.source, ast.TableName) and item.source.schema is None and fold(item.source.name.text) == key]


def _bind_recursive(definition: Definition, body: ast.Compound, select: ast.Select, first: int, scope: Scope, frame: Frame) -> Query:
    binding = scope.binding
    name = definition.node.name.text
    key = fold(name)
    for core in reversed(body.cores[first:]):
        references = _references(core, key)
        if len(references) > 1:
            raise errors.multiple_recursive_references(name)
        definition.references += references
    limited = Compound(0, [], [])
    bind_limit(select, limited, binding, frame, scope.parent)
    setup_arms, setup_scopes = bind_arms(body.cores[:first], body.operators[: first - 1], binding, scope.parent, frame)
    setup = setup_arms[0] if first == 1 else make_compound(setup_arms, body.operators[: first - 1], binding)
    query = RecursiveQuery(binding.statement.new_number() if not binding.numbers else setup.number, setup, [], body.operators[-1] == "UNION")
    query.names = setup.names
    query.column_names = setup.column_names
    query.output_source = binding.statement.new_source()
    definition.recursive = (query, _column_names(definition, query))
    steps = []
    step_scopes = []
    for core in reversed(body.cores[first:]):
        arms, scopes = bind_arms([core], [], binding, scope.parent, frame)
        block = arms[0]
        if block.is_aggregate:  # type: ignore[attr-defined]
            raise errors.recursive_aggregate()
        if block.windows:  # type: ignore[attr-defined]
            raise errors.recursive_window()
        steps.append(block)
        step_scopes.append(scopes[0])
        if len(block.results()) != len(setup.results()):
            raise errors.compound_arity(body.operators[-1])
    steps.reverse()
    step_scopes.reverse()
    query.steps = steps
    query.collations = compound_collations([*setup_arms, *steps])
    if query.distinct:
        for collation in query.collations:
            binding.need_collation(collation)
    query.limit, query.offset = limited.limit, limited.offset
    bind_compound_order(select.order_by, query, [*setup_arms, *steps], [*setup_scopes, *step_scopes], binding)
    return query

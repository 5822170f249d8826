"""Planning INSERT, UPDATE and DELETE: from syntax to the nodes of plan/physical_dml.py.

The rows to change are found by a query that is written as syntax and planned like any other: ``SELECT rowid FROM t WHERE ...`` (the PRIMARY KEY columns for
a WITHOUT ROWID table, all columns for a view).  Assignments are bound against the row image of the table, since they are evaluated when the row is
changed, not when it is found; those of UPDATE ... FROM are results of the query.

Statements of triggers and foreign-key actions come here as well (:func:`plan_part`), with a scope that knows NEW and OLD.

Follows "INSERT", "UPDATE", "DELETE" of the manual; facts: the order of errors.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr.bound import Call, Expression, Literal, Parameter
from sqlvec.parse import ast
from sqlvec.plan import query_plan, transfer
from sqlvec.plan.expressions import TargetColumn, bind_expression, bind_operand, misused
from sqlvec.plan.physical import Plan
from sqlvec.plan.physical_dml import Delete, Insert, TableWrite, Update, VtabWrite, WriteNode
from sqlvec.plan.planner import complete_plan, new_binding
from sqlvec.plan.scope import ROWID_NAMES, Binding, Row, Scope
from sqlvec.plan.write_set import WriteBinder
from sqlvec.plan.write_target import find_target, key_columns, target_columns
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.schema.objects import Table

_NOWHERE = (0, 0)
AUTH_DELETE = 9
AUTH_INSERT = 18
AUTH_UPDATE = 23


# --- entry points ------------------------------------------------------------------------------------------------------------------------


def plan_insert(statement: ast.Insert, context: Any) -> Plan:
    """The plan of a top-level INSERT."""
    return _plan_top(statement, context)


def plan_update(statement: ast.Update, context: Any) -> Plan:
    """The plan of a top-level UPDATE."""
    return _plan_top(statement, context)


def plan_delete(statement: ast.Delete, context: Any) -> Plan:
    """The plan of a top-level DELETE."""
    return _plan_top(statement, context)


def _plan_top(statement: Any, context: Any) -> Plan:
    binder = WriteBinder(context)
    binder.binding = new_binding(statement, context)
    bound = Statement(binder, binder.binding, None)
    node = bound.bind(statement)
    plan = Plan(node, bound.names)
    plan.declared_types = bound.types
    binder.binding.databases |= binder.written
    complete_plan(plan, binder.binding, statement)
    plan.writes = frozenset(binder.written)
    return plan


def plan_part(binder: WriteBinder, statement: ast.Statement, scope: Scope) -> Plan:
    """The plan of one statement of a program."""
    if isinstance(statement, ast.Select):
        return Plan(query_plan.plan_select(statement, scope.binding, scope), ())
    bound = Statement(binder, scope.binding, scope)
    return Plan(bound.bind(statement), ())


class Statement:
    """One writing statement while it is being bound.  ``parent``: the scope of the program around it, or None."""

    def __init__(self, binder: WriteBinder, binding: Binding, parent: Scope | None) -> None:
        self.binder = binder
        self.binding = binding
        self.parent = parent
        self.names: tuple[str, ...] = ()
        self.types: tuple[str | None, ...] = ()

    def bind(self, statement: Any) -> WriteNode:
        """The node of the statement."""
        kept = self.binding.ctes
        if statement.with_ is not None:
            query_plan.enter_with(statement.with_, self.binding, self.parent)
        try:
            if isinstance(statement, ast.Insert):
                node = self.insert(statement)
            elif isinstance(statement, ast.Update):
                node = self.update(statement)
            else:
                node = self.delete(statement)
            rows = node.source.rows if isinstance(node, Update) and node.one_pass else 0
            query_plan.lower_expressions(_own_expressions(node), self.binding, rows)
        finally:
            self.binding.ctes = kept
        if self.binder.context.settings.count_changes and node.returning is None and self.parent is None:
            self.names = ({"Insert": "rows inserted", "Update": "rows updated", "Delete": "rows deleted"}[type(statement).__name__],)
            self.types = (None,)
        return node

    def scope(self) -> Scope:
        """A new scope inside the program, if any."""
        scope = Scope(self.binding, self.parent)
        scope.counts_stars = True
        return scope

    def row_scope(self, write: TableWrite, name: ast.TableName) -> Scope:
        """A scope in which the written row can be named."""
        scope = self.scope()
        scope.add_table(write.table, write.source, name.alias.text if name.alias is not None else None).is_asked = True
        return scope

    def authorize(self, action: int, table: Table, column: str | None = None) -> bool:
        """Ask the authorizer; False when the action is to be left out.  Errors: "not authorized"."""
        verdict = self.binding.authorize(action, table.name, column, table.database)
        if verdict == 1:
            raise errors.authorization_denied()
        return verdict != 2

    def finish_node(self, node: WriteNode, statement: Any, name: ast.TableName) -> None:
        """RETURNING and foreign keys, common to all."""
        write = node.write
        if statement.returning is not None:
            bind_returning = resolve("sqlvec.plan.returning:bind_returning")
            node.returning, self.names, self.types = bind_returning(
                statement.returning, self.row_scope(write, name), write.table, write.source, isinstance(statement, ast.Delete)
            )

    # --- INSERT ------------------------------------------------------------------------------------------------------------------

    def insert(self, statement: ast.Insert) -> WriteNode:
        binder = self.binder
        table = find_target(binder, self.binding, statement.table, "INSERT", None)
        if not self.authorize(AUTH_INSERT, table):
            raise errors.Ignored()
        write = binder.table_write(table)
        has_triggers = bool(binder.triggers(table, "INSERT", None))
        targets, width = target_columns(table, None if binder.is_lenient else statement.columns)
        if statement.source is None:
            targets = (-1,) * len(targets)
        transfers = keeps_rowids = is_moved = False
        other = transfer.source_table(statement.source, binder.context.catalogs, self.binding.schema) if statement.columns is None else None
        if other is not None and not has_triggers and not statement.upserts and statement.returning is None and self.binding.ctes is None:
            is_moved = transfer.moves_always(table, statement.or_action)
            transfers = (is_moved or all(column.generated is None for column in table.columns)) and transfer.may_transfer(
                table, other, binder.derived_binding(), binder.context.settings)
            keeps_rowids = transfers and transfer.keeps_rowids(table)
        if transfers:
            width = len(table.columns)
            targets = (*(-1 if column.generated is not None else number for number, column in enumerate(table.columns)), width if keeps_rowids else -1)
            if keeps_rowids:
                statement = _with_rowid(statement, other)
                width += 1
        rows, source = self._insert_source(statement, table, width)
        if table.kind == "virtual":
            if statement.upserts:
                raise errors.plain(f'UPSERT not implemented for virtual table "{table.name}"')
            vtab = VtabWrite("INSERT", write, source)
            vtab.value_rows, vtab.targets, vtab.action = rows, targets, statement.or_action
            self.finish_node(vtab, statement, statement.table)
            return vtab
        node = Insert(write, rows, source, targets)
        node.action = statement.or_action
        node.keeps_rowids = keeps_rowids
        node.is_moved = transfers and is_moved
        if statement.upserts:
            if table.kind == "view":
                raise errors.plain("cannot UPSERT a view")
            resolve("sqlvec.plan.upsert:bind_upserts")(self, node, statement)
        triggers = node.triggers = binder.trigger_set(write, "INSERT", None)
        if self.parent is None and rows is not None and len(rows) == 1 and not triggers and statement.returning is None and not _may_replace(node) \
                and not binder.context.settings.defer_foreign_keys:     # a new parent row alone violates no immediate key, not even a mistaken one
            write.parent_keys = tuple(key for key in write.parent_keys if key.error is None or key.deferred)
        _check_keys(write, None)
        node.buffered = source is not None and (bool(triggers) or bool(statement.upserts) or self._may_read(statement, table))
        self.finish_node(node, statement, statement.table)
        _check_defaults(node)
        node.is_plain = _is_plain(node)
        is_single = rows is not None and len(rows) == 1 and not triggers and node.returning is None
        sets_rowid = targets[-1] >= 0 or (table.rowid_column >= 0 and targets[table.rowid_column] >= 0)
        updates = any(_concerns_keys(write, clause) and (sets_rowid or not clause.on_rowid) for clause in node.upserts)
        node.stores_one_row = is_single and not updates and not _may_replace(node)
        node.is_atomic = node.is_plain and node.stores_one_row
        node.may_abort = not node.is_atomic and _may_abort(node, sets_rowid, statement, binder.context.functions)
        node.uses_frame = node.may_abort and not node.stores_one_row
        return node

    def _may_read(self, statement: ast.Insert, table: Table) -> bool:
        """May the query read the table that is written, itself or through views?  Names of other tables only: no."""
        descendants = resolve("sqlvec.parse.walk:descendants")
        find_table = self.binder.context.catalogs.find_table
        seen: set[tuple[str | None, str]] = set()
        queries: list[Any] = [query for query in (statement.source, statement.with_) if query is not None]
        while queries:
            for node in descendants(queries.pop()):
                if not isinstance(node, (ast.TableName, ast.InTable)):
                    continue
                name = (node.name if isinstance(node, ast.TableName) else node.table).text.lower()
                schema = None if node.schema is None else node.schema.text
                if name == table.name.lower():
                    return True
                if (schema, name) not in seen:
                    seen.add((schema, name))
                    other = find_table(schema, name)
                    if other is not None and other.kind == "view":
                        queries.append(other.select)
        return False

    def _insert_source(self, statement: ast.Insert, table: Table, width: int) -> tuple[Any, Any]:
        select = statement.source
        if select is None:
            if statement.columns is not None:
                self._check_count(statement, table, width, 0)
            return ((),), None
        body = select.body
        if isinstance(body, ast.Values) and select.with_ is None and not select.order_by and select.limit is None:
            rows = []
            for written in body.rows:
                scope = self.scope()
                scope.allow_windows = len(body.rows) > 1        # several rows are a query of their own
                rows.append(tuple([_folded(bind_expression(value, scope)) for value in written]))
                if scope.windows:
                    return self._query(statement, table, width)
            for row in rows:
                if len(row) != len(rows[0]):
                    raise errors.plain("all VALUES must have the same number of terms")
            self._check_count(statement, table, width, len(rows[0]))
            return tuple(rows), None
        return self._query(statement, table, width)

    def _query(self, statement: ast.Insert, table: Table, width: int) -> tuple[None, Any]:
        source = query_plan.plan_select(statement.source, self.binding, self.parent)  # type: ignore[arg-type]
        self._check_count(statement, table, width, len(source.columns))
        return None, source

    def _check_count(self, statement: ast.Insert, table: Table, width: int, count: int) -> None:
        if count == width or self.binder.is_lenient:
            return
        if statement.columns is None:
            raise errors.plain(f"table {table.name} has {width} columns but {count} values were supplied")
        raise errors.plain(f"{count} values for {width} columns")

    # --- UPDATE ------------------------------------------------------------------------------------------------------------------

    def update(self, statement: ast.Update) -> WriteNode:
        binder = self.binder
        assigned = {name.text.lower() for clause in statement.sets for name in clause.names}
        table = find_target(binder, self.binding, statement.table, "UPDATE", assigned)
        write = binder.table_write(table)
        joins = bool(statement.from_)
        bound: dict[int, Expression] = {}
        places: list[tuple[int, ast.Node]] = []
        scope = self.row_scope(write, statement.table)
        for clause in statement.sets:
            values = None if joins else self._set_values(clause, scope)
            for place, name in enumerate(clause.names):
                target = assigned_column(table, name, self.binding)
                is_taken = target < 0 and table.rowid_column < 0
                if not self.authorize(AUTH_UPDATE, table, "ROWID" if is_taken else table.columns[target if target >= 0 else table.rowid_column].name):
                    continue
                if values is not None:
                    bound.pop(target, None)
                    bound[target] = values[place]
                else:
                    places = [other for other in places if other[0] != target] + [(target, _part(clause, place))]
        concerned = set(bound) | {target for target, _ in places}
        has_keys = any(not concerned.isdisjoint(columns) for columns in _key_columns(write))
        is_quiet = not binder.triggers(table, "UPDATE", assigned) and statement.returning is None and not has_keys
        source = self._keys(statement, table, [expr for _, expr in places], "UPDATE")
        if statement.from_:
            self._check_from(statement, statement.from_, table)
        width = len(source.columns) - len(places)
        if places:
            extra = source.columns[width:]
            bound = {target: column for (target, _), column in zip(places, extra, strict=True)}
        if table.kind == "virtual":
            vtab = VtabWrite("UPDATE", write, source)
            vtab.assignments, vtab.key_width, vtab.action = tuple(bound.items()), width, statement.or_action
            self.finish_node(vtab, statement, statement.table)
            return vtab
        node = Update(write, source, tuple(bound.items()))
        node.key_width = width
        node.extra = tuple(source.columns[width:])
        node.action = statement.or_action
        node.triggers = binder.trigger_set(write, "UPDATE", assigned)
        _check_keys(write, concerned)
        scans = is_quiet and not joins and _may_update_in_scan(node)
        node.in_place = not table.without_rowid and not joins and (scans or query_plan.finds_one_row(source))
        node.one_pass = scans and not _moves_in_scan(node) and not _asks(statement.where)
        if scans and not places and not _moves_in_scan(node):
            self._ask_while_changing(node, statement, table)
        node.may_abort = _may_abort(node, True, statement, binder.context.functions)
        node.uses_frame = node.may_abort and not (is_quiet and not joins and statement.or_action != "REPLACE" and not has_replace(write)
                                                  and query_plan.finds_one_row(source))
        self.finish_node(node, statement, statement.table)
        return node

    def _ask_while_changing(self, node: Update | Delete, statement: ast.Update | ast.Delete, table: Table) -> None:
        """The scan goes on while rows change: conditions on the table itself are judged row by row, on what it holds by then."""
        where = statement.where
        if self.binder.context.explain is not None or where is None or statement.limit is not None or not self._asks_about(where, table):
            return
        terms = where.operands if isinstance(where, ast.Nary) and where.op == "AND" else [where]
        if not query_plan.has_correlated(node.source) and not any(_asks_late(term) for term in terms):
            return                      # all is asked before the first row changes
        plain = [term for term in terms if not _asks(term)]
        reduced = plain[0] if len(plain) == 1 else ast.Nary("AND", plain, where.span) if plain else None
        candidates = self._keys(
            ast.Update(None, None, statement.table, [], [], reduced, None, [], None, None, statement.span), table, [], "UPDATE")
        if query_plan.is_same_path(candidates, node.source):
            node.candidates = candidates
            node.condition = bind_expression(where, self.row_scope(node.write, statement.table))

    def _asks_about(self, where: ast.Node, table: Table) -> bool:
        """Is there a sub-query that reads the table, or a view that may?"""
        if not _asks(where):
            return False
        for part in resolve("sqlvec.parse.walk:descendants")(where):
            name = part.table if isinstance(part, ast.InTable) else part.name if isinstance(part, ast.TableName) else None
            if name is not None:
                found = self.binder.context.catalogs.find_table(None, name.text)
                if name.text.lower() == table.name.lower() or (found is not None and found.kind == "view"):
                    return True
        return False

    def _check_from(self, statement: ast.Update, items: list[ast.JoinItem], table: Table) -> None:
        """The table itself may be joined under another alias only."""
        name = statement.table
        own = name.alias.text.lower() if name.alias is not None else None
        for item in items:
            source = item.source
            if isinstance(source, ast.ParenthesisedJoin):
                self._check_from(statement, source.items, table)
            elif isinstance(source, ast.TableName):
                other = self.binder.context.catalogs.find_table(source.schema.text if source.schema is not None else self.binding.schema, source.name.text)
                alias = source.alias.text.lower() if source.alias is not None else None
                if other is not None and other.database == table.database and other.name == table.name and alias == own:
                    raise errors.plain(f"target object/alias may not appear in FROM clause: {(name.alias or name.name).text}")

    def _set_values(self, clause: ast.SetClause, scope: Scope) -> tuple[Expression, ...]:
        found = bind_operand(clause.expr, scope)
        values = found.items if isinstance(found, Row) else (found,)
        if len(values) != len(clause.names):
            if isinstance(found, Row) and len(clause.names) == 1:
                raise misused(found)
            raise errors.columns_assigned_values(len(clause.names), len(values))
        return values

    def _keys(self, statement: Any, table: Table, extra: list[ast.Node], kind: str) -> Any:
        """The plan that finds the rows to change: their keys, then ``extra`` values."""
        schema = ast.Name(self.binder.context.catalogs.names[table.database], _NOWHERE, '"')
        name = _in_schema(statement.table, schema)
        columns: list[Any] = [
            ast.ResultColumn(TargetColumn(None, None, ast.Name(column, _NOWHERE, '"'), _NOWHERE), None, column, _NOWHERE)
            for column in key_columns(table)
        ]
        where = statement.where
        joins = bool(getattr(statement, "from_", None))
        if statement.limit is not None and not joins:
            where = _limited(statement, name, columns)
        group_by = [column.expr for column in columns] if joins and statement.limit is not None else []
        columns += [ast.ResultColumn(expr, None, "", _NOWHERE) for expr in extra]
        if statement.limit is not None:             # INDEXED BY is for the query that picks the rows
            name = ast.TableName(name.schema, name.name, name.alias, None, name.not_indexed, None, name.span)
        items = [ast.JoinItem(name, 0, None, None, name.span)]
        others = getattr(statement, "from_", None) or []
        if len(others) > 1:                         # several are one nested join, which does not see the table
            span = (others[0].span[0], others[-1].span[1])
            others = [ast.JoinItem(ast.ParenthesisedJoin(others, None, span), 0, None, None, span)]
        for item in others:
            items.append(ast.JoinItem(item.source, item.join or ast.JOIN_COMMA, item.on, item.using, item.span))
        core = ast.SelectCore(False, columns, items, where, group_by, None, [], statement.span)
        self.binding.numbers[id(core)] = 0          # the scan itself isn't a SELECT
        select = ast.Select(None, core, [], None, None, statement.span)
        if joins:
            select.order_by, select.limit, select.offset = statement.order_by, statement.limit, statement.offset
        source = query_plan.plan_keys(select, self.binding, self.parent, kind)
        del self.binding.numbers[id(core)]
        return source

    # --- DELETE ------------------------------------------------------------------------------------------------------------------

    def delete(self, statement: ast.Delete) -> WriteNode:
        binder = self.binder
        table = find_target(binder, self.binding, statement.table, "DELETE", None)
        may_truncate = self.authorize(AUTH_DELETE, table)
        write = binder.table_write(table)
        is_quiet = not binder.triggers(table, "DELETE", None) and statement.returning is None and not write.child_keys and not write.parent_keys
        truncates = is_quiet and statement.where is None and statement.limit is None and table.kind == "table" and table.root != 1 and may_truncate
        source = None if truncates else self._keys(statement, table, [], "DELETE")
        if table.kind == "virtual":
            assert source is not None
            vtab = VtabWrite("DELETE", write, source)
            vtab.key_width = len(source.columns)
            self.finish_node(vtab, statement, statement.table)
            return vtab
        node = Delete(write, source)
        if source is not None:
            node.key_width = len(source.columns)
            node.one_pass = is_quiet and query_plan.is_one_pass_path(source) and not query_plan.has_correlated(source)
            node.in_place = not table.without_rowid and (node.one_pass or query_plan.finds_one_row(source))
            if node.one_pass:
                self._ask_while_changing(node, statement, table)
        node.triggers = binder.trigger_set(write, "DELETE", None)
        _check_keys(write, None)
        node.may_abort = table.kind != "table" or bool(write.parent_keys) or _programs_may_abort(node) or _calls(
            statement, write, binder.context.functions)
        node.uses_frame = node.may_abort and not (is_quiet and source is not None and query_plan.finds_one_row(source))
        self.finish_node(node, statement, statement.table)
        return node


def _own_expressions(node: WriteNode) -> list[Any]:
    """The expressions that the node itself evaluates."""
    found: list[Any] = []
    for row in getattr(node, "value_rows", None) or ():
        found += row
    found += [expression for _, expression in getattr(node, "assignments", ())]
    for clause in getattr(node, "upserts", ()):
        found += [expression for _, expression in clause.assignments or ()]
        found.append(clause.where)
    if getattr(node, "condition", None) is not None:
        found.append(node.condition)  # type: ignore[attr-defined]
    if node.returning is not None:
        found += node.returning.expressions
    return found


# --- pieces ------------------------------------------------------------------------------------------------------------------------------


def _check_keys(write: TableWrite, assigned: set[int] | None) -> None:
    if write.child_keys or write.parent_keys:
        resolve("sqlvec.plan.foreign_key_program:check_keys")(write, assigned)


def _folded(expression: Expression) -> Expression:
    """Constants of VALUES as literals, so that plain rows need no code."""
    if isinstance(expression, Literal):
        return expression
    if type(expression).__name__ == "Unary" and isinstance(expression.operand, Literal):  # type: ignore[attr-defined]
        value = expression.operand.value  # type: ignore[attr-defined]
        if expression.operator == "-" and type(value) in (int, float) and value:  # type: ignore[attr-defined]
            return Literal(-value)
    return expression


def _with_rowid(statement: ast.Insert, source: Table | None) -> ast.Insert:
    """``SELECT *, rowid FROM s`` in place of ``SELECT * FROM s``."""
    assert statement.source is not None and source is not None
    core = statement.source.body
    assert isinstance(core, ast.SelectCore)
    column = ast.ResultColumn(ast.ColumnRef(None, None, ast.Name(key_columns(source)[0], _NOWHERE, '"'), _NOWHERE), None, "rowid", _NOWHERE)
    new_core = ast.SelectCore(False, [*core.columns, column], core.from_, None, [], None, [], core.span)
    select = ast.Select(None, new_core, [], None, None, statement.source.span)
    return ast.Insert(
        statement.with_, statement.or_action, statement.table, None, select, statement.upserts, statement.returning, statement.span
    )


def _check_defaults(node: Insert) -> None:
    """Raise what is wrong with the DEFAULT of a column that gets no value."""
    for default, place in zip(node.write.defaults, node.targets, strict=False):
        if place < 0 and isinstance(default, errors.SqlError):
            raise default


def _is_plain(node: Insert) -> bool:
    """May generated code store the rows: a rowid table without generated columns, AUTOINCREMENT, partial or expression indexes; no trigger, foreign key,
    UPSERT or RETURNING; defaults and a single row of values are constants or parameters."""
    write, table = node.write, node.write.table
    if table.kind != "table" or table.without_rowid or table.autoincrement or write.generated or write.child_keys or write.parent_keys:
        return False
    if node.triggers or node.upserts or node.returning is not None or len(table.columns) > 100:
        return False
    if any(entry.where is not None or entry.expressions for entry in write.indexes):
        return False
    defaults = [write.defaults[position] for position, place in enumerate(node.targets[:-1]) if place < 0]
    if not all(default is None or isinstance(default, Literal) for default in defaults):
        return False
    return node.value_rows is None or len(node.value_rows) > 1 or all(isinstance(value, (Literal, Parameter)) for value in node.value_rows[0])


def _may_replace(node: Insert) -> bool:
    return node.action == "REPLACE" or has_replace(node.write)


def has_replace(write: TableWrite) -> bool:
    """Does a constraint of the table say ON CONFLICT REPLACE?"""
    return write.table.key_conflict == "REPLACE" or any(entry.action == "REPLACE" for entry in write.indexes)


def _may_abort(node: Any, sets_rowid: bool, statement: Any, functions: Any) -> bool:
    """May a constraint or a function undo what the statement did so far?  Other errors don't count: without a frame they leave its earlier changes."""
    write = node.write
    if write.table.strict:                      # a wrong type ends the statement whatever its conflict clause says
        return True
    if write.table.kind != "table" or write.child_keys or write.parent_keys or _programs_may_abort(node) or _calls(statement, write, functions):
        return True
    upserts = getattr(node, "upserts", ())
    if any(clause.assignments is not None for clause in upserts):
        return True
    action = "IGNORE" if upserts and upserts[0].matches_all else node.action
    if write.checks and action in (None, "ABORT", "REPLACE"):
        return True
    if any((node.action or own) in ("ABORT", "REPLACE") for _, own in write.not_null):
        return True
    actions = [entry.action for entry in write.indexes if entry.index.unique]
    if sets_rowid and not write.table.without_rowid:
        actions.append(write.table.key_conflict or "ABORT")
    return any((action or own) == "ABORT" for own in actions)


def _concerns_keys(write: TableWrite, clause: Any) -> bool:
    """Does DO UPDATE set a column of a foreign key, on either side?"""
    return any(target in columns for columns in _key_columns(write) for target, _ in clause.assignments or ())


def _key_columns(write: TableWrite) -> list[tuple[int, ...]]:
    """The columns of each foreign key that the table takes part in."""
    return [key.columns for key in write.child_keys] + [key.columns for key in write.parent_keys]


def _calls(statement: Any, write: TableWrite, functions: Any) -> bool:
    """Is any scalar function called, in the statement or in what the table declares?"""
    for part in resolve("sqlvec.parse.walk:descendants")(statement):
        if isinstance(part, (ast.Like, ast.CurrentTime)):
            return True
        if isinstance(part, ast.FunctionCall):
            function = functions.lookup(part.name.text, len(part.args))
            if function is not None and not function.is_aggregate and not function.is_window:
                return True
    declared = [expression for expression, _ in write.checks] + [expression for _, expression in write.generated]
    for entry in write.indexes:
        declared += [*entry.expressions, *((entry.where,) if entry.where is not None else ())]
    return any(isinstance(part, Call) for expression in declared for part in expression.walk())


def _programs_may_abort(node: Any) -> bool:
    sets = [node.triggers, getattr(node, "update_triggers", None), node.write.delete_programs if not isinstance(node, Delete) else None]
    return any(program.may_abort for found in sets if found for program in (*found.before, *found.after))


def assigned_column(table: Table, name: ast.Name, binding: Binding) -> int:
    key = name.text.lower()
    number = table.by_name.get(key)
    if number is None:
        if key in ROWID_NAMES and not table.without_rowid and table.kind != "view":
            return table.rowid_column if table.rowid_column >= 0 else -1
        raise errors.no_such_column(name.text)
    if table.columns[number].generated is not None:
        raise errors.plain(f'cannot UPDATE generated column "{table.columns[number].name}"')
    return number


def _part(clause: ast.SetClause, place: int) -> ast.Node:
    """The value of one name of a SET clause, as syntax."""
    expr = clause.expr
    if isinstance(expr, ast.RowValue):
        if len(expr.items) != len(clause.names):
            raise errors.columns_assigned_values(len(clause.names), len(expr.items))
        return expr.items[place]
    if len(clause.names) == 1:
        return expr
    return query_plan.column_of_select(expr, place, len(clause.names))


def _in_schema(name: ast.TableName, schema: ast.Name) -> ast.TableName:
    """The target with its schema written, so that it is no common table expression."""
    return ast.TableName(schema, name.name, name.alias, name.indexed_by, name.not_indexed, None, name.span)


def _limited(statement: Any, name: ast.TableName, columns: list[Any]) -> ast.Node:
    """``key IN (SELECT key ... ORDER BY ... LIMIT ...)``"""
    core = ast.SelectCore(False, columns, [ast.JoinItem(name, 0, None, None, statement.span)], statement.where, [], None, [], statement.span)
    select = ast.Select(None, core, statement.order_by, statement.limit, statement.offset, statement.span)
    keys = [column.expr for column in columns]
    operand = keys[0] if len(keys) == 1 else ast.RowValue(keys, _NOWHERE)
    return ast.InSelect(operand, select, False, _NOWHERE)


def _may_update_in_scan(node: Update) -> bool:
    """May rows be changed while the scan goes on, whatever it scans?"""
    table = node.write.table
    targets = {target for target, _ in node.assignments}
    if node.action == "REPLACE" or (node.action is None and any(
        entry.action == "REPLACE" and query_plan.index_reads(node.write, entry.index) & targets for entry in node.write.indexes
    )):
        return False
    keys = {table.rowid_column, -1} if not table.without_rowid else set(table.primary_key)
    return not targets & keys and query_plan.is_one_pass_path(node.source)


def _asks(where: ast.Node | None) -> bool:
    """Has the condition a sub-query?"""
    kinds = (ast.ScalarSelect, ast.Exists, ast.InSelect, ast.InTable)
    return where is not None and any(isinstance(part, kinds) for part in resolve("sqlvec.parse.walk:descendants")(where))


def _asks_late(term: ast.Node) -> bool:
    """Can a conjunct hold without having asked one of its sub-queries?"""
    if not _asks(term):
        return False
    if isinstance(term, (ast.Nary, ast.Case, ast.FunctionCall, ast.Between, ast.InList)) and getattr(term, "op", "") != "||":
        return True
    if isinstance(term, (ast.ScalarSelect, ast.Exists, ast.InTable)):
        return False
    if isinstance(term, ast.InSelect):
        return _asks_late(term.operand)
    return any(_asks_late(part) for part in resolve("sqlvec.schema.from_ast:children_in_order")(term))


def _moves_in_scan(node: Update) -> bool:
    """Would changed rows move in the index that is scanned?"""
    index = query_plan.scanned_index(node.source)
    return index is not None and not index.is_table_tree and bool(query_plan.index_reads(node.write, index) & {target for target, _ in node.assignments})


"""CREATE, DROP and ALTER.

What is stored in sqlite_schema is source text, and where it ends differs (found by measuring): a table ends at its closing parenthesis,
but with options where the ``;`` begins; an index where the ``;`` begins; a view likewise, blanks trimmed; a trigger at its END; a
virtual table at its last token.  ``text_end`` of the nodes follows that.

Follows the manual's pages on the CREATE, DROP and ALTER statements.

The constraints of a column, and the clauses that table constraints share with them.

A CONSTRAINT name goes to the constraint behind it; names may stand alone or follow one another.  NOT DEFERRABLE and DEFERRABLE are
constraints of their own in the grammar and change the last REFERENCES of the column.

Follows the manual's "CREATE TABLE", "Foreign Key Support" and "Generated Columns".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast import ColumnRef, CurrentTime, Literal, Name, Node, Statement, Unary
from sqlvec.parse.ast_ddl import (
    AlterAddColumn,
    AlterDropColumn,
    AlterRenameColumn,
    AlterRenameTable,
    Check,
    ColumnCollate,
    ColumnDef,
    CreateIndex,
    CreateTable,
    CreateTrigger,
    CreateView,
    CreateVirtualTable,
    Default,
    Drop,
    ForeignKey,
    Generated,
    NotNull,
    Nullable,
    PrimaryKey,
    Unique,
)
from sqlvec.parse.expressions import SELECT_STARTS, expression, type_name
from sqlvec.parse.lexer import ID_KINDS, TokenStream
from sqlvec.parse.select import COLUMN_LIMIT, order_terms, plain_columns, select
from sqlvec.resolve import resolve

_SPACES = " \t\n\r\f\x0b"
_TABLE_CONSTRAINTS = frozenset(("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"))


# --- CREATE --------------------------------------------------------------------------------------------------------------------------


def create(ts: TokenStream) -> Statement:
    start = ts.start()
    ts.advance()
    if ts.kind == "VIRTUAL":
        ts.advance()
        ts.expect("TABLE")
        return _create_virtual_table(ts, start)
    if ts.kind == "UNIQUE" or ts.kind == "INDEX":
        unique = ts.accept("UNIQUE")
        ts.expect("INDEX")
        return _create_index(ts, unique, start)
    temp = ts.accept("TEMP")
    if ts.kind == "TABLE":
        return _create_table(ts, temp, start)
    if ts.kind == "VIEW":
        return _create_view(ts, temp, start)
    if ts.kind == "TRIGGER":
        return _create_trigger(ts, temp, start)
    ts.fail()
    raise AssertionError


def _if_not_exists(ts: TokenStream) -> bool:
    if ts.kind != "IF":
        return False
    ts.advance()
    ts.expect("NOT")
    ts.expect("EXISTS")
    return True


def _object_name(ts: TokenStream) -> tuple[bool, Name | None, Name]:
    """``[IF NOT EXISTS] [schema.]name``"""
    if_not_exists = _if_not_exists(ts)
    schema, name = ts.qualified_name()
    return if_not_exists, schema, name


def _create_table(ts: TokenStream, temp: bool, start: int) -> CreateTable:
    ts.advance()
    if_not_exists, schema, name = _object_name(ts)
    columns: list[ColumnDef] = []
    constraints: list[Node] = []
    options: list[str] = []
    as_select = None
    if ts.kind == "AS":
        ts.advance()
        if ts.kind not in SELECT_STARTS:
            ts.fail()
        ts.depth += 2
        as_select = select(ts)
        body_end = text_end = ts.end()
    else:
        ts.expect("(")
        ts.depth += 2
        columns, constraints = _table_body(ts)
        ts.depth -= 2
        body_end = ts.start()
        ts.expect(")")
        options = _table_options(ts)
        text_end = ts.start() if options else body_end + 1
    return CreateTable(
        temp, if_not_exists, schema, name, columns, constraints, options, as_select, name.span[0], body_end, text_end, (start, ts.end())
    )


def _table_body(ts: TokenStream) -> tuple[list[ColumnDef], list[Node]]:
    """Columns, then table constraints, whose commas may be left out."""
    columns = [column_definition(ts)]
    constraints: list[Node] = []
    while ts.kind == ",":
        ts.advance()
        if ts.kind in _TABLE_CONSTRAINTS:
            constraints = _table_constraints(ts)
            break
        columns.append(column_definition(ts))
    return columns, constraints


def column_definition(ts: TokenStream) -> ColumnDef:
    """``name [type] [constraint]...``"""
    start = ts.start()
    name = ts.name()
    type_text = _without_generated_always(type_name(ts))
    ts.depth += 2
    constraints = column_constraints(ts, name)
    ts.depth -= 2
    return ColumnDef(name, type_text, constraints, (start, ts.end()))


def _without_generated_always(type_text: str) -> str:
    """GENERATED ALWAYS directly behind a column's name or type reads as part of the type's words; it is cut off again."""
    if type_text[-6:].lower() != "always":
        return type_text
    rest = type_text[:-6].rstrip(_SPACES)
    return rest[:-9].rstrip(_SPACES) if rest[-9:].lower() == "generated" else type_text


def _table_constraints(ts: TokenStream) -> list[Node]:
    constraints: list[Node] = []
    name: Name | None = None
    while True:
        start = ts.start()
        kind = ts.kind
        if kind == "CONSTRAINT":
            ts.advance()
            name = ts.name()
        elif kind == "PRIMARY" or kind == "UNIQUE" or kind == "CHECK" or kind == "FOREIGN":
            constraints.append(_table_constraint(ts, kind, name, start))
            name = None
        else:
            ts.fail()
        if ts.kind == ",":
            ts.advance()
            name = None
        elif ts.kind == ")":
            return constraints


def _table_constraint(ts: TokenStream, kind: str, name: Name | None, start: int) -> Node:
    ts.advance()
    if kind == "PRIMARY":
        ts.expect("KEY")
        ts.expect("(")
        terms = order_terms(ts)
        is_autoincrement = autoincrement(ts)
        ts.expect(")")
        action = on_conflict(ts)
        return PrimaryKey(name, terms, False, is_autoincrement, action, (start, ts.end()))
    if kind == "UNIQUE":
        ts.expect("(")
        terms = order_terms(ts)
        ts.expect(")")
        action = on_conflict(ts)
        return Unique(name, terms, action, (start, ts.end()))
    if kind == "CHECK":
        expr, text = checked_expression(ts, 3)
        on_conflict(ts)
        return Check(name, expr, text, (start, ts.end()))
    ts.expect("KEY")
    if ts.kind != "(":
        ts.fail()
    columns = plain_columns(ts)
    ts.expect("REFERENCES")
    parent = ts.name()
    parent_columns = optional_columns(ts)
    on_delete, on_update = foreign_key_actions(ts)
    deferred = deferral(ts) or False
    return ForeignKey(name, columns, parent, parent_columns, on_delete, on_update, deferred, (start, ts.end()))


def _table_options(ts: TokenStream) -> list[str]:
    options: list[str] = []
    if ts.kind == ";" or ts.kind == "EOF":
        return options
    ts.accept(",")
    while True:
        without = ts.accept("WITHOUT")
        position = ts.position
        option = ts.name().text
        if option.lower() != ("rowid" if without else "strict"):
            ts.defer(errors.unknown_table_option(ts.sql[ts.starts[position] : ts.ends[position]]))
        options.append("without rowid" if without else "strict")
        if ts.kind != ",":
            return options
        ts.advance()


def _create_index(ts: TokenStream, unique: bool, start: int) -> CreateIndex:
    if_not_exists, schema, name = _object_name(ts)
    ts.expect("ON")
    table = ts.name()
    ts.expect("(")
    ts.depth += 9
    columns = order_terms(ts)
    ts.depth -= 9
    if len(columns) > COLUMN_LIMIT:
        ts.defer(errors.too_many_columns_in("index"))
    ts.expect(")")
    where = None
    if ts.accept("WHERE"):
        ts.depth += 12
        where = expression(ts)
        ts.depth -= 12
    return CreateIndex(unique, if_not_exists, schema, name, table, columns, where, name.span[0], ts.start(), (start, ts.end()))


def _create_view(ts: TokenStream, temp: bool, start: int) -> CreateView:
    ts.advance()
    if_not_exists, schema, name = _object_name(ts)
    columns = plain_columns(ts)
    ts.expect("AS")
    if ts.kind not in SELECT_STARTS:
        ts.fail()
    ts.depth += 8
    query = select(ts)
    ts.depth -= 8
    text_end = name.span[0] + len(ts.sql[name.span[0] : ts.start()].rstrip(_SPACES))
    return CreateView(temp, if_not_exists, schema, name, columns, query, name.span[0], text_end, (start, ts.end()))


def _create_trigger(ts: TokenStream, temp: bool, start: int) -> CreateTrigger:
    ts.advance()
    if_not_exists, schema, name = _object_name(ts)
    time = None
    if ts.kind == "BEFORE" or ts.kind == "AFTER":
        time = ts.word()
    elif ts.kind == "INSTEAD":
        ts.advance()
        ts.expect("OF")
        time = "INSTEAD OF"
    if ts.kind not in ("INSERT", "UPDATE", "DELETE"):
        ts.fail()
    event = ts.word()
    columns = None
    if event == "UPDATE" and ts.accept("OF"):
        columns = ts.name_list()
    ts.expect("ON")
    table_schema, table = ts.qualified_name()
    if ts.accept("FOR"):
        ts.expect("EACH")
        ts.expect("ROW")
    when = None
    if ts.accept("WHEN"):
        ts.depth += 12
        when = expression(ts)
        ts.depth -= 12
    ts.expect("BEGIN")
    ts.depth += 3
    body = []
    while True:
        body.append(resolve("sqlvec.parse.dml:trigger_statement")(ts))
        ts.expect(";")
        if ts.kind == "END":
            break
    ts.depth -= 3
    ts.advance()
    end = ts.end()
    return CreateTrigger(
        temp, if_not_exists, schema, name, time, event, columns, table_schema, table, when, body, name.span[0], end, (start, end)
    )


def _create_virtual_table(ts: TokenStream, start: int) -> CreateVirtualTable:
    if_not_exists, schema, name = _object_name(ts)
    ts.expect("USING")
    module = ts.name()
    arguments: list[str] = []
    if ts.accept("("):
        arguments = _module_arguments(ts)
        ts.expect(")")
    end = ts.end()
    return CreateVirtualTable(if_not_exists, schema, name, module, arguments, name.span[0], end, (start, end))


def _module_arguments(ts: TokenStream) -> list[str]:
    """The raw texts between the top-level commas, up to the closing parenthesis; any tokens may stand there."""
    arguments: list[str] = []
    level = 0
    start = end = ts.start()
    is_empty = True
    while True:
        kind = ts.kind
        if kind == "EOF" or kind == "ILLEGAL":
            ts.fail()
        if level == 0 and (kind == "," or kind == ")"):
            if not is_empty or kind == "," or arguments:
                arguments.append("" if is_empty else ts.sql[start:end])
            if kind == ")":
                return arguments
            is_empty = True
        else:
            level += (kind == "(") - (kind == ")")
            if is_empty:
                start = ts.start()
                is_empty = False
            end = ts.ends[ts.position]
        ts.advance()


# --- DROP and ALTER --------------------------------------------------------------------------------------------------------------------


def drop(ts: TokenStream) -> Drop:
    start = ts.start()
    ts.advance()
    if ts.kind not in ("TABLE", "INDEX", "VIEW", "TRIGGER"):
        ts.fail()
    kind = ts.word().lower()
    if_exists = ts.accept("IF")
    if if_exists:
        ts.expect("EXISTS")
    schema, name = ts.qualified_name()
    return Drop(kind, if_exists, schema, name, (start, ts.end()))


def alter(ts: TokenStream) -> Statement:
    start = ts.start()
    ts.advance()
    ts.expect("TABLE")
    schema, name = ts.qualified_name()
    if ts.accept("RENAME"):
        if ts.accept("TO"):
            new_name = ts.name()
            return AlterRenameTable(schema, name, new_name, (start, ts.end()))
        ts.accept("COLUMNKW")
        column = ts.name()
        ts.expect("TO")
        new_name = ts.name()
        return AlterRenameColumn(schema, name, column, new_name, (start, ts.end()))
    if ts.accept("ADD"):
        ts.accept("COLUMNKW")
        definition = column_definition(ts)
        text = ts.sql[definition.span[0] : ts.start()].rstrip(_SPACES)
        return AlterAddColumn(schema, name, definition, text, (start, ts.end()))
    ts.expect("DROP")
    ts.accept("COLUMNKW")
    column = ts.name()
    return AlterDropColumn(schema, name, column, (start, ts.end()))


def parse_column_definition(sql: str) -> ColumnDef:
    """A lone column definition, as ALTER TABLE ADD COLUMN keeps it."""
    ts = TokenStream(sql)
    definition = column_definition(ts)
    ts.finish()
    return definition


_TERMS = frozenset(("NULL", "FLOAT", "BLOB", "STRING", "INTEGER", "CTIME_KW"))
_SPACES = " \t\n\r\f\x0b"


def text_between(ts: TokenStream, start: int) -> str:
    """The trimmed source from ``start`` to the current token."""
    return ts.sql[start : ts.start()].strip(_SPACES)


def on_conflict(ts: TokenStream) -> str | None:
    """``[ON CONFLICT action]``"""
    if ts.kind != "ON":
        return None
    ts.advance()
    ts.expect("CONFLICT")
    return str(resolve("sqlvec.parse.dml:conflict_action")(ts))


def autoincrement(ts: TokenStream) -> bool:
    return ts.accept("AUTOINCREMENT")


def optional_columns(ts: TokenStream) -> list[Name]:
    return plain_columns(ts) or []


def column_constraints(ts: TokenStream, column: Name) -> list[Node]:
    constraints: list[Node] = []
    name: Name | None = None
    start = ts.start()
    while True:
        if name is None:
            start = ts.start()
        if ts.kind == "CONSTRAINT":
            start = ts.start()
            ts.advance()
            name = ts.name()
            continue
        parse = _PARSERS.get(ts.kind)
        if parse is None:
            return constraints
        made = parse(ts, name, start, column, constraints)
        if made is not None:
            constraints.append(made)
        name = None


def _default(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    text_start = ts.start()
    if ts.kind == "(":
        text_start += 1
        ts.advance()
        ts.depth += 2
        expr = expression(ts)
        ts.depth -= 2
        text = text_between(ts, text_start)
        ts.expect(")")
        return Default(name, expr, text, True, (start, ts.end()))
    if ts.kind == "+" or ts.kind == "-":
        if ts.kinds[ts.position + 1] not in _TERMS:
            ts.advance()
            ts.fail()
        expr = expression(ts, 12)
    elif ts.kind in _TERMS:
        expr = _term(ts)
    elif ts.kind in ID_KINDS:
        word = ts.take_name()
        lowered = word.text.lower()
        if not word.quoted and (lowered == "true" or lowered == "false"):
            expr = Literal("integer", int(lowered == "true"), word.span)
        else:
            expr = Literal("string", word.text, word.span)
    else:
        ts.fail()
        raise AssertionError
    return Default(name, expr, ts.sql[text_start : ts.end()], False, (start, ts.end()))


def _term(ts: TokenStream) -> Node:
    """One literal; a string followed by a point is a syntax error at the point, as it cannot be a qualified name here."""
    node = expression(ts, 12)
    if isinstance(node, (Literal, CurrentTime, Unary)):
        return node
    assert isinstance(node, ColumnRef)
    ts.position = ts.starts.index(node.span[0]) + 1
    ts.kind = ts.kinds[ts.position]
    ts.fail()
    raise AssertionError


def _null(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    on_conflict(ts)
    return Nullable(name, (start, ts.end()))


def _not(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node | None:
    """NOT NULL, or NOT DEFERRABLE."""
    if ts.kinds[ts.position + 1] == "DEFERRABLE":
        _deferrable(ts, name, start, column, so_far)
        return None
    ts.advance()
    ts.expect("NULL")
    action = on_conflict(ts)
    return NotNull(name, action, (start, ts.end()))


def _primary(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    ts.expect("KEY")
    desc = ts.kind == "DESC"
    if desc or ts.kind == "ASC":
        ts.advance()
    action = on_conflict(ts)
    is_autoincrement = autoincrement(ts)
    return PrimaryKey(name, None, desc, is_autoincrement, action, (start, ts.end()))


def _unique(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    action = on_conflict(ts)
    return Unique(name, None, action, (start, ts.end()))


def checked_expression(ts: TokenStream, depth: int) -> tuple[Node, str]:
    """The parenthesised expression of a CHECK and its text; ``depth`` grammar symbols stand before it."""
    text_start = ts.ends[ts.position]
    ts.expect("(")
    ts.depth += depth
    expr = expression(ts)
    ts.depth -= depth
    text = text_between(ts, text_start)
    ts.expect(")")
    return expr, text


def _check(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    expr, text = checked_expression(ts, 2)
    return Check(name, expr, text, (start, ts.end()))


def _references(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    parent = ts.name()
    parent_columns = optional_columns(ts)
    on_delete, on_update = foreign_key_actions(ts)
    return ForeignKey(name, None, parent, parent_columns, on_delete, on_update, False, (start, ts.end()))


def foreign_key_actions(ts: TokenStream) -> tuple[str | None, str | None]:
    """``[ON DELETE action] [ON UPDATE action] [ON INSERT action] [MATCH name]`` in any order; the last of a kind counts."""
    on_delete = on_update = None
    while True:
        if ts.kind == "MATCH":
            ts.advance()
            ts.name()
        elif ts.kind == "ON":
            ts.advance()
            event = ts.kind
            if event not in ("DELETE", "UPDATE", "INSERT"):
                ts.fail()
            ts.advance()
            action = _reference_action(ts)
            if event == "DELETE":
                on_delete = action
            elif event == "UPDATE":
                on_update = action
        else:
            return on_delete, on_update


def _reference_action(ts: TokenStream) -> str:
    kind = ts.kind
    if kind == "SET":
        ts.advance()
        if ts.kind not in ("NULL", "DEFAULT"):
            ts.fail()
        return "SET " + ts.word()
    if kind == "NO":
        ts.advance()
        ts.expect("ACTION")
        return "NO ACTION"
    if kind not in ("CASCADE", "RESTRICT"):
        ts.fail()
    return ts.word()


def deferral(ts: TokenStream) -> bool | None:
    """``[NOT] DEFERRABLE [INITIALLY DEFERRED | IMMEDIATE]``: whether it defers; None when nothing is written."""
    negated = ts.kind == "NOT"
    if not negated and ts.kind != "DEFERRABLE":
        return None
    if negated:
        ts.advance()
    ts.expect("DEFERRABLE")
    deferred = False
    if ts.accept("INITIALLY"):
        if ts.kind not in ("DEFERRED", "IMMEDIATE"):
            ts.fail()
        deferred = ts.word() == "DEFERRED"
    return deferred and not negated


def _deferrable(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> None:
    deferred = deferral(ts) or False
    for constraint in reversed(so_far):
        if isinstance(constraint, ForeignKey):
            constraint.deferred = deferred
            return


def _collate(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    ts.advance()
    collation = ts.ids_name()
    return ColumnCollate(name, collation, (start, ts.end()))


def _generated(ts: TokenStream, name: Name | None, start: int, column: Name, so_far: list[Node]) -> Node:
    """``[GENERATED ALWAYS] AS (expr) [VIRTUAL | STORED]``"""
    if ts.kind == "GENERATED":
        ts.advance()
        ts.expect("ALWAYS")
    ts.expect("AS")
    text_start = ts.ends[ts.position]
    ts.expect("(")
    ts.depth += 2
    expr = expression(ts)
    ts.depth -= 2
    text = text_between(ts, text_start)
    ts.expect(")")
    storage = None
    if ts.kind in ("ID", "QUOTED") or (ts.kind in ID_KINDS and ts.kind not in ("GENERATED", "INDEXED")):
        storage = ts.take_name().text.upper()
        if storage not in ("VIRTUAL", "STORED"):
            ts.defer(errors.error_in_generated_column(column.text))
    return Generated(name, expr, storage, text, (start, ts.end()))


_PARSERS = {
    "DEFAULT": _default, "NULL": _null, "NOT": _not, "PRIMARY": _primary, "UNIQUE": _unique, "CHECK": _check, "REFERENCES": _references,
    "DEFERRABLE": _deferrable, "COLLATE": _collate, "GENERATED": _generated, "AS": _generated,
}  # fmt: skip

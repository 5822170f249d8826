"""CREATE, DROP and ALTER.

What is stored in sqlite_schema is source text, and where it ends differs (found by measuring): a table ends at its closing parenthesis,
but with options where the ``;`` begins; an index where the ``;`` begins; a view likewise, blanks trimmed; a trigger at its END; a
virtual table at its last token.  ``text_end`` of the nodes follows that.

Follows the manual's pages on the CREATE, DROP and ALTER statements.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast_ddl import (
    AlterAddColumn,
    AlterDropColumn,
    AlterRenameColumn,
    AlterRenameTable,
    Check,
    ColumnDef,
    CreateIndex,
    CreateTable,
    CreateTrigger,
    CreateView,
    CreateVirtualTable,
    Drop,
    ForeignKey,
    PrimaryKey,
    Unique,
)
from sqlvec.parse.ast_expr import Name, Node, Statement
from sqlvec.parse.column_constraints import (
    autoincrement,
    column_constraints,
    deferral,
    foreign_key_actions,
    on_conflict,
    optional_columns,
    text_between,
)
from sqlvec.parse.expressions import SELECT_STARTS, expression, type_name
from sqlvec.parse.select import COLUMN_LIMIT, order_terms, plain_columns, select
from sqlvec.parse.token_stream import TokenStream
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
        text_start = ts.ends[ts.position]
        ts.expect("(")
        ts.depth += 3
        expr = expression(ts)
        ts.depth -= 3
        text = text_between(ts, text_start)
        ts.expect(")")
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



"""ALTER TABLE ... ADD COLUMN and DROP COLUMN.

ADD COLUMN puts ``, definition`` behind the last column of the stored text; no row changes, since short records read as the default.  DROP COLUMN cuts
the column out of the text and rewrites every row without it.

Follows "ALTER TABLE" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands import references, schema_write
from sqlvec.commands.alter_rename import find_altered, fix_strings, refuse_system
from sqlvec.exec.dml.index_entries import is_true
from sqlvec.exec.dml.row_images import RowCodec, scan_images
from sqlvec.expr.bound import Literal
from sqlvec.expr.compile import compile_expressions
from sqlvec.pages.record import decode, encode
from sqlvec.parse.lexer import lex
from sqlvec.parse.parser import parse_statement
from sqlvec.plan import schema_expr
from sqlvec.plan.write_set import WriteBinder
from sqlvec.resolve import resolve
from sqlvec.schema.from_ast import check_column, table_from_ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast
    from sqlvec.schema.objects import Table


def columns_end(sql: str, tree: ast.CreateTable) -> int:
    """Where the column list of a stored text ends: at the comma before table constraints, or the closing parenthesis."""
    kinds: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    lex(sql, tree.columns[-1].span[1], kinds, starts, ends)
    return starts[0]


# --- ADD COLUMN --------------------------------------------------------------------------------------------------------------------------


def add_column(context: CommandContext, statement: ast.AlterAddColumn, sql: str) -> None:
    """Carry out ADD COLUMN."""
    schema = statement.schema.text if statement.schema is not None else None
    if context.catalogs.find_table(schema, statement.name.text) is None and context.is_eponymous(statement.name.text):
        raise errors.plain("virtual tables may not be altered")
    table = find_altered(context, statement.schema, statement.name)
    if table.kind == "virtual":
        raise errors.plain("virtual tables may not be altered")
    if table.kind == "view":
        raise errors.plain("Cannot add a column to a view")
    refuse_system(context, table)
    number = table.database
    definition = statement.column
    if definition.name.text.lower() in table.by_name:
        raise errors.duplicate_column(definition.name.text)
    check_column(definition, table)
    for constraint in definition.constraints:
        if type(constraint).__name__ == "ColumnCollate" and context.collations.lookup(constraint.collation.text) is None:  # type: ignore[attr-defined]
            raise errors.no_such_collation(constraint.collation.text)  # type: ignore[attr-defined]
    text = table.sql or ""
    tree, _ = parse_statement(text)
    end = columns_end(text, tree)  # type: ignore[arg-type]
    new_text = text[:end] + ", " + statement.text.rstrip("; \t\n\r") + text[end:]
    kinds = {type(constraint).__name__ for constraint in definition.constraints}
    if "PrimaryKey" in kinds:
        raise errors.plain("Cannot add a PRIMARY KEY column")
    if "Unique" in kinds:
        raise errors.plain("Cannot add a UNIQUE column")
    new_table = _checked_table(context, table, new_text, "add column")
    _refuse_for_rows(context, table, new_table, kinds)
    schema_write.begin(context, number)
    key = table.name.lower()
    schema_write.change_rows(
        context, number, lambda row: (*row[:5], new_text) if row[1] == "table" and (row[2] or "").lower() == key else row  # type: ignore[return-value]
    )
    schema_write.finish(context, number)
    if "Check" in kinds or ("NotNull" in kinds and "Generated" in kinds):
        _check_rows(context, number, table.name)


def _refuse_for_rows(context: CommandContext, table: Table, new_table: Table, kinds: set[str]) -> None:
    """What would be wrong with the rows that exist already."""
    column = new_table.columns[-1]
    default: Any = None
    is_constant = True
    if column.default is not None:
        bound = schema_expr.default_or_error(new_table, len(new_table.columns) - 1, WriteBinder(context.plan_context()).derived_binding())
        is_constant = _is_literal(bound)
        default = compile_expressions((bound,), (), context.run_context())(())[0] if is_constant else None
    problem = None
    if column.generated is not None:
        if column.is_stored:
            problem = "cannot add a STORED column"
    elif "ForeignKey" in kinds and context.settings.foreign_keys and (default is not None or not is_constant):
        problem = "Cannot add a REFERENCES column with non-NULL default value"
    elif ("NotNull" in kinds and column.default is not None and is_constant and default is None) or ("NotNull" in kinds and column.default is None):
        problem = "Cannot add a NOT NULL column with default value NULL"
    elif not is_constant:
        problem = "Cannot add a column with non-constant default"
    if problem is not None and not _is_empty(context, table):
        raise errors.while_altering(problem)


def _is_literal(expression: Any) -> bool:
    """Constants, also signed, are fine; functions and operators are not."""
    if isinstance(expression, Literal):
        return True
    return type(expression).__name__ == "Unary" and expression.operator in "+-" and isinstance(expression.operand, Literal)


def _is_empty(context: CommandContext, table: Table) -> bool:
    run_context = context.run_context()
    if table.without_rowid:
        assert table.key_index is not None
        return run_context.index_tree(table.key_index).first() is None
    return run_context.table_tree(table).max_rowid() is None


def _check_rows(context: CommandContext, number: int, name: str) -> None:
    """Existing rows must satisfy the CHECKs and NOT NULLs of the table as it is now."""
    table = context.databases.catalog(number).find_table(name)
    assert table is not None
    run_context = context.run_context()
    write = WriteBinder(context.plan_context()).table_write(table)
    codec = RowCodec(write, run_context)
    checks = [compile_expressions((expression,), write.columns, run_context) for expression, _ in write.checks]
    generated = {column for column, _ in write.generated}
    for image in scan_images(table, write, run_context, codec):
        for function in checks:
            value = function(image)[0]
            if value is not None and not is_true(value):
                raise errors.while_altering("CHECK constraint failed")
        for column, _ in write.not_null:
            if column in generated and image[column] is None:
                raise errors.while_altering("NOT NULL constraint failed")


# --- DROP COLUMN -------------------------------------------------------------------------------------------------------------------------


def drop_column(context: CommandContext, statement: ast.AlterDropColumn, sql: str) -> None:
    """Carry out DROP COLUMN."""
    table = find_altered(context, statement.schema, statement.name)
    refuse_system(context, table)
    if table.kind != "table":
        raise errors.plain(f'cannot drop column from {"view" if table.kind == "view" else "virtual table"} "{table.name}"')
    name = statement.column.text
    column = table.by_name.get(name.lower())
    if column is None:
        raise errors.plain(f'no such column: "{sql[slice(*statement.column.span)]}"', statement.column.span[0])
    if table.columns[column].key_position:
        raise errors.plain(f'cannot drop PRIMARY KEY column: "{name}"')
    if any(index.origin == "u" and index.key_count == 1 and index.columns[0].column == column for index in table.indexes):
        raise errors.plain(f'cannot drop UNIQUE column: "{name}"')
    if len(table.columns) == 1:
        raise errors.plain(f'cannot drop column "{name}": no other columns exist')
    number = table.database
    references.check_schema(context, number, "")
    schema_write.begin(context, number)
    fix_strings(context, number)
    table = context.databases.catalog(number).find_table(table.name) or table
    text = table.sql or ""
    tree, _ = parse_statement(text)
    new_text = _without_column(text, tree, column)
    new_table = _checked_table(context, table, new_text, "drop column")
    _check_indexes(context, table, new_table)
    key = table.name.lower()
    if table.fields[column] >= 0:
        _rewrite_rows(context, table, column)
    schema_write.change_rows(
        context, number, lambda row: (*row[:5], new_text) if row[1] == "table" and (row[2] or "").lower() == key else row  # type: ignore[return-value]
    )
    schema_write.finish(context, number)
    references.check_schema(context, number, "drop column")


def _without_column(text: str, tree: Any, column: int) -> str:
    definitions = tree.columns
    if column < len(definitions) - 1:
        return text[: definitions[column].span[0]] + text[definitions[column + 1].span[0] :]
    start = text.rindex(",", 0, definitions[column].span[0])
    return text[:start] + text[columns_end(text, tree) :]


def _checked_table(context: CommandContext, table: Table, text: str, when: str) -> Table:
    try:
        tree, _ = parse_statement(text)
        made = table_from_ast(tree, table.database, table.root, text)  # type: ignore[arg-type]
        schema_expr.check_table(made, references.lenient_context(context))
    except errors.SqlError as error:
        raise errors.while_altering(f"error in table {table.name} after {when}: {error.message}") from None
    return made


def _check_indexes(context: CommandContext, table: Table, new_table: Table) -> None:
    """Indexes that need the column refuse; strings stand in single quotes by now, so that double quotes hold names alone."""
    index_from_ast = resolve("sqlvec.schema.from_ast:index_from_ast")
    settings = context.plan_context().settings
    lenient = settings.double_quoted_strings
    settings.double_quoted_strings = False
    try:
        for index in reversed(table.indexes):
            if index.sql is None:
                continue
            try:
                tree, _ = parse_statement(index.sql)
                schema_expr.check_index(index_from_ast(tree, new_table, 0, index.sql), context.plan_context())
            except errors.SqlError as error:
                raise errors.while_altering(f"error in index {index.name} after drop column: {error.message}") from None
    finally:
        settings.double_quoted_strings = lenient


def _rewrite_rows(context: CommandContext, table: Table, column: int) -> None:
    pager = context.databases[table.database].pager
    encoding, schema_format = pager.encoding, pager.header("schema_format")
    run_context = context.run_context()
    field = table.fields[column]
    if table.without_rowid:
        assert table.key_index is not None
        index_tree = run_context.index_tree(table.key_index)
        payloads = [payload for block in index_tree.blocks() for payload in block]
        for payload in payloads:
            values = decode(payload, encoding)
            kept = values[:field] + values[field + 1 :]
            index_tree.insert(encode(kept, encoding, schema_format), kept)
        return
    tree = run_context.table_tree(table)
    codec = RowCodec(WriteBinder(context.plan_context()).table_write(table), run_context)
    rows = [(rowid, payload) for block in tree.blocks() for rowid, payload in block]
    for rowid, payload in rows:
        image = codec.image(payload, rowid)
        values = decode(codec.record(image), encoding)
        tree.insert(rowid, encode(values[:field] + values[field + 1 :], encoding, schema_format))

"""Dot-commands that look at the schema: .tables .indexes .schema .fullschema .databases .lint

The texts in sqlite_schema are printed with a few changes: the schema's name is put in for databases other than main, a quoted table name
gets IF NOT EXISTS, and views and virtual tables get a comment with their columns.
"""
from __future__ import annotations

from sqlvec.cli.dot_commands import ArgumentError
from sqlvec.cli.modes import insert_literal, quote_name, quote_text
from sqlvec.errors import SqlError
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell

_SCHEMA_TABLE = "CREATE TABLE {} (\n  type text,\n  name text,\n  tbl_name text,\n  rootpage integer,\n  sql text\n)"
_PREFIXES = ("TABLE", "INDEX", "UNIQUE INDEX", "VIEW", "TRIGGER", "VIRTUAL TABLE")


def query(shell: Shell, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Rows of a query of the shell's own; its failure is the dot-command's."""
    try:
        return shell.database().run(sql, *parameters)
    except SqlError as error:
        raise ArgumentError(f"Error: {error.message}") from None


def _schemas(shell: Shell) -> list[str]:
    return [row[1] for row in query(shell, "PRAGMA database_list")]


def _print_names(shell: Shell, names: list[str]) -> None:
    """Names in columns, filled downwards, in 80 characters."""
    if not names:
        return
    widest = max(len(name) for name in names)
    columns = max(1, 80 // (widest + 2))
    rows = (len(names) + columns - 1) // columns
    for row in range(rows):
        shell.out.write("  ".join(name.ljust(widest) for name in names[row::rows]) + "\n")


def tables(shell: Shell, words: list[str]) -> int:
    """``.tables [PATTERN]``"""
    return _list_names(shell, words, "type IN ('table','view') AND name NOT LIKE 'sqlite__%' ESCAPE '_' AND name LIKE ?1")


def indexes(shell: Shell, words: list[str]) -> int:
    """``.indexes [TABLE]``"""
    if len(words) > 2:
        raise ArgumentError("Usage: .indexes ?LIKE-PATTERN?")
    return _list_names(shell, words, "type='index' AND tbl_name LIKE ?1")


def _list_names(shell: Shell, words: list[str], condition: str) -> int:
    pattern = words[1] if len(words) > 1 else "%"
    names: list[str] = []
    for schema_name in _schemas(shell):
        rows = query(shell, f"SELECT name FROM {_quoted(schema_name)}.sqlite_schema WHERE {condition}", pattern)
        prefix = "" if schema_name == "main" else schema_name + "."
        names.extend(prefix + row[0] for row in rows)
    _print_names(shell, sorted(names))
    return 0


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- .schema -----------------------------------------------------------------------------------------------------------------------------


def schema(shell: Shell, words: list[str]) -> int:
    """``.schema [--indent] [--nosys] [PATTERN]``"""
    pattern = None
    indent = no_system = False
    for word in words[1:]:
        if word.startswith("-"):
            option = word.lstrip("-")
            if option == "indent":
                indent = True
            elif option == "nosys":
                no_system = True
            elif option == "debug":
                continue
            else:
                raise ArgumentError(f'Unknown option: "{word}"')
        elif pattern is None:
            pattern = word
        else:
            raise ArgumentError("Usage: .schema ?--indent? ?--nosys? ?LIKE-PATTERN?")
    if pattern is not None and _is_schema_table(pattern):
        _print_statement(shell, _SCHEMA_TABLE.format(pattern), indent, ";\n")
    for schema_name in _schemas(shell):
        for kind, name, table, sql in query(
            shell, f"SELECT type, name, tbl_name, sql FROM {_quoted(schema_name)}.sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ):
            if no_system and name[:7].lower() == "sqlite_":
                continue
            if pattern is not None and not _matches(shell, pattern, schema_name, table):
                continue
            text = _add_schema(sql, schema_name)
            if kind == "view" or sql.upper().startswith("CREATE VIRTUAL TABLE"):
                columns = _column_comment(shell, schema_name, name)
                text += f"\n/* {columns} */" if columns else ""
            _print_statement(shell, text, indent, ";\n")
    if pattern is not None:
        for name in _eponymous_modules(shell, pattern):
            columns = _column_comment(shell, "main", name)
            if columns:
                shell.out.write(f"/* {columns} */;\n")
    return 0


def _is_schema_table(pattern: str) -> bool:
    return pattern.lower() in ("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema")


def _eponymous_modules(shell: Shell, pattern: str) -> list[str]:
    try:
        rows = shell.database().run("SELECT name FROM pragma_module_list WHERE name LIKE ?1 ESCAPE '\\' ORDER BY name", pattern)
    except SqlError:
        return []
    return [row[0] for row in rows]


def _matches(shell: Shell, pattern: str, schema_name: str, table: str) -> bool:
    """LIKE, or GLOB where the pattern has its special characters; against schema.table if the pattern has a point."""
    subject = f"{schema_name}.{table}" if "." in pattern else table
    operator = "GLOB" if any(char in "*?[" for char in pattern) else "LIKE"
    text = pattern.replace('"', "") if pattern[:1] in "\"'[" else pattern
    return bool(query(shell, f"SELECT lower(?1) {operator} lower(?2)", subject, text)[0][0])


def _add_schema(sql: str, schema_name: str) -> str:
    """``CREATE TABLE x`` as ``CREATE TABLE schema.x`` for a database other than main."""
    if schema_name == "main" or not sql.upper().startswith("CREATE "):
        return sql
    for prefix in _PREFIXES:
        if sql[7 : 8 + len(prefix)].upper() == prefix + " ":
            at = 8 + len(prefix)
            return f"{sql[:at]}{_schema_prefix(schema_name)}{sql[at:]}"
    return sql


def _schema_prefix(schema_name: str) -> str:
    return (schema_name if schema_name.lower() == "temp" else quote_name(schema_name)) + "."


def _column_comment(shell: Shell, schema_name: str, name: str) -> str:
    """``name(column,column)`` as the comment behind a view or virtual table."""
    try:
        rows = shell.database().run(f"PRAGMA {_quoted(schema_name)}.table_info={quote_text(name)}")
    except SqlError:
        return ""
    if not rows:
        return ""
    prefix = "" if schema_name == "main" else _schema_prefix(schema_name)
    return f"{prefix}{quote_name(name)}({','.join(quote_name(row[1]) for row in rows)})"


def _print_statement(shell: Shell, sql: str, indent: bool, tail: str) -> None:
    shell.out.write(schema_line(_indented(sql) if indent else sql, tail))


def schema_line(sql: str, tail: str) -> str:
    """A stored text as a statement; a quoted table name gets IF NOT EXISTS, an open comment a newline before the ``;``."""
    if sql[:13].upper() == "CREATE TABLE " and sql[13:14] in ("'", '"'):
        sql = "CREATE TABLE IF NOT EXISTS " + sql[13:]
    if ("--" in sql or "/*" in sql) and not resolve("sqlvec.parse.complete:is_complete")(sql + ";"):
        for closer in ("\n", "*/", "\n*/"):
            if resolve("sqlvec.parse.complete:is_complete")(sql + closer + ";"):
                return sql + closer + tail
    return sql + tail


def _indented(sql: str) -> str:
    """Long statements broken after the opening parenthesis and at its commas; blanks drawn together."""
    if sql[:12].upper() in ("CREATE VIEW ", "CREATE TRIG") or sql[:11].upper() == "CREATE TRIG":
        return sql
    text = _squeezed(sql)
    if len(text) < 79:
        return text
    pieces: list[str] = []
    level = 0
    lines = 0
    quote = ""
    for position, char in enumerate(text):
        if quote:
            if char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char == "[":
            quote = "]"
        elif char == "(":
            level += 1
        elif char == ")":
            level -= 1
            if lines > 0 and level == 0:
                pieces.append("\n")
        pieces.append(char)
        if level == 1 and not quote and (char == "(" or char == "," or char == "\n"):
            if char == "(" and lines:
                continue
            pieces.append("\n  ")
            lines += 1
            if text[position + 1 : position + 2] == " ":
                pieces.append("\0")
    return "".join(pieces).replace("\0 ", "")


def _squeezed(sql: str) -> str:
    """Runs of blanks as one space, none behind ``(`` and before a parenthesis."""
    pieces: list[str] = []
    quote = ""
    for char in sql:
        if quote:
            if char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char == "[":
            quote = "]"
        elif char in " \t\n\r\f\x0b":
            if pieces and (pieces[-1] in " ("):
                continue
            char = " "
        elif char in "()" and pieces and pieces[-1] == " ":
            pieces.pop()
        pieces.append(char)
    return "".join(pieces).rstrip(" ;")


def fullschema(shell: Shell, words: list[str]) -> int:
    """``.fullschema [--indent]``: the schema and the tables of ANALYZE."""
    indent = len(words) == 2 and words[1].lstrip("-") == "indent"
    if len(words) > 1 and not indent:
        raise ArgumentError("Usage: .fullschema ?--indent?")
    rows = query(
        shell,
        "SELECT sql FROM (SELECT sql, type, tbl_name, name, rowid x FROM sqlite_schema UNION ALL SELECT sql, type, tbl_name, name, rowid FROM"
        " sqlite_temp_schema) WHERE type!='meta' AND sql NOTNULL AND name NOT LIKE 'sqlite__%' ESCAPE '_' ORDER BY x",
    )
    for (sql,) in rows:
        _print_statement(shell, sql, indent, ";\n")
    if not query(shell, "SELECT rowid FROM sqlite_schema WHERE name GLOB 'sqlite_stat[134]'"):
        shell.out.write("/* No STAT tables available */\n")
        return 0
    shell.out.write("ANALYZE sqlite_schema;\n")
    for table in ("sqlite_stat1", "sqlite_stat4"):
        if query(shell, f"SELECT 1 FROM sqlite_schema WHERE name='{table}'"):
            for row in query(shell, f"SELECT * FROM {table}"):
                shell.out.write(f"INSERT INTO {table} VALUES({','.join(map(insert_literal, row))});\n")
    shell.out.write("ANALYZE sqlite_schema;\n")
    return 0


def databases(shell: Shell, words: list[str]) -> int:
    """``.databases``: name, file and state of each."""
    session = shell.database()
    transaction = session.transaction
    for number, name, path in query(shell, "PRAGMA database_list"):
        is_readonly = resolve("sqlvec.cli.dot_transfer:is_readonly")(session, number)
        state = "" if transaction.autocommit else resolve("sqlvec.cli.dot_transfer:transaction_state")(session, number)
        shown = path if path else '""'
        shell.out.write(f"{name}: {shown} {'r/o' if is_readonly else 'r/w'}{state}\n")
    return 0


# --- .lint ---------------------------------------------------------------------------------------------------------------------------------


def lint(shell: Shell, words: list[str]) -> int:
    """``.lint fkey-indexes [-verbose] [-groupbyparent]``: foreign keys whose child columns have no index."""
    if len(words) < 2 or not "fkey-indexes".startswith(words[1].lower()):
        raise ArgumentError("Usage lint sub-command ?switches...?\nWhere sub-commands are:\n    fkey-indexes", 0)
    verbose = group = False
    for word in words[2:]:
        option = word.lstrip("-")
        if option and "verbose".startswith(option):
            verbose = True
        elif option and "groupbyparent".startswith(option):
            group = True
        else:
            raise ArgumentError(f"Usage: {words[0]} {words[1]} ?-verbose? ?-groupbyparent?")
    parent_before = ""
    rows: list[tuple[str, str, str, list[str], list[str]]] = []
    for (table,) in query(shell, "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite__%' ESCAPE '_' ORDER BY name"):
        keys: dict[int, tuple[str, list[str], list[str]]] = {}
        for row in query(shell, f"PRAGMA foreign_key_list({quote_text(table)})"):
            parent, children, parents = keys.setdefault(row[0], (row[2], [], []))
            children.append(row[3])
            parents.append(row[4] if row[4] is not None else "")
            del parent
        rows.extend((table, parent, "", children, parents) for _, (parent, children, parents) in sorted(keys.items()))
    if group:
        rows.sort(key=lambda row: row[1])
    for table, parent, _, children, parents in rows:
        if not any(parents):
            parents = [row[1] for row in query(shell, f"PRAGMA table_info({quote_text(parent)})") if row[5]]
        found = _index_on(shell, table, children)
        name = quote_text(table + "_" + "_".join(children))
        if group and parent != parent_before:
            shell.out.write(f"-- Parent table {parent}\n")
            parent_before = parent
        if found and not verbose:
            continue
        if found:
            shell.out.write(f"/* no extra indexes required for {table}({','.join(children)}) */\n" if group else f"{found}\n")
            continue
        columns = ", ".join(quote_text(column) for column in children)
        shell.out.write(f"CREATE INDEX {name} ON {quote_text(table)}({columns}); --> {parent}({','.join(parents)})\n")
    return 0


def _index_on(shell: Shell, table: str, columns: list[str]) -> str:
    """A description of an index or key that starts with these columns, in any order."""
    wanted = {column.lower() for column in columns}
    key = [row for row in query(shell, f"PRAGMA table_info({quote_text(table)})") if row[5]]
    if len(key) == 1 and len(columns) == 1 and key[0][1].lower() in wanted and key[0][2].upper() == "INTEGER":
        return f"SEARCH {table} USING INTEGER PRIMARY KEY (rowid=?)"
    for row in query(shell, f"PRAGMA index_list({quote_text(table)})"):
        parts = query(shell, f"PRAGMA index_info({quote_text(row[1])})")
        if {str(part[2]).lower() for part in parts[: len(columns)]} == wanted:
            return f"SEARCH {table} USING INDEX {row[1]} ({' AND '.join(f'{part[2]}=?' for part in parts[: len(columns)])})"
    return ""

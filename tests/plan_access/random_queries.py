"""Random schemas and queries for comparing plans: everything comes from the generator that is passed in."""
from __future__ import annotations

TYPES = ("", "INT", "TEXT", "VARCHAR(10)", "REAL", "NUMERIC", "BLOB")
LETTERS = "abcd"


def random_schema(random, table_count: int, analysed: bool) -> list[str]:
    """CREATE statements of tables t0, t1, ... with indexes, and with ``analysed`` statistics written into sqlite_stat1."""
    statements = []
    statistics = []
    for table in range(table_count):
        count = random.randint(2, 4)
        columns = []
        has_rowid_key = random.random() < 0.4
        is_keyed = not has_rowid_key and random.random() < 0.15
        for letter in LETTERS[:count]:
            text = f"{letter} {random.choice(TYPES)}"
            if random.random() < 0.2:
                text += " NOT NULL"
            if random.random() < 0.1:
                text += " COLLATE NOCASE"
            columns.append(text)
        if has_rowid_key:
            columns.insert(random.randint(0, count), "id INTEGER PRIMARY KEY")
        if is_keyed:
            columns.append(f"PRIMARY KEY({', '.join(random.sample(LETTERS[:count], random.randint(1, 2)))})")
        statements.append(f"CREATE TABLE t{table}({', '.join(columns)})" + (" WITHOUT ROWID" if is_keyed else ""))
        rows = random.choice((20, 1000, 50000))
        for number in range(random.randint(0, 3)):
            keys = random.sample(LETTERS[:count], random.randint(1, min(3, count)))
            terms = [key + random.choice(("", "", "", " DESC", " COLLATE NOCASE")) for key in keys]
            unique = "UNIQUE " if random.random() < 0.15 else ""
            where = " WHERE " + random.choice(("a > 5", "b IS NOT NULL", "a = 1")) if random.random() < 0.1 else ""
            statements.append(f"CREATE {unique}INDEX t{table}i{number} ON t{table}({', '.join(terms)}){where}")
            width = rows
            figures = [str(rows)]
            for _ in keys:
                width = max(1, width // random.choice((1, 3, 20, 400)))
                figures.append(str(width))
            statistics.append(f"('t{table}', 't{table}i{number}', '{' '.join(figures)}')")
    if analysed and statistics:
        statements += ["ANALYZE sqlite_schema", f"INSERT INTO sqlite_stat1 VALUES {', '.join(statistics)}", "ANALYZE sqlite_schema"]
    return statements


def random_term(random, columns: list[str], depth: int = 0) -> str:
    column = random.choice(columns)
    kind = random.random()
    if kind < 0.45:
        return f"{column} = {random.choice(columns) if random.random() < 0.55 else random.randint(0, 7)}"
    if kind < 0.6:
        return f"{column} {random.choice(('<', '>', '<=', '>='))} {random.choice(columns) if random.random() < 0.3 else random.randint(0, 9)}"
    if kind < 0.67:
        return f"{column} IN ({', '.join(str(random.randint(0, 9)) for _ in range(random.randint(1, 4)))})"
    if kind < 0.72:
        return f"{column} BETWEEN {random.randint(0, 3)} AND {random.randint(4, 9)}"
    if kind < 0.77:
        return f"{column} IS {random.choice(('NULL', 'NOT NULL', '5'))}"
    if kind < 0.86 and depth < 2:
        return f"({' OR '.join(random_term(random, columns, depth + 1) for _ in range(random.randint(2, 3)))})"
    if kind < 0.9:
        return f"{column} LIKE '{random.choice(('ab', 'x', '1', ''))}{random.choice(('%', '_', '%x'))}'"
    if kind < 0.93:
        return f"{column} + 1 = {random.choice(columns)}"
    if kind < 0.96:
        return f"({column}, {random.choice(columns)}) {random.choice(('=', '>', '<='))} (1, 2)"
    return f"likely({column} = 3)"


def random_query(random, tables: list[tuple[str, list[str]]], joins: tuple[str, ...]) -> str:
    """A SELECT over one to four of the (name, columns) tables."""
    columns: list[str] = []
    source = ""
    for number in range(random.choice((1, 2, 2, 3, 3, 4)) if joins else 1):
        name, own = random.choice(tables)
        alias = f"x{number}"
        own = [f"{alias}.{column}" for column in own]
        columns += own
        if not number:
            source = f"{name} AS {alias}"
            continue
        join = random.choice(joins)
        source += f"{join} {name} AS {alias}"
        if join != "," and random.random() < 0.8:
            source += f" ON {random.choice(own)} = {random.choice(columns)}"
    result = "*" if random.random() < 0.4 else ", ".join(random.sample(columns, random.randint(1, min(3, len(columns)))))
    grouped = random.random() < 0.15
    sql = f"SELECT {'DISTINCT ' if not grouped and random.random() < 0.15 else ''}{result} FROM {source}"
    terms = [random_term(random, columns) for _ in range(random.choice((0, 1, 1, 2, 2, 3)))]
    if terms:
        sql += f" WHERE {' AND '.join(terms)}"
    if grouped:
        sql += f" GROUP BY {', '.join(random.sample(columns, random.randint(1, min(2, len(columns)))))}"
    if random.random() < 0.35:
        order = random.sample(columns, random.randint(1, min(3, len(columns))))
        sql += f" ORDER BY {', '.join(column + random.choice(('', '', ' DESC')) for column in order)}"
    if random.random() < 0.1:
        sql += f" LIMIT {random.randint(1, 20)}"
    return sql

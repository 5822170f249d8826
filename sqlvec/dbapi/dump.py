"""``Connection.iterdump``: the database as SQL text, as the standard module writes it."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def _quoted(name: str) -> str:
    return name.replace('"', '""')


def iterdump(connection: Any) -> Iterator[str]:
    """Yield statements that make the database anew."""
    cursor = connection.cursor()
    cursor.row_factory = None
    yield "BEGIN TRANSACTION;"
    schema = cursor.execute(
        'SELECT "name", "type", "sql" FROM "sqlite_master" WHERE "sql" NOT NULL AND "type" == \'table\' ORDER BY "name"').fetchall()
    sequences = False
    for name, _, sql in schema:
        if name == "sqlite_sequence":
            sequences = True
            continue
        if name == "sqlite_stat1":
            yield 'ANALYZE "sqlite_master";'
        elif name.startswith("sqlite_"):
            continue
        else:
            yield f"{sql};"
        columns = [row[1] for row in cursor.execute(f'PRAGMA table_info("{_quoted(name)}")').fetchall()]
        parts = ",".join("""'||quote("{}")||'""".format(_quoted(column).replace("'", "''")) for column in columns)
        prefix = _quoted(name).replace("'", "''")
        for row in cursor.execute(f'SELECT \'INSERT INTO "{prefix}" VALUES({parts})\' FROM "{_quoted(name)}"').fetchall():
            yield f"{row[0]};"
    for _, _, sql in cursor.execute(
            'SELECT "name", "type", "sql" FROM "sqlite_master" WHERE "sql" NOT NULL AND "type" IN (\'index\', \'trigger\', \'view\')').fetchall():
        yield f"{sql};"
    if sequences:
        yield 'DELETE FROM "sqlite_sequence";'
        for row in cursor.execute("SELECT 'INSERT INTO \"sqlite_sequence\" VALUES('||quote(name)||','||quote(seq)||')' FROM sqlite_sequence").fetchall():
            yield f"{row[0]};"
    yield "COMMIT;"

"""EXPLAIN QUERY PLAN as an indented text, from any connection, and the file of expected texts."""
from __future__ import annotations

import pathlib

from sqlvec.session.session import Session

EXPECTED = pathlib.Path(__file__).with_name("expected_plans.txt")


def as_tree(rows) -> str:
    """Rows (id, parent, notused, detail) as lines indented by depth."""
    depth = {0: 0}
    lines = []
    for number, parent, _, detail in rows:
        depth[number] = depth[parent] + 1
        lines.append("  " * depth[number] + detail)
    return "\n".join(lines)


def plan_text(session: Session, sql: str) -> str:
    return as_tree(session.execute("EXPLAIN QUERY PLAN " + sql))


def run(session: Session, sql: str) -> list[tuple]:
    return [tuple(row) for row in session.execute(sql) or ()]


def sections():
    """(name, schema statements, [(statement, plan text)]): a section begins with ``== name``; statements end with ``;``, a plan is indented."""
    found = []
    for part in EXPECTED.read_text(encoding="utf-8").split("\n== ")[1:]:
        name, _, body = part.partition("\n")
        schema, cases, sql, plan = [], [], "", []
        for line in [*body.split("\n"), ""]:
            if line.startswith("  "):
                plan.append(line)
                continue
            if plan:
                cases.append((schema.pop(), "\n".join(plan)))
                plan = []
            sql = f"{sql}\n{line}" if sql else line
            if sql.endswith(";"):
                schema.append(sql[:-1])
                sql = ""
        found.append((name, schema, cases))
    return found

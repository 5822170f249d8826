"""EXPLAIN in the shell: the plan as a tree, program listings in fixed columns, and ``.eqp``."""
from __future__ import annotations

from sqlvec.cli.shell import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.cli.shell import Shell
    from sqlvec.session.session import Session
    from sqlvec.session.statement import Statement

_WIDTHS = (4, 13, 4, 4, 4, 13, 2, 13)


def print_query_plan(shell: Shell, statement: Statement) -> None:
    """EXPLAIN QUERY PLAN as a tree."""
    rows = list(statement)
    if rows:
        print_plan_rows(shell, rows)


def print_plan_rows(shell: Shell, rows: list[tuple[Any, ...]]) -> None:
    shell.out.write("QUERY PLAN\n")
    _print_level(shell, rows, 0, "")


def _print_level(shell: Shell, rows: list[tuple[Any, ...]], parent: int, indent: str) -> None:
    level = [row for row in rows if row[1] == parent]
    for number, row in enumerate(level):
        is_last = number == len(level) - 1
        shell.out.write(f"{indent}{'`--' if is_last else '|--'}{row[3]}\n")
        _print_level(shell, rows, row[0], indent + ("   " if is_last else "|  "))


def print_explain(shell: Shell, statement: Statement) -> None:
    """EXPLAIN in columns of fixed width."""
    write = shell.out.write
    rows = list(statement)
    if not rows:
        return
    names = statement.names
    write("  ".join(name.ljust(width) for name, width in zip(names, _WIDTHS, strict=False)) + "\n")
    write("  ".join("-" * width for width in _WIDTHS[: len(names)]) + "\n")
    for row in rows:
        cells = ["" if value is None else text_of(value) for value in row]
        cells[1] = "  " * max(0, int(row[2] or 0)) + cells[1]
        write("  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=False)) + "\n")


def show_plan(shell: Shell, session: Session, statement: Statement) -> None:
    """What ``.eqp on`` prints before a statement runs."""
    if statement.explain is not None:
        return
    start, end = statement.tree.span
    explained, _ = session.prepare("EXPLAIN QUERY PLAN " + statement.sql[start:end])
    if explained is not None:
        rows = list(explained)
        if rows:
            print_plan_rows(shell, rows)

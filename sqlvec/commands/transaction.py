"""BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE: each is one call of the connection's Transaction.

Follows "Transaction" and "Savepoints" of the manual.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.commands.context import CommandContext
    from sqlvec.parse import ast


def begin(context: CommandContext, statement: ast.Begin, sql: str) -> None:
    context.transaction.begin(statement.mode)


def commit(context: CommandContext, statement: ast.Commit, sql: str) -> None:
    context.transaction.commit()


def rollback(context: CommandContext, statement: ast.Rollback, sql: str) -> None:
    if statement.savepoint is None:
        context.transaction.rollback()
    else:
        context.transaction.rollback_to(statement.savepoint.text)


def savepoint(context: CommandContext, statement: ast.Savepoint, sql: str) -> None:
    context.transaction.savepoint(statement.name.text)


def release(context: CommandContext, statement: ast.Release, sql: str) -> None:
    context.transaction.release(statement.name.text)

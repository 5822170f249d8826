"""Running plans: ``execute`` for a whole statement, ``RowProgram`` for a part that is run again and again.

``execute(plan, context)`` gives the result rows of a statement.  A :class:`RowProgram` is a physical node with the columns of its outer values; it is
compiled at its first run, for the collations of that connection, and holds no state: trigger programs, sub-queries and DML sources open it with an
Activation as often as they like.

Errors: what generated code raises as a Python exception becomes the SQLite error of ``translate``.

Placement: unless PRAGMA sqlvec_engine says ``row``, a plan that reads something big is offered to ``exec.placement``; small plans never import it.
When a vector run gives up, the same plan starts again here and the rows already delivered are dropped.
"""
from __future__ import annotations

from struct import error as StructError

from sqlvec import errors
from sqlvec.exec.operators import WRITERS
from sqlvec.exec.program import Activation, RowProgram, program_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.expr.bound import Column
    from sqlvec.plan.physical import Node, Plan


def compile_program(node: Node, outer_columns: tuple[Column, ...] = ()) -> RowProgram:
    """The program of a node whose outer values are ``outer_columns``, in this order; one per node object."""
    return program_of(node, tuple(outer_columns))


def execute(plan: Plan, context: RunContext) -> Iterator[tuple[Any, ...]]:
    """The result rows of a statement; of a writing one what RETURNING delivers, after all its work is done."""
    writer = WRITERS.get(type(plan.root).__name__)
    if writer is not None:
        return _guarded(_written(resolve(writer), plan, context))
    if context.measures is None and context.settings.engine != "row" and is_big(plan.root, context):
        rows = resolve("sqlvec.exec.placement:place")(plan, context)
        if rows is not None:
            return _restartable(rows, plan, context)
    return execute_rows(plan, context)


def execute_rows(plan: Plan, context: RunContext) -> Iterator[tuple[Any, ...]]:
    """The result rows by the row engine alone."""
    return _guarded(program_of(plan.root).rows(Activation(context)))


def _written(writer: Any, plan: Plan, context: RunContext) -> Iterator[tuple[Any, ...]]:
    """The rows of a writing plan (RETURNING); the writing happens at the first ``next``, under the guard."""
    yield from writer(plan.root, context, Activation(context))


def _guarded(rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Rows, with Python's exceptions as SQLite's errors."""
    try:
        yield from rows
    except errors.SqlError:
        raise
    except (RecursionError, MemoryError, OverflowError, StructError, IndexError, ValueError) as error:
        replacement = translate(error)
        if replacement is None:
            raise
        raise replacement from error


def translate(error: BaseException) -> errors.SqlError | None:
    """The SQLite error for an exception out of generated code; None when it isn't one of those that generated code may raise.

    StructError, IndexError and ValueError mean a damaged record when a fused decoder raised them, that is, the generated function itself or pages/record.
    """
    if isinstance(error, RecursionError):
        return errors.plain("parser stack overflow")
    if isinstance(error, MemoryError):
        return errors.out_of_memory()
    if isinstance(error, OverflowError):
        return errors.string_or_blob_too_big()
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    name = trace.tb_frame.f_code.co_filename
    if name.startswith("<sqlvec ") or name == "<string>" or name.endswith("record.py"):
        return errors.corrupt()
    return None


# --- placement -------------------------------------------------------------------------------------------------------------------------------

BIG_PAGES = 400


def is_big(root: Node, context: RunContext) -> bool:
    """Does the plan scan anything worth asking the vector engine for?  Looks at full scans and the size of their files only."""
    if context.settings.engine != "auto":
        return True
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        for level in getattr(node, "levels", ()):
            table = getattr(level.path, "table", None)
            plan = getattr(level.path, "plan", None)
            if plan is not None:
                stack.append(plan)
            elif table is not None and table.kind == "table" and context.databases[table.database].pager.page_count >= BIG_PAGES:
                return True
        stack.extend(node.inputs())
    return False


def _restartable(rows: Iterator[tuple[Any, ...]], plan: Plan, context: RunContext) -> Iterator[tuple[Any, ...]]:
    """Rows of the vector engine; if it raises, the row engine starts over and drops what was delivered."""
    count = 0
    try:
        for row in rows:
            yield row
            count += 1
        return
    except GeneratorExit:
        raise
    except errors.Interrupted:
        raise
    except Exception:
        if context.settings.engine == "vector-strict":
            raise
    again = execute_rows(plan, context)
    for _ in range(count):
        next(again, None)
    yield from again

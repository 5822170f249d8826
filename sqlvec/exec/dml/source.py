"""Where a writing statement gets its rows and values: query plans run by the row engine, and compiled expressions.

A :class:`ProgramFrame` is what an expression of the statement may see beside its row: the activation, and, inside a program, the OLD and NEW images as
outer values.
"""
from __future__ import annotations

from sqlvec.exec.program import Activation, program_of
from sqlvec.expr.compile import compile_condition, compile_expressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.context import RunContext
    from sqlvec.plan.physical import Node


class ProgramFrame:
    """One run of one statement: ``columns`` and ``values`` are the outer values, empty at the top level."""

    __slots__ = ("activation", "columns", "context", "values")

    def __init__(self, activation: Any, columns: tuple[Any, ...] = (), values: tuple[Any, ...] = ()) -> None:
        self.activation = activation
        self.context: RunContext = activation.context
        self.columns = columns
        self.values = values


def new_frame(context: RunContext, columns: tuple[Any, ...], values: tuple[Any, ...]) -> ProgramFrame:
    """A frame with a fresh activation."""
    return ProgramFrame(Activation(context), columns, values)


def bind(expressions: tuple[Any, ...], layout: tuple[Any, ...], frame: ProgramFrame) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """``f(row)``: the values of ``expressions`` over a row of ``layout``, for this run."""
    function = compile_expressions(expressions, layout, frame.activation, frame.columns)
    values = frame.values
    if not values:
        return function

    def over(row: tuple[Any, ...]) -> tuple[Any, ...]:
        return function(row, values)  # type: ignore[no-any-return]

    return over


def bind_condition(condition: Any, layout: tuple[Any, ...], frame: ProgramFrame) -> Callable[[tuple[Any, ...]], Any]:
    """``f(row)``, truthy when ``condition`` holds for a row of ``layout``; what decides it is not evaluated any further."""
    function = compile_condition(condition, layout, frame.activation, frame.columns)
    values = frame.values
    return lambda row: function(row, values)


def rows_of(node: Node, frame: ProgramFrame) -> Iterator[tuple[Any, ...]]:
    """The rows of a query plan."""
    return program_of(node, frame.columns).rows(frame.activation, frame.values)

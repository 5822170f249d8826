"""The bridge between the engines: a plan node whose rows come from the vector engine.

:class:`VectorInput` stands in the place of a subtree.  Row operators read it like any other input; opened, it runs the subtree vectorised.  If
that ends by an exception, the same subtree starts over on the row engine in the same snapshot, and as many rows as were delivered already are
dropped: both engines deliver the same rows in the same order, so nobody notices but the clock.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.activation import Activation
from sqlvec.exec.row.program import program_of
from sqlvec.plan.physical import Node
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from sqlvec.exec.operators import Compiler


class VectorInput(Node):
    """``node`` run by the vector engine."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        super().__init__(node.columns)
        self.rows = node.rows
        self.node = node


restarts = 0
"""How many runs fell back to the row engine (tests look at it)."""


def open_vector(node: VectorInput, compiler: Compiler) -> Callable[[Any, Any], Iterator[tuple[Any, ...]]]:
    """The opener of a bridge."""
    inner = node.node

    def rows(activation: Activation, outer: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        global restarts
        context = activation.context
        count = 0
        try:
            for row in resolve("sqlvec.exec.vector.pipeline:open")(inner, context, Activation(context)):
                yield row
                count += 1
            return
        except (GeneratorExit, KeyboardInterrupt, errors.Interrupted):
            raise
        except Exception:
            if context.settings.engine == "vector-strict":
                raise
        restarts += 1
        again = program_of(inner).rows(Activation(context))
        for _ in range(count):
            next(again, None)
        yield from again

    return rows

"""Constant folding: sub-expressions of literals and deterministic functions become literals.

Folding never raises: what raises when it is evaluated stays as it is and raises when, and only when, the statement gets there.  Affinity, collation and
the explicit flag of the folded node are kept, since comparisons have been bound with them.  Functions that look at the connection (dates with their
clock) are left to the emitter, which evaluates them once per run.
"""
from __future__ import annotations

from sqlvec.expr import bound
from sqlvec.expr.compile import compile_value
from sqlvec.expr.emit import may_be_json, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.values.compare import Collations

_FOLDABLE = frozenset(("Unary", "Binary", "Compare", "RowCompare", "And", "Or", "IsNull", "IsTruth", "Between", "InList", "Case", "Cast", "Call"))


class _Constants:
    """All that a constant expression may look at."""

    parameters: tuple[Any, ...] = ()
    function_context = None

    def __init__(self, collations: Collations) -> None:
        self.collations = collations


def is_constant(node: Expression, known: dict[int, bool]) -> bool:
    """Only literals and deterministic built-in functions of them; ``known`` remembers the answers for the parts."""
    answer = known.get(id(node))
    if answer is not None:
        return answer
    name = type(node).__name__
    if name == "Literal":
        answer = True
    elif name not in _FOLDABLE or may_be_json(node):
        answer = False
    else:
        answer = True
        if name == "Call":
            function = node.function  # type: ignore[attr-defined]
            answer = function.builtin and function.deterministic and not function.context
        answer = answer and all(is_constant(part, known) for part in parts(node))
    known[id(node)] = answer
    return answer


def fold(expression: Expression, collations: Collations) -> Expression:
    """The expression with its constant parts evaluated; itself when there are none."""
    known: dict[int, bool] = {}
    context = _Constants(collations)

    def change(node: Expression) -> Expression | None:
        if type(node) is bound.Literal or not is_constant(node, known):
            return None
        try:
            value = compile_value(node, (), context)(())
        except Exception:
            return None
        literal = bound.Literal(value)
        literal.affinity, literal.collation, literal.explicit = node.affinity, node.collation, node.explicit
        return literal

    return expression.replace(change)

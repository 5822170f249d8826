"""Constant folding: what becomes a literal, what stays."""
from __future__ import annotations

from sqlvec.expr import bound
from sqlvec.expr.fold import fold
from sqlvec.functions.registry import FunctionRegistry, ScalarFunction
from sqlvec.values import storage
from sqlvec.values.compare import Collations

COLLATIONS = Collations()
REGISTRY = FunctionRegistry()


def call(name: str, *arguments: object) -> bound.Call:
    return bound.Call(REGISTRY.lookup(name, len(arguments)), tuple(bound.Literal(argument) for argument in arguments))


def test_constant_parts_become_literals() -> None:
    column = bound.Column(1, 0)
    product = bound.Binary("*", bound.Literal(6), bound.Literal(7))
    folded = fold(bound.Binary("+", column, product), COLLATIONS)
    assert folded == bound.Binary("+", column, bound.Literal(42))
    assert fold(call("upper", "abc"), COLLATIONS) == bound.Literal("ABC")
    assert fold(column, COLLATIONS) is column


def test_what_raises_stays() -> None:
    raising = call("abs", -(2**63))
    assert fold(raising, COLLATIONS) is raising
    node = bound.Binary("+", raising, bound.Binary("+", bound.Literal(1), bound.Literal(1)))
    assert fold(node, COLLATIONS) == bound.Binary("+", raising, bound.Literal(2))


def test_volatile_and_user_functions_stay() -> None:
    random = call("random")
    assert fold(random, COLLATIONS) is random
    mine = bound.Call(ScalarFunction("mine", 1, 1, lambda value: value, builtin=False), (bound.Literal(1),))
    assert fold(mine, COLLATIONS) is mine


def test_affinity_is_kept() -> None:
    folded = fold(bound.Cast(bound.Literal("12"), storage.INTEGER), COLLATIONS)
    assert (folded.value, folded.affinity) == (12, storage.INTEGER)

"""Emitted expressions: fast paths agree with the general functions; laziness, depth and names of generated code."""
from __future__ import annotations

import re

import pytest

from sqlvec.expr import bound, operations
from sqlvec.expr import compile as compile_module
from sqlvec.expr.compile import compile_condition, compile_expressions, compile_value
from sqlvec.expr.emit import DEPTH_LIMIT
from sqlvec.functions.registry import ScalarFunction
from sqlvec.values import storage
from sqlvec.values.compare import Collations


class Context:
    """The parts of a run context that expressions read."""

    def __init__(self, parameters: tuple = ()) -> None:
        self.collations = Collations()
        self.parameters = parameters
        self.function_context = None


VALUES = (None, -3, 0, 1, 2, 2**53 + 1, 9007199254740992.0, 0.5, -0.0, 2.0, float("inf"), "", "a", "A", "a ", "b", "10", "2", "é", b"", b"a", b"\xff")
LITERALS = (None, 0, 2, 2**53 + 1, 0.5, 2.0, "a", "A", "10", "é", b"a")
OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT")
GENERAL = {"=": operations.equal, "<>": operations.unequal, "<": operations.less, "<=": operations.less_equal, ">": operations.greater,
           ">=": operations.greater_equal, "IS": operations.same, "IS NOT": operations.distinct}


def column(number: int, affinity: str | None = None) -> bound.Column:
    return bound.Column(1, number, f"c{number}", affinity, "BINARY")


def state_value(state: bool | None) -> int | None:
    return None if state is None else int(state)


@pytest.mark.parametrize("collation", ["BINARY", "NOCASE", "RTRIM"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_comparison_of_columns_agrees_with_general_form(operator: str, collation: str) -> None:
    context = Context()
    found = context.collations.lookup(collation)
    for affinity in (None, storage.INTEGER, storage.REAL, storage.TEXT):
        left, right = column(0, affinity), column(1, affinity)
        node = bound.Compare(operator, left, right, None, collation)
        value = compile_value(node, (left, right), context)
        truth = compile_condition(node, (left, right), context)
        falsity = compile_condition(bound.Unary("NOT", node), (left, right), context)
        for a in VALUES:
            for b in VALUES:
                expected = GENERAL[operator](a, b, found)
                assert value((a, b)) == state_value(expected), (a, operator, b)
                assert bool(truth((a, b))) == (expected is True or expected == 1), (a, operator, b)
                assert bool(falsity((a, b))) == (expected is not None and not expected), (a, operator, b)


@pytest.mark.parametrize("operator", OPERATORS)
def test_comparison_with_literal_agrees_with_general_form(operator: str) -> None:
    context = Context()
    for collation in ("BINARY", "NOCASE"):
        found = context.collations.lookup(collation)
        for literal in LITERALS:
            left = column(0)
            for node, turn in ((bound.Compare(operator, left, bound.Literal(literal), None, collation), False),
                               (bound.Compare(operator, bound.Literal(literal), left, None, collation), True)):
                value = compile_value(node, (left,), context)
                truth = compile_condition(node, (left,), context)
                for a in VALUES:
                    expected = GENERAL[operator](*((literal, a) if turn else (a, literal)), found)
                    assert value((a,)) == state_value(expected), (a, operator, literal, turn)
                    assert bool(truth((a,))) == bool(expected), (a, operator, literal, turn)


@pytest.mark.parametrize(("applied", "convert"), [(storage.NUMERIC, operations.numeric_operand), (storage.TEXT, storage.to_text_affinity)])
def test_affinity_is_applied_to_both_sides(applied: str, convert: object) -> None:
    context = Context()
    left, right = column(0), column(1)
    value = compile_value(bound.Compare("=", left, right, applied), (left, right), context)
    for a in VALUES:
        for b in VALUES:
            assert value((a, b)) == state_value(operations.equal(convert(a), convert(b))), (a, b)  # type: ignore[operator]


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "%", "&", "|", "<<", ">>", "||"])
def test_arithmetic_fast_paths_agree_with_functions(operator: str) -> None:
    from sqlvec.expr.emit import _FUNCTION_OF
    from sqlvec.values import arithmetic

    general = getattr(arithmetic, _FUNCTION_OF[operator])
    context = Context()
    numbers = (None, 0, 1, -7, 2**63 - 1, -(2**63), 0.0, 2.5, float("inf"), float("-inf"), "3", "x", b"4")
    for affinity in (None, storage.INTEGER, storage.REAL):
        left, right = column(0, affinity), column(1, affinity)
        value = compile_value(bound.Binary(operator, left, right), (left, right), context)
        for a in numbers:
            for literal in (1, -1, 2.5, 3):
                with_literal = compile_value(bound.Binary(operator, left, bound.Literal(literal)), (left,), context)
                assert repr(with_literal((a,))) == repr(general(a, literal)), (a, operator, literal)
            for b in numbers:
                assert repr(value((a, b))) == repr(general(a, b)), (a, operator, b)


def counting(calls: list, name: str = "probe", **flags: object) -> ScalarFunction:
    def probe(value: object) -> object:
        calls.append(value)
        return value

    return ScalarFunction(name, 1, 1, probe, may_raise=True, builtin=False, **flags)  # type: ignore[arg-type]


def test_between_evaluates_its_operand_once() -> None:
    calls: list = []
    operand = bound.Call(counting(calls), (column(0),))
    node = bound.Between(operand, bound.Compare(">=", operand, bound.Literal(1)), bound.Compare("<=", operand, bound.Literal(5)), False)
    value = compile_value(node, (column(0),), Context())
    assert value((3,)) == 1
    assert calls == [3]
    assert compile_condition(node, (column(0),), Context())((9,)) is False
    assert calls == [3, 9]


def test_case_and_coalesce_stop_early_and_value_and_does_not() -> None:
    calls: list = []
    function = counting(calls)
    layout = (column(0), column(1))
    call0, call1 = (bound.Call(function, (part,)) for part in layout)
    case = bound.Case(None, (call0,), (bound.Literal("yes"),), call1)
    assert compile_value(case, layout, Context())((1, 2)) == "yes"
    assert calls == [1]
    calls.clear()
    assert compile_value(bound.And((call0, call1)), layout, Context())((0, 7)) == 0
    assert calls == [0, 7]
    calls.clear()
    assert not compile_condition(bound.And((call0, call1)), layout, Context())((0, 7))
    assert calls == [0]


def test_simple_case_evaluates_its_base_once() -> None:
    calls: list = []
    base = bound.Call(counting(calls), (column(0),))
    for count in (3, 40):
        whens = tuple(bound.Compare("=", base, bound.Literal(number)) for number in range(count))
        case = bound.Case(base, whens, tuple(bound.Literal(f"n{number}") for number in range(count)), None)
        value = compile_value(case, (column(0),), Context())
        calls.clear()
        assert value((2,)) == "n2"
        assert value((count + 1,)) is None
        assert calls == [2, count + 1]


@pytest.mark.parametrize("operator", ["+", "||"])
def test_expressions_a_thousand_deep(operator: str) -> None:
    node: bound.Expression = column(0)
    for _ in range(1000):
        node = bound.Binary(operator, node, bound.Literal(1))
    assert compile_value(node, (column(0),), Context())((5,)) == (1005 if operator == "+" else "5" + "1" * 1000)


def test_deep_nesting_of_between_is_not_exponential() -> None:
    node: bound.Expression = column(0)
    for _ in range(200):
        node = bound.Between(node, bound.Compare(">=", node, bound.Literal(0)), bound.Compare("<=", node, bound.Literal(1)), False)
    assert compile_value(node, (column(0),), Context())((7,)) == 1        # 7 -> 0 -> 1 -> 1 ...
    assert DEPTH_LIMIT < 40


def test_no_text_of_the_user_in_generated_source() -> None:
    secret = "text'); raise SystemExit  # "
    compile_module.listing = []
    try:
        left = column(0)
        left.name = secret
        nodes = (bound.Compare("=", left, bound.Literal(secret)), bound.Binary("||", left, bound.Literal(secret)),
                 bound.InList(left, (bound.Literal(secret), bound.Literal(None)), False, None, "BINARY"))
        assert compile_expressions(nodes, (left,), Context())((secret,)) == (1, secret + secret, 1)
        source = "\n".join(compile_module.listing)
    finally:
        compile_module.listing = None
    assert source
    assert not re.search("SystemExit|raise", source)


def test_in_list_three_valued() -> None:
    context = Context((3,))
    left = column(0)
    items = (bound.Literal(1), bound.Parameter(1), bound.Literal(None))
    for negated in (False, True):
        value = compile_value(bound.InList(left, items, negated, None, "BINARY"), (left,), context)
        assert [value((a,)) for a in (1, 3, 3.0, 2, None)] == ([0, 0, 0, None, None] if negated else [1, 1, 1, None, None])
        empty = compile_value(bound.InList(left, (), negated, None, "BINARY"), (left,), context)
        assert [empty((a,)) for a in (1, None)] == [int(negated)] * 2


def test_row_values() -> None:
    left = tuple(column(number) for number in range(4))
    pairs = (bound.Compare("=", left[0], left[2]), bound.Compare("=", left[1], left[3]))
    rows = ((1, 2, 1, 2), (1, 2, 1, None), (1, 2, 2, None), (1, None, 2, 1), (None, 1, None, 1))
    expected = {"=": [1, None, 0, 0, None], "<": [0, None, 1, 1, None], ">=": [1, None, 0, 0, None], "IS": [1, 0, 0, 0, 1]}
    for operator, results in expected.items():
        value = compile_value(bound.RowCompare(operator, pairs), left, Context())
        assert [value(row) for row in rows] == results, operator


def test_outer_values_and_parameters() -> None:
    inner, outer = column(0), bound.Column(7, 3, "o")
    nodes = (bound.Binary("+", inner, outer), bound.Parameter(2), bound.Parameter(9))
    function = compile_expressions(nodes, (inner,), Context(("p", "q")), (outer,))
    assert function((1,), (41,)) == (42, "q", None)


def test_a_set_of_expressions_is_compiled_once() -> None:
    context = Context()
    nodes = (bound.Binary("+", column(0), bound.Literal(1)),)
    compile_module.listing = []
    try:
        first = compile_expressions(nodes, (column(0),), context)
        second = compile_expressions(nodes, (column(0),), context)
        assert first((1,)) == second((1,)) == (2,)
        assert len(compile_module.listing) == 1
    finally:
        compile_module.listing = None

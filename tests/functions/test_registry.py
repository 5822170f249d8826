"""Look-up of functions, user functions, aggregates."""
from __future__ import annotations

import pytest

from sqlvec import errors
from sqlvec.functions import aggregate, window
from sqlvec.functions.builtin_table import ROWS
from sqlvec.functions.registry import DETERMINISTIC, FunctionRegistry


def test_every_builtin_function_resolves() -> None:
    registry = FunctionRegistry()
    for name, rows in ROWS.items():
        for low, _, _, words in rows:
            entry = registry.lookup(name.upper(), low)
            if "aggregate" in words:
                assert callable(entry.start), name
            elif words != "window":
                assert callable(entry.call), name


def test_wrong_count_is_not_unknown() -> None:
    registry = FunctionRegistry()
    assert registry.lookup("abs", 2) is None and registry.knows("ABS")
    assert registry.lookup("nope", 1) is None and not registry.knows("nope")
    assert registry.lookup("max", 1).is_aggregate and not registry.lookup("max", 2).is_aggregate


def test_user_function_hides_and_uncovers() -> None:
    registry = FunctionRegistry()
    before = registry.generation
    registry.define_scalar("ABS", 1, lambda value: "mine", DETERMINISTIC)
    assert registry.lookup("abs", 1).call(-1) == "mine"
    assert registry.lookup("abs", 1).deterministic
    registry.define_scalar("any", -1, lambda *values: len(values))
    assert registry.lookup("any", 7).call(*range(7)) == 7
    registry.define_scalar("abs", 1, None)
    assert registry.lookup("abs", 1).call(-1) == 1
    assert registry.generation > before


def test_case_sensitive_like() -> None:
    registry = FunctionRegistry()
    assert registry.lookup("like", 2).call("A%", "abc") == 1
    registry.set_case_sensitive_like(True)
    assert registry.lookup("like", 2).call("A%", "abc") == 0
    registry.set_case_sensitive_like(False)
    assert registry.lookup("like", 2).call("A%", "abc") == 1


def run(state: object, *rows: tuple[object, ...]) -> object:
    for row in rows:
        state.step(*row)  # type: ignore[attr-defined]
    return state.value()  # type: ignore[attr-defined]


def test_sum_classes() -> None:
    assert run(aggregate.Sum()) is None
    assert repr(run(aggregate.Sum(), ("1",), (2,))) == "3"
    assert repr(run(aggregate.Sum(), (1,), (2.0,))) == "3.0"
    assert repr(run(aggregate.Sum(), ("abc",), (None,))) == "0.0"
    with pytest.raises(errors.SqlError, match="integer overflow"):
        run(aggregate.Sum(), (2**63 - 1,), (1,))
    assert repr(run(aggregate.Sum(), (1.0,), (2**63 - 1,), (2**63 - 1,))) == "1.8446744073709552e+19"
    assert repr(run(aggregate.Total())) == "0.0"
    assert run(aggregate.Average(), (1,), (2,), (None,)) == 1.5


def test_sum_is_naive_left_to_right() -> None:
    total = 0.0
    for _ in range(1000):
        total += 0.1
    assert run(aggregate.Sum(), *[(0.1,)] * 1000) == total


def test_group_concat() -> None:
    assert run(aggregate.GroupConcat()) is None
    assert run(aggregate.GroupConcat(), ("a",), (None,), (1.0,)) == "a,1.0"
    assert run(aggregate.GroupConcat(), ("a", "x"), ("b", "-"), ("c", None)) == "a-bc"
    state = aggregate.GroupConcat()
    for value in "abc":
        state.step(value, "-")
    state.inverse("a", "-")
    assert state.value() == "b-c"


def test_extremes_keep_the_first() -> None:
    assert repr(run(aggregate.Maximum(), (1,), (2,), (2.0,))) == "2"
    assert repr(run(aggregate.Minimum(), (3,), (None,), (1,), (1.0,))) == "1"


def test_ntile() -> None:
    assert [window.ntile_bucket(row, 7, 3) for row in range(7)] == [1, 1, 1, 2, 2, 3, 3]
    assert [window.ntile_bucket(row, 2, 5) for row in range(2)] == [1, 2]
    with pytest.raises(errors.SqlError, match="argument of ntile must be a positive integer"):
        window.ntile_count(0)

"""Every physical node has a row operator, every access path a loop."""
from __future__ import annotations

import inspect

from sqlvec.exec.operators import OPERATORS, WRITERS
from sqlvec.exec.row.scan import LOOPS
from sqlvec.expr import bound, emit
from sqlvec.plan import physical, physical_dml
from sqlvec.resolve import resolve


def subclasses(module: object, base: type) -> set[str]:
    return {name for name, found in vars(module).items() if inspect.isclass(found) and issubclass(found, base) and found is not base}


def test_every_node_has_an_operator() -> None:
    reading = subclasses(physical, physical.Node)
    writing = {name for name in subclasses(physical_dml, physical.Node) - reading if name in WRITERS}
    assert reading <= set(OPERATORS)
    assert writing == set(WRITERS)
    for target in OPERATORS.values():
        assert callable(resolve(target))


def test_every_path_has_a_loop() -> None:
    assert subclasses(physical, physical.Path) == set(LOOPS)
    for target in LOOPS.values():
        assert inspect.isclass(resolve(target))


def test_every_expression_is_emitted() -> None:
    replaced_by_lowering = {"AggregateCall", "WindowCall", "FixedColumn"}
    assert subclasses(bound, bound.Expression) - replaced_by_lowering == set(emit.VALUE)

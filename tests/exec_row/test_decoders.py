"""Prefix decoders give what whole-header decoders give, for every way that a payload can be met."""
from __future__ import annotations

import random

import pytest

from sqlvec.pages import record


def any_value(chance: random.Random) -> object:
    kind = chance.randrange(9)
    if kind < 3:
        return (None, 0, 1)[kind]
    text = "x" * chance.choice((0, 1, 5, 57, 58, 60, 200)) + "é" * chance.randint(0, 2)
    return (chance.randint(-200, 200), chance.randint(-(2**40), 2**40), chance.random() * 10 ** chance.randint(-3, 9), text,
            bytes(chance.randint(0, 70)), chance.randint(-(2**63), 2**63 - 1))[kind - 3]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
@pytest.mark.parametrize("shapes", [0, 3, 2000])
def test_prefix_shapes(monkeypatch: pytest.MonkeyPatch, encoding: str, shapes: int) -> None:
    monkeypatch.setattr(record.PrefixShapes, "SHAPES", shapes)
    chance = random.Random(shapes)
    for _ in range(40):
        count = chance.randint(1, 12)
        columns = tuple(chance.sample(range(count + 2), chance.randint(1, count)))
        real = frozenset(column for column in columns if chance.random() < 0.2)
        defaults = {column: f"default {column}" for column in columns if chance.random() < 0.3}
        decoders = record.PrefixShapes(columns, encoding, real, defaults)
        rows = [tuple(any_value(chance) for _ in range(chance.choice((count, count, max(1, count - 2))))) for _ in range(12)]
        for _ in range(50):
            row = chance.choice(rows)
            payload = record.encode(row, encoding)  # type: ignore[arg-type]
            expected = []
            for column in columns:
                value = row[column] if column < len(row) else defaults.get(column)
                expected.append(float(value) if column in real and type(value) is int else value)
            assert repr(tuple(expected)) == repr(decoders[payload[: decoders.width]](payload))


@pytest.mark.parametrize("shapes", [0, 2000])
def test_short_payload_raises(monkeypatch: pytest.MonkeyPatch, shapes: int) -> None:
    monkeypatch.setattr(record.PrefixShapes, "SHAPES", shapes)
    for row in ((1, "some text", 2.5), (300, "x" * 100, b"blob")):
        payload = record.encode(row)
        decoders = record.PrefixShapes((0, 1, 2))
        for _ in range(3):
            decoders[payload[: decoders.width]](payload)
            with pytest.raises(record.DAMAGE):
                decoders[payload[: decoders.width]](payload[:-1])

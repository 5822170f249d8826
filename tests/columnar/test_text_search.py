"""odd_rows, begin_with and places_of against Python's own string methods."""
from __future__ import annotations

import random

from sqlvec.columnar.kernels.text import begin_with, odd_rows, places_of
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import from_values


def test_odd_rows() -> None:
    source = random.Random(5)
    values = ["", "a", "\0", "é", "a\0", "abcdefg\0", "abcdefgh", "abcdefghé"]
    for _ in range(3000):
        length = source.randrange(0, 30)
        values.append("".join(source.choice("abcdefgh\x01\x7f" if source.random() < 0.98 else "\0é\x80") for _ in range(length)))
    vector = from_values(values)
    assert odd_rows(vector).tolist() == [row for row, value in enumerate(values) if not value.isascii() or "\0" in value]
    for size in range(1, 40):
        same = from_values(["b" * size, "b" * (size - 1) + "\0", "\x7f" * size, "\0" + "b" * (size - 1), "c" * size])
        same.length = size
        assert odd_rows(same).tolist() == [1, 3]


def test_begin_with() -> None:
    source = random.Random(7)
    values = ["".join(source.choice("aAbB1") for _ in range(source.randrange(0, 22))) for _ in range(3000)]
    vector = from_values(values)
    same = from_values([value for value in values if len(value) == 9])
    same.length = 9
    for piece in ("a", "ab", "1b1", "abababab", "aabbaabba", "b" * 17, *(value for value in values[:40] if value)):
        assert begin_with(vector, piece.lower().encode(), True).tolist() == [value.lower().startswith(piece.lower()) for value in values]
        assert begin_with(vector, piece.encode(), False).tolist() == [value.startswith(piece) for value in values]
        assert begin_with(same, piece.encode(), False).tolist() == [value.startswith(piece) for value in values if len(value) == 9]


def test_places_of() -> None:
    source = random.Random(6)
    text = "".join(source.choice("aAbB7{[") for _ in range(5000)).encode()
    heap = np.frombuffer(text, np.uint8)
    for piece in (b"a", b"ab", b"7a", b"77", b"abb", b"{a", b"[", b"[a"):
        expected = [at for at in range(100, 4000 - len(piece) + 1) if text[at:at + len(piece)].lower() == piece]
        assert places_of(heap, 100, 4000, piece).tolist() == expected
    assert places_of(heap, 100, 102, b"aaa").tolist() == []


def test_from_values_with_nulls() -> None:
    for values in ([None, 5, 0, -(2**63)], [None, "", "x", "\udc80", "é" * 9], ["a"], ["", ""], [None, 1.5, 2]):
        assert from_values(values).values() == values

"""odd_texts and places_of against Python's own string methods."""
from __future__ import annotations

import random

from sqlvec.columnar.kernels.text import odd_texts, places_of
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import from_values


def test_odd_texts() -> None:
    source = random.Random(5)
    values = ["", "a", "\0", "é", "a\0", "abcdefg\0", "abcdefgh", "abcdefghé"]
    for _ in range(3000):
        length = source.randrange(0, 30)
        values.append("".join(source.choice("abcdefgh\x01\x7f" if source.random() < 0.98 else "\0é\x80") for _ in range(length)))
    vector = from_values(values)
    assert odd_texts(vector).tolist() == [not value.isascii() or "\0" in value for value in values]
    same = from_values(["abcdefghij", "abcdefghi\0", "abcdefg\0ij"])
    same.length = 10
    assert odd_texts(same).tolist() == [False, True, True]


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

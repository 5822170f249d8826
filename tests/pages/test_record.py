"""Records: the exact bytes of the format, decoding by shape, damage."""
from __future__ import annotations

import math
import random

import pytest

from sqlvec import errors
from sqlvec.pages import record
from sqlvec.pages.key_layout import KeyLayout, Probe

VALUES = (None, 0, 1, -1, 127, 128, -128, -129, 32767, -32769, 8388607, -8388609, 2147483647, -2147483649, 140737488355327, -140737488355329)


@pytest.mark.parametrize(
    ("values", "encoding", "expected"),
    [
        ((1, 1), "utf-8", "030909"),
        ((2.0, 2), "utf-8", "0307014000000000000000" + "02"),
        (("x", 3), "utf-8", "030f017803"),
        (("hé", -300), "utf-16-le", "0315026800e900fed4"),
        ((None, 0, 1), "utf-8", "04000809"),
    ],
)
def test_bytes(values, encoding, expected):
    assert expected == record.encode(values, encoding).hex()


def test_format_one_has_no_types_without_body():
    assert "030101" + "0001" == record.encode((0, 1), "utf-8", 1).hex()


def test_nan_is_null():
    assert (None,) == record.decode(record.encode((math.nan,)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_round_trip(encoding):
    random_source = random.Random(1)
    pool = [*VALUES, -(1 << 63), (1 << 63) - 1, 1.5, -0.1, "", "abc", "é€😀", b"", b"\0\xff", "y" * 200, b"z" * 9000]
    for size in (1, 2, 5, 20, 63, 64, 130, 300):
        values = tuple(random_source.choice(pool) for _ in range(size))
        assert values == record.decode(record.encode(values, encoding), encoding)


def test_invalid_text_is_kept():
    payload = bytes.fromhex("0211ff61")
    payload = b"\x02\x11\xff\x61"
    (value,) = record.decode(payload)
    assert payload == record.encode((value,))


def test_projection_order_defaults_and_reals():
    project = record.projector((3, 0, 2, 0), real_columns=frozenset({0}), defaults={3: "later"})
    assert ("later", 7.0, "c", 7.0) == project(record.encode((7, b"b", "c")))
    assert (4, 0.0, None, 0.0) == project(record.encode((0, 1, None, 4)))


def test_integer_form():
    assert [5, 0, 140737488355327, 140737488355328.0, 0.5] == [
        record.integer_form(value) for value in (5.0, -0.0, 140737488355327.0, 140737488355328.0, 0.5)
    ]


@pytest.mark.parametrize("payload", ["05", "0511", "0306", "020d" + "", "0217", "03ff"])
def test_damage_is_corruption(payload):
    data = bytes.fromhex(payload)
    if payload == "020d":
        assert ("",) == record.decode(data)
        return
    with pytest.raises(errors.SqlError) as caught:
        record.projector((0, 1, 2))(data)
        record.decode(data)
    assert errors.CORRUPT == caught.value.code


def test_records_without_values():
    for data in (b"", b"\0", b"\0zz"):
        assert (None, 4) == record.projector((0, 1), defaults={1: 4})(data)
        assert () == record.decode(data)


def test_comparison_reads_as_far_as_it_must():
    layout = KeyLayout(2)
    whole = record.encode(("b", "text"))
    cut = whole[:-1]
    tree_like = layout.key_fields(cut, 2)
    assert tree_like[0] == "b"
    assert Probe(layout, ("c",), False).is_behind(tree_like)
    assert not Probe(layout, ("a", "text"), False).is_behind(tree_like)
    with pytest.raises(IndexError):
        Probe(layout, ("b", "text"), False).is_behind(tree_like)


def test_varints():
    for value in (0, 127, 128, 16383, 16384, 2**21 - 1, 2**56 - 1, 2**56, 2**64 - 1):
        data = record.put_varint(value)
        assert (value, len(data)) == record.get_varint(data, 0)
        assert len(data) == record.varint_size(value)
    assert "81" + "00" == record.put_varint(128).hex()
    assert "ff" * 9 == record.put_varint(-1).hex()

"""Text that is no valid UTF-8, kept byte for byte."""
from __future__ import annotations

import pytest

from sqlvec.values import text
from sqlvec.values.arithmetic import concat
from sqlvec.values.compare import BINARY, compare


@pytest.fixture(autouse=True)
def restore_flag() -> object:
    before = text.invalid_text_seen
    yield None
    text.invalid_text_seen = before


@pytest.mark.parametrize("data", [b"", b"abc", "é".encode(), b"\xff", b"\xc3", b"a\xed\xa0\x80b", b"\xf0\x9f\x98", bytes(range(256))])
def test_round_trip(data: bytes) -> None:
    assert data == text.encode(text.decode(data))


def test_joining_bytes_makes_a_character() -> None:
    first, second = text.decode(b"\xc3"), text.decode(b"\xa9")
    assert concat(first, second) == "é"


def test_order_is_by_bytes() -> None:
    invalid = text.decode(b"\xff")
    assert compare("\U0001f600", invalid) == -1
    assert BINARY.key("\U0001f600") < BINARY.key(invalid)
    assert BINARY.key("\ue000") < BINARY.key(invalid)
    assert compare(text.decode(b"\x80"), "é") == -1
    assert BINARY.key(text.decode(b"\x80")) < BINARY.key("é")


def test_length_counts_lead_bytes() -> None:
    assert text.length(text.decode(b"\xc3\xa9\xa9")) == 1
    assert text.length(text.decode(b"\xa9\xa9")) == 2
    assert text.length("ab\0cd") == 2


def test_folding_is_ascii_only() -> None:
    assert text.lower("ÀBC\u212a") == "Àbc\u212a"
    assert text.upper("éab") == "éAB"


@pytest.mark.parametrize(("encoding", "data"), [(text.UTF16LE, b"a\0\xe9\0"), (text.UTF16BE, b"\0a\0\xe9")])
def test_utf16(encoding: int, data: bytes) -> None:
    assert text.decode(data, encoding) == "aé"
    assert text.encode("aé", encoding) == data


def test_lone_surrogate_is_three_bytes() -> None:
    assert text.encode(text.decode(b"\x00\xd8", text.UTF16LE)) == b"\xed\xa0\x80"
    assert text.encode(text.from_code_point(0xD800)) == b"\xed\xa0\x80"
    assert text.encode(text.adopt("\ud800")) == b"\xed\xa0\x80"

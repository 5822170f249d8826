"""Values and a connection to the real engine, shared by the differential tests of values and functions."""
from __future__ import annotations

import random
import sqlite3
import struct

import pytest

from sqlvec.values.text import decode

INTEGERS = [0, 1, -1, 2, 3, 10, 63, 64, 65, -63, -64, -65, 2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, 10**18]
REALS = [0.0, -0.0, 0.5, 1.0, -1.5, 2.5, 2.675, 1.005, 1e15, 1e16, 2.0**51, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 1e19, 1e300, -1e300,
         float("inf"), float("-inf"), 1e-5, 123.456, 0.1, 1 / 3]
TEXTS = ["", "a", "abc", "ABC", " 5", "5 ", "5a", "1e5", "1e400", "-1e400", ".5", "5.", "1e", "+7", "-", "0x10", "1.0",
         "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e18", "1e15", "1e16", "inf", "a  ", "123.0", "\t12\n",
         "1_0", "é", "1.5abc", "0.5", "99999999999999999999999", " ", "+", "-0", "-0.0", "00012", "it's", "a\0b", "日本語"]
BLOBS = [b"", b"5", b"abc", b"1e5", b"12abc", b"a\0b", b"1.5"]


def real_connection() -> sqlite3.Connection:
    """An in-memory database of the real engine; skips where it is another version."""
    if sqlite3.sqlite_version != "3.40.1":
        pytest.skip(f"the oracle must be SQLite 3.40.1, here it is {sqlite3.sqlite_version}")
    connection = sqlite3.connect(":memory:")
    connection.text_factory = decode
    return connection


def random_real(rng: random.Random) -> float:
    kind = rng.random()
    if kind < 0.3:
        value = struct.unpack("d", rng.randbytes(8))[0]
        return value if value - value == 0.0 else 1.5
    if kind < 0.6:
        return round(rng.uniform(-1e6, 1e6), rng.randint(0, 6))
    return rng.uniform(-1, 1) * 10 ** rng.randint(-20, 20)


def random_value(rng: random.Random) -> int | float | str | bytes | None:
    kind = rng.random()
    if kind < 0.05:
        return None
    if kind < 0.3:
        return rng.choice(INTEGERS) if rng.random() < 0.7 else rng.randint(-(10**18), 10**18)
    if kind < 0.55:
        return rng.choice(REALS) if rng.random() < 0.7 else random_real(rng)
    if kind < 0.85:
        return rng.choice(TEXTS) if rng.random() < 0.7 else repr(random_real(rng))
    return rng.choice(BLOBS)


def same(left: object, right: object) -> bool:
    """Equal in class and value, the sign of zero included."""
    return type(left) is type(right) and repr(left) == repr(right)

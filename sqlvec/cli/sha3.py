"""sha3(X, size) and sha3_query(SQL, size): hashes of a value and of a query's result.

The hash of a result runs over ``S<n>:<sql>`` for each statement, ``R`` for each row, and for each value ``N``, ``I`` or ``F`` with eight
bytes, ``T<n>:`` or ``B<n>:`` with the content.
"""
from __future__ import annotations

import struct

from sqlvec import errors
from sqlvec.cli.output import encode
from sqlvec.cli.shell import text_of
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SIZES = (224, 256, 384, 512)


def _hash(size: Any) -> Any:
    bits = resolve("sqlvec.values.arithmetic:cast_to_integer_operand")(size)
    if bits not in _SIZES:
        raise errors.plain("SHA3 size should be one of: 224 256 384 512")
    return resolve(f"hashlib:sha3_{bits}")()


def sha3(value: Any, size: Any = 256) -> bytes | None:
    state = _hash(size)
    if value is None:
        return None
    state.update(value if isinstance(value, bytes) else encode(value if isinstance(value, str) else text_of(value)))
    digest: bytes = state.digest()
    return digest


def sha3_query(context: Any, sql: Any, size: Any = 256) -> bytes | None:
    state = _hash(size)
    if sql is None:
        return None
    for text, rows in _results(context, str(sql)):
        data = encode(text)
        state.update(b"S%d:%b" % (len(data), data))
        for row in rows:
            state.update(b"R")
            for value in row:
                state.update(_token(value))
    digest: bytes = state.digest()
    return digest


def _results(context: Any, sql: str) -> Any:
    """Each statement's text and rows."""
    position = 0
    while True:
        tree, end = resolve("sqlvec.parse.parser:parse_statement")(sql, position)
        if tree is None:
            return
        text = sql[position:end]
        yield text, context.run_sql(text)
        position = end


def _token(value: Any) -> bytes:
    if value is None:
        return b"N"
    if isinstance(value, int):
        return b"I" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"F" + struct.pack(">d", value)
    data = value if isinstance(value, bytes) else encode(value)
    return b"%b%d:%b" % (b"B" if isinstance(value, bytes) else b"T", len(data), data)

"""Records: the serialised form of a row or of an index entry (file format, section 2.1 "Record Format").

A record is a header (its own length as a varint, then one serial type per value) and the value bodies.  Encoding chooses the
smallest integer form, the body-less types 8 and 9 for 0 and 1 (schema format 4), and stores NaN as NULL.

Decoding is built around one observation: rows of a table share few *header shapes*, and everything but the bodies is fixed by the
shape.  :class:`RowShapes` is a dictionary from header bytes to a decoder of the wanted columns.  A decoder is a single
``Struct.unpack_from`` where all wanted values are plain integers or doubles, and otherwise a small generated function, compiled once
per *signature* (the kinds of the wanted values; text lengths don't matter), that unpacks and converts.  A scan loop fuses with it::

    shapes = RowShapes((0, 3, 7), 'utf-8', real_columns=frozenset({7}))
    for block in tree.blocks():
        for rowid, payload in block:
            c0, c3, c7 = shapes[payload[:payload[0]]](payload)

``payload`` must be ``bytes``.  Headers longer than 127 bytes go the same way (the entry found is a decoder that reads the true
header).  A damaged payload raises ``struct.error``, ``IndexError`` or ``ValueError`` out of such a loop: whoever fuses maps these three to
``errors.corrupt()``; :func:`projector` and :func:`decode` do so themselves.

Text is made by ``str(body, 'utf-8')``; bytes that aren't valid UTF-8 take the road through ``values.text``.
"""
from __future__ import annotations

from struct import Struct
from struct import error as StructError

from sqlvec import errors
from sqlvec.values import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Value = int | float | str | bytes | None

DAMAGE = (StructError, IndexError, ValueError)
"""What reading a damaged record raises inside a fused loop."""

ENCODING_NUMBERS = {"utf-8": 1, "utf-16-le": 2, "utf-16-be": 3}
ENCODING_NAMES = {1: "utf-8", 2: "utf-16-le", 3: "utf-16-be"}

_DOUBLE = Struct(">d")
_pack_double = _DOUBLE.pack
_ONE_BYTE = [bytes(((value + 256) & 255,)) for value in range(-128, 128)]
_EXACT_REAL_LIMIT = float(1 << 47)


# --- varints -----------------------------------------------------------------------------------------------------------------------


def put_varint(value: int) -> bytes:
    """The 1 to 9 byte varint of a 64-bit integer (negative ones take nine bytes)."""
    if 0 <= value < 128:
        return bytes((value,))
    if 0 <= value < 16384:
        return bytes((value >> 7 | 128, value & 127))
    value &= 0xFFFFFFFFFFFFFFFF
    if value >> 56:
        out = [value & 255]
        value >>= 8
        for _ in range(8):
            out.append(value & 127 | 128)
            value >>= 7
        out.reverse()
        return bytes(out)
    out = [value & 127]
    value >>= 7
    while value:
        out.append(value & 127 | 128)
        value >>= 7
    out.reverse()
    return bytes(out)


def get_varint(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """Read a varint as an unsigned 64-bit number; returns it and the offset behind it (IndexError past the end)."""
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    value = byte & 127
    for index in range(at + 1, at + 8):
        byte = data[index]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, index + 1
    return value << 8 | data[at + 8], at + 9


def varint_size(value: int) -> int:
    """Number of bytes that ``put_varint`` makes."""
    if value < 0:
        return 9
    return min(9, (max(value.bit_length(), 1) + 6) // 7)


# --- encoding ----------------------------------------------------------------------------------------------------------------------


def integer_form(value: float) -> int | float:
    """How a REAL-affinity column stores a number: integral values of magnitude below 2**47 become integers."""
    if -_EXACT_REAL_LIMIT < value < _EXACT_REAL_LIMIT and value == int(value):
        return int(value)
    return value


def encode_text(value: str, encoding: str) -> bytes:
    """Text to stored bytes."""
    try:
        return value.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(value, ENCODING_NUMBERS[encoding])


def _integer_body(value: int) -> tuple[int, bytes]:
    if -32768 <= value <= 32767:
        return 2, value.to_bytes(2, "big", signed=True)
    if -8388608 <= value <= 8388607:
        return 3, value.to_bytes(3, "big", signed=True)
    if -2147483648 <= value <= 2147483647:
        return 4, value.to_bytes(4, "big", signed=True)
    if -140737488355328 <= value <= 140737488355327:
        return 5, value.to_bytes(6, "big", signed=True)
    return 6, value.to_bytes(8, "big", signed=True)


def encode(values: tuple[Value, ...], encoding: str = "utf-8", schema_format: int = 4) -> bytes:
    """The record of ``values``.  REAL-affinity columns must have gone through :func:`integer_form` before."""
    header = bytearray(1)
    bodies = [b""]
    for value in values:
        kind = type(value)
        if kind is int:
            if -128 <= value <= 127:  # type: ignore[operator]
                if (value == 0 or value == 1) and schema_format >= 4:
                    header.append(8 + value)  # type: ignore[operator,arg-type]
                else:
                    header.append(1)
                    bodies.append(_ONE_BYTE[value + 128])  # type: ignore[operator,index]
            else:
                serial, body = _integer_body(value)  # type: ignore[arg-type]
                header.append(serial)
                bodies.append(body)
        elif value is None:
            header.append(0)
        elif kind is str or isinstance(value, str):
            body = value.encode() if encoding == "utf-8" and value.isascii() else encode_text(value, encoding)  # type: ignore[union-attr,arg-type]
            serial = len(body) * 2 + 13
            if serial < 128:
                header.append(serial)
            else:
                header += put_varint(serial)
            bodies.append(body)
        elif kind is float:
            if value == value:
                header.append(7)
                bodies.append(_pack_double(value))
            else:
                header.append(0)
        elif kind is bytes:
            serial = len(value) * 2 + 12  # type: ignore[arg-type]
            if serial < 128:
                header.append(serial)
            else:
                header += put_varint(serial)
            bodies.append(value)  # type: ignore[arg-type]
        else:
            return encode(tuple(_plain(item) for item in values), encoding, schema_format)
    size = len(header)
    if size < 128:
        header[0] = size
        bodies[0] = bytes(header)
    else:
        # the length of the length counts too
        size += 1 if size < 127 else varint_size(size + 1) - 1
        bodies[0] = put_varint(size) + header[1:]
    return b"".join(bodies)


def _plain(value: Any) -> Value:
    """Unusual Python types to one of the five value classes (bool, bytearray, memoryview, subclasses)."""
    if value is None or type(value) in (int, float, str, bytes):
        return value  # type: ignore[no-any-return]
    for base in (int, float, str):
        if isinstance(value, base):
            return base(value)
    return bytes(value)


# --- text --------------------------------------------------------------------------------------------------------------------------


def decode_text(body: bytes, encoding: str) -> str:
    """Stored bytes to text; ill-formed ones are kept as ``values.text`` prescribes."""
    return text.decode(body, ENCODING_NUMBERS[encoding])


def _utf16_decoder(encoding: str) -> Callable[[bytes], str]:
    def text_of(body: bytes) -> str:
        try:
            return str(body, encoding)
        except UnicodeDecodeError:
            return decode_text(body, encoding)

    return text_of


# --- shapes ------------------------------------------------------------------------------------------------------------------------

# kind of a value in a signature -> (struct codes, source of its value from the unpacked names a0, a1 ..)
# N null, Z zero, O one, b h i q integers of 1 2 4 8 bytes, m 3 bytes, w 6 bytes, d double, t text, x blob, D default
_SIMPLE = {"b": "b", "h": "h", "i": "i", "q": "q", "d": "d"}
_INTEGER_KIND = ("N", "b", "h", "m", "i", "w", "q", "d", "Z", "O")
_INTEGER_SIZE = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
_signatures: dict[tuple[str, str], Any] = {}
_SIGNATURE_LIMIT = 2000


def serial_types(header: bytes) -> list[int]:
    """The serial types in a record header (its length varint included in ``header``)."""
    end, at = get_varint(header, 0)
    if end > len(header):
        raise IndexError
    if len(header) < 128 and header[at:].isascii():
        return list(header[at:end])
    types = []
    while at < end:
        serial, at = get_varint(header, at)
        types.append(serial)
    if at != end:
        raise IndexError
    return types


def serial_size(serial: int) -> int:
    """Bytes of the body that a serial type announces (types 10 and 11 are reserved: nothing)."""
    if serial >= 12:
        return (serial - 12) >> 1
    return _INTEGER_SIZE[serial] if serial < 10 else 0


class ColumnSpan:
    """Where one value of a shape lies: ``kind`` letter, ``offset`` in the payload and ``size``."""

    __slots__ = ("kind", "offset", "size")

    def __init__(self, kind: str, offset: int, size: int) -> None:
        self.kind = kind
        self.offset = offset
        self.size = size


def shape_spans(header: bytes) -> list[ColumnSpan]:
    """All values of a header shape in record order (kinds: see the table above; for readers that gather columns themselves)."""
    return spans_of(get_varint(header, 0)[0], serial_types(header))


def spans_of(offset: int, types: list[int] | bytes) -> list[ColumnSpan]:
    """Where values of these serial types lie when the first one begins at ``offset``."""
    spans = []
    for serial in types:
        if serial >= 12:
            size = (serial - 12) >> 1
            spans.append(ColumnSpan("t" if serial & 1 else "x", offset, size))
        elif serial < 10:
            size = _INTEGER_SIZE[serial]
            spans.append(ColumnSpan(_INTEGER_KIND[serial], offset, size))
        else:
            size = 0
            spans.append(ColumnSpan("N", offset, 0))
        offset += size
    return spans


def _signature_maker(kinds: str, encoding: str) -> Any:
    """A function ``make(unpack, defaults) -> decoder`` for one signature; capital letters of integer kinds mean "as a double"."""
    made = _signatures.get((kinds, encoding))
    if made is not None:
        return made
    names: list[str] = []
    results: list[str] = []
    defaults = 0

    def name() -> str:
        names.append(f"a{len(names)}")
        return names[-1]

    for kind in kinds:
        if kind == "N":
            results.append("None")
        elif kind in "ZO":
            results.append("01"["ZO".index(kind)])
        elif kind in "zo":
            results.append(("0.0", "1.0")["zo".index(kind)])
        elif kind in "bhiqdx":
            results.append(name())
        elif kind in "BHIQ":
            results.append(f"float({name()})")
        elif kind in "mMwW":
            shift = 16 if kind in "mM" else 32
            source = f"{name()} << {shift} | {name()}"
            results.append(f"float({source})" if kind in "MW" else source)
        elif kind == "t":
            results.append(f"text({name()}, 'utf-8')" if encoding == "utf-8" else f"text({name()})")
        else:
            results.append(f"defaults[{defaults}]")
            defaults += 1
    target = ", ".join(names) + ("," if len(names) == 1 else "")
    result = "(" + ", ".join(results) + ("," if len(results) == 1 else "") + ")"
    lines = ["def make(unpack, defaults, slow):", "    def decoder(payload):"]
    if "t" in kinds and encoding == "utf-8":
        lines += [
            f"        {target} = unpack(payload)",
            "        try:",
            f"            return {result}",
            "        except UnicodeDecodeError:",
            "            return slow(payload)",
        ]
    elif names:
        lines += [f"        {target} = unpack(payload)", f"        return {result}"]
    else:
        lines += ["        unpack(payload)", f"        return {result}"]
    lines += ["    return decoder"]
    scope: dict[str, Any] = {"text": str if encoding == "utf-8" else _utf16_decoder(encoding)}
    exec("\n".join(lines), scope)
    made = scope["make"]
    if len(_signatures) < _SIGNATURE_LIMIT:
        _signatures[kinds, encoding] = made
    return made


_UNPACK_CODES = {"m": "bH", "M": "bH", "w": "hI", "W": "hI"}


def _format_of(kind: str, size: int) -> str:
    if kind in "tx":
        return f"{size}s"
    return _UNPACK_CODES.get(kind) or kind.lower()


_LIMIT_GENERATED = 200


class RowShapes(dict):  # type: ignore[type-arg]
    """Header bytes -> decoder of ``columns`` for that shape; see the module essay.

    ``columns`` are record positions in any order.  ``real_columns`` (record positions) turn integers into floats.  A column beyond the
    end of the record yields ``defaults[column]``, or NULL.
    """

    __slots__ = ("columns", "defaults", "encoding", "real_columns")

    def __init__(
        self,
        columns: tuple[int, ...],
        encoding: str = "utf-8",
        real_columns: frozenset[int] = frozenset(),
        defaults: Mapping[int, Value] | None = None,
    ) -> None:
        self.columns = columns
        self.encoding = encoding
        self.real_columns = real_columns
        self.defaults = defaults or {}

    def __missing__(self, header: bytes) -> Callable[[bytes], tuple[Value, ...]]:
        decoder: Callable[[bytes], tuple[Value, ...]]
        if not header:
            decoder = self.decode_nothing
        elif header[0] > 127:
            decoder = self.decode_long
        else:
            decoder = self.make(header)
        if len(self) > 20000:
            self.clear()
        self[header] = decoder
        return decoder

    def decode_nothing(self, payload: bytes) -> tuple[Value, ...]:
        """No payload, or a header of size 0 (nobody writes them): a record without values."""
        if not payload and type(payload) is not bytes:
            raise IndexError                       # there is more, but out of reach
        return tuple([self.defaults.get(column) for column in self.columns])

    def decode_long(self, payload: bytes) -> tuple[Value, ...]:
        """Rows whose header is longer than 127 bytes: the true header is the key (kept under its own entry)."""
        header = payload[: get_varint(payload, 0)[0]]
        decoder = self.get(header)
        if decoder is None or decoder == self.decode_long:
            decoder = self[header] = self.make(header)
        return decoder(payload)  # type: ignore[no-any-return]

    def decode_slowly(self, payload: bytes) -> tuple[Value, ...]:
        """Any payload, value by value: invalid text, and signatures too long to generate."""
        spans = shape_spans(payload[: get_varint(payload, 0)[0]])
        if spans and self.columns and max(self.columns) >= len(spans) - 1 and spans[-1].offset + spans[-1].size != len(payload):
            raise IndexError
        out: list[Value] = []
        for column in self.columns:
            if column >= len(spans):
                out.append(self.defaults.get(column))
                continue
            span = spans[column]
            value = _value_of(span, payload, self.encoding)
            out.append(float(value) if column in self.real_columns and type(value) is int else value)
        return tuple(out)

    def make(self, header: bytes) -> Callable[[bytes], tuple[Value, ...]]:
        """Build the decoder of one shape."""
        return self.build(shape_spans(header))

    def build(self, spans: list[ColumnSpan], is_whole: bool = True) -> Callable[[bytes], tuple[Value, ...]]:
        """The decoder for values that lie at ``spans``.

        Who reads the last value notices a payload that is longer or shorter than its header says (``is_whole``: the spans are all of the header's)."""
        count = len(spans)
        columns = self.columns
        if len(columns) > _LIMIT_GENERATED or not columns:
            return self.decode_slowly
        kinds = ""
        ordered: list[tuple[int, int, str]] = []
        defaults: list[Value] = []
        for column in columns:
            if column >= count:
                kinds += "D"
                defaults.append(self.defaults.get(column))
                continue
            span = spans[column]
            kind = span.kind
            if column in self.real_columns and kind in "bhmiwqZO":
                kind = kind.lower() if kind in "ZO" else kind.upper()
            kinds += kind
            if span.size or kind in "tx":
                ordered.append((span.offset, span.size, kind))
        at = 0
        layout = ">"
        for offset, size, kind in ordered:
            if offset < at:  # the columns aren't in record order: read value by value through a permutation
                return self._permuted(spans, is_whole)
            layout += (f"{offset - at}x" if offset > at else "") + _format_of(kind, size)
            at = offset + size
        last = min(max(columns), count - 1)
        end = spans[last].offset + spans[last].size if count else at
        if end > at:                               # also what lies in front of a value without a body must be there
            layout += f"{end - at}x"
        unpack = Struct(layout).unpack if is_whole and spans and last == count - 1 else Struct(layout).unpack_from
        if all(kind in "bhiqdx" for kind in kinds):
            return unpack
        return _signature_maker(kinds, self.encoding)(unpack, defaults, self.decode_slowly)  # type: ignore[no-any-return]

    def _permuted(self, spans: list[ColumnSpan], is_whole: bool) -> Callable[[bytes], tuple[Value, ...]]:
        order = sorted(set(self.columns))
        inner = RowShapes(tuple(order), self.encoding, self.real_columns, self.defaults).build(spans, is_whole)
        where = [order.index(column) for column in self.columns]

        def decoder(payload: bytes) -> tuple[Value, ...]:
            row = inner(payload)
            return tuple([row[index] for index in where])

        return decoder


class KeyShapes(RowShapes):
    """Decoders for comparing: SQLite compares field by field, so nothing is asked of what follows the last wanted one."""

    __slots__ = ()

    def make(self, header: bytes) -> Callable[[bytes], tuple[Value, ...]]:
        return self.build(shape_spans(header), False)


class Clipped(bytes):
    """The readable beginning of a damaged payload (damaged_page.py)."""

    __slots__ = ()


class BrokenChain(Clipped):
    """One whose overflow pages can't be read: not to be compared at all, because a comparison reads whole payloads."""

    __slots__ = ()


class _Damaged:
    """Stands for a field that can't be read: a comparison that comes as far as this raises."""

    __slots__ = ()

    def _touch(self, other: object) -> bool:
        raise IndexError

    __lt__ = __gt__ = __eq__ = _touch
    __hash__ = None  # type: ignore[assignment]


DAMAGED = _Damaged()


def fields_for_comparison(payload: bytes, count: int, encoding: str) -> tuple[Any, ...]:
    """The first ``count`` fields of a damaged record, as far as they can be read; then :data:`DAMAGED`."""
    out: list[Any] = []
    try:
        end, at = get_varint(payload, 0)
        offset = end
        while at < end and len(out) < count:
            serial, at = get_varint(payload, at)
            size = serial_size(serial)
            if at > end or offset + size > len(payload):
                raise IndexError
            out.append(_value_of(spans_of(offset, [serial])[0], payload, encoding))
            offset += size
    except DAMAGE:
        out.append(DAMAGED)
    return tuple(out)


_SIZES = bytes([serial_size(serial) if serial < 128 else 0 for serial in range(256)])
_walkers: dict[tuple[tuple[int, ...], str, frozenset[int]], Any] = {}


def _scalar(payload: bytes, serial: int, at: int) -> tuple[Value, int]:
    """A value that isn't text, and where it ends."""
    if serial < 7:
        if serial == 0:
            return None, at
        end = at + _INTEGER_SIZE[serial]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if serial == 7:
        value: float = _DOUBLE.unpack_from(payload, at)[0]
        return (None if value != value else value), at + 8
    if serial < 10:
        return serial - 8, at
    if serial < 12:
        return None, at
    end = at + ((serial - 12) >> 1)
    return payload[at:end], end


def _walker(columns: tuple[int, ...], encoding: str, real: frozenset[int]) -> Any:
    """A function ``make(slow) -> decoder`` of these columns for any payload whose serial types up to the last column take a byte each.

    It adds up the sizes of the values in between, instead of knowing them from the shape: slower than a shape's decoder, nothing to build."""
    found = _walkers.get((columns, encoding, real))
    if found is not None:
        return found
    width = max(columns) + 2
    lines = ["def make(slow):", "    def walk(payload):", f"        sizes = payload[1:{width}].translate(SIZES)", "        at = payload[0]"]
    position = 0
    text_call = "text(payload[at:end], 'utf-8')" if encoding == "utf-8" else "text(payload[at:end])"
    lines.append("        try:")
    for column in sorted(set(columns)):
        if column > position:
            lines.append(f"            at += {f'sizes[{position}]' if column == position + 1 else f'sum(sizes[{position}:{column}])'}")
        lines += [
            f"            s = payload[{column + 1}]",
            "            if s > 12 and s & 1:",
            "                end = at + (s - 13 >> 1)",
            f"                v{column} = {text_call}",
            f"            else: v{column}, end = scalar(payload, s, at)",
        ]
        if column in real:
            lines.append(f"            if type(v{column}) is int: v{column} = float(v{column})")
        lines.append("            at = end")
        position = column + 1
    lines += [
        "        except UnicodeDecodeError:",
        "            return slow(payload)",
        f"        if at > len(payload) or (payload[0] == {width} and at != len(payload)): raise IndexError",
        f"        return ({', '.join(f'v{column}' for column in columns)},)",
        "    return walk",
    ]
    scope: dict[str, Any] = {"SIZES": _SIZES, "scalar": _scalar, "text": str if encoding == "utf-8" else _utf16_decoder(encoding)}
    exec("\n".join(lines), scope)
    if len(_walkers) >= _SIGNATURE_LIMIT:
        _walkers.clear()
    made = _walkers[columns, encoding, real] = scope["make"]
    return made


class PrefixShapes(RowShapes):
    """Decoders by the first ``width`` bytes of a payload: header size and serial types up to the last wanted column, whatever follows it.

    Rows whose later columns vary (a comment of any length) so share decoders: ``shapes[payload[:width]](payload)``.  A key that doesn't hold just
    that (short records, long texts in front) leads to decoders by whole headers.  A decoder is built for a shape that comes a second time, up to
    ``SHAPES`` of them; all other rows are walked (``_walker``), so tables without a common shape cost little more.
    """

    __slots__ = ("_walk", "headers", "width")
    SHAPES = 2000

    def __init__(
        self,
        columns: tuple[int, ...],
        encoding: str = "utf-8",
        real_columns: frozenset[int] = frozenset(),
        defaults: Mapping[int, Value] | None = None,
    ) -> None:
        super().__init__(columns, encoding, real_columns, defaults)
        self.headers = RowShapes(columns, encoding, real_columns, defaults)
        self.width = max(columns) + 2
        self._walk: Any = None

    def __missing__(self, prefix: bytes) -> Callable[[bytes], tuple[Value, ...]]:
        width = self.width
        if len(prefix) < width or prefix[0] < width:
            return self.decode_by_header            # values may be part of the key: nothing to remember
        if not prefix.isascii():
            if len(self) < self.SHAPES:
                self[prefix] = self.decode_by_header
            return self.decode_by_header
        walk = self._walk
        if walk is None:
            if width > _LIMIT_GENERATED:
                walk = self._walk = self.decode_slowly
            else:
                walk = self._walk = _walker(self.columns, self.encoding, self.real_columns)(self.decode_slowly)
        if len(self) < self.SHAPES:
            self[prefix] = self.decode_again
        return walk  # type: ignore[no-any-return]

    def decode_by_header(self, payload: bytes) -> tuple[Value, ...]:
        """Any payload, by its whole header; beyond ``SHAPES`` headers value by value."""
        if not payload:
            return self.decode_nothing(payload)
        headers = self.headers
        decoder = headers.get(payload[: payload[0]])
        if decoder is None:
            if len(headers) >= self.SHAPES:
                return self.decode_values(payload)
            decoder = headers[payload[: payload[0]]]
        return decoder(payload)  # type: ignore[no-any-return]

    def decode_again(self, payload: bytes) -> tuple[Value, ...]:
        """The second payload of a shape: from now on a decoder is worth its making."""
        decoder = self[payload[: self.width]] = self.build(spans_of(payload[0], payload[1 : self.width]), payload[0] == self.width)
        return decoder(payload)

    def decode_values(self, payload: bytes) -> tuple[Value, ...]:
        """Any payload, walking the serial types up to the last wanted column."""
        at, position = get_varint(payload, 0)
        end = at
        found: dict[int, Value] = {}
        columns = self.columns
        for column in range(self.width - 1):
            if position >= end:
                break
            serial = payload[position]
            position += 1
            if serial > 127:
                serial, position = get_varint(payload, position - 1)
            if column not in columns:
                at += serial_size(serial)
            elif serial > 12 and serial & 1:
                stop = at + ((serial - 13) >> 1)
                if stop > len(payload):
                    raise IndexError
                found[column] = decode_text(payload[at:stop], self.encoding)
                at = stop
            else:
                value, at = _scalar(payload, serial, at)
                if at > len(payload):
                    raise IndexError
                found[column] = float(value) if column in self.real_columns and type(value) is int else value
        if position >= end and at != len(payload):
            raise IndexError
        return tuple([found[column] if column in found else self.defaults.get(column) for column in columns])


def _value_of(span: ColumnSpan, payload: bytes, encoding: str) -> Value:
    kind, at, end = span.kind, span.offset, span.offset + span.size
    if kind == "N":
        return None
    if end > len(payload):
        raise IndexError
    if kind in "ZO":
        return "ZO".index(kind)
    if kind == "d":
        value: float = _DOUBLE.unpack_from(payload, at)[0]
        return None if value != value else value
    if kind == "t":
        return decode_text(payload[at:end], encoding)
    if kind == "x":
        return payload[at:end]
    return int.from_bytes(payload[at:end], "big", signed=True)


def shape_decoder(
    header: bytes,
    columns: tuple[int, ...],
    encoding: str = "utf-8",
    real_columns: frozenset[int] = frozenset(),
    defaults: Mapping[int, Value] | None = None,
) -> Callable[[bytes], tuple[Value, ...]]:
    """The decoder of ``columns`` for records that begin with exactly this header (one entry of :class:`RowShapes`)."""
    return RowShapes(columns, encoding, real_columns, defaults)[header]  # type: ignore[no-any-return]


def projector(
    columns: tuple[int, ...],
    encoding: str = "utf-8",
    real_columns: frozenset[int] = frozenset(),
    defaults: Mapping[int, Value] | None = None,
) -> Callable[[bytes], tuple[Value, ...]]:
    """A function payload -> tuple of ``columns``; damage becomes ``errors.corrupt()``."""
    shapes = RowShapes(columns, encoding, real_columns, defaults)

    def project(payload: bytes) -> tuple[Value, ...]:
        try:
            return shapes[payload[: payload[0]] if payload else b""](payload)  # type: ignore[no-any-return]
        except DAMAGE:
            raise errors.corrupt() from None

    return project


_whole: dict[tuple[str, int], Callable[[bytes], tuple[Value, ...]]] = {}


def decode(payload: bytes, encoding: str = "utf-8") -> tuple[Value, ...]:
    """All values of a record."""
    if (not payload and type(payload) is bytes) or payload[:1] == b"\0":
        return ()
    try:
        header_size = payload[0]
        if header_size > 127:
            header_size = get_varint(payload, 0)[0]
        count = len(serial_types(payload[:header_size]))
    except DAMAGE:
        raise errors.corrupt() from None
    project = _whole.get((encoding, count))
    if project is None:
        project = _whole[encoding, count] = projector(tuple(range(count)), encoding)
    return project(payload)

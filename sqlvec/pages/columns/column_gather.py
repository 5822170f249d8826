"""From record starts to columns: header shapes, and one gather per wanted column.

Rows of a table share few *header shapes*.  The header is read in *segments* of up to fifteen fields: the bytes of a segment are one or two 64-bit
words, looked up in a :class:`KeyTable`; what comes back is a *shape id*.  Everything about a field is a small table by shape id: ``offset`` (from the
segment's body), ``code`` (what kind of value), ``length``; and so is where the next segment begins, in the header and in the body::

    record   | size | f0 f1 ... f6 | f7 ... f13 | ... | body of segment 0 | body of segment 1 ...
               segment 0             segment 1
    word   = header bytes of the segment, masked          -> shape id
    place  = segment body + offset[shape]
    value  = big_endian_8_bytes(place) >> shift[code]      any integer width, sign included

A segment is looked at when one of its columns is asked for, and only for the rows that are left by then.  New shapes are parsed for all new
ones at once by :func:`walk_fields`.  Rows whose segment has more bytes than were planned for (a length that needs two bytes) are walked one by
one beside the table.  Where the shapes of a segment multiply (several texts of any length), the next chunk uses shorter segments, in the end
one field each.

Invariants:

1. Shape ids are rows of the field tables; entry 0 is never used.
2. A field beyond the end of a record has code MISSING and takes the column's default.  The word of a segment that the header ends in carries the
   number of bytes left.
3. A column of REAL affinity stores integral values as integers: they are turned back into doubles here, nowhere else.

Follows "Record Format" of the file format.
"""
from __future__ import annotations

from sqlvec.columnar.key_table import KeyTable
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import (
    BLOB,
    INTEGER,
    NULL,
    REAL,
    TEXT,
    ColumnVector,
    constant,
    load_word_pairs,
    load_words,
    merge,
    nulls,
    tail_mask,
)
from sqlvec.pages.columns.leaf_decode import Unreadable, read_varints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MISSING = 10
BLOB_CODE = 12
TEXT_CODE = 13
_SIZES = np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0], np.int64)
_SHIFTS = np.array([63, 56, 48, 40, 32, 16, 0, 0, 63, 63, 63, 63, 63, 63], np.int64)
_VALUES = np.array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], np.int64)
_TAGS = np.array([NULL, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, INTEGER, REAL, INTEGER, INTEGER, NULL, NULL, BLOB, TEXT], np.uint8)
_BODYLESS = np.array([True, False, False, False, False, False, False, False, True, True, True, True, False, False])
_SAMPLE = 400
_MAX_SHAPES = 3_000
_SHARE_OF_SHAPES = 4                # in a sample: at least so many rows a shape, where segments of two words shall pay
_FIELDS_AT_MOST = 15


class FieldWish:
    """A wanted value: ``field`` is its position in the record, ``is_real`` asks for integers as doubles, ``default`` is what a record too
    short for the field has, or a function that gives it."""

    __slots__ = ("default", "field", "is_real")

    def __init__(self, field: int, is_real: bool = False, default: Any = None) -> None:
        self.field = field
        self.is_real = is_real
        self.default = default


class FieldTable:
    """What is known of one field, by shape id (arrays), and ``present``: the set of codes that occur."""

    __slots__ = ("code", "length", "offset", "present", "uniform_length")

    def __init__(self) -> None:
        self.offset = np.zeros(1, np.int64)
        self.code = np.zeros(1, np.uint8)
        self.length = np.zeros(1, np.int64)
        self.present: frozenset[int] = frozenset()
        self.uniform_length: int | None = None

    def set(self, offset: Any, code: Any, length: Any) -> None:
        self.offset = offset
        self.code = code
        self.length = length
        used = code[1:]
        self.present = frozenset(np.flatnonzero(np.bincount(used, minlength=14)).tolist()) if len(used) else frozenset()
        self.uniform_length = None
        if self.present and min(self.present) >= BLOB_CODE:
            first = int(length[1])
            if (length[1:] == first).all():
                self.uniform_length = first

    def extended(self, offset: Any, code: Any, length: Any) -> FieldTable:
        out = FieldTable()
        out.set(np.concatenate([self.offset, offset]), np.concatenate([self.code, code]), np.concatenate([self.length, length]))
        return out


class Walk:
    """Result of walking one segment of many headers: per field arrays over the rows; ``used`` header bytes, ``end`` bytes from the segment's
    body to the next one's, ``rest`` header bytes behind the segment."""

    __slots__ = ("codes", "end", "lengths", "offsets", "rest", "sizes", "used")

    def __init__(self) -> None:
        self.offsets: list[Any] = []
        self.codes: list[Any] = []
        self.lengths: list[Any] = []
        self.sizes: list[Any] = []                # header bytes of each field
        self.used: Any = None
        self.end: Any = None
        self.rest: Any = None


def walk_fields(heap: Any, head: Any, left: Any, count: int) -> Walk:
    """Read ``count`` fields of each header at ``head``; ``left`` header bytes remain there, None at the start of records."""
    n = len(head)
    walk = Walk()
    at = head
    if left is None:
        size = heap.take(head).astype(np.int64)
        step: Any = 1
        if n and int(size.max()) > 127:
            size, step = read_varints(heap, head)
        if n and (int(size.min()) < 1 or int(size.max()) > 1 << 20):
            raise Unreadable
        at = head + step
        behind = head + size
        body = size
    else:
        behind = head + left
        body = np.zeros(n, np.int64)
    if n and count and int((behind - at).min()) >= count:
        serials = heap.take(at[:, None] + np.arange(count))
        if int(serials.max()) < 128:
            _walk_bytes(walk, serials, body)
            at = at + count
            walk.used = at - head
            walk.rest = behind - at
            return walk
    for _ in range(count):
        inside = at < behind
        all_inside = bool(inside.all())
        places = at if all_inside else np.where(inside, at, head)
        serial = heap.take(places).astype(np.int64)
        step = 1
        if n and int(serial.max()) > 127:
            serial, step = read_varints(heap, places)
            if int(serial.min()) < 0:
                raise Unreadable
        code, length = _codes_and_lengths(serial)
        if not all_inside:
            code[~inside] = MISSING
            length[~inside] = 0
            step = np.where(inside, step, 0)
        walk.offsets.append(body)
        walk.codes.append(code)
        walk.lengths.append(length)
        walk.sizes.append(step)
        body = body + length
        at = at + step
    walk.used = at - head
    walk.end = body
    walk.rest = behind - at
    return walk


def _codes_and_lengths(serials: Any) -> tuple[Any, Any]:
    """What serial types stand for: (codes, bytes in the body)."""
    codes = np.where(serials < 12, serials, 12 + (serials & 1)).astype(np.uint8)
    return codes, np.where(serials < 12, _SIZES.take(np.minimum(serials, 11)), (serials - 12) >> 1)


def _walk_bytes(walk: Walk, serials: Any, body: Any) -> None:
    """All fields at once where each has one header byte: ``serials`` holds them, a row for each record."""
    codes, lengths = _codes_and_lengths(np.ascontiguousarray(serials.T).astype(np.int64))
    ends = np.cumsum(lengths, axis=0)
    ends += body
    walk.offsets += list(ends - lengths)
    walk.codes += list(codes)
    walk.lengths += list(lengths)
    walk.sizes += [1] * len(lengths)
    walk.end = ends[-1]


class Segment:
    """Fields ``first`` .. ``first + count - 1`` of the header, whose bytes are ``width`` at most; what is known by shape id of those that are
    ``wanted`` (places in the segment)."""

    __slots__ = ("_shape_of_key", "count", "end", "first", "keys", "rest", "tables", "used", "width")

    def __init__(self, first: int, count: int, width: int, wanted: Iterable[int]) -> None:
        self.first = first
        self.count = count
        self.width = width
        self.keys = KeyTable(1 if width <= 8 else 2)
        self.tables = {place: FieldTable() for place in wanted}
        zero = np.zeros(1, np.int64)
        self.used = zero
        self.end = zero
        self.rest = zero
        self._shape_of_key: Any = None            # None: shape ids are key ids; else 0 = walk the row

    def read(self, heap: Any, head: Any, left: Any) -> Shaped:
        """The shapes of the headers at ``head``."""
        width = self.width
        words = [load_words(heap, head)] if width <= 8 else list(load_word_pairs(heap, head))
        last = words[-1]
        if left is not None and len(left) and int(left.min()) < width:
            here = np.minimum(left, width)
            if width > 8:
                words[0] &= tail_mask(np.minimum(here, 8))
                here = np.maximum(here - 8, 0)
            last &= tail_mask(here)
            last |= np.where(left < width, left + 1, 0).view(np.uint64) << np.uint64(56)
        elif width & 7:
            last &= tail_mask(width & 7)
        known = self.keys.count
        ids = self.keys.add(words)
        if self.keys.count > known:
            self._learn(heap, head, left, ids, known)
        if self._shape_of_key is not None:
            ids = self._shape_of_key.take(ids)
            long = np.flatnonzero(ids == 0)
            if len(long):
                return self._walk_beside(heap, head, left, ids, long)
        return Shaped(ids, self.tables, self.used, self.end, self.rest)

    def _learn(self, heap: Any, head: Any, left: Any, ids: Any, known: int) -> None:
        """Parse the shapes of the new keys from the first row of each."""
        count = self.keys.count - known
        is_new = np.flatnonzero(ids > known)
        first = np.zeros(count, np.int64)
        first[ids.take(is_new)[::-1] - known - 1] = is_new[::-1]
        walk = walk_fields(heap, head.take(first), None if left is None else left.take(first), self.count)
        is_long = walk.used > self.width
        if self._shape_of_key is None and is_long.any():
            self._shape_of_key = np.arange(known + 1, dtype=np.int64)
        if self._shape_of_key is not None:
            fresh = np.arange(known + 1, known + 1 + count, dtype=np.int64)
            self._shape_of_key = np.concatenate([self._shape_of_key, np.where(is_long, 0, fresh)])
        self.tables, self.used, self.end, self.rest = self._extended(walk)

    def _extended(self, walk: Walk) -> tuple[dict[int, FieldTable], Any, Any, Any]:
        tables = {place: table.extended(walk.offsets[place], walk.codes[place], walk.lengths[place]) for place, table in self.tables.items()}
        return (tables, np.concatenate([self.used, walk.used]), np.concatenate([self.end, walk.end]), np.concatenate([self.rest, walk.rest]))

    def _walk_beside(self, heap: Any, head: Any, left: Any, ids: Any, long: Any) -> Shaped:
        """Rows with more header bytes than planned become shapes of their own, for this chunk only."""
        walk = walk_fields(heap, head.take(long), None if left is None else left.take(long), self.count)
        ids = ids.copy()
        ids[long] = np.arange(len(self.used), len(self.used) + len(long), dtype=np.int64)
        return Shaped(ids, *self._extended(walk))


class Shaped:
    """Shape ids of some rows for one segment, with the tables that they index."""

    __slots__ = ("end", "ids", "rest", "tables", "used")

    def __init__(self, ids: Any, tables: dict[int, FieldTable], used: Any, end: Any, rest: Any) -> None:
        self.ids = ids
        self.tables = tables
        self.used = used
        self.end = end
        self.rest = rest

    def take(self, positions: Any) -> Shaped:
        return Shaped(self.ids.take(positions), self.tables, self.used, self.end, self.rest)


class ShapeReader:
    """The segments of one scan, planned from its first rows.  ``segment_of`` maps a field to (segment number, place in it)."""

    __slots__ = ("_limit", "last", "segment_of", "segments", "wishes")

    def __init__(self, wishes: list[FieldWish]) -> None:
        self.wishes = wishes
        self.last = max((wish.field for wish in wishes), default=-1)
        self.segments: list[Segment] = []
        self.segment_of: dict[int, tuple[int, int]] = {}
        self._limit = _FIELDS_AT_MOST

    def needs_planning(self) -> bool:
        """Not planned yet, or shapes have multiplied in a segment that could be shorter."""
        if not self.segments:
            return self.last >= 0
        return self._limit > 1 and any(segment.keys.count > _MAX_SHAPES for segment in self.segments)

    def planned(self, heap: Any, starts: Any) -> ShapeReader:
        """A reader whose segments fit the records at ``starts``; batches that were handed out keep the old one."""
        if not len(starts):
            return self
        made = ShapeReader(self.wishes)
        made._limit = max(1, self._limit // 2) if self.segments else self._limit
        made._plan(heap, starts)
        return made

    def _plan(self, heap: Any, starts: Any) -> None:
        sample = starts if len(starts) <= _SAMPLE else starts[::len(starts) // _SAMPLE]
        walk = walk_fields(heap, sample, None, self.last + 1)
        sizes = [step if type(step) is int else int(step.max()) for step in walk.sizes]
        width = 1 if int(heap.take(sample).max()) < 128 else 2
        self._divide(sizes, width, 16)
        if self._limit > _FIELDS_AT_MOST // 2 and any(segment.width > 8 for segment in self.segments):
            first = self.segments[0]
            first.read(heap, sample, None)
            if first.keys.count * _SHARE_OF_SHAPES > len(sample):
                self._limit = _FIELDS_AT_MOST // 2
                self._divide(sizes, width, 8)

    def _divide(self, sizes: list[int], width: int, room: int) -> None:
        """Fields to segments of at most ``room`` bytes; ``width`` bytes are the size in front of the first."""
        self.segments = []
        self.segment_of = {}
        first = 0
        most = room
        wanted = {wish.field for wish in self.wishes}
        for field, size in enumerate([*sizes, 99]):
            if field > first and (width + size > most or field - first >= self._limit or field > self.last):
                for place in range(first, field):
                    self.segment_of[place] = (len(self.segments), place - first)
                self.segments.append(Segment(first, field - first, min(width, most), [place - first for place in range(first, field) if place in wanted]))
                first, width, most = field, 0, room - 1
            width += size


# --- gathering -----------------------------------------------------------------------------------------------------------------------


def gather(heap: Any, starts: Any, shape: Any, table: FieldTable, wish: FieldWish) -> ColumnVector:
    """The values of one field of all records."""
    present = table.present
    n = len(starts)
    if MISSING in present:
        return _gather_with_default(heap, starts, shape, table, wish)
    if not present or not n:
        return nulls(n)
    if len(present) == 1:
        (code,) = present
        return _gather_one_code(heap, starts, shape, table, wish, code)
    if max(present) <= 9:
        return _gather_numbers(heap, starts, shape, table, wish)
    place = starts + table.offset.take(shape)
    if min(present) >= BLOB_CODE:
        length = table.uniform_length if table.uniform_length is not None else table.length.take(shape)
        return ColumnVector(n, _TAGS.take(table.code).take(shape), place, length, heap).settled()
    return _gather_mixed(heap, place, shape, table, wish)


def _gather_one_code(heap: Any, starts: Any, shape: Any, table: FieldTable, wish: FieldWish, code: int) -> ColumnVector:
    n = len(starts)
    if code == 0 or code == 11:
        return nulls(n)
    if code in (8, 9):
        value = code - 8
        return constant(float(value) if wish.is_real else value, n)
    place = starts + table.offset.take(shape)
    if code >= BLOB_CODE:
        length = table.uniform_length if table.uniform_length is not None else table.length.take(shape)
        return ColumnVector(n, TEXT if code == TEXT_CODE else BLOB, place, length, heap)
    if code == 1:
        values = heap.take(place).view(np.int8).astype(np.float64 if wish.is_real else np.int64)
        return ColumnVector(n, REAL, values.view(np.int64)) if wish.is_real else ColumnVector(n, INTEGER, values)
    values = load_words(heap, place).byteswap().view(np.int64)
    if code == 7:
        return _reals(n, values)
    shift = int(_SHIFTS[code])
    if shift:
        values >>= shift
    if wish.is_real:
        return ColumnVector(n, REAL, values.astype(np.float64).view(np.int64))
    return ColumnVector(n, INTEGER, values)


def _reals(n: int, bits: Any) -> ColumnVector:
    doubles = bits.view(np.float64)
    bad = np.isnan(doubles)
    if bad.any():
        return ColumnVector(n, np.where(bad, np.uint8(NULL), np.uint8(REAL)), np.where(bad, 0, bits))
    return ColumnVector(n, REAL, bits)


def _gather_numbers(heap: Any, starts: Any, shape: Any, table: FieldTable, wish: FieldWish) -> ColumnVector:
    """NULL, integers of all sizes and doubles."""
    present = table.present
    n = len(starts)
    place = starts + table.offset.take(shape)
    if wish.is_real and 7 in present:
        found = _gather_doubles(heap, place, shape, table)
        if found is not None:
            return found
    if present <= {1, 8, 9}:
        values = heap.take(place).view(np.int8).astype(np.int64)
    else:
        values = load_words(heap, place).byteswap().view(np.int64)
        if not present <= {7, 0, 8, 9}:
            values >>= _SHIFTS.take(table.code).take(shape)
    if not present.isdisjoint((0, 8, 9)):
        rows = np.flatnonzero(_BODYLESS.take(table.code).take(shape))
        if len(rows):
            values[rows] = _VALUES.take(table.code).take(shape.take(rows))
    tags: Any = INTEGER
    if 7 in present:
        is_double = (table.code == 7).take(shape)
        if wish.is_real:
            values = np.where(is_double, values, values.astype(np.float64).view(np.int64))
            tags = REAL
        else:
            tags = _TAGS.take(table.code).take(shape)
        doubles = values.view(np.float64)
        bad = np.isnan(doubles) & is_double
        if bad.any():
            tags = np.where(bad, np.uint8(NULL), tags).astype(np.uint8)
    elif wish.is_real:
        values = values.astype(np.float64).view(np.int64)
        tags = REAL
    if 0 in present:
        is_null = (table.code == 0).take(shape)
        if is_null.any():
            tags = np.where(is_null, np.uint8(NULL), tags if type(tags) is not int else np.uint8(tags))
    vector = ColumnVector(n, tags, values)
    return vector if type(tags) is int else vector.settled()


def _gather_doubles(heap: Any, place: Any, shape: Any, table: FieldTable) -> ColumnVector | None:
    """The numbers of a REAL column, where most are stored as doubles (else None): the others are put right one by one."""
    n = len(place)
    others = np.flatnonzero((table.code != 7).take(shape))
    if 2 * len(others) > n:
        return None
    values = load_words(heap, place).byteswap().view(np.int64)
    tags: Any = REAL
    if len(others):
        codes = table.code.take(shape.take(others))
        whole = values.take(others) >> _SHIFTS.take(codes)
        bodyless = np.flatnonzero(_BODYLESS.take(codes))
        whole[bodyless] = _VALUES.take(codes.take(bodyless))
        values[others] = whole.astype(np.float64).view(np.int64)
        if 0 in table.present:
            null = others[codes == 0]
            if len(null):
                tags = np.full(n, REAL, np.uint8)
                tags[null] = NULL
    bad = np.isnan(values.view(np.float64))
    if bad.any():
        tags = np.where(bad, np.uint8(NULL), np.uint8(tags) if type(tags) is int else tags)
        values[bad] = 0
    return ColumnVector(n, tags, values)


def _gather_mixed(heap: Any, place: Any, shape: Any, table: FieldTable, wish: FieldWish) -> ColumnVector:
    """Values of any classes in one column: numbers are read for all rows, then texts and blobs put their places over them."""
    n = len(place)
    present = table.present
    tags = _TAGS.take(table.code).take(shape)
    if any(code in present for code in _STORED_NUMBERS):
        bits, tags = _mixed_numbers(heap, place, shape, table, wish, tags)
        rows = np.flatnonzero(tags >= TEXT)
        bits[rows] = place.take(rows)
    else:
        bits = place * (table.code >= BLOB_CODE).take(shape)
        if 9 in present:
            bits |= _VALUES.take(table.code).take(shape)
        if wish.is_real and not present.isdisjoint((8, 9)):
            rows = np.flatnonzero(tags == INTEGER)
            bits[rows] = bits.take(rows).astype(np.float64).view(np.int64)
            tags[rows] = REAL
    length = np.where(table.code >= BLOB_CODE, table.length, 0).take(shape)
    return ColumnVector(n, tags, bits, length, heap).settled()


_STORED_NUMBERS = (1, 2, 3, 4, 5, 6, 7)


def _mixed_numbers(heap: Any, place: Any, shape: Any, table: FieldTable, wish: FieldWish, tags: Any) -> tuple[Any, Any]:
    """(bits, tags) with the numbers of a column of mixed classes in place; the bits of texts and blobs mean nothing yet."""
    present = table.present
    bits = load_words(heap, place).byteswap().view(np.int64)
    if not present.isdisjoint((1, 2, 3, 4, 5)):
        bits >>= _SHIFTS.take(table.code).take(shape)
    if not present.isdisjoint((0, 8, 9)):
        rows = np.flatnonzero(_BODYLESS.take(table.code).take(shape))
        bits[rows] = _VALUES.take(table.code).take(shape.take(rows))
    if wish.is_real and not present.isdisjoint((1, 2, 3, 4, 5, 6, 8, 9)):
        rows = np.flatnonzero(tags == INTEGER)
        bits[rows] = bits.take(rows).astype(np.float64).view(np.int64)
        tags[rows] = REAL
    if 7 in present:
        bad = np.flatnonzero(np.isnan(bits.view(np.float64)) & (tags == REAL))
        tags[bad] = NULL
        bits[bad] = 0
    return bits, tags


def _gather_with_default(heap: Any, starts: Any, shape: Any, table: FieldTable, wish: FieldWish) -> ColumnVector:
    """Records written before ALTER TABLE ADD COLUMN: the short ones take the default."""
    n = len(starts)
    is_missing = (table.code == MISSING).take(shape)
    rows = np.flatnonzero(is_missing)
    if not len(rows):
        parts = []
        own = np.arange(n, dtype=np.int64)
    else:
        default = wish.default() if callable(wish.default) else wish.default
        parts = [(rows, constant(default, len(rows)))]
        own = np.flatnonzero(~is_missing)
    if len(own):
        stored = FieldTable()
        stored.offset, stored.code, stored.length = table.offset, table.code, table.length
        stored.present = table.present - {MISSING}
        parts.append((own, gather(heap, starts.take(own), shape.take(own), stored, wish)))
    return merge(n, parts)

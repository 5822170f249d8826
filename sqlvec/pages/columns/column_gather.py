"""From record starts to columns: header shapes, and one gather per wanted column.

Rows of a table share few *header shapes*.  The first bytes of each record header, up to the last wanted field, are taken as one, two or more
64-bit words and looked up in a :class:`KeyTable`; what comes back is a *shape id*.  Everything about a field is a small table by shape id:
``offset`` (from the record start), ``code`` (what kind of value), ``length``, ``shift``, ``value`` (of the body-less types 0, 8 and 9)::

    words = first bytes of the header, masked     -> shape id
    place = start + offset[shape]
    value = big_endian_8_bytes(place) >> shift[shape]          any integer width, sign included

New shapes are parsed for all new ones at once by :func:`walk_headers`, which reads headers field by field.  Where the prefix that was
chosen from the first rows is too short for some record (a length that needs two bytes), its rows are walked one by one beside the table; where
shapes explode (long texts before the wanted field) every row is walked and is its own shape.  Both look the same to the gather.

Invariants:

1. Shape ids are rows of the field tables; entry 0 is never used.
2. A field beyond the end of a record has code MISSING and takes the column's default.
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
    load_words,
    merge,
    nulls,
    tail_mask,
)
from sqlvec.pages.columns.leaf_decode import Unreadable, read_varints

TYPE_CHECKING = False
if TYPE_CHECKING:
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
_MAX_PREFIX = 64
_MAX_SHAPES = 30_000
_EXPLOSION = 3_000


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
    """Result of walking headers: per wanted field arrays over the rows; ``used`` header bytes up to the last wanted field, ``end`` the
    offset behind the last wanted body."""

    __slots__ = ("codes", "end", "lengths", "offsets", "used")

    def __init__(self, count: int) -> None:
        self.offsets: list[Any] = []
        self.codes: list[Any] = []
        self.lengths: list[Any] = []
        self.used = np.zeros(count, np.int64)
        self.end = np.zeros(count, np.int64)


def walk_headers(heap: Any, starts: Any, fields: list[int]) -> Walk:
    """Read the record headers field by field (``fields`` ascending), all rows at once."""
    n = len(starts)
    walk = Walk(n)
    header = heap.take(starts).astype(np.int64)
    at = starts + 1
    if n and int(header.max()) > 127:
        header, sizes = read_varints(heap, starts)
        at = starts + sizes
    if n and (int(header.min()) < 1 or int(header.max()) > 1 << 20):
        raise Unreadable
    behind = starts + header
    body = header.copy()
    wanted = set(fields)
    for field in range(fields[-1] + 1 if fields else 0):
        inside = at < behind
        all_inside = bool(inside.all())
        serial = heap.take(at if all_inside else np.where(inside, at, starts)).astype(np.int64)
        size: Any = 1
        if n and int(serial.max()) > 127:
            serial, size = read_varints(heap, at if all_inside else np.where(inside, at, starts))
            if int(serial.min()) < 0:
                raise Unreadable
        code = np.where(serial < 12, serial, 12 + (serial & 1)).astype(np.uint8)
        length = np.where(serial < 12, _SIZES.take(np.minimum(serial, 11)), (serial - 12) >> 1)
        if not all_inside:
            code[~inside] = MISSING
            length[~inside] = 0
            size = np.where(inside, size, 0)
        if field in wanted:
            walk.offsets.append(body.copy())
            walk.codes.append(code)
            walk.lengths.append(length)
        body += length
        at = at + size
        if field in wanted:
            np.maximum(walk.end, body, out=walk.end)
    np.subtract(at, starts, out=walk.used)
    return walk


class ShapeReader:
    """Finds the shape of every record and keeps the field tables; one per scan."""

    __slots__ = ("_end", "_is_exploded", "_keys", "_prefix", "_words", "fields", "ids_of_keys", "tables", "wishes")

    def __init__(self, wishes: list[FieldWish]) -> None:
        self.wishes = wishes
        self.fields = sorted({wish.field for wish in wishes})
        self.tables = {field: FieldTable() for field in self.fields}
        self._prefix = 0
        self._words = 0
        self._keys: KeyTable | None = None
        self.ids_of_keys = np.zeros(1, np.int64)      # key id -> shape id, or 0: prefix too short, walk the row
        self._end = np.zeros(1, np.int64)
        self._is_exploded = False

    # --- shapes ------------------------------------------------------------------------------------------------------------------

    def shapes(self, heap: Any, starts: Any) -> tuple[Any, dict[int, FieldTable], Any]:
        """(shape id of each record, the field tables to use with them, offset behind the last wanted body by shape id)."""
        if not len(starts):
            return np.zeros(0, np.int64), self.tables, self._end
        if self._keys is None and not self._is_exploded:
            self._choose_prefix(heap, starts)
        if self._is_exploded:
            return self._walk_all(heap, starts)
        keys = self._keys
        assert keys is not None
        known = keys.count
        words = self._prefix_words(heap, starts)
        ids = keys.add(words)
        if keys.count > known:
            self._learn(heap, starts, ids, known)
            if (keys.count > _EXPLOSION and (keys.count - known) * 8 > len(starts)) or keys.count > _MAX_SHAPES:
                self._is_exploded = True
        shape = ids if self.ids_of_keys is None else self.ids_of_keys.take(ids)
        if self.ids_of_keys is not None:
            short = np.flatnonzero(shape == 0)
            if len(short):
                return self._walk_beside(heap, starts, shape, short)
        return shape, self.tables, self._end

    def _choose_prefix(self, heap: Any, starts: Any) -> None:
        sample = starts[:_SAMPLE] if len(starts) <= 4 * _SAMPLE else starts[::len(starts) // _SAMPLE]
        walk = walk_headers(heap, sample, self.fields)
        used = int(walk.used.max())
        if used > _MAX_PREFIX:
            self._is_exploded = True
            return
        self._prefix = used
        self._words = (used + 7) // 8
        self._keys = KeyTable(self._words)
        self.ids_of_keys = None

    def _prefix_words(self, heap: Any, starts: Any) -> list[Any]:
        words = []
        for number in range(self._words):
            word = load_words(heap, starts + 8 * number if number else starts)
            left = self._prefix - 8 * number
            if left < 8:
                word &= tail_mask(left)
            words.append(word)
        return words

    def _learn(self, heap: Any, starts: Any, ids: Any, known: int) -> None:
        """Parse the shapes of the new keys from the first row of each."""
        assert self._keys is not None
        count = self._keys.count - known
        is_new = np.flatnonzero(ids > known)
        first = np.zeros(count, np.int64)
        first[ids.take(is_new)[::-1] - known - 1] = is_new[::-1]
        walk = walk_headers(heap, starts.take(first), self.fields)
        short = walk.used > self._prefix
        if self.ids_of_keys is None and short.any():
            self.ids_of_keys = np.arange(known + 1, dtype=np.int64)
        for number, field in enumerate(self.fields):
            table = self.tables[field].extended(walk.offsets[number], walk.codes[number], walk.lengths[number])
            self.tables[field] = table
        self._end = np.concatenate([self._end, walk.end])
        if self.ids_of_keys is not None:
            new_ids = np.arange(known + 1, known + 1 + count, dtype=np.int64)
            self.ids_of_keys = np.concatenate([self.ids_of_keys, np.where(short, 0, new_ids)])

    def _walk_all(self, heap: Any, starts: Any) -> tuple[Any, dict[int, FieldTable], Any]:
        walk = walk_headers(heap, starts, self.fields)
        zero = np.zeros(1, np.int64)
        tables = {field: FieldTable().extended(walk.offsets[number], walk.codes[number], walk.lengths[number])
                  for number, field in enumerate(self.fields)}
        return np.arange(1, len(starts) + 1, dtype=np.int64), tables, np.concatenate([zero, walk.end])

    def _walk_beside(self, heap: Any, starts: Any, shape: Any, short: Any) -> tuple[Any, dict[int, FieldTable], Any]:
        """Rows whose header is longer than the prefix become shapes of their own, for this chunk only."""
        walk = walk_headers(heap, starts.take(short), self.fields)
        shape = shape.copy()
        shape[short] = np.arange(len(self._end), len(self._end) + len(short), dtype=np.int64)
        tables = {field: self.tables[field].extended(walk.offsets[number], walk.codes[number], walk.lengths[number])
                  for number, field in enumerate(self.fields)}
        return shape, tables, np.concatenate([self._end, walk.end])


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


def _gather_mixed(heap: Any, place: Any, shape: Any, table: FieldTable, wish: FieldWish) -> ColumnVector:
    """Numbers and texts in one column."""
    n = len(place)
    code = table.code.take(shape)
    parts: list[tuple[Any, ColumnVector]] = []
    rows = np.flatnonzero(code >= BLOB_CODE)
    if len(rows):
        tags = _TAGS.take(code.take(rows))
        parts.append((rows, ColumnVector(len(rows), tags, place.take(rows), table.length.take(shape.take(rows)), heap).settled()))
    rows = np.flatnonzero(code < BLOB_CODE)
    if len(rows):
        numbers = FieldTable()
        own = code.take(rows)
        zero = np.zeros(1, np.int64)
        own_places = place.take(rows)
        numbers.set(np.zeros(len(rows) + 1, np.int64), np.concatenate([zero.astype(np.uint8), own]), np.zeros(len(rows) + 1, np.int64))
        ids = np.arange(1, len(rows) + 1, dtype=np.int64)
        parts.append((rows, gather(heap, own_places, ids, numbers, wish)))
    return merge(n, parts)


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

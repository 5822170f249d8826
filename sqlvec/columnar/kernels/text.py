"""Kernels over text and blob bytes: words, comparison, folding, hashing.

Bytes are handled eight at a time.  A *prefix word* is the first eight bytes as a big-endian number with zero bytes behind the end of a short
value: comparing prefix words as unsigned numbers compares the bytes, and only ties look further.  Values that are equal up to the end of
the shorter one are ordered by length, so embedded NUL bytes need no special care.
"""
from __future__ import annotations

from sqlvec.columnar.key_table import multiplier
from sqlvec.columnar.numeric import distinct, np
from sqlvec.columnar.vector import ColumnVector, load_word_pairs, load_words, pack_text, tail_mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEAD_MASK = np.array([((1 << 64) - 1) ^ ((1 << (64 - 8 * k)) - 1) for k in range(9)], np.uint64)


def prefix_words(vector: ColumnVector) -> Any:
    """The first 8 bytes of each value as big-endian ``uint64``, zero-padded (one element for a constant); remembered."""
    found = vector.prefix
    if found is None:
        found = vector.prefix = _prefix_words(vector)
    return found


def _prefix_words(vector: ColumnVector) -> Any:
    length = vector.length
    if type(length) is int:
        if length == 0:
            return np.zeros(len(vector.bits), np.uint64)
        if length == 1:
            return vector.heap.take(vector.bits).astype(np.uint64) << np.uint64(56)
        words = load_words(vector.heap, vector.bits).byteswap()
        return words & _HEAD_MASK[length] if length < 8 else words
    words = load_words(vector.heap, vector.bits).byteswap()
    if len(length) and int(length.min()) < 8:
        words &= _HEAD_MASK.take(np.minimum(length, 8))
    return words


def words_at(vector: ColumnVector, number: int, rows: Any) -> Any:
    """Big-endian word ``number`` of the values at ``rows``; zero where the value is shorter."""
    constant = len(vector.bits) == 1
    length = vector.length
    if constant:
        left = (length if type(length) is int else int(length[0])) - 8 * number
        if left <= 0:
            return np.zeros(1, np.uint64)
        return load_words(vector.heap, vector.bits + 8 * number).byteswap() & _HEAD_MASK[min(left, 8)]
    places = vector.bits.take(rows) + 8 * number
    if type(length) is int:
        left = length - 8 * number
        if left <= 0:
            return np.zeros(len(rows), np.uint64)
        return load_words(vector.heap, places).byteswap() & _HEAD_MASK[min(left, 8)]
    left = np.clip(length.take(rows) - 8 * number, 0, 8)
    return load_words(vector.heap, np.minimum(places, len(vector.heap) - 8)).byteswap() & _HEAD_MASK.take(left)


def _lengths_at(vector: ColumnVector, rows: Any) -> Any:
    length = vector.length
    if type(length) is int:
        return length
    return length if len(length) == 1 else length.take(rows)


def _longest(vector: ColumnVector) -> int:
    length = vector.length
    if type(length) is int:
        return length
    return int(length.max()) if len(length) else 0


def equal_bytes(left: ColumnVector, right: ColumnVector) -> Any:
    """Mask of equal values (both of one class, BINARY)."""
    n = max(len(left.bits), len(right.bits))
    left_length, right_length = left.length, right.length
    if type(left_length) is int and type(right_length) is int:
        if left_length != right_length:
            return np.zeros(n, bool)
        mask = prefix_words(left) == prefix_words(right)
    else:
        mask = prefix_words(left) == prefix_words(right)
        mask &= left_length == right_length
    longest = min(_longest(left), _longest(right))
    number = 1
    while 8 * number < longest:
        rows = np.flatnonzero(mask)
        if not len(rows):
            break
        mask[rows] = words_at(left, number, rows) == words_at(right, number, rows)
        number += 1
    return mask


def order_bytes(left: ColumnVector, right: ColumnVector) -> tuple[Any, Any]:
    """(less, equal) masks by memcmp, then length."""
    first, second = prefix_words(left), prefix_words(right)
    less = first < second
    equal = first == second
    ties = np.flatnonzero(equal)
    if len(ties):
        longest = max(_longest(left), _longest(right))
        number = 1
        while 8 * number < longest and len(ties):
            a, b = words_at(left, number, ties), words_at(right, number, ties)
            less[ties] = a < b
            same = a == b
            equal[ties] = same
            ties = ties[np.broadcast_to(same, len(ties))]
            number += 1
        if len(ties):
            a, b = _lengths_at(left, ties), _lengths_at(right, ties)
            less[ties] = a < b
            equal[ties] = a == b
    return less, equal


# --- collations ----------------------------------------------------------------------------------------------------------------------


def folded(vector: ColumnVector, collation: str) -> ColumnVector:
    """TEXT values whose BINARY order and equality are those of ``collation`` (NOCASE or RTRIM)."""
    if collation == "BINARY":
        return vector
    heap, starts = pack_text(vector.heap, vector.bits, _length_array(vector))
    if collation == "NOCASE":
        words = heap.view(np.uint64).copy()
        return ColumnVector(vector.count, vector.tags, starts, vector.length, lower_words(words).view(np.uint8), vector.is_constant)
    lengths = _length_array(vector).copy()
    rows = np.flatnonzero(lengths)
    while len(rows):
        rows = rows[heap.take(starts.take(rows) + lengths.take(rows) - 1) == 32]
        lengths[rows] -= 1
        rows = rows[lengths.take(rows) > 0]
    return ColumnVector(vector.count, vector.tags, starts, lengths, heap, vector.is_constant)


def _length_array(vector: ColumnVector) -> Any:
    if type(vector.length) is int:
        return np.full(len(vector.bits), vector.length, np.int64)
    return vector.length


_ONES = np.uint64(0x0101010101010101)
_HIGH = np.uint64(0x8080808080808080)
_LOW7 = np.uint64(0x7F7F7F7F7F7F7F7F)


def lower_words(words: Any) -> Any:
    """ASCII letters A-Z of 8 bytes at once to lower case."""
    seven = words & _LOW7
    from_a = seven + np.uint64((128 - 65) * 0x0101010101010101)
    beyond_z = seven + np.uint64((128 - 91) * 0x0101010101010101)
    is_upper = (from_a ^ beyond_z) & ~words & _HIGH
    return words | (is_upper >> np.uint64(2))


_TAIL_ONES = np.array([0x0101010101010101 & ~((1 << (8 * k)) - 1) for k in range(9)], np.uint64)


def odd_rows(vector: ColumnVector) -> Any:
    """The rows whose text isn't plain: a byte of 128 and more, or a zero byte; in the others characters are bytes.

    One look-up gives 16 bytes of every row, and nearly always one reduction says that no row is odd."""
    length = vector.length
    longest = _longest(vector)
    is_one = type(length) is int
    found = []
    rows: Any = None
    for start in range(0, longest, 16):
        places = vector.bits if not start else vector.bits + start if is_one else None
        left = length - start
        if places is None:
            rows = np.flatnonzero(length > start)
            places, left = vector.bits.take(rows) + start, left.take(rows)
        if longest - start > 8:
            first, second = load_word_pairs(vector.heap, places)
            marks = _odd_bytes(first, left)
            marks |= _odd_bytes(second, left - 8)
        else:
            marks = _odd_bytes(load_words(vector.heap, places), left)
        if np.bitwise_or.reduce(marks) & _HIGH:
            here = np.flatnonzero(marks & _HIGH)
            found.append(here if rows is None else rows.take(here))
    if not found:
        return np.zeros(0, np.int64)
    return found[0] if len(found) == 1 else distinct(np.concatenate(found))


def _odd_bytes(words: Any, left: Any) -> Any:
    """Words whose top bits are set for odd bytes among the first ``left`` of 8; what lies behind counts as ones."""
    if type(left) is int:
        if left < 8:
            words = (words & tail_mask(max(left, 0))) | _TAIL_ONES[max(left, 0)]
    elif len(left) and int(left.min()) < 8:
        left = np.clip(left, 0, 8)
        words = words & tail_mask(left)
        words |= _TAIL_ONES.take(left)
    marks = words - _ONES
    marks &= ~words
    marks |= words
    return marks


# --- searching -----------------------------------------------------------------------------------------------------------------------


def copied_side_by_side(vector: ColumnVector, width: int) -> Any:
    """The texts, each in ``width`` bytes of a new array with whatever follows it; None where the heap ends too soon for that."""
    heap = vector.heap
    if not vector.count or width > 256 or int(vector.bits.max()) + width > len(heap):
        return None
    return np.ndarray((len(heap) - width + 1,), f"V{width}", heap, strides=(1,))[vector.bits].view(np.uint8)


def places_of(heap: Any, low: int, high: int, piece: bytes) -> Any:
    """Where ``piece`` (lower-case ASCII) occurs in ``heap[low:high]``, ASCII letters of any case, ascending."""
    window = heap[low:high]
    room = len(window) - len(piece) + 1
    if room <= 0:
        return np.zeros(0, np.int64)
    hits = _hits(window[:room], piece[0])
    if len(piece) > 1:
        hits = np.logical_and(hits, _hits(window[1:1 + room], piece[1]), out=hits)
    found = _sparse_nonzero(hits)
    for position, byte in enumerate(piece[2:], 2):
        here = window.take(found + position)
        found = found[((here | 32) if 97 <= byte <= 122 else here) == byte]
    return found + low


def _hits(window: Any, byte: int) -> Any:
    return ((window | 32) if 97 <= byte <= 122 else window) == byte


def _sparse_nonzero(mask: Any) -> Any:
    """As ``np.flatnonzero`` of a boolean array that is nearly all false: eight at a time."""
    whole = len(mask) & ~7
    words = np.flatnonzero(mask[:whole].view(np.uint64))
    found = np.flatnonzero(mask[:whole].reshape(-1, 8).take(words, 0))
    found = (words.take(found >> 3) << 3) + (found & 7)
    if whole < len(mask):
        found = np.concatenate([found, np.flatnonzero(mask[whole:]) + whole])
    return found


def begin_with(vector: ColumnVector, piece: bytes, ignores_case: bool) -> Any:
    """Mask of the texts that begin with ``piece`` (ASCII; lower case where case of ASCII letters is ignored)."""
    length = vector.length
    mask: Any = None
    if type(length) is not int:
        mask = length >= len(piece)
    elif length < len(piece):
        return np.zeros(len(vector.bits), bool)
    for start in range(0, len(piece), 8):
        part = piece[start:start + 8]
        fold = bytes(32 if ignores_case and 97 <= byte <= 122 else 0 for byte in part)
        wanted, folding, kept = (np.uint64(int.from_bytes(one, "little")) for one in (part, fold, b"\xff" * len(part)))
        if start:
            rows = np.flatnonzero(mask)
            words = load_words(vector.heap, vector.bits.take(rows) + start)
        else:
            words = load_words(vector.heap, vector.bits)
        if len(part) < 8:
            words &= kept
        if folding:
            words |= folding
        if start:
            mask[rows] = words == wanted
        else:
            same = words == wanted
            mask = same if mask is None else np.logical_and(mask, same, out=mask)
    return mask


# --- hashing -------------------------------------------------------------------------------------------------------------------------


def hash_bytes(vector: ColumnVector) -> Any:
    """A 64-bit hash of each value's bytes and length."""
    n = len(vector.bits)
    lengths = _length_array(vector)
    total = lengths.view(np.uint64) * multiplier(7)
    longest = int(lengths.max()) if n else 0
    rows: Any = None
    for number in range((longest + 7) // 8):
        if rows is None and int(lengths.min()) >= 8 * (number + 1):
            words = load_words(vector.heap, vector.bits + 8 * number)
            total = (total ^ words) * multiplier(number)
            total ^= total >> np.uint64(29)
            continue
        rows = np.flatnonzero(lengths > 8 * number) if rows is None else rows[lengths.take(rows) > 8 * number]
        left = np.minimum(lengths.take(rows) - 8 * number, 8)
        words = load_words(vector.heap, vector.bits.take(rows) + 8 * number) & tail_mask(left)
        part = (total.take(rows) ^ words) * multiplier(number)
        part ^= part >> np.uint64(29)
        total[rows] = part
    return total


def short_words(vector: ColumnVector) -> Any:
    """Values of up to 7 bytes as one exact word: the bytes, and the length in the top byte."""
    length = vector.length
    if type(length) is int:
        top = np.uint64(length << 56)
        if length == 1:
            return vector.heap.take(vector.bits).astype(np.uint64) | top
        if length == 0:
            return np.full(len(vector.bits), top, np.uint64)
        return (load_words(vector.heap, vector.bits) & tail_mask(length)) | top
    return (load_words(vector.heap, vector.bits) & tail_mask(length)) | (length.view(np.uint64) << np.uint64(56))

"""SQL values as exact 64-bit keys, one column or many at a time.

:class:`ColumnKeys` turns a vector into a *class* (one number, or one per row) and a *word* per row, such that two values are equal exactly if
class and word are: the form that :class:`KeyTable` takes.

* NULL is class 0.  Integers are class 1 with themselves as word, other reals class 2 with their bits; ``-0.0`` is ``0.0``.
* An integer and a real that are equal must meet: a column remembers whether it began with integers (then integral reals become
  integers) or with reals (then integers that a double holds exactly become doubles).
* Text of up to 7 bytes is its own word.  Longer text is interned.  Up to 15 bytes are two words, which a table numbers exactly; beyond that the
  number comes from a table of hashes, and every row is verified against the bytes kept, so that a collision of hashes is noticed
  (:class:`HashCollision`), never believed.
* ``exact`` keys keep 1 and 1.0 apart, as evaluation of a function needs it.

:class:`KeySet` joins several columns: key ids for GROUP BY, DISTINCT, set operations and joins.  As long as every column keeps the class
that it began with, the classes are not part of the key; the first row that differs adds a class word to all keys.

:class:`Lift` is the dictionary lift: distinct values of a column with a result for each.
"""
from __future__ import annotations

from sqlvec.columnar.kernels.text import equal_bytes, folded, hash_bytes, short_words
from sqlvec.columnar.key_table import KeyTable
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import EMPTY_HEAP, INTEGER, NULL, REAL, TEXT, ColumnVector, TextArena, load_word_pairs, of_one_tag, tail_mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_LONG = np.uint64(0xFF << 56)
_MEDIUM = np.uint64(0xFE << 56)
_TWO_63 = 9223372036854775808.0


class HashCollision(Exception):
    """Two different texts with one 64-bit hash: the work is done again without hashing."""


def table_bytes(table: KeyTable) -> int:
    """How much memory a table takes: its slots (twice) and keys."""
    return 16 * len(table.slots) + 8 * table.width * table.capacity


class ColumnKeys:
    """Encodes the values of one column, batch after batch; see the module text."""

    __slots__ = ("_pairs", "_texts", "collation", "exact", "form")

    def __init__(self, collation: str = "BINARY", exact: bool = False) -> None:
        self.collation = collation.upper()
        self.exact = exact
        self.form = NULL                          # INTEGER or REAL once a number was seen
        self._texts: _LongTexts | None = None
        self._pairs: KeyTable | None = None       # of 8 to 15 bytes

    def bytes(self) -> int:
        """How much memory the texts kept take."""
        total = 0 if self._pairs is None else table_bytes(self._pairs)
        return total if self._texts is None else total + table_bytes(self._texts.table) + self._texts.texts.bytes()

    def encode(self, vector: ColumnVector, adding: bool = True) -> tuple[Any, Any]:
        """(class, word) of each value; words have one element for a constant."""
        if vector.codes is not None and vector.dictionary is not None and vector.dictionary.count < vector.count:
            classes, words = self.encode(vector.dictionary, adding)
            return (classes if type(classes) is int else classes.take(vector.codes)), words.take(vector.codes)
        if vector.bits is None:
            vector = vector.flat()
        tags = vector.tags
        if type(tags) is int:
            return self._pure(vector, tags, adding)
        n = len(vector.bits)
        counts = np.bincount(tags, minlength=5)
        most = int(counts.argmax())
        if most in (INTEGER, REAL):
            # nearly all are such numbers: encode all rows as if they were, then put the others right
            one, words = self._pure(of_one_tag(vector, most), most, adding)
            words = words.copy() if words.base is not None else words
            classes = np.full(n, one, np.uint8) if type(one) is int else one
            counts[most] = 0
        else:
            classes = np.zeros(n, np.uint8)
            words = np.zeros(n, np.uint64)
        for tag in np.flatnonzero(counts).tolist():
            rows = np.flatnonzero(tags == tag)
            if tag == NULL:
                classes[rows] = 0
                words[rows] = 0
                continue
            part = vector.take(rows)
            part.tags = tag
            classes[rows], words[rows] = self._pure(part, tag, adding)
        return classes, words

    def _pure(self, vector: ColumnVector, tag: int, adding: bool) -> tuple[Any, Any]:
        if tag == INTEGER:
            return self._integers(vector.bits)
        if tag == REAL:
            return self._reals(vector.reals)
        if tag == NULL:
            return 0, np.zeros(len(vector.bits), np.uint64)
        if tag == TEXT and self.collation != "BINARY":
            vector = folded(vector, self.collation)
        longest = vector.length if type(vector.length) is int else int(vector.length.max()) if len(vector.length) else 0
        if longest <= 7:
            words = short_words(vector)
        else:
            words = self._long_words(vector, adding)
        return (3 if tag == TEXT else 4), words

    def _integers(self, values: Any) -> tuple[Any, Any]:
        if not self.form:
            self.form = INTEGER
        if self.form == INTEGER or self.exact:
            return 1, values.view(np.uint64)
        doubles = values.astype(np.float64)
        inside = (doubles < _TWO_63) & (doubles >= -_TWO_63)
        fits = inside & (np.where(inside, doubles, 0.0).astype(np.int64) == values)
        bits = doubles.view(np.uint64)
        if fits.all():
            return 2, bits
        return np.where(fits, np.uint8(2), np.uint8(1)), np.where(fits, bits, values.view(np.uint64))

    def _reals(self, doubles: Any) -> tuple[Any, Any]:
        if self.exact:
            return 2, doubles.view(np.uint64)
        if not self.form:
            self.form = REAL
        if self.form == REAL:
            return 2, (doubles + 0.0).view(np.uint64)
        inside = (doubles < _TWO_63) & (doubles >= -_TWO_63)
        whole = np.where(inside, doubles, 0.0).astype(np.int64)
        integral = inside & (whole == doubles)
        if integral.all():
            return 1, whole.view(np.uint64)
        return np.where(integral, np.uint8(1), np.uint8(2)), np.where(integral, whole.view(np.uint64), doubles.view(np.uint64))

    def _long_words(self, vector: ColumnVector, adding: bool) -> Any:
        """Words where some texts have 8 and more bytes."""
        lengths = vector.length
        if type(lengths) is int:
            return self._interned(vector, lengths > 15, adding)
        shortest, longest = int(lengths.min()), int(lengths.max())
        if shortest > 7 and (shortest > 15 or longest < 16):
            return self._interned(vector, shortest > 15, adding)
        words = np.empty(len(vector.bits), np.uint64)
        rows = np.flatnonzero(lengths < 8)
        if len(rows):
            words[rows] = short_words(vector.take(rows))
        for is_long, mask in ((False, (lengths > 7) & (lengths < 16)), (True, lengths > 15)):
            rows = np.flatnonzero(mask)
            if len(rows):
                words[rows] = self._interned(vector.take(rows), is_long, adding)
        return words

    def _interned(self, vector: ColumnVector, is_long: bool, adding: bool) -> Any:
        """Words of texts that all have 8 to 15 bytes, or all 16 and more."""
        if is_long:
            if self._texts is None:
                self._texts = _LongTexts()
            return self._texts.words(vector, adding)
        if self._pairs is None:
            self._pairs = KeyTable(2)
        first, second = load_word_pairs(vector.heap, vector.bits)
        lengths = vector.length
        if type(lengths) is int:
            pair = [first, (second & tail_mask(lengths - 8)) | np.uint64(lengths << 56)]
        else:
            pair = [first, (second & tail_mask(lengths - 8)) | (lengths.view(np.uint64) << np.uint64(56))]
        ids = self._pairs.add(pair) if adding else self._pairs.find(pair)
        return ids.view(np.uint64) | _MEDIUM


class _LongTexts:
    """Interned texts of 16 and more bytes: hash -> number, verified by bytes."""

    __slots__ = ("table", "texts")

    def __init__(self) -> None:
        self.table = KeyTable(1)
        self.texts = TextArena()
        self.texts.append(ColumnVector(1, TEXT, np.zeros(1, np.int64), 0, EMPTY_HEAP))     # ids begin at 1

    def words(self, vector: ColumnVector, adding: bool) -> Any:
        if vector.is_constant:
            vector = ColumnVector(1, vector.tags, vector.bits, vector.length, vector.heap)
        hashes = hash_bytes(vector)
        if not adding:
            ids = self.table.find([hashes])
            rows = np.flatnonzero(ids)
            if len(rows) and not equal_bytes(_as_text(vector.take(rows)), self.texts.take(ids.take(rows))).all():
                raise HashCollision
            return ids.view(np.uint64) | _LONG
        known = self.table.count
        ids = self.table.add([hashes])
        if self.table.count > known:
            is_new = np.flatnonzero(ids > known)
            first = np.zeros(self.table.count - known, np.int64)
            first[ids.take(is_new)[::-1] - known - 1] = is_new[::-1]
            self.texts.append(vector.take(first))
        if not equal_bytes(_as_text(vector), self.texts.take(ids)).all():
            raise HashCollision
        return ids.view(np.uint64) | _LONG


def _as_text(vector: ColumnVector) -> ColumnVector:
    """Blobs compare as text does."""
    return ColumnVector(vector.count, TEXT, vector.bits, vector.length, vector.heap)


class KeySet:
    """Ids of rows of several columns; ids as those of :class:`KeyTable`."""

    __slots__ = ("_byte_ids", "_classes", "_has_classes", "columns", "table")

    def __init__(self, collations: Sequence[str], exact: bool = False) -> None:
        self._byte_ids: Any = None                # id by the bytes of one or two one-byte texts, 0 unknown
        self.columns = [ColumnKeys(collation, exact) for collation in collations]
        self.table = KeyTable(max(1, len(self.columns)))
        self._classes: list[int] | None = None
        self._has_classes = False

    @property
    def count(self) -> int:
        return self.table.count

    def bytes(self) -> int:
        """How much memory the keys take."""
        return table_bytes(self.table) + sum(column.bytes() for column in self.columns)

    def add(self, vectors: Sequence[ColumnVector], count: int) -> Any:
        """The id of each row, new keys numbered in row order."""
        if len(vectors) <= 2 and all(_is_one_byte(vector) for vector in vectors):
            return self._add_bytes(vectors, count)
        return self._add(vectors, count)

    def _add_bytes(self, vectors: Sequence[ColumnVector], count: int) -> Any:
        """Keys of one or two one-byte texts: a table by these bytes stands in front of the general one."""
        if self._byte_ids is None:
            self._byte_ids = np.zeros(1 << 16, np.int64)
        first = vectors[0]
        codes = first.heap.take(first.bits).astype(np.int64)
        if len(vectors) == 2:
            second = vectors[1]
            codes <<= 8
            codes |= second.heap.take(second.bits)
        ids = self._byte_ids.take(codes)
        if ids.all():
            return ids
        rows = np.flatnonzero(ids == 0)
        own = self._add([vector.take(rows) for vector in vectors], len(rows))
        self._byte_ids[codes.take(rows)] = own
        ids[rows] = own
        return ids

    def _add(self, vectors: Sequence[ColumnVector], count: int) -> Any:
        classes, words = self._encode(vectors, count, True)
        if self._classes is None:
            if all(type(one) is int for one in classes):
                self._classes = classes
            else:
                self._classes = []
                self._has_classes = True
                self.table = KeyTable(len(self.columns) + self._class_words())
        if not self._has_classes and classes != self._classes_now(classes):
            self._add_class_words()
        if self._has_classes:
            words += self._join_classes(classes, count)
        return self.table.add(words)

    def find(self, vectors: Sequence[ColumnVector], count: int) -> Any:
        """The id of each row, 0 where the key is absent."""
        if not self.table.count:
            return np.zeros(count, np.int64)
        classes, words = self._encode(vectors, count, False)
        if not self._has_classes and classes != self._classes_now(classes):
            other = np.zeros(count, bool)
            for one, own in zip(classes, self._classes or [], strict=True):
                other |= one != own
            ids = self.table.find(words)
            ids[other] = 0
            return ids
        if self._has_classes:
            words += self._join_classes(classes, count)
        return self.table.find(words)

    def _classes_now(self, classes: list[Any]) -> list[Any] | None:
        """The classes of the table if all of ``classes`` are single numbers, else None (which equals no list)."""
        return self._classes if all(type(one) is int for one in classes) else None

    def _encode(self, vectors: Sequence[ColumnVector], count: int, adding: bool) -> tuple[list[Any], list[Any]]:
        classes = []
        words = []
        for column, vector in zip(self.columns, vectors, strict=True):
            one, word = column.encode(vector, adding)
            if len(word) != count:
                word = np.full(count, word[0], np.uint64)
                if type(one) is not int:
                    one = int(one[0])
            classes.append(one)
            words.append(word)
        return classes, words

    def _class_words(self) -> int:
        return (len(self.columns) + 20) // 21

    def _join_classes(self, classes: list[Any], count: int) -> list[Any]:
        out = []
        for first in range(0, len(classes), 21):
            joined = np.zeros(count, np.uint64)
            for position, one in enumerate(classes[first:first + 21]):
                if type(one) is int:
                    joined |= np.uint64(one << (3 * position))
                else:
                    joined |= one.astype(np.uint64) << np.uint64(3 * position)
            out.append(joined)
        return out

    def _add_class_words(self) -> None:
        """From now on classes are part of the key; the keys so far get the classes that they all have."""
        assert self._classes is not None
        old = self.table
        count = old.count
        self._has_classes = True
        self.table = KeyTable(old.width + self._class_words(), count)
        if count:
            words = [key[1:count + 1].copy() for key in old.keys]
            self.table.add(words + self._join_classes(self._classes, count))


def _is_one_byte(vector: ColumnVector) -> bool:
    return type(vector.length) is int and vector.length == 1 and type(vector.tags) is int and vector.tags == TEXT and not vector.is_constant


class Lift:
    """Distinct values of one column, each with what an expression gives for it.

    ``codes(vector)`` gives per row an index into the tables; ``fresh`` then holds the values that are new, in order, for which the caller
    appends results.  ``is_worthwhile`` turns False once most values are distinct."""

    __slots__ = ("_keys", "_rows", "fresh", "is_worthwhile", "results")

    def __init__(self) -> None:
        self._keys = KeySet(["BINARY"], exact=True)
        self._rows = 0
        self.is_worthwhile = True
        self.fresh: ColumnVector | None = None
        self.results: Any = None

    def codes(self, vector: ColumnVector) -> Any:
        known = self._keys.count
        ids = self._keys.add([vector], vector.count)
        self.fresh = None
        self._rows += vector.count
        count = self._keys.count
        if count > known:
            is_new = np.flatnonzero(ids > known)
            first = np.zeros(count - known, np.int64)
            first[ids.take(is_new)[::-1] - known - 1] = is_new[::-1]
            self.fresh = vector.take(first)
            if count > 1000 and 3 * count > self._rows:
                self.is_worthwhile = False
        return ids - 1


__all__ = ["ColumnKeys", "HashCollision", "KeySet", "Lift"]

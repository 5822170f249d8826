"""The one hash table of the vector engine: rows of 64-bit words -> small ids.

GROUP BY, DISTINCT, distinct aggregates, set operations, join builds and the header shapes of the leaf decoder all ask the same
question: "have I seen this key before, and as which number?".  A key is ``width`` words of 64 bits; two keys are equal exactly if all
words are (``columnar/dictionary.py`` makes such words from SQL values).  Open addressing with linear probing, every step for all rows at
once::

    slot = (w0 * C0 + w1 * C1 ...) >> shift          multiply-shift
    id   = slots[slot]                               0 = empty
    ok   = id and all keys[id] == words              verified exactly; the rows that are not ok go to the next slot

Invariants:

1. Ids start at 1 and grow in the order of first appearance, row by row; 0 means "absent".
2. ``slots`` is at most half full; a small table is much emptier (:func:`slots_for`), so that nearly every key is found in its home slot.
3. ``keys[j][id]`` is word j of key ``id``; entry 0 is never a key.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_MULTIPLIERS = [
    0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93,
    0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3,
]
_FIRST_BITS = 10
_PROBE_SAMPLE = 512
_SPARSE = 16
_SMALL = 2048


def multiplier(position: int) -> Any:
    """The odd multiplier of word ``position``."""
    return np.uint64((_MULTIPLIERS[position & 7] + 2 * position) & 0xFFFFFFFFFFFFFFFF)


def hash_words(words: Sequence[Any]) -> Any:
    """One 64-bit hash per row; the high bits are the good ones."""
    total = words[0] * multiplier(0)
    for position in range(1, len(words)):
        total += words[position] * multiplier(position)
    return total


def slots_for(count: int) -> int:
    """How many slots (at least) a table of ``count`` keys has."""
    return max(_SPARSE * count if count <= _SMALL else _SPARSE * _SMALL, 2 * count)


class KeyTable:
    """Maps rows of ``width`` words to ids; see the module text."""

    __slots__ = ("_claims", "_shift", "capacity", "count", "keys", "slots", "width")

    def __init__(self, width: int, expected: int = 0) -> None:
        bits = max(_FIRST_BITS, slots_for(expected).bit_length())
        self.width = width
        self.count = 0
        self._allocate_slots(bits)
        self.capacity = max(256, expected + 1)
        self.keys = [np.zeros(self.capacity, np.uint64) for _ in range(width)]

    def _allocate_slots(self, bits: int) -> None:
        self.slots = np.zeros(1 << bits, np.int64)
        self._claims = np.zeros(1 << bits, np.int64)
        self._shift = np.uint64(64 - bits)

    # --- looking up ------------------------------------------------------------------------------------------------------------

    def _matches(self, ids: Any, words: Sequence[Any]) -> Any:
        ok = self.keys[0].take(ids) == words[0]
        for position in range(1, self.width):
            ok &= self.keys[position].take(ids) == words[position]
        return ok

    def find(self, words: Sequence[Any]) -> Any:
        """The id of each row, 0 where the key is absent."""
        slot = (hash_words(words) >> self._shift).view(np.int64)
        ids = self.slots.take(slot)
        ok = self._matches(ids, words)
        ok |= ids == 0
        if ok.all():
            return ids
        mask = len(self.slots) - 1
        pending = np.flatnonzero(~ok)
        at = slot.take(pending)
        rows = [word.take(pending) for word in words]
        while len(pending):
            at = (at + 1) & mask
            found = self.slots.take(at)
            good = self._matches(found, rows)
            good |= found == 0
            ids[pending[good]] = found[good]
            left = np.flatnonzero(~good)
            pending = pending.take(left)
            at = at.take(left)
            rows = [word.take(left) for word in rows]
        return ids

    # --- adding ------------------------------------------------------------------------------------------------------------------

    def add(self, words: Sequence[Any]) -> Any:
        """The id of each row; keys not seen before get the next ids in row order."""
        n = len(words[0])
        slot = (hash_words(words) >> self._shift).view(np.int64)
        ids = self.slots.take(slot)
        ok = self._matches(ids, words)
        if ok.all() and ids.all():
            return ids
        ok &= ids != 0
        pending = np.flatnonzero(~ok)
        if len(pending) > _PROBE_SAMPLE and slots_for(self.count + len(pending)) > len(self.slots):
            # Few of them may be new: learn from a sample before growing for all of them.
            return self._add_in_parts(words, ids, pending, n)
        self._reserve(len(pending))
        slot = slot.take(pending) if not self._grown(len(pending)) else None
        rows = [word.take(pending) for word in words]
        ids[pending] = self._insert(rows, slot)
        return ids

    def _add_in_parts(self, words: Sequence[Any], ids: Any, pending: Any, n: int) -> Any:
        before = self.count
        head, tail = pending[:_PROBE_SAMPLE], pending[_PROBE_SAMPLE:]
        self._reserve(len(head))
        self._grown(len(head))
        ids[head] = self._insert([word.take(head) for word in words], None)
        rows = [word.take(tail) for word in words]
        if self.count - before > _PROBE_SAMPLE // 4:
            self._reserve(len(tail))
            self._grown(len(tail))
            ids[tail] = self._insert(rows, None)
        else:
            ids[tail] = self.add(rows)
        return ids

    def _reserve(self, more: int) -> None:
        """Room for ``more`` keys in the key arrays."""
        need = self.count + more + 1
        if need <= self.capacity:
            return
        self.capacity = max(need, 2 * self.capacity)
        for position, key in enumerate(self.keys):
            bigger = np.zeros(self.capacity, np.uint64)
            bigger[:self.count + 1] = key[:self.count + 1]
            self.keys[position] = bigger

    def _grown(self, more: int) -> bool:
        """Grow the slots for ``more`` keys; True if everything was hashed anew."""
        need = slots_for(self.count + more)
        if need <= len(self.slots):
            return False
        bits = need.bit_length()
        self._allocate_slots(bits)
        if self.count:
            ids = np.arange(1, self.count + 1, dtype=np.int64)
            words = [key[1:self.count + 1] for key in self.keys]
            at = (hash_words(words) >> self._shift).view(np.int64)
            mask = len(self.slots) - 1
            while len(ids):
                free = np.flatnonzero(self.slots.take(at) == 0)
                chosen = at.take(free)
                self.slots[chosen] = ids.take(free)
                lost = self.slots.take(at) != ids
                ids = ids[lost]
                at = (at[lost] + 1) & mask
        return True

    def _insert(self, rows: list[Any], slot: Any) -> Any:
        """Ids of the rows, adding what is new; ``slot`` is their home slot when known."""
        n = len(rows[0])
        if slot is None:
            slot = (hash_words(rows) >> self._shift).view(np.int64)
        ids = np.zeros(n, np.int64)
        pending = np.arange(n, dtype=np.int64)
        mask = len(self.slots) - 1
        first = self.count
        news: list[Any] = []
        new_slots: list[Any] = []
        while len(pending):
            found = self.slots.take(slot)
            is_empty = found == 0
            if is_empty.any():
                at = slot[is_empty]
                who = pending[is_empty]
                self._claims[at[::-1]] = who[::-1]          # the first row of a slot wins: the last assignment stays
                won = self._claims.take(at) == who
                winners = who[won]
                fresh = np.arange(self.count + 1, self.count + 1 + len(winners), dtype=np.int64)
                for position in range(self.width):
                    self.keys[position][fresh] = rows[position].take(winners)
                self.slots[at[won]] = fresh
                self.count += len(winners)
                news.append(winners)
                new_slots.append(at[won])
                found = self.slots.take(slot)
            ok = self.keys[0].take(found) == rows[0].take(pending)
            for position in range(1, self.width):
                ok &= self.keys[position].take(found) == rows[position].take(pending)
            ids[pending[ok]] = found[ok]
            left = np.flatnonzero(~ok)
            pending = pending.take(left)
            slot = (slot.take(left) + 1) & mask
        if len(news) > 1:
            self._renumber(first, ids, np.concatenate(news), np.concatenate(new_slots))
        return ids

    def _renumber(self, first: int, ids: Any, new_rows: Any, new_slots: Any) -> None:
        """Put the ids above ``first`` into the order of their first rows (invariant 1)."""
        order = np.argsort(new_rows, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(first + 1, first + 1 + len(order), dtype=np.int64)
        self.slots[new_slots] = rank
        for key in self.keys:
            key[first + 1:first + 1 + len(order)] = key[first + 1:first + 1 + len(order)][order]
        is_new = np.flatnonzero(ids > first)
        ids[is_new] = rank.take(ids.take(is_new) - first - 1)

"""LIKE over columns of many distinct texts.

A pattern such as ``%special%requests%`` can only match a text that contains its longest literal piece.  All texts of a batch lie in one
heap, so one search of the heap (or of copies of the texts, where much else lies between) finds every place where the piece occurs, letters of
both cases; the few texts that contain such a place are candidates, and each is matched by the function that the row engine calls.  Where the
pattern is ``%piece%`` alone, plain candidates match as they are.

``abc%`` and GLOB ``abc*`` compare the first bytes as words, nothing else.

Only built-in LIKE (and that form of GLOB) with a constant pattern of ASCII literals takes this road: case folding of LIKE is ASCII only, which is what
``bytes.lower`` does.
"""
from __future__ import annotations

from sqlvec.columnar.kernels.text import begin_with, copied_side_by_side, odd_rows, places_of
from sqlvec.columnar.numeric import distinct, np
from sqlvec.columnar.vector import NULL, TEXT, ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.vector.evaluate import Evaluator
    from sqlvec.expr.bound import Call

_SHORTEST = 2
_LONGEST = 1000


class LikeSearch:
    """A LIKE whose pattern has a literal piece worth searching for; ``is_prefix``: the piece is the beginning and the rest is anything."""

    __slots__ = ("function", "ignores_case", "is_contained", "is_prefix", "pattern", "piece")

    def __init__(self, pattern: str, piece: bytes, function: Any) -> None:
        self.pattern = pattern
        self.piece = piece
        self.function = function
        self.is_prefix = False
        self.ignores_case = True
        self.is_contained = pattern.lower() == f"%{piece.decode()}%"

    @classmethod
    def of_call(cls, node: Call, evaluator: Evaluator) -> LikeSearch | None:
        """The search for this call, or None where it doesn't fit."""
        function = node.function
        if function.name not in ("like", "glob") or not function.builtin or len(node.arguments) != 2 or function.context:
            return None
        if function.name == "like" and not function.call("a", "A"):
            return None                             # PRAGMA case_sensitive_like
        single = evaluator.constant(node.arguments[0])
        pattern = single.value(0) if single is not None else None
        if type(pattern) is not str or not pattern.isascii() or "\0" in pattern or len(pattern) > _LONGEST:
            return None
        is_glob = function.name == "glob"
        head, rest = pattern[:-1], pattern[-1:]
        if head and rest == ("*" if is_glob else "%") and not any(mark in head for mark in ("*?[" if is_glob else "%_")):
            found = cls(pattern, (head if is_glob else head.lower()).encode(), function.call)
            found.is_prefix = True
            found.ignores_case = not is_glob
            return found
        piece = max(pattern.replace("_", "%").split("%"), key=len)
        if is_glob or len(piece) < _SHORTEST:
            return None
        return cls(pattern, piece.lower().encode(), function.call)

    def truth(self, vector: ColumnVector) -> tuple[Any, Any, Any] | None:
        """(true, unknown, rows that are neither text nor NULL or None) of ``vector LIKE pattern``; None where there are no bytes to search."""
        if vector.bits is None or vector.is_constant or not vector.count:
            return None
        tags = vector.tags
        if type(tags) is int:
            return (self._search(vector), None, None) if tags == TEXT else None
        true = np.zeros(vector.count, bool)
        rows = np.flatnonzero(tags == TEXT)
        if len(rows):
            true[rows] = self._search(vector.take(rows))
        others = np.flatnonzero((tags != TEXT) & (tags != NULL))
        unknown = tags == NULL
        return true, unknown if unknown.any() else None, others if len(others) else None

    def _search(self, vector: ColumnVector) -> Any:
        """Mask of the texts that match; all rows are texts."""
        vector = ColumnVector(vector.count, TEXT, vector.bits, vector.length, vector.heap)
        if self.is_prefix:
            return begin_with(vector, self.piece, self.ignores_case)
        true = np.zeros(vector.count, bool)
        candidates = self._candidates(vector)
        if not len(candidates):
            return true
        if self.is_contained:
            true[candidates] = True                # but for those whose characters aren't their bytes
            candidates = candidates.take(odd_rows(vector.take(candidates)))
        call, pattern = self.function, self.pattern
        texts = vector.take(candidates).values()
        true[candidates] = np.array([bool(call(pattern, text)) for text in texts], bool)
        return true

    def _candidates(self, vector: ColumnVector) -> Any:
        """The rows whose text contains the piece, ascending."""
        offsets = vector.bits
        lengths = vector.length_array()
        low = int(offsets.min())
        high = int((offsets + lengths).max())
        width = (int(lengths.max()) + 7) & ~7
        if vector.count * width < high - low:
            # other columns lie between the texts: copies side by side are less to search
            copies = copied_side_by_side(vector, width)
            if copies is not None:
                found = places_of(copies, 0, len(copies), self.piece)
                rows = found // width
                return distinct(rows[found - rows * width + len(self.piece) <= lengths.take(rows)])
        order = np.argsort(offsets, kind="stable") if (offsets[1:] < offsets[:-1]).any() else None
        sorted_offsets = offsets if order is None else offsets.take(order)
        sorted_ends = sorted_offsets + (lengths if order is None else lengths.take(order))
        if (sorted_offsets[1:] < sorted_ends[:-1]).any():
            # texts that share bytes (a joined row repeats its text): search copies that don't
            return self._candidates(vector.detached())
        found = places_of(vector.heap, low, high, self.piece)
        rows = np.searchsorted(sorted_offsets, found, side="right") - 1
        rows = rows if order is None else order.take(rows)
        inside = found + len(self.piece) <= offsets.take(rows) + lengths.take(rows)
        return distinct(rows[inside])

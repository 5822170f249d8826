"""LIKE over columns of many distinct texts.

A pattern such as ``%special%requests%`` can only match a text that contains its longest literal piece.  All texts of a batch lie in one
heap, so one search of the (lower-cased) heap with the byte-string search of Python finds every place where the piece occurs; the few texts that
contain such a place are candidates, and each is matched by the function that the row engine calls.

Only built-in LIKE with a constant pattern of ASCII literals takes this road: case folding of LIKE is ASCII only, which is what
``bytes.lower`` does.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import distinct, np
from sqlvec.columnar.vector import TEXT, ColumnVector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.vector.evaluate import Evaluator
    from sqlvec.expr.bound import Call

_SHORTEST = 3


class LikeSearch:
    """A LIKE whose pattern has a literal piece worth searching for."""

    __slots__ = ("function", "pattern", "piece")

    def __init__(self, pattern: str, piece: bytes, function: Any) -> None:
        self.pattern = pattern
        self.piece = piece
        self.function = function

    @classmethod
    def of_call(cls, node: Call, evaluator: Evaluator) -> LikeSearch | None:
        """The search for this call, or None where it doesn't fit."""
        function = node.function
        if function.name != "like" or not function.builtin or len(node.arguments) != 2 or function.context:
            return None
        single = evaluator.constant(node.arguments[0])
        pattern = single.value(0) if single is not None else None
        if type(pattern) is not str or not pattern.isascii() or "\0" in pattern:
            return None
        piece = max(pattern.replace("_", "%").split("%"), key=len)
        if len(piece) < _SHORTEST:
            return None
        return cls(pattern, piece.lower().encode(), function.call)

    def truth(self, vector: ColumnVector) -> tuple[Any, Any] | None:
        """(true, unknown) of ``vector LIKE pattern``, or None where a row isn't text."""
        if vector.bits is None or vector.is_constant or type(vector.tags) is not int or vector.tags != TEXT:
            return None
        n = vector.count
        true = np.zeros(n, bool)
        if not n:
            return true, None
        offsets = vector.bits
        lengths = vector.length_array()
        order = np.argsort(offsets, kind="stable") if (offsets[1:] < offsets[:-1]).any() else None
        sorted_offsets = offsets if order is None else offsets.take(order)
        sorted_ends = sorted_offsets + (lengths if order is None else lengths.take(order))
        if (sorted_offsets[1:] < sorted_ends[:-1]).any():
            # texts that share bytes (a joined row repeats its text): search copies that don't
            return self.truth(vector.detached())
        low = int(sorted_offsets[0])
        high = int((offsets + lengths).max())
        raw = vector.heap[low:high].tobytes().lower()
        places = []
        at = raw.find(self.piece)
        while at >= 0:
            places.append(at)
            at = raw.find(self.piece, at + 1)
        if not places:
            return true, None
        found = np.array(places, np.int64) + low
        rows = np.searchsorted(sorted_offsets, found, side="right") - 1
        rows = rows if order is None else order.take(rows)
        inside = found + len(self.piece) <= offsets.take(rows) + lengths.take(rows)
        candidates = distinct(rows[inside])
        call, pattern = self.function, self.pattern
        texts = vector.take(candidates).values()
        true[candidates[np.array([bool(call(pattern, text)) for text in texts], bool)]] = True
        return true, None

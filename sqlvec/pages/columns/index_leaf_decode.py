"""Leaves of index trees (and of WITHOUT ROWID tables), with the entries of interior pages put in between.

In an index tree interior cells are entries too: the one behind child i comes, in key order, after all entries of that child.  A chunk is
therefore the leaves' cells with one *separator* record behind each leaf; the separators were read with the interior pages and are
appended to the heap behind the page bytes::

    leaf 0 entries, separator 0, leaf 1 entries, separator 1 ...

Index cells have no rowid in front of the record: the record begins behind the payload size.
"""
from __future__ import annotations

from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import HEAP_SLACK
from sqlvec.pages.columns.leaf_decode import LEAF_INDEX, Chunk, behind_payload_size, cell_offsets, note_spilled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.pages.page import Layout


def decode_index_leaves(heap: Any, bases: Any, layout: Layout, separators: list[bytes | None]) -> Chunk:
    """Decode the index leaves at ``bases`` of the heap; ``separators[i]`` is the whole payload of the entry behind leaf i, None where there is none."""
    cells, counts = cell_offsets(heap, bases, layout, LEAF_INDEX)
    starts, spilled, payloads = behind_payload_size(heap, cells, layout.max_index)
    present = [number for number, piece in enumerate(separators) if piece is not None]
    if present:
        pieces = [separators[number] for number in present]
        body = len(heap) - HEAP_SLACK
        sizes = np.array([len(piece) for piece in pieces], np.int64)  # type: ignore[arg-type]
        extension = np.frombuffer(b"".join(pieces) + bytes(HEAP_SLACK), np.uint8)  # type: ignore[arg-type]
        heap = np.concatenate([heap[:body], extension])
        ends = np.cumsum(counts)
        behind = ends[present]
        if spilled is not None:
            spilled = spilled + np.searchsorted(behind, spilled, side="right")
        starts = np.insert(starts, behind, body + np.cumsum(sizes) - sizes)
        counts = counts.copy()
        counts[present] += 1
    chunk = Chunk(heap, starts, counts)
    if spilled is not None:
        note_spilled(chunk, spilled, payloads, layout, layout.max_index)
    return chunk

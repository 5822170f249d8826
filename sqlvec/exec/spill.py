"""Temporary files for what doesn't fit the memory budget: frames of raw buffers.

A :class:`SpillFile` is a file without a name: it is unlinked as soon as it is open, so that it disappears on every way out, even when the process
is killed.  What goes in is a *frame*: a small header (anything msgpack takes) and some buffers; what comes back is the header and the buffers.

::

    frame = 4 bytes length of the preamble | msgpack [header, buffer lengths] | buffers, one behind the other
"""
from __future__ import annotations

import os

import msgpack

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def temporary_directory(preferred: str = "") -> str:
    """Where temporary files go: the preferred place, SQLITE_TMPDIR, TMPDIR, or a usual one."""
    for path in (preferred, os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp"):
        if path and os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK):
            return path
    return "."


class SpillFile:
    """Frames that were written, by the offset that ``write`` gave."""

    __slots__ = ("_descriptor", "_size")

    def __init__(self, directory: str = "") -> None:
        path = os.path.join(temporary_directory(directory), f"sqlvec_{os.getpid()}_{os.urandom(8).hex()}")
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
            os.unlink(path)
        except OSError:
            raise errors.cannot_open() from None
        self._size = 0

    def write(self, header: Any, buffers: Sequence[Any]) -> int:
        """Append a frame; returns its offset."""
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        preamble = msgpack.packb([header, [len(view) for view in views]])
        offset = self._size
        self._put(len(preamble).to_bytes(4, "little") + preamble)
        for view in views:
            if len(view):
                self._put(view)
        return offset

    def _put(self, data: Any) -> None:
        done = 0
        view = memoryview(data)
        try:
            while done < len(view):
                done += os.pwrite(self._descriptor, view[done:], self._size + done)
        except OSError:
            raise errors.full() from None
        self._size += done

    def read(self, offset: int) -> tuple[Any, list[bytes]]:
        """The frame at ``offset``."""
        size = int.from_bytes(self._get(offset, 4), "little")
        header, lengths = msgpack.unpackb(self._get(offset + 4, size))
        at = offset + 4 + size
        buffers = []
        for length in lengths:
            buffers.append(self._get(at, length))
            at += length
        return header, buffers

    def _get(self, offset: int, size: int) -> bytes:
        pieces = []
        while size:
            piece = os.pread(self._descriptor, size, offset)
            if not piece:
                raise errors.io_error(errors.IOERR_SHORT_READ)
            pieces.append(piece)
            offset += len(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        """Give the file up."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()

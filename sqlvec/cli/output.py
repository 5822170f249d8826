"""Where the shell's output goes: standard output, a file or a pipe, written in big blocks of bytes.

Text is collected as ``str`` and encoded when a block is full; what SQLite stores as invalid UTF-8 is in the text as surrogate escapes and
becomes its bytes again.  A broken pipe ends the output silently, as a shell pipeline expects.
"""
from __future__ import annotations

import os
import stat
import sys

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BLOCK = 65536


class Output:
    """A buffered writer on a file descriptor; ``write`` takes text, ``flush`` hands it to the system.  A terminal gets its text at once, a pipe after
    each chunk of input (``end_chunk``): who reads it may wait for the answer."""

    __slots__ = ("block", "descriptor", "is_pipe", "name", "pieces", "process", "size")

    def __init__(self, descriptor: int, name: str = "stdout", process: Any = None) -> None:
        self.descriptor = descriptor
        self.name = name
        self.process = process
        self.block = 0 if process is None and os.isatty(descriptor) else BLOCK
        self.is_pipe = process is None and stat.S_ISFIFO(os.fstat(descriptor).st_mode)
        self.pieces: list[str] = []
        self.size = 0

    def end_chunk(self) -> None:
        """A chunk of input has been run."""
        if self.is_pipe:
            self.flush()

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.size += len(text)
        if self.size > self.block:
            self.flush()

    def flush(self) -> None:
        if not self.pieces:
            return
        text = "".join(self.pieces)
        self.pieces.clear()
        self.size = 0
        write_all(self.descriptor, encode(text))

    def close(self) -> None:
        """Flush, and give a file or pipe back (standard output stays open)."""
        self.flush()
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
        elif self.descriptor > 2:
            os.close(self.descriptor)


def encode(text: str) -> bytes:
    """The bytes that stand for ``text``."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return bytes(resolve("sqlvec.values.text:encode")(text))


def decode(data: bytes) -> str:
    """The text that stands for ``data``."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return str(resolve("sqlvec.values.text:decode")(data))


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BrokenPipeError:
            sys.stdout = None  # type: ignore[assignment]
            os._exit(1)

"""The wal-index: the shared memory (``-shm``) through which connections agree on a write-ahead log (manual: "WAL-mode File Format").

::

    block 0:  header copy 1 | header copy 2 | nBackfill | readMark[5] | lock bytes | 4062 page numbers | hash of 8192 u16
    block n:  4096 page numbers | hash of 8192 u16

Everything is in native byte order.  Locks are fcntl locks on the bytes 120..127 of the file; connections of one process share one
:class:`SharedIndex`, which arbitrates between them as ``InodeLocks`` does for the database file.  With ``locking_mode=EXCLUSIVE`` the blocks
are plain memory and nothing is locked.
"""
from __future__ import annotations

import fcntl
from _thread import allocate_lock
from struct import Struct
from sys import byteorder

from sqlvec import errors
from sqlvec.pages.vfs import lock_holder, set_lock
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.pages.vfs import OsFile, Vfs

BLOCK = 32768
FIRST_FRAMES = 4062
FRAMES = 4096
VERSION = 3007000
UNUSED = 0xFFFFFFFF

WRITE, CHECKPOINT, RECOVER, READ0 = 0, 1, 2, 3
LOCK_BASE = 120
DEAD_MAN = 128

HEADER = Struct("=IIIBBHII2I2I2I")
"""version, unused, change counter, is initialised, big-endian checksums, page size, max frame, pages, checksum, salts, own checksum."""
_U32 = Struct("=I")
_MARKS = Struct("=5I")
_BACKFILL = 96
_MARK = 100
_ATTEMPTED = 128
_HASH_AT = 16384
_BIG = byteorder == "big"


def checksum_words(data: bytes | bytearray | memoryview, s0: int, s1: int, big_endian: bool) -> tuple[int, int]:
    """The log's running checksum over 8-byte pairs."""
    for x, y in (_PAIRS_BIG if big_endian else _PAIRS_LITTLE).iter_unpack(data):
        s0 = s0 + x + s1 & 0xFFFFFFFF
        s1 = s1 + y + s0 & 0xFFFFFFFF
    return s0, s1


_PAIRS_BIG = Struct(">II")
_PAIRS_LITTLE = Struct("<II")


class IndexHeader:
    """One decoded copy of the wal-index header."""

    __slots__ = ("big_endian", "change", "checksum", "max_frame", "page_count", "page_size", "raw", "salts")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        fields = HEADER.unpack(raw)
        self.change = fields[2]
        self.big_endian = bool(fields[4])
        self.page_size = (fields[5] & 0xFE00) + ((fields[5] & 1) << 16)
        self.max_frame = fields[6]
        self.page_count = fields[7]
        self.checksum = (fields[8], fields[9])
        self.salts = raw[32:40]

    @property
    def version(self) -> int:
        return int(_U32.unpack_from(self.raw)[0])


def make_header(
    change: int, big_endian: bool, page_size: int, max_frame: int, page_count: int, checksum: tuple[int, int], salts: bytes
) -> bytes:
    """The 48 bytes of a header copy, own checksum included."""
    size = page_size & 0xFF00 | page_size >> 16
    raw = HEADER.pack(VERSION, 0, change & 0xFFFFFFFF, 1, int(big_endian), size, max_frame, page_count, *checksum, 0, 0, 0, 0)
    raw = raw[:32] + salts
    s0, s1 = checksum_words(raw, 0, 0, _BIG)
    return raw + _U32.pack(s0) + _U32.pack(s1)


class SharedIndex:
    """The blocks of one wal-index in this process, and who of the process holds which lock."""

    __slots__ = ("blocks", "file", "holders", "is_heap", "key", "path", "references", "vfs")

    def __init__(self, vfs: Vfs, path: str, is_heap: bool) -> None:
        self.vfs = vfs
        self.path = path
        self.is_heap = is_heap
        self.blocks: list[Any] = []
        self.file: OsFile | None = None
        self.holders = [0] * 8  # readers, or -1 for an exclusive holder
        self.references = 0
        self.key: tuple[int, int] | None = None

    @property
    def is_read_only(self) -> bool:
        return self.file is not None and self.file.read_only

    def open_file(self, mode_of: str) -> None:
        """Open the file and take part in the dead man's switch; the first process begins with an empty index."""
        file = self.vfs.open(self.path, create=True, mode_of=mode_of)
        self.file = file
        descriptor = file.descriptor
        holder = lock_holder(descriptor, fcntl.F_WRLCK, DEAD_MAN, 1)
        if holder == fcntl.F_UNLCK and not file.read_only:
            if not set_lock(descriptor, fcntl.F_WRLCK, DEAD_MAN, 1):
                file.close()
                raise errors.busy()
            file.truncate(3)
        elif holder == fcntl.F_WRLCK:
            file.close()
            raise errors.busy()
        if not set_lock(descriptor, fcntl.F_RDLCK, DEAD_MAN, 1):
            file.close()
            raise errors.busy()

    def block(self, number: int, extend: bool) -> Any:
        """A writable view of block ``number``; None when the file ends before it and may not grow."""
        blocks = self.blocks
        if number < len(blocks):
            return blocks[number]
        if self.is_heap:
            while len(blocks) <= number:
                blocks.append(memoryview(bytearray(BLOCK)))
            return blocks[number]
        assert self.file is not None
        if self.file.size() < (number + 1) * BLOCK:
            if not extend:
                return None
            # written, not only sized: a full disk must show here and not when the mapping is touched
            size = self.file.size()
            self.file.write(size, bytes((number + 1) * BLOCK - size))
        make = resolve("mmap:mmap")
        access = resolve("mmap:ACCESS_READ" if self.file.read_only else "mmap:ACCESS_WRITE")
        while len(blocks) <= number:
            blocks.append(make(self.file.descriptor, BLOCK, offset=len(blocks) * BLOCK, access=access))
        return blocks[number]

    # --- locks ---------------------------------------------------------------------------------------------------------------------

    def lock_shared(self, slot: int) -> bool:
        with _mutex:
            held = self.holders[slot]
            if held < 0:
                return False
            if held == 0 and not self.is_heap and not self._set(fcntl.F_RDLCK, slot, 1):
                return False
            self.holders[slot] = held + 1
            return True

    def lock_exclusive(self, slot: int, count: int = 1) -> bool:
        with _mutex:
            if any(self.holders[slot : slot + count]):
                return False
            if not self.is_heap and not self._set(fcntl.F_WRLCK, slot, count):
                return False
            for index in range(slot, slot + count):
                self.holders[index] = -1
            return True

    def unlock(self, slot: int, count: int = 1) -> None:
        """Give back shared or exclusive locks."""
        with _mutex:
            for index in range(slot, slot + count):
                held = self.holders[index]
                self.holders[index] = held - 1 if held > 0 else 0
                if self.holders[index] == 0 and not self.is_heap:
                    self._set(fcntl.F_UNLCK, index, 1)

    def _set(self, kind: int, slot: int, count: int) -> bool:
        assert self.file is not None
        return set_lock(self.file.descriptor, kind, LOCK_BASE + slot, count)

    def close(self, delete: bool) -> None:
        """One user less; the last one unmaps, and deletes the file when told to."""
        with _mutex:
            self.references -= 1
            if self.references:
                return
            if self.key is not None:
                _shared.pop(self.key, None)
            for block in self.blocks:
                if not self.is_heap:
                    block.close()
            self.blocks.clear()
            if self.file is not None:
                if delete:
                    self.vfs.delete(self.path)
                self.file.close()
                self.file = None

    # --- content -------------------------------------------------------------------------------------------------------------------

    def read_header(self) -> IndexHeader | None:
        """The header if both copies agree and are valid."""
        block = self.block(0, False)
        if block is None:
            return None
        first = bytes(block[0:48])
        second = bytes(block[48:96])
        if first != second or first[12] == 0:
            return None
        s0, s1 = checksum_words(first[:40], 0, 0, _BIG)
        if _U32.pack(s0) + _U32.pack(s1) != first[40:48]:
            return None
        return IndexHeader(first)

    def write_header(self, raw: bytes) -> None:
        """Second copy first, so that a reader that finds both equal has a whole one."""
        block = self.block(0, True)
        block[48:96] = raw
        block[0:48] = raw

    @property
    def backfilled(self) -> int:
        return int(_U32.unpack_from(self.block(0, True), _BACKFILL)[0])

    @backfilled.setter
    def backfilled(self, frames: int) -> None:
        _U32.pack_into(self.block(0, True), _BACKFILL, frames)

    def set_attempted(self, frames: int) -> None:
        _U32.pack_into(self.block(0, True), _ATTEMPTED, frames)

    def marks(self) -> tuple[int, ...]:
        return _MARKS.unpack_from(self.block(0, True), _MARK)

    def set_mark(self, reader: int, frame: int) -> None:
        _U32.pack_into(self.block(0, True), _MARK + 4 * reader, frame)

    def add_frame(self, frame: int, page_no: int) -> None:
        """Enter a frame into page array and hash."""
        block, index, array_at = self._place(frame)
        if index == 0:
            start = array_at
            block[start:BLOCK] = bytes(BLOCK - start)
        elif _U32.unpack_from(block, array_at + 4 * index)[0]:
            self._clean(block, array_at, index)
        _U32.pack_into(block, array_at + 4 * index, page_no)
        slot = page_no * 383 & 8191
        while True:
            at = _HASH_AT + 2 * slot
            if block[at : at + 2] == b"\0\0":
                break
            slot = slot + 1 & 8191
        block[at : at + 2] = (index + 1).to_bytes(2, byteorder)

    def _place(self, frame: int) -> tuple[Any, int, int]:
        if frame <= FIRST_FRAMES:
            return self.block(0, True), frame - 1, 136
        number, index = divmod(frame - FIRST_FRAMES - 1, FRAMES)
        return self.block(number + 1, True), index, 0

    def _clean(self, block: Any, array_at: int, keep: int) -> None:
        """Remove what a transaction that never committed left behind index ``keep``."""
        hashes = memoryview(bytearray(block[_HASH_AT:BLOCK])).cast("H")
        for slot in range(8192):
            if hashes[slot] > keep:
                hashes[slot] = 0
        block[_HASH_AT:BLOCK] = hashes.tobytes()
        start = array_at + 4 * keep
        block[start:_HASH_AT] = bytes(_HASH_AT - start)

    def page_numbers(self, first: int, last: int) -> list[int]:
        """Page numbers of the frames first..last."""
        out: list[int] = []
        while first <= last:
            block, index, array_at = self._place(first)
            room = (FIRST_FRAMES if array_at else FRAMES) - index
            count = min(room, last - first + 1)
            at = array_at + 4 * index
            out += Struct(f"={count}I").unpack(bytes(block[at : at + 4 * count]))
            first += count
        return out


_shared: dict[tuple[int, int], SharedIndex] = {}
_mutex = allocate_lock()


def connect(vfs: Vfs, path: str, key: tuple[int, int], is_heap: bool) -> SharedIndex:
    """The index of the database ``path`` (identity ``key``), shared within the process."""
    if is_heap:
        made = SharedIndex(vfs, f"{path}-shm", True)
        made.references = 1
        return made
    with _mutex:
        found = _shared.get(key)
        if found is None:
            found = SharedIndex(vfs, f"{path}-shm", False)
            found.open_file(path)
            found.key = key
            _shared[key] = found
        found.references += 1
        return found

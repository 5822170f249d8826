"""The write-ahead log: commits append page images, readers see the log up to the frame where they began (manual: "Write-Ahead
Logging", "WAL-mode File Format").

::

    | header 32 bytes | frame header 24 + page | frame header 24 + page | ...

A :class:`Wal` belongs to one pager whose database file is in WAL mode; the pager keeps SHARED on the database file as long as it lives.
Reading means holding one of the five read locks of the wal-index; ``frames`` maps page numbers to the newest frame of the snapshot.

Invariants:

W1. A reader on READ0 uses the database file only; any other reader's frames can't be overwritten while its lock is held.
W2. Only the holder of WRITE appends; frames become visible when the wal-index header is replaced.
W3. A snapshot that isn't the newest can't be written from (SQLITE_BUSY_SNAPSHOT).
"""
from __future__ import annotations

import time
from struct import Struct

from sqlvec import errors
from sqlvec.pages.file_header import FileHeader, get_field
from sqlvec.pages.freelist import finish_auto_vacuum
from sqlvec.pages.journal import stamp_page_one
from sqlvec.pages.vfs import EXCLUSIVE, NONE, SHARED
from sqlvec.pages.wal_index import (
    CHECKPOINT,
    READ0,
    UNUSED,
    VERSION,
    WRITE,
    IndexHeader,
    checksum_words,
    connect,
    make_header,
)
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager
    from sqlvec.pages.vfs import OsFile

HEADER_SIZE = 32
FRAME_HEADER = 24
MAGIC_LITTLE = 0x377F0682

_HEAD = Struct(">IIII8sII")
_FRAME = Struct(">II8sII")
_RETRIES = 100


class Tail:
    """The frames of the transaction that is being written: how far they reach, their pages in order, the newest frame of each page."""

    __slots__ = ("big_endian", "checksum", "frame", "newest", "pages", "salts")

    def __init__(self, frame: int, checksum: tuple[int, int], salts: bytes, big_endian: bool) -> None:
        self.frame = frame
        self.checksum = checksum
        self.salts = salts
        self.big_endian = big_endian
        self.pages: list[int] = []
        self.newest: dict[int, int] = {}


class Wal:
    """The log as one connection uses it."""

    __slots__ = (
        "checkpoint_sequence",
        "directory_synced",
        "file",
        "frames",
        "header",
        "index",
        "is_writing",
        "pager",
        "path",
        "reader",
        "salts_of_frames",
        "tail",
        "top_of_frames",
    )

    def __init__(self, pager: Pager) -> None:
        self.pager = pager
        self.path = f"{pager.path}-wal"
        assert pager.file is not None and pager.path is not None
        # a connection that only reads still takes part in locks and recovery, where the file system lets it
        self.index = connect(pager.vfs, pager.path, pager.file.identity, pager.exclusive_locking)
        try:
            self.file: OsFile = pager.vfs.open(self.path, create=True, mode_of=pager.path)
        except BaseException:
            self.index.close(False)
            raise
        self.header: IndexHeader | None = None
        self.frames: dict[int, int] = {}
        self.salts_of_frames = b""
        self.top_of_frames = 0
        self.reader = -1
        self.is_writing = False
        self.tail: Tail | None = None
        self.checkpoint_sequence = 0
        self.directory_synced = False

    # --- reading -------------------------------------------------------------------------------------------------------------------

    def begin_read(self) -> None:
        """Take a snapshot: the newest header, and a read lock that protects it."""
        for attempt in range(_RETRIES):
            if attempt > 5:
                time.sleep(0.001 * min(attempt, 50))
            header = self._current_header()
            if header is not None and self._try_reader(header):
                self._adopt(header)
                return
        raise errors.SqlError(errors.PROTOCOL, "locking protocol")

    def _current_header(self) -> IndexHeader | None:
        header = self.index.read_header()
        if header is None:
            pager = self.pager
            if self.index.is_read_only:
                raise errors.cannot_open()
            tries = 0
            while not self.index.lock_exclusive(WRITE):
                header = self.index.read_header()
                if header is not None:
                    return header
                if pager.busy is None or not pager.busy(tries):
                    raise errors.busy(errors.BUSY_RECOVERY)
                tries += 1
            try:
                header = self.index.read_header()
                if header is None:
                    self.recover()
                    header = self.index.read_header()
            finally:
                self.index.unlock(WRITE)
        if header is not None and header.version != VERSION:
            raise errors.cannot_open()
        return header

    def _try_reader(self, header: IndexHeader) -> bool:
        """Get a read lock for this header; False when something moved meanwhile."""
        index = self.index
        if index.is_heap:
            self.reader = 1
            return True
        if index.backfilled == header.max_frame and index.lock_shared(READ0):
            if self._is_still(header):
                self.reader = 0
                return True
            index.unlock(READ0)
            return False
        marks = index.marks()
        best, mark = 0, 0
        for reader in range(1, 5):
            if mark <= marks[reader] <= header.max_frame:
                best, mark = reader, marks[reader]
        if not index.is_read_only and (mark < header.max_frame or best == 0):
            for reader in range(1, 5):
                if index.lock_exclusive(READ0 + reader):
                    index.set_mark(reader, header.max_frame)
                    index.unlock(READ0 + reader)
                    best, mark = reader, header.max_frame
                    break
        if best == 0 or not index.lock_shared(READ0 + best):
            return False
        if index.marks()[best] != mark or not self._is_still(header):
            index.unlock(READ0 + best)
            return False
        self.reader = best
        return True

    def _is_still(self, header: IndexHeader) -> bool:
        now = self.index.read_header()
        return now is not None and now.raw == header.raw

    def _adopt(self, header: IndexHeader) -> None:
        """Make this the snapshot; forget cached pages when it differs from the last one."""
        pager = self.pager
        before = self.header
        if before is None or before.raw != header.raw or pager.page_count == 0:
            if before is not None and before.raw != header.raw:
                pager.data_version += 1
            pager.drop_cache()
            self.header = header
            self._load_frames(header)
            pager.page_count = 1
            self._read_page_count(header)

    def _load_frames(self, header: IndexHeader) -> None:
        if header.salts != self.salts_of_frames or header.max_frame < self.top_of_frames:
            self.frames.clear()
            self.top_of_frames = 0
            self.salts_of_frames = header.salts
        first = self.top_of_frames + 1
        if first <= header.max_frame:
            numbers = self.index.page_numbers(first, header.max_frame)
            self.frames.update(zip(numbers, range(first, header.max_frame + 1), strict=True))
            self.top_of_frames = header.max_frame

    def _read_page_count(self, header: IndexHeader) -> None:
        pager = self.pager
        assert pager.file is not None
        if header.max_frame and header.page_size and header.page_size != pager.page_size:
            pager.reshape(header.page_size, pager.page_size - pager.usable_size)
        head = self.read_page(1) if self.frames else None
        if head is None:
            head = pager.file.read(0, 100)
        if not head:
            pager.page_count = 0
            return
        decoded = FileHeader(head)
        pager.reshape(decoded.page_size, decoded.reserved)
        count = header.page_count if header.max_frame else 0
        if count == 0:
            in_file = -(-pager.file.size() // decoded.page_size)
            count = get_field(head, "page_count")
            if count == 0 or get_field(head, "change_counter") != get_field(head, "version_valid_for"):
                count = in_file
            elif count > in_file:
                raise errors.corrupt()
        pager.page_count = count

    def end_read(self) -> None:
        if self.reader >= 0:
            if not self.index.is_heap:
                self.index.unlock(READ0 + self.reader)
            self.reader = -1
        lock = self.pager.lock
        if lock is not None and lock.level > SHARED and not self.pager.exclusive_locking and not self.is_writing:
            lock.unlock(SHARED)

    def read_page(self, page_no: int) -> bytes | None:
        """The image of a page in the log, None where the database file has it (W1)."""
        if self.tail is not None and page_no in self.tail.newest:
            return self.read_frame(self.tail.newest[page_no])
        frame = self.frames.get(page_no)
        if frame is None or self.reader == 0:
            return None
        return self.read_frame(frame)

    def read_frame(self, frame: int) -> bytes:
        size = self.pager.page_size
        data = self.file.read(HEADER_SIZE + (frame - 1) * (FRAME_HEADER + size) + FRAME_HEADER, size)
        if len(data) < size:
            raise errors.io_error(errors.IOERR_SHORT_READ)
        return data

    # --- recovery ------------------------------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Rebuild the wal-index from the log.  The caller holds WRITE."""
        index = self.index
        locked = index.is_heap or index.lock_exclusive(CHECKPOINT, 2)
        if not locked:
            raise errors.busy(errors.BUSY_RECOVERY)
        try:
            self._scan()
        finally:
            if not index.is_heap:
                index.unlock(CHECKPOINT, 2)

    def _scan(self) -> None:
        index = self.index
        head = self.file.read(0, HEADER_SIZE)
        change = 0
        max_frame = page_count = 0
        page_size = self.pager.page_size
        checksum = (0, 0)
        salts = bytes(8)
        big = False
        last_change = index.block(0, True)
        previous = Struct("=I").unpack_from(last_change, 8)[0]
        if len(head) == HEADER_SIZE:
            magic, version, size, sequence, found_salts, s0, s1 = _HEAD.unpack(head)
            big = bool(magic & 1)
            valid = magic & 0xFFFFFFFE == MAGIC_LITTLE and 512 <= size <= 65536 and not size & (size - 1)
            if valid and checksum_words(head[:24], 0, 0, big) == (s0, s1):
                if version != VERSION:
                    raise errors.cannot_open()
                self.checkpoint_sequence = sequence
                page_size, salts = size, found_salts
                max_frame, page_count, checksum = self._scan_frames(size, salts, (s0, s1), big)
                if max_frame == 0:
                    checksum = (s0, s1)
        change = previous + 1
        index.write_header(make_header(change, big, page_size, max_frame, page_count, checksum, salts))
        index.backfilled = 0
        index.set_attempted(max_frame)
        index.set_mark(0, 0)
        for reader in range(1, 5):
            if index.lock_exclusive(READ0 + reader):
                index.set_mark(reader, max_frame if reader == 1 and max_frame else UNUSED)
                index.unlock(READ0 + reader)

    def _scan_frames(self, size: int, salts: bytes, checksum: tuple[int, int], big: bool) -> tuple[int, int, tuple[int, int]]:
        """Enter all frames up to the last commit; returns (its frame, page count, running checksum)."""
        step = FRAME_HEADER + size
        result = (0, 0, (0, 0))
        frame = 0
        s0, s1 = checksum
        pending: list[tuple[int, int]] = []
        while True:
            data = self.file.read(HEADER_SIZE + frame * step, step)
            if len(data) < step:
                return result
            page_no, commit, found, c0, c1 = _FRAME.unpack_from(data)
            if found != salts or page_no == 0:
                return result
            s0, s1 = checksum_words(data[:8], s0, s1, big)
            s0, s1 = checksum_words(memoryview(data)[FRAME_HEADER:], s0, s1, big)
            if (s0, s1) != (c0, c1):
                return result
            frame += 1
            pending.append((frame, page_no))
            if commit:
                for entry in pending:
                    self.index.add_frame(*entry)
                pending.clear()
                result = (frame, commit, (s0, s1))

    # --- writing -------------------------------------------------------------------------------------------------------------------

    def begin_write(self) -> bool:
        """Become the writer; the snapshot must be the newest (W3).  False when somebody else writes."""
        pager = self.pager
        lock = pager.lock
        assert self.header is not None and lock is not None
        if pager.exclusive_locking and not lock.lock(EXCLUSIVE):
            lock.unlock(SHARED)
            return False
        if not self.index.lock_exclusive(WRITE):
            return False
        while not self._is_still(self.header):
            if pager.readers:
                self.index.unlock(WRITE)
                raise errors.busy(errors.BUSY_SNAPSHOT)
            # nothing was read in this transaction: the newest snapshot will do
            self.end_read()
            self.begin_read()
        self.is_writing = True
        return True

    def commit(self) -> None:
        """Append the changed pages and publish them."""
        pager = self.pager
        pager.release(1)
        wrote = False
        if pager.changed or pager.was_cut or self.tail is not None:
            try:
                finish_auto_vacuum(pager)
                if 1 in pager.changed or not pager.changed or pager.page_count != pager.frames[0].count:
                    stamp_page_one(pager)
                self._append()
            except BaseException:
                pager.failed = True
                raise
            wrote = True
        pager.changed = {}
        self._leave_write()
        header = self.header
        if wrote and header is not None and 0 < pager.wal_autocheckpoint <= header.max_frame:
            try:
                resolve("sqlvec.pages.checkpoint:run_checkpoint")(pager, "passive")
            except errors.SqlError as problem:
                if problem.code != errors.BUSY:
                    raise

    def _leave_write(self) -> None:
        if self.is_writing:
            self.is_writing = False
            self.index.unlock(WRITE)
        self.pager.end_write()

    def rollback(self) -> None:
        """Forget the changed pages: nothing of them is visible in the log."""
        pager = self.pager
        if self.tail is None:
            pager.undo_changes()
        else:
            self.tail = None
            pager.changed = {}
            pager.drop_cache()
            pager.page_count = pager.frames[0].count
        self._leave_write()

    def spill(self, numbers: list[int]) -> None:
        """Write some changed pages as frames without a commit mark: nobody else sees them, and a rollback just forgets them."""
        pager = self.pager
        try:
            self._write_frames(self.tail or self._open_tail(), numbers, 0)
        except BaseException:
            pager.failed = True
            raise

    def _append(self) -> None:
        """Write the last frames of the transaction, make them durable and publish all of them."""
        pager = self.pager
        tail = self.tail or self._open_tail()
        self._write_frames(tail, sorted(page_no for page_no in pager.changed if page_no <= pager.page_count), pager.page_count)
        if pager.synchronous > 1:
            self.file.sync()
        header = self.header
        assert header is not None
        frame = header.max_frame
        for page_no in tail.pages:
            frame += 1
            self.index.add_frame(frame, page_no)
            self.frames[page_no] = frame
        self.top_of_frames = frame
        self.salts_of_frames = tail.salts
        self.tail = None
        raw = make_header(header.change + 1, tail.big_endian, pager.page_size, frame, pager.page_count, tail.checksum, tail.salts)
        self.index.write_header(raw)
        self.header = IndexHeader(raw)
        if self.reader == 0:
            self._move_reader()

    def _open_tail(self) -> Tail:
        """Where this transaction's frames go: behind the last commit, or to the start of a log begun anew."""
        self._restart_if_possible()
        header = self.header
        assert header is not None
        tail = Tail(header.max_frame, header.checksum, header.salts, header.big_endian)
        if header.max_frame == 0:
            tail.salts, tail.checksum = self._write_file_header()
            tail.big_endian = False
            if self.pager.synchronous:
                self._sync_header()
        self.tail = tail
        return tail

    def _write_frames(self, tail: Tail, numbers: list[int], commit_size: int) -> None:
        """Append these changed pages; the last one carries the commit mark when there is one."""
        pager = self.pager
        size = pager.page_size
        changed = pager.changed
        at = HEADER_SIZE + tail.frame * (FRAME_HEADER + size)
        s0, s1 = tail.checksum
        pieces: list[bytes | bytearray] = []
        last = numbers[-1]
        for page_no in numbers:
            image = changed[page_no]
            lead = page_no.to_bytes(4, "big") + (commit_size if page_no == last else 0).to_bytes(4, "big")
            s0, s1 = checksum_words(lead, s0, s1, tail.big_endian)
            s0, s1 = checksum_words(image, s0, s1, tail.big_endian)
            pieces += (lead, tail.salts, s0.to_bytes(4, "big"), s1.to_bytes(4, "big"), image)
            tail.frame += 1
            tail.pages.append(page_no)
            tail.newest[page_no] = tail.frame
            if len(pieces) > 640:
                at = self._flush(at, pieces)
        self._flush(at, pieces)
        tail.checksum = (s0, s1)

    def _sync_header(self) -> None:
        """The first sync also makes the name of the log durable, and the removal of a rollback journal before it."""
        self.file.sync()
        if not self.directory_synced:
            self.pager.vfs.sync_directory(self.path)
            self.directory_synced = True

    def _flush(self, at: int, pieces: list[bytes | bytearray]) -> int:
        data = b"".join(pieces)
        if data:
            self.file.write(at, data)
        pieces.clear()
        return at + len(data)

    def _move_reader(self) -> None:
        """READ0 sees the database file only; after an own commit a numbered read lock is needed."""
        assert self.header is not None
        header = self.header
        self.end_read()
        for attempt in range(_RETRIES):
            if self._try_reader(header):
                return
            time.sleep(0.001 * attempt)
        raise errors.SqlError(errors.PROTOCOL, "locking protocol")

    def _write_file_header(self) -> tuple[bytes, tuple[int, int]]:
        """A log begun at its first frame: new salts where there are none yet."""
        pager = self.pager
        assert self.header is not None
        salts = self.header.salts
        if salts == bytes(8):
            salts = pager.vfs.random_bytes(8)
        head = _HEAD.pack(MAGIC_LITTLE, VERSION, pager.page_size, self.checkpoint_sequence, salts, 0, 0)[:24]
        s0, s1 = checksum_words(head, 0, 0, False)
        self.file.write(0, head + s0.to_bytes(4, "big") + s1.to_bytes(4, "big"))
        return salts, (s0, s1)

    def _restart_if_possible(self) -> None:
        """Start the log over when everything is in the database file and nobody reads from the log."""
        index = self.index
        header = self.header
        assert header is not None
        if index.is_heap:
            if header.max_frame and index.backfilled == header.max_frame:
                self.restart()
            return
        if self.reader != 0 or index.backfilled == 0:
            return
        if index.lock_exclusive(READ0 + 1, 4):
            try:
                self.restart()
            finally:
                index.unlock(READ0 + 1, 4)

    def restart(self) -> None:
        """New salts, no frames.  The caller holds WRITE and the read locks 1 to 4."""
        index = self.index
        header = self.header
        assert header is not None
        self.checkpoint_sequence = (self._sequence_in_file() + 1) & 0xFFFFFFFF
        first = (int.from_bytes(header.salts[:4], "big") + 1) & 0xFFFFFFFF
        salts = first.to_bytes(4, "big") + self.pager.vfs.random_bytes(4)
        raw = make_header(header.change, header.big_endian, self.pager.page_size, 0, header.page_count, header.checksum, salts)
        index.write_header(raw)
        index.backfilled = 0
        index.set_attempted(0)
        index.set_mark(1, 0)
        for reader in range(2, 5):
            index.set_mark(reader, UNUSED)
        self.header = IndexHeader(raw)
        self.frames.clear()
        self.top_of_frames = 0
        self.salts_of_frames = salts

    def _sequence_in_file(self) -> int:
        head = self.file.read(12, 4)
        return int.from_bytes(head, "big") if len(head) == 4 else self.checkpoint_sequence

    # --- the end -------------------------------------------------------------------------------------------------------------------

    def close(self, keep_files: bool = False) -> None:
        """Leave; the last connection transfers the log and deletes it."""
        pager = self.pager
        self.end_read()
        lock = pager.lock
        is_last = False
        if not keep_files and not pager.read_only and lock is not None and lock.lock(EXCLUSIVE):
            try:
                resolve("sqlvec.pages.checkpoint:checkpoint_at_close")(pager, self)
                is_last = True
            except errors.SqlError:
                is_last = False
        self.file.close()
        self.index.close(is_last)
        if is_last:
            pager.vfs.delete(self.path)
        if lock is not None:
            lock.unlock(SHARED if lock.level > SHARED else NONE)


    def close_quietly(self) -> None:
        """Leave at the end of the connection: what fails then is left to the next one."""
        try:
            self.close()
        except errors.SqlError:
            pass


def open_log(pager: Pager) -> None:
    """The database turned out to be in WAL mode: use the log from here on.  The caller holds SHARED."""
    if pager.exclusive_locking and pager.lock is not None and not pager.lock.lock(EXCLUSIVE):
        raise errors.busy()
    pager.wal = Wal(pager)
    pager.mode = "wal"
    try:
        pager.wal.begin_read()
    except BaseException:
        pager.wal.file.close()
        pager.wal.index.close(False)
        pager.wal = None
        raise


"""The rollback journal: old page images on disk, so that a transaction that didn't finish can be undone (file format, section 3).

::

    | header, one sector | record | record | ...   | header | record ...   | super-journal record
      magic nRec nonce     page no, image, checksum    (after a spill)        (commit of several files)

Old images stay in memory, in the frames of the pager, until they are needed on disk: at commit or at a spill.  Then one *segment*
(header and records) is written, made durable, and only after that the database file changes.  A spill writes the pages that were changed
longest ago, just enough of them; its segment holds the images of all changed pages, so that the next spills need none.  Finalising the journal (unlink,
truncate or zeroed header, as the mode says) is the commit.  Invariants:

J1. The database file is written only under EXCLUSIVE and after every image it destroys is in a durable segment.
J2. A journal whose header isn't valid, or that names a super-journal that is gone, is not hot.
J3. An error between the first write to the database and the finalised journal leaves the journal hot; ``rollback`` or the next reader
    replays it.
"""
from __future__ import annotations

from itertools import islice
from struct import Struct

from sqlvec import errors
from sqlvec.pages.file_header import get_field, set_field
from sqlvec.pages.freelist import finish_auto_vacuum
from sqlvec.pages.vfs import EXCLUSIVE, NONE, RESERVED, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager
    from sqlvec.pages.vfs import OsFile

MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR = 512
UNCOUNTED = 0xFFFFFFFF
ON_DISK = b""
"""What a frame keeps instead of an image that a spill has put into the journal."""

_HEADER = Struct(">8sIIIII")
_U32 = Struct(">I")


class Journal:
    """The journal file of the current write transaction; without a file in the modes MEMORY and OFF."""

    __slots__ = ("database_changed", "directory_synced", "end", "file", "original_count", "page_size", "path", "stored")

    def __init__(self, pager: Pager, file: OsFile | None) -> None:
        self.path = f"{pager.path}-journal"
        self.file = file
        self.end = 0
        self.original_count = pager.frames[0].count
        self.page_size = pager.page_size
        self.database_changed = False
        self.directory_synced = False
        self.stored: set[int] = set()              # pages whose image is in the file

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


def open_journal(pager: Pager) -> None:
    """Called before the first page of a transaction changes: a directory that can't hold a journal is found out here."""
    file = None
    if pager.mode not in ("memory", "off"):
        file = pager.vfs.open(f"{pager.path}-journal", create=True, mode_of=pager.path)
        if file.read_only:
            file.close()
            raise errors.cannot_open()
    pager.journal = Journal(pager, file)


def checksum(nonce: int, image: bytes | bytearray) -> int:
    """Every 200th byte from the end, on top of the nonce."""
    return (nonce + sum(image[len(image) - 200 : 0 : -200])) & 0xFFFFFFFF


def _write_segment(pager: Pager, images: dict[int, bytes], super_name: str = "") -> None:
    """Write images (and the name of the super-journal) behind what the journal holds, durably (J1)."""
    journal = pager.journal
    file = journal.file
    count = journal.original_count
    start = -(-journal.end // SECTOR) * SECTOR
    nonce = int.from_bytes(pager.vfs.random_bytes(4), "big")
    sync = pager.synchronous
    stored = journal.stored
    pages = sorted(page_no for page_no, image in images.items() if page_no <= count and image and page_no not in stored)
    page_size = journal.page_size
    head = _HEADER.pack(MAGIC, len(pages), nonce, count, SECTOR, page_size)
    two_phase = sync > 1
    pieces = [bytes(12) + head[12:] if two_phase else head, bytes(SECTOR - len(head))]
    at = start
    size = SECTOR
    for page_no in pages:
        image = images[page_no]
        pieces += (_U32.pack(page_no), image, _U32.pack(checksum(nonce, image)))
        size += page_size + 8
        if len(pieces) > 768:
            file.write(at, b"".join(pieces))
            at += size
            pieces = []
            size = 0
    if super_name:
        name = super_name.encode("utf-8", "surrogateescape")
        total = sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF
        pieces.append(_U32.pack(pager.pending_page) + name + _U32.pack(len(name)) + _U32.pack(total) + MAGIC)
        size += len(name) + 20
    file.write(at, b"".join(pieces))
    journal.end = at + size
    # a persistent journal may hold a segment of an older, longer transaction behind this one
    if file.size() > journal.end:
        if super_name:
            file.truncate(journal.end)
        else:
            file.write(-(-journal.end // SECTOR) * SECTOR, bytes(28))
    if sync:
        file.sync()
        if not journal.directory_synced:
            pager.vfs.sync_directory(journal.path)
            journal.directory_synced = True
        if two_phase:
            file.write(start, head[:12])
            file.sync()
    stored.update(pages)


def _write_database(pager: Pager, numbers: list[int]) -> None:
    """Write these changed pages (ascending), neighbours together."""
    file = pager.file
    assert file is not None
    size = pager.page_size
    changed = pager.changed
    at = 0
    while at < len(numbers):
        first = numbers[at]
        pieces: list[bytes | bytearray] = []
        while at < len(numbers) and numbers[at] == first + len(pieces) and len(pieces) < 256:
            if numbers[at] == pager.pending_page:
                break
            pieces.append(changed[numbers[at]])
            at += 1
        if pieces:
            file.write((first - 1) * size, b"".join(pieces))
        else:
            at += 1


def original_images(pager: Pager) -> dict[int, bytes]:
    """The images that the transaction began with: of each page, the one in the outermost frame that has it."""
    images: dict[int, bytes] = {}
    for frame in reversed(pager.frames):
        images.update(frame.images)
    return images


def spill(pager: Pager, limit: int) -> None:
    """Write changed pages early, so that an eighth of ``limit`` is free; without EXCLUSIVE, or where nothing could undo it, the cache just grows."""
    lock = pager.lock
    surplus = len(pager.changed) - limit + max(limit // 8, 1)
    numbers = sorted(islice((page_no for page_no in pager.changed if page_no != 1), surplus))
    if pager.wal is not None:
        pager.wal.spill(numbers)
        pager.frames[0].images = dict.fromkeys(pager.frames[0].images, ON_DISK)     # a rollback reads everything anew
        _forget_spilled(pager, numbers)
        return
    journal = pager.journal
    if lock is None or journal is None or journal.file is None or not lock.lock(EXCLUSIVE):
        return
    try:
        stored = journal.stored
        if not journal.database_changed or any(page_no <= journal.original_count and page_no not in stored for page_no in numbers):
            _write_segment(pager, original_images(pager))
        journal.database_changed = True
        _write_database(pager, numbers)
    except BaseException:
        pager.failed = True
        raise
    images = pager.frames[0].images
    for page_no in stored:
        if page_no in images:
            images[page_no] = ON_DISK
    _forget_spilled(pager, numbers)


def _forget_spilled(pager: Pager, numbers: list[int]) -> None:
    """Written pages are clean, though not yet committed."""
    changed = pager.changed
    for page_no in numbers:
        page = changed.pop(page_no)
        if pager.cache.get(page_no) is page:
            pager.cache[page_no] = bytes(page)
        pager.writable.pop(page_no, None)
        for frame in pager.frames:
            frame.outer_writable.pop(page_no, None)
    pager.generation += 1


# --- commit ------------------------------------------------------------------------------------------------------------------------


def prepare_commit(pager: Pager, super_name: str = "") -> bool:
    """First phase: everything durable except the finalised journal.  False when there was nothing to do."""
    pager.release(1)
    journal = pager.journal
    if not (pager.changed or pager.was_cut or (journal is not None and journal.database_changed)):
        return False
    pager.lock_exclusive()
    try:
        if journal is None:
            open_journal(pager)
            journal = pager.journal
        finish_auto_vacuum(pager)
        stamp_page_one(pager)
        if journal.file is not None:
            _write_segment(pager, original_images(pager), super_name)
        journal.database_changed = True
        _write_database(pager, sorted(pager.changed))
        assert pager.file is not None
        if pager.page_count < journal.original_count or pager.was_cut:
            pager.file.truncate(pager.page_count * pager.page_size)
        if pager.synchronous:
            pager.file.sync()
    except BaseException:
        pager.failed = True
        raise
    return True


def stamp_page_one(pager: Pager) -> None:
    """Change counter, page count and writer version of a commit."""
    page = pager.write(1)
    counter = get_field(page, "change_counter") + 1
    set_field(page, "change_counter", counter)
    set_field(page, "page_count", pager.page_count)
    set_field(page, "version_valid_for", counter)
    set_field(page, "library_version", 3040001)


def finish_commit(pager: Pager) -> None:
    """Second phase: finalise the journal; the transaction is over."""
    try:
        _finalise(pager)
    except BaseException:
        pager.failed = True
        raise
    if pager.changed:
        pager.version_bytes = bytes(pager.get(1)[24:40])
    pager.changed = {}
    pager.end_write()


def commit(pager: Pager) -> None:
    """Both phases."""
    if pager.wal is not None:
        pager.wal.commit()
        return
    prepare_commit(pager)
    finish_commit(pager)


def _finalise(pager: Pager) -> None:
    """Make the journal cold, as the mode says.  When that fails, the journal stays as it is, for a rollback."""
    journal = pager.journal
    if journal is None or journal.file is None:
        pager.journal = None
        return
    file = journal.file
    mode = pager.mode
    if pager.exclusive_locking and mode == "delete":
        mode = "persist"
    if mode == "truncate":
        file.truncate(0)
        if pager.synchronous > 1:
            file.sync()
    elif mode == "persist":
        if journal.end or file.size():
            file.write(0, bytes(28))
            limit = pager.journal_size_limit
            if 0 <= limit < file.size():
                file.truncate(limit)
            if pager.synchronous > 1:
                file.sync()
    else:
        pager.vfs.delete(journal.path, sync_directory=pager.synchronous > 2)
    journal.close()
    pager.journal = None


# --- rollback and recovery ---------------------------------------------------------------------------------------------------------


def rollback(pager: Pager) -> None:
    """Undo the transaction; where the database file was already written, from the journal.

    A failure here isn't reported: the journal stays hot, and the next reader replays it or says why it can't (J3).
    """
    journal = pager.journal
    was_written = journal.database_changed
    try:
        if was_written:
            if journal.file is not None:
                _replay(pager, journal.file)
            else:
                _restore_from_memory(pager)
        _finalise(pager)
    except errors.SqlError:
        was_written = was_written or journal.end > 0
    finally:
        if pager.journal is not None:
            pager.journal.close()
            pager.journal = None
        if was_written:
            pager.changed = {}
            pager.drop_cache()
            pager.page_count = 0
            pager.version_bytes = None
            pager.end_write()
        else:
            pager.undo_changes()
            pager.end_write()


def _restore_from_memory(pager: Pager) -> None:
    """Journal modes MEMORY and OFF: the images in the frames are the journal."""
    file = pager.file
    assert file is not None
    size = pager.journal.page_size
    for page_no, image in sorted(original_images(pager).items()):
        if image and page_no <= pager.frames[0].count:
            file.write((page_no - 1) * size, image)
    file.truncate(pager.frames[0].count * size)
    if pager.synchronous:
        file.sync()


def _replay(pager: Pager, journal: OsFile) -> None:
    """Write the images of a journal back (facts of section 3 of the manual page; a bad record ends the replay)."""
    file = pager.file
    assert file is not None
    total = journal.size()
    at = 0
    done: set[int] = set()
    first = True
    page_size = original = 0
    sector = SECTOR
    while at + 28 <= total:
        magic, records, nonce, count, sector_size, size = _HEADER.unpack(journal.read(at, 28))
        if magic != MAGIC:
            break
        if first:
            if size < 512 or size > 65536 or size & (size - 1) or sector_size < 32 or sector_size & (sector_size - 1):
                break
            page_size, original, sector = size, count, sector_size
            if original * page_size < file.size():
                file.truncate(original * page_size)
            first = False
        at += sector
        if records == UNCOUNTED:
            records = (total - at) // (page_size + 8)
        if not _replay_records(file, journal, at, records, page_size, original, nonce, done):
            break
        at += records * (page_size + 8)
        at = -(-at // sector) * sector
    if pager.synchronous:
        file.sync()


def _replay_records(
    file: OsFile, journal: OsFile, at: int, records: int, page_size: int, original: int, nonce: int, done: set[int]
) -> bool:
    for _ in range(records):
        record = journal.read(at, page_size + 8)
        if len(record) < page_size + 8:
            return False
        at += page_size + 8
        page_no = _U32.unpack_from(record)[0]
        image = record[4 : 4 + page_size]
        if page_no == 0 or page_no == 0x40000000 // page_size + 1:
            return False
        if _U32.unpack_from(record, page_size + 4)[0] != checksum(nonce, image):
            return False
        if page_no > original or page_no in done:
            continue
        done.add(page_no)
        file.write((page_no - 1) * page_size, image)
    return True


def super_journal_name(journal: OsFile) -> str:
    """The super-journal that a journal names, or nothing."""
    total = journal.size()
    if total < 16:
        return ""
    tail = journal.read(total - 16, 16)
    size = _U32.unpack_from(tail)[0]
    if tail[8:] != MAGIC or size == 0 or size > total - 16 - 4:
        return ""
    name = journal.read(total - 16 - size, size)
    if sum(byte - 256 if byte > 127 else byte for byte in name) & 0xFFFFFFFF != _U32.unpack_from(tail, 4)[0]:
        return ""
    return name.decode("utf-8", "surrogateescape")


def recover_if_hot(pager: Pager) -> bool:
    """Replay a journal that a crashed writer left.  Called with SHARED held; False when EXCLUSIVE couldn't be had."""
    lock = pager.lock
    file = pager.file
    assert lock is not None and file is not None
    path = f"{pager.path}-journal"
    if lock.reserved_elsewhere():
        return True
    if file.size() == 0:
        if not pager.read_only and lock.lock(RESERVED):
            pager.vfs.delete(path)
            lock.unlock(SHARED)
        return True
    if not _looks_hot(pager, path):
        return True
    if pager.read_only:
        raise errors.readonly(errors.READONLY_ROLLBACK)
    if not lock.lock(EXCLUSIVE):
        lock.unlock(NONE)
        return False
    if _looks_hot(pager, path):
        _recover(pager, path)
    if not pager.exclusive_locking:
        lock.unlock(SHARED)
    pager.drop_cache()
    pager.version_bytes = None
    return True


def _looks_hot(pager: Pager, path: str) -> bool:
    if pager.vfs.size(path) <= 0:
        return False
    try:
        journal = pager.vfs.open(path, read_only=True)
    except errors.SqlError:
        raise errors.io_error() from None
    try:
        return journal.read(0, 1) not in (b"", b"\0")
    finally:
        journal.close()


def _recover(pager: Pager, path: str) -> None:
    vfs = pager.vfs
    journal = vfs.open(path)
    try:
        name = super_journal_name(journal)
        if not name or vfs.exists(name):
            _replay(pager, journal)
    finally:
        journal.close()
    if pager.mode == "persist" or pager.mode == "truncate":
        journal = vfs.open(path)
        try:
            journal.truncate(0)
        finally:
            journal.close()
    else:
        vfs.delete(path)
    if name:
        _drop_super_journal(pager, name)


def _drop_super_journal(pager: Pager, name: str) -> None:
    """Delete a super-journal that no journal names any more."""
    vfs = pager.vfs
    if not vfs.exists(name):
        return
    file = vfs.open(name, read_only=True)
    try:
        children = file.read(0, file.size()).split(b"\0")
    finally:
        file.close()
    for child in children:
        path = child.decode("utf-8", "surrogateescape")
        if path and vfs.exists(path):
            journal = vfs.open(path, read_only=True)
            try:
                if super_journal_name(journal) == name:
                    return
            finally:
                journal.close()
    vfs.delete(name)


def remove_leftover(pager: Pager) -> None:
    """A journal kept by PERSIST or TRUNCATE is deleted when the mode changes, if nobody else uses the file."""
    lock = pager.lock
    assert lock is not None
    path = f"{pager.path}-journal"
    if not pager.vfs.exists(path):
        return
    was = lock.level
    if lock.lock(SHARED) and lock.lock(RESERVED) and not _looks_hot(pager, path):
        pager.vfs.delete(path)
    lock.unlock(SHARED if was else NONE)

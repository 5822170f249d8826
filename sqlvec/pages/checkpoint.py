"""Checkpoints: moving pages from the write-ahead log into the database file.

A checkpoint copies the newest version of every page up to the *safe frame*, the smallest frame some reader still needs, in page order.  PASSIVE never
waits; FULL waits for readers and the writer, RESTART also until nobody uses the log, TRUNCATE then cuts it to nothing.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.wal_index import CHECKPOINT, READ0, UNUSED, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlvec.pages.pager import Pager
    from sqlvec.pages.wal import Wal


def run_checkpoint(pager: Pager, mode: str = "passive") -> tuple[int, int, int]:
    """``PRAGMA wal_checkpoint``: (busy, frames in the log, frames in the database file); (0, -1, -1) without a log."""
    wal = pager.wal
    if wal is None:
        return 0, -1, -1
    if pager.in_write:
        raise errors.table_locked_plain()
    if pager.read_only:
        raise errors.readonly()
    # the own snapshot must not be in the way of its own checkpoint
    resumes = wal.reader >= 0 and pager.readers <= 1
    if resumes:
        wal.end_read()
    try:
        return _checkpoint(pager, wal, mode)
    finally:
        if resumes:
            wal.begin_read()


def _checkpoint(pager: Pager, wal: Wal, mode: str) -> tuple[int, int, int]:
    index = wal.index
    heap = index.is_heap
    waits = mode != "passive"
    if not heap and not _wait(pager, False, lambda: index.lock_exclusive(CHECKPOINT)):
        return 1, -1, -1
    busy = 0
    has_write = False
    try:
        if waits and not heap:
            has_write = _wait(pager, True, lambda: index.lock_exclusive(WRITE))
            if not has_write:
                busy = 1
                waits = False
                mode = "passive"
        frames, done = _transfer(pager, wal, waits)
        if waits and done < frames:
            busy = 1
        elif mode in ("restart", "truncate") and done == frames:
            if _wait(pager, True, lambda: heap or index.lock_exclusive(READ0 + 1, 4)):
                try:
                    frames, done = _start_over(pager, wal, mode, frames, done)
                finally:
                    if not heap:
                        index.unlock(READ0 + 1, 4)
            else:
                busy = 1
        return busy, frames, done
    finally:
        if has_write:
            index.unlock(WRITE)
        if not heap:
            index.unlock(CHECKPOINT)


def _wait(pager: Pager, waits: bool, attempt: Callable[[], bool]) -> bool:
    tries = 0
    while not attempt():
        if not waits or pager.busy is None or not pager.busy(tries):
            return False
        tries += 1
    return True


def _start_over(pager: Pager, wal: Wal, mode: str, frames: int, done: int) -> tuple[int, int]:
    """RESTART and TRUNCATE: the next writer begins the log anew."""
    was = wal.header
    header = wal.index.read_header()
    if header is None:
        return frames, done
    wal.header = header
    if mode == "truncate":
        wal.restart()
        wal.file.truncate(0)
        frames = done = 0
        if wal.header is not None and was is not None and was.raw == header.raw:
            return frames, done
    wal.header = was
    return frames, done


def _transfer(pager: Pager, wal: Wal, waits: bool) -> tuple[int, int]:
    """Copy what may be copied; returns (frames in the log, frames transferred)."""
    index = wal.index
    header = index.read_header()
    if header is None:
        raise errors.busy()
    frames = header.max_frame
    done = index.backfilled
    if done >= frames:
        return frames, done
    safe = frames
    if not index.is_heap:
        for reader in range(1, 5):
            mark = index.marks()[reader]
            if safe > mark:
                if _wait(pager, waits, lambda slot=READ0 + reader: index.lock_exclusive(slot)):  # type: ignore[misc]
                    index.set_mark(reader, safe if reader == 1 else UNUSED)
                    index.unlock(READ0 + reader)
                else:
                    safe = mark
    if done < safe and (index.is_heap or _wait(pager, waits, lambda: index.lock_exclusive(READ0))):
        try:
            index.set_attempted(safe)
            _copy(pager, wal, done, safe, header.page_count, safe == frames)
            index.backfilled = safe
            done = safe
        finally:
            if not index.is_heap:
                index.unlock(READ0)
    return frames, done


def _copy(pager: Pager, wal: Wal, done: int, safe: int, page_count: int, is_all: bool) -> None:
    file = pager.file
    assert file is not None
    if pager.synchronous:
        wal.file.sync()
    newest = dict(zip(wal.index.page_numbers(1, safe), range(1, safe + 1), strict=True))
    size = pager.page_size
    for page_no in sorted(newest):
        frame = newest[page_no]
        if frame > done and page_no <= page_count:
            file.write((page_no - 1) * size, wal.read_frame(frame))
    if is_all:
        file.truncate(page_count * size)
    if pager.synchronous:
        file.sync()


def checkpoint_at_close(pager: Pager, wal: Wal) -> None:
    """The last connection transfers everything; EXCLUSIVE on the database file keeps everybody else out."""
    if wal.index.read_header() is None:
        if not wal.index.lock_exclusive(WRITE):
            raise errors.busy()
        try:
            wal.recover()
        finally:
            wal.index.unlock(WRITE)
    frames, done = _transfer(pager, wal, False)
    if done < frames:
        raise errors.busy()

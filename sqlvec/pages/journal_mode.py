"""``PRAGMA journal_mode``: between the rollback-journal modes a choice of the connection, to and from WAL a change of the file."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.journal import remove_leftover
from sqlvec.pages.vfs import EXCLUSIVE, SHARED
from sqlvec.pages.wal import open_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager


def set_journal_mode(pager: Pager, mode: str, autocommit: bool = True) -> str:
    """Change the mode and return the one in force afterwards.

    A memory database knows only MEMORY and OFF.  Nothing changes within a write transaction; to or from WAL not within any.
    """
    if pager.file is None:
        if mode in ("memory", "off") and not pager.in_write:
            pager.mode = mode
        return pager.mode
    # find out what the file is before deciding
    pager.begin_read()
    pager.end_read()
    if mode == pager.mode:
        return mode
    if mode == "wal" or pager.mode == "wal":
        if not autocommit or pager.in_write:
            raise errors.wal_mode_in_transaction("into" if mode == "wal" else "out of")
        if mode == "wal":
            _enter(pager)
        else:
            _leave(pager, mode)
        return pager.mode
    if pager.in_write:
        return pager.mode
    if pager.mode in ("persist", "truncate") and mode in ("delete", "memory", "off"):
        remove_leftover(pager)
    pager.mode = mode
    return mode


def _stamp_version(pager: Pager, version: int) -> None:
    pager.begin_write()
    try:
        page = pager.write(1)
        page[18] = page[19] = version
        pager.commit()
    except BaseException:
        pager.rollback()
        raise


def _enter(pager: Pager) -> None:
    """Into WAL: the version bytes change through an ordinary transaction, then the log opens; never for a file that can't change."""
    if pager.immutable:
        return
    _stamp_version(pager, 2)
    pager.mode = "wal"
    pager.version_bytes = None
    if pager.readers:
        open_log(pager)


def _leave(pager: Pager, mode: str) -> None:
    """Out of WAL: alone on the file, transfer the log, delete it, and write the version bytes the old way."""
    lock = pager.lock
    assert lock is not None
    wal = pager.wal
    if wal.reader >= 0:
        wal.end_read()
    if not lock.lock(EXCLUSIVE):
        lock.unlock(SHARED)
        if pager.readers:
            wal.begin_read()
        assert pager.file is not None
        raise errors.io_error() if pager.file.read_only else errors.busy()      # no write lock on a file opened for reading
    wal.close()
    pager.wal = None
    if pager.vfs.exists(wal.path):
        raise errors.busy()
    pager.mode = mode
    lock.lock(SHARED)
    pager.drop_cache()
    pager.version_bytes = None
    pager.page_count = 0
    readers, pager.readers = pager.readers, 0
    try:
        pager.skip_log_once = True
        _stamp_version(pager, 1)
    finally:
        pager.skip_log_once = False
        pager.readers = readers
        if readers:
            pager.reenter()

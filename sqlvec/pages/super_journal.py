"""Commits of several files as one: the super-journal (manual: "Atomic Commit In SQLite", section 5).

A file next to the main database names the journals of all files; each journal names it.  Deleting it is the commit: a journal whose
super-journal is gone isn't hot any more.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.journal import finish_commit, prepare_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlvec.pages.pager import Pager


def commit_together(pagers: Sequence[Pager]) -> None:
    """Commit all these write transactions; the first pager is the main database where that takes part."""
    for pager in pagers:
        if pager.failed:
            raise errors.misuse()
    journalled = [
        pager
        for pager in pagers
        if pager.wal is None and pager.journal is not None and pager.journal.file is not None and pager.synchronous
    ]
    if len(journalled) < 2:
        for pager in pagers:
            pager.commit()
        return
    for pager in journalled:
        pager.lock_exclusive()
    main = journalled[0]
    vfs = main.vfs
    name = _free_name(main)
    file = vfs.open(name, create=True, mode_of=main.path)
    try:
        file.write(0, b"".join(f"{pager.path}-journal".encode("utf-8", "surrogateescape") + b"\0" for pager in journalled))
        file.sync()
        vfs.sync_directory(name)
        for pager in journalled:
            prepare_commit(pager, name)
    except BaseException:
        file.close()
        vfs.delete(name)
        raise
    file.close()
    vfs.delete(name, sync_directory=True)
    for pager in pagers:
        if pager in journalled:
            finish_commit(pager)
        else:
            pager.commit()


def _free_name(main: Pager) -> str:
    while True:
        letters = main.vfs.random_bytes(4).hex().upper()
        name = f"{main.path}-mj{letters[:6]}9{letters[6:]}"
        if not main.vfs.exists(name):
            return name

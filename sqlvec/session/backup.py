"""Copying a whole database: the online backup and the image of a file.  Follows "SQLite Backup API" of the manual."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.backup import Backup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.session.session import Session

DONE = 101


def _number(session: Session, name: str) -> int:
    number = session.databases.number_of(name)
    if number is None:
        raise errors.plain(f"unknown database {name}")
    return number


def serialize(session: Session, name: str = "main") -> bytes:
    """All pages of a database, as its file would hold them; nothing where there is no such database or no page."""
    number = session.databases.number_of(name)
    if number is None or (number == 1 and not session.databases[1].is_open):
        return b""
    pager = session.databases[number].pager
    pager.begin_read()
    try:
        return bytes(pager.read_run(range(1, pager.page_count + 1))) if pager.page_count else b""
    finally:
        pager.end_read()


def deserialize(session: Session, image: bytes, name: str = "main") -> None:
    """Make the image of a file the content of a database, which becomes a private memory database.

    Errors: "unknown database NAME"; SQLITE_ERROR for temp; "database is locked" while statements run or a transaction is open."""
    number = session.databases.number_of(name)
    if number is None:
        raise errors.plain(f"unknown database {name}")
    if number == 1:
        raise errors.plain("SQL logic error")
    if session.running or (session.databases[number].is_open and session.databases[number].pager.in_write):
        raise errors.SqlError(errors.BUSY, "database is locked")
    session.databases.replace_content(number, image)


def backup(source: Session, source_name: str, target: Session, target_name: str, pages: int = -1, progress: Any = None) -> None:
    """Make ``target`` a page-for-page copy of ``source``, ``pages`` at a time; ``progress(status, remaining, total)`` after each step.

    Errors: "database is locked", "destination database is in use" and those of writing."""
    if source is target and source_name == target_name:
        raise errors.plain("source and destination must be distinct")
    number = _number(target, target_name)
    if not target.transaction.autocommit and target.databases[number].pager.in_read:
        raise errors.plain("destination database is in use")
    copy = Backup(target.databases[number].pager, source.databases[_number(source, source_name)].pager)
    done = False
    while not done:
        done = copy.step(pages)
        if progress is not None:
            progress(DONE if done else errors.OK, copy.remaining, copy.page_count)
    target.databases.install(number, None)

"""Copying a whole database: the online backup and the image of a file.  Follows "SQLite Backup API" of the manual."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.backup import Backup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.session.session import Session


def _number(session: Session, name: str) -> int:
    number = session.databases.number_of(name)
    if number is None:
        raise errors.plain(f"unknown database {name}")
    return number


def serialize(session: Session, name: str = "main") -> bytes:
    """All pages of a database, as its file would hold them."""
    pager = session.databases[_number(session, name)].pager
    pager.begin_read()
    try:
        return bytes(pager.read_run(range(1, pager.page_count + 1))) if pager.page_count else b""
    finally:
        pager.end_read()


def backup(source: Session, source_name: str, target: Session, target_name: str) -> None:
    """Make ``target`` a page-for-page copy of ``source``.  Errors: "database is locked" and those of writing."""
    if source is target and source_name == target_name:
        raise errors.plain("source and destination must be distinct")
    number = _number(target, target_name)
    copy = Backup(target.databases[number].pager, source.databases[_number(source, source_name)].pager)
    while not copy.step():
        pass
    target.databases.install(number, None)

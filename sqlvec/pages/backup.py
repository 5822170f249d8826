"""Copying whole databases page by page: the online backup, and VACUUM's copy back.

:class:`Backup` copies a source to a destination in steps; :func:`replace_content` lets a database become an image of another within its
write transaction, other page size included (the journal then keeps the old pages in the old size).
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.pager import Pager


def replace_content(target: Pager, source: Pager) -> None:
    """Make ``target``, which is in a write transaction, equal to ``source``, which can be read.

    With a new page size this must be the first change of the transaction, outside of savepoints.
    """
    counter = target.header("change_counter")
    try:
        if target.page_size != source.page_size or target.usable_size != source.usable_size:
            _replace_resized(target, source)
            target.set_header("change_counter", counter)
            return
        for page_no in range(1, source.page_count + 1):
            image = source.get(page_no)
            if page_no > target.page_count:
                target.grow_to(page_no)
            if target.get(page_no) != image:
                target.write(page_no)[:] = image
        if target.page_count > source.page_count:
            target.cut_to(source.page_count)
        # others recognise a changed file by its counter: it goes on counting
        target.set_header("change_counter", counter)
        if target.wal is not None:
            target.write(1)[18:20] = b"\x02\x02"
    except BaseException:
        target.failed = True
        raise
    finally:
        target.forget_derived()


def _replace_resized(target: Pager, source: Pager) -> None:
    images = {page_no: bytes(target.get(page_no)) for page_no in range(1, target.page_count + 1)}
    frame = target.frames[0]
    for page_no, image in images.items():
        if page_no <= frame.count:
            frame.images.setdefault(page_no, image)
    if target.file is not None and target.journal is None:
        resolve("sqlvec.pages.journal:open_journal")(target)
    target.reshape(source.page_size, source.page_size - source.usable_size)
    target.cache.clear()
    target.changed.clear()
    target.writable.clear()
    target.page_count = 0
    target.grow_to(source.page_count)
    for page_no in range(1, source.page_count + 1):
        target.writable[page_no][:] = source.get(page_no)
    target.was_cut = True


class Backup:
    """An online backup: call :meth:`step` until it returns True, then :meth:`finish`."""

    __slots__ = ("_data_version", "done", "next_page", "source", "target")

    def __init__(self, target: Pager, source: Pager) -> None:
        self.target = target
        self.source = source
        self.next_page = 1
        self.done = False
        self._data_version = -1

    @property
    def page_count(self) -> int:
        return self.source.page_count

    @property
    def remaining(self) -> int:
        return 0 if self.done else max(0, self.source.page_count - self.next_page + 1)

    def step(self, pages: int = -1) -> bool:
        """Copy some pages (negative: all that is left).  A source changed by somebody else is begun anew."""
        source, target = self.source, self.target
        source.begin_read()
        try:
            version = source.data_version           # (changes by the same connection need no new start: all pages are copied at the end)
            if self._data_version != version:
                self.next_page = 1
                self._data_version = version
            self.next_page = source.page_count + 1 if pages < 0 else min(source.page_count + 1, self.next_page + pages)
            if self.next_page <= source.page_count:
                return False
            # the copy itself is one transaction of the target, so that a backup cut short leaves it as it was
            target.begin_write(exclusive=True)
            try:
                if source.page_count:
                    replace_content(target, source)
                target.commit()
            except BaseException:
                target.rollback()
                raise
            self.done = True
            return True
        finally:
            source.end_read()

    def finish(self) -> None:
        """Give up or end; nothing stays locked between steps."""
        self.done = True

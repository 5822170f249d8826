"""The pager: pages by number, transactions over them, and the rules that make both safe.

One :class:`Pager` per connection and database file.  It owns the page cache, the locks, the file header, savepoints and the way to
the journal; b-trees ask it for page images and know nothing of files.  States::

    (nothing) --begin_read--> reading --begin_write--> writing --commit / rollback--> reading --end_read--> (nothing)
                                                          |
                                                          +-- any exception inside a change --> failed: roll back first

Invariants:

G1. ``cache`` holds ``bytes`` for a page nobody changed since it was read and ``bytearray`` for one that was; only
    :meth:`write` hands out a ``bytearray`` for changing.
G2. Before a page changes for the first time in a frame (the transaction or a savepoint), its image goes into ``images`` of
    that frame, if the page existed when the frame was opened.  Images are the old ``bytes`` objects: nothing is copied for clean pages.
G3. The database file is written only at commit or spill, after the rollback journal holds, durably, every old image.
G4. ``changed`` are the pages whose cached image differs from the file.  A memory database has no file; its ``cache`` is the database.
G5. :meth:`read_run` and :meth:`get` are the only sources of page bytes, so a reader sees its own writes and its snapshot.

The manual: "Atomic Commit In SQLite", "File Locking And Concurrency".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.file_header import FIELDS, PENDING_BYTE, FileHeader, fresh_page_one, get_field, set_field
from sqlvec.pages.page import Layout
from sqlvec.pages.record import ENCODING_NAMES, ENCODING_NUMBERS
from sqlvec.pages.vfs import EXCLUSIVE, NONE, OS_VFS, RESERVED, SHARED, FileLock
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from sqlvec.pages.btree import IndexTree, TableTree
    from sqlvec.pages.key_layout import KeyLayout
    from sqlvec.pages.vfs import OsFile, Vfs

    Page = bytes | bytearray

DEFAULT_PAGE_SIZE = 4096
_LEAST_SPILL = 20
"""Changed pages that are kept in memory however small ``cache_size`` is: one change of a tree may need several."""
_CACHE_FLOOR_BYTES = 32 << 20
"""Python pages are cheap compared with a re-read: the cache is never kept smaller than this."""


_LONGEST_GAP = 8
_MOST_TARGETS = 500


class Frame:
    """One savepoint (frame 0 is the transaction): old images and page count (G2)."""

    __slots__ = ("count", "images", "outer_writable")

    def __init__(self, count: int, outer_writable: dict[int, bytearray]) -> None:
        self.count = count
        self.images: dict[int, bytes] = {}
        self.outer_writable = outer_writable


class Pager:
    """See the module essay.  Made by :meth:`open`."""

    def __init__(self, path: str | None, vfs: Vfs, file: OsFile | None, busy: Callable[[int], bool] | None) -> None:
        self.path = path
        self.vfs = vfs
        self.file = file
        self.busy = busy
        self.lock = FileLock(file) if file is not None else None
        self.read_only = file is not None and file.read_only
        self.immutable = False
        self.is_temp = False
        self.cache: dict[int, Page] = {}
        self.nodes: dict[int, Any] = {}
        self.leaf_keys: dict[int, list[Any]] = {}
        self.trees: dict[int, Any] = {}
        self.changed: dict[int, bytearray] = {}
        self.writable: dict[int, bytearray] = {}
        self.frames: list[Frame] = []
        self.readers = 0
        self.in_write = False
        self.failed = False
        self.was_cut = False
        self.page_count = 0
        self.data_version = 1
        self.generation = 0
        self.version_bytes: bytes | None = None
        self.journal: Any = None
        self.wal: Any = None
        self.mode = "memory" if file is None else "delete"
        self.synchronous = 2
        self.cache_size = -2000
        self.cache_spill = True
        self._exclusive_locking = False
        self.secure_delete = 1
        self.max_page_count = 1073741823
        self.journal_size_limit = -1
        self.wal_autocheckpoint = 1000
        self.pending_encoding = "utf-8"
        self.pending_auto_vacuum = 0
        self.pending_page_size = 0
        self.next_auto_vacuum = -1              # what VACUUM shall make of it; -1: as it is
        self.mmap_size = 0
        self.skip_log_once = False
        self.reshape(DEFAULT_PAGE_SIZE, 0)

    @classmethod
    def open(
        cls,
        path: str | None,
        *,
        readonly: bool = False,
        immutable: bool = False,
        create: bool = True,
        vfs: Vfs | None = None,
        busy: Callable[[int], bool] | None = None,
        temp: bool = False,
    ) -> Pager:
        """Open a database file (``None``: a private memory database).  Nothing is read before the first transaction."""
        vfs = vfs or OS_VFS
        file = None
        if path is not None:
            path = vfs.full_path(path)
            file = vfs.open(path, read_only=readonly, create=create and not readonly)
        made = cls(path, vfs, file, busy)
        made.immutable = immutable
        made.is_temp = temp
        if immutable:
            made.read_only = True
        return made

    def reshape(self, page_size: int, reserved: int) -> None:
        """Take on a page size; the cache must be empty of other sizes."""
        self.page_size = page_size
        self.usable_size = page_size - reserved
        self.layout = Layout(page_size, self.usable_size)
        self.pending_page = PENDING_BYTE // page_size + 1

    @property
    def exclusive_locking(self) -> bool:
        """``PRAGMA locking_mode``.  A log that was opened without shared memory can't be shared any more."""
        return self._exclusive_locking

    @exclusive_locking.setter
    def exclusive_locking(self, wanted: bool) -> None:
        if wanted or self.wal is None or not self.wal.index.is_heap:
            self._exclusive_locking = wanted

    # --- header fields -------------------------------------------------------------------------------------------------------------

    def header(self, name: str) -> int:
        """A field of the file header (names: ``file_header.FIELDS``); 0 in an empty database."""
        if self.page_count == 0:
            return 0
        return get_field(self.get(1), name)

    def set_header(self, name: str, value: int) -> None:
        """Change a header field inside a write transaction."""
        set_field(self.write(1), name, value)

    schema_cookie = property(lambda self: self.header("schema_cookie"), lambda self, value: self.set_header("schema_cookie", value))
    schema_format = property(lambda self: self.header("schema_format"), lambda self, value: self.set_header("schema_format", value))
    user_version = property(lambda self: self.header("user_version"), lambda self, value: self.set_header("user_version", value))
    application_id = property(lambda self: self.header("application_id"), lambda self, value: self.set_header("application_id", value))
    default_cache_size = property(
        lambda self: self.header("default_cache_size"), lambda self, value: self.set_header("default_cache_size", value)
    )
    freelist_count = property(lambda self: self.header("freelist_count"))

    @property
    def encoding(self) -> str:
        """``utf-8``, ``utf-16-le`` or ``utf-16-be``; until the first object exists, the pending choice."""
        number = self.header("text_encoding")
        return ENCODING_NAMES[number & 3 or 1] if number else self.pending_encoding

    @encoding.setter
    def encoding(self, name: str) -> None:
        self.pending_encoding = name

    @property
    def auto_vacuum(self) -> int:
        """0 none, 1 full, 2 incremental."""
        if self.page_count == 0:
            return self.pending_auto_vacuum
        page = self.get(1)
        if get_field(page, "largest_root") == 0:
            return 0
        return 2 if get_field(page, "incremental_vacuum") else 1

    @auto_vacuum.setter
    def auto_vacuum(self, mode: int) -> None:
        """Before the first page exists: choose.  Later only full <-> incremental switch (inside a write transaction)."""
        if self.page_count == 0:
            self.pending_auto_vacuum = mode
        elif mode and self.auto_vacuum:
            self.set_header("incremental_vacuum", 1 if mode == 2 else 0)

    def initialise_schema_fields(self) -> None:
        """The first CREATE fixes schema format and encoding."""
        if self.header("schema_format") == 0:
            self.set_header("schema_format", 4)
            self.set_header("text_encoding", ENCODING_NUMBERS[self.pending_encoding])

    @property
    def journal_mode(self) -> str:
        """``delete``, ``truncate``, ``persist``, ``memory``, ``off`` or ``wal``."""
        return self.mode

    def set_page_size(self, page_size: int, reserved: int = -1) -> bool:
        """Choose the page size of a database that has no page yet."""
        if page_size < 512 or page_size > 65536 or page_size & (page_size - 1) or self.page_count:
            return False
        self.reshape(page_size, self.page_size - self.usable_size if reserved < 0 else reserved)
        return True

    # --- reading -------------------------------------------------------------------------------------------------------------------

    @property
    def in_read(self) -> bool:
        return self.readers > 0 or self.in_write

    def fill(self, image: bytes) -> None:
        """Make the image of a file the content of a new memory database.  Errors: "file is not a database"."""
        self._read_header(image[:100], len(image))
        size = self.page_size
        image = image.ljust(self.page_count * size, b"\0")
        self.cache.update((number + 1, image[number * size : (number + 1) * size]) for number in range(self.page_count))

    def begin_read(self) -> None:
        """Enter (or nest) a read transaction: SHARED lock, hot journal recovery, cache validation."""
        if self.readers == 0 and not self.in_write and self.file is not None:
            self._enter_file()
        self.readers += 1

    def end_read(self) -> None:
        """Leave a read transaction; the outermost one gives the lock back."""
        self.readers -= 1
        if self.readers == 0 and not self.in_write:
            self._leave_file()

    def _leave_file(self) -> None:
        if self.wal is not None:
            self.wal.end_read()
        elif self.lock is not None and not self.exclusive_locking:
            self.lock.unlock(NONE)

    def _wait(self, attempt: Callable[[], bool]) -> None:
        """Try until it works or the busy callable gives up."""
        tries = 0
        while not attempt():
            if self.busy is None or not self.busy(tries):
                raise errors.busy()
            tries += 1

    def _enter_file(self) -> None:
        if self.wal is not None:
            self.wal.begin_read()
            return
        lock = self.lock
        assert lock is not None
        try:
            if not self.immutable:
                self._wait(self._share)
            self._validate_cache()
        except BaseException:
            if not self.exclusive_locking:
                lock.unlock(NONE)
            raise

    def _share(self) -> bool:
        """SHARED lock, and no hot journal left behind; False when somebody is in the way."""
        assert self.lock is not None and self.path is not None
        if not self.lock.lock(SHARED):
            return False
        if self.lock.level == SHARED and self.vfs.size(self.path + "-journal") >= 0:
            return resolve("sqlvec.pages.journal:recover_if_hot")(self)  # type: ignore[no-any-return]
        return True

    def _validate_cache(self) -> None:
        assert self.file is not None
        size = self.file.size()
        head = self.file.read(0, 100) if size > 1 else b""  # one byte counts as nothing; devices have no size
        if not head:
            if self.page_count:
                self.drop_cache()
            self.page_count = 0
            self.version_bytes = None
            return
        head = head.ljust(100, b"\0")
        version = head[24:40]
        if version == self.version_bytes and self.page_count:
            return
        if self.version_bytes is not None:
            self.data_version += 1
        self.drop_cache()
        if head[19] == 2 or self._has_log():
            if not self.skip_log_once and not self.immutable:
                try:
                    self.reshape_from(head)
                except errors.SqlError:
                    pass  # the log may hold a better page 1
                resolve("sqlvec.pages.wal:open_log")(self)
                return
        self._read_header(head, size)
        self.version_bytes = version

    def reshape_from(self, head: bytes) -> None:
        """Take the page size from a file header."""
        header = FileHeader(head)
        self.reshape(header.page_size, header.reserved)

    def _read_header(self, head: bytes, size: int) -> None:
        header = FileHeader(head)
        if header.write_version > 2:
            self.read_only = True
        self.reshape(header.page_size, header.page_size - header.usable)
        in_file = -(-size // header.page_size)
        count = get_field(head, "page_count")
        if count == 0 or get_field(head, "change_counter") != get_field(head, "version_valid_for"):
            count = in_file
        elif count > in_file:
            raise errors.corrupt()
        self.page_count = count

    def _has_log(self) -> bool:
        """A log file next to the database; next to an empty database it is a leftover, and goes."""
        assert self.path is not None and self.file is not None
        if self.vfs.size(self.path + "-wal") < 0:
            return False
        if self.file.size() <= 1:
            if not self.read_only:
                self.vfs.delete(self.path + "-wal")
            return False
        return True

    def reenter(self) -> None:
        """After a change of the journal mode: what ``begin_read`` does for the first reader."""
        self._enter_file()

    def drop_cache(self) -> None:
        """Forget every page image and everything derived from them."""
        self.cache.clear()
        self.nodes.clear()
        self.leaf_keys.clear()
        self.generation += 1
        for tree in self.trees.values():
            tree.write_count += 1

    def get(self, page_no: int) -> Page:
        """The current image of a page, for reading only."""
        page = self.cache.get(page_no)
        if page is not None:
            return page
        if page_no < 1 or page_no > self.page_count:
            if page_no == 1 and self.page_count == 0:
                return bytes(fresh_page_one(self.page_size, self.page_size - self.usable_size, self.pending_auto_vacuum))
            raise errors.corrupt()
        page = self._read_page(page_no)
        if len(self.cache) > self._cache_limit():
            self._evict()
        self.cache[page_no] = page
        return page

    def _read_page(self, page_no: int) -> bytes:
        if self.file is None:
            raise errors.corrupt()
        size = self.page_size
        page = self.wal.read_page(page_no) if self.wal is not None else None
        if page is None:
            page = self.file.read((page_no - 1) * size, size)
        if len(page) < size:
            page += bytes(size - len(page))
        return page  # type: ignore[no-any-return]

    def _spill_limit(self) -> int:
        wanted = self.cache_size if self.cache_size >= 0 else -self.cache_size * 1024 // self.page_size
        return max(wanted, _LEAST_SPILL)

    def _cache_limit(self) -> int:
        return max(self._spill_limit(), _CACHE_FLOOR_BYTES // self.page_size)

    def _evict(self) -> None:
        """Drop the older half of the clean pages (dicts keep their order of insertion)."""
        changed = self.changed
        clean = [page_no for page_no in self.cache if page_no not in changed and page_no != 1]
        for page_no in clean[: len(clean) // 2 + 1]:
            del self.cache[page_no]
            self.forget_node(page_no)

    def read_run(self, page_numbers: Sequence[int]) -> bytes:
        """The images of many pages, concatenated in the order asked for; neighbours in the file are read together."""
        cache = self.cache
        if self.page_count == 0:
            return b"".join([self.get(page_no) for page_no in page_numbers])
        if self.file is None:
            try:
                return b"".join([cache[page_no] for page_no in page_numbers])
            except KeyError:
                raise errors.corrupt() from None
        pieces: list[Page] = []
        overlay = self.changed
        wal = self.wal
        start = length = 0
        for page_no in page_numbers:
            if page_no < 1 or page_no > self.page_count:
                raise errors.corrupt()
            image = overlay.get(page_no) if overlay else None
            if image is None and wal is not None:
                image = wal.read_page(page_no)
            if image is None and page_no == start + length:
                length += 1
                continue
            if length:
                pieces.append(self._read_pages(start, length))
                length = 0
            if image is None:
                start, length = page_no, 1
            else:
                pieces.append(image)
        if length:
            pieces.append(self._read_pages(start, length))
        return b"".join(pieces) if len(pieces) != 1 else bytes(pieces[0])

    def read_runs_into(self, firsts: Sequence[int], counts: Sequence[int], target: memoryview) -> None:
        """As :meth:`read_run` for runs of neighbours (first page, number of pages), from the file into the caller's buffer without a copy."""
        size = self.page_size
        file = self.file
        ends = [first + count for first, count in zip(firsts, counts, strict=True)]
        if file is None or self.page_count == 0 or self.changed or self.wal is not None or min(firsts) < 1 or max(ends) > self.page_count + 1:
            target[:] = self.read_run([page_no for first, end in zip(firsts, ends, strict=True) for page_no in range(first, end)])
            return
        # Short gaps between the wanted pages (an index that grew along with its table) are read over: one system call for many runs.
        junk = memoryview(bytearray(size * _LONGEST_GAP))
        at = 0
        start = behind = firsts[0]
        targets: list[memoryview] = []
        for first, count in zip(firsts, counts, strict=True):
            gap = first - behind
            if gap and targets:
                if 0 < gap <= _LONGEST_GAP and len(targets) < _MOST_TARGETS:
                    targets.append(junk[: gap * size])
                else:
                    self._fill(file, start, behind - start, targets)
                    targets = []
                    start = first
            targets.append(target[at * size : (at + count) * size])
            at += count
            behind = first + count
        self._fill(file, start, behind - start, targets)

    def _fill(self, file: OsFile, first: int, count: int, targets: list[memoryview]) -> None:
        """Read ``count`` pages from ``first`` on into the buffers."""
        wanted = count * self.page_size
        if file.read_into((first - 1) * self.page_size, targets, wanted) < wanted:
            raise errors.io_error(errors.IOERR_SHORT_READ)

    def _read_pages(self, first: int, count: int) -> bytes:
        assert self.file is not None
        data = self.file.read((first - 1) * self.page_size, count * self.page_size)
        if len(data) < count * self.page_size:
            data += bytes(count * self.page_size - len(data))
        return data

    def read_overflow(self, page_no: int, size: int) -> bytes:
        """The content of an overflow chain: ``size`` bytes starting on page ``page_no``."""
        room = self.usable_size - 4
        if size > room * self.page_count:
            raise errors.corrupt()
        pieces = []
        get = self.get
        while size > 0:
            page = get(page_no)
            take = room if size > room else size
            pieces.append(bytes(page[4 : 4 + take]))
            size -= take
            page_no = int.from_bytes(page[:4], "big")
        return b"".join(pieces)

    # --- writing -------------------------------------------------------------------------------------------------------------------

    def begin_write(self, exclusive: bool = False) -> None:
        """Enter a write transaction: RESERVED lock (or EXCLUSIVE); an empty database gets its page 1.

        Somebody else's lock is waited for (``busy``) only if nothing was read yet: a reader that waited would block the very commit that
        it waits for.
        """
        if self.in_write:
            if exclusive:
                self.lock_exclusive()
            return
        if self.file is not None:
            tries = 0
            while not self._try_write(exclusive):
                if self.readers or self.busy is None or not self.busy(tries):
                    raise errors.busy()
                tries += 1
        self.in_write = True
        self.failed = False
        self.was_cut = False
        self.writable = {}
        self.changed = {}
        self.frames = [Frame(self.page_count, {})]
        if self.page_count == 0:
            try:
                self._materialise()
            except BaseException:
                self.end_write()
                raise

    def _try_write(self, exclusive: bool) -> bool:
        """Get the locks of a writer, or give back what was taken and say False."""
        if self.readers == 0:
            self._enter_file()
        got = False
        try:
            if self.read_only:
                raise errors.readonly()
            lock = self.lock
            assert lock is not None
            if self.wal is not None:
                got = self.wal.begin_write()
            else:
                got = lock.lock(RESERVED) and (not exclusive or lock.lock(EXCLUSIVE))
        finally:
            if not got:
                if self.lock is not None and self.wal is None and not self.exclusive_locking:
                    self.lock.unlock(SHARED)
                if self.readers == 0:
                    self._leave_file()
        return got

    def lock_exclusive(self) -> None:
        """Keep everybody else out (rollback-journal modes)."""
        lock = self.lock
        if lock is not None and self.wal is None:
            self._wait(lambda: lock.lock(EXCLUSIVE))

    def _materialise(self) -> None:
        if self.file is not None and self.wal is None:
            resolve("sqlvec.pages.journal:open_journal")(self)
        page = fresh_page_one(self.page_size, self.page_size - self.usable_size, self.pending_auto_vacuum)
        self.page_count = 1
        self.cache[1] = self.changed[1] = self.writable[1] = page
        self.forget_node(1)

    def write(self, page_no: int) -> bytearray:
        """The image of a page, for changing; its old image is kept for every open frame (G2)."""
        page = self.writable.get(page_no)
        if page is None:
            page = self._make_writable(page_no)
        return page

    def _make_writable(self, page_no: int) -> bytearray:
        if not self.in_write:
            raise errors.misuse()
        if self.journal is None and self.file is not None and self.wal is None:
            resolve("sqlvec.pages.journal:open_journal")(self)
        page = self.get(page_no)
        frame = self.frames[-1]
        if page_no <= frame.count and page_no not in frame.images:
            frame.images[page_no] = bytes(page)
        if type(page) is not bytearray:
            page = bytearray(page)
            self.cache[page_no] = page
        self.changed[page_no] = page
        self.writable[page_no] = page
        self.forget_node(page_no)
        return page

    def add_page(self) -> tuple[int, bytearray]:
        """Append a zeroed page to the database (the page holding the pending byte is skipped)."""
        page_no = self.page_count + 1
        if page_no == self.pending_page:
            self._install(page_no, bytearray(self.page_size))
            page_no += 1
        if page_no > self.max_page_count:
            raise errors.full()
        page = bytearray(self.page_size)
        self._install(page_no, page)
        return page_no, page

    def _install(self, page_no: int, page: bytearray) -> None:
        self.page_count = page_no
        self.cache[page_no] = self.changed[page_no] = self.writable[page_no] = page
        self.forget_node(page_no)

    def grow_to(self, count: int) -> None:
        """Append zeroed pages up to ``count``."""
        for page_no in range(self.page_count + 1, count + 1):
            self._install(page_no, bytearray(self.page_size))

    def cut_to(self, count: int) -> None:
        """Shorten the database to ``count`` pages; frames keep the images of what existed before."""
        frame = self.frames[-1]
        for page_no in range(count + 1, self.page_count + 1):
            if page_no <= frame.count and page_no not in frame.images:
                frame.images[page_no] = bytes(self.get(page_no))
            self.cache.pop(page_no, None)
            self.changed.pop(page_no, None)
            self.writable.pop(page_no, None)
            self.forget_node(page_no)
        self.page_count = count
        self.was_cut = True

    def replace_page(self, page_no: int) -> bytearray:
        """A page whose old content no longer matters, zeroed for changing."""
        page = self.write(page_no)
        page[:] = bytes(len(page))
        self.forget_node(page_no)
        return page

    def spill_if_large(self) -> None:
        """Called between changes of trees: write changed pages out early when the cache overflows."""
        limit = self._spill_limit()
        if len(self.changed) > limit and self.file is not None and self.cache_spill:
            resolve("sqlvec.pages.journal:spill")(self, limit)

    def allocate(self, near: int = 0) -> tuple[int, bytearray]:
        """A zeroed page for use: from the freelist (closest to ``near``) or the end of the file."""
        return resolve("sqlvec.pages.freelist:allocate")(self, near)  # type: ignore[no-any-return]

    def free(self, page_no: int) -> None:
        """Give a page to the freelist."""
        resolve("sqlvec.pages.freelist:free")(self, page_no)

    # --- savepoints ----------------------------------------------------------------------------------------------------------------

    def savepoint(self) -> int:
        """Open a frame inside the write transaction; returns its depth (1 for the first)."""
        self.frames.append(Frame(self.page_count, self.writable))
        self.writable = {}
        self.generation += 1
        return len(self.frames) - 1

    def release(self, depth: int) -> None:
        """Close the frames from ``depth`` inwards, keeping what they did."""
        frames = self.frames
        while len(frames) > depth:
            frame = frames.pop()
            outer = frames[-1]
            for page_no, image in frame.images.items():
                if page_no <= outer.count and page_no not in outer.images:
                    outer.images[page_no] = image
            frame.outer_writable.update(self.writable)
            self.writable = frame.outer_writable

    def rollback_to(self, depth: int) -> None:
        """Undo everything since frame ``depth`` was opened; the frame stays open, empty."""
        frames = self.frames
        restored: dict[int, bytes] = {}
        while True:
            frame = frames[-1]
            restored.update(frame.images)
            if len(frames) - 1 == depth:
                break
            frames.pop()
            self.writable = frame.outer_writable
        touched = bool(restored) or self.page_count != frame.count
        for page_no in range(frame.count + 1, self.page_count + 1):
            self._forget(page_no)
        self.page_count = frame.count
        for page_no, image in restored.items():
            if page_no <= frame.count:
                page = bytearray(image)
                self.cache[page_no] = self.changed[page_no] = page
                for inner in frames[1:]:
                    if page_no in inner.outer_writable:
                        inner.outer_writable[page_no] = page
        frame.images = {page_no: image for page_no, image in restored.items() if page_no <= frame.count}    # outer frames may need them
        self.writable = {}
        self.failed = False
        if touched:
            self.forget_derived()

    def _forget(self, page_no: int) -> None:
        self.cache.pop(page_no, None)
        self.changed.pop(page_no, None)
        for frame in self.frames:
            frame.outer_writable.pop(page_no, None)

    def forget_node(self, page_no: int) -> None:
        """A page changes: what was parsed from it is stale."""
        self.nodes.pop(page_no, None)
        self.leaf_keys.pop(page_no, None)

    def forget_derived(self) -> None:
        """Parsed pages and append positions are stale; walkers re-seek."""
        self.nodes.clear()
        self.leaf_keys.clear()
        self.generation += 1
        for tree in self.trees.values():
            tree.write_count += 1

    # --- ending a write transaction ------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make the transaction permanent."""
        if not self.in_write:
            return
        if self.failed:
            raise errors.misuse()
        if self.file is None:
            self._finish_memory()
            return
        resolve("sqlvec.pages.journal:commit")(self)

    def _finish_memory(self) -> None:
        if self.changed:
            resolve("sqlvec.pages.freelist:finish_auto_vacuum")(self)
            page = self.write(1)
            set_field(page, "page_count", self.page_count)
        self.changed = {}
        self.end_write()

    def end_write(self) -> None:
        """Leave the write state (commit and rollback end here)."""
        self.in_write = False
        self.failed = False
        self.frames = []
        self.writable = {}
        self.generation += 1
        if self.readers == 0:
            self._leave_file()
        elif self.lock is not None and self.wal is None and not self.exclusive_locking:
            self.lock.unlock(SHARED)

    def rollback(self) -> None:
        """Undo the whole transaction."""
        if not self.in_write:
            return
        if self.wal is not None:
            self.wal.rollback()
            return
        if self.journal is not None:
            resolve("sqlvec.pages.journal:rollback")(self)
            return
        self.undo_changes()
        self.end_write()

    def undo_changes(self) -> None:
        """Put the cache back to the images that the transaction began with."""
        original: dict[int, bytes] = {}
        for frame in reversed(self.frames):
            original.update(frame.images)
        count = self.frames[0].count
        if original and len(next(iter(original.values()))) != self.page_size:
            self.reshape(len(next(iter(original.values()))), 0)
            self.cache.clear()
        for page_no in list(self.changed):
            self.cache.pop(page_no, None)
        for page_no, image in original.items():
            if page_no <= count:
                self.cache[page_no] = image
        for page_no in range(count + 1, self.page_count + 1):
            self.cache.pop(page_no, None)
        self.changed = {}
        self.page_count = count
        self.forget_derived()

    # --- trees ---------------------------------------------------------------------------------------------------------------------

    def table_tree(self, root: int) -> TableTree:
        """The rowid tree with this root (one object per root, so that ``write_count`` is shared)."""
        tree = self.trees.get(root)
        if tree is None or not tree.is_table:
            tree = self.trees[root] = resolve("sqlvec.pages.btree:TableTree")(self, root)
        return tree  # type: ignore[no-any-return]

    def index_tree(self, root: int, layout: KeyLayout) -> IndexTree:
        """The index tree with this root; the object is kept as long as the layout stays the same object."""
        tree = self.trees.get(root)
        if tree is None or tree.is_table or tree.layout is not layout:
            previous = tree
            tree = self.trees[root] = resolve("sqlvec.pages.btree:IndexTree")(self, root, layout)
            if previous is not None:
                # parsed pages hold keys of the other layout
                self.nodes.clear()
                self.leaf_keys.clear()
                tree.write_count = previous.write_count + 1
        return tree  # type: ignore[no-any-return]

    def create_tree(self, is_index: bool) -> int:
        """A new, empty tree; returns its root page."""
        return resolve("sqlvec.pages.btree_write:create_tree")(self, is_index)  # type: ignore[no-any-return]

    def drop_tree(self, root: int) -> int:
        """Free all pages of a tree.  Returns the old number of the root page that auto-vacuum moved to ``root``, or 0."""
        return resolve("sqlvec.pages.btree_write:drop_tree")(self, root)  # type: ignore[no-any-return]

    def clear_tree(self, root: int) -> int:
        """Empty a tree, keeping its root; returns the number of entries there were."""
        return resolve("sqlvec.pages.btree_write:clear_tree")(self, root)  # type: ignore[no-any-return]

    def close(self) -> None:
        """Roll back what is open, give up locks and the file."""
        if self.in_write:
            self.rollback()
        if self.wal is not None:
            self.wal.close_quietly()
            self.wal = None
        if self.journal is not None:
            self.journal.close()
            self.journal = None
        if self.lock is not None:
            self.lock.close()
            self.lock = None
        self.cache.clear()
        self.nodes.clear()
        self.leaf_keys.clear()
        self.trees.clear()


assert "schema_cookie" in FIELDS

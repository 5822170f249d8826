"""Files as the pager sees them: positioned reads and writes, sizes, syncs; every system call of the page layer is made here.

A :class:`Vfs` opens, deletes and looks for files; tests hand in one that injects faults.  The errors of the operating system become
SQLite's result codes here and nowhere else: a full disk is ``full``, anything else ``io_error`` or ``cannot_open``.

Database file locks: NONE < SHARED < RESERVED < PENDING < EXCLUSIVE, as POSIX byte-range locks (manual: "File Locking And
Concurrency In SQLite Version 3").

POSIX locks belong to the process, not to the descriptor: two connections of one process never block each other through the
kernel, and closing any descriptor of the file drops every lock.  So all locks of an inode are kept in one :class:`InodeLocks`,
shared by the connections of the process, which arbitrates between them and asks the kernel only on the process's behalf.
Invariants:

L1. The kernel holds the strongest lock that any connection of this process holds.
L2. A descriptor of a locked inode is closed only when the last lock of the process on that inode is gone.
"""
from __future__ import annotations

import errno
import fcntl
import os
from _thread import allocate_lock
from struct import Struct

from sqlvec import errors

READ_ONLY_ERRORS = (errno.EACCES, errno.EPERM, errno.EROFS)


class OsFile:
    """One open file."""

    __slots__ = ("descriptor", "identity", "path", "read_only")

    def __init__(self, path: str, descriptor: int, read_only: bool) -> None:
        self.path = path
        self.descriptor = descriptor
        self.read_only = read_only
        status = os.fstat(descriptor)
        self.identity = (status.st_dev, status.st_ino)

    def size(self) -> int:
        try:
            return os.fstat(self.descriptor).st_size
        except OSError:
            raise errors.io_error(errors.IOERR_FSTAT) from None

    def read(self, offset: int, size: int) -> bytes:
        """Up to ``size`` bytes; short only at the end of the file."""
        try:
            data = os.pread(self.descriptor, size, offset)
            while 0 < len(data) < size:
                more = os.pread(self.descriptor, size - len(data), offset + len(data))
                if not more:
                    break
                data += more
        except OSError:
            raise errors.io_error(errors.IOERR_READ) from None
        return data

    def read_into(self, offset: int, targets: list[memoryview], wanted: int) -> int:
        """Fill the buffers, ``wanted`` bytes in all, from the file, one behind the other; returns the bytes read, fewer only at the end of the file."""
        try:
            done = os.preadv(self.descriptor, targets, offset)
            while 0 < done < wanted:
                skip = done
                rest = []
                for target in targets:
                    if skip < len(target):
                        rest.append(target[skip:])
                    skip = max(0, skip - len(target))
                more = os.preadv(self.descriptor, rest, offset + done)
                if not more:
                    break
                done += more
        except OSError:
            raise errors.io_error(errors.IOERR_READ) from None
        return done

    def write(self, offset: int, data: bytes | bytearray | memoryview) -> None:
        try:
            done = os.pwrite(self.descriptor, data, offset)
            while done < len(data):
                done += os.pwrite(self.descriptor, memoryview(data)[done:], offset + done)
        except OSError as problem:
            if problem.errno in (errno.ENOSPC, errno.EDQUOT):
                raise errors.full() from None
            raise errors.io_error(errors.IOERR_WRITE) from None

    def truncate(self, size: int) -> None:
        try:
            os.ftruncate(self.descriptor, size)
        except OSError:
            raise errors.io_error(errors.IOERR_TRUNCATE) from None

    def sync(self, full: bool = False) -> None:
        try:
            if full:
                os.fsync(self.descriptor)
            else:
                os.fdatasync(self.descriptor)
        except OSError:
            raise errors.io_error(errors.IOERR_FSYNC) from None

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class Vfs:
    """The operating system's file system."""

    __slots__ = ()

    def open(self, path: str, *, read_only: bool = False, create: bool = False, mode_of: str | None = None) -> OsFile:
        """Open a file; without write permission falls back to reading unless it must be created.

        ``mode_of`` names the file whose permissions a new file takes (journals take the database's).
        """
        base = os.O_CLOEXEC
        permissions = 0o644
        if mode_of is not None:
            try:
                permissions = os.stat(mode_of).st_mode & 0o777
            except OSError:
                pass
        try:
            if read_only:
                return self._made(path, os.open(path, os.O_RDONLY | base), True)
            try:
                return self._made(path, os.open(path, os.O_RDWR | base | (os.O_CREAT if create else 0), permissions), False)
            except OSError as problem:
                if problem.errno not in READ_ONLY_ERRORS:
                    raise
                return self._made(path, os.open(path, os.O_RDONLY | base), True)
        except IsADirectoryError:
            raise errors.cannot_open(errors.CANTOPEN_ISDIR) from None
        except (OSError, ValueError):
            raise errors.cannot_open() from None

    def _made(self, path: str, descriptor: int, read_only: bool) -> OsFile:
        made = OsFile(path, descriptor, read_only)
        if os.path.isdir(path):
            made.close()
            raise errors.cannot_open(errors.CANTOPEN_ISDIR)
        return made

    def full_path(self, path: str) -> str:
        """The one name under which everybody finds the journal of a file: absolute, without links."""
        try:
            return os.path.realpath(path)
        except (OSError, ValueError):
            raise errors.cannot_open() from None

    def exists(self, path: str) -> bool:
        """True for a file with content or without."""
        try:
            os.stat(path)
        except (OSError, ValueError):
            return False
        return True

    def size(self, path: str) -> int:
        """Size in bytes, -1 when there is no such file."""
        try:
            return os.stat(path).st_size
        except (OSError, ValueError):
            return -1

    def writable(self, path: str) -> bool:
        return os.access(path, os.W_OK)

    def delete(self, path: str, sync_directory: bool = False) -> None:
        """Unlink; a file that is already gone is fine."""
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
        except OSError:
            raise errors.io_error(errors.IOERR_DELETE) from None
        if sync_directory:
            self.sync_directory(path)

    def sync_directory(self, path: str) -> None:
        """Make creation or removal of ``path`` durable."""
        try:
            descriptor = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            os.fsync(descriptor)
        except OSError:
            pass
        finally:
            os.close(descriptor)

    def random_bytes(self, size: int) -> bytes:
        return os.urandom(size)


OS_VFS = Vfs()


# --- locks ---------------------------------------------------------------------------------------------------------------------


NONE, SHARED, RESERVED, PENDING, EXCLUSIVE = range(5)

PENDING_BYTE = 0x40000000
RESERVED_BYTE = PENDING_BYTE + 1
SHARED_FIRST = PENDING_BYTE + 2
SHARED_SIZE = 510

_flock = Struct("hhqqi4x")


def set_lock(descriptor: int, kind: int, start: int, size: int) -> bool:
    """Non-blocking byte-range lock (``F_RDLCK``, ``F_WRLCK``, ``F_UNLCK``); False when somebody else holds it."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETLK, _flock.pack(kind, os.SEEK_SET, start, size, 0))
    except OSError:
        return False
    return True


def lock_holder(descriptor: int, kind: int, start: int, size: int) -> int:
    """The kind of lock another process holds that conflicts with ``kind`` there, or ``F_UNLCK``."""
    try:
        answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, _flock.pack(kind, os.SEEK_SET, start, size, 0))
    except OSError:
        return fcntl.F_UNLCK
    return int(_flock.unpack(answer)[0])


class InodeLocks:
    """What this process holds on one database file."""

    __slots__ = ("deferred", "descriptor", "level", "references", "sharers")

    def __init__(self) -> None:
        self.level = NONE
        self.sharers = 0
        self.references = 0
        self.descriptor = -1
        self.deferred: list[OsFile] = []


_inodes: dict[tuple[int, int], InodeLocks] = {}
_mutex = allocate_lock()


class FileLock:
    """One connection's lock on one file."""

    __slots__ = ("file", "inode", "level")

    def __init__(self, file: OsFile) -> None:
        self.file = file
        self.level = NONE
        with _mutex:
            inode = _inodes.get(file.identity)
            if inode is None:
                inode = _inodes[file.identity] = InodeLocks()
            inode.references += 1
            self.inode = inode

    def lock(self, wanted: int) -> bool:
        """Raise the lock; False when another connection is in the way (PENDING may then be held, as the protocol wants)."""
        if self.level >= wanted:
            return True
        with _mutex:
            return self._raise_to(wanted)

    def _raise_to(self, wanted: int) -> bool:
        inode = self.inode
        descriptor = self.file.descriptor
        if inode.level != self.level and (inode.level >= PENDING or wanted > SHARED):
            return False
        if wanted == SHARED:
            if inode.level == NONE:
                if not set_lock(descriptor, fcntl.F_RDLCK, PENDING_BYTE, 1):
                    return False
                got = set_lock(descriptor, fcntl.F_RDLCK, SHARED_FIRST, SHARED_SIZE)
                set_lock(descriptor, fcntl.F_UNLCK, PENDING_BYTE, 1)
                if not got:
                    return False
                inode.level = SHARED
            inode.sharers += 1
            self.level = SHARED
            return True
        if wanted == RESERVED:
            if not set_lock(descriptor, fcntl.F_WRLCK, RESERVED_BYTE, 1):
                return False
            self.level = inode.level = RESERVED
            return True
        if self.level < PENDING:
            if not set_lock(descriptor, fcntl.F_WRLCK, PENDING_BYTE, 1):
                return False
            self.level = inode.level = PENDING
        if inode.sharers > 1 or not set_lock(descriptor, fcntl.F_WRLCK, SHARED_FIRST, SHARED_SIZE):
            return False
        self.level = inode.level = EXCLUSIVE
        return True

    def unlock(self, wanted: int = NONE) -> None:
        """Lower the lock to SHARED or NONE."""
        if self.level <= wanted:
            return
        with _mutex:
            inode = self.inode
            descriptor = self.file.descriptor
            if self.level > SHARED:
                if inode.level >= PENDING:
                    set_lock(descriptor, fcntl.F_RDLCK, SHARED_FIRST, SHARED_SIZE)
                set_lock(descriptor, fcntl.F_UNLCK, PENDING_BYTE, 2)
                inode.level = SHARED
                self.level = SHARED
            if wanted == NONE:
                inode.sharers -= 1
                self.level = NONE
                if inode.sharers == 0:
                    set_lock(descriptor, fcntl.F_UNLCK, 0, 0)
                    inode.level = NONE
                    self._close_deferred()

    def _close_deferred(self) -> None:
        for file in self.inode.deferred:
            file.close()
        self.inode.deferred.clear()

    def reserved_elsewhere(self) -> bool:
        """Does any connection, here or in another process, hold RESERVED or more?"""
        with _mutex:
            if self.inode.level > SHARED:
                return True
            return lock_holder(self.file.descriptor, fcntl.F_WRLCK, RESERVED_BYTE, 1) != fcntl.F_UNLCK

    def close(self) -> None:
        """Give up the lock and close the file, or leave its descriptor to the last lock holder (L2)."""
        self.unlock(NONE)
        with _mutex:
            inode = self.inode
            inode.references -= 1
            if inode.sharers:
                inode.deferred.append(self.file)
            else:
                self.file.close()
                self._close_deferred()
            if inode.references == 0:
                _inodes.pop(self.file.identity, None)

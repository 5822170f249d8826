"""Files as the pager sees them: positioned reads and writes, sizes, syncs; every system call of the page layer is made here.

A :class:`Vfs` opens, deletes and looks for files; tests hand in one that injects faults.  The errors of the operating system become
SQLite's result codes here and nowhere else: a full disk is ``full``, anything else ``io_error`` or ``cannot_open``.
"""
from __future__ import annotations

import errno
import os

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

    def read_into(self, offset: int, targets: list[memoryview]) -> int:
        """Fill the buffers from the file, one behind the other; returns the bytes read, fewer only at the end of the file."""
        try:
            done = os.preadv(self.descriptor, targets, offset)
            wanted = sum(map(len, targets))
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

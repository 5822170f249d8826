"""Database file locks: NONE < SHARED < RESERVED < PENDING < EXCLUSIVE, as POSIX byte-range locks (manual: "File Locking And
Concurrency In SQLite Version 3").

POSIX locks belong to the process, not to the descriptor: two connections of one process never block each other through the
kernel, and closing any descriptor of the file drops every lock.  So all locks of an inode are kept in one :class:`InodeLocks`,
shared by the connections of the process, which arbitrates between them and asks the kernel only on the process's behalf.
Invariants:

L1. The kernel holds the strongest lock that any connection of this process holds.
L2. A descriptor of a locked inode is closed only when the last lock of the process on that inode is gone.
"""
from __future__ import annotations

import fcntl
import os
from _thread import allocate_lock
from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.pages.vfs import OsFile

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

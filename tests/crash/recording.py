"""A file system for the pager that remembers everything, so that it can be cut at any point.

:class:`RecordingVfs` does the real work on real files and keeps a log of what a disk would be asked to do.  :class:`Disk` replays a part of
the log and says what may be found after the cut.  The model of the disk:

* what was written before a sync of the same file is there;
* of what was written since then, any sectors may be missing, in any order;
* names appear and vanish durably only when the directory is synced.
"""
from __future__ import annotations

import os

from sqlvec.pages.vfs import OsFile, Vfs

SECTOR = 512


class RecordingFile(OsFile):
    """An open file whose changes are logged."""

    __slots__ = ("vfs",)

    def write(self, offset, data):
        self.vfs.step("write", self.path, offset, bytes(data))
        super().write(offset, data)

    def truncate(self, size):
        self.vfs.step("truncate", self.path, size)
        super().truncate(size)

    def sync(self, full=False):
        self.vfs.step("sync", self.path)


class RecordingVfs(Vfs):
    """Logs steps as ``(kind, name, details ...)``."""

    __slots__ = ("log",)

    def __init__(self):
        self.log = []

    def step(self, kind, path, *details):
        if path.endswith("-shm"):  # lost with the machine, and never read again
            return
        self.log.append((kind, os.path.basename(path), *details))

    def open(self, path, *, read_only=False, create=False, mode_of=None):
        if create and not self.exists(path):
            self.step("create", path)
        return super().open(path, read_only=read_only, create=create, mode_of=mode_of)

    def _made(self, path, descriptor, read_only):
        made = RecordingFile(path, descriptor, read_only)
        made.vfs = self
        return made

    def delete(self, path, sync_directory=False):
        if self.exists(path):
            self.step("delete", path)
        super().delete(path)
        if sync_directory:
            self.sync_directory(path)

    def sync_directory(self, path):
        self.step("sync directory", path)


class _Content:
    """One file on the disk: what is durable, and the steps since."""

    def __init__(self, durable=b""):
        self.durable = durable
        self.pending = []

    def image(self, keeps):
        """The bytes when each pending sector survives if ``keeps()`` says so."""
        data = bytearray(self.durable)
        for step in self.pending:
            if step[0] == "truncate":
                if keeps():
                    size = step[2]
                    data = data[:size] if size < len(data) else data.ljust(size, b"\0")
                continue
            _, _, offset, written = step
            at = 0
            while at < len(written):
                # to the next sector border of the disk
                size = min(SECTOR - (offset + at) % SECTOR, len(written) - at)
                if keeps():
                    start = offset + at
                    if len(data) < start + size:
                        data.extend(bytes(start + size - len(data)))
                    data[start : start + size] = written[at : at + size]
                at += size
        return bytes(data)


class Disk:
    """What the log up to some point did; starts with durable files ``{name: bytes}``."""

    def __init__(self, files):
        self.names = {name: _Content(data) for name, data in files.items()}
        self.durable_names = dict(self.names)

    def apply(self, step):
        kind, name = step[:2]
        if kind == "create":
            self.names[name] = _Content()
        elif kind == "delete":
            self.names.pop(name, None)
        elif kind == "sync directory":
            self.durable_names = dict(self.names)
        elif kind == "sync":
            content = self.names[name]
            content.durable = content.image(_always)
            content.pending = []
        else:
            self.names[name].pending.append(step)

    def after_kill(self, half=None):
        """Only the process ended: all steps are there, and of the running write ``half`` its first half."""
        files = {name: content.image(_always) for name, content in self.names.items()}
        if half is not None and half[0] == "write" and half[1] in files:
            whole = _Content(files[half[1]])
            whole.pending = [(*half[:3], half[3][: len(half[3]) // 2])]
            files[half[1]] = whole.image(_always)
        return files

    def after_power_loss(self, keeps):
        """Un-synced sectors survive if ``keeps()`` says so; un-synced names are as they were."""
        return {name: content.image(keeps) for name, content in self.durable_names.items()}


def _always():
    return True

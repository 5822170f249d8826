"""A file system that fails: the pager's ``Vfs`` with the n-th call of some kind raising, once or from then on, or the process "ending" there."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.pages.vfs import OsFile, Vfs


class PowerCut(BaseException):
    """The process ends at this call: nothing after it happens."""


class Plan:
    """Counts calls and says when to fail: ``at`` the n-th call (0: never), ``sticky`` all later ones too."""

    def __init__(self, at: int = 0, make=errors.io_error, sticky: bool = False, kinds: tuple[str, ...] = ()) -> None:
        self.at = at
        self.make = make
        self.sticky = sticky
        self.kinds = kinds
        self.calls = 0
        self.failures = 0

    def count(self, kind: str) -> None:
        if self.kinds and kind not in self.kinds:
            return
        self.calls += 1
        if self.at and (self.calls == self.at or (self.sticky and self.calls > self.at)):
            self.failures += 1
            raise self.make()


class FaultyFile(OsFile):
    """Counts and perhaps fails writes, truncations and syncs; a failing write may have stored its first half."""

    __slots__ = ("plan",)

    def write(self, offset, data) -> None:
        try:
            self.plan.count("write")
        except BaseException:
            super().write(offset, bytes(data)[: len(data) // 2])
            raise
        super().write(offset, data)

    def truncate(self, size: int) -> None:
        self.plan.count("truncate")
        super().truncate(size)

    def sync(self, full: bool = False) -> None:
        self.plan.count("sync")
        super().sync(full)


class FaultyVfs(Vfs):
    """Opens :class:`FaultyFile`."""

    __slots__ = ("plan",)

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def _made(self, path: str, descriptor: int, read_only: bool) -> OsFile:
        made = FaultyFile(path, descriptor, read_only)
        made.plan = self.plan
        return made

    def delete(self, path: str, sync_directory: bool = False) -> None:
        self.plan.count("delete")
        super().delete(path, sync_directory)

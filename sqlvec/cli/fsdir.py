"""fsdir(path [, directory]): files and folders below a path, as a table (name, mode, mtime, data).  Names come before what is in them."""
from __future__ import annotations

import os
import stat

from sqlvec import errors
from sqlvec.vtab.api import Choice, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PATH, _DIRECTORY = 4, 5


class FsdirModule(Module):
    eponymous = True
    eponymous_only = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return FsdirTable()


class FsdirTable(VirtualTable):
    columns = (
        ("name", "", False), ("mode", "", False), ("mtime", "", False), ("data", "", False), ("path", "", True), ("dir", "", True),
    )  # fmt: skip

    def best_index(self, constraints: Any, order: Any, used: Any) -> Choice | None:
        found = {c.column: number for number, c in enumerate(constraints) if c.operator == "=" and c.usable}
        if any(c.column == _PATH and c.operator == "=" and not c.usable for c in constraints):
            return None
        arguments = tuple(found[column] for column in (_PATH, _DIRECTORY) if column in found)
        number = (_PATH in found) + 2 * (_DIRECTORY in found)
        return Choice(number, None, arguments, frozenset(arguments))

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        if not choice.number & 1 or arguments[0] is None:
            raise errors.plain("table function fsdir requires an argument")
        path = str(arguments[0])
        directory = str(arguments[1]) if choice.number & 2 else None
        base = os.path.join(directory, path) if directory else path
        for rowid, name in enumerate(_walk(base), 1):
            shown = name[len(directory) + 1 :] if directory else name
            yield rowid, (*_row(name, shown), path, directory)


def _walk(path: str) -> Iterator[str]:
    try:
        info = os.lstat(path)
    except OSError:
        raise errors.plain(f"cannot stat file: {path}") from None
    yield path
    if stat.S_ISDIR(info.st_mode):
        for name in os.listdir(path):
            yield from _walk(path + "/" + name)


def _row(path: str, shown: str) -> tuple[Any, ...]:
    info = os.lstat(path)
    data: Any = None
    if stat.S_ISLNK(info.st_mode):
        data = os.readlink(path)
    elif stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            data = file.read()
    return shown, info.st_mode, int(info.st_mtime), data

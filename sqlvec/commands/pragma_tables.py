"""``pragma_NAME``: pragmas as table-valued functions, with the hidden columns ``arg`` and ``schema``."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands.pragma import PRAGMAS, answer
from sqlvec.resolve import resolve
from sqlvec.vtab.api import Choice, Constraint, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class PragmaTable(VirtualTable):
    """The rows of one pragma; constraints ``arg = ?`` and ``schema = ?`` are its arguments."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.width = len(PRAGMAS[name][0])
        self.columns = (*((column, "", False) for column in PRAGMAS[name][0]), ("arg", "", True), ("schema", "", True))

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        wanted: dict[int, int] = {}
        for number, constraint in enumerate(constraints):
            if constraint.operator == "=" and constraint.column >= self.width:
                if not constraint.usable:
                    return None
                wanted.setdefault(constraint.column, number)
        arguments = tuple(wanted[column] for column in sorted(wanted))
        mask = sum(1 << (column - self.width) for column in wanted)
        if mask & 1:
            return Choice(mask, None, arguments, frozenset(arguments), 20.0, 20)
        return Choice(mask, None, arguments, frozenset(arguments), 2147483647.0, 2147483647)

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        values = list(arguments)
        argument = values.pop(0) if choice.number & 1 else None
        schema = values.pop(0) if choice.number & 2 else None
        number = 0
        if schema is not None:
            found = context.databases.number_of(str(schema))
            if found is None:
                raise errors.plain(f"unknown database {schema}")
            number = found
        text = None if argument is None else resolve("sqlvec.values.storage:cast")(argument, "TEXT") if not isinstance(argument, str) else argument
        result = answer(context.session.command_context(), self.name, number, schema is not None, text)
        for position, row in enumerate(result[1] if result is not None else (), 1):
            yield position, (*row, argument, schema)


class PragmaModule(Module):
    """The eponymous module of one pragma."""

    eponymous = True
    eponymous_only = True

    def __init__(self, name: str) -> None:
        self.name = name

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return PragmaTable(self.name)


def find_module(name: str) -> Module | None:
    """The module for ``pragma_NAME``, or None when that pragma has no table form."""
    entry = PRAGMAS.get(name[7:])
    return PragmaModule(name[7:]) if entry is not None and entry[2] else None

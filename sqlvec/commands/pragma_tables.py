"""``pragma_NAME``: pragmas as table-valued functions, with the hidden columns ``arg`` and ``schema`` where the pragma takes them.

Follows "PRAGMA functions" of the manual."""
from __future__ import annotations

from sqlvec import errors
from sqlvec.commands.pragma import PRAGMAS, answer
from sqlvec.values.storage import cast_to_text
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
        self.hidden = PRAGMAS[name][2] or ()
        self.columns = (*((column, "", False) for column in PRAGMAS[name][0]), *((column, "", True) for column in self.hidden))

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        wanted: dict[int, int] = {}
        for number, constraint in enumerate(constraints):
            if constraint.operator == "=" and constraint.column >= self.width:
                if not constraint.usable:
                    return None
                wanted.setdefault(constraint.column, number)
        arguments = tuple(wanted[column] for column in sorted(wanted))
        mask = sum(1 << (column - self.width) for column in wanted)
        if any(self.hidden[column - self.width] == "arg" for column in wanted):
            return Choice(mask, None, arguments, frozenset(arguments), 20.0, 20)
        return Choice(mask, None, arguments, frozenset(arguments), 2147483647.0, 2147483647)

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        given = iter(arguments)
        hidden = tuple([next(given) if choice.number >> place & 1 else None for place in range(len(self.hidden))])
        named = dict(zip(self.hidden, hidden, strict=True))
        argument = named.get("arg")
        schema = cast_to_text(named.get("schema"))
        number = 0
        if schema is not None:
            found = context.databases.number_of(schema)
            if found is None:
                raise errors.unknown_database(f"'{schema}'")
            number = found
        result = answer(context.session.command_context(), self.name, number, schema is not None, cast_to_text(argument))
        for position, row in enumerate(result[1] if result is not None else (), 1):
            yield position, (*row, *(argument, schema)[: len(hidden)])       # a lone schema column shows the argument that is not there


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
    return PragmaModule(name[7:]) if entry is not None and entry[2] is not None else None

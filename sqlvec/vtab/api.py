"""What a virtual-table module is to the rest: two small classes and a registry.

A :class:`Module` makes :class:`VirtualTable` instances; an instance answers the planner's question "what would these constraints cost?"
(``best_index``) and opens cursors, which are plain iterators of ``(rowid, row)``.  Writable modules implement ``update``; modules that own
shadow tables take part in transactions.

The registry holds names ``"module:attribute"`` for the built-in modules (resolved on first use); *eponymous* ones may be used without CREATE VIRTUAL TABLE.

Follows "The Virtual Table Mechanism Of SQLite" and "Table-valued Functions" of the manual.
"""
from __future__ import annotations

from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Constraint:
    """One usable WHERE term: ``column`` number (-1 rowid), ``operator`` (= > >= < <= MATCH LIKE GLOB REGEXP IS 'IS NULL' 'IS NOT NULL' <> LIMIT OFFSET),
    ``usable`` (its right side is known before this table is read)."""

    __slots__ = ("column", "operator", "usable")

    def __init__(self, column: int, operator: str, usable: bool = True) -> None:
        self.column = column
        self.operator = operator
        self.usable = usable


class Choice:
    """The answer of ``best_index``: ``arguments`` = numbers of the constraints whose right-hand values the cursor wants, in its order;
    ``omit`` those that need not be checked again; ``cost``, ``rows`` estimates; ``order_consumed``; ``number`` and ``text`` the module's own plan
    (EXPLAIN QUERY PLAN prints ``VIRTUAL TABLE INDEX number:text``); ``unique`` = at most one row."""

    __slots__ = ("arguments", "cost", "number", "omit", "order_consumed", "rows", "text", "unique")

    def __init__(self, number: int = 0, text: str | None = None, arguments: tuple[int, ...] = (), omit: frozenset[int] = frozenset(),
                 cost: float = 5e98, rows: int = 25, order_consumed: bool = False, unique: bool = False) -> None:
        self.number = number
        self.text = text
        self.arguments = arguments
        self.omit = omit
        self.cost = cost
        self.rows = rows
        self.order_consumed = order_consumed
        self.unique = unique


class VirtualTable:
    """One connected virtual table.  ``columns``: (name, declared type, hidden) each; subclasses override what they support."""

    columns: tuple[tuple[str, str, bool], ...] = ()
    is_writable = False
    without_rowid = False

    def best_index(self, constraints: list[Constraint], order: list[tuple[int, bool]], used: frozenset[int]) -> Choice | None:
        """Choose a plan.  ``order`` are the wanted (column, descending) terms, ``used`` the columns read.  None = these constraints cannot be served."""
        raise NotImplementedError

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """Yield ``(rowid, row)``, a row having one value per column."""
        raise NotImplementedError

    def update(self, kind: str, rowid: Any, new_rowid: Any, row: tuple[Any, ...], conflict: str, context: Any) -> int | None:
        """'INSERT' | 'UPDATE' | 'DELETE' of one row; returns the new rowid of an insert."""
        raise NotImplementedError

    def find_function(self, name: str, arity: int) -> Any:
        """A function overloaded by this table (MATCH, snippet ...), or None."""
        return None

    def rename(self, name: str) -> None: ...
    def destroy(self) -> None: ...
    def disconnect(self) -> None: ...
    def begin(self) -> None: ...
    def sync(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def savepoint(self, depth: int) -> None: ...
    def release(self, depth: int) -> None: ...
    def rollback_to(self, depth: int) -> None: ...


class Module:
    """A module: ``connect`` makes the table object for CREATE VIRTUAL TABLE (``is_new``), for a stored one, or for an eponymous use."""

    eponymous = False
    eponymous_only = False

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        raise NotImplementedError


BUILT_IN: dict[str, str] = {
    "json_each": "sqlvec.vtab.json_each:JsonEachModule",
    "json_tree": "sqlvec.vtab.json_each:JsonTreeModule",
    "dbstat": "sqlvec.vtab.dbstat:DbstatModule",
    "sqlite_stmt": "sqlvec.vtab.stmt:StmtModule",
}


class ModuleRegistry:
    """Modules by lower-case name.  ``fallback(name)`` is asked for names that are in no table (the pragma tables, filled in by the session)."""

    def __init__(self) -> None:
        self._names = dict(BUILT_IN)
        self._modules: dict[str, Module] = {}
        self.fallback: Any = None

    def register(self, name: str, module: str | Module) -> None:
        """Add a module object or its ``"module:attribute"`` name."""
        key = name.lower()
        if isinstance(module, str):
            self._names[key] = module
        else:
            self._modules[key] = module

    def find(self, name: str) -> Module | None:
        key = name.lower()
        module = self._modules.get(key)
        if module is None:
            target = self._names.get(key)
            if target is not None:
                module = self._modules[key] = resolve(target)()
            elif self.fallback is not None:
                module = self.fallback(key)
                if module is not None:
                    self._modules[key] = module
        return module

    def names(self) -> list[str]:
        return sorted({*self._names, *self._modules})

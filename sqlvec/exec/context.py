"""The run context: everything a running plan may touch outside itself, handed in by the session.

One :class:`RunContext` lives for one run of one statement.  Programs reach trees, parameters, functions' clock and counters, and the interrupt flag
through it and through nothing else, so that operators stay free of connection knowledge.
"""
from __future__ import annotations

from sqlvec import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.database.database_set import DatabaseSet
    from sqlvec.database.transaction import Transaction
    from sqlvec.functions.registry import FunctionRegistry
    from sqlvec.pages.btree import IndexTree, TableTree
    from sqlvec.schema.objects import Index, Table
    from sqlvec.settings import Settings
    from sqlvec.values.compare import Collations


class RunContext:
    """``databases``: the open files; ``transaction``: counters, savepoints, active statements; ``settings``: pragma flags; ``functions``: registry;
    ``collations``: names to functions; ``function_context``: clock, changes(), last_insert_rowid() for functions; ``parameters``: bound values
    (index 1 is ``parameters[0]``)."""

    __slots__ = ("collations", "databases", "function_context", "functions", "interrupt", "measures", "nested_sql", "parameters", "session", "settings",
                 "transaction")

    def __init__(self, databases: DatabaseSet, transaction: Transaction, settings: Settings, functions: FunctionRegistry,
                 collations: Collations, function_context: Any, parameters: tuple[Any, ...] = ()) -> None:
        self.databases = databases
        self.transaction = transaction
        self.settings = settings
        self.functions = functions
        self.collations = collations
        self.function_context = function_context
        self.parameters = parameters
        self.interrupt = [False]            # shared one-element flag: scans test interrupt[0] once a leaf
        self.nested_sql: Any = None         # session/nested_sql.py: run(sql, *parameters) -> list of rows
        self.measures: Any = None           # exec.measure.Measures of a measured run
        self.session: Any = None            # the owner, for modules that open further statements

    def table_tree(self, table: Table) -> TableTree:
        """The tree of a rowid table."""
        return self.databases[table.database].pager.table_tree(table.root)

    def index_tree(self, index: Index) -> IndexTree:
        """The tree of an index, or of a WITHOUT ROWID table (``index.is_table_tree``), with comparison functions bound."""
        return self.databases.index_tree(index)

    def check_interrupt(self) -> None:
        """Raise Interrupted if an interrupt was requested."""
        if self.interrupt[0]:
            raise errors.Interrupted()

"""Hand-built physical plans over files made with the real library: what the tests of the vector engine run without a planner."""
from __future__ import annotations

from sqlvec.database.database_set import DatabaseSet
from sqlvec.exec.activation import Activation
from sqlvec.exec.context import RunContext
from sqlvec.expr import bound
from sqlvec.functions.context import FunctionContext
from sqlvec.functions.registry import FunctionRegistry
from sqlvec.plan import physical
from sqlvec.settings import Settings
from sqlvec.values.compare import Collations
from sqlvec.values.storage import NUMERIC, TEXT, comparison_affinity


class Bench:
    """One open file and short words for bound expressions on ``table`` (source 1)."""

    def __init__(self, path, table):
        self.settings = Settings()
        collations = Collations()
        self.databases = DatabaseSet(self.settings, collations)
        self.databases.open_main(str(path))
        self.databases[0].pager.begin_read()
        self.registry = FunctionRegistry()
        self.context = RunContext(self.databases, None, self.settings, self.registry, collations, FunctionContext(collations))
        self.activation = Activation(self.context)
        self.table = self.databases.catalogs.find_table(None, table)
        self.used = set()

    def close(self):
        self.databases[0].pager.end_read()
        self.databases[0].pager.close()

    # --- expressions

    def c(self, name):
        number = self.table.by_name[name.lower()]
        self.used.add(number)
        column = self.table.columns[number]
        return bound.Column(1, number, name, column.affinity, column.collation, table=self.table)

    def expr(self, value):
        return value if isinstance(value, bound.Expression) else bound.Literal(value)

    def op(self, left, operator, right):
        left, right = self.expr(left), self.expr(right)
        if operator in ("=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"):
            applied = comparison_affinity(left.affinity, right.affinity)
            using = left.collation or right.collation or "BINARY"
            return bound.Compare(operator, left, right, NUMERIC if applied and applied >= NUMERIC else applied if applied == TEXT else None, using)
        return bound.Binary(operator, left, right)

    def call(self, name, *arguments, operator=None):
        arguments = tuple(self.expr(argument) for argument in arguments)
        return bound.Call(self.registry.lookup(name, len(arguments)), arguments, operator=operator)

    def agg(self, name, *arguments, distinct=False, condition=None):
        arguments = tuple(self.expr(argument) for argument in arguments)
        function = self.registry.lookup(name, len(arguments))
        return bound.AggregateCall(function, arguments, distinct, condition, star=not arguments)

    # --- nodes

    def scan(self, *conditions):
        path = physical.TableScan(1, self.table.name, self.table)
        path.used = tuple(sorted(self.used))
        columns = tuple(bound.Column(1, number, table=self.table) for number in path.used)
        return physical.Join((physical.Level(path, conditions=conditions),), columns)

    def aggregate(self, node, keys, calls, mode="sorted", bare=(), extreme=None):
        order = tuple(bound.OrderTerm(key) for key in keys)
        count = len(keys) + len(calls) + len(bare)
        columns = tuple(bound.Column(9, number) for number in range(count))
        collations = tuple(key.collation or "BINARY" for key in keys)
        return physical.Aggregate(node, mode if keys else "plain", tuple(keys), collations, order, tuple(calls), tuple(bare), extreme, 9, columns)

    def project(self, node, *expressions):
        columns = tuple(bound.Column(8, number) for number in range(len(expressions)))
        return physical.Project(node, expressions, 8, columns)

    def rows(self, node):
        from sqlvec.exec.vector import pipeline

        return list(pipeline.open(node, self.context, self.activation))

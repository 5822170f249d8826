"""``PRAGMA sqlvec_analyze('SELECT ...')`` and ``sqlvec.analyze()``: run a statement and tell what each part of its plan did (an extension).

The statement really runs: INSERT, UPDATE and DELETE change rows.  Its own result rows are read and thrown away.  Where the vector engine gives up in the
middle, a SELECT is measured anew on the row engine alone, so that the numbers are those of one run.

Text form: one line a node, indented as the plan; JSON form: nested objects (``node``, ``engine``, ``rows``, ``rows_visited``, ``estimated_rows``, ``loops``,
``milliseconds``, ``bytes_read``, ``children``) under ``plan`` and ``subqueries``, with ``rows``, ``milliseconds`` and ``bytes_read`` of the whole statement.
"""
from __future__ import annotations

import json
from time import perf_counter_ns

from sqlvec import errors
from sqlvec.exec import bridge
from sqlvec.exec.measure import Builder, Entry, Measures, complete, copied, lines_of
from sqlvec.exec.placement import placed_root
from sqlvec.exec.run import is_big
from sqlvec.parse.parser import parse_statement
from sqlvec.session.statement import Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.session.session import Session


class Analysis:
    """The result: ``plan`` is the entry of the statement, ``subqueries`` those of sub-queries in expressions; totals of the whole run."""

    def __init__(self, plan: Entry, subqueries: list[Entry], rows: int, nanoseconds: int, read: int) -> None:
        self.plan = plan
        self.subqueries = subqueries
        self.rows = rows
        self.nanoseconds = nanoseconds
        self.bytes = read

    def lines(self) -> list[str]:
        """The text form, line by line."""
        found = lines_of(self.plan)
        for number, entry in enumerate(self.subqueries, 1):
            found += [f"SUBQUERY {number}", *lines_of(entry, 1)]
        found.append(f"TOTAL  (rows={self.rows} time={self.nanoseconds / 1e6:.3f} ms read={self.bytes})")
        return found

    def text(self) -> str:
        """The text form."""
        return "\n".join(self.lines())

    def as_dict(self) -> dict[str, Any]:
        """What the JSON form holds."""
        return {
            "plan": self.plan.as_dict(), "subqueries": [entry.as_dict() for entry in self.subqueries], "rows": self.rows,
            "milliseconds": round(self.nanoseconds / 1e6, 3), "bytes_read": self.bytes,
        }

    def json(self) -> str:
        """The JSON form."""
        return json.dumps(self.as_dict())


class MeasuredStatement(Statement):
    """A statement whose plan is measured when it runs."""

    __slots__ = ("entry_of_root", "entry_of_subqueries", "is_row_only", "measures")

    def __init__(self, session: Session, tree: Any, sql: str, is_row_only: bool) -> None:
        super().__init__(session, tree, sql)
        self.is_row_only = is_row_only
        self.measures = Measures()
        self.entry_of_root: list[Entry] = []
        self.entry_of_subqueries: list[Entry] = []

    def _current_plan(self) -> Any:
        plan = super()._current_plan()
        session = self.session
        context = session.run_context(self._values)
        if not plan.writes and not self.is_row_only and session.settings.engine != "row" and is_big(plan.root, context):
            root = placed_root(plan, context) or plan.root
        else:
            root = plan.root
        builder = Builder(self.measures)
        for subquery in plan.subqueries:
            if subquery.plan is not None:
                subquery.plan = builder.node(subquery.plan, self.entry_of_subqueries)
        if plan.writes:
            root = self._writer(builder, root)
        else:
            root = builder.node(root, self.entry_of_root)
        return copied(plan, {"root": root})

    def _writer(self, builder: Builder, root: Any) -> Any:
        """A writing root stays what it is; its source is measured."""
        entry = Entry(f"{type(root).__name__} {root.write.table.name}", "row")
        self.entry_of_root.append(entry)
        source = getattr(root, "source", None)
        return root if source is None else copied(root, {"source": builder.node(source, entry.children)})


def analyze(session: Session, sql: str, parameters: tuple[Any, ...] = ()) -> Analysis:
    """Run the first statement of ``sql`` under measurement.  Errors: those of the statement; "only SELECT, INSERT, UPDATE and DELETE can be analyzed"."""
    restarts = bridge.restarts
    found = _run(session, sql, parameters, False)
    if bridge.restarts != restarts and not found[0].is_write:
        found = _run(session, sql, parameters, True)
    return found[1]


def _run(session: Session, sql: str, parameters: tuple[Any, ...], is_row_only: bool) -> tuple[MeasuredStatement, Analysis]:
    tree, _ = parse_statement(sql, 0)
    if tree is None or type(tree).__name__ not in ("Select", "Insert", "Update", "Delete"):
        raise errors.only_analyzed()
    statement = MeasuredStatement(session, tree, sql, is_row_only)
    statement.bind(parameters)
    measures = statement.measures
    for _, database in session.databases.opened():
        measures.watch(database.pager)
    session.measures = measures
    start = perf_counter_ns()
    try:
        rows = sum(1 for _ in statement)
    finally:
        elapsed = perf_counter_ns() - start
        session.measures = None
        measures.release()
    root = statement.entry_of_root[0]
    if statement.is_write:
        rows = root.rows = session.transaction.changes
        root.loops, root.nanoseconds, root.bytes = 1, elapsed, measures.bytes
    for entry in (root, *statement.entry_of_subqueries):
        complete(entry)
    return statement, Analysis(root, statement.entry_of_subqueries, rows, elapsed, measures.bytes)

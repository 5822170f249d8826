"""completion(prefix, wholeline): words that may complete an input: keywords, databases, tables and columns."""
from __future__ import annotations

from sqlvec.resolve import resolve
from sqlvec.vtab.api import Choice, Module, VirtualTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PREFIX, _WHOLE_LINE = 1, 2


class CompletionModule(Module):
    eponymous = True
    eponymous_only = True

    def connect(self, context: Any, database: str, table: str, arguments: tuple[str, ...], is_new: bool) -> VirtualTable:
        return CompletionTable()


class CompletionTable(VirtualTable):
    columns = (("candidate", "TEXT", False), ("prefix", "TEXT", True), ("wholeline", "TEXT", True), ("phase", "INT", True))

    def best_index(self, constraints: Any, order: Any, used: Any) -> Choice | None:
        found = {c.column: number for number, c in enumerate(constraints) if c.operator == "=" and c.usable}
        arguments = tuple(found[column] for column in (_PREFIX, _WHOLE_LINE) if column in found)
        return Choice((_PREFIX in found) + 2 * (_WHOLE_LINE in found), None, arguments, frozenset(arguments))

    def open(self, choice: Choice, arguments: tuple[Any, ...], context: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        prefix = str(arguments[0] or "") if choice.number & 1 else ""
        line = str(arguments[-1] or "") if choice.number & 2 else ""
        if not prefix and line:
            start = len(line)
            while start and (line[start - 1].isalnum() or line[start - 1] == "_"):
                start -= 1
            prefix = line[start:]
        rowid = 0
        for phase, word in self._candidates(context):
            if word.upper().startswith(prefix.upper()):
                rowid += 1
                yield rowid, (word, prefix, line, phase)

    def _candidates(self, context: Any) -> Iterator[tuple[int, str]]:
        for word in sorted(resolve("sqlvec.parse.lexer:KEYWORDS")):
            yield 1, word
        run = context.nested_sql
        for row in run("SELECT name FROM pragma_database_list"):
            yield 7, row[0]
            schema = '"' + row[0].replace('"', '""') + '"'
            for (name,) in run(f"SELECT name FROM {schema}.sqlite_schema"):
                yield 8, name

"""The source of pipelines: a Join with the filters and the projection (or the aggregation) above it as one generated generator.

Drawing of the generated text for two tables::

    def pipeline(act, o):                      o: values of enclosing queries
        ctx = act.context
        ...bindings: parameters, trees, hoisted calls, cut sub-expressions, branches and tails
        s0 = TableCursor(...)
        for b0 in s0:                          level 0: blocks, then rows
            for k0, d0 in b0:
                c0_1, c0_4 = shapes3[d0[:d0[0]]](d0)
                if not (...): continue
                s1 = ...
                for b1 in s1:                  level 1
                    for e1 in b1:
                        ...
                        yield (...)            the sink
                        if tree2.write_count != s1.count: ...
                if tree1.write_count != s0.count: ...

Levels are written by :class:`~sqlvec.exec.row.scan.Loop` classes; this module holds what is around them: which columns are needed where, conditions at the
earliest place, outer joins, and the cutting into functions.

Cutting: CPython allows 20 nested blocks, so a join beyond ``LOOP_BUDGET`` loops goes on in a *tail* function; so does everything inside a RIGHT or FULL
join, because its unmatched rows run through the same inner levels again after the loops have ended.

Invariants
1. A column is decoded at most once per row and level, after the conditions that don't need it.
2. A level's cursor is checked after everything that can run foreign code (yield, tail, user function).
3. The null row of a left join runs through conditions and inner levels as any other row.
"""
from __future__ import annotations

from sqlvec.exec.row import cursors, probes
from sqlvec.exec.row.scan import LOOPS, Loop
from sqlvec.expr import bound
from sqlvec.expr.compile import run_source
from sqlvec.expr.emit import Emitter
from sqlvec.expr.emit_compare import with_affinity
from sqlvec.plan import physical
from sqlvec.resolve import resolve
from sqlvec.values import storage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.expr.bound import Column, Expression
    from sqlvec.schema.objects import Index, Table

LOOP_BUDGET = 14


def path_expressions(path: physical.Path) -> list[Expression]:
    """The expressions that a path evaluates (its own source's columns among them only inside OR branches and partial automatic indexes)."""
    found: list[Any] = []
    if isinstance(path, physical.RowidSearch):
        found += [path.key.expression] if path.key is not None else []
    if isinstance(path, physical.IndexSearch):
        found += [term.expression for term in path.keys]
    if isinstance(path, (physical.RowidSearch, physical.IndexSearch)):
        for edge in (path.lower, path.upper):
            if edge is not None:
                found += edge.expressions
    elif isinstance(path, physical.MultiIndexOr):
        for branch, condition in path.branches:
            found += [condition, *path_expressions(branch)]
    elif isinstance(path, physical.AutomaticIndex):
        found += [term.expression for term in path.keys] + [path.condition] + path_expressions(path.input)
    elif isinstance(path, physical.VtabScan):
        found += path.arguments
    elif isinstance(path, physical.QueryScan):
        found += path.outer
    return [expression for expression in found if expression is not None]


class Sink:
    """What happens with each row: ``expressions`` it reads; ``write`` emits statements; ``yields`` says whether foreign code can run in them."""

    yields = True

    def __init__(self, expressions: Iterable[Expression]) -> None:
        self.expressions = tuple(expressions)

    def start(self, pipeline: Pipeline) -> None:
        """Emit lines before the loops."""

    def write(self, pipeline: Pipeline) -> None:
        """Deliver the row."""
        emitter = pipeline.emitter
        for expression in self.expressions:
            emitter.cut(expression)
        emit = emitter.value if pipeline.compiler.keeps_json else emitter.result
        pipeline.line("yield (" + "".join(f"{emit(expression)}, " for expression in self.expressions) + ")")

    def finish(self, pipeline: Pipeline) -> None:
        """Emit lines after the loops."""


class Pipeline:
    """One generated generator function being written."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.emitter = Emitter(compiler.collations, compiler.collations.encoding)
        self.emitter.set_outer(compiler.outer_columns, "o")
        self.emitter.hoists = True
        self.lines: list[str] = []
        self.depth = 0
        self.nested: list[str] = []
        self.needs: dict[int, set[int]] = {}
        self.open_loops = 0
        self.levels: tuple[physical.Level, ...] = ()
        self.sink = Sink(())
        self.extra: tuple[Expression, ...] = ()
        self.right_levels: list[int] = []
        self._branches = 0
        self._generated: dict[tuple[int, int], dict[int, Expression]] = {}

    # --- text ------------------------------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def begin(self, text: str) -> None:
        """A compound statement; its body follows."""
        self.line(text)
        self.depth += 1

    def end(self, count: int = 1) -> None:
        self.depth -= count

    def call(self, name: str) -> str:
        """A function or class of exec/row/cursors."""
        return self.emitter.named(name, getattr(cursors, name))

    def table_tree(self, table: Table) -> str:
        """The name that the tree of a table is bound to."""
        name = f"tree_{self.emitter.constant(table, 'table')}"
        return self.emitter.bind_line(name, f"{name} = {self.emitter.activation()}.table_tree({self.emitter.constant(table)})")

    def table_reader(self, table: Table) -> str:
        """The name that the reader of a rowid table is bound to."""
        name = f"reader_{self.emitter.constant(table, 'table')}"
        make = self.emitter.named("table_reader", probes.table_reader)
        return self.emitter.bind_line(name, f"{name} = {make}({self.emitter.activation()}, {self.emitter.constant(table)})")

    def key_reader(self, table: Table) -> str:
        """The name that the reader of a WITHOUT ROWID table is bound to."""
        name = f"reader_{self.emitter.constant(table, 'table')}"
        make = self.emitter.named("key_reader", probes.key_reader)
        return self.emitter.bind_line(name, f"{name} = {make}({self.emitter.activation()}, {self.emitter.constant(table)})")

    def index_reader(self, index: Index, width: int, descending: bool) -> str:
        """The name that the reader of an index is bound to."""
        constant = self.emitter.constant(index, "index")
        name = f"reader_{constant}_{width}{'_down' if descending else ''}"
        make = self.emitter.named("index_reader", probes.index_reader)
        return self.emitter.bind_line(name, f"{name} = {make}({self.emitter.activation()}, {constant}, {width}, {descending})")

    def index_tree(self, index: Index) -> str:
        """The name that the tree of an index is bound to."""
        name = f"tree_{self.emitter.constant(index, 'index')}"
        return self.emitter.bind_line(name, f"{name} = {self.emitter.activation()}.index_tree({self.emitter.constant(index)})")

    def value(self, expression: Expression) -> str:
        """Source of a value."""
        self.emitter.cut(expression)
        return self.emitter.result(expression)

    def applied(self, expression: Expression, affinity: Any) -> str:
        """Source of a value after the affinity of a comparison."""
        if affinity is None or affinity == storage.BLOB:
            return self.value(expression)
        self.emitter.cut(expression)
        return with_affinity(self.emitter, self.emitter.operand(expression), expression, affinity).first

    def default_value(self, table: Table, number: int) -> Any:
        """What rows written before ADD COLUMN have in a column."""
        return resolve("sqlvec.exec.row.schema_values:default_value")(self.compiler.context, table, number)

    def generated(self, table: Table, number: int, source: int) -> Expression:
        """The expression of a VIRTUAL generated column."""
        key = (id(table), source)
        found = self._generated.get(key)
        if found is None:
            found = self._generated[key] = resolve("sqlvec.exec.row.schema_values:generated_columns")(self.compiler.context, table, source)
        return found[number]  # type: ignore[no-any-return]

    def in_buffer(self, write: Callable[[], None]) -> list[str]:
        """Lines that ``write`` emits, apart."""
        saved, self.lines = self.lines, []
        depth, self.depth = self.depth, 1
        loops, self.open_loops = self.open_loops, 0
        write()
        lines, self.lines = self.lines, saved
        self.depth = depth
        self.open_loops = loops
        return lines

    # --- needs -----------------------------------------------------------------------------------------------------------------------------

    def collect_needs(self, expressions: Iterable[Expression]) -> None:
        """Note the columns that expressions read."""
        for expression in expressions:
            for source, number in bound.columns_of(expression):
                self.needs.setdefault(source, set()).add(number)

    # --- whole functions -------------------------------------------------------------------------------------------------------------------

    def join(self, join: physical.Join, conditions: list[Expression], sink: Sink) -> Any:
        """The generator function of a Join."""
        self.levels = join.levels
        self.sink = sink
        self.extra = tuple(conditions)
        for level in join.levels:
            self.collect_needs((*level.match, *level.conditions, *path_expressions(level.path)))
            if level.rest is not None:
                self.collect_needs(path_expressions(level.rest))
        self.collect_needs((*conditions, *sink.expressions, *join.constants))
        return self._assemble(lambda: self._write_join(join))

    def rows(self, open_rows: Any, layout: tuple[Column, ...], conditions: list[Expression], sink: Sink) -> Any:
        """The generator function over the rows of another operator."""
        def write() -> None:
            self.emitter.set_layout(layout, "r")
            sink.start(self)
            self.begin(f"for r in {self.emitter.constant(open_rows, 'input')}({self.emitter.activation()}, o):")
            self._conditions_here(conditions)
            sink.write(self)
            self.end()
            sink.finish(self)

        return self._assemble(write)

    def single(self, conditions: list[Expression], sink: Sink) -> Any:
        """The generator function of a SELECT without FROM."""
        def write() -> None:
            sink.start(self)
            depth = self.depth
            for condition in conditions:
                self.emitter.cut(condition)
                self.begin(f"if {self.emitter.truth(condition)}:")
            sink.write(self)
            self.end(self.depth - depth)
            sink.finish(self)

        self.emitter.hoists = False
        return self._assemble(write)

    def _assemble(self, write: Callable[[], None]) -> Any:
        body = self.in_buffer(write)
        lines = ["def pipeline(act, o):", "    ctx = act.context", "    interrupt = ctx.interrupt"]
        lines += ["    " + text for text in self.emitter.prologue()]
        lines += self.nested
        lines += body
        if not any("yield" in text for text in body):
            lines.append("    yield from ()")
        return run_source(lines, self.emitter.scope, "pipeline")

    # --- levels ----------------------------------------------------------------------------------------------------------------------------

    def _write_join(self, join: physical.Join) -> None:
        for condition in join.constants:
            self.emitter.cut(condition)
        self.sink.start(self)
        depth = self.depth
        if join.constants:
            self.begin(f"if {' and '.join(self.emitter.truth(condition) for condition in join.constants)}:")
        if tables := physical.ending_tables(join):
            self.begin(f"if not ({' or '.join(f'{self.table_tree(table)}.is_empty()' for table in tables)}):")
        for number, level in enumerate(join.levels):
            if level.kind in ("right", "full"):
                self.line(f"seen{number} = set()")
        self._write_level(0)
        for number in sorted(self.right_levels):
            self._write_rest(number)
        self.end(self.depth - depth)
        self.sink.finish(self)

    def _write_level(self, number: int) -> None:
        """Level ``number`` and all inside it."""
        if number == len(self.levels):
            self._conditions_here(self.extra)
            self.sink.write(self)
            return
        if self.open_loops > LOOP_BUDGET - 2:
            self.line(f"yield from {self._tail(number)}")
            return
        level = self.levels[number]
        is_right = level.kind in ("right", "full")
        nullable = level.kind in ("left", "full")
        loop = self._loop(level.path, number, nullable, is_right)
        if nullable:
            self.line(f"m{number} = False")
        depth = self.depth
        loop.open()
        self.open_loops += loop.loops
        if nullable:
            self.begin(f"if not ({loop.null_test}):")
        self._conditions(loop, level.match)
        if nullable or is_right:
            loop.decode(loop.columns)
        if nullable:
            self.line(f"m{number} = True")
        if is_right:
            self.line(f"seen{number}.add({loop.identity()})")
        if nullable:
            self.end()
            self.line(f"elif m{number}: break")
            self.begin("else:")
            loop.set_nulls()
            self.line("pass")
            self.end()
        self._conditions(loop, level.conditions)
        loop.decode(loop.columns)
        if is_right:
            self.right_levels.append(number)
            self.line(f"yield from {self._tail(number + 1)}")
        else:
            self._write_level(number + 1)
        if self.sink.yields or self.emitter.calls_user_code:
            loop.check()
        self.open_loops -= loop.loops
        self.end(self.depth - depth)

    def _loop(self, path: physical.Path, number: int, nullable: bool, unpack: bool) -> Loop:
        columns = set(self.needs.get(path.source, ()))
        return resolve(LOOPS[type(path).__name__])(self, path, number, columns, nullable, unpack)  # type: ignore[no-any-return]

    # --- conditions ------------------------------------------------------------------------------------------------------------------------

    def _conditions_here(self, conditions: Iterable[Expression]) -> None:
        for condition in conditions:
            self.emitter.cut(condition)
        tests = [self.emitter.truth(condition) for condition in conditions]
        if tests:
            self.line(f"if not ({' and '.join(tests)}): continue")

    def _conditions(self, loop: Loop, conditions: tuple[Expression, ...]) -> None:
        """Conditions in order, each after the decoding of what it reads of this level."""
        source = loop.path.source
        reads = [{number for found, number in bound.columns_of(condition) if found == source} for condition in conditions]
        wanted = set().union(*reads) & loop.columns
        rest = loop.columns - wanted - loop.decoded
        if wanted and self._is_cheap(loop, rest):
            wanted |= rest
        free = loop.free_columns()
        pending: list[Expression] = []
        for condition, read in zip(conditions, reads, strict=True):
            missing = read - loop.decoded
            if missing:
                self._conditions_here(pending)
                pending = []
                loop.decode(wanted & free if missing <= free else wanted)
            pending.append(condition)
        self._conditions_here(pending)

    def _is_cheap(self, loop: Loop, rest: set[int]) -> bool:
        """Are the remaining columns so few and small that one decoding of all is better than two?"""
        table = getattr(loop.path, "table", None)
        if table is None or len(rest) > 2 or loop.free_columns():
            return not rest
        return all(number < 0 or (table.columns[number].affinity in (storage.INTEGER, storage.REAL, storage.NUMERIC) and table.fields[number] >= 0)
                   for number in rest)

    # --- tails, rests, branches --------------------------------------------------------------------------------------------------------------

    def _tail(self, number: int) -> str:
        """The call of a generator function for the levels from ``number`` on."""
        needed: set[tuple[int, int]] = set()
        for level in self.levels[number:]:
            paths = [level.path] if level.rest is None else [level.path, level.rest]
            for expression in (*level.match, *level.conditions, *(part for path in paths for part in path_expressions(path))):
                needed |= bound.columns_of(expression)
        for expression in (*self.extra, *self.sink.expressions):
            needed |= bound.columns_of(expression)
        columns = self.emitter.columns
        variables = sorted({columns[key][1] for key in needed if key in columns and columns[key][1] != "o"})
        call = f"tail{number}({', '.join(variables)})"
        if number == len(self.levels) and self.extra:
            body = self.in_buffer(lambda: self._tail_end(number))
        else:
            body = self.in_buffer(lambda: self._write_level(number))
        self.nested.append(f"    def {call}:")
        self.nested += ["    " + text for text in body]
        return call

    def _tail_end(self, number: int) -> None:
        self.begin("for _ in (0,):")            # so that a condition can ``continue``
        self._write_level(number)
        self.end()

    def _write_rest(self, number: int) -> None:
        """The unmatched rows of a RIGHT or FULL join, with NULLs for all earlier sources."""
        level = self.levels[number]
        assert level.rest is not None
        names = set()
        sources = {earlier.path.source for earlier in self.levels[:number]}
        for (source, _), (_, variable) in self.emitter.columns.items():
            if source in sources and variable != "o":
                names.add(variable)
        for name in sorted(names):
            self.line(f"{name} = {'NULLS' if name.startswith('r') else 'None'}")
        self.emitter.named("NULLS", (None,) * 2000)
        for key in [key for key in self.emitter.columns if key[0] == level.path.source]:
            del self.emitter.columns[key]
        loop = self._loop(level.rest, number, False, True)
        depth = self.depth
        loop.open()
        self.line(f"if {loop.identity()} in seen{number}: continue")
        self._conditions(loop, level.conditions)
        loop.decode(loop.columns)
        text = next(text for text in self.nested if text.startswith(f"    def tail{number + 1}("))
        self.line(f"yield from {text.strip()[4:-1]}")
        loop.check()
        self.end(self.depth - depth)

    def branch(self, path: physical.Path, condition: Expression | None, number: int) -> str:
        """A nested generator function of (identity, record) for one search of a multi-index OR; returns its call."""
        emitter = self.emitter
        saved = dict(emitter.columns)
        needed = set()
        for expression in (*path_expressions(path), *(() if condition is None else (condition,))):
            needed |= {key for key in bound.columns_of(expression) if key[0] != path.source}
        variables = sorted({emitter.columns[key][1] for key in needed if key in emitter.columns and emitter.columns[key][1] != "o"})

        def write() -> None:
            columns = set() if condition is None else {column for source, column in bound.columns_of(condition) if source == path.source}
            loop = resolve(LOOPS[type(path).__name__])(self, path, number, columns, False, False)
            loop.open()
            if condition is not None:
                self._conditions(loop, (condition,))
            fetch = getattr(loop, "_fetch", None)
            identity = loop.identity()
            if fetch is not None and not path.index.is_table_tree:  # type: ignore[attr-defined]
                fetch()
            self.line(f"yield {identity}, d{number}")
            loop.check()
            self.end(self.depth - 1)

        body = self.in_buffer(write)
        emitter.columns = saved
        self._branches += 1
        call = f"branch{self._branches}({', '.join(variables)})"
        self.nested.append(f"    def {call}:")
        self.nested += ["    " + text for text in body]
        return call


def open_pipeline(node: Any, compiler: Compiler) -> Any:
    """Compile Project / Filter over a Join, or over any other operator, into one generator function."""
    sink, conditions, base = peel(node)
    return write_pipeline(base, conditions, sink, compiler)


def peel(node: Any) -> tuple[Sink, list[Expression], Any]:
    """The output of a node, the conditions below it and what they stand on."""
    columns: tuple[Expression, ...] = node.columns
    if isinstance(node, physical.Project):
        columns = node.expressions
        node = node.input
    conditions, base = below(node)
    return Sink(columns), conditions, base


def below(node: Any) -> tuple[list[Expression], Any]:
    """Filters on top of ``node`` (innermost first) and what they stand on."""
    conditions: list[Expression] = []
    while isinstance(node, physical.Filter):
        operands = node.condition.operands if isinstance(node.condition, bound.And) else (node.condition,)
        conditions[:0] = operands
        node = node.input
    return conditions, node


def write_pipeline(base: Any, conditions: list[Expression], sink: Sink, compiler: Compiler) -> Any:
    """The generator function for rows of ``base`` that meet ``conditions``, given to ``sink``."""
    pipeline = Pipeline(compiler)
    if isinstance(base, physical.Join):
        return pipeline.join(base, conditions, sink)
    if isinstance(base, physical.SingleRow):
        return pipeline.single(conditions, sink)
    return pipeline.rows(compiler.operator(base), base.columns, conditions, sink)


__all__ = ["Pipeline", "Sink", "below", "open_pipeline", "write_pipeline"]

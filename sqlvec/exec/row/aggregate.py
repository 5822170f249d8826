"""Aggregates and GROUP BY, accumulated inside the generated loop of their input.

The state of a group is a Python list ``g``: the values that its output takes from the first row (keys, bare columns), then the accumulators, whose places
each :class:`Accumulator` knows.  Without GROUP BY the accumulators are local variables of the generator.  ``count``, ``sum``, ``avg``, ``total``, ``min``
and ``max`` accumulate inline; all others call ``step`` of the function's state object.

Modes: *plain* one group, which exists even without rows; *grouped* equal keys arrive adjacent, a group is delivered when the key changes; *sorted* groups are
found by hashing and sorted by their keys at the end (rows inside a group keep arrival order, as in SQLite's sorter).

Bare columns come from the first row, or with ``extreme`` from the row where that min or max last took a new value (rows with NULL
before any value count as well).

Follows "Built-in Aggregate Functions" and "SELECT" (bare columns) of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.row.ephemeral import SortTerm, is_plain, order
from sqlvec.exec.row.pipeline_source import Pipeline, Sink, below, write_pipeline
from sqlvec.expr.emit import hint_of, kinds_of
from sqlvec.functions.aggregate import number_argument
from sqlvec.plan import physical
from sqlvec.values.compare import compare, hash_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.operators import Compiler
    from sqlvec.expr.bound import AggregateCall

INLINE = ("count", "sum", "avg", "total", "min", "max")
_IN_RANGE = "-9223372036854775808 <= {0} <= 9223372036854775807"


class Accumulator:
    """One aggregate call.  ``slots``: initial value texts of its state; after placement ``names`` are the texts of the slots."""

    def __init__(self, call: AggregateCall, number: int, needs_change: bool) -> None:
        self.call = call
        self.number = number
        self.needs_change = needs_change            # bare columns follow this min or max
        self.kind = call.function.kind if call.function.builtin and call.function.kind in INLINE else "call"
        self.names: list[str] = []
        self.initial: list[str] = []

    def plan(self, pipeline: Pipeline) -> None:
        """Decide the slots."""
        kind = self.kind
        emitter = pipeline.emitter
        function = self.call.function
        if kind == "count":
            self.initial = ["0"]
        elif kind in ("avg", "total"):
            self.initial = ["0.0", "0"]
        elif kind == "sum":
            self.initial = ["0.0", "0", "0", "0"]         # real sum, count, integer sum, state (1 approximate, 2 overflow)
        elif kind in ("min", "max"):
            self.initial = ["None"]
        else:
            start = emitter.constant(function.start, "start")
            argument = ""
            if function.uses_collation:
                argument = emitter.constant(emitter.collation(self.call.using))
            elif function.context:
                argument = emitter.function_context()
            self.initial = [f"{start}({argument})"]
        if self.call.distinct:
            self.initial.append("set()")

    def accumulate(self, pipeline: Pipeline, changed: str) -> None:
        """Emit the statements for one row."""
        emitter = pipeline.emitter
        call = self.call
        depth = pipeline.depth
        for argument in (*call.arguments, *(() if call.condition is None else (call.condition,))):
            emitter.cut(argument)
        if call.condition is not None:
            pipeline.begin(f"if {emitter.truth(call.condition)}:")
        if self.kind == "count" and (call.star or not call.arguments):
            pipeline.line(f"{self.names[0]} += 1")
            pipeline.end(pipeline.depth - depth)
            return
        want_json = call.function.json_args
        texts = [emitter.value(argument) if want_json else emitter.result(argument) for argument in call.arguments]
        if call.distinct or self.kind != "call":
            name = texts[0]
            if not name.isidentifier():
                name = f"x{self.number}"
                pipeline.line(f"{name} = {texts[0]}")
            texts[0] = name
        if call.distinct:
            self._distinct(pipeline, texts[0])
        if self.kind == "count":
            self._count(pipeline, texts[0], call.arguments[0])
        elif self.kind in ("avg", "total"):
            self._average(pipeline, texts[0], hint_of(call.arguments[0]))
        elif self.kind == "sum":
            self._sum(pipeline, texts[0], hint_of(call.arguments[0]))
        elif self.kind in ("min", "max"):
            self._extreme(pipeline, texts[0], changed)
        else:
            if not call.function.builtin:
                emitter.calls_user_code = True
            pipeline.line(f"{self.names[0]}.step({', '.join(texts)})")
        pipeline.end(pipeline.depth - depth)

    def _distinct(self, pipeline: Pipeline, name: str) -> None:
        emitter = pipeline.emitter
        collation = emitter.collation(self.call.using)
        key = name
        if not is_plain(collation):
            key = f"y{self.number}"
            pipeline.line(f"{key} = {emitter.named('hash_key', hash_key)}({name}, {emitter.constant(collation)})")
        seen = self.names[-1]
        pipeline.begin(f"if {key} not in {seen}:")
        pipeline.line(f"{seen}.add({key})")

    def _count(self, pipeline: Pipeline, name: str, argument: Any) -> None:
        if "n" in kinds_of(argument):
            pipeline.line(f"if {name} is not None: {self.names[0]} += 1")
        else:
            pipeline.line(f"{self.names[0]} += 1")

    def _average(self, pipeline: Pipeline, name: str, hint: str) -> None:
        total, count = self.names[:2]
        first, second = ("float", "int") if hint == "r" else ("int", "float")
        number = pipeline.emitter.named("number_argument", number_argument)
        pipeline.begin(f"if type({name}) is {first} or type({name}) is {second}:")
        pipeline.line(f"{total} += {name}; {count} += 1")
        pipeline.end()
        pipeline.begin(f"elif {name} is not None:")
        pipeline.line(f"{total} += {number}({name}); {count} += 1")
        pipeline.end()

    def _sum(self, pipeline: Pipeline, name: str, hint: str) -> None:
        real, count, integer, state = self.names[:4]
        own = f"q{self.number}"            # the argument may be shared with other aggregates: converted in a copy
        pipeline.line(f"{own} = {name}")
        name = own
        add_real = f"{real} += {name}; {count} += 1; {state} |= 1"
        number = pipeline.emitter.named("number_argument", number_argument)
        if hint == "r":
            pipeline.begin(f"if type({name}) is float:")
            pipeline.line(f"{real} += {name}; {count} += 1; {state} |= 1")
            pipeline.end()
            pipeline.begin(f"elif {name} is not None:")
        else:
            pipeline.begin(f"if {name} is not None:")
        if hint == "r":
            pipeline.line(f"if type({name}) is not int: {name} = {number}({name})")
        else:
            pipeline.line(f"if type({name}) is not int and type({name}) is not float: {name} = {number}({name})")
        pipeline.begin(f"if type({name}) is int:")
        pipeline.line(f"{real} += {name}; {count} += 1")
        pipeline.begin(f"if not {state}:")
        pipeline.line(f"{integer} += {name}")
        pipeline.line(f"if not {_IN_RANGE.format(integer)}: {state} = 3")
        pipeline.end(2)
        pipeline.line(f"else: {add_real}")
        pipeline.end()

    def _extreme(self, pipeline: Pipeline, name: str, changed: str) -> None:
        best = self.names[0]
        emitter = pipeline.emitter
        collation = emitter.constant(emitter.collation(self.call.using))
        sign, python = (">", ">") if self.kind == "max" else ("<", "<")
        general = f"{emitter.named('compare_values', compare)}({name}, {best}, {collation}) {sign} 0"
        if self.needs_change:
            pipeline.line(f"{changed} = {best} is None")
        pipeline.begin(f"if {name} is not None and ({best} is None or ({name} {python} {best}"
                       f" if type({name}) is type({best}) is not str else {general})):")
        pipeline.line(f"{best} = {name}")
        if self.needs_change:
            pipeline.line(f"{changed} = True")
        pipeline.end()

    def result(self, pipeline: Pipeline) -> str:
        """Text of the value."""
        emitter = pipeline.emitter
        names = self.names
        if self.kind in ("count", "min", "max"):
            return names[0]
        if self.kind == "total":
            return f"({names[0]} if {names[0]} == {names[0]} else None)"
        if self.kind == "avg":
            return f"{emitter.named('average', average)}({names[0]}, {names[1]})"
        if self.kind == "sum":
            return f"{emitter.named('sum_value', sum_value)}({names[0]}, {names[1]}, {names[2]}, {names[3]})"
        return f"{names[0]}.value()"


def average(total: float, count: int) -> float | None:
    """avg()."""
    if not count:
        return None
    result = total / count
    return result if result == result else None


def sum_value(real: float, count: int, integer: int, state: int) -> int | float | None:
    """sum(): integer while all inputs were, else real."""
    if not count:
        return None
    if state == 3:
        raise errors.integer_overflow()
    if state:
        return real if real == real else None
    return integer


class AggregateSink(Sink):
    """Accumulates rows and delivers groups."""

    def __init__(self, node: physical.Aggregate, compiler: Compiler) -> None:
        self.node = node
        self.compiler = compiler
        needed: list[Any] = [*node.keys, *node.bare]
        for call in node.aggregates:
            needed += call.arguments
            if call.condition is not None:
                needed.append(call.condition)
        super().__init__(needed)
        self.yields = node.mode == "grouped"
        ruling = _ruling(node)
        self.accumulators = [Accumulator(call, number, number in ruling) for number, call in enumerate(node.aggregates)]

    # --- state -----------------------------------------------------------------------------------------------------------------------------

    def start(self, pipeline: Pipeline) -> None:
        node = self.node
        self.is_plain = node.mode == "plain"
        kept = len(node.keys) + len(node.bare)
        self.kept = [f"first{place}" if self.is_plain else f"g[{place}]" for place in range(kept)]
        place = kept
        initial = []
        for accumulator in self.accumulators:
            accumulator.plan(pipeline)
            for text in accumulator.initial:
                accumulator.names.append(f"a{place}" if self.is_plain else f"g[{place}]")
                initial.append(text)
                place += 1
        self.initial = initial
        if self.is_plain:
            for name in self.kept:
                pipeline.line(f"{name} = None")
            for accumulator in self.accumulators:
                for name, text in zip(accumulator.names, accumulator.initial, strict=True):
                    pipeline.line(f"{name} = {text}")
            if node.bare:
                pipeline.line("is_first = True")
        elif node.mode == "grouped":
            pipeline.line("g = None")
            pipeline.line("last = None")
        else:
            pipeline.line("groups = {}")
            pipeline.line("find = groups.get")

    # --- one row ---------------------------------------------------------------------------------------------------------------------------

    def write(self, pipeline: Pipeline) -> None:
        node = self.node
        emitter = pipeline.emitter
        for expression in (*node.keys, *node.bare):
            emitter.cut(expression)
        bare = [emitter.result(column) for column in node.bare]
        if self.is_plain:
            if node.bare:
                pipeline.begin("if is_first:")
                pipeline.line("is_first = False")
                self._load_bare(pipeline, bare)
                pipeline.end()
        else:
            self._find_group(pipeline, bare)
        if node.extreme is not None and node.bare:
            pipeline.line("changed = False")
        for accumulator in self.accumulators:
            accumulator.accumulate(pipeline, "changed")
        if node.extreme is not None and node.bare:
            pipeline.begin("if changed:")
            self._load_bare(pipeline, bare)
            pipeline.end()

    def _load_bare(self, pipeline: Pipeline, bare: list[str]) -> None:
        offset = len(self.node.keys)
        for place, text in enumerate(bare):
            pipeline.line(f"{self.kept[offset + place]} = {text}")

    def _find_group(self, pipeline: Pipeline, bare: list[str]) -> None:
        node = self.node
        emitter = pipeline.emitter
        names = []
        hashes = []
        for place, (key, using) in enumerate(zip(node.keys, node.collations, strict=True)):
            text = emitter.result(key)
            if not text.isidentifier():
                pipeline.line(f"key{place} = {text}")
                text = f"key{place}"
            names.append(text)
            collation = emitter.collation(using)
            if is_plain(collation):
                hashes.append(text)
            else:
                hashes.append(f"{emitter.named('hash_key', hash_key)}({text}, {emitter.constant(collation)})")
        hashed = hashes[0] if len(hashes) == 1 else "(" + ", ".join(hashes) + ")"
        new = "[" + ", ".join([*names, *bare, *self.initial]) + "]"
        if node.mode == "grouped":
            if not hashed.isidentifier():
                pipeline.line(f"group = {hashed}")
                hashed = "group"
            pipeline.begin(f"if g is None or {hashed} != last:")
            pipeline.begin("if g is not None:")
            pipeline.line(f"yield {self._output(pipeline)}")
            pipeline.end()
            pipeline.line(f"last = {hashed}")
            pipeline.line(f"g = {new}")
            pipeline.end()
            return
        pipeline.line(f"g = find({hashed})")
        pipeline.line(f"if g is None: g = groups[{hashed}] = {new}")

    def _output(self, pipeline: Pipeline) -> str:
        keys = len(self.node.keys)
        values = [*self.kept[:keys], *(accumulator.result(pipeline) for accumulator in self.accumulators), *self.kept[keys:]]
        return "(" + "".join(f"{value}, " for value in values) + ")"

    # --- the end ---------------------------------------------------------------------------------------------------------------------------

    def finish(self, pipeline: Pipeline) -> None:
        output = self._output(pipeline)
        if self.is_plain:
            pipeline.line(f"yield {output}")
        elif self.node.mode == "grouped":
            pipeline.line(f"if g is not None: yield {output}")
        else:
            sort_groups = pipeline.emitter.constant(self._sorter(), "sort_groups")
            pipeline.begin(f"for g in {sort_groups}(list(groups.values())):")
            pipeline.line(f"yield {output}")
            pipeline.end()

    def _sorter(self) -> Any:
        """Sorts group states by their keys."""
        node = self.node
        terms = []
        keys = [key.key() for key in node.keys]
        for position, term in enumerate(node.key_order):
            wanted = term.expression.key()
            place = keys.index(wanted) if wanted in keys else position
            collation = self.compiler.collations.lookup(term.collation)
            if collation is None:
                raise errors.no_such_collation(term.collation)
            terms.append(SortTerm(place, collation, term.descending, term.nulls_last))
        return lambda groups: order(groups, groups, terms)


def _ruling(node: physical.Aggregate) -> list[int]:
    """The aggregates that may choose the row of the bare columns: the last min or max.  While those have a FILTER, the ones before down to one
    without take part too (the last that sees a row decides); if all have one, the last alone decides."""
    found: list[int] = []
    if node.extreme is None:
        return found
    for number in range(node.extreme, -1, -1):
        call = node.aggregates[number]
        if call.function.kind in ("min", "max") and call.function.builtin:
            found.append(number)
            if call.condition is None:
                return found
    return [node.extreme]


def open_aggregate(node: physical.Aggregate, compiler: Compiler) -> Any:
    """Compile an Aggregate with the pipeline below it."""
    conditions, base = below(node.input)
    if isinstance(base, physical.Join) and (len(base.levels) > 6 or any(level.kind in ("right", "full") for level in base.levels)):
        # Such joins go on in functions of their own, which cannot reach the accumulators.
        return write_rows(base, conditions, AggregateSink(node, compiler), compiler)
    return write_pipeline(base, conditions, AggregateSink(node, compiler), compiler)


def write_rows(base: Any, conditions: list[Any], sink: Sink, compiler: Compiler) -> Any:
    """A pipeline over the rows of a join that is a generator of its own."""
    return Pipeline(compiler).rows(compiler.operator(base), base.columns, conditions, sink)


__all__ = ["AggregateSink", "open_aggregate"]

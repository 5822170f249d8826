"""Levels of a join that read rows instead of records: FROM sub-queries, and automatic indexes.

Level 1 reads ``for r1 in ...:``; its columns are ``r1[3]``, or locals ``c1_3`` where a RIGHT or FULL join needs them by name.  The null row of an outer join is
the constant ``NULLS``.

Follows "Query Planning" ("Automatic Query-Time Indexes") of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.exec.program import program_of
from sqlvec.exec.row.scan import Loop
from sqlvec.exec.row.subquery import convert
from sqlvec.plan import physical
from sqlvec.schema.objects import ROWID
from sqlvec.values.compare import hash_key, sort_key
from sqlvec.values.storage import apply_affinity, cast_to_integer
from sqlvec.values.text import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlvec.exec.program import Activation

NULLS = (None,) * 2001


class RowLoop(Loop):
    """A level whose rows are tuples; ``place(number)`` is the position of a column."""

    def place(self, number: int) -> int:
        return number

    def begin_rows(self, rows: str) -> None:
        """Emit the ``for`` line over an iterable of tuples."""
        pipeline, number = self.pipeline, self.number
        pipeline.emitter.named("NULLS", NULLS)
        stored = self.stored_rowid()
        self.numbered = stored is None and (ROWID in self.columns or self.unpack)
        if self.numbered:
            rows = f"{pipeline.emitter.named('enumerate', enumerate)}({rows})"
        if number:                              # rows in memory: no cursor that would notice an interrupt
            pipeline.line(f"if interrupt[0]: raise {pipeline.emitter.named('Interrupted', errors.Interrupted)}()")
        if self.nullable:
            null = "(None, NULLS)" if self.numbered else "NULLS"
            rows = f"{pipeline.call('with_null_row')}({rows}, {null})"
        pipeline.begin(f"for {f'k{number}, ' if self.numbered else ''}r{number} in {rows}:")
        self.loops = 1
        self.null_test = f"r{number} is NULLS"
        if stored is not None:
            pipeline.line(f"k{number} = r{number}[{stored}]")
        if self.numbered or stored is not None:
            self.register(ROWID, f"k{number}")

    def stored_rowid(self) -> int | None:
        """Where the rows hold their rowid, if they do (otherwise their number stands for it)."""
        return None

    def decode(self, numbers: set[int]) -> None:
        for number in sorted(numbers - self.decoded):
            if number == ROWID:
                continue
            text = f"r{self.number}[{self.place(number)}]"
            if self.unpack:
                self.pipeline.line(f"{self.local(number)} = {text}")
                self.register(number, self.local(number))
            else:
                self.register(number, text, f"r{self.number}")

    def free_columns(self) -> set[int]:
        return set(self.columns)

    def set_nulls(self) -> None:
        if self.unpack:
            names = [self.local(number) for number in sorted(self.columns) if number != ROWID]
            if names:
                self.pipeline.line(" = ".join(names) + " = None")


class QuerySource:
    """Opens the rows of a FROM sub-query: streamed, or materialised once per activation (once per call when correlated)."""

    __slots__ = ("affinities", "key", "materialized", "program")

    def __init__(self, path: physical.QueryScan) -> None:
        self.program = program_of(path.plan, path.outer)
        self.materialized = path.materialized
        self.key = None if path.outer else ("query", path.slot)
        self.affinities = path.conversions

    def __call__(self, activation: Activation, outer: tuple[Any, ...]) -> Any:
        if not self.materialized:
            rows = self.program.rows(activation, outer)
            return rows if self.affinities is None else self._with_reals(rows, self.affinities)
        if self.key is None:
            return self._stored(activation, outer)
        rows = activation.slots.get(self.key)  # type: ignore[assignment]
        if rows is None:
            rows = activation.slots[self.key] = self._stored(activation, outer)
        return rows

    def _stored(self, activation: Activation, outer: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        rows = self.program.rows(activation, outer)
        if self.affinities is None:
            return list(rows)
        return list(self._converted(rows, self.affinities))

    def _with_reals(self, rows: Any, affinities: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            yield tuple([float(value) if affinity is not None and type(value) is int else value
                         for value, affinity in zip(row, affinities, strict=True)])

    def _converted(self, rows: Any, affinities: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            yield tuple([apply_affinity(value, affinity) for value, affinity in zip(row, affinities, strict=True)])


class QueryScanLoop(RowLoop):
    """Rows of a FROM sub-query."""

    def open(self) -> None:
        pipeline, path = self.pipeline, self.path
        emitter = pipeline.emitter
        outer = "(" + "".join(f"{emitter.column(column)}, " for column in path.outer) + ")"
        source = emitter.constant(QuerySource(path), "query")
        backwards = "[::-1]" if path.reverse else ""              # only materialised rows, a list, are read backwards
        self.begin_rows(f"{source}({emitter.activation()}, {outer}){backwards}")


class AutomaticIndexLoop(RowLoop):
    """Search of a temporary index over a table or sub-query, built at the first use."""

    def open(self) -> None:
        pipeline, path, number = self.pipeline, self.path, self.number
        wanted = set(self.columns) | set(path.key_columns) | set(path.order_columns)
        if self.unpack:
            wanted.add(ROWID)
        self.places = {column: place for place, column in enumerate(sorted(wanted))}
        build = self._build()
        is_filtered = has_lossy_filter(tuple(pipeline.emitter.collation(name) for name in path.using))
        key = "".join(self._key_text(term, "BINARY" if is_filtered else path.using[place]) for place, term in enumerate(path.keys))
        pipeline.line(f"v{number} = ({key})")
        guards = [f"v{number}[{place}] is None" for place, term in enumerate(path.keys) if term.kind == "="]
        rows = f"{build}.search(v{number})" if is_filtered else f"{build}.get(v{number}, ())"
        if guards:
            rows = f"(() if {' or '.join(guards)} else {rows})"
        self.begin_rows(rows)

    def stored_rowid(self) -> int | None:
        return self.places.get(ROWID)

    def place(self, number: int) -> int:
        return self.places[number]

    def _key_text(self, term: physical.KeyTerm, using: str) -> str:
        emitter = self.pipeline.emitter
        assert term.expression is not None
        text = self.pipeline.applied(term.expression, term.applied)
        collation = emitter.collation(using)
        if collation.is_binary or using == "BINARY":
            return f"{text}, "
        return f"{emitter.named('hash_key', hash_key)}({text}, {emitter.constant(collation)}), "

    def _build(self) -> str:
        """Emit the function that builds the index; returns the text of the index."""
        pipeline, path, number = self.pipeline, self.path, self.number
        emitter = pipeline.emitter
        inner = path.input
        saved = dict(emitter.columns)
        columns = [column for column, _ in sorted(self.places.items(), key=lambda item: item[1])]
        key_places = tuple(self.places[column] for column in path.key_columns)
        order_places = tuple(self.places[column] for column in path.order_columns)
        collations = tuple(emitter.collation(name) for name in path.using)
        # Rows of a sub-query need not have gone through the affinity that the comparison applies.
        applied = tuple(term.applied if isinstance(inner, physical.QueryScan) else None for term in path.keys)
        maker = emitter.constant(IndexMaker(key_places, collations, tuple(term.kind == "=" for term in path.keys), order_places, applied,
                                            path.descending))
        outer_names: set[str] = set()

        def write() -> None:
            loop = pipeline._loop(inner, number, False, False)
            loop.columns = set(columns)
            loop.open()
            if path.condition is not None:
                pipeline._conditions(loop, (path.condition,))
            loop.decode(set(columns))
            texts = [emitter.columns[path.source, column][0] for column in columns]
            pipeline.line("yield (" + "".join(f"{text}, " for text in texts) + ")")
            pipeline.depth = 1

        if isinstance(inner, physical.QueryScan):
            outer_names = {emitter.columns[column.source, column.number][1] for column in inner.outer} - {"o"}
        body = pipeline.in_buffer(write)
        emitter.columns = saved
        call = f"rows{number}({', '.join(sorted(outer_names))})"
        pipeline.nested.append(f"    def {call}:")
        pipeline.nested += ["    " + text for text in body]
        if isinstance(inner, physical.QueryScan) and inner.outer:
            return f"{maker}.make({call})"
        memo = emitter.bind_line("S", f"S = {emitter.activation()}.slots")
        pipeline.line(f"auto{number} = {memo}.get({maker})")
        pipeline.line(f"if auto{number} is None: auto{number} = {memo}[{maker}] = {maker}.make({call})")
        return f"auto{number}"


class IndexMaker:
    """Builds an automatic index: key tuple -> rows in the order of ``order`` columns, then arrival; ``descending``: the other way round."""

    __slots__ = ("applied", "collations", "descending", "equal", "keys", "order")

    def __init__(self, keys: tuple[int, ...], collations: tuple[Any, ...], equal: tuple[bool, ...], order: tuple[int, ...],
                 applied: tuple[Any, ...], descending: bool) -> None:
        self.applied = applied
        self.descending = descending
        self.keys = keys
        self.collations = collations
        self.equal = equal
        self.order = order

    def make(self, rows: Any) -> dict[Any, list[tuple[Any, ...]]]:
        """The index of these rows; rows that no search can find are left out."""
        index: dict[Any, list[tuple[Any, ...]]] = FilteredIndex(self.collations) if has_lossy_filter(self.collations) else {}
        parts = tuple(zip(self.keys, self.collations, self.equal, self.applied, strict=True))
        plain = all(collation.is_binary for collation in self.collations) and not any(self.applied)
        for row in rows:
            if plain:
                key = tuple([row[place] for place in self.keys])
            else:
                key = tuple([hash_key(convert(row[place], affinity), collation) for place, collation, _, affinity in parts])
            if None in key and any(is_equal and row[place] is None for place, _, is_equal, _ in parts):
                continue
            found = index.get(key)
            if found is None:
                index[key] = [row]
            else:
                found.append(row)
            if isinstance(index, FilteredIndex):
                index.note(tuple([convert(row[place], affinity) for place, _, _, affinity in parts]))
        order = self.order
        if order:
            for found in index.values():
                if len(found) > 1:
                    found.sort(key=lambda row: tuple([sort_key(row[place]) for place in order]))
        if self.descending:
            for found in index.values():
                found.reverse()
        return index


def has_lossy_filter(collations: tuple[Any, ...]) -> bool:
    """May texts of different length be equal?  Then the filter in front of the original's automatic index shows."""
    return not all(collation.is_builtin and collation.name in ("BINARY", "NOCASE") for collation in collations)


class FilteredIndex(dict):  # type: ignore[type-arg]
    """An automatic index behind the Bloom filter that the original puts in front of every one.

    The filter has one hash function: integers by value, reals by their integer part, text and blobs by their *length*, summed over the key.  So
    under RTRIM (and many collations of users) equal texts of different length usually don't find each other; this is copied."""

    BITS = 80000

    def __init__(self, collations: tuple[Any, ...]) -> None:
        super().__init__()
        self.collations = collations
        self.filter: set[int] = set()

    def hash(self, key: tuple[Any, ...]) -> int:
        """The bit of a key."""
        total = 0
        for value in key:
            if isinstance(value, str):
                total += len(encode(value))
            elif isinstance(value, bytes):
                total += len(value)
            elif value is not None:
                total += cast_to_integer(value)  # type: ignore[operator]
        return (total & 0xFFFFFFFFFFFFFFFF) % self.BITS

    def note(self, key: tuple[Any, ...]) -> None:
        """Set the bit of a stored key."""
        self.filter.add(self.hash(key))

    def search(self, key: tuple[Any, ...]) -> Any:
        """The rows of a key, if its bit is set."""
        if self.hash(key) not in self.filter:
            return ()
        return self.get(tuple([hash_key(value, collation) for value, collation in zip(key, self.collations, strict=True)]), ())


__all__ = ["AutomaticIndexLoop", "QueryScanLoop", "RowLoop"]

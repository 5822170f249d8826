"""Joins: one step per level, each choosing its strategy when it has seen its outer rows.

A step takes the batches of the levels before it and gives batches with one more source.  It collects outer rows first; then, by how many
there are against the size of the inner tree::

    few outer rows             probe: the row engine runs this level for each of them (seeks)
    more outer than inner      build the inner in memory, look up each outer row, in place
    between                    build the outer, stream the inner past it, and restore the order of nested loops by one sort

An inner that doesn't fit the memory budget isn't built: it is read past one block of outer rows after another; pairs wait for their order on disk
(runs.py) where need be.

A step for a level without search keys multiplies (nested loops over the stored inner).  Whatever the strategy, rows leave in the order of the
plan's nested loops, unless the caller said that order doesn't matter (``ordered`` false: counts and extremes only).

A search by key columns is turned round: the KeyTerms of the path are equalities between the inner columns and expressions over earlier levels.
The order among inner rows of equal key is that of the index: its remaining columns, then the rowid.  The inner is read in rowid order; where that
isn't the index's order already, it is sorted.

Invariants:

1. NULL keys never match ('='); 'IS' keys match NULL.
2. A left join emits the null row in the place of its outer row when no inner row passes ``match``; ``conditions`` come after.
3. Outer rows that are kept over batches are detached from their page heaps.
"""
from __future__ import annotations

from itertools import chain

from sqlvec.columnar.batch import BatchPart, ColumnBatch, StoredColumns, of_vectors, renamed
from sqlvec.columnar.numeric import np
from sqlvec.columnar.ordering import SortKey, sort_order
from sqlvec.columnar.vector import ColumnVector, concatenate, from_values, integers
from sqlvec.exec.program import program_of
from sqlvec.exec.row.cursors import key_values, rowids_in
from sqlvec.exec.vector.decline import Restart
from sqlvec.exec.vector.evaluate import Evaluator
from sqlvec.exec.vector.join_keys import InnerKeys, inner_keys
from sqlvec.exec.vector.kept import BuiltColumns, KeptRows, NullableBuiltColumns, NullableColumns
from sqlvec.exec.vector.lookup import Lookup
from sqlvec.exec.vector.runs import ExternalSort, Term, bytes_of
from sqlvec.exec.vector.scan import IndexOrder, Source, is_full_scan, is_index_order_scan, select_all, table_scan_of
from sqlvec.exec.vector.seek import seeker_of
from sqlvec.expr import bound
from sqlvec.plan import physical
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from sqlvec.exec.program import Activation
    from sqlvec.plan.physical import Join, Level

ROW_PROBE_RATIO = 250
ROWID_PROBE_RATIO = 50
INDEX_PROBE_RATIO = 120
FEW_PROBES = 30
PROBED_ROWS = 65_536
SMALL_INNER = 100_000
BLOCK = 16_384
COLLECTED = 400_000
LISTED = -8
"""The source of the values that a search by IN of a sub-query looks for."""
LOOKUP_BYTES = 24                                 # what finding a built row takes beside the row itself
OUTER_ROW = ("outer row", 0)


def run(node: Join, activation: Activation, ordered: bool = True) -> Iterator[ColumnBatch]:
    """The rows of a Join with several levels."""
    needs = level_needs(node)
    batches = first_level(node.levels[0], activation, needs[0])
    earlier = {node.levels[0].path.source}
    for number in range(1, len(node.levels)):
        step = Step(node.levels[number], earlier, needs[number], activation, ordered)
        batches = step.rows(batches)
        earlier = earlier | {node.levels[number].path.source}
    return batches


def level_needs(node: Join, with_output: bool = True) -> list[set[tuple[int, int]]]:
    """For each level, the columns (of any source so far) that levels behind it or the output read."""
    after = {(column.source, column.number) for column in node.columns} if with_output else set()
    needs: list[set[tuple[int, int]]] = []
    for level in reversed(node.levels):
        needs.append(set(after))
        for expression in _level_expressions(level):
            after |= bound.columns_of(expression)
    needs.reverse()
    return needs


def _level_expressions(level: Level) -> list[Any]:
    found = [*level.match, *level.conditions]
    path: Any = level.path
    key = getattr(path, "key", None)
    terms = [key] if key is not None else list(getattr(path, "keys", ()))
    found += [term.expression for term in terms if term.expression is not None]
    for edge in (getattr(path, "lower", None), getattr(path, "upper", None)):
        if edge is not None:
            found += edge.expressions
    if isinstance(path, physical.AutomaticIndex) and path.condition is not None:
        found.append(path.condition)
    return found


def _own_columns(source: int, keys: Iterable[tuple[int, int]]) -> list[int]:
    return sorted({number for found, number in keys if found == source})


def first_level(level: Level, activation: Activation, needs: set[tuple[int, int]]) -> Iterator[ColumnBatch]:
    """The outermost level with its conditions: a scan, a sub-query, or whatever path the row engine reads for us.

    From the first condition with a correlated sub-query on, conditions are checked on many collected rows at once."""
    path: Any = level.path
    needs = {key for key in needs if key[0] == path.source}
    listed = in_search(path, activation)
    if listed is not None:
        search, batch = listed
        return Step(physical.Level(search, level.kind, level.match, level.conditions), {LISTED}, needs, activation, True).rows(iter((batch,)))
    cheap, costly = split_conditions(level.conditions)
    columns = needs | _condition_columns(level)
    order = None
    reads = level
    if is_range_search(path):
        scan, own = range_scan(path)
        cheap = [*own, *cheap]
        reads = physical.Level(scan)
        columns = columns.union(*[bound.columns_of(condition) for condition in own])
    if is_index_order_scan(path) or (reads is not level and isinstance(path, physical.IndexSearch) and isinstance(reads.path, physical.TableScan)):
        order = IndexOrder(path, "hold" in activation.slots or ("hold", id(path)) in activation.slots)
        columns |= set(order.names)
    batches = select_all(path_batches(reads, activation, columns), cheap, Evaluator(cheap, activation), activation)
    if order is not None:
        keep = needs.union(*[bound.columns_of(condition) for condition in costly])
        batches = order.rows(batches, keep)
    if costly:
        keep = needs.union(*[bound.columns_of(condition) for condition in costly])
        batches = collected(batches, sorted(keep), costly, activation)
    return batches


def is_range_search(path: Any) -> bool:
    """A search by constants that is read as a whole tree (eligibility chose it so); searches by IN are left to the row engine."""
    if isinstance(path, physical.RowidSearch):
        return path.key is None
    if not isinstance(path, physical.IndexSearch) or is_full_scan(path) or is_index_order_scan(path):
        return False
    return all(term.kind == "=" for term in path.keys)


def range_scan(path: Any) -> tuple[Any, list[Any]]:
    """(the full scan to read instead, the search as conditions)."""
    keys = inner_keys(path)
    conditions = list(keys.conditions)
    for number, term, using in zip(keys.numbers, keys.terms, keys.collations, strict=True):
        conditions.append(bound.Compare("=", bound.Column(path.source, number), term.expression, term.applied, using))
    scan = keys.path
    if isinstance(path, physical.IndexSearch) and path.covering and not path.table.without_rowid:
        scan = physical.IndexSearch(path.source, path.label, path.table, path.index, covering=True)
        scan.used = path.used
    return scan, conditions


def in_search(path: Any, activation: Activation) -> tuple[Any, ColumnBatch] | None:
    """A search by IN of an uncorrelated sub-query that lists integers, as (the search by a column of listed values, a batch of these values in
    visiting order); None for all other paths."""
    if not isinstance(path, (physical.RowidSearch, physical.IndexSearch)) or path.descending or getattr(path, "null_scan", None) is not None:
        return None
    keys = (path.key,) if isinstance(path, physical.RowidSearch) else path.keys
    terms = [term for term in keys if term is not None]
    places = [place for place, term in enumerate(terms) if term.kind == "IN"]
    if len(places) != 1 or any(term.kind not in ("=", "IN") for term in terms):
        return None
    term = terms[places[0]]
    listing = term.expression
    if not isinstance(listing, bound.InSubquery) or listing.subquery.outer or len(listing.operands) != 1:
        return None
    rows = resolve("sqlvec.exec.row.subquery:rows_evaluator")(listing.subquery)(activation, ())
    listed = [row[term.number] for row in rows]
    if isinstance(path, physical.RowidSearch):
        values: list[Any] = rowids_in(listed, False)
    else:
        column = path.index.columns[places[0]]
        values = key_values(listed, term.applied, activation.context.collations.lookup(column.collation), column.descending)
    if not all(type(value) is int for value in values):
        return None
    terms[places[0]] = physical.KeyTerm("=", bound.Column(LISTED, 0), None)
    search: Any
    if isinstance(path, physical.RowidSearch):
        search = physical.RowidSearch(path.source, path.label, path.table, terms[0])
    else:
        search = physical.IndexSearch(path.source, path.label, path.table, path.index, tuple(terms), path.lower, path.upper, covering=path.covering)
    search.used = path.used
    try:
        inner_keys(search)
    except Restart:
        return None
    return search, of_vectors(len(values), {(LISTED, 0): from_values(values)})


def split_conditions(conditions: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """(those before the first with a correlated sub-query, the others)."""
    cheap: list[Any] = []
    costly: list[Any] = []
    for condition in conditions:
        (costly if costly or is_correlated(condition) else cheap).append(condition)
    return cheap, costly


def is_correlated(condition: Any) -> bool:
    """Does an expression hold a sub-query that depends on the row?"""
    return any(getattr(node, "subquery", None) is not None and node.subquery.outer for node in condition.walk())


def collected(batches: Iterator[ColumnBatch], keep: list[Any], conditions: list[Any], activation: Activation) -> Iterator[ColumnBatch]:
    """Check costly conditions on big blocks of rows, so that a sub-query is run for many rows at once."""
    evaluator = Evaluator(conditions, activation)
    kept = KeptRows(keep)
    for batch in batches:
        if not batch.count:
            continue
        kept.add(batch)
        if kept.count >= COLLECTED:
            yield evaluator.select(conditions, kept.whole())
            kept = KeptRows(keep)
    if kept.count:
        yield evaluator.select(conditions, kept.whole())


def _condition_columns(level: Level) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    for expression in (*level.match, *level.conditions):
        found |= bound.columns_of(expression)
    return found


def path_batches(level: Level, activation: Activation, needs: set[tuple[int, int]]) -> Iterator[ColumnBatch]:
    """All rows of a path that doesn't depend on other levels."""
    path: Any = level.path
    if is_full_scan(path):
        yield from Source(path, activation, _own_columns(path.source, needs)).batches()
    elif is_index_order_scan(path):
        yield from Source(table_scan_of(path), activation, _own_columns(path.source, needs)).batches()
    elif isinstance(path, physical.QueryScan):
        yield from query_batches(path, activation)
    else:
        yield from row_batches(path, activation, _own_columns(path.source, needs))


def query_batches(path: physical.QueryScan, activation: Activation) -> Iterator[ColumnBatch]:
    """The rows of a FROM sub-query under the scan's own column names."""
    names = {(path.source, number): (column.source, column.number) for number, column in enumerate(path.plan.columns)}
    for batch in resolve("sqlvec.exec.vector.pipeline:open_node")(path.plan, activation):
        yield renamed(batch, names)


def row_batches(path: Any, activation: Activation, numbers: list[int]) -> Iterator[ColumnBatch]:
    """A path read by the row engine."""
    columns = tuple(bound.Column(path.source, number) for number in numbers)
    rows = program_of(physical.Join((physical.Level(path),), columns)).rows(activation)
    while True:
        block = []
        for row in rows:
            block.append(row)
            if len(block) == BLOCK:
                break
        if block:
            yield of_rows(block, columns)
        if len(block) < BLOCK:
            return


def of_rows(rows: list[tuple[Any, ...]], columns: tuple[bound.Column, ...]) -> ColumnBatch:
    vectors = [from_values(values) for values in zip(*rows, strict=True)]
    return of_vectors(len(rows), {(column.source, column.number): vector for column, vector in zip(columns, vectors, strict=True)})


def stored(batch: ColumnBatch, keys: Iterable[Any]) -> dict[Any, ColumnVector]:
    """Detached vectors of some columns of a batch."""
    return {key: batch.column(key).detached() for key in keys}


def gather_stored(blocks: list[dict[Any, ColumnVector]], keys: Iterable[Any]) -> dict[Any, ColumnVector]:
    return {key: concatenate([block[key] for block in blocks]) for key in keys}


class TooLarge(Exception):
    """The inner side of a join doesn't fit the memory budget."""


def joined(outer: ColumnBatch, outer_rows: Any, inner: StoredColumns) -> ColumnBatch:
    """Rows of ``outer`` at ``outer_rows`` beside the inner part (already of that length)."""
    base = outer.take(outer_rows) if outer_rows is not None else outer
    part = BatchPart(base)
    parts: dict[Any, Any] = dict.fromkeys(outer.parts, part)
    parts.update(dict.fromkeys(inner.vectors, inner))
    return ColumnBatch(base.count, parts)


class Step:
    """One inner level."""

    def __init__(self, level: Level, earlier: set[int], needs: set[tuple[int, int]], activation: Activation, ordered: bool) -> None:
        self.level = level
        self.activation = activation
        self.ordered = ordered
        self.path: Any = level.path
        self.source = level.path.source
        self.is_left = level.kind == "left"
        self.earlier = earlier
        self.repeats = False                      # set by whoever asks a step again and again
        self.asked = 0                            # outer rows of all runs of this step
        self.seeker: Any = None
        self.row_program: Any = None
        self.built: tuple[dict[Any, ColumnVector], Lookup] | None = None
        self.is_too_large = False                 # the inner was found not to fit the memory budget
        self.settings = activation.context.settings
        self.keys: InnerKeys = inner_keys(self.path)
        after, self.costly = split_conditions(level.conditions)
        conditions = [*self.keys.conditions, *level.match]
        if not self.is_left:
            conditions += after
        self.own = [condition for condition in conditions if bound.sources_of(condition) <= {self.source}]
        self.pairs = [condition for condition in conditions if not bound.sources_of(condition) <= {self.source}]
        self.after = after if self.is_left else []
        self.evaluator = Evaluator([*self.own, *self.pairs, *self.after, *self.keys.expressions], activation)
        wanted = set(needs)
        for condition in self.costly:
            wanted |= bound.columns_of(condition)
        self.keep_for_costly = sorted(wanted)
        for condition in (*self.pairs, *self.after):
            wanted |= bound.columns_of(condition)
        self.inner_keep = [key for key in wanted if key[0] == self.source]
        outer_wanted = {key for key in wanted if key[0] in self.earlier}
        for expression in self.keys.expressions:
            outer_wanted |= bound.columns_of(expression)
        self.outer_keep = sorted(key for key in outer_wanted if key[0] in self.earlier)
        self._read_covering_index()

    def _read_covering_index(self) -> None:
        """Where an index holds every column needed, it is read instead of the table: smaller, and in the right order already."""
        path = self.path
        if not isinstance(path, physical.IndexSearch) or path.table.without_rowid or path.index.is_table_tree or not self.keys.terms:
            return
        table = path.table
        needed = {number for _, number in self.inner_keep} | set(self.keys.numbers)
        for condition in self.own:
            needed |= {number for source, number in bound.columns_of(condition) if source == self.source}
        stored = {column.column for column in path.index.columns} | {-1, table.rowid_column}
        if needed <= stored and all(column.column >= -1 for column in path.index.columns):
            self.keys.path = physical.IndexSearch(path.source, path.label, table, path.index, covering=True)
            self.keys.path.used = tuple(sorted(needed))
            self.keys.order = []
            self.keys.order_terms = []

    # --- choosing --------------------------------------------------------------------------------------------------------------

    def rows(self, batches: Iterator[ColumnBatch]) -> Iterator[ColumnBatch]:
        """The batches of the levels up to this one."""
        out = self._rows(batches)
        if not self.costly:
            return out
        known = self.earlier | {self.source}
        return collected(out, [key for key in self.keep_for_costly if key[0] in known], self.costly, self.activation)

    def _rows(self, batches: Iterator[ColumnBatch]) -> Iterator[ColumnBatch]:
        if not self.keys.terms:
            yield from self._multiply(batches)
            return
        if self.built is not None:
            yield from self._build_inner(batches)
            return
        inner_rows = self._inner_size()
        kept = KeptRows(self.outer_keep)
        limit = max(SMALL_INNER, inner_rows) if inner_rows > SMALL_INNER else 0
        for batch in batches:
            if not batch.count:
                continue
            kept.add(batch)
            if kept.count > limit or kept.size > self.settings.memory_budget // 4:
                break
        count = kept.count
        if not count:
            return
        self.asked += count
        if count > limit or kept.size > self.settings.memory_budget // 4:
            yield from self._build_inner(chain(kept.batches(), batches))
        elif self._may_probe(count, inner_rows):
            yield from self._probe(kept)
        elif self.is_left or 2 * count > inner_rows or self.asked > count or (self.repeats and count >= COLLECTED):
            # (a step that is asked again and again reads its inner once)
            yield from self._build_inner(kept.batches())
        else:
            yield from self._stream_inner(kept)

    def _may_probe(self, count: int, inner_rows: int) -> bool:
        """Are seeks cheaper than reading the inner once?"""
        if not self.keys.can_probe:
            return False
        if count <= FEW_PROBES and self.asked * ROW_PROBE_RATIO < inner_rows:
            return True
        ratio = ROWID_PROBE_RATIO if isinstance(self.path, physical.RowidSearch) else INDEX_PROBE_RATIO
        return self.asked * ratio < inner_rows and self.keys.is_simple

    def _inner_size(self) -> int:
        path = self.keys.path
        if isinstance(path, physical.QueryScan):
            return SMALL_INNER
        return resolve("sqlvec.exec.placement:tree_rows")(path, self.activation.context)  # type: ignore[no-any-return]

    # --- inner side ------------------------------------------------------------------------------------------------------------

    def _inner_batches(self, keep: Iterable[tuple[int, int]]) -> Iterator[ColumnBatch]:
        """The inner's rows that pass its own conditions."""
        needs = set(keep)
        for condition in self.own:
            needs |= bound.columns_of(condition)
        needs |= {(self.source, number) for number in self.keys.numbers}
        for batch in path_batches(physical.Level(self.keys.path), self.activation, needs):
            if self.activation.context.interrupt[0]:
                self.activation.context.check_interrupt()
            yield batch

    def _stored_inner(self, most: int | None = None) -> tuple[dict[Any, ColumnVector], int]:
        """The inner's rows and their number; more than ``most`` bytes of them are :class:`TooLarge`."""
        order = [(self.source, number) for number in self.keys.order] if self.ordered else []
        keep = {*self.inner_keep, *order, *[(self.source, number) for number in self.keys.numbers]}
        blocks = []
        count = size = 0
        for batch in select_all(self._inner_batches(keep), self.own, self.evaluator, self.activation):
            if batch.count:
                blocks.append(stored(batch, keep))
                count += batch.count
                size += sum(map(bytes_of, blocks[-1].values())) + LOOKUP_BYTES * batch.count
                if most is not None and size > most:
                    raise TooLarge
        # (a column's blocks go as soon as they are joined)
        vectors = {key: concatenate([block.pop(key) for block in blocks]) for key in keep}
        if order and count:
            vectors = self._in_index_order(vectors, order, count)
        return vectors, count

    def _in_index_order(self, vectors: dict[Any, ColumnVector], order: list[Any], count: int) -> dict[Any, ColumnVector]:
        keys = [SortKey(vectors[key], descending, None, collation)
                for key, (descending, collation) in zip(order, self.keys.order_terms, strict=True)]
        positions = sort_order(keys, count)
        if (positions[1:] > positions[:-1]).all():
            return vectors
        return {key: vector.take(positions) for key, vector in vectors.items()}

    def _key_vectors_inner(self, vectors: dict[Any, ColumnVector]) -> list[ColumnVector]:
        return [vectors[self.source, number] for number in self.keys.numbers]

    def _key_vectors_outer(self, batch: ColumnBatch) -> list[ColumnVector]:
        evaluator = self.evaluator
        return [evaluator.apply(evaluator.value(term.expression, batch), term.applied) for term in self.keys.terms]

    # --- strategies ------------------------------------------------------------------------------------------------------------

    def _build_inner(self, batches: Iterator[ColumnBatch]) -> Iterator[ColumnBatch]:
        if self.built is None and not self.is_too_large:
            try:
                vectors, count = self._stored_inner(self.settings.memory_budget)
                self.built = vectors, Lookup(self._key_vectors_inner(vectors), count, self.keys, self.asked)
            except TooLarge:
                self.is_too_large = True
        if self.built is None:
            yield from self._by_blocks(batches)
            return
        vectors, lookup = self.built
        for batch in batches:
            if not batch.count:
                continue
            outer_rows, inner_rows = lookup.pairs(self._key_vectors_outer(batch), batch.count)
            yield from self._emit(batch, outer_rows, vectors, inner_rows)

    def _emit(self, batch: ColumnBatch, outer_rows: Any, vectors: dict[Any, ColumnVector], inner_rows: Any) -> Iterator[ColumnBatch]:
        """Pairs of one outer batch, in order: match conditions, null rows, conditions."""
        if not self.is_left:
            if len(outer_rows):
                out = joined(batch, outer_rows, BuiltColumns(vectors, inner_rows))
                yield self.evaluator.select(self.pairs, out)
            return
        if self.pairs and len(outer_rows):
            out = joined(batch, outer_rows, BuiltColumns(vectors, inner_rows))
            keep = _passing(self.evaluator, self.pairs, out)
            outer_rows, inner_rows = outer_rows.take(keep), inner_rows.take(keep)
        seen = np.zeros(batch.count, bool)
        seen[outer_rows] = True
        lonely = np.flatnonzero(~seen)
        if len(lonely):
            outer_rows = np.concatenate([outer_rows, lonely])
            inner_rows = np.concatenate([inner_rows, np.full(len(lonely), -1, np.int64)])
            order = np.argsort(outer_rows, kind="stable")
            outer_rows, inner_rows = outer_rows.take(order), inner_rows.take(order)
        out = joined(batch, outer_rows, NullableBuiltColumns(vectors, inner_rows))
        yield self.evaluator.select(self.after, out)

    def _stream_inner(self, kept: KeptRows) -> Iterator[ColumnBatch]:
        """Build the outer, read the inner past it; all results are held and put in order at the end."""
        count = kept.count
        outer = kept.whole()
        lookup = Lookup(self._key_vectors_outer(outer), count, self.keys, self._inner_size())
        order = [(self.source, number) for number in self.keys.order] if self.ordered else []
        keep = {*self.inner_keep, *order}
        terms = [Term(OUTER_ROW), *[Term(key, descending, None, collation)
                                    for key, (descending, collation) in zip(order, self.keys.order_terms, strict=False)]]
        held = ExternalSort([OUTER_ROW, *keep], terms, self.settings.memory_budget // 3, self.settings.temp_store_directory)
        matched = np.zeros(count, bool)
        for batch in self._inner_batches(keep):
            vectors = [batch.column((self.source, number)) for number in self.keys.numbers]
            inner_rows, outer_rows = lookup.pairs(vectors, batch.count)
            if not len(inner_rows):
                continue
            part = batch.take(inner_rows)
            if self.own or self.pairs:
                pair = _paired(part, outer, outer_rows)
                chosen = _passing(self.evaluator, [*self.own, *self.pairs], pair)
                if len(chosen) < part.count:
                    part, outer_rows = part.take(chosen), outer_rows.take(chosen)
            if not part.count:
                continue
            if not self.ordered and not self.is_left:
                yield _paired(part, outer, outer_rows)
                continue
            matched[outer_rows] = True
            held.add({OUTER_ROW: integers(outer_rows), **stored(part, keep)}, part.count)
        yield from self._in_nested_order(outer, held, matched)

    def _in_nested_order(self, outer: ColumnBatch, held: ExternalSort, matched: Any) -> Iterator[ColumnBatch]:
        """The pairs found, by outer row; a left join puts the outer rows without partner between them."""
        behind = 0                                # the outer rows before this one are done
        for block in held.rows():
            outer_rows = block.pop(OUTER_ROW).flat().bits
            if not self.is_left:
                yield joined(outer, outer_rows, StoredColumns(block))
                continue
            last = int(outer_rows[-1])
            lonely = behind + np.flatnonzero(~matched[behind:last])
            behind = last
            inner_rows = np.concatenate([np.arange(len(outer_rows), dtype=np.int64), np.full(len(lonely), -1, np.int64)])
            outer_rows = np.concatenate([outer_rows, lonely])
            positions = np.argsort(outer_rows, kind="stable")
            out = joined(outer, outer_rows.take(positions), NullableColumns(block, inner_rows.take(positions)))
            yield self.evaluator.select(self.after, out)
        lonely = behind + np.flatnonzero(~matched[behind:])
        if self.is_left and len(lonely):
            missing = NullableColumns({key: concatenate([]) for key in self.inner_keep}, np.full(len(lonely), -1, np.int64))
            yield self.evaluator.select(self.after, joined(outer, lonely, missing))

    def _by_blocks(self, batches: Iterator[ColumnBatch]) -> Iterator[ColumnBatch]:
        """An inner that doesn't fit the memory budget: it is read anew for each block of outer rows that does."""
        kept = KeptRows(self.outer_keep)
        for batch in batches:
            if not batch.count:
                continue
            kept.add(batch)
            if kept.size + LOOKUP_BYTES * kept.count > self.settings.memory_budget // 3:
                yield from self._stream_inner(kept)
                kept = KeptRows(self.outer_keep)
        if kept.count:
            yield from self._stream_inner(kept)

    def _probe(self, kept: KeptRows) -> Iterator[ColumnBatch]:
        """Few outer rows: find their partners by seeks."""
        if kept.count > FEW_PROBES:
            outer = kept.whole()
            found = self._seek(outer)
            if found is not None:
                outer_rows, inner = found
                for start in range(0, max(1, len(outer_rows)), PROBED_ROWS):
                    yield from self._emit_probed(outer, outer_rows, inner, start)
                return
        for batch in kept.batches():
            yield from self._probe_by_rows(batch)

    def _emit_probed(self, outer: ColumnBatch, outer_rows: Any, inner: dict[Any, ColumnVector], start: int) -> Iterator[ColumnBatch]:
        """Pairs found by seeks, a block at a time; a left join needs all pairs of its outer rows at once."""
        if self.is_left:
            if start == 0:
                keep = _passing(self.evaluator, self.own, of_vectors(len(outer_rows), inner))
                yield from self._emit(outer, outer_rows.take(keep), inner, keep)
            return
        rows = np.arange(start, min(len(outer_rows), start + PROBED_ROWS), dtype=np.int64)
        pairs = joined(outer, outer_rows.take(rows), BuiltColumns(inner, rows))
        yield self.evaluator.select([*self.own, *self.pairs], pairs)

    def _seek(self, outer: ColumnBatch) -> tuple[Any, dict[Any, ColumnVector]] | None:
        """(outer rows, inner columns) of all pairs by key, in the order of nested loops; None: not that way."""
        if self.seeker is None:
            wanted = set(self.inner_keep)
            for condition in self.own:
                wanted |= bound.columns_of(condition)
            numbers = _own_columns(self.source, wanted)
            self.seeker = seeker_of(self.path, self.keys, numbers, self.activation)
        return self.seeker.pairs(self._key_vectors_outer(outer), outer.count)  # type: ignore[no-any-return]

    def _probe_by_rows(self, batch: ColumnBatch) -> Iterator[ColumnBatch]:
        """The row engine runs this level for each outer row."""
        outer_columns = tuple(bound.Column(source, number) for source, number in self.outer_keep)
        columns = tuple(bound.Column(source, number) for source, number in self.inner_keep)
        level = self.level
        alone = physical.Level(level.path, level.kind, level.match, level.conditions[:len(level.conditions) - len(self.costly)])
        if self.row_program is None:
            self.row_program = program_of(physical.Join((alone,), columns), outer_columns)
        keys = [batch.column(key).values() for key in self.outer_keep]
        outer_values = list(zip(*keys, strict=True)) if keys else [()] * batch.count
        outer_rows: list[int] = []
        found: list[tuple[Any, ...]] = []
        for position, values in enumerate(outer_values):
            for row in self.row_program.rows(self.activation, values):
                outer_rows.append(position)
                found.append(row)
        if found:
            inner = of_rows(found, columns) if columns else of_vectors(len(found), {})
            vectors = {key: inner.column(key) for key in self.inner_keep}
            yield joined(batch, np.array(outer_rows, np.int64), StoredColumns(vectors))

    def _multiply(self, batches: Iterator[ColumnBatch]) -> Iterator[ColumnBatch]:
        """No keys: every outer row with every inner row."""
        vectors, count = self._stored_inner()
        inner_rows = np.arange(count, dtype=np.int64)
        for batch in batches:
            step = max(1, BLOCK // max(1, count))
            for start in range(0, batch.count, step):
                part = batch.slice(start, min(batch.count, start + step)) if step < batch.count else batch
                outer_rows = np.repeat(np.arange(part.count, dtype=np.int64), count)
                yield from self._emit(part, outer_rows, vectors, np.tile(inner_rows, part.count))


def _passing(evaluator: Evaluator, conditions: list[Any], batch: ColumnBatch) -> Any:
    """Positions of the rows that pass all conditions."""
    numbered = ColumnVector(batch.count, 1, np.arange(batch.count, dtype=np.int64))
    batch.vectors["position"] = numbered
    return evaluator.select(conditions, batch).column("position").bits


def _paired(inner: ColumnBatch, outer: ColumnBatch, outer_rows: Any) -> ColumnBatch:
    """Inner rows of a batch beside rows of the kept outer."""
    parts: dict[Any, Any] = dict.fromkeys(inner.parts, BatchPart(inner))
    parts.update(dict.fromkeys(outer.parts, BatchPart(outer.take(outer_rows))))
    return ColumnBatch(inner.count, parts)

"""Access paths as generated loops: TableScan, RowidSearch, IndexSearch, MultiIndexOr.

A :class:`Loop` writes one level of a pipeline.  ``open`` emits what comes before and the ``for`` lines; afterwards ``decode(numbers)`` emits the
lines that make columns available, as late as the caller asks for them (conditions first); ``check`` emits the cursor rule's test at the end of the body.

Names: level 2 reads ``for b2 in s2: for k2, d2 in b2:``; ``k2`` rowid, ``d2`` record, ``e2`` index entry, ``c2_5`` column 5.
Record decoders are ``PrefixShapes`` (pages/record.py), one per set of columns that is decoded together.

Invariants
1. Values of search terms are evaluated once, before the loop, in index order.
2. For a nullable level the loop's last row is the null row, recognised by ``Loop.null_test``; all its columns are then set to None.
"""
from __future__ import annotations

from sqlvec.expr import bound
from sqlvec.pages.record import ENCODING_NAMES, PrefixShapes
from sqlvec.plan import physical
from sqlvec.resolve import resolve
from sqlvec.schema.objects import EXPRESSION, ROWID
from sqlvec.values.storage import AFFINITY_FUNCTIONS, REAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.exec.row.pipeline_source import Pipeline
    from sqlvec.expr.bound import Expression
    from sqlvec.schema.objects import Index, Table


class Loop:
    """One level of nested loops being written.  ``columns`` are the wanted column numbers, ``key`` the text of the row's identity."""

    def __init__(self, pipeline: Pipeline, path: physical.Path, number: int, columns: set[int], nullable: bool, unpack: bool = False) -> None:
        self.pipeline = pipeline
        self.path: Any = path
        self.number = number
        self.columns = columns
        self.nullable = nullable
        self.unpack = unpack
        self.decoded: set[int] = set()
        self.null_test = ""
        self.loops = 0
        self.break_ends = True

    # --- what subclasses do ------------------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Emit set-up and ``for`` lines."""
        raise NotImplementedError

    def decode(self, numbers: set[int]) -> None:
        """Emit the decoding of these columns."""
        raise NotImplementedError

    def check(self) -> None:
        """Emit the test for a changed tree at the end of the body."""

    def free_columns(self) -> set[int]:
        """Columns that cost nothing more (known from an index entry)."""
        return set()

    def identity(self) -> str:
        """Text of a value that identifies the current row."""
        return f"k{self.number}"

    # --- common ----------------------------------------------------------------------------------------------------------------------------

    def local(self, number: int) -> str:
        """The local variable of a column."""
        return f"k{self.number}" if number == ROWID else f"c{self.number}_{number}"

    def register(self, number: int, text: str, variable: str | None = None) -> None:
        """Make a column known to the emitter."""
        self.pipeline.emitter.columns[self.path.source, number] = (text, variable or text)
        self.decoded.add(number)

    def set_nulls(self) -> None:
        """All columns of the null row."""
        names = sorted({self.pipeline.emitter.columns[self.path.source, number][1] for number in self.columns if number in self.decoded}
                       | {self.local(number) for number in self.columns if number not in self.decoded})
        names = [name for name in names if name != f"k{self.number}" or self.null_test.split(" ")[0] != name]
        if names:
            self.pipeline.line(" = ".join(names) + " = None")


class TreeLoop(Loop):
    """Loops over rows that are records of a table: decoding of table columns."""

    table: Table

    def record_columns(self, numbers: set[int], payload: str, tag: str = "") -> None:
        """Decode stored columns of the table's record in ``payload``."""
        table = self.path.table
        alias = table.rowid_column
        is_rowid_table = not table.without_rowid
        wanted = set(numbers) - self.decoded
        if is_rowid_table:
            for number in (ROWID, alias):
                if number in wanted or number == ROWID:
                    self.register(number, f"k{self.number}")
            wanted -= {ROWID, alias}
        computed = sorted(number for number in wanted if table.fields[number] < 0)
        stored = sorted((number for number in wanted if table.fields[number] >= 0), key=lambda number: table.fields[number])
        base: dict[int, Any] = {}
        for number in computed:
            base[number] = self.pipeline.generated(table, number, self.path.source)
        for expression in base.values():
            for column in columns_in(expression, self.path.source):
                if column not in self.decoded and column not in stored:
                    if is_rowid_table and column in (ROWID, alias):
                        self.register(column, f"k{self.number}")
                    elif table.fields[column] >= 0:
                        stored.append(column)
        if stored:
            stored.sort(key=lambda number: table.fields[number])
            shapes = table_shapes(table, tuple(stored), self.pipeline)
            name = self.pipeline.emitter.constant(shapes, "shapes")
            names = [self.local(number) for number in stored]
            self.pipeline.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {name}[{payload}[:{shapes.width}]]({payload})")
            for number, local in zip(stored, names, strict=True):
                self.register(number, local)
        for number in computed:
            self.compute(number, base[number])

    def compute(self, number: int, expression: Expression, busy: tuple[int, ...] = ()) -> None:
        """Assign a VIRTUAL generated column (those it reads first)."""
        if number in self.decoded:
            return
        table = self.path.table
        for other in sorted(columns_in(expression, self.path.source)):
            if other >= 0 and table.fields[other] < 0 and other not in busy:
                self.compute(other, self.pipeline.generated(table, other, self.path.source), (*busy, number))
            elif other not in self.decoded:
                self.record_columns({other}, f"d{self.number}")
        emitter = self.pipeline.emitter
        emitter.cut(expression)
        convert = emitter.constant(AFFINITY_FUNCTIONS[table.columns[number].affinity], "f")
        self.pipeline.line(f"{self.local(number)} = {convert}({emitter.result(expression)})")
        self.register(number, self.local(number))


def columns_in(expression: Expression, source: int) -> set[int]:
    """Column numbers of one source that an expression reads."""
    return {number for found, number in bound.columns_of(expression) if found == source}


def table_shapes(table: Table, numbers: tuple[int, ...], pipeline: Pipeline) -> PrefixShapes:
    """Decoders of these columns (table column numbers) of a table's records."""
    fields = tuple(table.fields[number] for number in numbers)
    real = frozenset(table.fields[number] for number in numbers if table.columns[number].affinity == REAL)
    defaults = {table.fields[number]: pipeline.default_value(table, number) for number in numbers if table.columns[number].default is not None}
    return PrefixShapes(fields, ENCODING_NAMES[pipeline.emitter.encoding], real, defaults)


def index_fields(index: Index) -> dict[int, int]:
    """Table column number (or ROWID) -> field of the index record."""
    found: dict[int, int] = {}
    for field, column in enumerate(index.columns):
        if column.column != EXPRESSION:
            found.setdefault(column.column, field)
    if not index.table.without_rowid and index.table.rowid_column >= 0 and ROWID in found:
        found.setdefault(index.table.rowid_column, found[ROWID])
    return found


# --- rowid tables --------------------------------------------------------------------------------------------------------------------------


class TableScanLoop(TreeLoop):
    """Full scan of a rowid table."""

    def open(self) -> None:
        pipeline, number = self.pipeline, self.number
        tree = pipeline.table_tree(self.path.table)
        self.tree = tree
        cursor = pipeline.call("TableCursor")
        nullable = ", True" if self.nullable else ""
        pipeline.line(f"s{number} = {cursor}({tree}, None, None, {self.path.descending}, interrupt{nullable})")
        self._loops()

    def _loops(self) -> None:
        number = self.number
        self.pipeline.begin(f"for b{number} in s{number}:")
        self.pipeline.begin(f"for k{number}, d{number} in b{number}:")
        self.loops = 2
        self.null_test = f"d{number} is None"
        self.register(ROWID, f"k{number}")

    def decode(self, numbers: set[int]) -> None:
        self.record_columns(numbers, f"d{self.number}")

    def check(self) -> None:
        number = self.number
        self.pipeline.begin(f"if {self.tree}.write_count != s{number}.count:")
        self.pipeline.line(f"s{number}.seek_after(k{number})")
        self.pipeline.line("break")
        self.pipeline.end()


class RowidSearchLoop(TableScanLoop):
    """Rows by rowid: one, a list, or a range."""

    def open(self) -> None:
        pipeline, number, path = self.pipeline, self.number, self.path
        tree = self.tree = pipeline.table_tree(path.table)
        if path.key is not None and path.key.kind == "IN":
            lookup_all = pipeline.call("lookup_all")
            rowids = pipeline.call("rowids_in")
            values = in_values(pipeline, path.key)
            pipeline.begin(f"for k{number}, d{number} in {lookup_all}({tree}, {rowids}({values}, {path.descending}), {self.nullable}):")
        elif path.key is not None:
            name = "lookup_or_null" if self.nullable else "lookup"
            reader = pipeline.table_reader(path.table)
            value = "None" if path.key.expression is None else pipeline.value(path.key.expression)
            pipeline.begin(f"for k{number}, d{number} in {reader}.{name}({value}):")
        else:
            self._open_range(tree)
            self._loops()
            return
        self.loops = 1
        self.null_test = f"d{number} is None"
        self.register(ROWID, f"k{number}")

    def _open_range(self, tree: str) -> None:
        pipeline, number, path = self.pipeline, self.number, self.path
        texts = []
        for bound_, name in ((path.lower, "low_rowid"), (path.upper, "high_rowid")):
            if bound_ is None:
                texts.append("None")
            else:
                function = pipeline.call(name)
                texts.append(f"{function}({pipeline.value(bound_.expressions[0])}, {bound_.inclusive})")
        cursor = pipeline.call("rowid_cursor")
        nullable = ", True" if self.nullable else ""
        pipeline.line(f"s{number} = {cursor}({tree}, {texts[0]}, {texts[1]}, {path.descending}, interrupt{nullable})")

    def check(self) -> None:
        if self.loops == 2:
            super().check()


def in_values(pipeline: Pipeline, term: physical.KeyTerm) -> str:
    """Text of an iterable of the right-hand values of an IN term."""
    node = term.expression
    if isinstance(node, bound.InList):
        return "(" + "".join(f"{pipeline.value(item)}, " for item in node.items) + ")"
    assert isinstance(node, bound.InSubquery)
    return f"({pipeline.call('column_of')}({in_rows(pipeline, node)}, {term.number}))"


def in_rows(pipeline: Pipeline, node: bound.InSubquery) -> str:
    """Text of the rows of the sub-query of an IN."""
    emitter = pipeline.emitter
    evaluator = resolve("sqlvec.exec.row.subquery:rows_evaluator")(node.subquery)
    outer = resolve("sqlvec.expr.emit:outer_tuple")(emitter, node.subquery)
    return f"{emitter.constant(evaluator, 'subquery')}({emitter.activation()}, {outer})"


# --- indexes -------------------------------------------------------------------------------------------------------------------------------


class IndexLoop(TreeLoop):
    """Scan or search of an index, or of the tree of a WITHOUT ROWID table."""

    def open(self) -> None:
        pipeline, number, path = self.pipeline, self.number, self.path
        self.fields = index_fields(path.index)
        self.fetched = False
        self.entry = f"d{number}" if path.index.is_table_tree else f"e{number}"
        tree = self.tree = pipeline.index_tree(path.index)
        nullable = ", True" if self.nullable else ""
        if path.keys and path.lower is None and path.upper is None and all(term.kind == "=" for term in path.keys) and path.null_scan is None:
            reader = pipeline.index_reader(path.index, len(path.keys), path.descending)
            key = "".join(f"{self._term_value(term)}, " for term in path.keys)
            pipeline.line(f"s{number} = {reader}.open(({key}){nullable})")
        else:
            cursor = pipeline.call("IndexCursor")
            ranges = self._ranges()
            pipeline.line(f"s{number} = {cursor}({tree}, {ranges}, {path.descending}, interrupt{nullable})")
        pipeline.begin(f"for b{number} in s{number}:")
        pipeline.begin(f"for {self.entry} in b{number}:")
        self.loops = 2
        self.null_test = f"{self.entry} is None"

    # --- ranges ----------------------------------------------------------------------------------------------------------------------------

    def _ranges(self) -> str:
        pipeline, number, path = self.pipeline, self.number, self.path
        keys = path.keys
        if not keys and path.lower is None and path.upper is None and path.null_scan is None:
            return "((None, None),)"
        groups, simple, skipped = self._groups()
        only_not_null = path.lower is not None and path.lower.after_nulls
        low, low_inclusive = ("None", False) if only_not_null else self._bound(path.lower)
        high, high_inclusive = self._bound(path.upper)
        position = len(keys)
        is_descending = position < len(path.index.columns) and path.index.columns[position].descending
        skip_null = only_not_null or (path.lower is None and path.upper is not None) or path.null_scan is not None
        tail = f"{low}, {low_inclusive}, {high}, {high_inclusive}, {is_descending}, {skip_null}"
        if simple is not None:
            values, nullable = simple
            names = []  # type: ignore[var-annotated]
            for value in values:
                name = f"v{number}_{len(names)}"
                pipeline.line(f"{name} = {value}")
                names.append(name)
            prefix = "(" + "".join(f"{name}, " for name in names) + ")"
            empty = " or ".join(f"v{number}_{place} is None" for place in nullable)
            if low == high == "None" and not skip_null:
                ranges = f"((({prefix}), False), (({prefix}), True)),"
                return f"() if {empty} else ({ranges})" if empty else f"({ranges})"
            prefixes = f"(() if {empty} else ({prefix},))" if empty else f"({prefix},)"
        elif skipped:
            skip = pipeline.call("skip_prefixes")
            prefixes = f"{skip}({self.tree}, {skipped}, {groups}, {path.descending})"
        else:
            prefixes = f"{pipeline.call('cross')}({groups})"
        ranges_of = pipeline.call("ranges_of")
        if path.null_scan is not None and path.lower is None and path.upper is None:       # a bound excludes NULLs
            pipeline.line(f"x{number} = list({prefixes})")
            null_ranges = pipeline.call("null_ranges")
            return f"{null_ranges}({ranges_of}(x{number}, {tail}), x{number}, {path.null_scan == 'last'})"
        return f"{ranges_of}({prefixes}, {tail})"

    def _groups(self) -> tuple[str, tuple[list[str], list[int]] | None, int]:
        """(text of the tuple of groups, or for plain equalities (value texts, places that must not be NULL), number of skipped fields)."""
        pipeline, path = self.pipeline, self.path
        keys = path.keys
        skipped = 0
        while skipped < len(keys) and keys[skipped].kind == "ANY":
            skipped += 1
        plain = all(term.kind in ("=", "IS", "NULL") for term in keys)
        values: list[str] = []
        not_null: list[int] = []
        if plain:
            for place, term in enumerate(keys):
                values.append("None" if term.kind == "NULL" else self._term_value(term))
                if term.kind == "=":
                    not_null.append(place)
            return "", (values, not_null), 0
        groups = []
        done: set[int] = set()
        for place in range(skipped, len(keys)):
            term = keys[place]
            if place in done:
                continue
            if term.kind == "IN":
                groups.append(self._in_group(place, done))
                continue
            value = "None" if term.kind == "NULL" else self._term_value(term)
            groups.append(f"{pipeline.call('alternative')}({value}, {term.kind == '='})")
        return "(" + "".join(f"{group}, " for group in groups) + ")", None, skipped

    def _term_value(self, term: physical.KeyTerm) -> str:
        assert term.expression is not None
        return self.pipeline.applied(term.expression, term.applied)

    def _in_group(self, place: int, done: set[int]) -> str:
        """An IN term, or all terms of one row-value IN, as a list of key tuples."""
        pipeline, path = self.pipeline, self.path
        emitter = pipeline.emitter
        term = path.keys[place]
        same = [place]
        if isinstance(term.expression, bound.InSubquery) and len(term.expression.operands) > 1:
            same = [other for other in range(place, len(path.keys)) if path.keys[other].expression is term.expression]
        columns = path.index.columns
        turned = [bool(path.descending) is not bool(columns[other].descending) for other in same]
        collations = [emitter.constant(emitter.collation(columns[other].collation)) for other in same]
        done.update(same)
        if len(same) == 1:
            function = pipeline.call("key_values")
            values = in_values(pipeline, term)
            made = f"{function}({values}, {term.applied!r}, {collations[0]}, {turned[0]})"
            return f"{pipeline.call('as_rows')}({made})"
        node = term.expression
        assert isinstance(node, bound.InSubquery)
        picks = tuple(path.keys[other].number for other in same)
        rows = f"{pipeline.call('columns_of_rows')}({in_rows(pipeline, node)}, {picks!r})"
        affinities = tuple(path.keys[other].applied for other in same)
        function = pipeline.call("key_rows")
        return f"{function}({rows}, {affinities!r}, ({', '.join(collations)},), {tuple(turned)!r})"

    def _bound(self, edge: physical.RangeBound | None) -> tuple[str, bool]:
        if edge is None:
            return "None", False
        applied = edge.applied if len(edge.applied) == len(edge.expressions) else (edge.applied or (None,)) * len(edge.expressions)
        texts = [self.pipeline.applied(expression, affinity) for expression, affinity in zip(edge.expressions, applied, strict=False)]
        return "(" + "".join(f"{text}, " for text in texts) + ")", edge.inclusive

    # --- columns ---------------------------------------------------------------------------------------------------------------------------

    def free_columns(self) -> set[int]:
        if self.path.index.is_table_tree:
            return set()
        return set(self.fields)

    def decode(self, numbers: set[int]) -> None:
        path, number = self.path, self.number
        wanted = numbers - self.decoded
        if path.index.is_table_tree:
            self.record_columns(wanted, f"d{number}")
            return
        from_entry = {column for column in wanted if column in self.fields}
        needs_table = bool(wanted - from_entry)
        if needs_table and not self.fetched:
            if path.table.without_rowid:
                from_entry |= {column for column in path.table.primary_key if column not in self.decoded}
            elif ROWID not in self.decoded:
                from_entry.add(ROWID)
        if from_entry:
            self._decode_entry(from_entry)
        if needs_table:
            self._fetch()
            self.record_columns(wanted - self.decoded, f"d{number}")

    def _decode_entry(self, numbers: set[int]) -> None:
        pipeline, index = self.pipeline, self.path.index
        alias = self.path.table.rowid_column
        ordered = sorted({ROWID if number == alias and not self.path.table.without_rowid else number for number in numbers} - self.decoded,
                         key=lambda number: self.fields[number])
        if ordered:
            fields = tuple(self.fields[number] for number in ordered)
            columns = self.path.table.columns
            real = frozenset(self.fields[number] for number in ordered if number >= 0 and columns[number].affinity == REAL)
            shapes = PrefixShapes(fields, ENCODING_NAMES[pipeline.emitter.encoding], real)
            name = pipeline.emitter.constant(shapes, "shapes")
            names = [self.local(number) for number in ordered]
            entry = self.entry
            pipeline.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {name}[{entry}[:{shapes.width}]]({entry})")
            if ROWID in ordered:                       # a damaged entry may end with anything
                pipeline.line(f"if type({self.local(ROWID)}) is not int: raise {pipeline.call('corrupt')}()")
            for number, local in zip(ordered, names, strict=True):
                self.register(number, local)
        if alias in numbers and not self.path.table.without_rowid and index is not None:
            self.register(alias, f"k{self.number}")

    def _fetch(self) -> None:
        """Read the table's row for the index entry."""
        if self.fetched:
            return
        self.fetched = True
        pipeline, number, table = self.pipeline, self.number, self.path.table
        if table.without_rowid:
            reader = pipeline.key_reader(table)
            key = "".join(f"{self.local(column)}, " for column in key_order(table))
            pipeline.line(f"d{number} = {reader}.get(({key}))")
        else:
            reader = pipeline.table_reader(table)
            pipeline.line(f"d{number} = {reader}.get(k{number})")
            pipeline.line(f"if d{number} is None: raise {pipeline.call('corrupt')}()")

    def identity(self) -> str:
        table = self.path.table
        if not table.without_rowid:
            if ROWID not in self.decoded:
                self.decode({ROWID})
            return f"k{self.number}"
        missing = set(key_order(table)) - self.decoded
        if missing:
            self.decode(missing)
        return "(" + "".join(f"{self.local(column)}, " for column in key_order(table)) + ")"

    def check(self) -> None:
        number = self.number
        self.pipeline.begin(f"if {self.tree}.write_count != s{number}.count:")
        self.pipeline.line(f"s{number}.seek_after({self.entry})")
        self.pipeline.line("break")
        self.pipeline.end()


def key_order(table: Table) -> tuple[int, ...]:
    """Key columns of a WITHOUT ROWID table in the order of its tree."""
    index = table.key_index
    assert index is not None
    return tuple(column.column for column in index.columns[: index.key_count])


# --- OR ------------------------------------------------------------------------------------------------------------------------------------


class MultiIndexOrLoop(TreeLoop):
    """Several searches of one table; a row already delivered by an earlier one is skipped."""

    def open(self) -> None:
        pipeline, number, path = self.pipeline, self.number, self.path
        branches = [pipeline.branch(branch, condition, number) for branch, condition in path.branches]
        chain = pipeline.call("chain_rows")
        unique = pipeline.call("unique_rows")
        rows = f"{unique}(set(), {chain}(({''.join(branch + ', ' for branch in branches)})))"
        if self.nullable:
            rows = f"{pipeline.call('with_null_row')}({rows}, (None, None))"
        pipeline.begin(f"for k{number}, d{number} in {rows}:")
        self.loops = 1
        self.null_test = f"d{number} is None"
        if not path.table.without_rowid:
            self.register(ROWID, f"k{number}")

    def decode(self, numbers: set[int]) -> None:
        self.record_columns(numbers, f"d{self.number}")


LOOPS: dict[str, Any] = {
    "TableScan": "sqlvec.exec.row.scan:TableScanLoop",
    "RowidSearch": "sqlvec.exec.row.scan:RowidSearchLoop",
    "IndexSearch": "sqlvec.exec.row.scan:IndexLoop",
    "MultiIndexOr": "sqlvec.exec.row.scan:MultiIndexOrLoop",
    "AutomaticIndex": "sqlvec.exec.row.join:AutomaticIndexLoop",
    "QueryScan": "sqlvec.exec.row.join:QueryScanLoop",
    "RecursiveScan": "sqlvec.exec.row.recursive:RecursiveScanLoop",
    "VtabScan": "sqlvec.exec.row.vtab_scan:VtabScanLoop",
}

"""The fast road of INSERT: one generated function per statement that stores a plain row.

``insert(p)`` takes the row of values (or the statement's parameters), does affinities, NOT NULL, STRICT types, CHECKs and uniqueness, encodes the record and
stores it with its index entries.  It returns the rowid, or None *before it has changed anything* for every row that is not plain: a constraint that fails, a
rowid that must be converted, text that isn't valid Unicode.  Such a row goes through ``insert.insert_row``, which knows all the rules and raises all errors.

It serves the statements that plan/dml.py marks ``is_plain``.  Names in the generated code: ``p`` the values, ``v3`` column 3, ``h3`` and ``b3`` its serial
type and body, ``u0`` the tree of index 0.
"""
from __future__ import annotations

from struct import Struct

from sqlvec.exec.dml.constraints import STRICT_TYPES
from sqlvec.exec.dml.index_entries import is_true
from sqlvec.expr.bound import Literal, Parameter
from sqlvec.expr.compile import run_source
from sqlvec.pages.record import encode
from sqlvec.values.storage import BLOB, REAL, TEXT, to_numeric_affinity, to_real_affinity, to_text_affinity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sqlvec.exec.dml.table_writer import TableWriter
    from sqlvec.plan.physical_dml import Insert

_ONE_BYTE = [bytes(((value + 256) & 255,)) for value in range(-128, 128)]


class FastInsert:
    """The generated code of one statement.  ``bind(writer)`` gives ``insert(p)`` for the trees of a run."""

    __slots__ = ("from_parameters", "insert", "make", "trees")

    def __init__(self, node: Insert, writer: TableWriter) -> None:
        self.from_parameters = node.is_atomic or (node.value_rows is not None and len(node.value_rows) == 1)
        self.trees: tuple[Any, ...] = ()
        self.insert: Any = None
        self.make = _Source(node, writer, self.from_parameters).build()

    def bind(self, trees: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], int | None]:
        """``insert(p)`` for the trees of this run (the table's first); the last one is kept."""
        if trees != self.trees:
            self.insert = self.make(*trees)
            self.trees = trees
        return self.insert  # type: ignore[no-any-return]


class _Source:
    """Writes the generated module."""

    def __init__(self, node: Insert, writer: TableWriter, from_parameters: bool) -> None:
        self.node = node
        self.writer = writer
        self.table = node.write.table
        self.from_parameters = from_parameters
        self.lines: list[str] = []
        self.stores: list[str] = []
        self.scope: dict[str, Any] = {
            "one_byte": _ONE_BYTE, "pack_double": Struct(">d").pack, "encode": encode, "to_text": to_text_affinity, "to_number": to_numeric_affinity,
            "to_real": to_real_affinity, "is_true": is_true, "pack_h": Struct(">h").pack, "pack_i": Struct(">i").pack,
        }

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def build(self) -> Any:
        trees = "".join(f", u{position}" for position in range(len(self.writer.trees)))
        self.add(0, f"def make(tree{trees}):")
        self.add(1, "store = tree.insert")
        self.add(1, "max_rowid = tree.max_rowid")
        for position, entry in enumerate(self.writer.entries):
            if entry.is_unique:
                self.add(1, f"find{position} = u{position}.contains_prefix")
            self.add(1, f"store{position} = u{position}.insert")
        self.add(1, "def insert(p):")
        self._rowid()
        for number in range(len(self.table.columns)):
            if number != self.table.rowid_column:
                self._column(number)
        self._checks()
        self._indexes()
        self._record()
        self.add(2, "store(rowid, payload)")
        self.add(2, "return rowid")
        self.add(1, "return insert")
        return run_source(self.lines, self.scope, "make")

    # --- values ------------------------------------------------------------------------------------------------------------------

    def value(self, position: int) -> tuple[str, Any]:
        """(source text, literal or NotImplemented) of the value for an image position."""
        place = self.node.targets[position]
        if place < 0:
            default = self.node.write.defaults[position] if position < len(self.table.columns) else None
            return self._constant(position, default.value if isinstance(default, Literal) else None)
        if self.from_parameters:
            assert self.node.value_rows is not None
            expression = self.node.value_rows[0][place]
            if isinstance(expression, Literal):
                return self._constant(position, expression.value)
            assert isinstance(expression, Parameter)
            return f"p[{expression.index - 1}]", NotImplemented
        return f"p[{place}]", NotImplemented

    def _constant(self, position: int, value: Any) -> tuple[str, Any]:
        if value is None:
            return "None", None
        name = f"k{position}"
        self.scope[name] = value
        return name, value

    def _rowid(self) -> None:
        alias = self.table.rowid_column
        position = alias if alias >= 0 and self.node.targets[alias] >= 0 else len(self.table.columns)
        text, constant = self.value(position)
        self.add(2, "last = max_rowid()")
        if constant is None:
            self.add(2, "rowid = 1 if last is None else last + 1")
        else:
            self.add(2, f"rowid = {text}")
            self.add(2, "if rowid.__class__ is not int:")
            self.add(3, "if rowid is not None: return None")
            self.add(3, "rowid = 1 if last is None else last + 1")
            self.add(2, "elif last is not None and rowid <= last and tree.contains(rowid): return None")
        self.add(2, "if not -9223372036854775808 <= rowid <= 9223372036854775807: return None")

    def _column(self, number: int) -> None:
        column = self.table.columns[number]
        text, _ = self.value(number)
        name = f"v{number}"
        self.add(2, f"{name} = {text}")
        if column.not_null is not None:
            self.add(2, f"if {name} is None: return None")
        affinity = column.affinity
        if affinity == TEXT:
            self.add(2, f"if {name}.__class__ is not str and {name} is not None: {name} = to_text({name})")
        elif affinity == REAL:
            self.add(2, f"if {name}.__class__ is not float and {name} is not None: {name} = to_real({name})")
        elif affinity != BLOB:
            self.add(2, f"if {name}.__class__ is not int and {name} is not None: {name} = to_number({name})")
        if self.table.strict:
            allowed = STRICT_TYPES.get(column.declared_type.upper())
            if allowed is not None:
                self.add(2, f"if {name} is not None and {name}.__class__ is not {allowed[0].__name__}: return None")

    def _checks(self) -> None:
        checks = self.writer.constraints.checks
        if not checks:
            return
        alias = self.table.rowid_column
        image = "".join(f"{'rowid' if number == alias else f'v{number}'}, " for number in range(len(self.table.columns)))
        self.add(2, f"image = ({image}rowid)")
        for position, (function, _) in enumerate(checks):
            self.scope[f"check{position}"] = function
            self.add(2, f"c = check{position}(image)[0]")
            self.add(2, "if c is not None and not is_true(c): return None")

    # --- storing -----------------------------------------------------------------------------------------------------------------

    def _stored(self, number: int) -> None:
        """REAL columns keep integral values as integers; NaN is NULL."""
        if self.table.columns[number].affinity == REAL:
            name = f"v{number}"
            self.add(2, f"if {name}.__class__ is float and -140737488355328.0 < {name} < 140737488355328.0 and {name} == int({name}): {name} = int({name})")

    def _indexes(self) -> None:
        for number, _ in enumerate(self.table.columns):
            if number != self.table.rowid_column:
                self._stored(number)
        keys = []
        for position, entry in enumerate(self.writer.entries):
            fields = [f"v{place}" if place >= 0 else "rowid" for place in entry.positions]
            keys.append("(" + "".join(f"{field}, " for field in fields) + ")")
            if entry.is_unique:
                self._uniqueness(position, fields[: entry.key_count])
        options = f"{self.writer.codec.encoding!r}, {self.writer.codec.schema_format}"
        for position, key in enumerate(keys):
            self.add(2, f"e{position} = {key}")
            self.add(2, f"x{position} = encode(e{position}, {options})")
        self.stores = [f"store{position}(x{position}, e{position})" for position in range(len(keys))]

    def _uniqueness(self, position: int, fields: list[str]) -> None:
        names = [field for field in fields if field != "rowid"]
        test = f"find{position}(({''.join(f'{field}, ' for field in fields)})) is not None"
        condition = " and ".join([*(f"{name} is not None" for name in names), test])
        self.add(2, f"if {condition}: return None")

    def _record(self) -> None:
        """The record, composed inline where every value is of a common kind, else by ``encode``."""
        alias = self.table.rowid_column
        fields = ["None" if number == alias else f"v{number}" for number in self.writer.codec.fields]
        codec = self.writer.codec
        if codec.encoding != "utf-8" or codec.schema_format < 4 or len(fields) > 60:
            self.add(2, f"payload = encode(({''.join(f'{field}, ' for field in fields)}), {codec.encoding!r}, {codec.schema_format})")
        else:
            self._inline_record(fields)
        for line in self.stores:
            self.add(2, line)

    def _inline_record(self, fields: list[str]) -> None:
        heads: list[str] = [str(len(fields) + 1)]
        bodies: list[str] = []
        self.add(2, "while True:")
        for field in fields:
            if field == "None":
                heads.append("0")
                continue
            head, body = "h" + field[1:], "b" + field[1:]
            heads.append(head)
            bodies.append(body)
            self.add(3, f"if {field}.__class__ is str:")
            self.add(4, "try:")
            self.add(5, f"{body} = {field}.encode()")
            self.add(4, "except UnicodeEncodeError:")
            self.add(5, "payload = None")
            self.add(5, "break")
            self.add(4, f"{head} = len({body}) * 2 + 13")
            self.add(4, f"if {head} > 127:")
            self.add(5, "payload = None")
            self.add(5, "break")
            self.add(3, f"elif {field}.__class__ is int:")
            self.add(4, f"if -128 <= {field} <= 127:")
            self.add(5, f"if {field} == 0 or {field} == 1: {head} = 8 + {field}; {body} = b''")
            self.add(5, f"else: {head} = 1; {body} = one_byte[{field} + 128]")
            self.add(4, f"elif -32768 <= {field} <= 32767: {head} = 2; {body} = pack_h({field})")
            self.add(4, f"elif -8388608 <= {field} <= 8388607: {head} = 3; {body} = {field}.to_bytes(3, 'big', signed=True)")
            self.add(4, f"elif -2147483648 <= {field} <= 2147483647: {head} = 4; {body} = pack_i({field})")
            self.add(4, "else:")
            self.add(5, "payload = None")
            self.add(5, "break")
            self.add(3, f"elif {field}.__class__ is float and {field} == {field}: {head} = 7; {body} = pack_double({field})")
            self.add(3, f"elif {field} is None: {head} = 0; {body} = b''")
            self.add(3, "else:")
            self.add(4, "payload = None")
            self.add(4, "break")
        joined = " + ".join([f"bytes(({', '.join(heads)},))", *bodies])
        self.add(3, f"payload = {joined}")
        self.add(3, "break")
        codec = self.writer.codec
        self.add(2, f"if payload is None: payload = encode(({''.join(f'{field}, ' for field in fields)}), {codec.encoding!r}, {codec.schema_format})")

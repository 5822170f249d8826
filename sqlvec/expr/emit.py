"""Bound expressions to Python source.

Idea: every kind of bound expression has a row in ``VALUE`` (how to emit its SQL value) and perhaps one in ``TRUTH`` (how to emit a test that is
truthy exactly when the expression is TRUE, or exactly when it is FALSE).  The source is one Python expression per bound expression; fast paths
for the common classes stand inline and general cases are calls into ``expr.operations``, ``values`` and the functions themselves.

Names in generated source: ``c1_3`` column 3 of the second loop, ``r`` an input row, ``o`` the outer values, ``t7`` a temporary, ``p2`` a
parameter, ``const5`` a constant object, ``f4`` a function, ``part9`` a sub-expression that is a function of its own.  Text of the user never
gets into the source: strings are constants.

Invariants
1. A temporary is assigned before it is read in Python's order of evaluation, whatever branch is taken.
2. Operands are evaluated once, in SQLite's order; operands that may raise or are volatile are evaluated even where the result is already known,
   except in CASE, COALESCE, IFNULL, IIF, IN lists and conditions, which stop early as SQLite does.
3. A node deeper than ``DEPTH_LIMIT`` below its nearest cut is emitted as a function of its own (``Emitter.cut``), from the leaves up, without
   recursion over the whole depth: expressions may be 1,000 deep, and CPython's parser takes 200 nested parentheses.
4. JsonText leaves an expression only through ``value`` into a function that wants it; ``result`` strips it.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.expr import bound, operations
from sqlvec.resolve import resolve
from sqlvec.values import arithmetic, storage
from sqlvec.values import text as text_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from sqlvec.expr.bound import Column, Expression, Subquery
    from sqlvec.values.compare import Collation, Collations

DEPTH_LIMIT = 8
LONG_CASE = 16
ALL = "nirtb"
_LIMIT = "-9223372036854775808 <= {0} <= 9223372036854775807"
_LAZY = frozenset(("coalesce", "ifnull", "iif"))
_TRANSPARENT = frozenset(("likely", "unlikely", "likelihood"))
_NUMERIC_AFFINITIES = (storage.NUMERIC, storage.INTEGER, storage.REAL)


class Operand:
    """An emitted operand: ``first`` evaluates it, ``again`` reads it afterwards; ``kinds`` its possible classes (letters n i r t b);
    ``hint`` its likely class or ''; ``literal`` says that ``value`` is its constant value; ``is_total``: cannot raise."""

    __slots__ = ("again", "first", "hint", "is_total", "kinds", "literal", "value")

    def __init__(self, first: str, again: str, kinds: str, hint: str = "", is_total: bool = True) -> None:
        self.first = first
        self.again = again
        self.kinds = kinds
        self.hint = hint
        self.is_total = is_total
        self.literal = False
        self.value: Any = None


def literal_kind(value: Any) -> str:
    """The class letter of a constant."""
    if value is None:
        return "n"
    kind = type(value)
    return "i" if kind is int else "r" if kind is float else "b" if kind is bytes else "t"


class Emitter:
    """The state of emitting one generated function (or a family of nested ones).

    ``columns``: (source, number) -> (text, variable that the text reads); ``outer``: the same for values of enclosing queries.
    ``scope``: the globals of the generated module.  ``bindings``: lines of the prologue by the name they bind; ``functions``: lines that define the
    cut functions.  ``subqueries``: the sub-queries met (their evaluators need the activation)."""

    def __init__(self, collations: Collations, encoding: int = text_module.UTF8) -> None:
        self.collations = collations
        self.encoding = encoding
        self.columns: dict[tuple[int, int], tuple[str, str]] = {}
        self.scope: dict[str, Any] = {}
        self.bindings: dict[str, str] = {}
        self.functions: list[str] = []
        self.uses_activation = False
        self.hoists = False
        self.calls_user_code = False
        self._names: dict[int, str] = {}
        self._keep: list[Any] = []
        self._counter = 0
        self._cut: dict[int, str] = {}
        self._cut_kept: list[Any] = []
        self._reads: set[str] | None = None

    # --- names -------------------------------------------------------------------------------------------------------------------

    def temporary(self) -> str:
        """A new local name."""
        self._counter += 1
        return f"t{self._counter}"

    def constant(self, value: Any, prefix: str = "const") -> str:
        """A global name for an object."""
        name = self._names.get(id(value))
        if name is None:
            self._counter += 1
            name = f"{prefix}{self._counter}"
            self._names[id(value)] = name
            self._keep.append(value)
            self.scope[name] = value
        return name

    def named(self, name: str, value: Any) -> str:
        """A global under a fixed name (functions of this package)."""
        self.scope[name] = value
        return name

    def operation(self, name: str) -> str:
        """A function of expr.operations or values.arithmetic by its own name."""
        if name not in self.scope:
            function = getattr(operations, name, None) or getattr(arithmetic, name, None) or getattr(storage, name)
            if self.encoding != text_module.UTF8 and name in arithmetic.READ_BLOBS:
                function = arithmetic.for_encoding(function, self.encoding)
            self.scope[name] = function
        return name

    def literal(self, value: Any) -> str:
        """Source text of a constant.  Nearly all are names, so that statements that differ in their literals only have the same source and share
        its code (``compile.run_source``)."""
        if value is None:
            return "None"
        if type(value) is int and (value == 0 or value == 1):
            return str(value)
        return self.constant(value, "text" if type(value) is str else "const")

    def set_layout(self, layout: Iterable[Column], row: str = "r") -> None:
        """The input row ``row`` has these columns."""
        for index, column in enumerate(layout):
            self.columns.setdefault((column.source, column.number), (f"{row}[{index}]", row))

    def set_outer(self, columns: Iterable[Column], name: str = "o") -> None:
        """Values of enclosing queries are in the tuple ``name`` in this order."""
        self.set_layout(columns, name)

    def collation(self, name: str | None) -> Collation:
        """The collation bound to this connection."""
        found = self.collations.lookup(name)
        if found is None:
            raise errors.no_such_collation(name or "")
        return found

    # --- the three forms -----------------------------------------------------------------------------------------------------------

    def value(self, node: Expression) -> str:
        """Source of the SQL value."""
        call = self._cut.get(id(node))
        if call is not None:
            self._note_reads(call)
            return call
        name = type(node).__name__
        if self.hoists and name in _HOISTED and _is_fixed(node):
            self.hoists = False
            text = VALUE[name](self, node)
            self.hoists = True
            return _hoist(self, text)
        return VALUE[name](self, node)

    def result(self, node: Expression) -> str:
        """Source of the value as it may leave the expression: no JSON subtype."""
        text = self.value(node)
        return f"{self.operation('plain')}({text})" if may_be_json(node) else text

    def truth(self, node: Expression, wanted: bool = True) -> str:
        """Source that is truthy exactly when the value is TRUE (``wanted``) or FALSE (not ``wanted``)."""
        if id(node) not in self._cut:
            emit = TRUTH.get(type(node).__name__)
            if emit is not None:
                return emit(self, node, wanted)
        return self.truth_of(self.value(node), kinds_of(node), wanted)

    def truth_of(self, text: str, kinds: str, wanted: bool) -> str:
        """A truth test of an emitted value."""
        if "t" in kinds or "b" in kinds:
            return f"{self.operation('is_true' if wanted else 'is_false')}({text})"
        return text if wanted else f"({text} == 0)"

    def operand(self, node: Expression, text: str | None = None) -> Operand:
        """An operand that is used more than once."""
        if text is not None:
            return Operand(text, text, kinds_of(node), hint_of(node))
        if isinstance(node, bound.Unary) and node.operator == "-" and isinstance(node.operand, bound.Literal) \
                and type(node.operand.value) in (int, float):
            node = bound.Literal(arithmetic.negate(node.operand.value))
        if isinstance(node, bound.Literal):
            source = self.literal(node.value)
            operand = Operand(source, source, literal_kind(node.value), literal_kind(node.value))
            operand.literal = True
            operand.value = node.value
            return operand
        source = self.result(node)
        if source.isidentifier():
            return Operand(source, source, kinds_of(node), hint_of(node))
        name = self.temporary()
        return Operand(f"({name} := {source})", name, kinds_of(node), hint_of(node), is_total(node))

    # --- columns, parameters -------------------------------------------------------------------------------------------------------

    def column(self, node: Column) -> str:
        """The text of a column of the input row or of an enclosing query."""
        found = self.columns.get((node.source, node.number))
        if found is None:
            raise AssertionError(f"column {node.source}.{node.number} ({node.name}) is not in the layout")
        text, variable = found
        if self._reads is not None:
            self._reads.add(variable)
        return text

    def _note_reads(self, call: str) -> None:
        if self._reads is not None:
            inside = call[call.index("(") + 1 : -1]
            self._reads.update(name.strip() for name in inside.split(",") if name.strip())

    def bind_line(self, name: str, line: str) -> str:
        """Bind a name in the prologue."""
        self.bindings.setdefault(name, line)
        return name

    def parameter(self, index: int) -> str:
        self.bind_line("P", "P = ctx.parameters")
        return self.bind_line(f"p{index}", f"p{index} = P[{index - 1}] if len(P) > {index - 1} else None")

    def function_context(self) -> str:
        return self.bind_line("fctx", "fctx = ctx.function_context")

    def activation(self) -> str:
        """The activation's name in the generated source."""
        self.uses_activation = True
        return "act"

    # --- cutting deep expressions ----------------------------------------------------------------------------------------------------

    def cut(self, node: Expression) -> None:
        """Emit deep parts of an expression as functions of their own, leaves first (invariant 3)."""
        depths: dict[int, int] = {}
        stack: list[tuple[Expression, bool]] = [(node, False)]
        while stack:
            current, is_ready = stack.pop()
            key = id(current)
            if key in depths or key in self._cut:
                continue
            below = parts(current)
            if not is_ready:
                if not below:
                    depths[key] = 0
                    continue
                stack.append((current, True))
                stack.extend((part, False) for part in below)
                continue
            depth = 1 + max(depths.get(id(part), 0) for part in below)
            if depth >= DEPTH_LIMIT and current is not node:
                self._make_part(current)
                depth = 0
            depths[key] = depth

    def _make_part(self, node: Expression) -> None:
        saved, self._reads = self._reads, set()
        body = VALUE[type(node).__name__](self, node)
        names = sorted(self._reads)
        self._reads = saved
        self._counter += 1
        name = f"part{self._counter}"
        self.functions.append(f"def {name}({', '.join(names)}): return {body}")
        self._cut[id(node)] = f"{name}({', '.join(names)})"
        self._cut_kept.append(node)

    def statement_function(self, make: Callable[[], list[str]]) -> str:
        """A function with several statements (long CASE): ``make`` emits its body lines; returns the call."""
        saved, self._reads = self._reads, set()
        lines = make()
        names = sorted(self._reads)
        if saved is not None:
            saved.update(names)
        self._reads = saved
        self._counter += 1
        name = f"part{self._counter}"
        self.functions.append(f"def {name}({', '.join(names)}):")
        self.functions.extend("    " + line for line in lines)
        return f"{name}({', '.join(names)})"

    def prologue(self) -> list[str]:
        """The lines before the body: bindings, then cut functions."""
        return [*self.bindings.values(), *self.functions]


def base_of(node: bound.Case) -> Expression:
    """The base of a CASE, as its comparisons have it (rewriting changes them, not ``node.base``)."""
    return node.whens[0].left  # type: ignore[attr-defined, no-any-return]


def parts(node: Expression) -> list[Expression]:
    """The sub-expressions that are emitted as values of their own (a shared operand once)."""
    if isinstance(node, bound.Between):
        return [node.low.left, node.low.right, node.high.right]
    if isinstance(node, bound.Case):
        found: list[Expression] = []
        if node.base is not None:
            found.append(base_of(node))
            found.extend(when.right for when in node.whens)  # type: ignore[attr-defined]
        else:
            found.extend(node.whens)
        found.extend(node.thens)
        if node.otherwise is not None:
            found.append(node.otherwise)
        return found
    if isinstance(node, bound.RowCompare):
        return [side for pair in node.comparisons for side in (pair.left, pair.right)]
    return list(node.children())


# --- what is known about an expression without running it ---------------------------------------------------------------------------

_BOOLEAN = frozenset(("Compare", "RowCompare", "And", "Or", "IsNull", "IsTruth", "Between", "InList", "InSubquery", "Exists"))


def kinds_of(node: Expression) -> str:
    """The classes a value may have, as letters."""
    name = type(node).__name__
    if name == "Literal":
        return literal_kind(node.value)  # type: ignore[attr-defined]
    if name == "Column":
        kinds = "ni" if _is_rowid(node) else ALL  # type: ignore[arg-type]
        return kinds.replace("n", "") if node.not_null else kinds  # type: ignore[attr-defined]
    if name in ("IsNull", "IsTruth", "Exists"):
        return "i"
    if name in _BOOLEAN:
        return "ni"
    if name == "Unary":
        operator = node.operator  # type: ignore[attr-defined]
        return ALL if operator == "+" else "nir" if operator == "-" else "ni"
    if name == "Binary":
        operator = node.operator  # type: ignore[attr-defined]
        if operator in ("||", "->"):
            return "nt"
        return ALL if operator == "->>" else "nir" if operator in "+-*/%" else "ni"
    if name == "Cast":
        target = node.target  # type: ignore[attr-defined]
        return {storage.INTEGER: "ni", storage.REAL: "nr", storage.NUMERIC: "nir", storage.TEXT: "nt", storage.BLOB: "nb"}.get(target, ALL)
    return ALL


def _is_rowid(node: Column) -> bool:
    table = node.table
    if table is None or table.kind != "table" or table.without_rowid:
        return False
    return node.number == -1 or node.number == table.rowid_column


def hint_of(node: Expression) -> str:
    """The class a value most likely has: 'i', 'r', 't' or ''."""
    name = type(node).__name__
    if name in ("Column", "Cast", "ScalarSubquery"):
        affinity = node.affinity
        return "r" if affinity == storage.REAL else "i" if affinity in (storage.INTEGER, storage.NUMERIC) else "t" if affinity == storage.TEXT else ""
    if name == "Literal":
        return literal_kind(node.value)  # type: ignore[attr-defined]
    if name == "Binary":
        operator = node.operator  # type: ignore[attr-defined]
        if operator == "||":
            return "t"
        if operator in ("+", "-", "*", "/"):
            left, right = _shallow_hint(node.left), _shallow_hint(node.right)  # type: ignore[attr-defined]
            return "r" if "r" in (left, right) else "i"
        return "i"
    return ""


def _shallow_hint(node: Expression) -> str:
    """Hints through a few levels of arithmetic, along the left spine."""
    for _ in range(6):
        if not isinstance(node, bound.Binary):
            break
        if hint_of(node.right) == "r" and not isinstance(node.right, bound.Binary):
            return "r"
        node = node.left
    return "" if isinstance(node, bound.Binary) else hint_of(node)


def is_total(node: Expression, depth: int = 6) -> bool:
    """True when evaluating cannot raise and has no side effect (unknown below ``depth``: False)."""
    name = type(node).__name__
    if name in ("Literal", "Column", "Parameter"):
        return True
    if depth == 0 or name in ("ScalarSubquery", "Exists", "InSubquery", "Raise"):
        return False
    if name == "Call":
        function = node.function  # type: ignore[attr-defined]
        if function.may_raise or not function.deterministic:
            return False
    elif name == "Binary" and node.operator in ("->", "->>"):  # type: ignore[attr-defined]
        return False
    return all(is_total(part, depth - 1) for part in parts(node))


_JSON_AGGREGATES = ("json_group_array", "json_group_object")       # names that output columns of an Aggregate have


def result_of(subquery: Subquery, number: int) -> Expression | None:
    """The expression of a result column of a planned sub-query, if its root is a projection (perhaps sorted or limited)."""
    plan = subquery.plan
    while plan is not None and not hasattr(plan, "expressions"):
        plan = getattr(plan, "input", None)
    return plan.expressions[number] if plan is not None and number < len(plan.expressions) else None


def may_be_json(node: Expression) -> bool:
    """May the value carry the JSON subtype?"""
    for _ in range(64):
        name = type(node).__name__
        if name == "Call":
            function = node.function  # type: ignore[attr-defined]
            if function.json_result:
                return True
            if function.name in _LAZY or function.name in ("min", "max", "nullif"):
                return any(may_be_json(argument) for argument in node.arguments)  # type: ignore[attr-defined]
            if function.name in _TRANSPARENT:
                node = node.arguments[0]  # type: ignore[attr-defined]
                continue
            return False
        if name == "Binary":
            return node.operator == "->"  # type: ignore[attr-defined, no-any-return]
        if name == "Case":
            branches = [*node.thens, *((node.otherwise,) if node.otherwise is not None else ())]  # type: ignore[attr-defined]
            return any(may_be_json(branch) for branch in branches)
        if name == "ScalarSubquery":
            inner = result_of(node.subquery, node.number)  # type: ignore[attr-defined]
            if inner is None:
                return False
            node = inner
            continue
        if name == "Column":
            return node.name in _JSON_AGGREGATES or (node.table is not None and node.table.kind == "virtual")  # type: ignore[attr-defined]
        if name == "Collate" or (name == "Unary" and node.operator == "+") or (name == "Cast" and node.target == storage.TEXT):  # type: ignore[attr-defined]
            node = node.operand  # type: ignore[attr-defined]
            continue
        return False
    return True


# --- values --------------------------------------------------------------------------------------------------------------------------


def emit_literal(emitter: Emitter, node: bound.Literal) -> str:
    return emitter.literal(node.value)


def emit_parameter(emitter: Emitter, node: bound.Parameter) -> str:
    return emitter.parameter(node.index)


def emit_column(emitter: Emitter, node: Column) -> str:
    return emitter.column(node)


def emit_transparent(emitter: Emitter, node: bound.Collate) -> str:
    return emitter.value(node.operand)


def emit_plain(emitter: Emitter, node: bound.Plain) -> str:
    return emitter.result(node.operand)


def emit_stored(emitter: Emitter, node: bound.Stored) -> str:
    name = {storage.TEXT: "to_text_affinity", storage.REAL: "to_real_affinity"}.get(node.affinity or storage.BLOB, "to_numeric_affinity")
    return f"{emitter.operation(name)}({emitter.value(node.operand)})"


def emit_unary(emitter: Emitter, node: bound.Unary) -> str:
    operator = node.operator
    if operator == "+":
        return emitter.value(node.operand)
    if operator == "-":
        if isinstance(node.operand, bound.Literal) and type(node.operand.value) in (int, float):
            value = node.operand.value
            return emitter.literal(-value if type(value) is float else arithmetic.negate(value))
        return f"{emitter.operation('negate')}({emitter.result(node.operand)})"
    if operator == "~":
        return f"{emitter.operation('bit_not')}({emitter.result(node.operand)})"
    kinds = kinds_of(node.operand)
    if "t" in kinds or "b" in kinds:
        return f"{emitter.operation('not_')}({emitter.value(node.operand)})"
    if "n" not in kinds:
        return f"(0 if {emitter.truth(node.operand)} else 1)"
    operand = emitter.operand(node.operand)
    return f"(None if {operand.first} is None else 0 if {operand.again} else 1)"


_FUNCTION_OF = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "remainder", "&": "bit_and", "|": "bit_or",
                "<<": "shift_left", ">>": "shift_right", "||": "concat"}


def emit_binary(emitter: Emitter, node: bound.Binary) -> str:
    operator = node.operator
    if operator in ("->", "->>"):
        target = resolve("sqlvec.functions.json:arrow" if operator == "->" else "sqlvec.functions.json:double_arrow")
        return f"{emitter.constant(target, 'f')}({emitter.value(node.left)}, {emitter.result(node.right)})"
    function = emitter.operation(_FUNCTION_OF[operator])
    if operator == "||":
        left, right = emitter.operand(node.left), emitter.operand(node.right)
        valid = emitter.named("TEXT", text_module)
        return (f"({left.again} + {right.again} if type({left.first}) is type({right.first}) is str and not {valid}.invalid_text_seen"
                f" else {function}({left.again}, {right.again}))")
    if operator in ("+", "-", "*", "/"):
        return _emit_arithmetic(emitter, node, function)
    if operator == "%":
        right_value = getattr(node.right, "value", None)
        if isinstance(node.right, bound.Literal) and type(right_value) is int and right_value > 0:
            left = emitter.operand(node.left)
            right_text = emitter.literal(right_value)
            return (f"({left.again} % {right_text} if type({left.first}) is int and {left.again} >= 0"
                    f" else {function}({left.again}, {right_text}))")
    return f"{function}({emitter.result(node.left)}, {emitter.result(node.right)})"


def _emit_arithmetic(emitter: Emitter, node: bound.Binary, function: str) -> str:
    operator = node.operator
    left, right = emitter.operand(node.left), emitter.operand(node.right)
    if left.kinds == "n" or right.kinds == "n":
        return f"{function}({left.first}, {right.first})"
    is_real = hint_of(node) == "r" or "r" in (left.kinds, right.kinds)
    general = f"{function}({left.again}, {right.again})"
    result = emitter.temporary()
    if operator == "/" and not is_real:
        return f"{function}({left.first}, {right.first})"
    # A literal integer next to a real is a real.
    texts = []
    tests = []
    for side in (left, right):
        if side.literal and type(side.value) in (int, float) and (type(side.value) is float or abs(side.value) < 1 << 53):
            if is_real:
                texts.append(emitter.literal(float(side.value)))
                continue
            if type(side.value) is int:
                texts.append(side.again)
                continue
        texts.append(side.again)
        tests.append(f"type({side.first})")
    if not tests:
        return general
    kind = "float" if is_real else "int"
    test = " is ".join(tests)
    if operator == "/":
        guard = "" if right.literal and right.value else f" and {texts[1]}"
        return f"({result} if {test} is {kind}{guard} and ({result} := {texts[0]} / {texts[1]}) == {result} else {general})"
    if is_real:
        return f"({result} if {test} is float and ({result} := {texts[0]} {operator} {texts[1]}) == {result} else {general})"
    check = _LIMIT.format(f"({result} := {texts[0]} {operator} {texts[1]})")
    return f"({result} if {test} is int and {check} else {general})"


def emit_cast(emitter: Emitter, node: bound.Cast) -> str:
    name = {storage.BLOB: "cast_to_blob", storage.TEXT: "cast_to_text", storage.NUMERIC: "cast_to_numeric", storage.INTEGER: "cast_to_integer",
            storage.REAL: "cast_to_real"}[node.target]  # type: ignore[index]
    encoding = "" if emitter.encoding == text_module.UTF8 else f", {emitter.encoding}"
    operand = emitter.value(node.operand) if node.target == storage.TEXT else emitter.result(node.operand)
    return f"{emitter.operation(name)}({operand}{encoding})"


def emit_case(emitter: Emitter, node: bound.Case) -> str:
    if len(node.whens) > LONG_CASE:
        return emitter.statement_function(lambda: _long_case(emitter, node))
    otherwise = "None" if node.otherwise is None else emitter.value(node.otherwise)
    if node.base is None:
        pairs = [f"{emitter.value(then)} if {emitter.truth(when)}" for when, then in zip(node.whens, node.thens, strict=True)]
        return f"({' else '.join(pairs)} else {otherwise})"
    base = emitter.operand(base_of(node))
    texts = []
    for index, (when, then) in enumerate(zip(node.whens, node.thens, strict=True)):
        test = emit_when(emitter, node, when, base, index == 0)
        texts.append(f"{emitter.value(then)} if {test}")
    return f"({' else '.join(texts)} else {otherwise})"


def emit_when(emitter: Emitter, node: bound.Case, when: Expression, base: Operand, is_first: bool) -> str:
    """One WHEN of a CASE with a base: the base is evaluated by the first test only."""
    assert isinstance(when, bound.Compare)
    left = base
    if not is_first:
        left = Operand(base.again, base.again, base.kinds, base.hint)
        left.literal, left.value = base.literal, base.value
    return resolve("sqlvec.expr.emit_compare:compare_operands")(emitter, when, left, emitter.operand(when.right), True)  # type: ignore[no-any-return]


def _long_case(emitter: Emitter, node: bound.Case) -> list[str]:
    """Many WHENs: statements instead of a chain, which would nest too deeply."""
    lines = []
    base = None
    if node.base is not None:
        name = emitter.temporary()
        lines.append(f"{name} = {emitter.result(base_of(node))}")
        base = Operand(name, name, kinds_of(base_of(node)), hint_of(base_of(node)))
    for when, then in zip(node.whens, node.thens, strict=True):
        test = emitter.truth(when) if base is None else emit_when(emitter, node, when, base, False)
        lines.append(f"if {test}: return {emitter.value(then)}")
    lines.append(f"return {'None' if node.otherwise is None else emitter.value(node.otherwise)}")
    return lines


def emit_call(emitter: Emitter, node: bound.Call) -> str:
    function = node.function
    name = function.name
    arguments = node.arguments
    if function.builtin:
        if name in _TRANSPARENT:
            return emitter.value(arguments[0])
        if name == "iif":
            return f"({emitter.value(arguments[1])} if {emitter.truth(arguments[0])} else {emitter.value(arguments[2])})"
        if name in _LAZY:
            return _emit_coalesce(emitter, arguments)
    else:
        emitter.calls_user_code = True
    keeps = function.json_args or name in ("min", "max", "nullif")
    texts = [emitter.value(argument) if keeps else emitter.result(argument) for argument in arguments]
    if function.context:
        texts.insert(0, emitter.function_context())
    elif function.uses_collation:
        texts.insert(0, emitter.constant(emitter.collation(node.using)))
    target = function.call
    if emitter.encoding != text_module.UTF8:
        target = resolve("sqlvec.functions.utf16:adapted")(function, emitter.encoding)
    call = f"{emitter.constant(target, 'f')}({', '.join(texts)})"
    if emitter.hoists and arguments and function.builtin and function.deterministic and all(_is_fixed(argument) for argument in arguments):
        return _hoist(emitter, call)
    return call


_HOISTED = frozenset(("Binary", "Call", "Cast"))


def _is_fixed(node: Expression, depth: int = 6) -> bool:
    """No columns, sub-queries or volatile functions: the same for all rows of a run."""
    name = type(node).__name__
    if name in ("Literal", "Parameter"):
        return True
    if depth == 0 or name in ("Column", "ScalarSubquery", "Exists", "InSubquery", "Raise"):
        return False
    if name == "Call" and not (node.function.builtin and node.function.deterministic):  # type: ignore[attr-defined]
        return False
    return all(_is_fixed(part, depth - 1) for part in parts(node))


def _hoist(emitter: Emitter, call: str) -> str:
    """Evaluate a fixed expression once before the loop; if it raises there, leave it to the place where it stands."""
    for name, line in emitter.bindings.items():
        if line == f"{name} = hoisted(lambda: {call})":
            break
    else:
        emitter.named("hoisted", hoisted)
        emitter.named("UNKNOWN", UNKNOWN)
        emitter._counter += 1
        name = emitter.bind_line(f"h{emitter._counter}", f"h{emitter._counter} = hoisted(lambda: {call})")
    return f"({name} if {name} is not UNKNOWN else {call})"


UNKNOWN = object()


def hoisted(evaluate: Callable[[], Any]) -> Any:
    """The value, or UNKNOWN when evaluating raises."""
    try:
        return evaluate()
    except Exception:
        return UNKNOWN


def _emit_coalesce(emitter: Emitter, arguments: tuple[Expression, ...]) -> str:
    if len(arguments) > LONG_CASE:
        def lines() -> list[str]:
            made = []
            for argument in arguments[:-1]:
                name = emitter.temporary()
                made.append(f"if ({name} := {emitter.value(argument)}) is not None: return {name}")
            return [*made, f"return {emitter.value(arguments[-1])}"]

        return emitter.statement_function(lines)
    texts = []
    for argument in arguments[:-1]:
        name = emitter.temporary()
        texts.append(f"{name} if ({name} := {emitter.value(argument)}) is not None")
    return f"({' else '.join(texts)} else {emitter.value(arguments[-1])})"


def outer_tuple(emitter: Emitter, subquery: Subquery) -> str:
    """The values that a correlated sub-query reads from here."""
    if not subquery.outer:
        return "()"
    return "(" + "".join(f"{emitter.column(column)}, " for column in subquery.outer) + ")"


def emit_scalar_subquery(emitter: Emitter, node: bound.ScalarSubquery) -> str:
    subquery = node.subquery
    evaluate = emitter.constant(resolve("sqlvec.exec.row.subquery:row_evaluator")(subquery), "subquery")
    act = emitter.activation()
    call = f"{evaluate}({act}, {outer_tuple(emitter, subquery)})"
    if not subquery.outer:
        memo = emitter.bind_line("S", "S = act.slots")
        call = f"({memo}.get({emitter.constant(subquery)}) or {call})"
    return f"{call}[{node.number}]"


def emit_exists(emitter: Emitter, node: bound.Exists) -> str:
    subquery = node.subquery
    evaluate = emitter.constant(resolve("sqlvec.exec.row.subquery:exists_evaluator")(subquery), "subquery")
    act = emitter.activation()
    return f"{evaluate}({act}, {outer_tuple(emitter, subquery)})"


def emit_raise(emitter: Emitter, node: bound.Raise) -> str:
    return f"{emitter.operation('raise_in_trigger')}({node.action!r}, {emitter.literal(node.message)})"


def _compare(name: str) -> Callable[..., str]:
    def emit(emitter: Emitter, *arguments: Any) -> str:
        return resolve(f"sqlvec.expr.emit_compare:{name}")(emitter, *arguments)  # type: ignore[no-any-return]

    return emit


VALUE: dict[str, Callable[..., str]] = {
    "Literal": emit_literal,
    "Parameter": emit_parameter,
    "Column": emit_column,
    "Collate": emit_transparent,
    "Plain": emit_plain,
    "Stored": emit_stored,
    "Unary": emit_unary,
    "Binary": emit_binary,
    "Cast": emit_cast,
    "Case": emit_case,
    "Call": emit_call,
    "ScalarSubquery": emit_scalar_subquery,
    "Exists": emit_exists,
    "Raise": emit_raise,
    "Compare": _compare("compare_value"),
    "RowCompare": _compare("row_compare_value"),
    "And": _compare("and_value"),
    "Or": _compare("or_value"),
    "IsNull": _compare("is_null_value"),
    "IsTruth": _compare("is_truth_value"),
    "Between": _compare("between_value"),
    "InList": _compare("in_list_value"),
    "InSubquery": _compare("in_subquery_value"),
}

TRUTH: dict[str, Callable[..., str]] = {
    "Compare": _compare("compare_truth"),
    "RowCompare": _compare("row_compare_truth"),
    "And": _compare("and_truth"),
    "Or": _compare("or_truth"),
    "IsNull": _compare("is_null_truth"),
    "IsTruth": _compare("is_truth_truth"),
    "Between": _compare("between_truth"),
    "InList": _compare("in_list_truth"),
    "InSubquery": _compare("in_subquery_truth"),
    "Unary": _compare("not_truth"),
    "Collate": _compare("collate_truth"),
}

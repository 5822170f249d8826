"""Expressions, by precedence climbing over a :class:`TokenStream`.

``expression(ts, minimum)`` parses an operand and then every operator that binds at least as tightly as ``minimum``.  Levels, loosest
first: 1 OR, 2 AND, 3 NOT, 4 the equality group (= IS IN LIKE BETWEEN ISNULL ...), 5 order comparisons, 7 bit operators, 8 ``+ -``,
9 ``* / %``, 10 ``|| -> ->>``, 11 COLLATE, 12 the prefixes ``- + ~``.

Invariants
 1. Chains are built in loops, so ``a + a + ...`` may reach the depth limit of 1,000 without recursion; only real nesting recurses,
    and the limit of the LALR stack bounds that.
 2. A prefix NOT may stand inside tighter operators and then takes everything from level 3 on: ``1 + NOT 2 = 3`` is ``1 + (NOT (2 = 3))``.
    NOT before LIKE, IN, BETWEEN, NULL has level 3 as well, as the LALR grammar compares the NOT token.
 3. ``x AND 0`` is the constant 0 and ``x IN ()`` is 0 already here: what ``x`` names is never looked up.
 4. Parentheses leave no node.

Follows the manual's "SQL Language Expressions".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast import (
    Between,
    Binary,
    Case,
    Cast,
    Collate,
    ColumnRef,
    CurrentTime,
    Exists,
    FunctionCall,
    InList,
    InSelect,
    InTable,
    IsNull,
    Like,
    Literal,
    Name,
    Nary,
    Node,
    Parameter,
    Raise,
    RowValue,
    ScalarSelect,
    Unary,
)
from sqlvec.parse.lexer import FALLBACK, STACK_LIMIT, TokenStream
from sqlvec.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SELECT_STARTS = frozenset(("SELECT", "VALUES", "WITH"))
MAX_PARAMETER = 250_000

_LEVEL = {
    "OR": 1, "AND": 2, "NOT": 3,
    "=": 4, "!=": 4, "IS": 4, "IN": 4, "LIKE_KW": 4, "MATCH": 4, "BETWEEN": 4, "ISNULL": 4, "NOTNULL": 4,
    "<": 5, "<=": 5, ">": 5, ">=": 5,
    "&": 7, "|": 7, "<<": 7, ">>": 7,
    "+": 8, "-": 8,
    "*": 9, "/": 9, "%": 9,
    "||": 10, "->": 10, "->>": 10,
    "COLLATE": 11,
}  # fmt: skip
_NARY = frozenset(("AND", "OR", "||"))
_PREFIX_LEVEL = 12


def expression(ts: TokenStream, minimum: int = 1, stop_at_and: bool = False) -> Node:
    """One expression of operators that bind at least as tightly as ``minimum``; ``stop_at_and`` leaves BETWEEN its own AND."""
    operand = _OPERAND.get(ts.kind)
    if operand is None:
        ts.fail()
        raise AssertionError
    start = ts.starts[ts.position]
    if ts.depth >= STACK_LIMIT:
        ts.overflow()
    left: Node = operand(ts)
    while True:
        op = ts.kind
        level = _LEVEL.get(op, 0)
        if level < minimum or level == 0:
            return left
        if level == 2 and stop_at_and:
            return left
        height = ts.height
        if op in _NARY:
            left = _chain(ts, op, level, left, start)
        elif (level >= 5 and level != 11) or op == "=" or op == "!=":
            ts.advance()
            ts.depth += 2
            right = expression(ts, level + 1)
            ts.depth -= 2
            ts.taller(max(height, ts.height) + 1)
            left = Binary(op, left, right, (start, ts.ends[ts.position - 1]))
        elif op == "COLLATE":
            ts.advance()
            collation = ts.ids_name()
            ts.height = 1
            left = Collate(left, collation, (start, ts.end()))
        else:
            left = _equality_group(ts, op, left, start, height)


def _chain(ts: TokenStream, op: str, level: int, left: Node, start: int) -> Node:
    """``left op operand op operand ...`` flattened; the heights are those of the left-deep tree."""
    height = ts.height
    operands = [left]
    is_false = op == "AND" and _is_zero(left)
    while ts.kind == op:
        ts.advance()
        ts.depth += 2
        right = expression(ts, level + 1)
        ts.depth -= 2
        if op == "AND" and (is_false or _is_zero(right)):
            is_false = True
            height = ts.height = 1
            continue
        height = max(height, ts.height) + 1
        ts.taller(height)
        operands.append(right)
    span = (start, ts.end())
    return Literal("integer", 0, span) if is_false else Nary(op, operands, span)


def _is_zero(node: Node) -> bool:
    return type(node) is Literal and node.kind == "integer" and node.value == 0


def _equality_group(ts: TokenStream, op: str, left: Node, start: int, height: int) -> Node:
    """The operators of level 4 that are words, and NOT before them."""
    negated = op == "NOT"
    if negated:
        ts.advance()
        op = ts.kind
        if op == "NULL":
            op = "NOT NULL"
        elif op not in ("LIKE_KW", "MATCH", "BETWEEN", "IN"):
            ts.fail()
    extra = 2 if negated else 1
    if op == "IS":
        return _is(ts, left, start, height)
    if op == "ISNULL" or op == "NOTNULL" or op == "NOT NULL":
        ts.advance()
        ts.taller(height + 1)
        return IsNull(left, op != "ISNULL", (start, ts.end()))
    if op == "IN":
        return _in(ts, left, negated, start, height)
    if op == "BETWEEN":
        ts.advance()
        ts.depth += 2
        low = expression(ts, 1, True)
        ts.expect("AND")
        ts.depth += 2
        high = expression(ts, 5)
        ts.depth -= 4
        ts.taller(height + extra)
        return Between(left, low, high, negated, (start, ts.end()))
    word = ts.word()
    ts.depth += 2
    pattern = expression(ts, 5)
    height = max(height, ts.height)
    escape = None
    if ts.kind == "ESCAPE":
        ts.advance()
        ts.depth += 2
        escape = expression(ts, 5)
        ts.depth -= 2
        height = max(height, ts.height)
    ts.depth -= 2
    ts.taller(height + extra)
    return Like(word, left, pattern, escape, negated, (start, ts.end()))


def _is(ts: TokenStream, left: Node, start: int, height: int) -> Node:
    """``IS [NOT] [DISTINCT FROM] expr``; IS [NOT] DISTINCT FROM turns the sense around."""
    ts.advance()
    negated = ts.accept("NOT")
    if ts.kind == "DISTINCT":
        ts.advance()
        ts.expect("FROM")
        negated = not negated
    ts.depth += 3 if negated else 2
    right = expression(ts, 5)
    ts.depth -= 3 if negated else 2
    span = (start, ts.end())
    ts.taller(max(height, ts.height) + 1)
    if type(right) is Literal and right.kind == "null":
        return IsNull(left, negated, span)
    return Binary("IS NOT" if negated else "IS", left, right, span)


def _in(ts: TokenStream, left: Node, negated: bool, start: int, height: int) -> Node:
    """``[NOT] IN`` with a list, a select or a table."""
    extra = 2 if negated else 1
    ts.advance()
    if ts.kind != "(":
        schema, table = ts.qualified_name()
        args = None
        if ts.kind == "(":
            ts.advance()
            ts.depth += 5
            args = expression_list(ts)
            ts.depth -= 5
            ts.expect(")")
        ts.taller(height + extra)
        return InTable(left, schema, table, args, negated, (start, ts.end()))
    ts.advance()
    ts.depth += 3
    if ts.kind in SELECT_STARTS:
        select = resolve("sqlvec.parse.select:select")(ts)
        ts.depth -= 3
        ts.expect(")")
        ts.taller(max(height, ts.height) + extra)
        return InSelect(left, select, negated, (start, ts.end()))
    items = expression_list(ts)
    ts.depth -= 3
    if ts.depth + 5 > STACK_LIMIT:
        ts.overflow()
    ts.expect(")")
    span = (start, ts.end())
    if not items:
        ts.height = 1
        return Literal("integer", bool(negated), span)         # TRUE or FALSE: in ORDER BY no column number
    ts.taller(max(height, ts.height) + extra)
    return InList(left, items, negated, span)


def expression_list(ts: TokenStream) -> list[Node]:
    """A possibly empty list of expressions before a closing parenthesis; ``ts.height`` becomes the greatest height in it."""
    if ts.kind == ")":
        ts.height = 0
        return []
    return filled_expression_list(ts)


def filled_expression_list(ts: TokenStream) -> list[Node]:
    """``expr, expr, ...``"""
    items = [expression(ts)]
    if ts.kind == ",":
        height = ts.height
        ts.depth += 2
        while ts.kind == ",":
            ts.advance()
            items.append(expression(ts))
            if ts.height > height:
                height = ts.height
        ts.depth -= 2
        ts.height = height
    return items


# --- operands ----------------------------------------------------------------------------------------------------------------------


def _integer(ts: TokenStream) -> Literal:
    position = ts.position
    span = (ts.starts[position], ts.ends[position])
    text = ts.sql[span[0] : span[1]]
    ts.advance()
    ts.height = 1
    if len(text) < 19 and text.isdigit():
        return Literal("integer", int(text), span)
    return number_literal(text, span)


def number_literal(text: str, span: tuple[int, int]) -> Literal:
    """The literal of an INTEGER token of any length, or of a FLOAT token."""
    if text[:2] in ("0x", "0X"):
        digits = text[2:].lstrip("0")
        if len(digits) > 16:
            return Literal("hex_too_big", text, span)
        value = int(digits or "0", 16)
        return Literal("integer", value - (1 << 64) if value >> 63 else value, span)
    if text.isdigit():
        digits = text.lstrip("0") or "0"
        if len(digits) <= 19 and int(digits) < 1 << 63:
            return Literal("integer", int(digits), span)
    if len(text) < 17:
        return Literal("float", float(text), span)
    return Literal("float", resolve("sqlvec.values.numeric_text:real_prefix")(text), span)


def _float(ts: TokenStream) -> Literal:
    position = ts.position
    span = (ts.starts[position], ts.ends[position])
    ts.advance()
    ts.height = 1
    return number_literal(ts.sql[span[0] : span[1]], span)


def _string(ts: TokenStream) -> Node:
    position = ts.position
    if ts.kinds[position + 1] == ".":
        return _identifier(ts)
    span = (ts.starts[position], ts.ends[position])
    text = ts.sql[span[0] + 1 : span[1] - 1]
    ts.advance()
    ts.height = 1
    return Literal("string", text.replace("''", "'") if "'" in text else text, span)


def _blob(ts: TokenStream) -> Literal:
    span = (ts.start(), ts.ends[ts.position])
    ts.advance()
    ts.height = 1
    return Literal("blob", bytes.fromhex(ts.sql[span[0] + 2 : span[1] - 1]), span)


def _null(ts: TokenStream) -> Literal:
    span = (ts.start(), ts.ends[ts.position])
    ts.advance()
    ts.height = 1
    return Literal("null", None, span)


def _current_time(ts: TokenStream) -> CurrentTime:
    span = (ts.start(), ts.ends[ts.position])
    ts.height = 1
    return CurrentTime(ts.word(), span)


def _parameter(ts: TokenStream) -> Parameter:
    start = ts.start()
    text = ts.token_text()
    ts.advance()
    if text[0] == "#" and text[1:2].isdigit():
        ts.defer(errors.syntax_error(text, start))
    ts.height = 1
    return Parameter(assign_parameter(ts, text, start), None if text == "?" else text, (start, ts.end()))


def assign_parameter(ts: TokenStream, text: str, offset: int) -> int:
    """The number of a parameter written ``text``: names share one number, a lone ``?`` takes the next one."""
    if text == "?":
        number = ts.parameter_count + 1
    elif text[0] == "?":
        number = int(text[1:]) if len(text) < 10 else 0
        if not 1 <= number <= MAX_PARAMETER:
            ts.defer(errors.parameter_out_of_range(MAX_PARAMETER, offset))
            return 1
        ts.parameter_names.setdefault(number, text)
    else:
        number = ts.parameter_numbers.get(text, 0)
        if number == 0:
            number = ts.parameter_numbers[text] = ts.parameter_count + 1
            ts.parameter_names[number] = text
    if number > ts.parameter_count:
        ts.parameter_count = number
        if number > MAX_PARAMETER:
            ts.defer(errors.too_many_variables())
    return number


def _identifier(ts: TokenStream) -> Node:
    """A column, a qualified column or a function call."""
    position = ts.position
    following = ts.kinds[position + 1] if position + 1 < len(ts.kinds) else "EOF"
    if following == "(" and ts.kind not in ("STRING", "JOIN_KW"):
        return _function(ts)
    start = ts.starts[position]
    name = ts.take_name()
    ts.height = 1
    if following != ".":
        return ColumnRef(None, None, name, name.span)
    ts.advance()
    second = ts.name()
    if ts.kind != ".":
        return ColumnRef(None, name, second, (start, second.span[1]))
    ts.advance()
    third = ts.name()
    return ColumnRef(name, second, third, (start, third.span[1]))


def _function(ts: TokenStream) -> FunctionCall:
    name = ts.take_name()
    ts.advance()
    distinct = star = False
    args: list[Node] = []
    height = 0
    if ts.kind == "*":
        star = True
        ts.advance()
    else:
        if ts.kind == "DISTINCT" or ts.kind == "ALL":
            distinct = ts.kind == "DISTINCT"
            ts.advance()
        if ts.kind != ")":
            ts.depth += 3
            args = filled_expression_list(ts)
            ts.depth -= 3
            height = ts.height
            if ts.depth + 5 > STACK_LIMIT:
                ts.overflow()
    ts.expect(")")
    if len(args) > 127:
        ts.defer(errors.too_many_arguments(name.text, name.span[0]))
    filter_ = over = None
    if ts.kind == "FILTER" or ts.kind == "OVER":
        filter_, over = resolve("sqlvec.parse.windows:filter_over")(ts)
    ts.taller(height + 1)
    return FunctionCall(name, args, star, distinct, filter_, over, (name.span[0], ts.ends[ts.position - 1]))


def _parenthesis(ts: TokenStream) -> Node:
    """``(expr)``, a row value or a scalar sub-query."""
    start = ts.start()
    ts.advance()
    ts.depth += 1
    if ts.kind in SELECT_STARTS:
        select = resolve("sqlvec.parse.select:select")(ts)
        _close(ts)
        ts.taller(ts.height + 1)
        return ScalarSelect(select, (start, ts.end()))
    node = expression(ts)
    if ts.kind == ",":
        items = [node]
        ts.depth += 2
        while ts.kind == ",":
            ts.advance()
            items.append(expression(ts))
        ts.depth -= 2
        _close(ts)
        ts.height = 1
        return RowValue(items, (start, ts.end()))
    _close(ts)
    return node


def _close(ts: TokenStream) -> None:
    """Take a closing parenthesis, which stands on the stack above the opening one and what is between."""
    if ts.kind != ")":
        ts.fail()
    if ts.depth + 2 > STACK_LIMIT:
        ts.overflow()
    ts.depth -= 1
    ts.advance()


def _minus(ts: TokenStream) -> Node:
    start = ts.start()
    ts.advance()
    ts.depth += 1
    operand = expression(ts, _PREFIX_LEVEL)
    ts.depth -= 1
    span = (start, ts.end())
    if type(operand) is Literal:
        text = ts.sql[operand.span[0] : operand.span[1]]
        if operand.kind == "float" and text.lstrip("0") == "9223372036854775808":
            return Literal("integer", -(1 << 63), span)
        if operand.kind == "hex_too_big" or (operand.value == -(1 << 63) and text[:2] in ("0x", "0X")):
            return Literal("hex_too_big", "-" + text.lstrip("-"), operand.span)
    ts.taller(ts.height + 1)
    return Unary("-", operand, span)


def _prefix(ts: TokenStream) -> Node:
    start = ts.start()
    op = ts.kind
    ts.advance()
    ts.depth += 1
    operand = expression(ts, _PREFIX_LEVEL)
    ts.depth -= 1
    ts.taller(ts.height + 1)
    return Unary(op, operand, (start, ts.end()))


def _not(ts: TokenStream) -> Node:
    start = ts.start()
    ts.advance()
    ts.depth += 1
    operand = expression(ts, 3)
    ts.depth -= 1
    ts.taller(ts.height + 1)
    return Unary("NOT", operand, (start, ts.end()))


def _exists(ts: TokenStream) -> Node:
    start = ts.start()
    ts.advance()
    ts.expect("(")
    if ts.kind not in SELECT_STARTS:
        ts.fail()
    ts.depth += 2
    select = resolve("sqlvec.parse.select:select")(ts)
    ts.depth -= 2
    ts.expect(")")
    ts.taller(ts.height + 1)
    return Exists(select, (start, ts.end()))


def _case(ts: TokenStream) -> Case:
    start = ts.start()
    ts.advance()
    height = 0
    base = None
    if ts.kind != "WHEN":
        ts.depth += 1
        base = expression(ts)
        ts.depth -= 1
        height = ts.height
    whens: list[tuple[Node, Node]] = []
    if ts.kind != "WHEN":
        ts.fail()
    ts.depth += 3
    while ts.kind == "WHEN":
        ts.advance()
        condition = expression(ts)
        height = max(height, ts.height)
        if ts.depth + 2 > STACK_LIMIT:
            ts.overflow()
        ts.expect("THEN")
        ts.depth += 2
        whens.append((condition, expression(ts)))
        ts.depth -= 2
        height = max(height, ts.height)
        if len(whens) == 1:
            ts.depth += 1
    else_ = None
    if ts.kind == "ELSE":
        ts.advance()
        else_ = expression(ts)
        height = max(height, ts.height)
    ts.depth -= 4
    ts.expect("END")
    ts.taller(height + 1)
    return Case(base, whens, else_, (start, ts.end()))


def _cast(ts: TokenStream) -> Cast:
    start = ts.start()
    ts.advance()
    ts.expect("(")
    ts.depth += 2
    operand = expression(ts)
    ts.expect("AS")
    if ts.depth + 3 > STACK_LIMIT:
        ts.overflow()
    ts.depth -= 2
    height = ts.height
    type_text = type_name(ts)
    ts.expect(")")
    ts.taller(height + 1)
    return Cast(operand, type_text, (start, ts.end()))


def type_name(ts: TokenStream) -> str:
    """A possibly empty type name, as its source text: words, then up to two signed numbers in parentheses."""
    start = ts.start()
    end = start
    while ts.kind in ("ID", "QUOTED", "STRING") or ts.kind in FALLBACK:
        end = ts.ends[ts.position]
        ts.advance()
    if end == start:
        return ""
    if ts.kind == "(":
        ts.advance()
        _signed_number(ts)
        if ts.accept(","):
            _signed_number(ts)
        ts.expect(")")
        end = ts.end()
    return ts.sql[start:end]


def _signed_number(ts: TokenStream) -> None:
    if ts.kind == "+" or ts.kind == "-":
        ts.advance()
    if ts.kind not in ("INTEGER", "FLOAT"):
        ts.fail()
    ts.advance()


def _raise(ts: TokenStream) -> Raise:
    start = ts.start()
    ts.advance()
    ts.expect("(")
    if ts.kind not in ("IGNORE", "ROLLBACK", "ABORT", "FAIL"):
        ts.fail()
    action = ts.word()
    message: Name | None = None
    if action != "IGNORE":
        ts.expect(",")
        message = ts.name()
    ts.expect(")")
    ts.height = 1
    return Raise(action, None if message is None else message.text, (start, ts.end()))


_OPERAND: dict[str, Any] = dict.fromkeys(FALLBACK, _identifier)
_OPERAND.update({
    "ID": _identifier, "QUOTED": _identifier, "JOIN_KW": _identifier, "INDEXED": _identifier, "STRING": _string,
    "INTEGER": _integer, "FLOAT": _float, "BLOB": _blob, "NULL": _null, "CTIME_KW": _current_time, "VARIABLE": _parameter,
    "(": _parenthesis, "-": _minus, "+": _prefix, "~": _prefix, "NOT": _not, "EXISTS": _exists, "CASE": _case, "CAST": _cast,
    "RAISE": _raise,
})  # fmt: skip

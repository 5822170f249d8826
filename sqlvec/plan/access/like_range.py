"""The range that a LIKE or GLOB prefix implies: ``x LIKE 'abc%'`` gives ``x >= 'ABC' AND x < 'abd'`` under NOCASE.

Follows "The LIKE Optimization" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Call, Column, Literal
from sqlvec.plan.access.terms import GE, LT, strip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.terms import Clause, Term


def derive_range(clause: Clause, term: Term) -> None:
    """Append the two range terms of a LIKE or GLOB term, where the optimisation applies."""
    call = term.expression
    assert isinstance(call, Call)
    if not getattr(call.function, "builtin", True):
        return
    ignores_case = call.operator == "LIKE" and not clause.scope.request.case_sensitive_like
    arguments = call.arguments
    escape = None
    if len(arguments) == 3:
        if not (isinstance(arguments[2], Literal) and isinstance(arguments[2].value, str) and len(arguments[2].value) == 1):
            return
        escape = arguments[2].value
        if call.operator != "LIKE" or escape in "%_":
            return
    pattern = arguments[0]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return
    left = arguments[1]
    found = _prefix(pattern.value, "%_" if call.operator == "LIKE" else "*?[", escape)
    if found is None:
        return
    prefix, rest = found
    if not _is_text_column(clause, left) and _could_be_number(prefix):
        return
    if isinstance(left, Literal):
        return
    is_complete = rest == ("%" if call.operator == "LIKE" else "*")
    low, high = prefix, prefix
    if ignores_case:
        low, high = _upper(prefix), _lower(prefix)
        if high[-1] == "@":
            is_complete = False
    high = high[:-1] + chr(ord(high[-1]) + 1)
    mask = clause.scope.mask(left)
    at = clause._indexed(left, mask)
    for operator, text in ((GE, low), (LT, high)):
        child = clause._derive(call, term)
        child.needs = term.needs
        child.operator = operator if at is not None else 0
        child.right = Literal(text)
        child.left = strip(left)
        child.like = True
        child.using = "NOCASE" if ignores_case else "BINARY"
        child.is_complete = is_complete
        if term.outer_on is not None:
            child.right_needs = clause.scope.bits.get(term.outer_on, 1) - 1
        if at is not None:
            child.source, child.column, child.left_key = at
        child.sides = left.affinity
    if is_complete:
        for child in clause.terms[-2:]:
            child.parent = term
            child.hint = term.hint
            term.children += 1


def _prefix(pattern: str, wild: str, escape: str | None) -> tuple[str, str] | None:
    """The literal start of a pattern and what follows it."""
    prefix = []
    position = 0
    while position < len(pattern) and pattern[position] not in wild:
        if pattern[position] == escape:
            position += 1
            if position >= len(pattern):
                return None
        prefix.append(pattern[position])
        position += 1
    text = "".join(prefix)
    if not text or "\0" in text or text[-1] in "\U0010ffff\ud7ff" or 0xDC80 <= ord(text[-1]) <= 0xDCFF:
        return None
    return text, pattern[position:]


def _is_text_column(clause: Clause, left: Expression) -> bool:
    inner = strip(left)
    if not isinstance(inner, Column) or inner.affinity != "B":
        return False
    item = clause.scope.by_source.get(inner.source)
    return item is None or (item.table is not None and item.table.kind == "table")


def _could_be_number(prefix: str) -> bool:
    bumped = prefix[:-1] + chr(ord(prefix[-1]) + 1)
    return prefix == "-" or _is_number(prefix) or _is_number(bumped)


def _is_number(text: str) -> bool:
    stripped = text.strip(" \t\n\v\f\r")
    if not stripped or "_" in stripped or stripped.lstrip("+-")[:1] not in "0123456789.":
        return False
    try:
        float(stripped)
    except ValueError:
        return False
    return True


def _upper(text: str) -> str:
    return "".join(chr(ord(character) - 32) if "a" <= character <= "z" else character for character in text)


def _lower(text: str) -> str:
    return "".join(chr(ord(character) + 32) if "A" <= character <= "Z" else character for character in text)

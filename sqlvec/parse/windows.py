"""FILTER and OVER behind a function call, the WINDOW clause, and window specifications with their frames.

Loaded only when a statement has one of them.  Follows the manual's "Window Functions".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast import Frame, FrameBound, Name, Node, OrderTerm, WindowDefinition, WindowSpec
from sqlvec.parse.expressions import expression, filled_expression_list
from sqlvec.parse.lexer import NAME_KINDS, TokenStream
from sqlvec.parse.select import order_terms

# Bounds in the order in which they may follow one another.
_RANK = {"UNBOUNDED PRECEDING": 0, "PRECEDING": 1, "CURRENT ROW": 2, "FOLLOWING": 3, "UNBOUNDED FOLLOWING": 4}


def filter_over(ts: TokenStream) -> tuple[Node | None, WindowSpec | Name | None]:
    """``[FILTER (WHERE expr)] [OVER name | OVER (spec)]``; leaves in ``ts.height`` the greatest height met."""
    height = 0
    filter_: Node | None = None
    over: WindowSpec | Name | None = None
    if ts.accept("FILTER"):
        ts.expect("(")
        ts.expect("WHERE")
        ts.depth += 8
        filter_ = expression(ts)
        ts.depth -= 8
        height = ts.height
        ts.expect(")")
    if ts.accept("OVER"):
        if ts.kind == "(":
            ts.depth += 7
            over = parenthesised_spec(ts)
            ts.depth -= 7
        else:
            over = ts.name()
    ts.height = height
    return filter_, over


def window_definitions(ts: TokenStream) -> list[WindowDefinition]:
    """``name AS (spec), ...`` after the word WINDOW."""
    definitions = []
    while True:
        start = ts.start()
        name = ts.name()
        ts.expect("AS")
        if ts.kind != "(":
            ts.fail()
        spec = parenthesised_spec(ts)
        definitions.append(WindowDefinition(name, spec, (start, ts.end())))
        if not ts.accept(","):
            return definitions


def parenthesised_spec(ts: TokenStream) -> WindowSpec:
    """``([base] [PARTITION BY ...] [ORDER BY ...] [frame])``"""
    start = ts.start()
    ts.advance()
    base: Name | None = None
    if ts.kind in NAME_KINDS and ts.kind not in ("PARTITION", "ROWS", "RANGE", "GROUPS"):
        base = ts.take_name()
    partition_by: list[Node] = []
    if ts.accept("PARTITION"):
        ts.expect("BY")
        ts.depth += 3
        partition_by = filled_expression_list(ts)
        ts.depth -= 3
    order_by: list[OrderTerm] = []
    if ts.accept("ORDER"):
        ts.expect("BY")
        ts.depth += 3
        order_by = order_terms(ts)
        ts.depth -= 3
    frame = _frame(ts) if ts.kind in ("ROWS", "RANGE", "GROUPS") else None
    ts.expect(")")
    return WindowSpec(base, partition_by, order_by, frame, (start, ts.end()))


def _frame(ts: TokenStream) -> Frame:
    start = ts.start()
    unit = ts.word()
    if ts.accept("BETWEEN"):
        first = _bound(ts, "UNBOUNDED PRECEDING")
        ts.expect("AND")
        last = _bound(ts, "UNBOUNDED FOLLOWING")
    else:
        first = _bound(ts, "UNBOUNDED PRECEDING")
        last = FrameBound("CURRENT ROW", None, first.span)
    exclude = _exclude(ts) if ts.accept("EXCLUDE") else None
    if _RANK[first.kind] > _RANK[last.kind]:
        ts.defer(errors.unsupported_frame())
    return Frame(unit, first, last, exclude, (start, ts.end()))


def _bound(ts: TokenStream, unbounded: str) -> FrameBound:
    start = ts.start()
    expr: Node | None = None
    if ts.accept("UNBOUNDED"):
        ts.expect(unbounded[10:])
        kind = unbounded
    elif ts.accept("CURRENT"):
        ts.expect("ROW")
        kind = "CURRENT ROW"
    else:
        expr = expression(ts)
        if ts.kind not in ("PRECEDING", "FOLLOWING"):
            ts.fail()
        kind = ts.word()
    return FrameBound(kind, expr, (start, ts.end()))


def _exclude(ts: TokenStream) -> str:
    word = ts.kind
    if word == "NO":
        ts.advance()
        ts.expect("OTHERS")
        return "NO OTHERS"
    if word == "CURRENT":
        ts.advance()
        ts.expect("ROW")
        return "CURRENT ROW"
    if word not in ("GROUP", "TIES"):
        ts.fail()
    ts.advance()
    return word

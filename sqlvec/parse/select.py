"""SELECT, VALUES, compounds, WITH and the FROM clause.

``select(ts)`` is the whole query as it may stand anywhere; ``statement_select`` the statement.  ``ts.height`` after a query is the
greatest height of its expressions, since a sub-query counts in the depth of the expression around it.

The join words are read as the LALR grammar does: a JOIN_KW, then up to two more names, then JOIN; only then are the words judged
(``unknown join type: left foo``).

Follows the manual's "SELECT" and "The WITH Clause".
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.parse.ast import (
    JOIN_COMMA,
    JOIN_CROSS,
    JOIN_INNER,
    JOIN_LEFT,
    JOIN_NATURAL,
    JOIN_OUTER,
    JOIN_RIGHT,
    Compound,
    Cte,
    JoinItem,
    Name,
    Node,
    OrderTerm,
    ParenthesisedJoin,
    ResultColumn,
    Select,
    SelectCore,
    Star,
    SubqueryFrom,
    TableName,
    TableStar,
    Values,
    With,
)
from sqlvec.parse.expressions import SELECT_STARTS, expression, expression_list, filled_expression_list
from sqlvec.parse.lexer import IDS_KINDS, NAME_KINDS, STACK_LIMIT, TokenStream
from sqlvec.resolve import resolve

COMPOUND_LIMIT = 500
COLUMN_LIMIT = 2000
_COMPOUND_OPERATORS = frozenset(("UNION", "INTERSECT", "EXCEPT"))
_JOIN_BITS = {
    "NATURAL": JOIN_NATURAL,
    "LEFT": JOIN_LEFT | JOIN_OUTER,
    "RIGHT": JOIN_RIGHT | JOIN_OUTER,
    "FULL": JOIN_LEFT | JOIN_RIGHT | JOIN_OUTER,
    "OUTER": JOIN_OUTER,
    "INNER": JOIN_INNER,
    "CROSS": JOIN_INNER | JOIN_CROSS,
}


def statement_select(ts: TokenStream) -> Select:
    """SELECT or VALUES as a statement."""
    return select(ts)


def select(ts: TokenStream) -> Select:
    """A query: ``[WITH ...] core [compound operator core]... [ORDER BY ...] [LIMIT ...]``."""
    start = ts.starts[ts.position]
    if ts.kind == "WITH":
        with_ = with_clause(ts)
        ts.depth += 2
        found = select_after_with(ts, with_, start)
        ts.depth -= 2
        return found
    return select_after_with(ts, None, start)


def select_after_with(ts: TokenStream, with_: With | None, start: int) -> Select:
    if ts.kind == "SELECT":
        core: SelectCore | Values = _core(ts)
    elif ts.kind == "VALUES":
        core = _values(ts)
    else:
        ts.fail()
        raise AssertionError
    is_values = type(core) is Values
    height = ts.height
    body: SelectCore | Values | Compound = core
    order_by, limit, offset = ([], None, None) if is_values else order_and_limit(ts, 9)
    height = max(height, ts.height)
    if ts.kind in _COMPOUND_OPERATORS:
        cores = [core]
        operators: list[str] = []
        misplaced: tuple[str, str] | None = None
        ts.depth += 2
        while ts.kind in _COMPOUND_OPERATORS:
            operator = ts.word()
            if operator == "UNION" and ts.accept("ALL"):
                operator = "UNION ALL"
            # SQLite looks at the arms when the query is complete, from the last operator to the first
            if order_by or limit is not None:
                misplaced = ("ORDER BY" if order_by else "LIMIT", operator)
            operators.append(operator)
            if ts.kind == "SELECT":
                core = _core(ts)
            elif ts.kind == "VALUES":
                core = _values(ts)
            else:
                ts.fail()
            cores.append(core)
            height = max(height, ts.height)
            is_values = type(core) is Values
            order_by, limit, offset = ([], None, None) if is_values else order_and_limit(ts, 9)
            height = max(height, ts.height)
        ts.depth -= 2
        if misplaced is not None:
            ts.defer(errors.clause_before_compound(*misplaced))
        elif len(cores) > COMPOUND_LIMIT:
            ts.defer(errors.too_many_terms_in_compound())
        body = Compound(cores, operators, (cores[0].span[0], cores[-1].span[1]))
    ts.height = height
    return Select(with_, body, order_by, limit, offset, (start, ts.ends[ts.position - 1]))


def order_and_limit(ts: TokenStream, depth: int) -> tuple[list[OrderTerm], Node | None, Node | None]:
    """``[ORDER BY ...] [LIMIT ...]``, with ``depth`` symbols of the statement on the stack before their expressions."""
    order_by: list[OrderTerm] = []
    limit = offset = None
    height = 0
    if ts.kind == "ORDER":
        ts.advance()
        ts.expect("BY")
        ts.depth += depth
        order_by = order_terms(ts)
        ts.depth -= depth
        height = ts.height
    if ts.kind == "LIMIT":
        ts.advance()
        ts.depth += depth
        limit = expression(ts)
        height = max(height, ts.height)
        if ts.kind == "OFFSET":
            ts.advance()
            ts.depth += 2
            offset = expression(ts)
            ts.depth -= 2
        elif ts.kind == ",":
            ts.advance()
            ts.depth += 2
            limit, offset = expression(ts), limit
            ts.depth -= 2
        height = max(height, ts.height)
        ts.depth -= depth
    ts.height = height
    return order_by, limit, offset


def order_terms(ts: TokenStream) -> list[OrderTerm]:
    """``expr [ASC | DESC] [NULLS FIRST | LAST], ...``"""
    terms: list[OrderTerm] = []
    height = 0
    while True:
        start = ts.starts[ts.position]
        expr = expression(ts)
        height = max(height, ts.height)
        explicit = ts.kind == "ASC" or ts.kind == "DESC"
        desc = ts.kind == "DESC"
        if explicit:
            ts.advance()
        nulls = None
        if ts.kind == "NULLS":
            ts.advance()
            nulls = ts.kind
            if nulls not in ("FIRST", "LAST"):
                ts.fail()
            ts.advance()
        terms.append(OrderTerm(expr, desc, nulls, explicit, (start, ts.end())))
        if ts.kind != ",":
            break
        ts.advance()
        if len(terms) == 1:
            ts.depth += 2
    if len(terms) > 1:
        ts.depth -= 2
    ts.height = height
    return terms


# --- WITH --------------------------------------------------------------------------------------------------------------------------


def with_clause(ts: TokenStream) -> With:
    start = ts.start()
    ts.advance()
    recursive = ts.accept("RECURSIVE")
    ctes: list[Cte] = []
    ts.depth += 1
    while True:
        cte_start = ts.start()
        name = ts.name()
        columns = plain_columns(ts) or []
        ts.expect("AS")
        materialized = None
        if ts.kind == "MATERIALIZED":
            ts.advance()
            materialized = True
        elif ts.kind == "NOT":
            ts.advance()
            ts.expect("MATERIALIZED")
            materialized = False
        ts.expect("(")
        if ts.kind not in SELECT_STARTS:
            ts.fail()
        ts.depth += 4
        if ts.depth + 1 > STACK_LIMIT:
            ts.overflow()
        query = select(ts)
        ts.depth -= 4
        ts.expect(")")
        if any(other.name.text.lower() == name.text.lower() for other in ctes):
            raise errors.duplicate_with(name.text)
        ctes.append(Cte(name, columns, materialized, query, (cte_start, ts.end())))
        if ts.kind != ",":
            break
        ts.advance()
        if len(ctes) == 1:
            ts.depth += 2
    ts.depth -= 1 if len(ctes) == 1 else 3
    return With(recursive, ctes, (start, ts.end()))


def plain_columns(ts: TokenStream) -> list[Name] | None:
    """``[(name, name, ...)]``; a collation or direction, which old schemas may hold, is an error of its own."""
    if ts.kind != "(":
        return None
    ts.advance()
    names: list[Name] = []
    while True:
        name = ts.name()
        decorated = False
        if ts.accept("COLLATE"):
            ts.ids_name()
            decorated = True
        if ts.kind == "ASC" or ts.kind == "DESC":
            ts.advance()
            decorated = True
        if decorated and not ts.is_stored:
            ts.defer(errors.syntax_error_after_column_name(name.text))
        names.append(name)
        if ts.kind != ",":
            break
        ts.advance()
    ts.expect(")")
    return names


# --- one SELECT ----------------------------------------------------------------------------------------------------------------------


def _core(ts: TokenStream) -> SelectCore:
    start = ts.starts[ts.position]
    depth = ts.depth
    if depth + 4 > STACK_LIMIT:
        ts.overflow()
    ts.advance()
    distinct = False
    if ts.kind == "DISTINCT" or ts.kind == "ALL":
        distinct = ts.kind == "DISTINCT"
        ts.advance()
    ts.depth = depth + 4
    columns = result_columns(ts)
    height = ts.height
    ts.depth = depth + 3
    from_: list[JoinItem] = []
    where = having = None
    group_by: list[Node] = []
    if ts.kind == "FROM":
        ts.advance()
        ts.depth = depth + 4
        from_ = from_items(ts)
        height = max(height, ts.height)
    if ts.kind == "WHERE":
        ts.advance()
        ts.depth = depth + 5
        where = expression(ts)
        height = max(height, ts.height)
    if ts.kind == "GROUP":
        ts.advance()
        ts.expect("BY")
        ts.depth = depth + 7
        group_by = filled_expression_list(ts)
        height = max(height, ts.height)
    if ts.kind == "HAVING":
        ts.advance()
        ts.depth = depth + 7
        having = expression(ts)
        height = max(height, ts.height)
    windows = []
    if ts.kind == "WINDOW":
        ts.advance()
        ts.depth = depth + 8
        windows = resolve("sqlvec.parse.windows:window_definitions")(ts)
    ts.depth = depth
    # by now a SELECT has nine symbols on the stack, ORDER BY and LIMIT (empty ones too) included
    if depth + 9 > STACK_LIMIT:
        ts.overflow()
    ts.height = height
    if len(columns) > COLUMN_LIMIT:
        ts.defer(errors.too_many_columns_in("result set"))
    return SelectCore(distinct, columns, from_, where, group_by, having, windows, (start, ts.ends[ts.position - 1]))


def _values(ts: TokenStream) -> Values:
    start = ts.start()
    ts.advance()
    rows: list[list[Node]] = []
    height = 0
    added = 2
    while True:
        ts.expect("(")
        ts.depth += added
        rows.append(filled_expression_list(ts))
        ts.depth -= added
        if ts.height > height:
            height = ts.height
        ts.expect(")")
        if ts.kind != ",":
            break
        ts.advance()
        added = 3
    ts.height = height
    return Values(rows, (start, ts.end()))


def result_columns(ts: TokenStream) -> list[ResultColumn | Star | TableStar]:
    """The list after SELECT or RETURNING."""
    columns: list[ResultColumn | Star | TableStar] = []
    kinds, starts = ts.kinds, ts.starts
    height = 0
    while True:
        position = ts.position
        start = starts[position]
        if ts.kind == "*":
            ts.advance()
            columns.append(Star((start, ts.end())))
        elif ts.kind in NAME_KINDS and kinds[position + 1] == "." and kinds[position + 2] == "*":
            table = ts.take_name()
            ts.advance()
            ts.advance()
            columns.append(TableStar(table, (start, ts.end())))
        else:
            expr = expression(ts)
            if ts.height > height:
                height = ts.height
            # up to the next token, comments included: that text is the column's name
            text = ts.sql[start : starts[ts.position]].strip(" \t\n\r\f\x0b")
            end = ts.ends[ts.position - 1]
            alias = None
            if ts.kind == "AS":
                ts.advance()
                alias = ts.name()
            elif ts.kind in IDS_KINDS:
                alias = ts.take_name()
            columns.append(ResultColumn(expr, alias, text, (start, end)))
        if ts.kind != ",":
            ts.height = height
            return columns
        ts.advance()


# --- FROM ----------------------------------------------------------------------------------------------------------------------------


def from_items(ts: TokenStream) -> list[JoinItem]:
    """``item [join operator item [ON expr | USING (...)]]...``"""
    items: list[JoinItem] = []
    join = 0
    height = 0
    while True:
        start = ts.starts[ts.position]
        ts.height = 0
        nested = _source(ts)
        height = max(height, ts.height)
        on: Node | None = None
        using: list[Name] | None = None
        if ts.kind == "ON":
            ts.advance()
            ts.depth += 5
            on = expression(ts)
            ts.depth -= 5
            height = max(height, ts.height)
        elif ts.kind == "USING":
            ts.advance()
            ts.expect("(")
            using = ts.name_list()
            ts.expect(")")
        if not items and (on is not None or using is not None):
            ts.defer(errors.join_required_before("ON" if on is not None else "USING"))
        if not items and isinstance(nested, list):
            items = nested  # a parenthesised join at the start of the list is the start of the list
        else:
            source = ParenthesisedJoin(nested, None, (start, ts.end())) if isinstance(nested, list) else nested
            items.append(JoinItem(source, join, on, using, (start, ts.end())))
        if ts.kind == ",":
            ts.advance()
            join = JOIN_COMMA
        elif ts.kind == "JOIN":
            ts.advance()
            join = JOIN_INNER
        elif ts.kind == "JOIN_KW":
            join = _join_words(ts)
        else:
            ts.height = height
            return items


def _join_words(ts: TokenStream) -> int:
    """A join operator that starts with NATURAL, LEFT, ...: the bits, once JOIN has been seen."""
    words = [ts.word()]
    spans = [(ts.starts[ts.position - 1], ts.ends[ts.position - 1])]
    while ts.kind != "JOIN":
        if len(words) == 3 or ts.kind not in NAME_KINDS:
            ts.fail()
        words.append(ts.word())
        spans.append((ts.starts[ts.position - 1], ts.ends[ts.position - 1]))
    ts.advance()
    bits = 0
    for word in words:
        bits |= _JOIN_BITS.get(word, 0)
    sides = bits & (JOIN_LEFT | JOIN_RIGHT)
    is_known = all(word in _JOIN_BITS for word in words)
    if not is_known or (bits & JOIN_INNER and bits & JOIN_OUTER) or (bits & JOIN_OUTER and not sides):
        ts.defer(errors.unknown_join_type(" ".join(ts.sql[start:end] for start, end in spans), spans[0][0]))
    return bits


def _source(ts: TokenStream) -> TableName | SubqueryFrom | ParenthesisedJoin | list[JoinItem]:
    """One FROM item without its ON; a parenthesised join without an alias comes back as its list."""
    start = ts.start()
    if ts.kind == "(":
        ts.advance()
        ts.depth += 2
        if ts.kind in SELECT_STARTS:
            query = select(ts)
            ts.depth -= 2
            ts.expect(")")
            alias = ts.optional_alias()
            return SubqueryFrom(query, alias, (start, ts.end()))
        if ts.depth + 5 > STACK_LIMIT:
            ts.overflow()
        items = from_items(ts)
        ts.depth -= 2
        ts.expect(")")
        alias = ts.optional_alias()
        if alias is None:
            return items[0].source if len(items) == 1 else items
        if len(items) == 1:
            source = items[0].source
            source.alias = alias
            return source
        return ParenthesisedJoin(items, alias, (start, ts.end()))
    schema, name = ts.qualified_name()
    args: list[Node] | None = None
    if ts.kind == "(":
        ts.advance()
        ts.depth += 4
        args = expression_list(ts)
        ts.depth -= 4
        ts.expect(")")
    alias = ts.optional_alias()
    indexed_by, not_indexed = indexed_clause(ts) if args is None else (None, False)
    return TableName(schema, name, alias, indexed_by, not_indexed, args, (start, ts.ends[ts.position - 1]))


def indexed_clause(ts: TokenStream) -> tuple[Name | None, bool]:
    """``[INDEXED BY name | NOT INDEXED]``"""
    if ts.kind == "INDEXED":
        ts.advance()
        ts.expect("BY")
        return ts.name(), False
    if ts.kind == "NOT":
        ts.advance()
        ts.expect("INDEXED")
        return None, True
    return None, False

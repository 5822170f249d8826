"""Lowering window functions: one sorted pass per distinct window definition.

The first listed window is the *main* one: its pass runs last, over rows sorted by its PARTITION BY and ORDER BY; the second one's pass runs before it over
rows in its own order, and so on inwards.  Without an ORDER BY the result therefore comes in the order of the main window, ties in that of the second.

An ORDER BY that names a result column doesn't read what the main pass computes for it: that is computed once more by a pass of its own
(``WindowCall.repeats``) further in, and the sorter shows those values.

Before the passes a Project computes what they need (partition, order and argument expressions) once; it hands the plain columns on unchanged.

Follows "Window Functions" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import Collate, Column, Expression, Frame, Literal, OrderTerm, Parameter, Window, WindowCall
from sqlvec.plan import physical
from sqlvec.plan.logical import Block, columns_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.plan.lower import Lowering


class WindowLowering:
    """The window passes of one block."""

    def __init__(self, lowering: Lowering, block: Block) -> None:
        self.lowering = lowering
        self.block = block
        self.passes: list[list[WindowCall]] = []           # calls by window, the main one first
        known: dict[Any, list[WindowCall]] = {}
        for call in block.windows:
            key = call.window.key(), call.repeats >= 0
            if key not in known:
                known[key] = []
                self.passes.append(known[key])
            known[key].append(call)

    def innermost_order(self) -> tuple[OrderTerm, ...]:
        """The order that the loops should deliver: that of the pass which runs first."""
        return sort_terms(self.passes[-1][0].window) or self.block.window_order

    def lower(self, node: physical.Node, results: tuple[Expression, ...], order: tuple[OrderTerm, ...],
              sorted_terms: int) -> tuple[physical.Node, tuple[Expression, ...], tuple[OrderTerm, ...], bool]:
        """The passes above ``node``, whose rows come in the first ``sorted_terms`` terms of the innermost order.

        ``results`` and ``order`` may have been rewritten over an Aggregate: the calls in them are the real ones."""
        calls = _calls_in([*results, *(term.expression for term in order)])
        groups = self._regroup(calls)
        main = groups[0][0].window if groups else None
        node, computed = self._prepare(node, groups, results, order)
        mapping: dict[Any, Column] = {}
        for position in range(len(groups) - 1, -1, -1):
            group = groups[position]
            window = _over_columns(group[0].window, computed)
            presorted = sorted_terms if position == len(groups) - 1 else 0
            terms = sort_terms(window)
            if position < len(groups) - 1:
                own, before = sort_terms(groups[position][0].window), sort_terms(groups[position + 1][0].window)
                if _is_prefix(own, before) and not _has_collate(own):
                    presorted = len(terms)                  # the rows keep the order of the pass before
            if not terms and position == len(groups) - 1:
                terms = tuple([OrderTerm(computed.get(term.expression.key(), term.expression), term.descending, term.nulls_last, term.collation)
                               for term in self.block.window_order])
            if terms and presorted < len(terms):
                node = physical.Sort(node, terms, presorted)
                node.for_window = True
            if position == len(groups) - 1 and self.block.window_limit is not None:
                node = physical.Limit(node, self.block.window_limit, None)
            node = self._pass(node, window, group, computed, mapping)
        is_sorted = not order or (main is not None and _is_prefix(order, sort_terms(main)))

        def change(expression: Expression) -> Expression | None:
            return mapping.get(expression.key()) if type(expression) is WindowCall else None

        results, order = _as_sorted(results, order, self.block.distinct)
        results = tuple([expression.replace(change) for expression in results])
        order = tuple([OrderTerm(term.expression.replace(change), term.descending, term.nulls_last, term.collation) for term in order])
        return node, results, order, is_sorted

    def _regroup(self, calls: list[WindowCall]) -> list[list[WindowCall]]:
        found: dict[Any, list[WindowCall]] = {}
        for call in calls:
            group = found.setdefault((call.window.key(), call.repeats >= 0), [])
            if not any(call == other for other in group):
                group.append(call)
        return list(found.values())

    def _prepare(self, node: physical.Node, groups: list[list[WindowCall]], results: tuple[Expression, ...],
                 order: tuple[OrderTerm, ...]) -> tuple[physical.Node, dict[Any, Column]]:
        """A Project that hands on the columns read above and computes the expressions of the windows."""
        available = {(column.source, column.number): column for column in node.columns}
        read = columns_read([*results, *(term.expression for term in order)])
        expressions: list[Expression] = [column for key, column in available.items() if key in read]
        columns: list[Column] = list(expressions)  # type: ignore[arg-type]
        computed: dict[Any, Column] = {column.key(): column for column in columns}
        source = self.lowering.statement.new_source()
        wanted: list[Expression] = [term.expression for term in self.block.window_order]
        for group in groups:
            wanted += [*group[0].window.partition, *(term.expression for term in group[0].window.order)]
            for call in group:
                if _sees_subtype(call):
                    wanted += columns_read(call.arguments).values()
                else:
                    wanted += call.arguments
                wanted += [call.condition] if call.condition is not None else []
        for expression in wanted:
            key = expression.key()
            if key in computed or isinstance(expression, (Literal, Parameter)):
                continue
            if isinstance(expression, Column) and key[1:] in available:
                computed[key] = expression
                expressions.append(expression)
                columns.append(expression)
                continue
            column = Column(source, len(expressions), "", expression.affinity, expression.collation)
            column.explicit = expression.explicit
            computed[key] = column
            expressions.append(expression)
            columns.append(column)
        if len(expressions) == len(available) and all(type(expression) is Column for expression in expressions) and not any(
                column.source == source for column in columns):
            return node, computed
        rows = node.rows
        node = physical.Project(node, tuple(expressions), source, tuple(columns))
        node.rows = rows
        return node, computed

    def _pass(self, node: physical.Node, window: Window, group: list[WindowCall], computed: dict[Any, Column],
              mapping: dict[Any, Column]) -> physical.Node:
        source = self.lowering.statement.new_source()
        calls = []
        added = []
        for number, call in enumerate(group):
            arguments = call.arguments
            if not _sees_subtype(call):
                arguments = tuple([computed.get(argument.key(), argument) for argument in arguments])
            condition = computed.get(call.condition.key(), call.condition) if call.condition is not None else None
            calls.append(WindowCall(call.function, arguments, window, condition, call.using, call.star))
            column = Column(source, number, call.function.name)
            added.append(column)
            mapping[call.key()] = column
        made = physical.WindowPass(node, window, tuple(calls), source, (*node.columns, *added))
        made.rows = node.rows
        return made


def _sees_subtype(call: WindowCall) -> bool:
    """Does the function look at the JSON subtype of its arguments?  They are computed when it is called then, not before the sort."""
    return bool(getattr(call.function, "json_args", False))


def sort_terms(window: Window) -> tuple[OrderTerm, ...]:
    """The order in which a pass wants its rows: partition terms ascending, then the order terms."""
    return (*(OrderTerm(part, False, None, part.collation or "BINARY") for part in window.partition), *window.order)


def _has_collate(terms: tuple[OrderTerm, ...]) -> bool:
    return any(isinstance(node, Collate) for term in terms for node in term.expression.walk())


def _is_prefix(order: tuple[OrderTerm, ...], terms: tuple[OrderTerm, ...]) -> bool:
    return len(order) <= len(terms) and all(wanted.key() == given.key() for wanted, given in zip(order, terms, strict=False))


def _calls_in(expressions: list[Expression]) -> list[WindowCall]:
    """Window calls from the left, not those inside others."""
    found = []
    for expression in expressions:
        for node in expression.walk():
            if type(node) is WindowCall:
                found.append(node)
    return found


def _as_sorted(results: tuple[Expression, ...], order: tuple[OrderTerm, ...],
               is_distinct: bool) -> tuple[tuple[Expression, ...], tuple[OrderTerm, ...]]:
    """Result list and ORDER BY as the sorter has them: a column that is sorted by shows what it was sorted by, the value of repeated calls; where
    duplicates are removed first it is the other way round."""
    shown, terms = list(results), list(order)
    for number, term in enumerate(order):
        wanted = term.expression
        while isinstance(wanted, Collate):
            wanted = wanted.operand
        at = next((node.repeats for node in wanted.walk() if type(node) is WindowCall and node.repeats >= 0), -1)
        if at < 0 or wanted.replace(_once).key() != results[at].key():
            continue
        if is_distinct:
            terms[number] = OrderTerm(term.expression.replace(_once), term.descending, term.nulls_last, term.collation)
        else:
            shown[at] = wanted
    return tuple(shown), tuple(terms)


def _once(node: Expression) -> Expression | None:
    if type(node) is not WindowCall or node.repeats < 0:
        return None
    call = node.copy()
    call.repeats = -1
    return call  # type: ignore[no-any-return]


def _over_columns(window: Window, computed: dict[Any, Column]) -> Window:
    """The definition over the prepared columns."""
    partition = tuple([computed.get(part.key(), part) for part in window.partition])
    order = tuple([OrderTerm(computed.get(term.expression.key(), term.expression), term.descending, term.nulls_last, term.collation)
                   for term in window.order])
    return Window(partition, order, Frame(window.frame.unit, window.frame.start, window.frame.end, window.frame.exclude))

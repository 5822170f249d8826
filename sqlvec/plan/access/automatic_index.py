"""Automatic indexes: the temporary index that a join builds when no real one fits.

The key is every usable equality column in term order, then the other columns that the statement reads, in table order: rows with equal keys come in the
order of those other columns, not in rowid order.  When terms of the WHERE clause concern this table alone, the index is partial on all of them.

Follows "Automatic Indexes" in "The SQLite Query Optimizer Overview" of the manual.
"""
from __future__ import annotations

from sqlvec.expr.bound import And, without_fixed_columns
from sqlvec.plan import physical
from sqlvec.plan.access.candidates import can_drive_automatic
from sqlvec.plan.access.paths import key_term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.expr.bound import Expression
    from sqlvec.plan.access.candidates import Loop
    from sqlvec.plan.access.paths import PathBuilder
    from sqlvec.plan.access.terms import Term
    from sqlvec.plan.logical import FromItem


def build_path(builder: PathBuilder, loop: Loop, item: FromItem, reverse: bool) -> physical.Path:
    """The AutomaticIndex of a chosen automatic loop."""
    clause = builder.clause
    not_ready = ~builder.ready | loop.bit
    columns: list[int] = []
    keys: list[physical.KeyTerm] = []
    using: list[str] = []
    parts: list[Expression] = []
    chosen: list[Term] = []
    for term in clause.terms:
        if not term.virtual and _concerns_only(term, loop, item):
            parts.append(without_fixed_columns(term.expression))
        if term.source == item.source and can_drive_automatic(clause, term, item, not_ready) and term.column not in columns:
            columns.append(term.column)
            keys.append(key_term(term))
            using.append(term.using)
            chosen.append(term)
    others = tuple(number for number in sorted(item.used) if number >= 0 and number not in columns)
    for term in chosen:
        builder.enforced(term, item)
    condition = None if not parts else parts[0] if len(parts) == 1 else And(tuple(parts))
    scan = builder.scan(item, loop.position)
    scan.used = tuple(sorted(item.used))
    path = physical.AutomaticIndex(item.source, item.label, scan, tuple(columns), tuple(keys), tuple(using), others, condition)
    path.descending = reverse
    path.names = tuple(item.table.columns[number].name if item.table is not None else item.columns[number] for number in columns)
    return path


def _concerns_only(term: Term, loop: Loop, item: FromItem) -> bool:
    """Does the term depend on this table and on constants only, so that the index may leave out rows for which it isn't true?"""
    if term.needs & ~loop.bit or item.left_of_right:
        return False
    if item.left:
        if term.outer_on != item.source:
            return False
    elif term.outer_on is not None:
        return False
    for node in term.expression.walk():
        name = type(node).__name__
        if name in ("ScalarSubquery", "Exists", "InSubquery"):
            return False
        if name == "Column" and node.source != item.source:  # type: ignore[attr-defined]
            return False
        if name == "Call" and not getattr(node.function, "deterministic", True):  # type: ignore[attr-defined]
            return False
    return True

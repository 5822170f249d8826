"""The text that EXPLAIN QUERY PLAN prints for one access path.

Follows "EXPLAIN QUERY PLAN" of the manual.
"""
from __future__ import annotations

from sqlvec.plan import physical
from sqlvec.plan.access.terms import EXPRESSION, ROWID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlvec.schema.objects import Index, Table


def path_text(path: physical.Path, kind: str = "inner") -> str:
    """``SEARCH t USING INDEX i (a=?)`` and the like; a multi-index OR has no line of its own kind but ``MULTI-INDEX OR``."""
    if isinstance(path, physical.MultiIndexOr):
        return "MULTI-INDEX OR"
    text = ""
    is_search = path.for_extreme
    if isinstance(path, physical.RowidSearch):
        is_search = True
        if path.key is not None:
            text = " USING INTEGER PRIMARY KEY (rowid=?)"
        else:
            bounds = [name for name, bound in (("rowid>?", path.lower), ("rowid<?", path.upper)) if bound is not None]
            text = f" USING INTEGER PRIMARY KEY ({' AND '.join(bounds)})"
    elif isinstance(path, physical.IndexSearch):
        constraints = _index_range(path)
        is_search = is_search or bool(constraints)
        if path.index.is_table_tree:
            text = " USING PRIMARY KEY" + constraints if is_search else ""
        else:
            text = f" USING {'COVERING ' if path.covering else ''}INDEX {path.index.name}{constraints}"
    elif isinstance(path, physical.AutomaticIndex):
        is_search = True
        partial = "PARTIAL " if path.condition is not None else ""
        text = f" USING AUTOMATIC {partial}COVERING INDEX ({' AND '.join(name + '=?' for name in path.names)})"
    elif isinstance(path, physical.VtabScan):
        text = f" VIRTUAL TABLE INDEX {path.choice.number}:{path.choice.text or ''}"
    joined = " LEFT-JOIN" if kind in ("left", "full") else ""
    return f"{'SEARCH' if is_search else 'SCAN'} {path.label}{text}{joined}"


def _index_range(path: physical.IndexSearch) -> str:
    parts = [f"ANY({column_name(path.index, path.table, at)})" if key.kind == "ANY" else f"{column_name(path.index, path.table, at)}=?"
             for at, key in enumerate(path.keys)]
    for bound, sign in ((path.lower, ">"), (path.upper, "<")):
        if bound is not None:
            names = [column_name(path.index, path.table, len(path.keys) + at) for at in range(len(bound.expressions))]
            if len(names) > 1:
                parts.append(f"({','.join(names)}){sign}({','.join('?' * len(names))})")
            else:
                parts.append(f"{names[0]}{sign}?")
    return f" ({' AND '.join(parts)})" if parts else ""


def column_name(index: Index, table: Table, at: int) -> str:
    """The name of an index field."""
    column = index.columns[at].column
    if column == EXPRESSION:
        return "<expr>"
    return "rowid" if column == ROWID else table.columns[column].name


def bloom_columns(path: physical.Path) -> tuple[str, ...]:
    """The key columns of a search as a Bloom filter line prints them."""
    if isinstance(path, physical.IndexSearch):
        return tuple(column_name(path.index, path.table, at) for at, key in enumerate(path.keys) if key.kind != "ANY")
    assert isinstance(path, physical.RowidSearch)
    number = path.table.rowid_column
    return (path.table.columns[number].name if number >= 0 else "rowid",)

"""Affinities by name, and the affinity of a declared type.  What an affinity does to values is in values/storage.py.

Affinities are one-letter strings in SQLite's order, so that ``affinity >= NUMERIC`` reads "is numeric".

Follows "Determination Of Column Affinity" in the manual's "Datatypes In SQLite".
"""
from __future__ import annotations

BLOB = "A"
TEXT = "B"
NUMERIC = "C"
INTEGER = "D"
REAL = "E"

AFFINITY_NAMES = {BLOB: "BLOB", TEXT: "TEXT", NUMERIC: "NUMERIC", INTEGER: "INTEGER", REAL: "REAL"}


def affinity_of_type(declared: str | None) -> str:
    """The affinity of a declared type, by the substring rule; no type at all means BLOB."""
    if not declared:
        return BLOB
    lowered = declared.lower()
    if "int" in lowered:
        return INTEGER
    if "char" in lowered or "clob" in lowered or "text" in lowered:
        return TEXT
    blob = lowered.find("blob")
    real = min((at for at in (lowered.find("real"), lowered.find("floa"), lowered.find("doub")) if at >= 0), default=-1)
    if blob >= 0:
        return BLOB
    return REAL if real >= 0 else NUMERIC

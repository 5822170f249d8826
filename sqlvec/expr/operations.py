"""What generated code calls: the slow and general forms of comparison, logic and membership.

Emitted source holds fast paths for the common classes and falls back to these functions, which are correct for every pair of values.
A comparison returns None (unknown), True or False; in a condition None counts as "not true", so its result is used as it is.

Follows "SQL Language Expressions" of the manual.
"""
from __future__ import annotations

from sqlvec import errors
from sqlvec.values.arithmetic import concat, truth
from sqlvec.values.compare import compare, hash_key
from sqlvec.values.numeric_text import number_of_text
from sqlvec.values.storage import to_text_affinity
from sqlvec.values.text import JsonText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.values.compare import Collation


# --- truth ---------------------------------------------------------------------------------------------------------------------


def is_true(value: Any) -> bool:
    """Is the value TRUE?"""
    if value is None:
        return False
    kind = type(value)
    if kind is int or kind is float:
        return value != 0  # type: ignore[no-any-return]
    return bool(truth(value))


def is_false(value: Any) -> bool:
    """Is the value FALSE (and not NULL)?"""
    if value is None:
        return False
    kind = type(value)
    if kind is int or kind is float:
        return value == 0  # type: ignore[no-any-return]
    return not truth(value)


def and_values(*values: Any) -> int | None:
    """AND of evaluated operands."""
    result: int | None = 1
    for value in values:
        state = truth(value)
        if state is None:
            if result:
                result = None
        elif not state:
            result = 0
    return result


def or_values(*values: Any) -> int | None:
    """OR of evaluated operands."""
    result: int | None = 0
    for value in values:
        state = truth(value)
        if state is None:
            if result == 0:
                result = None
        elif state:
            result = 1
    return result


# --- comparison ----------------------------------------------------------------------------------------------------------------


def less(left: Any, right: Any, collation: Collation | None = None) -> bool | None:
    if left is None or right is None:
        return None
    return compare(left, right, collation) < 0


def less_equal(left: Any, right: Any, collation: Collation | None = None) -> bool | None:
    if left is None or right is None:
        return None
    return compare(left, right, collation) <= 0


def greater(left: Any, right: Any, collation: Collation | None = None) -> bool | None:
    if left is None or right is None:
        return None
    return compare(left, right, collation) > 0


def greater_equal(left: Any, right: Any, collation: Collation | None = None) -> bool | None:
    if left is None or right is None:
        return None
    return compare(left, right, collation) >= 0


def equal(left: Any, right: Any, collation: Collation | None = None) -> bool | None:
    if left is None or right is None:
        return None
    return compare(left, right, collation) == 0


def unequal(left: Any, right: Any, collation: Collation | None = None) -> bool | None:
    if left is None or right is None:
        return None
    return compare(left, right, collation) != 0


def same(left: Any, right: Any, collation: Collation | None = None) -> bool:
    """IS: NULLs are equal."""
    return compare(left, right, collation) == 0


def distinct(left: Any, right: Any, collation: Collation | None = None) -> bool:
    """IS NOT."""
    return compare(left, right, collation) != 0


def as_integer(state: bool | None) -> int | None:
    """A three-valued state as the SQL value 1, 0 or NULL."""
    return None if state is None else 1 if state else 0


def compare_rows(operator: str, pairs: tuple[tuple[Any, Any, Collation | None], ...]) -> bool | None:
    """Row values, left to right: the first pair that differs (or is NULL) decides; = and <> look at all pairs."""
    if operator in ("IS", "IS NOT"):
        is_same = all(compare(left, right, collation) == 0 for left, right, collation in pairs)
        return is_same if operator == "IS" else not is_same
    if operator in ("=", "<>"):
        state: bool | None = True
        for left, right, collation in pairs:
            if left is None or right is None:
                state = None
            elif compare(left, right, collation) != 0:
                state = False
                break
        return state if operator == "=" or state is None else not state
    for left, right, collation in pairs:
        if left is None or right is None:
            return None
        order = compare(left, right, collation)
        if order != 0:
            return order < 0 if operator in ("<", "<=") else order > 0
    return operator in ("<=", ">=")


# --- affinity ------------------------------------------------------------------------------------------------------------------


def numeric_operand(value: Any) -> Any:
    """Numeric affinity of a comparison: text that is wholly a number becomes it."""
    if type(value) is str:
        number = number_of_text(value)
        if number is not None:
            return number
    return value


text_operand = to_text_affinity


def plain(value: Any) -> Any:
    """The value without the JSON subtype."""
    return str(value) if type(value) is JsonText else value


# --- membership ------------------------------------------------------------------------------------------------------------------


class InSet:
    """The right side of an IN: ``values`` are hash keys without NULL; ``has_null``; ``is_empty`` when there were no rows at all."""

    __slots__ = ("collation", "has_null", "is_empty", "values")

    def __init__(self, values: set[Any], has_null: bool, is_empty: bool, collation: Collation | None = None) -> None:
        self.values = values
        self.has_null = has_null
        self.is_empty = is_empty
        self.collation = collation

    def contains(self, value: Any) -> bool | None:
        """``value IN this``, three-valued."""
        if self.is_empty:
            return False
        if value is None:
            return None
        if hash_key(value, self.collation) in self.values:
            return True
        return None if self.has_null else False


def make_in_set(values: Any, collation: Collation | None) -> InSet:
    """Collect the right-hand values (affinity applied)."""
    keys = set()
    has_null = False
    is_empty = True
    for value in values:
        is_empty = False
        if value is None:
            has_null = True
        else:
            keys.add(hash_key(value, collation))
    return InSet(keys, has_null, is_empty, collation)


def in_rows(values: tuple[Any, ...], rows: Any, collations: tuple[Collation | None, ...]) -> bool | None:
    """Row-value IN against ``rows``, three-valued."""
    state: bool | None = False
    for row in rows:
        found = compare_rows("=", tuple(zip(values, row, collations, strict=True)))
        if found:
            return True
        if found is None:
            state = None
    return state


# --- RAISE -----------------------------------------------------------------------------------------------------------------------


class IgnoreRow(Exception):
    """RAISE(IGNORE): abandons the trigger program and the row operation that fired it."""


def raise_in_trigger(action: str, message: str | None) -> Any:
    """RAISE(...): never returns."""
    if action == "IGNORE":
        raise IgnoreRow
    raise errors.raised(message or "", action)


def concat_all(*values: Any) -> Any:
    """A chain of ||."""
    result = values[0]
    for value in values[1:]:
        result = concat(result, value)
    return result

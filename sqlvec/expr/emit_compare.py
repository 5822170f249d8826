"""Comparisons, logic, IN and BETWEEN as Python source: the conditions.

Python's ``==`` already is SQLite's ``=`` for non-NULL values under BINARY (1 == 1.0, text never equals a blob), and ``<`` is right inside one
class; what is emitted is therefore a class test, Python's own operator, and a call into ``expr.operations`` for all other pairs.
Where a literal stands on one side the other classes are decided by rank (NULL < numbers < text < blob) on the spot.

A condition ("truth" form) needs only "is TRUE" or "is FALSE": a comparison is FALSE exactly when the opposite one is TRUE.
"""
from __future__ import annotations

from sqlvec.expr import bound, operations
from sqlvec.expr.emit import (
    Emitter,
    Operand,
    hint_of,
    is_total,
    kinds_of,
    outer_tuple,
)
from sqlvec.resolve import resolve
from sqlvec.values import storage
from sqlvec.values import text as text_module
from sqlvec.values.compare import compare, hash_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlvec.expr.bound import Expression
    from sqlvec.values.compare import Collation

_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "IS": "IS NOT", "IS NOT": "IS"}
_MIRROR = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "IS": "IS", "IS NOT": "IS NOT"}
_PYTHON = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "IS": "==", "IS NOT": "!="}
_FUNCTION = {"=": "equal", "<>": "unequal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "IS": "same",
             "IS NOT": "distinct"}
_NUMERIC = (storage.NUMERIC, storage.INTEGER, storage.REAL)


# --- operands --------------------------------------------------------------------------------------------------------------------------


def _holds_affinity(node: Expression, affinity: int) -> bool:
    """Is ``node`` a stored column whose values already went through this affinity?"""
    if not isinstance(node, bound.Column) or node.table is None or node.table.kind != "table":
        return False
    if node.number == -1:
        return affinity == storage.NUMERIC
    own = node.affinity
    return own in _NUMERIC if affinity == storage.NUMERIC else own == affinity


def with_affinity(emitter: Emitter, operand: Operand, node: Expression, applied: Any) -> Operand:
    """The operand after the comparison's affinity."""
    if applied is None or applied == storage.BLOB:
        return operand
    if applied in _NUMERIC:
        applied = storage.NUMERIC
    if operand.literal:
        value = operations.numeric_operand(operand.value) if applied == storage.NUMERIC else storage.to_text_affinity(operand.value)
        return emitter.operand(bound.Literal(value))
    if _holds_affinity(node, applied):
        return operand
    if applied == storage.NUMERIC:
        if "t" not in operand.kinds:
            return operand
        name = emitter.temporary()
        convert = emitter.operation("numeric_operand")
        return Operand(f"({name} := {convert}({operand.first}))", name, operand.kinds, operand.hint or "i", operand.is_total)
    if "i" not in operand.kinds and "r" not in operand.kinds:
        return operand
    name = emitter.temporary()
    kinds = operand.kinds.replace("i", "").replace("r", "")
    convert = emitter.operation("text_operand")
    return Operand(f"({name} := {convert}({operand.first}))", name, kinds if "t" in kinds else kinds + "t", "t", operand.is_total)


def compare_operands(emitter: Emitter, node: bound.Compare, left: Operand, right: Operand, wanted: bool) -> str:
    """A truth test of ``left op right`` for emitted operands."""
    left = with_affinity(emitter, left, node.left, node.applied)
    right = with_affinity(emitter, right, node.right, node.applied)
    operator = node.operator if wanted else _OPPOSITE[node.operator]
    return test(emitter, operator, left, right, emitter.collation(node.using))


def is_plain(collation: Collation) -> bool:
    """BINARY on UTF-8: Python's order of str."""
    return collation.is_binary and collation.is_builtin


def _equality_is_plain(collation: Collation) -> bool:
    return collation.is_builtin and collation.name == "BINARY"


def test(emitter: Emitter, operator: str, left: Operand, right: Operand, collation: Collation) -> str:
    """Truthy exactly when the comparison is TRUE."""
    if left.literal and not right.literal:
        # The literal has no side effects: it may change places.
        return test(emitter, _MIRROR[operator], right, left, collation)
    has_text = "t" in left.kinds and "t" in right.kinds
    if operator in ("IS", "IS NOT"):
        if not has_text or _equality_is_plain(collation):
            return f"({left.first} {_PYTHON[operator]} {right.first})"
        return f"{emitter.operation(_FUNCTION[operator])}({left.first}, {right.first}, {emitter.constant(collation)})"
    if left.kinds == "n" or right.kinds == "n":
        is_quiet = left.is_total and right.is_total and left.first == left.again and right.first == right.again
        return "False" if is_quiet else f"(({left.first}, {right.first}) is None)"
    if operator in ("=", "<>"):
        return _equality(emitter, operator, left, right, collation, has_text)
    return _order(emitter, operator, left, right, collation, has_text)


def _equality(emitter: Emitter, operator: str, left: Operand, right: Operand, collation: Collation, has_text: bool) -> str:
    if has_text and not _equality_is_plain(collation):
        constant = emitter.constant(collation)
        if right.literal and collation.is_builtin:
            key = emitter.literal(collation.key(right.value)) if type(collation.key(right.value)) is str else emitter.constant(collation.key(right.value))
            make = emitter.constant(collation.key, "f")
            if operator == "=":
                return f"(type({left.first}) is str and {make}({left.again}) == {key})"
        return f"{emitter.operation(_FUNCTION[operator])}({left.first}, {right.first}, {constant})"
    python = _PYTHON[operator]
    left_null, right_null = "n" in left.kinds, "n" in right.kinds
    if operator == "=":
        if left_null and right_null:
            return f"({left.first} == {right.first} and {left.again} is not None)"
        return f"({left.first} == {right.first})"
    guards = [f"{side.again} is not None" for side, is_null in ((left, left_null), (right, right_null)) if is_null]
    return f"({' and '.join([f'{left.first} {python} {right.first}', *guards])})"


def _order(emitter: Emitter, operator: str, left: Operand, right: Operand, collation: Collation, has_text: bool) -> str:
    python = _PYTHON[operator]
    numbers = "ir"
    function = emitter.operation(_FUNCTION[operator])
    if all(kind in numbers for kind in left.kinds + right.kinds):
        return f"({left.first} {python} {right.first})"
    if right.literal and type(right.value) in (int, float):
        return _against_number(emitter, operator, left, right)
    plain = is_plain(collation)
    if right.literal and type(right.value) is str and plain and right.value.isascii():
        return _against_text(operator, left, right)
    extra = "" if plain else f", {emitter.constant(collation)}"
    general = f"{function}({left.again}, {right.again}{extra})"
    hint = left.hint if left.hint and left.hint != "n" else right.hint
    if (hint == "t" or right.hint == "t") and has_text:
        if not plain:
            return f"{function}({left.first}, {right.first}{extra})"
        valid = emitter.named("TEXT", text_module)
        return (f"({left.again} {python} {right.again} if type({left.first}) is type({right.first}) is str and not {valid}.invalid_text_seen"
                f" else {general})")
    kind = "float" if "r" in (left.hint, right.hint) else "int"
    return f"({left.again} {python} {right.again} if type({left.first}) is type({right.first}) is {kind} else {general})"


def _against_number(emitter: Emitter, operator: str, left: Operand, right: Operand) -> str:
    python = _PYTHON[operator]
    if "t" not in left.kinds and "b" not in left.kinds:
        return f"({left.first} is not None and {left.again} {python} {right.first})"
    first, second = ("float", "int") if left.hint == "r" else ("int", "float")
    # Text and blobs are greater than every number.
    other = "False" if operator in ("<", "<=") else f"{left.again} is not None" if "n" in left.kinds else "True"
    return f"({left.again} {python} {right.first} if type({left.first}) is {first} or type({left.again}) is {second} else {other})"


def _against_text(operator: str, left: Operand, right: Operand) -> str:
    python = _PYTHON[operator]
    if operator in ("<", "<="):
        other = f"type({left.again}) is int or type({left.again}) is float"
    else:
        other = f"type({left.again}) is bytes"
    return f"({left.again} {python} {right.first} if type({left.first}) is str else {other})"


# --- Compare, RowCompare ---------------------------------------------------------------------------------------------------------------


def compare_truth(emitter: Emitter, node: bound.Compare, wanted: bool) -> str:
    return compare_operands(emitter, node, emitter.operand(node.left), emitter.operand(node.right), wanted)


def compare_value(emitter: Emitter, node: bound.Compare) -> str:
    left, right = emitter.operand(node.left), emitter.operand(node.right)
    if node.operator in ("IS", "IS NOT"):
        return f"(1 if {compare_operands(emitter, node, left, right, True)} else 0)"
    return _three_valued(emitter, node, left, right)


def _three_valued(emitter: Emitter, node: bound.Compare, left: Operand, right: Operand) -> str:
    """1, 0 or NULL."""
    nullable = [side for side in (left, right) if "n" in side.kinds]
    if not nullable:
        return f"(1 if {compare_operands(emitter, node, left, right, True)} else 0)"
    if left.kinds == "n" or right.kinds == "n" or not right.is_total:
        left = with_affinity(emitter, left, node.left, node.applied)
        right = with_affinity(emitter, right, node.right, node.applied)
        collation = emitter.constant(emitter.collation(node.using))
        return f"{emitter.operation('as_integer')}({emitter.operation(_FUNCTION[node.operator])}({left.first}, {right.first}, {collation}))"
    tests = []
    known = []
    for side in (left, right):
        if "n" in side.kinds:
            tests.append(f"{side.first} is None")
            copy = Operand(side.again, side.again, side.kinds.replace("n", ""), side.hint, side.is_total)
            known.append(copy)
        else:
            known.append(side)
    return f"(None if {' or '.join(tests)} else 1 if {compare_operands(emitter, node, known[0], known[1], True)} else 0)"


def _row_call(emitter: Emitter, node: bound.RowCompare) -> str:
    """A function that compares pair by pair and evaluates no further than it must; True, False or None."""
    operator = node.operator
    is_equality = operator in ("=", "<>", "IS", "IS NOT")
    equal, unequal = ("True", "False") if operator in ("=", "IS", "<=", ">=") else ("False", "True")

    def lines() -> list[str]:
        made = ["unknown = False"] if operator in ("=", "<>") else []
        compare_function = emitter.named("compare_values", compare)
        for pair in node.comparisons:
            left = with_affinity(emitter, emitter.operand(pair.left), pair.left, pair.applied)
            right = with_affinity(emitter, emitter.operand(pair.right), pair.right, pair.applied)
            collation = emitter.constant(emitter.collation(pair.using))
            made += [f"left = {left.first}", f"right = {right.first}"]
            order = f"{compare_function}(left, right, {collation})"
            if operator in ("IS", "IS NOT"):
                made.append(f"if {order}: return {unequal}")
            elif is_equality:
                made += ["if left is None or right is None: unknown = True", f"elif {order}: return {unequal}"]
            else:
                made += ["if left is None or right is None: return None", f"order = {order}",
                         f"if order: return order {operator[0]} 0"]
        return [*made, f"return None if unknown else {equal}" if operator in ("=", "<>") else f"return {equal}"]

    return emitter.statement_function(lines)


def row_compare_value(emitter: Emitter, node: bound.RowCompare) -> str:
    return f"{emitter.operation('as_integer')}({_row_call(emitter, node)})"


def row_compare_truth(emitter: Emitter, node: bound.RowCompare, wanted: bool) -> str:
    if wanted:
        if node.operator == "=":
            return f"({' and '.join(compare_truth(emitter, pair, True) for pair in node.comparisons)})"
        return _row_call(emitter, node)
    return f"({_row_call(emitter, node)} is False)"


# --- AND, OR, NOT ------------------------------------------------------------------------------------------------------------------------


def and_truth(emitter: Emitter, node: bound.And, wanted: bool) -> str:
    joiner = " and " if wanted else " or "
    return f"({joiner.join(emitter.truth(operand, wanted) for operand in node.operands)})"


def or_truth(emitter: Emitter, node: bound.Or, wanted: bool) -> str:
    joiner = " or " if wanted else " and "
    return f"({joiner.join(emitter.truth(operand, wanted) for operand in node.operands)})"


def _logic_value(emitter: Emitter, node: Any, function: str) -> str:
    if all("n" not in kinds_of(operand) and is_total(operand) for operand in node.operands):
        return f"(1 if {emitter.truth(node)} else 0)"
    return f"{emitter.operation(function)}({', '.join(emitter.result(operand) for operand in node.operands)})"


def and_value(emitter: Emitter, node: bound.And) -> str:
    return _logic_value(emitter, node, "and_values")


def or_value(emitter: Emitter, node: bound.Or) -> str:
    return _logic_value(emitter, node, "or_values")


def not_truth(emitter: Emitter, node: bound.Unary, wanted: bool) -> str:
    if node.operator == "NOT":
        return emitter.truth(node.operand, not wanted)
    return emitter.truth_of(emitter.value(node), kinds_of(node), wanted)


def collate_truth(emitter: Emitter, node: bound.Collate, wanted: bool) -> str:
    return emitter.truth(node.operand, wanted)


# --- IS NULL, IS TRUE ----------------------------------------------------------------------------------------------------------------------


def is_null_truth(emitter: Emitter, node: bound.IsNull, wanted: bool) -> str:
    word = "is not" if node.negated is wanted else "is"
    text = emitter.value(node.operand)
    if text == "None" or (text.strip("()-")[:1].isdigit() and _is_number(text)):
        return str((text == "None") is (word == "is"))          # a constant: Python warns of ``5 is None``
    return f"({text} {word} None)"


def _is_number(text: str) -> bool:
    try:
        float(text.strip("()"))
    except ValueError:
        return False
    return True


def is_null_value(emitter: Emitter, node: bound.IsNull) -> str:
    return f"(1 if {is_null_truth(emitter, node, True)} else 0)"


def is_truth_truth(emitter: Emitter, node: bound.IsTruth, wanted: bool) -> str:
    inner = emitter.truth(node.operand, node.wanted)
    return f"(not {inner})" if node.negated is wanted else inner


def is_truth_value(emitter: Emitter, node: bound.IsTruth) -> str:
    return f"(1 if {is_truth_truth(emitter, node, True)} else 0)"


# --- BETWEEN -------------------------------------------------------------------------------------------------------------------------------


def between_truth(emitter: Emitter, node: bound.Between, wanted: bool) -> str:
    wanted = wanted is not node.negated
    operand, bound_operand, assignment = _between_operands(emitter, node)
    low = compare_operands(emitter, node.low, operand, bound_operand, wanted)
    high = compare_operands(emitter, node.high, _again(operand), emitter.operand(node.high.right), wanted)
    both = f"({low} {'and' if wanted else 'or'} {high})"
    return f"({assignment}, {both})[1]" if assignment else both


def _between_operands(emitter: Emitter, node: bound.Between) -> tuple[Operand, Operand, str]:
    """The operand, the lower bound, and an assignment that must come first: a bound that is NULL can keep the comparison from reaching the operand."""
    operand = emitter.operand(node.low.left)
    low = emitter.operand(node.low.right)
    if operand.first == operand.again or "n" not in low.kinds:
        return operand, low, ""
    return _again(operand), low, operand.first


def _again(operand: Operand) -> Operand:
    copy = Operand(operand.again, operand.again, operand.kinds, operand.hint)
    copy.literal, copy.value = operand.literal, operand.value
    return copy


def between_value(emitter: Emitter, node: bound.Between) -> str:
    operand, bound_operand, assignment = _between_operands(emitter, node)
    low = _three_valued(emitter, node.low, operand, bound_operand)
    high = _three_valued(emitter, node.high, _again(operand), emitter.operand(node.high.right))
    both = f"{emitter.operation('and_values')}({low}, {high})"
    value = f"{emitter.operation('not_')}({both})" if node.negated else both
    return f"({assignment}, {value})[1]" if assignment else value


# --- IN ------------------------------------------------------------------------------------------------------------------------------------


def _fixed_items(node: bound.InList) -> bool:
    return all(isinstance(item, (bound.Literal, bound.Parameter)) for item in node.items)


def _operand_of(emitter: Emitter, node: Any, applied: Any, operand_node: Expression) -> Operand:
    return with_affinity(emitter, emitter.operand(operand_node), operand_node, applied)


def in_list_truth(emitter: Emitter, node: bound.InList, wanted: bool) -> str:
    wanted = wanted is not node.negated
    if not node.items:
        return f"({emitter.value(node.operand)}, {not wanted})[1]" if not is_total(node.operand) else str(not wanted)
    if not _fixed_items(node):
        state = _in_sequence(emitter, node)
        return f"({state})" if wanted else f"({state} is False)"
    collation = emitter.collation(node.using)
    operand = _operand_of(emitter, node, node.applied, node.operand)
    plain = _equality_is_plain(collation) or "t" not in operand.kinds
    literals = _literal_set(node, collation)
    if literals is None or not plain:
        state = f"{_bound_set(emitter, node, collation)}.contains({operand.first})"
        return state if wanted else f"({state} is False)"
    values, has_null = literals
    name = emitter.constant(values)
    if wanted:
        return f"({operand.first} in {name})"
    if has_null:
        return "False" if is_total(node.operand) else f"({operand.first}, False)[1]"
    return f"({operand.first} not in {name}" + (f" and {operand.again} is not None)" if "n" in operand.kinds else ")")


def in_list_value(emitter: Emitter, node: bound.InList) -> str:
    if not node.items:
        result = "1" if node.negated else "0"
        return result if is_total(node.operand) else f"({emitter.value(node.operand)}, {result})[1]"
    if _fixed_items(node):
        collation = emitter.collation(node.using)
        operand = _operand_of(emitter, node, node.applied, node.operand)
        state = f"{_bound_set(emitter, node, collation)}.contains({operand.first})"
    else:
        state = _in_sequence(emitter, node)
    state = f"{emitter.operation('as_integer')}({state})"
    return f"{emitter.operation('not_')}({state})" if node.negated else state


def _literal_set(node: bound.InList, collation: Collation) -> tuple[frozenset[Any], bool] | None:
    """(values, has NULL) of a list of literals under a plain collation."""
    if not all(isinstance(item, bound.Literal) for item in node.items):
        return None
    values = [_apply(item.value, node.applied) for item in node.items]  # type: ignore[attr-defined]
    return frozenset(hash_key(value) for value in values if value is not None), None in values


def _apply(value: Any, applied: Any) -> Any:
    if applied in _NUMERIC:
        return operations.numeric_operand(value)
    return storage.to_text_affinity(value) if applied == storage.TEXT else value


def _bound_set(emitter: Emitter, node: bound.InList, collation: Collation) -> str:
    """An InSet of literals and parameters, made once in the prologue."""
    if all(isinstance(item, bound.Literal) for item in node.items):
        values = [_apply(item.value, node.applied) for item in node.items]  # type: ignore[attr-defined]
        return emitter.constant(operations.make_in_set(values, collation))
    texts = []
    for item in node.items:
        text = emitter.value(item)
        if node.applied in _NUMERIC:
            text = f"{emitter.operation('numeric_operand')}({text})"
        elif node.applied == storage.TEXT:
            text = f"{emitter.operation('text_operand')}({text})"
        texts.append(text)
    make = emitter.operation("make_in_set")
    name = f"in_{emitter.temporary()}"
    return emitter.bind_line(name, f"{name} = {make}(({', '.join(texts)},), {emitter.constant(collation)})")


def _in_sequence(emitter: Emitter, node: bound.InList) -> str:
    """Items with columns or calls: compared one after the other, stopping at the first match."""
    def lines() -> list[str]:
        operand = _operand_of(emitter, node, node.applied, node.operand)
        name = emitter.temporary()
        made = [f"{name} = {operand.first}", f"unknown = {name} is None"]
        collation = emitter.constant(emitter.collation(node.using))
        for item in node.items:
            right = _operand_of(emitter, node, node.applied, item)
            made.append(f"state = {emitter.operation('equal')}({name}, {right.first}, {collation})")
            made += ["if state: return True", "if state is None: unknown = True"]
        return [*made, "return None if unknown else False"]

    return emitter.statement_function(lines)


def _in_subquery_call(emitter: Emitter, node: bound.InSubquery) -> str:
    subquery = node.subquery
    collations = tuple(emitter.collation(name) for name in node.using)
    evaluator = resolve("sqlvec.exec.row.subquery:in_evaluator")(subquery, node.applied, collations)
    values = []
    for operand_node, applied in zip(node.operands, node.applied, strict=True):
        values.append(_operand_of(emitter, node, applied, operand_node).first)
    name = emitter.constant(evaluator, "subquery")
    return f"{name}({emitter.activation()}, {outer_tuple(emitter, subquery)}, ({', '.join(values)},))"


def in_subquery_value(emitter: Emitter, node: bound.InSubquery) -> str:
    state = f"{emitter.operation('as_integer')}({_in_subquery_call(emitter, node)})"
    return f"{emitter.operation('not_')}({state})" if node.negated else state


def in_subquery_truth(emitter: Emitter, node: bound.InSubquery, wanted: bool) -> str:
    wanted = wanted is not node.negated
    subquery = node.subquery
    if wanted and len(node.operands) == 1 and not subquery.outer:
        collation = emitter.collation(node.using[0])
        operand = _operand_of(emitter, node, node.applied[0], node.operands[0])
        if _equality_is_plain(collation) or "t" not in operand.kinds:
            evaluator = resolve("sqlvec.exec.row.subquery:in_evaluator")(subquery, node.applied, (collation,))
            name = emitter.constant(evaluator, "subquery")
            memo = emitter.bind_line("S", "S = act.slots")
            return f"({operand.first} in ({memo}.get({name}) or {name}.build({emitter.activation()}, ())).values)"
    call = _in_subquery_call(emitter, node)
    return call if wanted else f"({call} is False)"


__all__ = ["compare_operands", "compare_truth", "compare_value", "hint_of", "test", "with_affinity"]

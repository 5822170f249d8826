"""Evaluating bound expressions over batches.

An :class:`Evaluator` belongs to one running operator.  ``value(expression, batch)`` gives a vector, ``truth(expression, batch)`` the pair of
masks of three-valued logic, ``select(conditions, batch)`` the batch of the rows for which all conditions are true.

Each kind of expression has a row in ``_VALUE`` or ``_TRUTH``.  What has none, and what a kernel declines, goes to the row callable
(decline.py): functions as whole sub-expressions, so that a JSON value never loses its subtype between two calls.  Expressions without columns
are computed once.  Repeated sub-expressions are computed once a batch.

Invariants:

1. A child that could raise or costs much (``is_plain`` false) is evaluated only on the rows that reach it in AND, OR, CASE and COALESCE.
2. Results have the batch's ``count`` rows; they may be constants or coded.
3. Nothing here changes state before the whole batch is evaluated, lifts apart (they only remember).
"""
from __future__ import annotations

from sqlvec.columnar.dictionary import KeySet, Lift
from sqlvec.columnar.kernels import arithmetic, logic
from sqlvec.columnar.kernels.compare import compare
from sqlvec.columnar.kernels.substring import substring
from sqlvec.columnar.kernels.text import odd_rows
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import (
    INTEGER,
    NULL,
    REAL,
    TEXT,
    ColumnVector,
    coded,
    concatenate,
    constant,
    from_values,
    merge,
    nulls,
    of_one_tag,
    overlaid,
)
from sqlvec.exec.program import program_of
from sqlvec.exec.row.subquery import convert
from sqlvec.exec.vector.decline import RowCallable, all_rows, patched
from sqlvec.exec.vector.pattern import LikeSearch
from sqlvec.expr import bound
from sqlvec.resolve import resolve
from sqlvec.values.arithmetic import to_number
from sqlvec.values.storage import NUMERIC, to_numeric_affinity, to_text_affinity
from sqlvec.values.storage import TEXT as TEXT_AFFINITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sqlvec.columnar.batch import ColumnBatch
    from sqlvec.exec.program import Activation
    from sqlvec.expr.bound import Expression

_KERNEL_OPERATORS = frozenset(("+", "-", "*", "/", "%", "&", "|"))
_COLLATIONS = frozenset(("BINARY", "NOCASE", "RTRIM"))
_TRANSPARENT = frozenset(("likely", "unlikely", "likelihood"))


class Evaluator:
    """See the module text.  ``activation`` is where row callables keep their memos."""

    def __init__(self, expressions: Sequence[Expression], activation: Activation) -> None:
        self.activation = activation
        self._constants: dict[int, Any] = {}
        self._callables: dict[int, RowCallable] = {}
        self._lifts: dict[int, Lift] = {}
        self._sets: dict[int, Any] = {}
        self._searches: dict[int, LikeSearch | None] = {}
        self._plain: dict[int, bool] = {}
        self.applies: dict[int, Any] = {}
        self._applied: tuple[ColumnVector, str, ColumnVector] | None = None        # the last vector that an affinity was applied to
        self._columns: dict[int, tuple[bound.Column, ...]] = {}
        self._keep = list(expressions)
        self._declines = activation.context.settings.engine == "declining"
        self._shared = _shared_expressions(expressions)

    # --- what an expression is -------------------------------------------------------------------------------------------------

    def columns(self, node: Expression) -> tuple[bound.Column, ...]:
        """The distinct columns that ``node`` reads, those of correlated sub-queries included."""
        found = self._columns.get(id(node))
        if found is None:
            seen: dict[tuple[int, int], bound.Column] = {}
            for column in bound.columns_in(node.walk()):
                seen.setdefault((column.source, column.number), column)
            found = self._columns[id(node)] = tuple(seen.values())
            self._keep.append(node)
        return found

    def is_plain(self, node: Expression) -> bool:
        """Is the node cheap and can't raise, so that computing it for rows that don't need it is harmless?"""
        found = self._plain.get(id(node))
        if found is None:
            found = True
            stack = [node]
            while stack and found:
                inner = stack.pop()
                if isinstance(inner, _PLAIN):
                    stack.extend(inner.children())
                else:
                    found = self.constant(inner) is not None
            self._plain[id(node)] = found
            self._keep.append(node)
        return found

    def constant(self, node: Expression) -> ColumnVector | None:
        """The one-row vector of an expression without columns, else None."""
        found = self._constants.get(id(node), self)
        if found is self:
            if isinstance(node, bound.Literal):
                found = constant(node.value, 1)
            elif self.columns(node):
                found = None
            else:
                found = constant(RowCallable(node, (), self.activation).function(()), 1)
            self._constants[id(node)] = found
            self._keep.append(node)
        return found  # type: ignore[no-any-return]

    # --- values ------------------------------------------------------------------------------------------------------------------

    def value(self, node: Expression, batch: ColumnBatch) -> ColumnVector:
        """The vector of ``node`` for all rows of the batch."""
        if type(node) is bound.Column:
            return batch.column((node.source, node.number))
        slot = self._shared.get(id(node))
        if slot is not None:
            found = batch.memo.get(slot)
            if found is not None:
                return found  # type: ignore[no-any-return]
        single = self.constant(node)
        if single is not None:
            return ColumnVector(batch.count, single.tags, single.bits, single.length, single.heap, True)
        kind = type(node)
        compute = _VALUE.get(kind)
        if compute is not None:
            found = compute(self, node, batch)
            if self._declines and kind is not bound.ScalarSubquery:
                found = self._declining(node, batch, found)
        elif kind in _TRUTH:
            found = logic.to_vector(self.truth(node, batch))
        else:
            found = self.by_rows(node, batch)
        if slot is not None:
            batch.memo[slot] = found
        return found  # type: ignore[no-any-return]

    def by_rows(self, node: Expression, batch: ColumnBatch) -> ColumnVector:
        """The node through its row callable: once per distinct value where it reads one column of few values, else row by row."""
        if not batch.count:
            return nulls(0)
        lifted = self._lifted(node, batch)
        return lifted if lifted is not None else self._callable(node).over(batch)

    def _declining(self, node: Expression, batch: ColumnBatch, vector: ColumnVector) -> ColumnVector:
        """The testing entry ``declining``: about every third row goes through the row callable."""
        rows = all_rows(batch.count)
        chosen = (rows * 0x9E37 + batch.count) % 3 == 0
        some, others = rows[chosen], rows[~chosen]
        return merge(batch.count, [(some, self._callable(node).over(batch, some)), (others, vector.take(others))])

    def _callable(self, node: Expression) -> RowCallable:
        found = self._callables.get(id(node))
        if found is None:
            found = self._callables[id(node)] = RowCallable(node, self.columns(node), self.activation)
        return found

    def _lifted(self, node: Expression, batch: ColumnBatch) -> ColumnVector | None:
        columns = self.columns(node)
        if len(columns) != 1 or batch.count < 16:
            return None
        lift = self._lifts.get(id(node))
        if lift is None:
            lift = self._lifts[id(node)] = Lift()
        if not lift.is_worthwhile:
            return None
        codes = lift.codes(batch.column((columns[0].source, columns[0].number)))
        if lift.fresh is not None:
            results = self._callable(node).over_vectors([lift.fresh], lift.fresh.count)
            lift.results = results if lift.results is None else concatenate([lift.results, results])
        return coded(codes, lift.results)

    # --- truth -------------------------------------------------------------------------------------------------------------------

    def truth(self, node: Expression, batch: ColumnBatch) -> tuple[Any, Any]:
        """(true, unknown) masks of a condition."""
        compute = _TRUTH.get(type(node))
        if compute is not None and self.constant(node) is None:
            if self._declines and type(node) is bound.Compare:
                return self.truth_of(self._declining(node, batch, logic.to_vector(compute(self, node, batch))))
            return compute(self, node, batch)  # type: ignore[no-any-return]
        return self.truth_of(self.value(node, batch))

    def truth_of(self, vector: ColumnVector) -> tuple[Any, Any]:
        if vector.bits is None and vector.dictionary is not None:
            true, unknown = self.truth_of(vector.dictionary)
            return true.take(vector.codes), None if unknown is None else unknown.take(vector.codes)
        tags = vector.tags
        if (tags < TEXT) if type(tags) is int else not (tags >= TEXT).any():
            return logic.of_numbers(vector)
        from_text = from_values([None if value is None else float(to_number(value) != 0) for value in vector.values()])
        return logic.of_numbers(from_text)

    def select(self, conditions: Sequence[Expression], batch: ColumnBatch) -> ColumnBatch:
        """The rows for which every condition is true; each condition sees only the rows that passed those before."""
        for condition in conditions:
            if not batch.count:
                break
            if type(condition) is bound.And:
                batch = self.select(condition.operands, batch)
                continue
            single = self.constant(condition)
            if single is not None:
                if not self.truth_of(single)[0][0]:
                    return batch.take(np.zeros(0, np.int64))
                continue
            true, _ = self.truth(condition, batch)
            rows = np.flatnonzero(true)
            if len(rows) != batch.count:
                batch = batch.take(rows)
        return batch

    def in_best_order(self, conditions: Sequence[Expression], batch: ColumnBatch) -> list[Expression]:
        """The conditions with each run of plain ones (which can't raise, so that their order can't be noticed) sorted by how many rows of this
        batch they turn away for what reading their columns costs; those of one column stay together."""
        flat: list[Expression] = []
        for whole in conditions:
            flat += whole.operands if type(whole) is bound.And else [whole]
        out: list[Expression] = []
        run: list[Expression] = []
        waiting: list[Expression | None] = [*flat, None]
        for condition in waiting:
            if condition is not None and self.is_plain(condition) and self.constant(condition) is None:
                run.append(condition)
                continue
            out += self._by_passing(run, batch) if len(run) > 1 else run
            run = []
            if condition is not None:
                out.append(condition)
        return out

    def _by_passing(self, run: list[Expression], batch: ColumnBatch) -> list[Expression]:
        masks = [self.truth(condition, batch)[0] for condition in run]
        by_columns: dict[Any, list[int]] = {}
        for number, condition in enumerate(run):
            by_columns.setdefault(tuple((c.source, c.number) for c in self.columns(condition)), []).append(number)
        groups: list[tuple[float, Any, list[int]]] = []
        for columns, numbers in by_columns.items():
            mask = masks[numbers[0]]
            for number in numbers[1:]:
                mask = mask & masks[number]
            groups.append((1.0 - np.count_nonzero(mask) / max(batch.count, 1), columns, numbers))
        out: list[Expression] = []
        done: set[Any] = set()
        while groups:
            best = max(groups, key=lambda group: group[0] / self._cost(group[1], batch, done))
            groups.remove(best)
            for column in best[1]:
                done.update(step for step, _ in batch.steps(column))
            chosen = [run[number] for number in best[2]]
            out.append(chosen[0] if len(chosen) == 1 else self._joined(chosen))
        return out

    @staticmethod
    def _cost(columns: Sequence[Any], batch: ColumnBatch, done: set[Any]) -> float:
        """What looking at columns costs a row, where the steps in ``done`` were taken already."""
        left = {step: cost for column in columns for step, cost in batch.steps(column) if step not in done}
        return 1.0 + sum(left.values())

    def _joined(self, conditions: list[Expression]) -> Expression:
        """Plain conditions on the same columns as one AND that is evaluated as masks, so that the column is looked at once."""
        joined = MaskedAnd(tuple(conditions))
        self._keep.append(joined)
        return joined

    def apply(self, vector: ColumnVector, affinity: str | None) -> ColumnVector:
        """The vector with a comparison's affinity applied."""
        if affinity is None:
            return vector
        if affinity == TEXT_AFFINITY:
            wanted, change = (INTEGER, REAL), to_text_affinity
        elif affinity >= NUMERIC:
            wanted, change = (TEXT, TEXT), to_numeric_affinity
        else:
            return vector
        tags = vector.tags
        if type(tags) is int:
            if tags not in wanted:
                return vector
            if vector.is_constant:
                return constant(change(vector.value(0)), vector.count)
            return from_values([change(value) for value in vector.values()])
        known = self._applied
        if known is not None and known[0] is vector and known[1] == affinity:
            return known[2]  # type: ignore[no-any-return]
        rows = np.flatnonzero((tags == wanted[0]) | (tags == wanted[1]))
        old = vector.take(rows).values()
        new = [change(value) for value in old]
        changed = [position for position, (before, after) in enumerate(zip(old, new, strict=True)) if before is not after]
        made = overlaid(vector, rows.take(changed), from_values([new[position] for position in changed])) if changed else vector
        self._applied = vector, affinity, made
        return made

    def compare(self, node: bound.Compare, left: ColumnVector, right: ColumnVector) -> tuple[Any, Any]:
        return compare(node.operator, self.apply(left, node.applied), self.apply(right, node.applied), node.using)


_PLAIN = (
    bound.Literal, bound.Column, bound.Parameter, bound.Compare, bound.And, bound.Or, bound.IsNull, bound.IsTruth, bound.Between, bound.InList,
    bound.Collate,
)


class MaskedAnd(bound.And):
    """An AND of plain conditions that is evaluated on all rows."""

    __slots__ = ()


def _shared_expressions(expressions: Sequence[Expression]) -> dict[int, int]:
    """id of each node that occurs more than once (by key) -> memo slot."""
    by_key: dict[Any, list[Expression]] = {}
    for expression in expressions:
        for node in expression.walk():
            if isinstance(node, (bound.Binary, bound.Call, bound.Case, bound.Cast)):
                by_key.setdefault(node.key(), []).append(node)
    shared: dict[int, int] = {}
    for slot, nodes in enumerate(by_key.values()):
        if len(nodes) > 1:
            for node in nodes:
                shared[id(node)] = slot
    return shared


# --- values of the kinds -------------------------------------------------------------------------------------------------------------


def _binary(evaluator: Evaluator, node: bound.Binary, batch: ColumnBatch) -> ColumnVector:
    if node.operator not in _KERNEL_OPERATORS:
        return evaluator.by_rows(node, batch)
    left = evaluator.value(node.left, batch).flat_unless_constant()
    right = evaluator.value(node.right, batch).flat_unless_constant()
    return _arithmetic(evaluator, node, batch, left, right)


def _arithmetic(evaluator: Evaluator, node: bound.Binary, batch: ColumnBatch, left: ColumnVector, right: ColumnVector) -> ColumnVector:
    a, b = left.tags, right.tags
    if type(a) is int and type(b) is int:
        if a == NULL or b == NULL:
            return nulls(batch.count)
        if a < TEXT and b < TEXT:
            vector, declined = arithmetic.binary(node.operator, left, right)
            if declined is not None:
                vector = patched(vector, declined, evaluator._callable(node).over(batch, declined))
            return vector
        return evaluator.by_rows(node, batch)
    pairs = left.tag_array() * np.uint8(5) + right.tag_array()
    counts = np.bincount(pairs, minlength=25)
    most = int(counts.argmax())
    whole: ColumnVector | None = None
    if 2 * int(counts[most]) > batch.count and most // 5 in (INTEGER, REAL) and most % 5 in (INTEGER, REAL):
        # nearly all are such numbers: compute all rows as if they were, then put the others right
        vector, declined = arithmetic.binary(node.operator, of_one_tag(left, most // 5), of_one_tag(right, most % 5))
        if declined is None and len(vector.bits) == batch.count:
            whole = vector
            counts[most] = 0
    parts: list[tuple[Any, ColumnVector]] = []
    for pair in np.flatnonzero(counts).tolist():
        left_tag, right_tag = divmod(pair, 5)
        rows = np.flatnonzero(pairs == pair)
        if left_tag == NULL or right_tag == NULL:
            parts.append((rows, nulls(len(rows))))
        elif left_tag >= TEXT or right_tag >= TEXT:
            parts.append((rows, evaluator._callable(node).over(batch, rows)))
        else:
            one = _with_tag(left.take(rows), left_tag)
            two = _with_tag(right.take(rows), right_tag)
            vector, declined = arithmetic.binary(node.operator, one, two)
            if declined is not None:
                vector = patched(vector, declined, evaluator._callable(node).over(batch, rows.take(declined)))
            parts.append((rows, vector))
    if whole is None:
        return merge(batch.count, parts)
    for rows, part in parts:
        whole = overlaid(whole, rows, part)
    return whole


def _with_tag(vector: ColumnVector, tag: int) -> ColumnVector:
    return ColumnVector(vector.count, tag, vector.bits, vector.length, vector.heap, vector.is_constant)


def _unary(evaluator: Evaluator, node: bound.Unary, batch: ColumnBatch) -> ColumnVector:
    if node.operator == "+":
        return evaluator.value(node.operand, batch)
    if node.operator == "NOT":
        return logic.to_vector(evaluator.truth(node, batch))
    if node.operator == "-":
        operand = evaluator.value(node.operand, batch).flat_unless_constant()
        if type(operand.tags) is int and operand.tags in (INTEGER, REAL):
            vector, declined = arithmetic.negate(operand)
            if declined is None:
                return vector
    return evaluator.by_rows(node, batch)


def _collate(evaluator: Evaluator, node: bound.Collate, batch: ColumnBatch) -> ColumnVector:
    return evaluator.value(node.operand, batch)


def _call(evaluator: Evaluator, node: bound.Call, batch: ColumnBatch) -> ColumnVector:
    name = node.function.name
    if node.function.builtin:
        if name in _TRANSPARENT:
            return evaluator.value(node.arguments[0], batch)
        if name in ("coalesce", "ifnull"):
            return _coalesce(evaluator, node, batch)
        if name == "iif":
            return _branches(evaluator, [node.arguments[0]], [node.arguments[1]], node.arguments[2], batch)
        if node.operator is not None or name in ("like", "glob"):
            return logic.to_vector(_pattern(evaluator, node, batch))
        if name in ("substr", "substring") and len(node.arguments) == 3:
            found = _substring(evaluator, node, batch)
            if found is not None:
                return found
        if name == "length" and len(node.arguments) == 1:
            return _length(evaluator, node, batch)
    return evaluator.by_rows(node, batch)


def _length(evaluator: Evaluator, node: bound.Call, batch: ColumnBatch) -> ColumnVector:
    """length() of texts: characters are bytes where all are ASCII; the other rows, and numbers, go through the row callable."""
    argument = evaluator.value(node.arguments[0], batch)
    tags = argument.tags
    if argument.bits is None or argument.is_constant or (type(tags) is int and tags in (INTEGER, REAL)):
        return evaluator.by_rows(node, batch)
    if type(tags) is int and tags == NULL:
        return nulls(batch.count)
    lengths = argument.length_array()
    if type(tags) is int:
        vector = ColumnVector(batch.count, INTEGER, lengths)
        declined = odd_rows(argument) if tags == TEXT else np.zeros(0, np.int64)
    else:
        vector = ColumnVector(batch.count, _TAG_OF_LENGTH.take(tags), lengths * (tags >= TEXT)).settled()
        rows = np.flatnonzero(tags == TEXT)
        declined = rows.take(odd_rows(argument.take(rows)))
        numbers = np.flatnonzero((tags == INTEGER) | (tags == REAL))
        if len(numbers):
            declined = np.concatenate([declined, numbers])
    return patched(vector, declined, evaluator._callable(node).over(batch, declined)) if len(declined) else vector


_TAG_OF_LENGTH = np.array([NULL, INTEGER, INTEGER, INTEGER, INTEGER], np.uint8)


def _substring(evaluator: Evaluator, node: bound.Call, batch: ColumnBatch) -> ColumnVector | None:
    """substr() of a text by constant position and count, or None."""
    numbers = []
    for argument in node.arguments[1:]:
        single = evaluator.constant(argument)
        value = single.value(0) if single is not None else None
        if type(value) is not int:
            return None
        numbers.append(value)
    made = substring(evaluator.value(node.arguments[0], batch), numbers[0], numbers[1])
    if made is None:
        return None
    vector, declined = made
    if not len(declined):
        return vector
    mask = np.ones(batch.count, bool)
    mask[declined] = False
    others = np.flatnonzero(mask)
    return merge(batch.count, [(declined, evaluator._callable(node).over(batch, declined)), (others, vector.take(others))])


def _coalesce(evaluator: Evaluator, node: bound.Call, batch: ColumnBatch) -> ColumnVector:
    rows: Any = None
    parts: list[tuple[Any, ColumnVector]] = []
    for argument in node.arguments:
        part = batch if rows is None else batch.take(rows)
        vector = evaluator.value(argument, part)
        null = vector.null_mask()
        if null is None:
            if rows is None:
                return vector
            parts.append((rows, vector))
            return merge(batch.count, parts)
        if null is True:
            continue
        places = np.flatnonzero(~null)
        parts.append((places if rows is None else rows.take(places), vector.take(places)))
        left = np.flatnonzero(null)
        rows = left if rows is None else rows.take(left)
    return merge(batch.count, parts) if parts else nulls(batch.count)


def _case(evaluator: Evaluator, node: bound.Case, batch: ColumnBatch) -> ColumnVector:
    return _branches(evaluator, node.whens, node.thens, node.otherwise, batch)


def _branches(evaluator: Evaluator, whens: Sequence[Expression], thens: Sequence[Expression], otherwise: Expression | None,
              batch: ColumnBatch) -> ColumnVector:
    results = [*thens, *([] if otherwise is None else [otherwise])]
    singles = [evaluator.constant(result) for result in results]
    if all(single is not None for single in singles):
        return _constant_branches(evaluator, whens, singles, otherwise is None, batch)  # type: ignore[arg-type]
    rows: Any = None
    here = batch
    parts: list[tuple[Any, ColumnVector]] = []
    for when, then in zip(whens, thens, strict=True):
        true, _ = evaluator.truth(when, here)
        hits = np.flatnonzero(true)
        if len(hits) == here.count:
            parts.append((all_rows(batch.count) if rows is None else rows, evaluator.value(then, here)))
            return merge(batch.count, parts)
        if len(hits):
            parts.append((hits if rows is None else rows.take(hits), evaluator.value(then, here.take(hits))))
            left = np.flatnonzero(~true)
            rows = left if rows is None else rows.take(left)
            here = batch.take(rows)
    rest = nulls(here.count) if otherwise is None else evaluator.value(otherwise, here)
    if not parts:
        return rest
    parts.append((rows, rest))
    return merge(batch.count, parts)


def _constant_branches(evaluator: Evaluator, whens: Sequence[Expression], results: list[ColumnVector], else_null: bool,
                       batch: ColumnBatch) -> ColumnVector:
    """A CASE whose results are constants: a vector coded by the number of the branch."""
    codes = np.full(batch.count, len(whens), np.int64)
    rows: Any = None
    here = batch
    for number, when in enumerate(whens):
        true, _ = evaluator.truth(when, here)
        hits = np.flatnonzero(true)
        if len(hits):
            codes[hits if rows is None else rows.take(hits)] = number
            if number == len(whens) - 1 or len(hits) == here.count:
                break
            left = np.flatnonzero(~true)
            rows = left if rows is None else rows.take(left)
            here = batch.take(rows)
    return coded(codes, concatenate([*results, *([nulls(1)] if else_null else [])]))


# --- truth of the kinds ---------------------------------------------------------------------------------------------------------------


def _compare(evaluator: Evaluator, node: bound.Compare, batch: ColumnBatch) -> tuple[Any, Any]:
    if node.using.upper() not in _COLLATIONS:
        return evaluator.truth_of(evaluator.by_rows(node, batch))
    left = evaluator.value(node.left, batch)
    right = evaluator.value(node.right, batch)
    for coded_side, other in ((left, right), (right, left)):
        if coded_side.bits is None and other.is_constant and coded_side.dictionary is not None:
            # compare the dictionary, then look up
            values = coded_side.dictionary
            single = ColumnVector(values.count, other.tags, other.bits, other.length, other.heap, True)
            pair = (values, single) if coded_side is left else (single, values)
            true, unknown = evaluator.compare(node, *pair)
            return true.take(coded_side.codes), None if unknown is None else unknown.take(coded_side.codes)
    return evaluator.compare(node, left, right)


def _and(evaluator: Evaluator, node: bound.And, batch: ColumnBatch) -> tuple[Any, Any]:
    return _chain(evaluator, node.operands, batch, True)


def _or(evaluator: Evaluator, node: bound.Or, batch: ColumnBatch) -> tuple[Any, Any]:
    return _chain(evaluator, node.operands, batch, False)


def _chain(evaluator: Evaluator, operands: Sequence[Expression], batch: ColumnBatch, is_and: bool) -> tuple[Any, Any]:
    """AND or OR, left to right; an operand that isn't plain sees only the rows that the operands before left open."""
    join = logic.all_of if is_and else logic.any_of
    state: tuple[Any, Any] | None = None
    for operand in operands:
        if state is None:
            state = evaluator.truth(operand, batch)
            continue
        if evaluator.is_plain(operand):
            state = join(state, evaluator.truth(operand, batch))
            continue
        true, unknown = state
        is_open = (true if unknown is None else true | unknown) if is_and else ~true
        rows = np.flatnonzero(is_open)
        if not len(rows):
            return state
        if len(rows) == batch.count:
            state = join(state, evaluator.truth(operand, batch))
            continue
        part_true, part_unknown = evaluator.truth(operand, batch.take(rows))
        own_true = np.zeros(batch.count, bool)
        own_true[rows] = part_true
        own_unknown = None
        if part_unknown is not None:
            own_unknown = np.zeros(batch.count, bool)
            own_unknown[rows] = part_unknown
        state = join(state, (own_true, own_unknown))
    assert state is not None
    return state


def _unary_truth(evaluator: Evaluator, node: bound.Unary, batch: ColumnBatch) -> tuple[Any, Any]:
    if node.operator == "NOT":
        return logic.negation(evaluator.truth(node.operand, batch))
    return evaluator.truth_of(evaluator.value(node, batch))


def _is_null(evaluator: Evaluator, node: bound.IsNull, batch: ColumnBatch) -> tuple[Any, Any]:
    vector = evaluator.value(node.operand, batch)
    null = vector.null_mask()
    if null is None or null is True:
        mask = np.full(batch.count, null is True)
    else:
        mask = null
    return (~mask if node.negated else mask), None


def _is_truth(evaluator: Evaluator, node: bound.IsTruth, batch: ColumnBatch) -> tuple[Any, Any]:
    true, unknown = evaluator.truth(node.operand, batch)
    if node.wanted:
        mask = true
    else:
        mask = ~true if unknown is None else ~(true | unknown)
    return (~mask if node.negated else mask), None


def _between(evaluator: Evaluator, node: bound.Between, batch: ColumnBatch) -> tuple[Any, Any]:
    operand = evaluator.value(node.operand, batch)
    if node.low.using.upper() not in _COLLATIONS or node.high.using.upper() not in _COLLATIONS:
        return evaluator.truth_of(evaluator.by_rows(node, batch))
    low = evaluator.compare(node.low, operand, evaluator.value(node.low.right, batch))
    high = evaluator.compare(node.high, operand, evaluator.value(node.high.right, batch))
    both = logic.all_of(low, high)
    return logic.negation(both) if node.negated else both


def _in_list(evaluator: Evaluator, node: bound.InList, batch: ColumnBatch) -> tuple[Any, Any]:
    known = evaluator._sets.get(id(node), evaluator)
    if known is evaluator:
        known = evaluator._sets[id(node)] = _constant_set(evaluator, node)
    if known is None:
        return evaluator.truth_of(evaluator.by_rows(node, batch))
    return member(evaluator, known, evaluator.value(node.operand, batch), node.applied, node.negated, batch.count)


class ConstantSet:
    """The right side of an IN whose values are known: a key set, and whether it holds NULL."""

    __slots__ = ("has_null", "is_empty", "keys", "singles", "using")

    def __init__(self, values: list[Any], using: str) -> None:
        self.has_null = None in values
        kept = [value for value in values if value is not None]
        self.is_empty = not values
        self.using = using
        self.keys = KeySet([using])
        self.singles: list[ColumnVector] = []
        if 0 < len(kept) <= 4:
            self.singles = [constant(value, 1) for value in kept]
        if kept:
            self.keys.add([from_values(kept)], len(kept))


def member(evaluator: Evaluator, known: ConstantSet, operand: ColumnVector, applied: str | None, negated: bool, count: int) -> tuple[Any, Any]:
    """``operand [NOT] IN known``."""
    if known.is_empty:
        return np.full(count, negated), None
    operand = evaluator.apply(operand, applied)
    if known.singles:
        true, null = compare("=", operand, _times(known.singles[0], count), known.using)
        for single in known.singles[1:]:
            true = true | compare("=", operand, _times(single, count), known.using)[0]
    else:
        true = known.keys.find([operand], count) != 0
        mask = operand.null_mask()
        null = None if mask is None else np.full(count, True) if mask is True else mask
        if null is not None:
            true &= ~null
    unknown = null
    if known.has_null:
        unknown = ~true if null is None else (~true) | null
    result = (true, unknown)
    return logic.negation(result) if negated else result


def _times(single: ColumnVector, count: int) -> ColumnVector:
    return ColumnVector(count, single.tags, single.bits, single.length, single.heap, True)


def _constant_set(evaluator: Evaluator, node: bound.InList) -> ConstantSet | None:
    if node.using.upper() not in _COLLATIONS:
        return None
    values = []
    for item in node.items:
        single = evaluator.constant(item)
        if single is None:
            return None
        values.append(evaluator.apply(single, node.applied).value(0))
    return ConstantSet(values, node.using)


def _in_subquery(evaluator: Evaluator, node: bound.InSubquery, batch: ColumnBatch) -> tuple[Any, Any]:
    if node.subquery.outer or len(node.operands) != 1 or node.using[0].upper() not in _COLLATIONS:
        return evaluator.truth_of(evaluator.by_rows(node, batch))
    known = evaluator._sets.get(id(node))
    if known is None:
        rows = program_of(node.subquery.plan, ()).rows(evaluator.activation)
        affinity = node.applied[0]
        known = evaluator._sets[id(node)] = ConstantSet([convert(row[0], affinity) for row in rows], node.using[0])
    return member(evaluator, known, evaluator.value(node.operands[0], batch), node.applied[0], node.negated, batch.count)


def _exists(evaluator: Evaluator, node: bound.Exists, batch: ColumnBatch) -> tuple[Any, Any]:
    return resolve("sqlvec.exec.vector.apply:exists")(evaluator, node, batch)  # type: ignore[no-any-return]


def _scalar(evaluator: Evaluator, node: bound.ScalarSubquery, batch: ColumnBatch) -> ColumnVector:
    return resolve("sqlvec.exec.vector.apply:scalar")(evaluator, node, batch)  # type: ignore[no-any-return]


def _call_truth(evaluator: Evaluator, node: bound.Call, batch: ColumnBatch) -> tuple[Any, Any]:
    if node.function.builtin and node.function.name in ("like", "glob"):
        return _pattern(evaluator, node, batch)
    return evaluator.truth_of(evaluator.value(node, batch))


def _pattern(evaluator: Evaluator, node: bound.Call, batch: ColumnBatch) -> tuple[Any, Any]:
    """LIKE and GLOB: by distinct value, else by a search of the heap that leaves few candidates, else row by row."""
    if not batch.count:
        return np.zeros(0, bool), None
    search: Any = evaluator._searches.get(id(node), evaluator)
    if search is evaluator:
        search = evaluator._searches[id(node)] = LikeSearch.of_call(node, evaluator)
    if search is None or not search.is_prefix:             # a prefix is told sooner than a value is looked up
        lifted = evaluator._lifted(node, batch)
        if lifted is not None:
            return evaluator.truth_of(lifted)
    if search is not None:
        found = search.truth(evaluator.value(node.arguments[1], batch))
        if found is not None:
            true, unknown, others = found
            if others is not None:
                part, part_unknown = evaluator.truth_of(evaluator._callable(node).over(batch, others))
                true[others] = part
                if part_unknown is not None:
                    unknown = np.zeros(batch.count, bool) if unknown is None else unknown
                    unknown[others] = part_unknown
            return true, unknown
    return evaluator.truth_of(evaluator._callable(node).over(batch))


_VALUE: dict[type, Any] = {
    bound.Binary: _binary, bound.Unary: _unary, bound.Collate: _collate, bound.Call: _call, bound.Case: _case,
    bound.ScalarSubquery: _scalar,
}
_TRUTH: dict[type, Any] = {
    bound.Compare: _compare, bound.And: _and, MaskedAnd: _and, bound.Or: _or, bound.Unary: _unary_truth, bound.IsNull: _is_null, bound.IsTruth: _is_truth,
    bound.Between: _between, bound.InList: _in_list, bound.InSubquery: _in_subquery, bound.Call: _call_truth,
    bound.Exists: _exists,
}

__all__ = ["ConstantSet", "Evaluator", "member"]

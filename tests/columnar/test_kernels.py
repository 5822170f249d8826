"""Kernels against plain Python: comparison, ordering, keys, sums."""
from __future__ import annotations

import random
from functools import cmp_to_key

import pytest

np = pytest.importorskip("numpy", reason="the vector engine needs numpy")

from sqlvec.columnar.dictionary import KeySet  # noqa: E402
from sqlvec.columnar.kernels.aggregate import Extreme, NeedsRows, Sum, add_reals  # noqa: E402
from sqlvec.columnar.kernels.compare import compare  # noqa: E402
from sqlvec.columnar.key_table import KeyTable  # noqa: E402
from sqlvec.columnar.ordering import SortKey, sort_order  # noqa: E402
from sqlvec.columnar.vector import concatenate, constant, from_values, merge  # noqa: E402
from sqlvec.values.compare import Collations  # noqa: E402
from sqlvec.values.compare import compare as row_compare  # noqa: E402

VALUES = (None, 0, 1, -1, 5, 2**53, 2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63, 0.0, -0.0, 1.0, 0.5, 9007199254740992.0, 9.3e18, -9.3e18, float("inf"),
          "", "a", "A", "ab", "abc ", "abc", "abcdefgh", "abcdefgh\0", "abcdefghi", "ABCDEFGHI", "abcdefghi\0", "abcdefghijklmno",
          "abcdefghijklmnop", "abcdefghijklmnopqrst", "é", "z" * 40, b"", b"a", b"abcdefghijk", b"\xff")
COLLATIONS = ("BINARY", "NOCASE", "RTRIM")


def _sample(seed, count):
    rng = random.Random(seed)
    return [rng.choice(VALUES) for _ in range(count)]


@pytest.mark.parametrize("collation", COLLATIONS)
@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">=", "IS", "IS NOT"])
def test_comparison_of_all_pairs(operator, collation):
    found = Collations().lookup(collation)
    left = [one for one in VALUES for _ in VALUES]
    right = [other for _ in VALUES for other in VALUES]
    true, unknown = compare(operator, from_values(left), from_values(right), collation)
    for position, (one, other) in enumerate(zip(left, right, strict=True)):
        sign = row_compare(one, other, found)
        if operator in ("IS", "IS NOT"):
            expected = (sign == 0) is (operator == "IS")
        elif one is None or other is None:
            expected = None
        else:
            expected = {"=": sign == 0, "<>": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]
        actual = None if unknown is not None and unknown[position] else bool(true[position])
        assert expected == actual, (one, operator, other)


@pytest.mark.parametrize("collation", COLLATIONS)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_order_is_stable_and_exact(collation, descending):
    found = Collations().lookup(collation)
    for seed in range(5):
        values, others = _sample(seed, 300), _sample(seed + 50, 300)
        order = sort_order([SortKey(from_values(values), descending, None, collation), SortKey(from_values(others))], 300)
        sign = -1 if descending else 1

        def by_both(a, b, values=values, others=others, sign=sign):
            return sign * row_compare(values[a], values[b], found) or row_compare(others[a], others[b])

        assert sorted(range(300), key=cmp_to_key(by_both)) == order.tolist()


@pytest.mark.parametrize("collation", COLLATIONS)
def test_key_ids_follow_first_appearance(collation):
    found = Collations().lookup(collation)
    keys = KeySet([collation, "BINARY"])
    seen = []
    for seed in range(6):
        # the first batches are of one class, so that the class words are added later
        values = _sample(seed, 400) if seed > 1 else [number % 7 for number in range(400)]
        others = _sample(seed + 9, 400) if seed > 2 else [1.5] * 400
        expected = []
        for pair in zip(values, others, strict=True):
            for number, known in enumerate(seen):
                if row_compare(pair[0], known[0], found) == 0 and row_compare(pair[1], known[1]) == 0:
                    expected.append(number + 1)
                    break
            else:
                seen.append(pair)
                expected.append(len(seen))
        vectors = [from_values(values), from_values(others)]
        assert expected == keys.add(vectors, 400).tolist()
        assert expected == keys.find(vectors, 400).tolist()
    assert [0] == keys.find([from_values(["never seen before"]), from_values([1])], 1).tolist()


def test_key_table_grows_and_keeps_order():
    rng = np.random.default_rng(3)
    table = KeyTable(2)
    seen = {}
    for _ in range(20):
        words = [rng.integers(0, 3000, 2000).astype(np.uint64), rng.integers(0, 3, 2000).astype(np.uint64)]
        ids = table.add(words)
        expected = [seen.setdefault(key, len(seen) + 1) for key in zip(words[0].tolist(), words[1].tolist(), strict=True)]
        assert expected == ids.tolist()


@pytest.mark.parametrize("groups", [1, 5, 300])
def test_sums_add_in_row_order_across_batches(groups):
    rng = random.Random(groups)
    totals = np.zeros(groups)
    expected = [0.0] * groups
    for _ in range(7):
        values = [rng.choice((rng.random(), rng.random() * 1e16, -rng.random() * 1e16, 1e-9)) for _ in range(997)]
        ids = [rng.randrange(groups) for _ in values]
        for number, one in zip(ids, values, strict=True):
            expected[number] += one
        add_reals(totals, np.array(ids, np.int64), np.array(values), groups)
    assert expected == totals.tolist()


def test_sum_keeps_integers_until_a_real_arrives():
    state = Sum()
    ids = np.array([0, 0, 1], np.int64)
    state.step(ids, from_values([1, 2, 2**60]), 2)
    assert [3, 2**60] == state.sum(2).values()
    state.step(ids, from_values([None, 0.5, 1]), 2)
    assert [3.5, 2**60 + 1] == state.sum(2).values()
    assert [3.5 / 3, (2.0**60 + 1) / 2] == state.avg(2).values()
    with pytest.raises(NeedsRows):
        state.step(ids, from_values([2**62, 2**62, 2**62]), 2)


@pytest.mark.parametrize("collation", COLLATIONS)
@pytest.mark.parametrize("is_min", [False, True])
def test_extremes_keep_the_earliest(is_min, collation):
    found = Collations().lookup(collation)
    state = Extreme(is_min, collation)
    held = {}
    rng = random.Random(4)
    for seed in range(8):
        values = _sample(seed, 200)
        ids = [rng.randrange(9) for _ in values]
        state.step(np.array(ids, np.int64), from_values(values), 9)
        for number, one in zip(ids, values, strict=True):
            if one is None:
                continue
            best = held.get(number)
            sign = row_compare(one, best, found) if best is not None else -1 if is_min else 1
            if (sign < 0) if is_min else (sign > 0):
                held[number] = one
    assert repr([held.get(number) for number in range(9)]) == repr(state.result(9).values())


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("is_min", [False, True])
@pytest.mark.parametrize("kind", [int, float, str, bytes])
def test_extremes_of_one_class(is_min, kind, groups):
    """One class a batch, several batches: rows that don't beat what is held are left out early."""
    rng = random.Random(groups)
    state = Extreme(is_min, "BINARY")
    held = {}
    pool = [value for value in VALUES if type(value) is kind]
    for base in range(0, 900, 300):
        values = [rng.choice((None, *pool)) for _ in range(300)]
        ids = [rng.randrange(groups) for _ in values]
        state.step(np.array(ids, np.int64), from_values(values), groups, np.arange(base, base + 300))
        for row, (number, one) in enumerate(zip(ids, values, strict=True), base):
            best = held.get(number)
            if one is not None and (best is None or (row_compare(one, best[0]) < 0 if is_min else row_compare(one, best[0]) > 0)):
                held[number] = (one, row)
    assert repr([held[number][0] for number in range(groups)]) == repr(state.result(groups).values())
    assert [held[number][1] for number in range(groups)] == state.rows.tolist()


def test_vectors_round_trip():
    values = _sample(1, 500)
    vector = from_values(values)
    assert repr(values) == repr(vector.values())
    assert repr(values * 2) == repr(concatenate([vector, vector.detached()]).values())
    positions = np.array([3, 1, 400], np.int64)
    assert repr([values[3], values[1], values[400]]) == repr(vector.take(positions).values())
    even, odd = np.arange(0, 500, 2), np.arange(1, 500, 2)
    assert repr(values) == repr(merge(500, [(even, vector.take(even)), (odd, vector.take(odd))]).values())
    assert ["x"] * 3 == constant("x", 3).flat().values()

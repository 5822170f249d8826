"""Outer rows that are held: what is handed out is what came, in batches of some size; look-ups by direct address and by hash agree."""
from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from sqlvec.columnar.batch import of_vectors
from sqlvec.columnar.numeric import np
from sqlvec.columnar.vector import from_values, integers
from sqlvec.exec.vector import kept
from sqlvec.exec.vector.join_keys import InnerKeys
from sqlvec.exec.vector.kept import BuiltColumns, KeptRows, NullableBuiltColumns
from sqlvec.exec.vector.lookup import Lookup
from sqlvec.expr import bound
from sqlvec.plan import physical

OWN, BUILT = (1, 0), (2, 0)


def held_rows(sizes: list[int], built: bool) -> tuple[KeptRows, list[tuple[object, object]]]:
    """Held batches of some sizes and the rows that they hold."""
    inner = {BUILT: from_values([f"inner {number}" for number in range(50)])}
    rows = KeptRows([OWN, BUILT])
    expected: list[tuple[object, object]] = []
    for number, size in enumerate(sizes):
        names = [f"{number}.{place}" * (place % 3) for place in range(size)]
        positions = np.arange(size, dtype=np.int64) * 7 % 50
        if built and number % 2:
            positions[::3] = -1
        batch = of_vectors(size, {OWN: from_values(names)})
        part = (NullableBuiltColumns if number % 2 else BuiltColumns)(inner, positions)
        if built:
            batch.parts[BUILT] = part
        else:
            batch.vectors[BUILT] = part.column(BUILT)
            batch.parts[BUILT] = batch.parts[OWN]
        rows.add(batch)
        expected += [(name, None if place < 0 else f"inner {place}") for name, place in zip(names, positions.tolist(), strict=True)]
    return rows, expected


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("sizes", [[5], [1, 2, 3, 4], [100, 1, 1, 1, 100, 2], [30] * 9])
def test_batches_hand_out_the_rows_as_they_came(monkeypatch: pytest.MonkeyPatch, sizes: list[int], built: bool) -> None:
    monkeypatch.setattr(kept, "BATCH_ROWS", 64)
    rows, expected = held_rows(sizes, built)
    batches = list(rows.batches())
    found = [row for batch in batches for row in zip(batch.column(OWN).values(), batch.column(BUILT).values(), strict=True)]
    assert found == expected
    assert all(batch.count >= 64 for batch in batches[:-1])
    assert not rows.blocks


@pytest.mark.parametrize("built", [False, True])
def test_whole_is_one_batch(built: bool) -> None:
    rows, expected = held_rows([3, 8, 1], built)
    batch = rows.whole()
    assert list(zip(batch.column(OWN).values(), batch.column(BUILT).values(), strict=True)) == expected


@pytest.mark.parametrize("step", [1, 5_000])
@pytest.mark.parametrize("repeats", [1, 3])
def test_direct_addresses_and_hashing_find_the_same_pairs(step: int, repeats: int) -> None:
    keys = InnerKeys(physical.TableScan.__new__(physical.TableScan))
    keys.numbers = [0]
    keys.terms = [physical.KeyTerm("=", bound.Column(1, 0), None)]
    keys.collations = ["BINARY"]
    values = np.repeat(np.arange(2_000, dtype=np.int64)[::-1] * step, repeats)
    asked = integers(np.arange(-3, 2_100, dtype=np.int64) * step)
    hashed = Lookup([integers(values)], len(values), keys)
    direct = Lookup([integers(values)], len(values), keys, 4_000_000)
    assert (hashed._direct is None) == (step > 1)
    assert direct._direct is not None
    for left, right in zip(hashed.pairs([asked], asked.count), direct.pairs([asked], asked.count), strict=True):
        assert left.tolist() == right.tolist()
    assert direct.pairs([asked], asked.count)[0].tolist() == np.repeat(np.arange(3, 2_003), repeats).tolist()

"""The logarithmic estimates: ten times the binary logarithm in integers, with an approximate sum."""
from __future__ import annotations

import pytest

from sqlvec.plan.access import cost


@pytest.mark.parametrize(("number", "estimate"), [(0, 0), (1, 0), (2, 10), (3, 16), (4, 20), (5, 23), (10, 33), (20, 43), (100, 66), (1000, 99),
                                                  (1048576, 200), (10**9, 298)])
def test_log_estimate(number, estimate):
    assert cost.log_estimate(number) == estimate


@pytest.mark.parametrize(("left", "right", "total"), [(0, 0, 10), (10, 10, 20), (33, 0, 34), (40, 8, 41), (40, 9, 42), (100, 60, 101),
                                                      (100, 50, 100), (50, 100, 100)])
def test_add(left, right, total):
    assert cost.add(left, right) == total


def test_add_is_symmetric_and_monotonic():
    for left in range(0, 120, 7):
        sums = [cost.add(left, right) for right in range(120)]
        assert sums == sorted(sums)
        assert sums == [cost.add(right, left) for right in range(120)]


def test_seek_cost_is_about_the_logarithm_of_the_row_count():
    assert cost.seek_cost(cost.log_estimate(1)) == 0
    assert cost.seek_cost(200) == cost.log_estimate(200) - 33


@pytest.mark.parametrize(("probability", "estimate"), [(1.0, 0), (0.5, -10), (0.25, -20), (0.0625, -40), (0.9375, -1)])
def test_from_probability(probability, estimate):
    assert cost.from_probability(probability) == estimate

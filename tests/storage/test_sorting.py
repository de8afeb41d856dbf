"""Sorted numbers, beside what NumPy makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from gquery.storage.sorting import among, distinct, either, grouped, grouped_columns, order_of, without

LARGEST = [0, 5, 1_000, 2**16 - 1, 2**16, 2**31 - 1, 2**32, 2**62]


@pytest.mark.parametrize("largest", LARGEST)
@pytest.mark.parametrize("count", [0, 1, 2, 700, 140_000])
def test_as_numpy(count: int, largest: int) -> None:
    numbers = np.random.default_rng([count, largest]).integers(0, largest, count, endpoint=True)
    _check(numbers)


@pytest.mark.parametrize("largest", LARGEST)
def test_what_is_in_order_already(largest: int) -> None:
    numbers = np.sort(np.random.default_rng(largest).integers(0, largest, 3_000, endpoint=True))
    _check(numbers)
    _check(numbers[::-1])


@pytest.mark.parametrize("type_", [np.int32, np.int64, np.uint64])
def test_distinct_numbers_keep_their_type(type_: type) -> None:
    numbers = np.array([7, 3, 3, 900, 0, 7], type_)
    assert distinct(numbers).dtype == type_
    assert distinct(numbers).tolist() == [0, 3, 7, 900]


@pytest.mark.parametrize("seed", range(8))
def test_few_among_others(seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers, ordered = random.integers(0, 40, seed), np.unique(random.integers(0, 40, 1 + 5 * seed))
    assert among(numbers, ordered).tolist() == np.isin(numbers, ordered).tolist()


def _check(numbers: NDArray[np.int64]) -> None:
    assert distinct(numbers).tolist() == np.unique(numbers).tolist()
    assert distinct(-numbers).tolist() == np.unique(-numbers).tolist()
    assert order_of(numbers.copy()).tolist() == np.argsort(numbers, kind="stable").tolist()
    _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    found = grouped(numbers)
    assert found[0].tolist() == first.tolist()
    assert found[1].tolist() == which.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_sets_of_numbers(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = (random.integers(-5, 20, random.integers(0, 30)) for _ in range(2))
    assert without(one, other).tolist() == sorted(set(one.tolist()) - set(other.tolist()))
    assert either(one, other).tolist() == sorted({*one.tolist(), *other.tolist()})


@pytest.mark.parametrize("seed", range(20))
def test_columns_of_numbers(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.integers(-2, 4, (random.integers(0, 4), random.integers(0, 30)))
    first, which = grouped_columns(rows)
    expected = sorted(set(map(tuple, rows.T.tolist())))
    assert [tuple(rows[:, place].tolist()) for place in first] == expected
    assert [expected[number] for number in which] == list(map(tuple, rows.T.tolist()))

"""Sorted numbers, beside what NumPy makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from gquery.storage.sorting import distinct, grouped, order_of


@pytest.mark.parametrize("largest", [0, 5, 1_000, 2**31 - 1, 2**62])
@pytest.mark.parametrize("count", [0, 1, 2, 700])
def test_as_numpy(count: int, largest: int) -> None:
    numbers = np.random.default_rng([count, largest]).integers(0, largest, count, endpoint=True)
    assert distinct(numbers).tolist() == np.unique(numbers).tolist()
    assert distinct(-numbers).tolist() == np.unique(-numbers).tolist()
    assert order_of(numbers.copy()).tolist() == np.argsort(numbers, kind="stable").tolist()
    _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    found = grouped(numbers)
    assert found[0].tolist() == first.tolist()
    assert found[1].tolist() == which.tolist()

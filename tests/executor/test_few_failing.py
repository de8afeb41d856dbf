"""Few elements for which an expression fails, among many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gquery.errors import ExecutionError
from gquery.executor.relational.scanning.failing import FEW, Elements, answered, few_failing


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 10, 1000])
def test_few_are_found(count: int) -> None:
    random = np.random.default_rng(count)
    ids = random.permutation(5000).astype(np.int32)
    for some in range(1, min(count, FEW + 2) + 1):
        bad = random.choice(count, some, replace=False)
        asked = [0]

        def fails_at(places: np.ndarray, bad: np.ndarray = bad, asked: list[int] = asked) -> bool:
            asked[0] += 1
            return bool(np.isin(places, bad).any())

        found = few_failing(ids, np.arange(count), fails_at)
        if some <= FEW:
            assert found is not None
            assert sorted(found) == sorted(ids[bad])
        else:
            assert found is None
        assert asked[0] <= 2 * FEW * 11


def test_what_fails_beside_each_other_alone_is_not_found() -> None:
    assert few_failing(np.arange(4), np.arange(4), lambda places: len(places) > 2) is None


def test_all_are_asked_where_others_than_a_few_fail_still() -> None:
    asked: list[Elements] = []

    def relevant() -> Iterator[Elements]:
        yield Elements(np.arange(1))
        yield Elements(np.arange(2), others=True)
        yield Elements(np.arange(3))

    def ask(elements: Elements) -> int:
        asked.append(elements)
        if elements.others:
            raise ExecutionError("division by zero")
        return len(elements.ids)

    assert answered(relevant(), ask) == 3
    assert [len(each.ids) for each in asked] == [1, 2, 3]
    assert answered(relevant(), lambda elements: len(elements.ids)) == 2


def test_others_are_all_but_some() -> None:
    assert Elements(np.array([1, 7])).among(np.array([0, 1, 7, 9])).tolist() == [False, True, True, False]
    assert Elements(np.array([1, 7]), others=True).among(np.array([0, 1, 7, 9])).tolist() == [True, False, False, True]
    assert Elements(np.zeros(0, np.int32)).among(np.zeros(0, np.int32)).tolist() == []

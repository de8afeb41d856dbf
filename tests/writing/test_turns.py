"""Which rows change elements after which others, beside going through them one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.updates.turns import turns_of


def by_hand(subjects: list[pa.Array], count: int) -> list[list[int]]:
    turns: list[list[int]] = []
    for row in range(count):
        own = {(column.type, column[row].as_py()) for column in subjects if column[row].is_valid}
        of_turns = [
            {(c.type, c[each].as_py()) for c in subjects for each in turn if c[each].is_valid} for turn in turns
        ]
        last = max((number for number, others in enumerate(of_turns) if own & others), default=-1)
        if last + 1 == len(turns):
            turns.append([])
        turns[last + 1].append(row)
    return turns


@pytest.mark.parametrize("seed", range(60))
def test_turns(seed: int) -> None:
    random = Random(seed)
    count = random.randint(1, 12)
    types = random.sample([pa.int32(), pa.int64()], random.randint(1, 2))
    subjects = [pa.array([random.choice([None, 1, 2, 3, 4]) for _ in range(count)], type_) for type_ in types]
    assert [turn.tolist() for turn in turns_of(subjects, count)] == by_hand(subjects, count)


def test_many_rows_are_looked_through_between_looks_at_the_clock() -> None:
    looks = []
    column = pa.array(np.arange(1000).repeat(3))
    assert len(turns_of([column], 3000, lambda: looks.append(1))) == 3
    assert len(looks) > 2

    def over() -> None:
        raise gquery.QueryTimeout("over")

    with pytest.raises(gquery.QueryTimeout):
        turns_of([column], 3000, over)

"""Ids in segments against ids that are written down one by one."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from gquery.storage.numbering import Numbering, Segment
from tests.storage.scattered import random_numbering


def test_a_load_numbers_one_table_after_the_other() -> None:
    numbers = Numbering.consecutive([3, 0, 2])
    assert numbers.segments == (Segment(0, 3, 0, 0), Segment(3, 5, 2, 0))
    assert numbers.is_consecutive
    assert numbers.count == 5
    assert Numbering.consecutive([]).count == Numbering.consecutive([0, 0]).count == 0


def test_what_comes_later_is_numbered_behind() -> None:
    numbers = Numbering.consecutive([3, 0, 2]).added([0, 0, 1, 1], [2, 1, 0, 4])
    assert numbers.segments == (
        Segment(0, 3, 0, 0), Segment(3, 5, 2, 0), Segment(5, 8, 0, 3), Segment(8, 12, 1, 0)
    )  # fmt: skip
    assert not numbers.is_consecutive
    assert Numbering.consecutive([3, 2]).added([1], [2]) == Numbering.consecutive([3, 4])
    assert Numbering.consecutive([3, 2]).added([2], [2]).is_consecutive


@pytest.mark.parametrize("seed", range(40))
def test_against_a_list(seed: int) -> None:
    random = Random(f"numbering {seed}")
    counts = [random.choice([0, 1, 4, 9]) for _ in range(random.randint(1, 5))]
    numbers = random_numbering(counts, random)
    rows, told = [0] * len(counts), []  # (table, row) by id
    for begin, end, table, _ in numbers.segments:
        for _ in range(begin, end):
            told.append((table, rows[table]))
            rows[table] += 1
    assert rows == counts
    assert numbers.count == len(told)
    assert numbers.each_table().tolist() == [table for table, _ in told]
    asked = np.array([random.randrange(len(told)) for _ in range(random.choice([1, 30]) if told else 0)], np.int32)
    assert numbers.tables_of(asked).tolist() == [told[id][0] for id in asked]
    found: dict[int, tuple[int, int]] = {}
    for table, where, part in numbers.parts(asked):
        places = range(len(asked))[where] if isinstance(where, slice) else where.tolist()
        found |= {place: (table, row) for place, row in zip(places, part.tolist(), strict=True)}
    assert [found[place] for place in range(len(asked))] == [told[id] for id in asked]
    chosen = [table for table in range(len(counts)) if random.random() < 0.6]
    ids = [id for id, (table, _) in enumerate(told) if table in chosen]
    assert numbers.ids(chosen, np.int32).tolist() == ids
    ascending = np.unique(asked)
    left = [id for id in ascending.tolist() if told[id][0] in chosen]
    assert numbers.of_tables(ascending, chosen).tolist() == left
    assert numbers.of_tables(ascending, range(len(counts))).tolist() == ascending.tolist()
    values = {table: 10 * table + np.arange(counts[table]) for table in chosen}
    assert numbers.by_id(values, np.int64).tolist() == [10 * table + row for table, row in (told[id] for id in ids)]
    begin, end = sorted(random.randint(0, len(told)) for _ in range(2))
    within = [(id, part.table, part.row + id - part.begin) for part in numbers.within(begin, end)
              for id in range(part.begin, part.end)]  # fmt: skip
    assert within == [(id, *told[id]) for id in range(begin, end)]

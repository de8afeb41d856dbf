"""Which seeds a match begins with: the distinct bindings that rows have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import filled
from gquery.executor.lowering.seeds import Bound, Seeds
from gquery.storage.sorting import grouped

Numbers = NDArray[np.int64]


def seeds_of(
    rows: pa.Table, bound: tuple[str, ...], looked_up: Mapping[str, tuple[Numbers, Bound]]
) -> tuple[Seeds, Numbers]:
    """The distinct bindings of some vertices, and for each row the number of its own; -1 where one of them is null.
    bound: vertices that the rows have. looked_up: for others, which of the vertices that were found is each row's; -1
    where there is none."""
    numbered = {name: filled(rows[name].chunk(0), -1).astype(np.int64) for name in bound}
    numbered |= {name: numbers for name, (numbers, _) in looked_up.items()}
    known = np.ones(rows.num_rows, np.bool_)
    for column in numbered.values():
        known &= column >= 0
    columns = {name: column[known] for name, column in numbered.items()}
    own: Numbers = np.zeros(np.count_nonzero(known), np.int64)
    first = np.arange(min(1, len(own)))
    for column in columns.values():
        first, own = grouped(own * (column.max(initial=0) + 1) + column)
    numbers = np.full(rows.num_rows, -1, np.int64)
    numbers[known] = own
    plain = {name: columns[name][first].astype(np.int32) for name in bound}
    found = {name: vertices.of(columns[name][first]) for name, (_, vertices) in looked_up.items()}
    return Seeds(len(first), plain, found), numbers

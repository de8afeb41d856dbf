"""Which seeds a match begins with: the distinct bindings that rows have."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_numpy, truths
from gquery.executor.lowering.seeds import Seeds

Numbers = NDArray[np.int64]


def seeds_of(rows: pa.Table, bound: tuple[str, ...]) -> tuple[Seeds, Numbers]:
    """The distinct bindings of some vertices, and for each row the number of its own; -1 where one of them is null."""
    known = np.ones(rows.num_rows, np.bool_)
    for name in bound:
        known &= truths(rows[name].is_valid())
    columns = {name: to_numpy(rows[name])[known].astype(np.int32) for name in bound}
    own: Numbers = np.zeros(np.count_nonzero(known), np.int64)
    for column in columns.values():
        _, own = np.unique((own << 32) | column, return_inverse=True)
    _, first = np.unique(own, return_index=True)
    numbers = np.full(rows.num_rows, -1, np.int64)
    numbers[known] = own
    return Seeds(len(first), {name: column[first] for name, column in columns.items()}), numbers

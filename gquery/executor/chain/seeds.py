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

_FEW = 1 << 12  # rows whose bindings need not be side by side in memory


def seeds_of(
    rows: pa.Table, bound: tuple[str, ...], looked_up: Mapping[str, tuple[Numbers, Bound]]
) -> tuple[Seeds, Numbers]:
    """The distinct bindings of some vertices, and for each row the number of its own; -1 where one of them is null.
    bound: vertices that the rows have. looked_up: for others, which of the vertices that were found is each row's; -1
    where there is none."""
    numbered = {name: filled(rows[name].chunk(0), -1).astype(np.int64) for name in bound}
    numbered |= {name: numbers for name, (numbers, _) in looked_up.items()}
    known = np.logical_and.reduce([column >= 0 for column in numbered.values()])
    if known.all():
        first, numbers = _grouped(list(numbered.values()), rows.num_rows)
    else:
        numbers = np.full(rows.num_rows, -1, np.int64)
        places = np.flatnonzero(known)
        first, numbers[places] = _grouped([column[places] for column in numbered.values()], len(places))
        first = places[first]
    plain = {name: numbered[name][first].astype(np.int32) for name in bound}
    found = {name: vertices.of(numbered[name][first]) for name, (_, vertices) in looked_up.items()}
    return Seeds(len(first), plain, found, rows), numbers


def _grouped(columns: list[Numbers], rows: int) -> tuple[Numbers, Numbers]:
    """Of so many rows: where each different one stands first, and which of these each is. Few that all differ stay in
    their order."""
    if rows == 1 or not columns:
        return np.arange(min(1, rows)), np.zeros(rows, np.int64)
    first, own = grouped(columns[0])
    for column in columns[1:]:
        first, own = grouped(own * (column.max(initial=0) + 1) + column)
    if len(first) == rows <= _FEW:
        return np.arange(rows), np.arange(rows)
    return first, own

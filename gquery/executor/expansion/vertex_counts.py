"""How many matches each match of one vertex has, added up over several plans: what inclusion and exclusion makes of a
count for each vertex (`planner/search/counting.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.expansion.expand import PIECE, Matches, expect_safe
from gquery.executor.lowering.reading import Reading


class VertexCounts:
    """The numbers, modulo 2^64 as sums are: those of single plans may be larger than what is left of them, or negative.
    vertex: the query vertex."""

    def __init__(self, vertex: int, reading: Reading) -> None:
        self._vertex = vertex
        self._memory = reading.control.memory
        universe = reading.snapshot.vertex_count
        self._memory.reserve(16 * universe, "the numbers of matches of each vertex")
        self._sums = np.zeros(universe, np.uint64)
        self._sizes = np.zeros(universe, np.float64)  # about the same

    def add(self, partial: PartialMatches, vertices: NDArray[np.int32] | None, times: int) -> None:
        """What one plan has found, so many times. vertices: by position, None where positions are vertices."""
        found = partial.positions[0, : partial.count]
        found = found if vertices is None else vertices[found]
        sums = np.ones(partial.count, np.uint64) if partial.sums is None else partial.sums
        sizes = sums.astype(np.float64) if partial.sizes is None else partial.sizes
        np.add.at(self._sums, found, sums * np.uint64(times % 2**64))  # some of a vertex's may come later
        np.add.at(self._sizes, found, sizes * times)

    def matches(self) -> Iterator[Matches]:
        """The vertices that are left with any, ascending."""
        expect_safe(self._sizes)
        left = np.flatnonzero(self._sums)
        size = self._memory.rows(PIECE)
        for begin in range(0, len(left), size):
            here = left[begin : begin + size]
            yield Matches(len(here), {self._vertex: here.astype(np.int32)}, {}, self._sums[here].astype(np.int64))

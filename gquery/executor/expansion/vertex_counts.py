"""How many matches each match of one vertex has, added up over several plans: what inclusion and exclusion makes of a
count for each vertex (`planner/search/counting.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import PartialMatches
from gquery.executor.expansion.expand import PIECE, Matches, expect_safe
from gquery.executor.memory import Budget

_FEW = 32  # vertices of the graph for each row, from which on rows are put together by themselves


class VertexCounts:
    """The numbers, modulo 2^64 as sums are: those of single plans may be larger than what is left of them, or negative.
    vertex: the query vertex; universe: how many there may be to match it."""

    def __init__(self, vertex: int, universe: int, memory: Budget) -> None:
        self._vertex = vertex
        self._memory = memory
        self._universe = universe
        self._few: list[tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.float64]]] = []
        self._rows = 0  # of these
        self._numbers: _Numbers | None = None  # of all vertices, once rows are many

    def add(self, partial: PartialMatches, vertices: NDArray[np.int32] | None, times: int) -> None:
        """What one plan has found, so many times. vertices: by position, None where positions are vertices."""
        found = partial.positions[0, : partial.count]
        found = found.copy() if vertices is None else vertices[found]
        sums = np.ones(partial.count, np.uint64) if partial.sums is None else partial.sums
        sizes = sums.astype(np.float64) if partial.sizes is None else partial.sizes
        rows = found, sums * np.uint64(times % 2**64), sizes * times
        if self._numbers is None:
            self._memory.reserve(sum(each.nbytes for each in rows), "the numbers of matches of some vertices")
            self._few.append(rows)
            self._rows += partial.count
            if self._rows * _FEW > self._universe:
                self._memory.reserve(16 * self._universe, "the numbers of matches of each vertex")
                self._numbers = _Numbers(self._universe)
                for earlier in self._few:
                    self._numbers.add(*earlier)
                self._few.clear()
        else:
            self._numbers.add(*rows)

    def matches(self) -> Iterator[Matches]:
        """The vertices that are left with any, ascending."""
        vertices, numbers = None, self._numbers
        if numbers is None:
            columns = [np.concatenate(column) for column in zip(*self._few, strict=True)] or [np.zeros(0, np.int32)] * 3
            vertices, places = np.unique(columns[0], return_inverse=True)
            numbers = _Numbers(len(vertices))
            numbers.add(places, *columns[1:])
        expect_safe(numbers.sizes)
        left = np.flatnonzero(numbers.sums)
        size = self._memory.rows(PIECE)
        for begin in range(0, len(left), size):
            here = left[begin : begin + size]
            own = here.astype(np.int32) if vertices is None else vertices[here]
            yield Matches(len(here), {self._vertex: own}, {}, numbers.sums[here].astype(np.int64))


class _Numbers:
    """Of so many vertices: sums modulo 2^64, and sizes, which are about the same."""

    def __init__(self, vertices: int) -> None:
        self.sums = np.zeros(vertices, np.uint64)
        self.sizes = np.zeros(vertices, np.float64)

    def add(self, places: NDArray[Any], sums: NDArray[np.uint64], sizes: NDArray[np.float64]) -> None:
        np.add.at(self.sums, places, sums)  # a vertex may come several times
        np.add.at(self.sizes, places, sizes)

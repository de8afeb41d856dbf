"""The adjacency of few edges among many vertices: nothing is as long as there are vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.storage.adjacency import PAGE_BITS, PAGE_ROWS, Adjacency, build_adjacency, order_of_pairs, those_of
from gquery.storage.sorting import changes

_SPREAD = 8  # vertices from the first row to the last, for each entry, from which on most rows are left out
_NO_OFFSETS = np.zeros(0, np.int64)


def adjacency_of_few(source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64]) -> Adjacency:
    """As `build_adjacency`."""
    spread = int(source.max()) - int(source.min()) if len(source) else 0
    if spread < max(PAGE_ROWS, _SPREAD * len(source)):
        return build_adjacency(source, target, edges)
    order = order_of_pairs(source, target)
    return FewRows(source[order], target[order], edges[order])


class FewRows(Adjacency):
    """Rows in a directory, as those of a changed adjacency are: of one empty page, but for the pages that have any."""

    __slots__ = ("_begins", "_ends", "_own", "_pages", "_source", "directory")

    def __init__(self, source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64]) -> None:
        """The entries, ascending by source and target; one at least."""
        again = source[1:] == source[:-1]
        super().__init__(0, _NO_OFFSETS, target, edges, not bool((again & (target[1:] == target[:-1])).any()))
        self._source = source
        self._begins = np.concatenate([[0], 1 + np.flatnonzero(~again)])
        self._ends = np.append(self._begins[1:], len(source))
        self._own = source[self._begins].astype(np.int64)
        pages, rows = self._own >> PAGE_BITS, self._own & (PAGE_ROWS - 1)
        others = changes(pages)
        numbers, places = pages[others], np.cumsum(others)
        self._pages = np.zeros((1 + len(numbers), PAGE_ROWS, 2), np.int64)
        self._pages[places, rows, 0] = self._begins
        self._pages[places, rows, 1] = self._ends
        size, empty = self._pages[0].nbytes, self._pages.ctypes.data
        self.directory = np.full(int(numbers[-1]) + 1, empty)
        self.directory[numbers] = empty + size * np.arange(1, 1 + len(numbers))

    @property
    def rows(self) -> int:
        return int(self._own[-1]) + 1

    @property
    def longest(self) -> int:
        return int((self._ends - self._begins).max())

    @property
    def nbytes(self) -> int:
        return self._pages.nbytes + self.directory.nbytes + self.neighbours.nbytes + self.edges.nbytes

    def among(self, vertices: NDArray[np.int32]) -> NDArray[np.int32]:
        return those_of(self._own.astype(np.int32), vertices)

    def bounds(self, vertices: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        places = np.minimum(np.searchsorted(self._own, vertices), len(self._own) - 1)
        there = self._own[places] == vertices
        return np.where(there, self._begins[places], 0), np.where(there, self._ends[places], 0)

    def compact(self) -> Adjacency:
        return build_adjacency(self._source, self.neighbours, self.edges)

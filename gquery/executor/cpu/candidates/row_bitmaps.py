"""Which rows of an adjacency are looked into as bitsets, and as which.

Either there is room for one row, which is written when looking into it has cost as much (`row_bitset.py`): that serves
while the row stays. Or all rows are written at once, as a matrix of bits, if they fit the caches: then a look is one
bit test whichever row was looked into before, and two rows are intersected a word at a time (EGSM keeps such bitmaps
over candidates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.addresses import address_of_rows
from gquery.executor.cpu.kernels.sorted_rows import bounds
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import address, load_int32
from gquery.executor.memory import Budget
from gquery.records import record
from gquery.storage.adjacency import Adjacency
from gquery.storage.cache import Cache

LARGEST = 1 << 24  # bytes of one matrix: half of a third-level cache
_WORD, _ENTRY, _LOOK = 0.5, 4.0, 5.0  # nanoseconds to clear a word, to set a bit, and that a bit test saves
_TEST, _AND = 2.0, 0.5  # that it takes, and that a word of two rows takes

# Values of the columns MARKS, MARKED, MATRIX, STRIDE, MATRIX_BEGIN and MATRIX_END.
Columns = tuple[int, int, int, int, int, int]


@record(frozen=True, slots=True)
class Matrix:
    """All rows of an adjacency as bits. Known by the adjacency, which therefore has to last as long."""

    adjacency: Adjacency
    words: NDArray[np.uint64]

    @property
    def nbytes(self) -> int:
        return self.words.nbytes + self.adjacency.nbytes


@dataclass(slots=True)
class Bitsets:
    """The bitsets of one packed plan. marks: words for single rows that each thread needs; rows: of adjacencies so far.
    `sliced` runs work over slices of a range; `cache_of` says where what is made of an adjacency stays for other
    queries, None when it is this one's."""

    budget: Budget
    threads: int
    sliced: Callable[[int, Callable[[int, int], object]], None]
    cache_of: Callable[[Adjacency], Cache | None]
    marks: int = 0
    rows: int = 0
    matrices: dict[tuple[int, int, int], NDArray[np.uint64]] = field(default_factory=dict)

    def looked_into(
        self, adjacency: Adjacency, begin: int, end: int, universe: int, looks: float, stays: bool = False
    ) -> Columns:
        """For rows that are looked into about `looks` times for one of `begin .. end - 1`. universe: number of
        positions. stays: each row is looked into as often as it ever is before the next."""
        saved = _LOOK
        if stays:  # one row at a time is enough, unless words are fewer than neighbours
            length = max(1.0, adjacency.entries / max(1, adjacency.rows))
            saved = max(0.0, _TEST - _AND * ((end - begin) / 64) / length)
        self._build(adjacency, begin, end, looks * saved)
        found = self.walked(adjacency, begin, end)
        words = (max(universe, end) >> 6) + 1
        available = self.budget.available
        if found[2] or (available is not None and 8 * self.threads * (self.marks + words) > available // 8):
            return found
        self.marks += words
        return (self.marks - words, *found[1:])

    def walked(self, adjacency: Adjacency, begin: int, end: int) -> Columns:
        """For rows that are walked: they are bitsets too where others like them are."""
        self.rows += 1
        words = self.matrices.get((id(adjacency), begin, end))
        if words is None:
            return -1, self.rows - 1, 0, 0, 0, 0
        stride = 8 * words.shape[1]
        return -1, self.rows - 1, address(words) - 8 * (begin >> 6), stride, begin, end

    def _build(self, adjacency: Adjacency, begin: int, end: int, saved: float) -> None:
        """Writes all rows, where that saves more nanoseconds than it takes and there is space for it."""
        key = (id(adjacency), begin, end)
        shape = (adjacency.rows, ((end - 1) >> 6) - (begin >> 6) + 1)
        size = 8 * shape[0] * shape[1]
        available = self.budget.available
        if key in self.matrices or not 0 < size <= LARGEST or (available is not None and size > available // 8):
            return
        if size / 8 * _WORD + adjacency.entries * _ENTRY > saved:
            return

        def written() -> Matrix:
            words = np.zeros(shape, np.uint64)
            lists = address_of_rows(adjacency), address(adjacency.neighbours)
            self.sliced(adjacency.rows, lambda first, last: write_rows(words, first, last, *lists, begin, end))
            return Matrix(adjacency, words)

        cache, purpose = self.cache_of(adjacency), "rows as bitsets"
        if cache is None:
            self.budget.reserve(size, purpose)
            self.matrices[key] = written().words
        else:
            self.matrices[key] = cache.get((purpose, key), written, size, purpose, self.budget).words


@kernel
def write_rows(words, first, last, offsets, neighbours, begin, end):  # type: ignore[no-untyped-def]
    """Sets the bits of the rows `first .. last - 1` for the neighbours `begin .. end - 1`."""
    base = begin >> 6
    for index in range(first, last):
        low, high = bounds(offsets, index)
        for entry in range(low, high):
            neighbour = np.int64(load_int32(neighbours, entry))
            if begin <= neighbour < end:
                words[index, (neighbour >> 6) - base] |= np.uint64(1) << np.uint64(neighbour & 63)

"""An adjacency as a matrix of bits: a look into any row is one bit test, whichever row was looked into before.

A bitset that is written for one row (`marks.py`) serves while that row stays. Where the row changes with every partial
match, a matrix of all rows is written once instead, if it fits the caches (EGSM keeps such bitmaps over candidates).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.compile import kernel
from gquery.executor.cpu.native import address, load_int32, load_int64
from gquery.storage.adjacency import Adjacency

LARGEST = 1 << 24  # bytes: half of a third-level cache
_WORD, _ENTRY, _LOOK = 0.5, 4.0, 5.0  # nanoseconds to clear a word, to set a bit, and that a bit test saves


@dataclass(frozen=True, slots=True)
class Matrix:
    """words uint64[rows, stride]: bit c of a row stands for the neighbour 64 * first_word + c."""

    words: NDArray[np.uint64]
    first_word: int

    @property
    def stride(self) -> int:
        return int(self.words.shape[1])

    @property
    def address(self) -> int:
        """Where the word of neighbour 0 of the first row would be."""
        return address(self.words) - 8 * self.first_word


def shape_of(adjacency: Adjacency, begin: int, end: int) -> tuple[int, int]:
    """Rows and words in a row of the matrix for the neighbours `begin .. end - 1`."""
    return adjacency.rows, ((end - 1) >> 6) - (begin >> 6) + 1


def pays(adjacency: Adjacency, shape: tuple[int, int], looks: float) -> bool:
    """Whether so many looks into rows are worth writing them all."""
    words = shape[0] * shape[1]
    return 0 < 8 * words <= LARGEST and words * _WORD + len(adjacency.neighbours) * _ENTRY < looks * _LOOK


def build_matrix(
    adjacency: Adjacency,
    begin: int,
    end: int,
    sliced: Callable[[int, Callable[[int, int], object]], None],
) -> Matrix:
    """The matrix of an adjacency for the neighbours `begin .. end - 1`. `sliced` runs work over slices of a range."""
    words = np.zeros(shape_of(adjacency, begin, end), np.uint64)
    offsets, neighbours = address(adjacency.offsets), address(adjacency.neighbours)
    sliced(
        adjacency.rows,
        lambda first, last: set_bits(words, first, last, offsets, neighbours, begin, end),
    )
    return Matrix(words, begin >> 6)


@kernel
def set_bits(words, first, last, offsets, neighbours, begin, end):  # type: ignore[no-untyped-def]
    """Sets the bits of the rows `first .. last - 1` for the neighbours `begin .. end - 1`."""
    base = begin >> 6
    for index in range(first, last):
        for entry in range(load_int64(offsets, index), load_int64(offsets, index + 1)):
            neighbour = np.int64(load_int32(neighbours, entry))
            if begin <= neighbour < end:
                words[index, (neighbour >> 6) - base] |= np.uint64(1) << np.uint64(neighbour & 63)

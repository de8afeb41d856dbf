"""Answers that are numbers of matched vertices: workers gather their columns where they find the matches.

What goes through Python once for each batch is then the arrays of the answer alone, and positions never leave the
caches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.arrays import room
from gquery.executor.backend import Stored
from gquery.executor.cpu.kernels.lists.gather import BYTES, GATHER_COLUMNS, LEVEL, NUMBERS, OUT, SHIFT, VERTICES
from gquery.executor.cpu.machine.native import address

_STAGED = 1 << 18  # bytes of positions that wait until they are looked up: a part of a core's cache
_FEWEST = 1 << 10  # rows of them, however wide
_LINE = 64  # bytes that columns begin at a multiple of


class Columns:
    """What is gathered: of each column the level whose vertices have these numbers. vertices: those of a level's
    positions, None where these are vertices."""

    def __init__(
        self, asked: Sequence[tuple[int, Stored]], vertices: Callable[[int], NDArray[np.int32]] | None
    ) -> None:
        self._asked = asked
        self._vertices = {level: vertices(level) for level, _ in asked} if vertices is not None else {}
        self.table = np.zeros((len(asked), GATHER_COLUMNS), np.int64)
        places = {level: address(each) for level, each in self._vertices.items()}
        for row, (level, stored) in zip(self.table, asked, strict=True):
            row[LEVEL], row[VERTICES] = level, places.pop(level, 0)
            if stored.values is None:
                row[SHIFT] = stored.begin - stored.first
            else:
                row[BYTES] = stored.values.itemsize
                row[NUMBERS] = address(stored.values) - stored.first * stored.values.itemsize

    @property
    def dtypes(self) -> list[np.dtype[Any]]:
        return [stored.dtype for _, stored in self._asked]

    def of(self, positions: NDArray[np.int32]) -> list[NDArray[Any]]:
        """The columns of some matches."""
        found = []
        for level, stored in self._asked:
            column = positions[level]
            found.append(stored.at(self._vertices[level][column] if self._vertices else column))
        return found


class Room:
    """Where one worker writes a batch of so many rows. staged: positions int32[width, *] before they are looked up."""

    def __init__(self, columns: Columns, width: int, rows: int) -> None:
        self.rows = rows
        self.staged = np.empty((width, min(rows, max(_FEWEST, _STAGED // (4 * width)))), np.int32)
        self._columns = columns
        self._table = columns.table.copy()
        self._arrays: list[NDArray[Any]] = []

    @property
    def table(self) -> NDArray[np.int64]:
        """The columns as the kernel has them, with arrays to write to."""
        if not self._arrays:
            dtypes = self._columns.dtypes
            sizes = [-(-self.rows * dtype.itemsize // _LINE) * _LINE for dtype in dtypes]
            whole, ends = room(sum(sizes), np.uint8), np.cumsum(sizes)  # asked for once
            self._arrays = [
                whole[end - size : end].view(dtype)[: self.rows]
                for dtype, size, end in zip(dtypes, sizes, ends.tolist(), strict=True)
            ]
            self._table[:, OUT] = address(whole) + ends - sizes
        return self._table

    def written(self, count: int) -> list[NDArray[Any]]:
        """The first rows of all columns. They are the caller's now: what is about full is not copied, and others are
        written to after it."""
        arrays = [array[:count] for array in self._arrays]
        if 2 * count <= self.rows:
            return [array.copy() for array in arrays]
        self._arrays = []
        return arrays

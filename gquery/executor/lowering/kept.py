"""Vertices that a filter keeps: few of them by their ids, many by a bit each."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray


class Kept:
    """words: uint64[], where there is a bit for every vertex of the graph; None where the vertices are listed."""

    def __init__(self, vertices: NDArray[np.int32] | None, words: NDArray[np.uint64] | None = None) -> None:
        self.words = words
        if vertices is not None:
            self.vertices = vertices

    @cached_property
    def vertices(self) -> NDArray[np.int32]:
        """int32[], ascending."""
        assert self.words is not None
        return np.flatnonzero(np.unpackbits(self.words.view(np.uint8), bitorder="little")).astype(np.int32)

    def __len__(self) -> int:
        if self.words is not None:
            return int(np.bitwise_count(self.words).sum())
        return len(self.vertices)

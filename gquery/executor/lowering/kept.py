"""Vertices and edges that a filter keeps: few of them by their ids, many by a bit or a truth value each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.lasting.properties import cached_property


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

    @property
    def nbytes(self) -> int:
        return _nbytes(self)


class KeptEdges:
    """few: int64[], ascending, where the edges are listed; None where they are many. mask: a truth value for each edge
    of the graph, where that is known; it is for many."""

    def __init__(self, count: int, few: NDArray[np.int64] | None, mask: NDArray[np.bool_] | None = None) -> None:
        self.few = few
        self._count = count
        if mask is not None:
            self.mask = mask

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """bool[edge_count]."""
        assert self.few is not None
        mask = np.zeros(self._count, np.bool_)
        mask[self.few] = True
        return mask

    def has(self, edges: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of some edges are kept."""
        if self.few is None or "mask" in vars(self):
            return self.mask[edges]
        places = np.searchsorted(self.few, edges)
        kept: NDArray[np.bool_] = np.append(self.few, -1)[places] == edges
        return kept

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask)) if self.few is None else len(self.few)

    @property
    def nbytes(self) -> int:
        return _nbytes(self)


def _nbytes(kept: Kept | KeptEdges) -> int:
    """Of the arrays that are there by now."""
    return sum(value.nbytes for value in vars(kept).values() if isinstance(value, np.ndarray))

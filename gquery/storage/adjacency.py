"""Adjacency (CSR) of a set of edge types in one direction: the only view of edges that matching reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.records import record


@record(frozen=True, slots=True)
class Adjacency:
    """Neighbours of the vertices `first .. first + rows - 1`; every other vertex has none.

    offsets: int64[rows + 1]; neighbours: int32[m], ascending within a row; edges: int64[m], the edge behind each entry.
    Parallel edges give equal neighbours side by side; `simple` says that no row has any.
    """

    first: int
    offsets: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    edges: NDArray[np.int64]
    simple: bool

    @property
    def rows(self) -> int:
        return len(self.offsets) - 1

    def reached(self, vertices: NDArray[np.int32], most: int) -> NDArray[np.int32] | None:
        """The vertices, ascending, that are neighbours of some others; None when more than `most` entries tell."""
        row = vertices.astype(np.int64) - self.first
        row = row[(row >= 0) & (row < self.rows)]
        begins = self.offsets[row]
        lengths = self.offsets[row + 1] - begins
        if int(lengths.sum()) > most:
            return None
        steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.unique(self.neighbours[np.repeat(begins, lengths) + steps])

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.neighbours.nbytes + self.edges.nbytes


def build_adjacency(source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64]) -> Adjacency:
    """Adjacency from `source[i] -> target[i]` with edge id `edges[i]`, in any order. O(m log m), one sort."""
    if len(source) == 0:
        empty = np.zeros(0, np.int64)
        return Adjacency(0, np.zeros(1, np.int64), np.zeros(0, np.int32), empty, True)
    key = source.astype(np.int64) << 32
    key |= target
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = int(key[0] >> 32)
    rows = int(key[-1] >> 32) - first + 1
    degrees = np.bincount(source - np.int32(first), minlength=rows)
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(degrees, out=offsets[1:])
    simple = not bool(np.any(key[1:] == key[:-1]))
    return Adjacency(first, offsets, target[order], edges[order], simple)


def building_bytes(edges: int, vertices: int) -> int:
    """Bytes that `build_adjacency` and what is given to it take at most: ends and edge ids, keys, their order, and the
    adjacency itself."""
    return 16 * edges + 16 * edges + 24 * vertices + 12 * edges + 8


def merge_directions(
    source: NDArray[np.int32], target: NDArray[np.int32], edges: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Edges seen from both ends: each appears twice, but a self-loop once (Cypher matches `(a)--(a)` once per loop)."""
    turned = source != target
    return (
        np.concatenate([source, target[turned]]),
        np.concatenate([target, source[turned]]),
        np.concatenate([edges, edges[turned]]),
    )

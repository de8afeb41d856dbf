"""One candidate set C(u) on the CPU: a list, a bitset, and what tells positions from vertices."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels import filters
from gquery.executor.cpu.machine.native import address
from gquery.lasting.properties import cached_property


class CandidateSet:
    """C(u) for one query vertex, ascending. `everything`: all vertices of the graph, so no test is needed. `tables`:
    the vertex tables of which it has all vertices and no others, None for any other set. key: what others may know it
    by, who ask for the same vertices of the graph; None where only one query can tell."""

    def __init__(
        self,
        vertices: NDArray[np.int32],
        universe: int,
        tables: frozenset[int] | None = None,
        key: Hashable | None = None,
    ) -> None:
        self.vertices = vertices
        self.universe = universe
        self.tables = tables
        self.key = key
        self.everything = len(vertices) == universe

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """Bitset over all vertices."""
        words = np.zeros((self.universe >> 6) + 1, np.uint64)
        filters.set_bits(self.vertices, words)
        return words

    def equals(self, other: CandidateSet) -> bool:
        """Whether both have the same vertices."""
        if self.vertices is other.vertices or (self.tables is not None and self.tables == other.tables):
            return True
        return np.array_equal(self.vertices, other.vertices)

    def has(self, vertices: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the vertices are candidates."""
        return _inside(self.words, vertices)

    def among(self, vertices: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of the vertices that are candidates."""
        return vertices[self.has(vertices)]

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """Candidates before each word of the bitset."""
        ranks = np.zeros(len(self.words), np.int32)
        np.cumsum(np.bitwise_count(self.words[:-1]), dtype=np.int32, out=ranks[1:])
        return ranks

    def within(self, words: NDArray[np.uint64]) -> CandidateSet:
        """The candidates that are in a bitset; there are no others in it."""
        vertices, ranks = np.empty_like(self.vertices), np.empty(len(words), np.int32)
        narrowed = CandidateSet(vertices[: filters.read_bits(words, vertices, ranks)].copy(), self.universe)
        narrowed.words, narrowed.ranks = words, ranks
        return narrowed

    @cached_property
    def words_address(self) -> int:
        """Address of the bitset, 0 when every vertex is a candidate."""
        return 0 if self.everything else address(self.words)

    @cached_property
    def ranks_address(self) -> int:
        """Address of the ranks, 0 when every vertex is a candidate."""
        return 0 if self.everything else address(self.ranks)

    @cached_property
    def vertices_address(self) -> int:
        return address(self.vertices)

    @property
    def nbytes(self) -> int:
        return self.vertices.nbytes + (self.universe >> 3) + (self.universe >> 4)

    def shared(self) -> CandidateSet:
        """The same set, with what others look for in several threads."""
        _ = self.vertices_address, self.words_address, self.ranks_address
        return self


def _inside(words: NDArray[np.uint64], vertices: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of the vertices are in a bitset."""
    bits = words[vertices >> 6] >> (vertices & 63).astype(np.uint64)
    inside: NDArray[np.bool_] = (bits & np.uint64(1)).astype(np.bool_)
    return inside

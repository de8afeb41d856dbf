"""Data edges with numbers of their own, and the vertices at their ends: what is read where edges are matched as
vertices are (`planner/passes/rewriting/compared_edges.py`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.lasting.properties import cached_property
from gquery.storage.adjacency import Adjacency, build_adjacency


class Ends:
    """edges: int64[m], which edge a number is of; source, target: int32[m]. The edges of a vertex have numbers side by
    side, seen from their sources or from their targets, so that what is known of them is read in turn."""

    def __init__(self, adjacency: Adjacency, by_source: bool) -> None:
        """adjacency: of the edges, compact, from the ends by which they are numbered."""
        vertices = np.arange(adjacency.first, adjacency.first + adjacency.rows, dtype=np.int32)
        near: NDArray[np.int32] = np.repeat(vertices, np.diff(adjacency.offsets))
        far = adjacency.neighbours
        self.edges = adjacency.edges
        self.source, self.target = (near, far) if by_source else (far, near)
        self._nbytes = ends_bytes(len(near), adjacency.rows)

    @property
    def count(self) -> int:
        return len(self.edges)

    def at(self, is_source: bool) -> NDArray[np.int32]:
        return self.source if is_source else self.target

    @cached_property
    def from_source(self) -> Adjacency:
        """From each vertex to the numbers of the edges of which it is the source."""
        return self.leading(True)

    @cached_property
    def from_target(self) -> Adjacency:
        """From each vertex to the numbers of the edges of which it is the target."""
        return self.leading(False)

    def leading(self, is_source: bool, chosen: NDArray[np.int32] | None = None) -> Adjacency:
        """The same for some of the edges, whose numbers ascend."""
        numbers = np.arange(self.count, dtype=np.int32) if chosen is None else chosen
        at = self.at(is_source)
        return build_adjacency(at if chosen is None else at[chosen], numbers, numbers.astype(np.int64))

    @property
    def nbytes(self) -> int:
        """With all that is made of them; edges and far ends are an adjacency's."""
        return self._nbytes


def ends_bytes(edges: int, vertices: int) -> int:
    """Bytes that they take at most, with all that is made of them."""
    return 4 * edges + 2 * (12 * edges + 8 * vertices)

"""The edges that every edge of a path has to fit, and what they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.addresses import lists_of
from gquery.executor.cpu.machine.native import address
from gquery.executor.lowering.adjacency import adjacency_of, masked
from gquery.executor.lowering.reading import Reading
from gquery.lasting.properties import cached_property
from gquery.planner.ir.query_graph import QueryEdge
from gquery.storage.adjacency import Adjacency
from gquery.storage.schema import Direction

AT_ONCE = 1 << 20  # edges that are looked at together

Vertices = NDArray[np.int32]
Numbers = NDArray[np.int64]


class Led(NamedTuple):
    """Where edges lead to: origin[i] is the place of the vertex that edges[i] begins at, vertices[i] where it ends."""

    origin: Numbers
    vertices: Vertices
    edges: Numbers


class Hops:
    """Edges, seen from one end or from the other."""

    def __init__(self, adjacency: Adjacency) -> None:
        self._adjacency = adjacency

    @classmethod
    def of(cls, edge: QueryEdge, direction: Direction, mask: NDArray[np.bool_] | None, reading: Reading) -> Hops:
        """Those of a query edge, seen in a direction. mask: of the data edges that fit it."""
        adjacency = adjacency_of(edge.relation, direction, reading.snapshot, reading.control.memory)
        if mask is not None:
            reading.control.memory.reserve(adjacency.nbytes, f"the edges of {edge.described}")
            adjacency = masked(adjacency, mask)
        return cls(adjacency)

    @cached_property
    def lists(self) -> tuple[int, int, int, int, int]:
        """What kernels are told of the rows: first, rows, addresses of the offsets, the neighbours and the edges."""
        return *lists_of(self._adjacency), address(self._adjacency.edges)

    def degrees(self, vertices: Vertices) -> Numbers:
        """How many edges lead away from each."""
        begins, ends = self._rows(vertices)
        return ends - begins

    def led(self, vertices: Vertices) -> Led:
        """All edges that lead away from some vertices."""
        begins, ends = self._rows(vertices)
        lengths = ends - begins
        origin = np.repeat(np.arange(len(vertices)), lengths)
        entries = np.arange(len(origin)) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
        return Led(origin, self._adjacency.neighbours[entries], self._adjacency.edges[entries])

    def pieces(self, vertices: Vertices) -> Iterator[slice]:
        """The vertices in parts from which few enough edges lead away to be looked at together."""
        ends, begin = np.cumsum(self.degrees(vertices)), 0
        while begin < len(vertices):
            before = ends[begin - 1] if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
            yield slice(begin, end)
            begin = end

    def _rows(self, vertices: Vertices) -> tuple[Numbers, Numbers]:
        return self._adjacency.bounds(vertices)

"""Breadth first hop by hop, from one vertex or from two, and back along the distances."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gquery.executor.chain.rows import too_many
from gquery.executor.cpu.kernels import meet
from gquery.executor.paths import hops
from gquery.executor.paths.begun import Begun
from gquery.executor.paths.hops import Numbers, Vertices
from gquery.executor.paths.listing import Found
from gquery.executor.paths.pairs import Tables, tables_bytes
from gquery.stopping import stoppable
from gquery.storage.sorting import grouped

PIECE = 1 << 15  # paths that are made longer at once


class Sides:
    """Side 0 goes along the edges, side 1 against them. They can be begun again. counting: they know how many
    shortest ways have led to a vertex, too."""

    def __init__(self, begun: Begun, counting: bool) -> None:
        self._begun = begun
        self._reading = begun.reading
        count = self._reading.snapshot.vertex_count
        self._reading.control.memory.reserve(tables_bytes(count, counting), "the distances of shortest paths")
        self._tables = Tables.of(count, counting)
        self._met, self._distance, self._queue, self._numbers = self._tables
        self._sides = np.zeros((2, meet.SIDE_COLUMNS), np.int64)
        self._search = np.zeros(meet.SLOTS, np.int64)
        self._search[meet.ASKED] = meet.HOW_MANY if counting else meet.EVERY_PATH
        self._search[meet.SLICE] = hops.AT_ONCE

    def begin(self, *vertices: int) -> None:
        """At a vertex for each side, or at one for side 0."""
        for side in range(2):
            self._met[side, self._queue[side, : self._sides[side, meet.TAIL]] >> 6] = 0
        self._sides[:] = 0
        for side, vertex in enumerate(vertices):
            self._distance[side, vertex], self._queue[side, 0] = 0, vertex
            self._numbers[side, vertex : vertex + 1] = 1
            self._met[side, vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)
            self._sides[side, [meet.TAIL, meet.FRONTIER_END]] = 1

    def length(self, side: int) -> int:
        """How far away the frontier of a side is."""
        return int(self._sides[side, meet.LENGTH])

    def frontier(self, side: int) -> Vertices:
        """What a side has met with its last hop."""
        return self._queue[side, self._sides[side, meet.HEAD] : self._sides[side, meet.TAIL]]

    def advance(self, side: int) -> None:
        """One hop more."""
        along = (self._begun.against if side else self._begun.along).lists
        check, status = self._reading.control.check, meet.MORE
        self._search[meet.TURN] = side
        with stoppable(check):
            while status == meet.MORE:
                check()
                status = meet.hop(self._search, self._sides, along, tuple(self._tables), side)

    def has_met(self, side: int, vertices: Vertices) -> NDArray[np.bool_]:
        bits = self._met[side, vertices >> 6] >> (vertices & 63).astype(np.uint64)
        met: NDArray[np.bool_] = (bits & np.uint64(1)).astype(np.bool_)
        return met

    def numbers(self, side: int, vertices: Vertices) -> Numbers:
        """In how many shortest ways a side has come to vertices that it has met. Raises ExecutionError beyond 2^63."""
        numbers: Numbers = self._numbers[side, vertices]
        if np.any(numbers == meet.TOO_MANY):
            raise too_many()
        return numbers

    def ways(self, side: int, paths: Found, every: bool) -> Iterator[Found]:
        """The paths made longer towards the vertex that a side began at, as short as can be: all, or one of each."""
        distances, back = self._distance[side], self._begun.along if side else self._begun.against
        pending = [paths]
        while pending:
            self._reading.control.check()
            paths = pending.pop()
            distance = distances[paths.last]
            if not distance.any():
                yield paths
                continue
            if len(paths.seeds) > PIECE:
                half = len(paths.seeds) // 2
                pending += [paths.chosen(np.arange(half, len(paths.seeds))), paths.chosen(np.arange(half))]
                continue
            led = back.led(paths.last)
            nearer = self.has_met(side, led.vertices) & (distances[led.vertices] == distance[led.origin] - 1)
            chosen = np.flatnonzero(nearer)
            if not every:
                chosen = chosen[grouped(led.origin[chosen])[0]]
            pending.append(paths.longer(led.origin[chosen], led.vertices[chosen], led.edges[chosen]))

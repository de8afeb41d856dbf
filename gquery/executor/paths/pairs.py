"""Shortest paths between many pairs of vertices, on all cores: how long they are, how many, or one of each pair."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.chain.rows import too_many
from gquery.executor.cpu.kernels import meet
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.lowering.reading import Reading
from gquery.executor.paths import hops
from gquery.executor.paths.hops import Hops, Numbers, Vertices
from gquery.executor.paths.listing import Found
from gquery.records import record
from gquery.storage.graph import Snapshot
from gquery.storage.sorting import distinct

AT_ONCE = 1 << 12  # pairs whose paths are found before they are handed on
TASK = 8  # pairs that a thread takes at a time
LENGTH = 16  # vertices of paths that there is room for at first


class _Told(NamedTuple):
    """Of some pairs: lengths of their shortest paths, -1 for none, int32[n]; how many there are, int64[n]; the vertices
    and the edges of one path each, one after the other."""

    lengths: Numbers
    numbers: Numbers
    vertices: Vertices
    edges: Numbers


@record(frozen=True, slots=True)
class Pairs:
    """Searches from sources, and against the edges from targets, at most so many hops together, on so many threads."""

    along: Hops
    against: Hops
    most: int | None
    threads: int
    reading: Reading

    def reach(self, sources: Vertices, targets: Vertices) -> NDArray[np.bool_]:
        """Whether there are paths from source to target, over no edge too."""
        told = [part.lengths >= 0 for _, part in self._told(meet.HOW_FAR, sources, targets)]
        return np.concatenate([np.zeros(0, np.bool_), *told])

    def counted(self, sources: Vertices, targets: Vertices) -> Numbers:
        """How many shortest paths there are from each source to its target, another vertex. Raises ExecutionError
        beyond 2^63."""
        told = [part.numbers for _, part in self._told(meet.HOW_MANY, sources, targets)]
        numbers = np.concatenate([np.zeros(0, np.int64), *told])
        if np.any(numbers == meet.TOO_MANY):
            raise too_many()
        return numbers

    def one_each(self, seeds: Numbers, sources: Vertices, targets: Vertices) -> Iterator[Found]:
        """A shortest path for each seed from its source to its target, another vertex, where there is one."""
        for begin, told in self._told(meet.ONE_PATH, sources, targets):
            found = np.flatnonzero(told.lengths >= 0)
            lengths = told.lengths[found]
            ends = np.cumsum(lengths)
            for length in distinct(lengths).tolist():
                chosen = np.flatnonzero(lengths == length)
                edges = (ends[chosen] - length)[:, None] + np.arange(length)
                vertices = (ends[chosen] - length + chosen)[:, None] + np.arange(length + 1)
                yield Found(seeds[begin + found[chosen]], told.vertices[vertices], told.edges[edges])

    def measured(self, seeds: Numbers, sources: Vertices, targets: Vertices) -> Iterator[Found]:
        """How long the shortest path is for each seed from its source to its target, where there is one."""
        for begin, told in self._told(meet.HOW_FAR, sources, targets):
            there = np.flatnonzero(told.lengths >= 0)
            yield Found.none_yet(seeds[begin + there], targets[begin + there], told=told.lengths[there])

    def _told(self, asked: int, sources: Vertices, targets: Vertices) -> Iterator[tuple[int, _Told]]:
        """What is asked of pairs, part by part, with the number of the first of each."""
        workers = _Workers(self, asked)
        for begin in range(0, len(sources), AT_ONCE):
            pairs = np.array([sources[begin : begin + AT_ONCE], targets[begin : begin + AT_ONCE]])
            yield begin, workers.told(pairs)
        workers.end()


class _Workers:
    """Threads, each with tables of its own."""

    def __init__(self, given: Pairs, asked: int) -> None:
        self._given = given
        self._asked = asked
        self._kept = threading.local()
        control = given.reading.control
        count = given.reading.snapshot.vertex_count
        size = tables_bytes(count, asked == meet.HOW_MANY)
        available = control.memory.available
        self._idle = Idle.of(given.reading.snapshot, asked == meet.HOW_MANY)
        self._taken: list[Tables] = []
        self._threads = given.threads
        if available is not None:
            self._threads = max(1, min(given.threads, available // (2 * max(1, size))))
        control.memory.reserve(self._threads * size, "the distances of shortest paths")

    def told(self, pairs: NDArray[np.int32]) -> _Told:
        parts: dict[int, _Told] = {}

        def work(begin: int, end: int) -> None:
            parts[begin] = self._searched(np.ascontiguousarray(pairs[:, begin:end]))

        run_slices(pairs.shape[1], TASK, self._threads, self._given.reading.control.check, work)
        if len(parts) == 1:
            return parts[0]
        return _Told(*map(np.concatenate, zip(*(parts[begin] for begin in sorted(parts)), strict=True)))

    def _searched(self, pairs: NDArray[np.int32]) -> _Told:
        """One thread's work: some pairs, slice by slice."""
        given, count = self._given, pairs.shape[1]
        search, sides = np.zeros(meet.SLOTS, np.int64), np.zeros((2, meet.SIDE_COLUMNS), np.int64)
        search[meet.MOST] = -1 if given.most is None else given.most
        search[meet.ASKED], search[meet.SLICE] = self._asked, hops.AT_ONCE
        room = count * LENGTH if self._asked == meet.ONE_PATH else 0
        vertices, edges = np.empty(room, np.int32), np.empty(room, np.int64)
        found = np.zeros((2, count), np.int64)
        along, tables = (given.along.lists, given.against.lists), tuple(self._tables())
        while (status := meet.meet(search, sides, along, tables, pairs, found, (vertices, edges))) != meet.DONE:
            given.reading.control.check()
            if status == meet.FULL:
                room = 2 * len(vertices) + int(sides[:, meet.LENGTH].sum()) + 1
                vertices, edges = np.resize(vertices, room), np.resize(edges, room)
        used = search[meet.VERTICES_END], search[meet.EDGES_END]
        return _Told(found[0], found[1], vertices[: used[0]], edges[: used[1]])

    def _tables(self) -> Tables:
        """Those of this thread."""
        tables: Tables | None = getattr(self._kept, "tables", None)
        if tables is None:
            tables = self._kept.tables = self._idle.take()
            self._taken.append(tables)
        return tables

    def end(self) -> None:
        """There are no more pairs, and between two searches there is nothing in the tables."""
        for tables in self._taken:
            self._idle.give(tables)


class Tables(NamedTuple):
    """For either side: met uint64[2, words], a bit for each vertex that it has come to, all clear between two searches;
    of these vertices how far away they are, int32[2, vertices], and in how many ways, int64[2, vertices], or [2, 0]
    where nobody counts; queue int32[2, vertices]."""

    met: NDArray[np.uint64]
    distance: NDArray[np.int32]
    queue: NDArray[np.int32]
    ways: NDArray[np.int64]

    @classmethod
    def of(cls, vertices: int, counting: bool) -> Tables:
        ways = np.empty((2, vertices if counting else 0), np.int64)
        met = np.zeros((2, (vertices >> 6) + 1), np.uint64)
        return cls(met, np.empty((2, vertices), np.int32), np.empty((2, vertices), np.int32), ways)


def tables_bytes(vertices: int, counting: bool) -> int:
    """About the bytes of tables for so many vertices."""
    return (8 + 8 + 16 * counting) * vertices


class Idle:
    """Tables that no search uses, for the next one: a search of few vertices is done in less time than it takes to
    fetch their pages. Safe from several threads."""

    def __init__(self, vertices: int, counting: bool) -> None:
        self.nbytes = tables_bytes(vertices, counting)
        self._vertices = vertices
        self._counting = counting
        self._free: list[Tables] = []

    @classmethod
    def of(cls, snapshot: Snapshot, counting: bool) -> Idle:
        """Those of a graph, kept with it while there is room."""
        vertices = snapshot.vertex_count
        size = tables_bytes(vertices, counting)
        return snapshot.vertex_cache.get(("tables", vertices, counting), lambda: cls(vertices, counting), size, "")

    def take(self) -> Tables:
        try:
            return self._free.pop()
        except IndexError:
            return Tables.of(self._vertices, self._counting)

    def give(self, tables: Tables) -> None:
        """Takes tables back in which nothing is met."""
        if not self._free:
            self._free.append(tables)

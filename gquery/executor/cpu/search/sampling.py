"""What planning asks of the candidate graph, answered by walks through a sample of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.candidate_graph import Wanted, candidate_edges
from gquery.executor.cpu.candidates.row_bitmaps import write_rows
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.kernels import sample
from gquery.executor.cpu.machine.native import address
from gquery.planner.ir.walks import Walked, WalkLevel
from gquery.stopping import stoppable
from gquery.storage.adjacency import Adjacency

_LARGEST = 1 << 18  # bytes of the rows of one edge as bitsets: they stay in the second-level cache


class CpuSampler:
    """Walks through the candidate edges of a query, which are built where a walk first needs them and kept for the
    search."""

    def __init__(self, candidates: CandidateSets) -> None:
        self.candidates = candidates
        self._ends: list[list[tuple[int, int]]] = [[] for _ in candidates.sets]  # by vertex: other end, edge
        for edge in candidates.graph.edges:
            if edge.source != edge.target:
                self._ends[edge.source].append((edge.target, edge.index))
                self._ends[edge.target].append((edge.source, edge.index))
        self._sets = [(len(each.vertices), address(each.vertices)) for each in candidates.sets]
        # By edge and its far end: offsets, neighbours, and rows as bitsets or 0.
        self._lists: dict[tuple[int, int], tuple[int, int, int]] = {}
        self._bits: list[NDArray[np.uint64]] = []  # what addresses point into
        self._known: dict[tuple[tuple[WalkLevel, ...], int], Walked] = {}  # problems have much in common

    def walk(self, levels: Sequence[WalkLevel], width: int) -> Walked:
        """See `Sampler`."""
        key = (tuple(levels), width)
        if key not in self._known:
            self._known[key] = self._walk(levels, width)
        return self._known[key]

    def _walk(self, levels: Sequence[WalkLevel], width: int) -> Walked:
        with stoppable(self.candidates.control.check):
            self.candidates.control.check()
            tables = self._tables(levels)
            size = len(levels)
            population = np.empty((size, width, size), np.int32)
            extensions = np.empty((3, width * sample.LOOKED), np.int32)
            outcome = np.zeros((4, size))
            common, seed = np.empty(sample.MOST_WORDS, np.uint64), np.array([sample.SEED], np.uint64)
            sample.sample(*tables, population, extensions, common, seed, outcome)
        return Walked(outcome[0].tolist(), outcome[1].tolist())

    def _tables(self, levels: Sequence[WalkLevel]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        known = self._lists
        joined: list[list[tuple[int, tuple[int, int]]]] = []  # by level, the levels that it has edges to, and those
        above: list[dict[int, int]] = []  # at each level, the levels of the vertices on the way down to it
        for number, level in enumerate(levels):
            path = above[level.parent] if level.parent >= 0 else {}
            joined.append([(path[other], (edge, other)) for other, edge in self._ends[level.vertex] if other in path])
            above.append({**path, level.vertex: number})
        self._build({end for ends in joined for _, end in ends if end not in known})
        table: list[tuple[int, ...]] = []
        rows: list[tuple[int, ...]] = []
        others: list[int] = []
        parents = {level.parent for level in levels}
        for number, (level, ends) in enumerate(zip(levels, joined, strict=True)):
            size, vertices = self._sets[level.vertex]
            begin, places = len(rows), [len(others), len(others) + len(level.different)]
            rows += [(other, *known[end]) for other, end in ends]
            others += (*level.different, *level.smaller)
            words = (size + 63) // 64 if ends and all(row[sample.BITS] for row in rows[begin:]) else 0
            kind = (level.parent, level.same, size, vertices, int(number not in parents))
            table.append((*kind, begin, len(rows), *places, places[1], len(others), words))
        rows_of_levels = np.array(rows, np.int64).reshape(-1, sample.ROW_COLUMNS)
        return np.array(table, np.int64), rows_of_levels, np.array(others, np.int64)

    def _build(self, ends: Collection[tuple[int, int]]) -> None:
        """Builds the candidate edges of query edges, each seen from one of its ends."""
        candidates, wanted = self.candidates, []
        for edge, source in ends:
            other = candidates.graph.edges[edge].other(source)
            wanted.append(Wanted(candidates.rows(edge, source), candidates.sets[source], candidates.sets[other], False))
        for end, adjacency in zip(ends, candidate_edges(candidates, wanted), strict=True):
            bits = self._as_bits(adjacency, candidates.graph.edges[end[0]].other(end[1]))
            self._lists[end] = address(adjacency.offsets), address(adjacency.neighbours), bits

    def _as_bits(self, adjacency: Adjacency, other: int) -> int:
        """The address of the rows as bitsets, if these are small; else 0."""
        words = -(-len(self.candidates.sets[other].vertices) // 64)
        size = 8 * words * adjacency.rows
        available = self.candidates.control.memory.available
        if words > sample.MOST_WORDS or not 0 < size <= _LARGEST or (available is not None and size > available // 64):
            return 0
        self.candidates.control.memory.reserve(size, "rows as bitsets")
        bits = np.zeros((adjacency.rows, words), np.uint64)
        lists = address(adjacency.offsets), address(adjacency.neighbours)
        write_rows(bits, 0, adjacency.rows, *lists, 0, 64 * words)
        self._bits.append(bits)
        return address(bits)

"""Candidate sets and rows among the ranks of vertices, where it is free in which order symmetric matches are counted.

Of the vertices of a match each but the first must be larger than others. Where hubs are the largest, few are: the
neighbours of a vertex with more neighbours than it are at most some hundred in a graph of millions of edges, however
many it has itself (the degree order that cliques have long been counted in, of Chiba and Nishizeki, 1985).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.addresses import lists_of
from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.sets import SLICE, CandidateSets
from gquery.executor.cpu.kernels.filters import rank_entries
from gquery.executor.lowering.orders import Ranking, ranking_of
from gquery.executor.lowering.program import Program, Rows
from gquery.records import record
from gquery.storage.adjacency import Adjacency
from gquery.storage.cache import Cache
from gquery.storage.sorting import order_of

_PAYS = 1.0  # looks at neighbours for each entry of an adjacency, from which on it is written anew for a count
_LEAST = 500_000.0  # looks: what takes some milliseconds does not wait for a kernel that may have to be compiled
_BYTES = 24  # of each vertex, while that is done
_NO_EDGES = np.zeros(0, np.int64)


Places = dict[int, tuple[CandidateSet, CandidateSet]]
"""By the id of a candidate set, which is held, the ranks of its vertices."""


@record(frozen=True, slots=True)
class RankedRows:
    """An adjacency among ranks, and the rank of each vertex, int32[universe]. No row repeats a neighbour, and none says
    which edge is behind an entry."""

    adjacency: Adjacency
    ranks: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        return self.adjacency.nbytes + self.ranks.nbytes


def ranked(program: Program, candidates: CandidateSets) -> CandidateSets:
    """The candidates for a program that begins at all of them: among ranks where that pays, else as they are."""
    ranking = ranking_of(program)
    if ranking is None:
        return candidates
    whole, cache = candidates.adjacency(ranking.rows), candidates.snapshot.cache
    # Oriented rows lead to hubs, which are the largest then: levels ask for these.
    hubs_first = ranking.descending and not ranking.oriented
    key = "ranked", ranking.rows.relation, ranking.rows.direction, hubs_first, ranking.oriented
    size = 4 * whole.entries + _BYTES * candidates.snapshot.vertex_count
    available = candidates.control.memory.available
    if not whole.simple or (available is not None and size > available // 8):
        return candidates
    if program.cost < max(_LEAST, _PAYS * whole.entries) and not cache.has(key):
        return candidates

    def written() -> RankedRows:
        return _ranked_rows(whole, hubs_first, ranking, candidates)

    purpose = "rows in an order by numbers of neighbours"
    return RankedSets(candidates, cache.get(key, written, size, purpose, candidates.control.memory))


class RankedSets(CandidateSets):
    """Candidate sets in which a vertex is its rank. places: of these sets in an earlier run, if there was one."""

    def __init__(self, of: CandidateSets, rows: RankedRows, places: Places | None = None) -> None:
        super().__init__(of.graph, of.snapshot, of.masks, of.control, of.threads)
        self.sets = of.sets
        self.ranked_rows = rows
        self.places = {} if places is None else places

    def common(self, merged: tuple[int, ...]) -> CandidateSet:
        own = super().common(merged)
        if id(own) not in self.places:
            self.control.memory.reserve(own.nbytes, "candidates by their ranks")
            places = np.sort(self.ranked_rows.ranks[own.vertices])
            self.places[id(own)] = CandidateSet(places, own.universe, own.tables), own
        return self.places[id(own)][0]

    def adjacency(self, rows: Rows) -> Adjacency:
        return self.ranked_rows.adjacency

    def cache_of(self, adjacency: Adjacency) -> Cache | None:
        return self.snapshot.cache

    def reach(self, rows: Rows, among: CandidateSet) -> tuple[int, int]:
        return 0, among.universe


def _ranked_rows(whole: Adjacency, hubs_first: bool, ranking: Ranking, candidates: CandidateSets) -> RankedRows:
    """Rows of rows: each rank is an entry of the rows of its neighbours, one rank after the other, so that these are
    ascending."""
    universe, check = candidates.snapshot.vertex_count, candidates.control.check
    begins, ends = whole.bounds(np.arange(universe, dtype=np.int32))
    lengths = ends - begins
    vertices = order_of(int(lengths.max(initial=0)) - lengths if hubs_first else lengths.copy())
    ranks = np.empty(universe, np.int32)
    ranks[vertices] = np.arange(universe, dtype=np.int32)
    lists = lists_of(whole)
    found = np.zeros(0, np.int32)
    cursors = np.zeros(universe + 1, np.int64)
    offsets = np.zeros(universe + 1, np.int64)
    for counting in (True, False):
        for begin in range(0, universe, SLICE):
            check()
            end = min(begin + SLICE, universe)
            rank_entries(vertices, begin, end, lists, ranks, ranking.oriented, counting, cursors, found)
        if counting:
            np.cumsum(cursors[:-1], out=offsets[1:])
            cursors, found = offsets.copy(), np.empty(int(offsets[-1]), np.int32)
    return RankedRows(Adjacency(0, offsets, found, _NO_EDGES, True), ranks)

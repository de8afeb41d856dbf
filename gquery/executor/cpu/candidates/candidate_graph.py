"""Refined candidate sets and the candidate graph: for every query edge, the data edges between candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.sets import SLICE, CandidateSets
from gquery.executor.cpu.kernels import filters
from gquery.executor.cpu.machine.native import address
from gquery.executor.lowering.program import Rows
from gquery.storage.adjacency import Adjacency

MAX_SWEEPS = 6
_PAYS = 0.02  # a sweep that removes a smaller share of the candidates is the last
# Entries of rows that are worth a second thread, about a millisecond, and those of a slice then.
_SHARED, _SHARE = 200_000.0, 50_000.0


def refine(candidates: CandidateSets) -> None:
    """Sweeps over the query edges, forward and back in breadth-first order, until they stop paying.

    EGSM section 4.2, step 3, on sets instead of tries: a candidate stays when every query edge at its vertex has a
    candidate edge there. Ends by counting the candidate edges, which is what the order is chosen by.
    """
    order = _breadth_first(candidates)
    refinement = _Refinement(candidates)
    left = sum(len(each.vertices) for each in candidates.sets)
    for sweep in range(MAX_SWEEPS):
        gone = refinement.sweep(order if sweep % 2 == 0 else order[::-1])
        if gone <= left * _PAYS:
            break
        left -= gone
    refinement.narrow()
    _count_edges(candidates)


class _Refinement:
    """The candidates of all query vertices as bitsets, and the edges that each must have. One call of a kernel goes
    through as many vertices as have few candidates together, or through a slice of one that has many."""

    def __init__(self, candidates: CandidateSets) -> None:
        self._candidates = candidates
        self._words = [each.words.copy() for each in candidates.sets]
        graph = candidates.graph
        sets: list[tuple[int, ...]] = []
        looks: list[tuple[int, ...]] = []
        for vertex, (edges, words) in enumerate(zip(graph.incident, self._words, strict=True)):
            begin = len(looks)
            for edge in edges:
                if edge.source != edge.target and graph.binds(edge.index, vertex):
                    rows, other = candidates.rows(edge.index, vertex), edge.other(vertex)
                    implied = candidates.implies(rows, candidates.sets[other])
                    looks.append((vertex, other, implied, *candidates.lists(rows)))
            inside = candidates.sets[vertex].vertices
            span = (int(inside[0]) >> 6, (int(inside[-1]) >> 6) + 1) if len(inside) else (0, 0)
            sets.append((address(words), *span, begin, len(looks), 1, 0))
        self._sets = np.array(sets, np.int64)
        self._looks = np.array(looks, np.int64).reshape(len(looks), filters.LOOK_COLUMNS)

    def sweep(self, order: list[int]) -> int:
        """Takes away the candidates that lack an edge, vertex by vertex; returns how many they are."""
        gone: list[int] = []
        sizes = [len(self._candidates.sets[vertex].vertices) for vertex in order]
        for batch in _batches(sizes):
            vertices = np.array(order[batch], np.int64)
            if not self._sets[vertices, filters.PENDING].any():
                continue

            def work(begin: int, end: int, vertices: NDArray[np.int64] = vertices) -> None:
                gone.append(filters.sweep(self._sets, self._looks, vertices, begin, end))

            words = int(self._sets[vertices, filters.END_WORD].max())
            few = sum(sizes[batch]) <= SLICE
            self._candidates.sliced(words, work, max(1, words if few else SLICE >> 6))
        return sum(gone)

    def narrow(self) -> None:
        """Makes what is left the candidate sets."""
        for vertex in np.flatnonzero(self._sets[:, filters.NARROWED]):
            self._candidates.sets[vertex] = self._candidates.sets[vertex].within(self._words[vertex])


class Wanted(NamedTuple):
    """The candidate edges of some rows: row i belongs to candidate i of `source`, and leads to candidates of `other`.
    with_edges: the data edges are asked for, too."""

    rows: Rows
    source: CandidateSet
    other: CandidateSet
    with_edges: bool


def candidate_edges(candidates: CandidateSets, wanted: Sequence[Wanted]) -> list[Adjacency]:
    """Candidate edges in positions: neighbours are positions in `other`. `edges` is empty unless asked for. Those
    between the query's own sets are kept for whoever asks next."""
    own = set(map(id, candidates.sets))
    keys = [(each.rows._replace(level=0), id(each.source), id(each.other), each.with_edges) for each in wanted]
    new = {key: each for key, each in zip(keys, wanted, strict=True) if key not in candidates.built}
    built = dict(zip(new, _built(candidates, list(new.values())), strict=True))
    for key, each in new.items():
        if key[1] in own and key[2] in own:
            candidates.built[key] = built[key], each.source, each.other
    return [built[key] if key in built else candidates.built[key][0] for key in keys]


def _built(candidates: CandidateSets, wanted: Sequence[Wanted]) -> list[Adjacency]:
    if not wanted:
        return []
    jobs, looks = _jobs(candidates, wanted), _looks(candidates, wanted)
    counts = _counts(candidates, jobs, looks)
    lengths = jobs[:, filters.SIZE] + 1
    np.cumsum(counts, out=counts)
    ends = counts[np.cumsum(lengths) - 1]
    begins = np.concatenate([[0], ends[:-1]])
    counts -= np.repeat(begins, lengths)  # which makes them offsets, each job's from 0 on
    edges = np.where([each.with_edges for each in wanted], ends - begins, 0)
    edge_ends = np.cumsum(edges)
    total, total_edges = int(ends[-1]), int(edge_ends[-1])
    candidates.control.memory.reserve(counts.nbytes + 4 * total + 8 * total_edges, f"{total:,} candidate edges")
    jobs[:, filters.NEIGHBOURS_BEGIN] = begins
    jobs[:, filters.EDGES_BEGIN] = np.where([each.with_edges for each in wanted], edge_ends - edges, -1)
    new_neighbours, new_edges = np.empty(total, np.int32), np.empty(total_edges, np.int64)
    _in_batches(
        candidates,
        jobs,
        looks,
        lambda batch, begin, end: filters.fill_edges(batch, begin, end, counts, new_neighbours, new_edges),
    )
    parts = zip(
        _split(counts, np.cumsum(lengths)),
        _split(new_neighbours, ends),
        _split(new_edges, edge_ends),
        (candidates.adjacency(each.rows).simple for each in wanted),
        strict=True,
    )
    return [Adjacency(0, *each) for each in parts]


def _split(array: NDArray[Any], ends: NDArray[np.int64]) -> list[NDArray[Any]]:
    """The parts of an array that end there."""
    places = ends.tolist()
    return [array[begin:end] for begin, end in zip([0, *places[:-1]], places, strict=True)]


def _count_edges(candidates: CandidateSets) -> None:
    """Counts the candidate edges of every query edge."""
    edges, sets = candidates.graph.edges, candidates.sets
    if not edges:
        return
    wanted = [
        Wanted(candidates.rows(edge.index, edge.source), sets[edge.source], sets[edge.target], False) for edge in edges
    ]
    jobs = _jobs(candidates, wanted)
    counts = _counts(candidates, jobs, _looks(candidates, wanted))
    totals = np.add.reduceat(counts, jobs[:, filters.OFFSETS_BEGIN])
    candidates.edge_counts.update(zip((edge.index for edge in edges), totals.tolist(), strict=True))


def _jobs(candidates: CandidateSets, wanted: Sequence[Wanted]) -> NDArray[np.int64]:
    """The table of jobs, one row for each that is wanted; where neighbours and edges go is not known yet."""
    jobs, begin = [], 0
    candidates.control.check()
    for rows, source, other, with_edges in wanted:
        size = len(source.vertices)
        jobs.append(
            (
                source.vertices_address,
                size,
                *candidates.lists(rows),
                address(candidates.adjacency(rows).edges) if with_edges else 0,
                candidates.mask(rows, other),
                other.words_address,
                other.ranks_address,
                begin,
                0,
                -1,
            )
        )
        begin += size + 1
    return np.array(jobs, np.int64)


def _looks(candidates: CandidateSets, wanted: Sequence[Wanted]) -> list[float]:
    """About how many entries the rows have."""
    return [_mean_length(candidates.adjacency(each.rows)) * len(each.source.vertices) for each in wanted]


def _mean_length(adjacency: Adjacency) -> float:
    return adjacency.entries / max(1, adjacency.rows)


def _counts(candidates: CandidateSets, jobs: NDArray[np.int64], looks: list[float]) -> NDArray[np.int64]:
    """For every job a zero and the number of candidate edges of each of its vertices."""
    counts = np.zeros(int((jobs[:, filters.SIZE] + 1).sum()), np.int64)
    _in_batches(candidates, jobs, looks, lambda batch, begin, end: filters.count_edges(batch, begin, end, counts))
    return counts


def _in_batches(
    candidates: CandidateSets,
    jobs: NDArray[np.int64],
    looks: list[float],
    work: Callable[[NDArray[np.int64], int, int], object],
) -> None:
    """Runs `work(jobs, begin, end)` for several jobs at once when they are small, over slices of those that are not, or
    whose rows have many entries."""
    sizes = jobs[:, filters.SIZE].tolist()
    for batch in _batches(sizes):
        longest, total = max(sizes[batch]), sum(looks[batch])
        share = 1.0 if total < _SHARED else _SHARE / total
        candidates.sliced(longest, partial(work, jobs[batch]), min(SLICE, max(1, int(longest * share))))


def _batches(sizes: Sequence[int]) -> Iterator[slice]:
    """Runs of consecutive numbers: as many as are no more than a slice together, or one alone that is."""
    begin = total = 0
    for number, size in enumerate(sizes):
        if total + size > SLICE and number > begin:
            yield slice(begin, number)
            begin, total = number, 0
        total += size
    yield slice(begin, len(sizes))


def _breadth_first(candidates: CandidateSets) -> list[int]:
    """Query vertices component by component, each from its smallest candidate set."""
    sizes = [len(candidate_set.vertices) for candidate_set in candidates.sets]
    near = [{edge.other(vertex) for edge in edges} for vertex, edges in enumerate(candidates.graph.incident)]
    order: list[int] = []
    left = set(range(len(sizes)))
    for root in sorted(left, key=sizes.__getitem__):
        frontier = [root] if root in left else []
        while frontier:
            order += frontier
            left.difference_update(frontier)
            reached = {other for vertex in frontier for other in near[vertex] & left}
            frontier = sorted(reached, key=sizes.__getitem__)
    return order

"""Refined candidate sets and the candidate graph: for every query edge, the data edges between candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.sets import CandidateSet, CandidateSets, lists_of
from gquery.executor.cpu.kernels import filters
from gquery.executor.cpu.machine.native import address
from gquery.executor.lowering.program import Rows
from gquery.storage.adjacency import Adjacency

MAX_SWEEPS = 6
_PAYS = 0.02  # a sweep that removes a smaller share of the candidates is the last


def refine(candidates: CandidateSets) -> None:
    """Sweeps over the query edges, forward and back in breadth-first order, until they stop paying.

    EGSM section 4.2, step 3, on sets instead of tries: a candidate stays when every query edge at its vertex has a
    candidate edge there. Ends by counting the candidate edges, which is what the order is chosen by.
    """
    order = _breadth_first(candidates)
    for sweep in range(MAX_SWEEPS):
        before = _total(candidates)
        for vertex in order if sweep % 2 == 0 else reversed(order):
            _refine_vertex(candidates, vertex)
        if _total(candidates) >= before * (1 - _PAYS):
            break
    for edge in candidates.graph.edges:
        source, target = candidates.sets[edge.source], candidates.sets[edge.target]
        counts = _count(candidates, candidates.rows(edge.index, edge.source), source, target)
        candidates.edge_counts[edge.index] = int(counts.sum())


def build_candidate_edges(
    candidates: CandidateSets, rows: Rows, source: CandidateSet, other: CandidateSet, with_edges: bool
) -> Adjacency:
    """The candidate edges of some rows, in positions: row i belongs to candidate i of `source`, neighbours are
    positions in `other`. `edges` is empty unless asked for."""
    adjacency = candidates.adjacency(rows)
    vertices = source.vertices
    counts = _count(candidates, rows, source, other)
    offsets = np.zeros(len(vertices) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    total = int(offsets[-1])
    candidates.control.memory.reserve(
        offsets.nbytes + total * (12 if with_edges else 4),
        f"{total:,} candidate edges",
    )
    neighbours = np.empty(total, np.int32)
    edges = np.empty(total if with_edges else 0, np.int64)
    ranks = 0 if other.everything else address(other.ranks)
    words = other.words_address
    candidates.sliced(
        len(vertices),
        lambda begin, end: filters.fill_edges(
            vertices,
            begin,
            end,
            lists_of(adjacency),
            address(adjacency.edges),
            (words, ranks),
            offsets,
            neighbours,
            edges,
        ),
    )
    return Adjacency(0, offsets, neighbours, edges, adjacency.simple)


def _refine_vertex(candidates: CandidateSets, vertex: int) -> None:
    for edge in candidates.graph.edges:
        if vertex not in (edge.source, edge.target) or edge.source == edge.target:
            continue
        if candidates.graph.binds(edge.index, vertex):
            among = candidates.sets[edge.other(vertex)]
            candidates.keep(vertex, candidates.with_neighbours(vertex, edge.index, 1, among))


def _count(candidates: CandidateSets, rows: Rows, source: CandidateSet, other: CandidateSet) -> NDArray[np.int64]:
    adjacency, words = candidates.adjacency(rows), candidates.mask(rows, other)
    vertices = source.vertices
    counts = np.zeros(len(vertices), np.int64)
    candidates.sliced(
        len(vertices),
        lambda begin, end: filters.count_edges(vertices, begin, end, lists_of(adjacency), words, counts),
    )
    return counts


def _total(candidates: CandidateSets) -> int:
    return sum(len(candidate_set.vertices) for candidate_set in candidates.sets)


def _breadth_first(candidates: CandidateSets) -> list[int]:
    """Query vertices component by component, each from its smallest candidate set."""
    graph = candidates.graph
    sizes = [len(candidate_set.vertices) for candidate_set in candidates.sets]
    order: list[int] = []
    for root in sorted(range(len(sizes)), key=lambda vertex: sizes[vertex]):
        if root in order:
            continue
        order.append(root)
        frontier = [root]
        while frontier:
            reached = {
                edge.other(vertex)
                for vertex in frontier
                for edge in graph.edges
                if vertex in (edge.source, edge.target)
            }
            frontier = sorted(reached - set(order), key=lambda vertex: sizes[vertex])
            order.extend(frontier)
    return order

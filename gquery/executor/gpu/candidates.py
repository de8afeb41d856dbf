"""Candidate sets and candidate edges on the device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome, Masks
from gquery.executor.gpu.candidate_set import CandidateSet
from gquery.executor.gpu.device import DeviceArray
from gquery.executor.gpu.resident import DeviceRows, QueryRows
from gquery.executor.lowering.program import Rows
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LookupFilter,
    LoopFilter,
    NeighbourFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
)
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Types

MAX_SWEEPS = 6
_PAYS = 0.02  # a sweep that removes a smaller share of the candidates is the last
_LANES = 32  # a warp takes a vertex


class CandidateSets:
    """The candidate sets of one query graph."""

    def __init__(self, graph: QueryGraph, rows: QueryRows) -> None:
        self.graph = graph
        self.rows = rows
        self.device = rows.device
        self.control = rows.control
        self.sets: list[CandidateSet] = []
        self._labelled: list[CandidateSet] = []  # after labels, seeds and predicates: what neighbour filters count
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self._edges: dict[tuple[Rows, CandidateSet, CandidateSet], DeviceRows] = {}

    def apply(self, filters: tuple[Filter, ...], masks: Masks) -> None:
        """Runs the filters in the plan's order; the first of each vertex makes its set."""
        for place, step in enumerate(filters):
            self.control.check()
            match step:
                case EdgePredicateFilter(edge=edge):
                    before, after = len(masks.edges[edge]), int(np.count_nonzero(masks.edges[edge]))
                case LabelFilter(tables=tables):
                    before = self.rows.snapshot.vertex_count
                    after = self._begin(self.rows.graph.of_tables(tables, self.rows.snapshot))
                case LookupFilter():
                    before = self.rows.snapshot.vertex_count
                    named = self.device.xp.asarray(masks.vertices[place])
                    after = self._begin(CandidateSet(self.device, named, before))
                case SeedFilter():
                    assert self.rows.seeds is not None
                    before = self.rows.seeds.count
                    every = self.device.xp.arange(before, dtype=np.int32)
                    after = self._begin(CandidateSet(self.device, every, before))
                case _:
                    before = len(self.sets[step.vertex])
                    after = self._narrow(step, masks.vertices.get(place))
            self.outcomes.append(FilterOutcome(step, before, after))

    def refine(self) -> None:
        """Sweeps over the query edges, there and back, until they stop paying: a candidate stays when every query edge
        at its vertex has a candidate edge there (EGSM section 4.2, step 3). Ends by counting the candidate edges."""
        ends = [(edge.index, vertex) for edge in self.graph.edges for vertex in (edge.source, edge.target)]
        steps = [
            (edge, vertex)
            for edge, vertex in ends
            if self.graph.edges[edge].other(vertex) != vertex and self.graph.binds(edge, vertex)
        ]
        for sweep in range(MAX_SWEEPS):
            self.control.check()
            before = self._total()
            members = [each.member.copy() for each in self.sets]
            for edge, vertex in steps if sweep % 2 == 0 else reversed(steps):
                among = members[self.graph.edges[edge].other(vertex)]
                self._keep_neighboured(vertex, edge, 1, among, members[vertex])
            self.sets = [each.of(member) for each, member in zip(self.sets, members, strict=True)]
            if self._total() >= before * (1 - _PAYS):
                break
        for query_edge in self.graph.edges:
            self.control.check()
            source, target = self.sets[query_edge.source], self.sets[query_edge.target]
            counts = self._counts(self.rows.of(self._rows(query_edge.index, query_edge.source)), source, target)
            self.edge_counts[query_edge.index] = int(counts.sum())

    def common(self, merged: tuple[int, ...]) -> CandidateSet:
        """The candidates that some query vertices have in common."""
        first, *others = (self.sets[vertex] for vertex in merged)
        for other in others:
            first = first.among(other)
        return first

    def candidate_edges(self, rows: Rows, source: CandidateSet, target: CandidateSet) -> DeviceRows:
        """The rows from candidates to candidates, each neighbour once, in positions: row i is of candidate i."""
        key = (rows, source, target)
        if key not in self._edges:
            self._edges[key] = self._candidate_edges(self.rows.distinct(rows), source, target)
        return self._edges[key]

    def _candidate_edges(self, whole: DeviceRows, source: CandidateSet, target: CandidateSet) -> DeviceRows:
        xp = self.device.xp
        offsets = xp.zeros(len(source) + 1, np.int64)
        xp.cumsum(self._counts(whole, source, target), out=offsets[1:])
        entries = xp.empty(int(offsets[-1]), np.int32)
        positions = None if target.everything else target.positions
        self.device.launch(
            "write_entries", _LANES * len(source), source.vertices, len(source), *whole.arguments, target.test,
            positions, offsets, entries,
        )  # fmt: skip
        return DeviceRows(0, len(source), offsets, entries, True)

    def _counts(self, whole: DeviceRows, source: CandidateSet, target: CandidateSet) -> DeviceArray:
        counts = self.device.xp.zeros(len(source), np.int64)
        self.device.launch(
            "count_entries", _LANES * len(source), source.vertices, len(source), *whole.arguments, target.test, counts
        )
        return counts

    def _begin(self, candidates: CandidateSet) -> int:
        self.sets.append(candidates)
        self._labelled.append(candidates)
        return len(candidates)

    def _narrow(self, step: Filter, kept: NDArray[np.int32] | None) -> int:
        assert not isinstance(step, EdgePredicateFilter)
        vertex, own = step.vertex, self.sets[step.vertex]
        match step:
            case BindingFilter() | ReachedFilter() | PredicateFilter():
                if kept is not None:
                    self.sets[vertex] = own.among(CandidateSet(self.device, self.device.xp.asarray(kept), own.universe))
                self._labelled[vertex] = self.sets[vertex]
            case LoopFilter(types=types, present=present, edge=edge):
                rows = Rows(Types(types), "out", (), vertex) if edge is None else self._rows(edge, vertex)
                loops, member = self.rows.of(rows), own.member.copy()
                self.device.launch(
                    "keep_loops", len(own), own.vertices, len(own), *loops.arguments, int(present), member
                )
                self.sets[vertex] = own.of(member)
            case NeighbourFilter(edge=edge, required=required):
                other, member = self._labelled[self.graph.edges[edge].other(vertex)], own.member.copy()
                self._keep_neighboured(vertex, edge, required, other.test, member)
                self.sets[vertex] = own.of(member)
        return len(self.sets[vertex])

    def _keep_neighboured(
        self, vertex: int, edge: int, required: int, among: DeviceArray | None, member: DeviceArray
    ) -> None:
        rows, own = self.rows.of(self._rows(edge, vertex)), self.sets[vertex]
        self.device.launch(
            "narrow", _LANES * len(own), own.vertices, len(own), *rows.arguments, among, required, member
        )

    def _rows(self, edge: int, source: int) -> Rows:
        """The rows of a query edge, seen from query vertex `source`."""
        query_edge = self.graph.edges[edge]
        mask = edge if edge in self.rows.masks.edges else None
        return Rows(query_edge.relation, query_edge.direction(source), (), source, mask)

    def _total(self) -> int:
        return sum(map(len, self.sets))

"""Candidate sets and candidate edges on the device.

Filters only mark who stays, and the host asks for their numbers once they are all under way: each look at a result
waits for the device, which takes as long as many a filter.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome, Masks
from gquery.executor.gpu.candidate_set import CandidateSet, narrowed
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

Asked = tuple[Rows, CandidateSet, CandidateSet]
"""Rows from the candidates of one query vertex to those of another."""


class CandidateSets:
    """The candidate sets of one query graph."""

    def __init__(self, graph: QueryGraph, rows: QueryRows) -> None:
        self.graph = graph
        self.rows = rows
        self.device = rows.device
        self.control = rows.control
        self.sets: list[CandidateSet] = []
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self._members: list[DeviceArray] = []  # while filters run: who is left
        self._labelled: list[DeviceArray] = []  # after labels, seeds and predicates: what neighbour filters count
        self._edges: dict[Asked, DeviceRows] = {}

    # --- filters -----------------------------------------------------------------------------------------------

    def apply(self, filters: tuple[Filter, ...], masks: Masks) -> None:
        """Runs the filters in the plan's order; the first of each vertex makes its set."""
        after: list[DeviceArray] = []
        for place, step in enumerate(filters):
            self.control.check()
            if isinstance(step, EdgePredicateFilter):
                after.append(self.device.xp.asarray(np.count_nonzero(masks.edges[step.edge])))
            else:
                self._apply(step, masks.vertices.get(place))
                after.append(self._members[step.vertex].sum(dtype=np.int64))
        sizes = self.device.fetch(self.device.xp.stack(after)).tolist()
        self.sets = narrowed(self.sets, self._members)
        left: dict[int, int] = {}
        for step, size in zip(filters, sizes, strict=True):
            self.outcomes.append(FilterOutcome(step, self._before(step, left), size))
            if not isinstance(step, EdgePredicateFilter):
                left[step.vertex] = size

    def _before(self, step: Filter, left: dict[int, int]) -> int:
        if isinstance(step, EdgePredicateFilter):
            return self.rows.snapshot.edge_count
        if isinstance(step, SeedFilter):
            return self.sets[step.vertex].universe
        return left.get(step.vertex, self.rows.snapshot.vertex_count)

    def _apply(self, step: Filter, kept: NDArray[np.int32] | None) -> None:
        match step:
            case LabelFilter(tables=tables):
                self._begin(self.rows.graph.of_tables(tables, self.rows.snapshot))
            case LookupFilter():
                assert kept is not None
                self._begin(CandidateSet(self.device, self.device.xp.asarray(kept), self.rows.snapshot.vertex_count))
            case SeedFilter():
                assert self.rows.seeds is not None
                count = self.rows.seeds.count
                self._begin(CandidateSet(self.device, self.device.xp.arange(count, dtype=np.int32), count))
            case BindingFilter(vertex=vertex) | ReachedFilter(vertex=vertex) | PredicateFilter(vertex=vertex):
                if kept is not None:
                    self._members[vertex] = self._only(self._members[vertex], self.device.xp.asarray(kept))
                self._labelled[vertex] = self._members[vertex]
            case LoopFilter(vertex=vertex, types=types, present=present, edge=edge):
                loops = Rows(Types(types), "out", (), vertex) if edge is None else self._rows(edge, vertex)
                self._narrow("keep_loops", vertex, loops, int(present))
            case NeighbourFilter(vertex=vertex, edge=edge, required=required):
                among = self._labelled[self.graph.edges[edge].other(vertex)]
                self._narrow("narrow", vertex, self._rows(edge, vertex), among, required)

    def _begin(self, candidates: CandidateSet) -> None:
        self.sets.append(candidates)
        self._members.append(candidates.member)
        self._labelled.append(candidates.member)

    def _only(self, member: DeviceArray, kept: DeviceArray) -> DeviceArray:
        found = self.device.xp.zeros_like(member)
        found[kept] = member[kept]
        return found

    def _narrow(self, kernel: str, vertex: int, rows: Rows, *arguments: DeviceArray | int) -> None:
        """Takes out of a query vertex's members those that a kernel says; others keep what they refer to."""
        if self._members[vertex] is self._labelled[vertex]:
            self._members[vertex] = self._members[vertex].copy()
        own = self.sets[vertex]
        lanes = _LANES * len(own)
        self.device.launch(
            kernel, lanes, own.vertices, len(own), *self.rows.of(rows).arguments, *arguments, self._members[vertex]
        )

    # --- refinement --------------------------------------------------------------------------------------------

    def refine(self) -> None:
        """Sweeps over the query edges, there and back, until they stop paying: a candidate stays when every query edge
        at its vertex has a candidate edge there (EGSM section 4.2, step 3). Ends by counting the candidate edges."""
        ends = [(edge.index, vertex) for edge in self.graph.edges for vertex in (edge.source, edge.target)]
        steps = [
            (edge, vertex)
            for edge, vertex in ends
            if self.graph.edges[edge].other(vertex) != vertex and self.graph.binds(edge, vertex)
        ]
        self._members = [each.member.copy() for each in self.sets]
        before = sum(map(len, self.sets))
        for sweep in range(MAX_SWEEPS):
            self.control.check()
            for edge, vertex in steps if sweep % 2 == 0 else reversed(steps):
                among = self._members[self.graph.edges[edge].other(vertex)]
                self._narrow("narrow", vertex, self._rows(edge, vertex), among, 1)
            left = int(self.device.fetch(sum(each.sum(dtype=np.int64) for each in self._members)))
            if left >= before * (1 - _PAYS):
                break
            before = left
        self.sets = narrowed(self.sets, self._members)
        counts = [
            self._counts(
                self.rows.of(self._rows(edge.index, edge.source)), self.sets[edge.source], self.sets[edge.target]
            )
            for edge in self.graph.edges
        ]
        if counts:
            sums = self.device.fetch(self.device.xp.stack([each.sum() for each in counts]))
            self.edge_counts = dict(enumerate(sums.tolist()))

    # --- what is made of them ----------------------------------------------------------------------------------

    def common(self, merged: tuple[int, ...]) -> CandidateSet:
        """The candidates that some query vertices have in common."""
        first, *others = (self.sets[vertex] for vertex in merged)
        others = [each for each in others if each is not first]
        if not others:
            return first
        member = first.member.copy()
        for other in others:
            member &= other.member
        return narrowed([first], [member])[0]

    def candidate_edges(self, asked: Iterable[Asked]) -> list[DeviceRows]:
        """Rows from candidates to candidates, each neighbour once, in positions: row i is of candidate i."""
        asked = list(asked)
        if missing := [each for each in dict.fromkeys(asked) if each not in self._edges]:
            self.control.check()
            xp = self.device.xp
            offsets = [xp.zeros(len(source) + 1, np.int64) for _, source, _ in missing]
            for (rows, source, target), begins in zip(missing, offsets, strict=True):
                xp.cumsum(self._counts(self.rows.distinct(rows), source, target), out=begins[1:])
            totals = self.device.fetch(xp.stack([begins[-1] for begins in offsets])).tolist()
            for each, begins, total in zip(missing, offsets, totals, strict=True):
                self._edges[each] = self._written(each, begins, total)
        return [self._edges[each] for each in asked]

    def _written(self, asked: Asked, begins: DeviceArray, total: int) -> DeviceRows:
        rows, source, target = asked
        entries = self.device.xp.empty(total, np.int32)
        through = None if target.everything else target.through
        whole = self.rows.distinct(rows)
        self.device.launch(
            "write_entries", _LANES * len(source), source.vertices, len(source), *whole.arguments, target.test, through,
            begins, entries,
        )  # fmt: skip
        return DeviceRows(0, len(source), begins, entries, True, min(whole.longest, len(target)))

    def _counts(self, whole: DeviceRows, source: CandidateSet, target: CandidateSet) -> DeviceArray:
        counts = self.device.xp.zeros(len(source), np.int64)
        self.device.launch(
            "count_entries", _LANES * len(source), source.vertices, len(source), *whole.arguments, target.test, counts
        )
        return counts

    def _rows(self, edge: int, source: int) -> Rows:
        """The rows of a query edge, seen from query vertex `source`."""
        query_edge = self.graph.edges[edge]
        mask = edge if edge in self.rows.masks.edges else None
        return Rows(query_edge.relation, query_edge.direction(source), (), source, mask)

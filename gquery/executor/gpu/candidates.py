"""Candidate sets and candidate edges on the device: a tape for the filters, and one for refinement."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome, Masks
from gquery.executor.gpu.candidate_set import CandidateSet, Narrowing
from gquery.executor.gpu.resident import DeviceRows, QueryRows
from gquery.executor.gpu.tape import Room, Tape
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
from gquery.planner.ir.relations import Types

MAX_SWEEPS = 6
_PAYS = 50  # a sweep that removes fewer than one of so many candidates is the last

Asked = tuple[Rows, CandidateSet, CandidateSet]
"""Rows from the candidates of one query vertex to those of another."""


class Filtering:
    """The filters of a query graph, while their tape is written.

    members: by query vertex, who is left; labelled: who is left after labels, seeds and predicates, which neighbour
    filters count.
    """

    def __init__(self, rows: QueryRows, room: Room) -> None:
        self.graph = rows.query
        self.rows = rows
        self.room = room
        self.tape = Tape(rows.device)
        self.sets: list[CandidateSet] = []
        self.members: list[int] = []
        self.labelled: list[int] = []
        self._changes: list[tuple[int | None, bool]] = []  # by filter: a cell, and whether it counts those that are left

    def apply(self, step: Filter, kept: NDArray[np.int32] | None) -> None:
        """Filters come in the plan's order; the first of each vertex makes its set."""
        change: tuple[int | None, bool] = None, False
        match step:
            case LabelFilter(tables=tables):
                own = self.rows.graph.of_tables(tables, self.rows.snapshot)
                self._begin(own, own.member)
            case LookupFilter():
                assert kept is not None
                universe, vertices = self.rows.snapshot.vertex_count, self._copied(kept)
                unlisted = CandidateSet(self.room, len(kept), universe, vertices, 0, 0)
                self._begin(unlisted, self._kept(kept, vertices, 0, universe)[0])
            case SeedFilter():
                assert self.rows.seeds is not None
                count = self.rows.seeds.count
                own = CandidateSet.of(self.rows.device, np.arange(count, dtype=np.int32), count)
                self._begin(own, own.member)
            case BindingFilter(vertex=vertex) | ReachedFilter(vertex=vertex) | PredicateFilter(vertex=vertex):
                if kept is not None:
                    change = self._keep(vertex, kept), True
                self.labelled[vertex] = self.members[vertex]
            case LoopFilter(vertex=vertex, types=types, present=present, edge=edge):
                loops = Rows(Types(types), "out", (), vertex) if edge is None else self.rows.of_edge(edge, vertex)
                change = self._narrow("KeepLoops", vertex, loops, 0, int(present)), False
            case NeighbourFilter(vertex=vertex, edge=edge, required=required):
                among = self.labelled[self.graph.edges[edge].other(vertex)]
                change = self._narrow("Narrow", vertex, self.rows.of_edge(edge, vertex), among, required), False
        self._changes.append(change)

    def run(self) -> tuple[list[CandidateSet], list[int | None]]:
        """The sets; and after each filter how many vertices were left, or how many had been removed (negative)."""
        narrowed = [vertex for vertex, each in enumerate(self.sets) if self.members[vertex] != each.member]
        own = [self.sets[vertex] for vertex in narrowed]
        narrowing = Narrowing(self.tape, own, [self.members[vertex] for vertex in narrowed], self.room)
        if not self.tape.here:
            return self.sets, [None for _ in self._changes]
        self.tape.jump("Halt")
        run = self.tape.run(self.rows.control)
        found = narrowing.sets(run.cells(narrowing.first, len(own)))
        for vertex, each in zip(narrowed, found, strict=True):
            self.sets[vertex] = each
        changes = []
        for cell, left in self._changes:
            count = None if cell is None else int(run.cells(cell)[0])
            changes.append(count if count is None or left else -1 - count)
        return self.sets, changes

    def _begin(self, candidates: CandidateSet, member: int) -> None:
        self.sets.append(candidates)
        self.members.append(member)
        self.labelled.append(member)

    def _copied(self, vertices: NDArray[np.int32]) -> int:
        address = self.room.take(vertices.nbytes)
        self.rows.device.write(address, np.ascontiguousarray(vertices, np.int32))
        return address

    def _keep(self, vertex: int, kept: NDArray[np.int32]) -> int:
        own = self.sets[vertex]
        member, left = self._kept(kept, self._copied(kept), self.members[vertex], own.universe)
        self.members[vertex] = member
        return left

    def _kept(self, kept: NDArray[np.int32], vertices: int, members: int, universe: int) -> tuple[int, int]:
        """Members of some vertices, and the cell with their number."""
        member, left, tape = self.room.take(universe), self.tape.cell(), self.tape
        tape.add("Copy", 0, member, universe, scatters=[member])
        count = tape.constant(len(kept))
        tape.add("Keep", vertices, count, members, member, left, gathers=[members], scatters=[member])
        return member, left

    def _narrow(self, name: str, vertex: int, rows: Rows, among: int, number: int) -> int:
        """Takes out of a query vertex's members those that an operation says; others keep what they refer to."""
        own = self.sets[vertex]
        if self.members[vertex] == self.labelled[vertex]:
            self.members[vertex] = copied(self.tape, self.room, own.universe, self.members[vertex])
        return narrow(self.tape, name, own, self.rows.of(rows), among, number, self.members[vertex])


def copied(tape: Tape, room: Room, universe: int, member: int) -> int:
    """A copy of members that is a set's own."""
    copy = room.take(universe)
    tape.add("Copy", member, copy, universe, gathers=[member], scatters=[copy])
    return copy


def narrow(
    tape: Tape, name: str, own: CandidateSet, rows: DeviceRows, among: int, number: int, member: int, cell: int = 0
) -> int:
    """Narrows members by their rows; the cell that counts those that were removed."""
    removed = cell or tape.cell()
    count = tape.constant(own.count)
    tape.add(
        name, own.vertices, count, *rows.words, among, number, member, removed, gathers=[among], scatters=[member]
    )
    return removed


class CandidateSets:
    """The candidate sets of one query graph."""

    def __init__(self, rows: QueryRows) -> None:
        self.graph = rows.query
        self.rows = rows
        self.device = rows.device
        self.control = rows.control
        self.room = Room(rows.device)
        self.sets: list[CandidateSet] = []
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self._common: dict[tuple[int, ...], CandidateSet] = {}
        self._edges: dict[Asked, DeviceRows] = {}

    def apply(self, filters: tuple[Filter, ...], masks: Masks) -> None:
        """Runs the filters."""
        filtering = Filtering(self.rows, self.room)
        for place, step in enumerate(filters):
            filtering.apply(step, masks.vertices.get(place))
        begun = [each.count for each in filtering.sets]
        self.sets, changes = filtering.run()
        left: dict[int, int] = {}
        for step, change in zip(filters, changes, strict=True):
            if isinstance(step, EdgePredicateFilter):
                after = int(np.count_nonzero(masks.edges[step.edge]))
                self.outcomes.append(FilterOutcome(step, self.rows.snapshot.edge_count, after))
                continue
            before = left.get(step.vertex, self.rows.snapshot.vertex_count)
            if isinstance(step, SeedFilter):
                before = self.sets[step.vertex].universe
            after = left.get(step.vertex, begun[step.vertex])
            if change is not None:
                after = change if change >= 0 else after + 1 + change
            self.outcomes.append(FilterOutcome(step, before, after))
            left[step.vertex] = after

    def refine(self) -> None:
        """Sweeps over the query edges, there and back, until they stop paying: a candidate stays when every query edge
        at its vertex has a candidate edge there (EGSM section 4.2, step 3). Ends by counting the candidate edges."""
        tape, room = Tape(self.device), Room(self.device)
        members = [copied(tape, room, each.universe, each.member) for each in self.sets]
        self._sweep(tape, members)
        narrowing = Narrowing(tape, self.sets, members, room)
        totals = tape.cell(len(self.graph.edges))
        for edge in self.graph.edges:
            own, among = self.sets[edge.source], members[edge.target]
            rows = self.rows.of(self.rows.of_edge(edge.index, edge.source))
            count = tape.constant(own.count)
            tape.add(
                "CountEntries", own.vertices, count, *rows.words, among, members[edge.source], 0, totals + edge.index,
                gathers=[among, members[edge.source]],
            )  # fmt: skip
        tape.jump("Halt")
        run = tape.run(self.control)
        self.sets = narrowing.sets(run.cells(narrowing.first, len(self.sets)))
        self.room = room
        self._common.clear()
        self.edge_counts = dict(enumerate(run.cells(totals, len(self.graph.edges)).tolist()))

    def _sweep(self, tape: Tape, members: list[int]) -> None:
        steps = [
            (self.rows.of(self.rows.of_edge(edge.index, vertex)), vertex, edge.other(vertex))
            for edge in self.graph.edges
            for vertex in (edge.source, edge.target)
            if edge.other(vertex) != vertex and self.graph.binds(edge.index, vertex)
        ]
        candidates = sum(each.count for each in self.sets)
        removed, left, sweeps = tape.cell(), tape.register(candidates), []
        tape.register(candidates)
        for sweep in range(MAX_SWEEPS if steps else 0):
            for rows, vertex, other in steps if sweep % 2 == 0 else reversed(steps):
                narrow(tape, "Narrow", self.sets[vertex], rows, members[other], 1, members[vertex], removed)
            sweeps.append(tape.jump("Pays", removed, left, _PAYS, 0))
        for each in sweeps:
            tape.patch(each, 3, tape.here)
        tape.wait()

    # --- what is made of them ----------------------------------------------------------------------------------

    def common(self, merged: tuple[int, ...]) -> CandidateSet:
        """The candidates that some query vertices have in common."""
        first, *others = dict.fromkeys(self.sets[vertex] for vertex in merged)
        if not others:
            return first
        if merged not in self._common:
            tape, member = Tape(self.device), first.member
            for other in others:
                inner, cell = self.room.take(first.universe), tape.cell()
                tape.add("Copy", 0, inner, first.universe, scatters=[inner])
                count = tape.constant(other.count)
                tape.add("Keep", other.vertices, count, member, inner, cell, gathers=[member], scatters=[inner])
                member = inner
            narrowing = Narrowing(tape, [first], [member], self.room)
            tape.jump("Halt")
            (self._common[merged],) = narrowing.sets(tape.run(self.control).cells(narrowing.first))
        return self._common[merged]

    def candidate_edges(self, asked: Iterable[Asked], tape: Tape) -> dict[Asked, DeviceRows]:
        """Rows from candidates to candidates, each neighbour once, in positions: row i is of candidate i. Those that are
        not known yet are there when the tape has begun."""
        asked = list(dict.fromkeys(asked))
        counted = []
        for each in (each for each in asked if each not in self._edges):
            rows, source, target = each
            whole, offsets = self.rows.distinct(rows), self.room.take(8 * (len(source) + 1))
            count, partials = tape.constant(len(source)), tape.room.take(8 * self.device.blocks)
            sources = source.vertices, count, *whole.words, target.test
            tape.add("CountEntries", *sources, 0, offsets, 0, scatters=[offsets])
            most = self._most_entries(rows, whole, source)
            entries = self.room.take(4 * most)
            longest = min(whole.longest, len(target))
            self._edges[each] = DeviceRows(0, len(source), offsets, entries, True, longest, most, self.room)
            through = 0 if target.everything else target.through
            counted.append((offsets, count, partials, sources, through, entries))
        for offsets, count, partials, *_ in counted:
            tape.add("AddUpShares", offsets + 8, count, partials, gathers=[offsets], scatters=[partials])
        for offsets, count, partials, *_ in counted:
            ends = tape.register(), tape.register()
            tape.add("RunningSums", offsets + 8, count, partials, *ends, gathers=[partials], scatters=[offsets])
        for offsets, _, _, sources, through, entries in counted:
            tape.add("WriteEntries", *sources, through, offsets, entries, gathers=[offsets])
        tape.wait()
        return {each: self._edges[each] for each in asked}

    def _most_entries(self, rows: Rows, whole: DeviceRows, source: CandidateSet) -> int:
        """At least as many as there are."""
        known = [
            count
            for edge, count in self.edge_counts.items()
            if (self.graph.edges[edge].relation, self.rows.masked(edge)) == (rows.relation, rows.edge)
        ]
        return min(whole.entries, whole.longest * len(source), max(known, default=whole.entries))

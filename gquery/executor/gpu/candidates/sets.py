"""All candidate sets of a query, and its candidate edges: a tape for the filters, and one for refinement."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from gquery.executor.backend import FilterOutcome, Masks
from gquery.executor.gpu.candidates.candidate_set import CandidateSet, Narrowing
from gquery.executor.gpu.candidates.filtering import Condition, Filtering, Narrowed, blank, narrow, padded
from gquery.executor.gpu.device import DeviceArray
from gquery.executor.gpu.resident import DeviceRows, QueryRows, ResidentGraph
from gquery.executor.gpu.tape import Room, Tape
from gquery.executor.lowering.program import Rows
from gquery.executor.progress import Control
from gquery.planner.ir.filters import EdgePredicateFilter, EdgesFilter, Filter, SeedFilter, ValueFilter
from gquery.planner.ir.relations import repeats
from gquery.storage.graph import Snapshot

_PAYS = 50  # a sweep that removes fewer than one of so many candidates is the last

Asked = tuple[Rows, CandidateSet, CandidateSet]
"""Rows from the candidates of one query vertex to those of another."""


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
        self._counted: dict[Hashable, int] = {}  # candidate edges by rows and the candidates at both ends
        self._edges: dict[Asked, DeviceRows] = {}

    def apply(self, filters: tuple[Filter, ...], masks: Masks) -> None:
        """Runs the filters."""
        filtering = Filtering(self.rows, self.room)
        for place, step in enumerate(filters):
            kept = masks.vertices.get(place)
            filtering.apply(step, None if kept is None else kept.vertices)
        begun = [each.count for each in filtering.sets]
        self.sets, changes = filtering.run()
        left: dict[int, int] = {}
        for step, change in zip(filters, changes, strict=True):
            if isinstance(step, EdgePredicateFilter):
                after = len(masks.edges[step.edge])
                self.outcomes.append(FilterOutcome(step, self.rows.snapshot.edge_count, after))
                continue
            before = left.get(step.vertex, self.rows.snapshot.vertex_count)
            if isinstance(step, SeedFilter | ValueFilter | EdgesFilter):
                before = self.sets[step.vertex].universe
            after = left.get(step.vertex, begun[step.vertex])
            if change is not None:
                after = change if change >= 0 else after + 1 + change
            self.outcomes.append(FilterOutcome(step, before, after))
            left[step.vertex] = after

    def refine(self) -> None:
        """Sweeps over the query edges until they stop paying: a candidate stays when every query edge at its vertex has
        a candidate edge there (EGSM section 4.2, step 3). Each sweep looks at what the one before has left. Ends by
        counting the candidate edges."""
        tape, room = Tape(self.device), Room(self.device)
        members = self._swept(tape, room)
        narrowing = Narrowing(tape, self.sets, members, room)
        listed: list[int] = []
        for edge in self.graph.edges:
            rows = self.rows.along(edge.index, edge.source)
            listed += self.sets[edge.source].vertices, *rows.words, members[edge.target], members[edge.source], 0
        totals = tape.cell(len(self.graph.edges))
        ends = np.cumsum([self.sets[edge.source].count for edge in self.graph.edges]).tolist()
        tape.add("CountEntries", tape.data(ends), len(ends), tape.data(listed), 0, totals, gathers=members)
        tape.jump("Halt")
        run = tape.run(self.control)
        self.sets = narrowing.sets(run.cells(narrowing.first, len(self.sets)))
        self.room = room
        self._common.clear()
        self.edge_counts = dict(enumerate(run.cells(totals, len(self.graph.edges)).tolist()))
        for edge in self.graph.edges:
            for vertex in {edge.source, edge.target}:
                along, ends = self.rows.of_edge(edge.index, vertex), (vertex, edge.other(vertex))
                key = along.relation, along.direction, along.edge, *(self.sets[end] for end in ends)
                self._counted[key] = self.edge_counts[edge.index]

    def _swept(self, tape: Tape, room: Room) -> list[int]:
        """Who is left when sweeps no longer pay. Two copies of the members take turns; the first one is the last."""
        rows = list(map(self._rows_at, range(len(self.sets))))
        odd, even = blank(tape, room, self.sets), blank(tape, room, self.sets)
        removed, left = tape.cell(), tape.register(sum(each.count for each in self.sets))
        tape.register(sum(each.count for each in self.sets))

        def sweep(before: list[int], after: list[int]) -> int:
            narrowed = [
                Narrowed(own, one, new, [Condition(walked, before[end], 1, 0) for walked, end in walks])
                for own, walks, one, new in zip(self.sets, rows, before, after, strict=True)
            ]
            narrow(tape, narrowed, removed, 1)
            return tape.jump("Pays", removed, left, _PAYS, 0, waits=True)

        ends = [sweep([each.member for each in self.sets], odd)]
        again = tape.here
        late = sweep(odd, even)
        ends.append(sweep(even, odd))
        tape.jump("Unless", tape.constant(0), 1, again)
        tape.patch(late, 3, tape.here)
        size = sum(map(padded, self.sets))
        if size:
            tape.add("Copy", even[0], odd[0], size, gathers=even, scatters=odd)
        for jump in ends:
            tape.patch(jump, 3, tape.here)
        tape.wait()
        return odd

    def _rows_at(self, vertex: int) -> list[tuple[DeviceRows, int]]:
        """The rows that a candidate must have an entry in, with the query vertices that these lead to."""
        return [
            (self.rows.along(edge.index, vertex), edge.other(vertex))
            for edge in self.graph.incident[vertex]
            if edge.source != edge.target and self.graph.binds(edge.index, vertex)
        ]

    # --- for other runs ---------------------------------------------------------------------------------------

    def repeated(self) -> tuple[Callable[[ResidentGraph, Snapshot, Control], CandidateSets], int]:
        """As `Repeatable` has it. What a run makes besides is its own, since its tape may not come to an end; rows of
        the graph are asked for again, so that others may have their room meanwhile."""
        query, masks = self.graph, self.rows.masks
        known = self.sets, self.outcomes, self.edge_counts, self._counted
        common, edges = self._common.copy(), self._edges.copy()
        rooms = {each.room for each in (*self.sets, *common.values())} | {each.held for each in edges.values()}

        def again(graph: ResidentGraph, snapshot: Snapshot, control: Control) -> CandidateSets:
            there = CandidateSets(QueryRows(graph, query, snapshot, masks, control))
            there.sets, there.outcomes, there.edge_counts, there._counted = known
            there._common, there._edges = common.copy(), edges.copy()
            return there

        return again, sum([room.nbytes for room in rooms if isinstance(room, Room)])

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

    def ranked(self, own: CandidateSet, vertices: DeviceArray, tape: Tape) -> CandidateSet:
        """Candidates among ranks, which are there for what comes next on a tape; vertices: those of all ranks."""
        if own.everything:
            return own
        member = self.device.array(own.member, own.universe, np.uint8)[vertices]
        narrowing = Narrowing(tape, [own], [self.room.hold(member)], self.room)
        tape.wait()
        (found,) = narrowing.sets(np.array([own.count]))
        return found

    def candidate_edges(self, asked: Iterable[Asked], tape: Tape) -> dict[Asked, DeviceRows]:
        """Rows from candidates to candidates, each neighbour once (but where rows repeat them), in positions: row i is
        of candidate i. What is not known yet is there when the tape has begun."""
        asked = list(dict.fromkeys(asked))
        missing = [each for each in asked if each not in self._edges]
        if missing:
            self._write_edges(missing, tape)
        return {each: self._edges[each] for each in asked}

    def _write_edges(self, asked: list[Asked], tape: Tape) -> None:
        """Several at once, one behind the other: running sums go through the rows of all."""
        listed: list[int] = []
        ends, most = [0], 0
        wholes = [self.rows.distinct(rows) for rows, _, _ in asked]
        for whole, (rows, source, target) in zip(wholes, asked, strict=True):
            listed += source.vertices, *whole.words, target.test, 0, 0 if target.everything else target.through
            ends.append(ends[-1] + source.count)
            most += self._most_entries(rows, whole, source, target)
        offsets, entries = self.room.take(8 * (ends[-1] + 1)), self.room.take(4 * most)
        for begin, whole, (rows, source, target) in zip(ends, wholes, asked, strict=False):
            longest = whole.longest if repeats(rows.relation) else min(whole.longest, target.count)
            place = offsets + 8 * begin
            self._edges[rows, source, target] = DeviceRows(
                0, source.count, place, entries, True, longest, most, self.room
            )
        words = tape.data(ends[1:]), len(asked), tape.data(listed)
        count, partials = tape.constant(ends[-1]), tape.room.take(8 * self.device.blocks)
        sums = offsets + 8, count, partials
        tape.add("Copy", 0, offsets, 8, scatters=[offsets])
        tape.add("CountEntries", *words, offsets + 8, 0, scatters=[offsets + 8])
        tape.add("AddUpShares", *sums, gathers=[offsets + 8], scatters=[partials])
        tape.add("RunningSums", *sums, tape.register(), tape.register(), gathers=[partials], scatters=[offsets + 8])
        tape.add("WriteEntries", *words, offsets + 8, entries, gathers=[offsets + 8], scatters=[entries])
        tape.wait()

    def _most_entries(self, rows: Rows, whole: DeviceRows, source: CandidateSet, target: CandidateSet) -> int:
        """At least as many as there are. What has been counted is known of rows along a query edge: those that are
        tested for absent edges lead elsewhere."""
        known = self._counted.get((rows.relation, rows.direction, rows.edge, source, target), whole.entries)
        return min(whole.entries, whole.longest * len(source), known)

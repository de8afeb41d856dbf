"""The filters of a query graph on a tape: what each removes is counted on the device, and seen when all have run."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.gpu.candidates.candidate_set import CandidateSet, Narrowing
from gquery.executor.gpu.resident import DeviceRows, QueryRows
from gquery.executor.gpu.tape import Room, Tape
from gquery.executor.lowering.program import Rows
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgesFilter,
    EndsFilter,
    Filter,
    LabelFilter,
    LookupFilter,
    LoopFilter,
    NeighbourFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.relations import Types


class Condition(NamedTuple):
    """At least so many entries of a candidate's row must lead to members; `among` is null when all do. failed: which of
    an operation's numbers counts those that have fewer."""

    rows: DeviceRows
    among: int
    required: int
    failed: int


class Narrowed(NamedTuple):
    """The members of a set that become those of `before` for which all conditions hold."""

    own: CandidateSet
    before: int
    after: int
    conditions: Sequence[Condition]


def narrow(tape: Tape, narrowed: Sequence[Narrowed], failed: int, failed_count: int) -> None:
    """Narrows sets at once."""
    words: list[int] = []
    for each in narrowed:
        conditions = [
            word for one in each.conditions for word in (*one.rows.words, one.among, one.required, one.failed)
        ]
        words += each.own.vertices, each.before, each.after, len(each.conditions), tape.data(conditions)
    ends = np.cumsum([each.own.count for each in narrowed]).tolist()
    tape.add(
        "Narrow", tape.data(ends), len(ends), tape.data(words), failed, failed_count,
        int(any(one.among for each in narrowed for one in each.conditions)),
        gathers=[*(each.before for each in narrowed), *(one.among for each in narrowed for one in each.conditions)],
        scatters=[each.after for each in narrowed],
    )  # fmt: skip


def blank(tape: Tape, room: Room, sets: Sequence[CandidateSet]) -> list[int]:
    """New members of some sets, none so far, one behind the other."""
    members = unwritten(room, sets)
    tape.add("Copy", 0, members[0] if members else 0, sum(map(padded, sets)), scatters=members)
    return members


def unwritten(room: Room, sets: Sequence[CandidateSet]) -> list[int]:
    """The same, of whom nothing is said so far."""
    sizes = [padded(each) for each in sets]
    first = room.take(sum(sizes))
    return (first + np.cumsum([0, *sizes[:-1]])).tolist() if sizes else []


def padded(candidates: CandidateSet) -> int:
    """Bytes from the members of a set to those of the next."""
    return -(-candidates.universe // 16) * 16


class Filtering:
    """members: by query vertex, who is left; labelled: who is left after labels, seeds and predicates, which neighbour
    filters count."""

    def __init__(self, rows: QueryRows, room: Room) -> None:
        self.graph = rows.query
        self.rows = rows
        self.room = room
        self.tape = Tape(rows.device)
        self.sets: list[CandidateSet] = []
        self.members: list[int] = []
        self.labelled: list[int] = []
        self._waiting: dict[int, list[tuple[int, Condition]]] = {}  # neighbour filters by vertex, with their number
        self._changes: list[tuple[int, bool]] = []  # by filter: a cell, and whether it counts those that are left

    def apply(self, step: Filter, kept: NDArray[np.int32] | None) -> None:
        """Filters come in the plan's order; the first of each vertex makes its set."""
        change = 0, False
        match step:
            case LabelFilter(tables=tables):
                own = self.rows.graph.of_tables(tables, self.rows.snapshot)
                self._begin(own, own.member)
            case LookupFilter():
                assert kept is not None
                universe, vertices = self.rows.snapshot.vertex_count, self._copied(kept)
                unlisted = CandidateSet(self.room, len(kept), universe, vertices, 0, 0)
                self._begin(unlisted, self._kept(unlisted, kept, vertices, 0)[0])
            case SeedFilter(vertex=vertex) | ValueFilter(vertex=vertex) | EdgesFilter(vertex=vertex):
                seeds = self.rows.masks.seeds[vertex]
                own = CandidateSet.of(self.rows.device, seeds.candidates, seeds.count)
                self._begin(own, own.member)
            case (
                BindingFilter(vertex=vertex)
                | EndsFilter(vertex=vertex)
                | ReachedFilter(vertex=vertex)
                | PredicateFilter(vertex=vertex)
            ):
                self._narrow([vertex])
                if kept is not None:
                    vertices, before = self._copied(kept), self.members[vertex]
                    self.members[vertex], left = self._kept(self.sets[vertex], kept, vertices, before)
                    change = left, True
                self.labelled[vertex] = self.members[vertex]
            case LoopFilter(vertex=vertex, types=types, present=present, edge=edge):
                self._narrow([vertex])
                loops = Rows(Types(types), "out", (), vertex) if edge is None else self.rows.of_edge(edge, vertex)
                change = self._keep_loops(vertex, self.rows.of(loops), present), False
            case NeighbourFilter(vertex=vertex, edge=edge, required=required):
                other = self.graph.edges[edge].other(vertex)
                among = self.labelled[other]
                if among == self.sets[other].member:
                    among = self.sets[other].test
                condition = Condition(self.rows.along(edge, vertex), among, required, 0)
                self._waiting.setdefault(vertex, []).append((len(self._changes), condition))
        self._changes.append(change)

    def run(self) -> tuple[list[CandidateSet], list[int | None]]:
        """The sets; and after each filter how many vertices were left, or how many had been removed: -1 for none."""
        self._narrow(list(self._waiting))
        made = zip(self.sets, self.members, strict=True)
        narrowed = list(dict.fromkeys((own, member) for own, member in made if member != own.member))
        if not narrowed:
            return self.sets, [None for _ in self._changes]
        narrowing = Narrowing(self.tape, [own for own, _ in narrowed], [member for _, member in narrowed], self.room)
        self.tape.jump("Halt")
        run = self.tape.run(self.rows.control)
        found = dict(zip(narrowed, narrowing.sets(run.cells(narrowing.first, len(narrowed))), strict=True))
        self.sets = [found.get(each, each[0]) for each in zip(self.sets, self.members, strict=True)]
        changes: list[int | None] = []
        for cell, left in self._changes:
            count = int(run.cells(cell)[0]) if cell else None
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

    def _kept(self, own: CandidateSet, kept: NDArray[np.int32], vertices: int, members: int) -> tuple[int, int]:
        """Members of some vertices, and the cell with their number."""
        (member,), left, tape = blank(self.tape, self.room, [own]), self.tape.cell(), self.tape
        count = tape.constant(len(kept))
        tape.add("Keep", vertices, count, members, member, left, gathers=[members], scatters=[member])
        return member, left

    def _keep_loops(self, vertex: int, rows: DeviceRows, present: bool) -> int:
        """Others keep what they refer to: a set that is narrowed gets members of its own."""
        tape, own, before = self.tape, self.sets[vertex], self.members[vertex]
        after, removed = self.room.take(own.universe), tape.cell()
        self.members[vertex] = after
        tape.add("Copy", before, after, own.universe, gathers=[before], scatters=[after])
        tape.add(
            "KeepLoops", own.vertices, tape.constant(own.count), *rows.words, 0, int(present), after, removed,
            scatters=[after],
        )  # fmt: skip
        return removed

    def _narrow(self, vertices: Sequence[int]) -> None:
        """The neighbour filters of some vertices that wait, at once; those of alike vertices once."""
        alike: dict[Hashable, list[int]] = {}
        for vertex in vertices:
            if vertex in self._waiting:
                asked = tuple(condition for _, condition in self._waiting[vertex])
                alike.setdefault((self.sets[vertex], self.members[vertex], asked), []).append(vertex)
        if not alike:
            return
        firsts = [each[0] for each in alike.values()]
        sets = [self.sets[vertex] for vertex in firsts]
        if all(each.everything for each in sets):  # something is said of every vertex
            after = unwritten(self.room, sets)
        else:
            after = blank(self.tape, self.room, sets)
        count = sum(len(self._waiting[vertex]) for vertex in firsts)
        first, narrowed, number = self.tape.cell(count), [], 0
        for own, member in zip(alike.values(), after, strict=True):
            conditions = [condition for _, condition in self._waiting[own[0]]]
            numbered = [each._replace(failed=number + place) for place, each in enumerate(conditions)]
            narrowed.append(Narrowed(self.sets[own[0]], self.members[own[0]], member, numbered))
            for vertex in own:
                for failed, (place, _) in enumerate(self._waiting.pop(vertex), first + number):
                    self._changes[place] = failed, False
                self.members[vertex] = member
            number += len(conditions)
        narrow(self.tape, narrowed, first, count)

"""The reference backend: every program by plain recursion, a vertex at a time.

It is the oracle of the other backends, and shows that the protocol says all that there is to know: of the engine it
sees the program and the graph. Its slowness is its virtue: it can be read.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Backend, FilterOutcome, Item, Masks, PartialMatches, Ranks
from gquery.executor.lowering.adjacency import adjacency_of, masked
from gquery.executor.lowering.program import NULL_RANK, Level, Program, Rows
from gquery.executor.progress import Control
from gquery.planner.ir import filters as steps
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Types, repeats
from gquery.settings import Settings
from gquery.storage.graph import Snapshot

BATCH = 100  # partial matches
COMPARED = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le}


def reference(settings: Settings) -> Backend:
    """As a device's name stands for a backend in `gquery.executor.devices`."""
    return ReferenceBackend()


class ReferenceBackend:
    name = "reference"
    lacks: frozenset[str] = frozenset()
    gathers: Literal["nothing"] = "nothing"
    workers = 1

    def upload(self, snapshot: Snapshot) -> ReferenceGraph:
        return ReferenceGraph(snapshot)


@dataclass(frozen=True)
class ReferenceGraph:
    snapshot: Snapshot

    def filter(
        self,
        graph: QueryGraph,
        filters: tuple[steps.Filter, ...],
        masks: Masks,
        control: Control,
    ) -> ReferenceCandidates:
        candidates = ReferenceCandidates(graph, self.snapshot, masks, control)
        for place, step in enumerate(filters):
            kept = masks.vertices.get(place)
            candidates.apply(step, None if kept is None else kept.vertices)
        return candidates


class ReferenceCandidates:
    """The candidate sets, as sets, and the rows of relations, as (neighbour, edge) pairs."""

    nbytes = 0
    sampler = None  # plans are made from estimates

    def __init__(self, graph: QueryGraph, snapshot: Snapshot, masks: Masks, control: Control) -> None:
        self.graph, self.snapshot, self.masks, self.control = graph, snapshot, masks, control
        every = set(range(snapshot.vertex_count))
        self.sets = [every for _ in graph.vertices]
        self._labelled = list(self.sets)  # before neighbours were counted: alike vertices stay alike
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self._table = cache(self._read)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.sets))

    def vertices(self, merged: tuple[int, ...]) -> NDArray[np.int32]:
        return np.array(sorted(set.intersection(*(self.sets[vertex] for vertex in merged))), np.int32)

    def start(self, program: Program, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None = None) -> ReferenceSlices:
        return ReferenceSlices(program, self, ranks, pool)

    def mover(self) -> Callable[[Snapshot, Control], ReferenceCandidates]:
        def moved(snapshot: Snapshot, control: Control) -> ReferenceCandidates:
            there = ReferenceCandidates(self.graph, snapshot, self.masks, control)
            there.sets, there._labelled = self.sets, self._labelled
            return there

        return moved

    def apply(self, step: steps.Filter, kept: NDArray[np.int32] | None) -> None:
        if isinstance(step, steps.EdgePredicateFilter):
            after = len(self.masks.edges[step.edge])
            self.outcomes.append(FilterOutcome(step, self.snapshot.edge_count, after))
            return
        before = self.sets[step.vertex]
        match step:
            case steps.LabelFilter(tables=tables):
                left = set(self.snapshot.vertex_numbers.ids(tables, np.int32).tolist())
            case steps.SeedFilter(vertex=vertex) | steps.ValueFilter(vertex=vertex) | steps.EdgesFilter(vertex=vertex):
                left = set(self.masks.seeds[vertex].candidates.tolist())
            case steps.LoopFilter(vertex=vertex, types=types, present=present, edge=edge):
                rows = Rows(Types(types), "out", (), vertex) if edge is None else self._rows(edge, vertex)
                left = {each for each in before if (each in self.neighbours(rows, each)) is present}
            case steps.NeighbourFilter(vertex=vertex, edge=edge, required=required):
                left = self._narrowed(vertex, edge, required, self._labelled[self.graph.edges[edge].other(vertex)])
            case _:
                left = before if kept is None else before.intersection(kept.tolist())
        self.sets[step.vertex] = left
        if not isinstance(step, steps.LoopFilter | steps.NeighbourFilter):
            self._labelled[step.vertex] = left
        self.outcomes.append(FilterOutcome(step, len(before), len(left)))

    def refine(self) -> None:
        for edge in [each for each in self.graph.edges if each.source != each.target] * 2:
            for vertex in (edge.source, edge.target):
                if self.graph.binds(edge.index, vertex):
                    self.sets[vertex] = self._narrowed(vertex, edge.index, 1, self.sets[edge.other(vertex)])
        for edge in self.graph.edges:
            rows, among = self._rows(edge.index, edge.source), self.sets[edge.target]
            found = (each[0] in among for vertex in self.sets[edge.source] for each in self.row(rows, vertex))
            self.edge_counts[edge.index] = sum(found)

    def _narrowed(self, vertex: int, edge: int, required: int, among: set[int]) -> set[int]:
        """The candidates with enough neighbours among others."""
        rows = self._rows(edge, vertex)
        return {each for each in self.sets[vertex] if sum(to in among for to, _ in self.row(rows, each)) >= required}

    def _rows(self, edge: int, source: int) -> Rows:
        each = self.graph.edges[edge]
        return Rows(each.relation, each.direction(source), (), source, edge if edge in self.masks.edges else None)

    def row(self, rows: Rows, vertex: int) -> list[tuple[int, int]]:
        """The neighbours of a vertex, with the edges that lead to them."""
        return self._table(rows).get(vertex, [])

    def neighbours(self, rows: Rows, vertex: int) -> set[int]:
        return {neighbour for neighbour, _ in self.row(rows, vertex)}

    def _read(self, rows: Rows) -> dict[int, list[tuple[int, int]]]:
        found = adjacency_of(rows.relation, rows.direction, self.snapshot, self.control.memory, self.masks.seeds)
        if rows.edge is not None:
            found = masked(found, self.masks.edges[rows.edge].mask)
        pairs = list(zip(found.neighbours.tolist(), found.edges.tolist(), strict=True))
        return {found.first + place: pairs[slice(*ends)] for place, ends in enumerate(pairwise(found.offsets.tolist()))}


Match = list[int]  # a data vertex for each level; those of levels that are not matched say nothing


class ReferenceSlices:
    """One run of a program: levels are matched one after the other, sums are products of the sums below."""

    def __init__(
        self, program: Program, candidates: ReferenceCandidates, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None
    ) -> None:
        self.program, self.data, self.ranks = program, candidates, ranks
        self.found = np.zeros(len(program.levels), np.int64)
        self.seconds_until: Mapping[int, float] = {}
        self.worker_seconds: Sequence[float] = ()
        self._vertices = [candidates.vertices(level.candidates).tolist() for level in program.levels]
        self._sets = [set(vertices) for vertices in self._vertices]
        self._children = program.children()
        self._listed = max(1, program.listed)
        self._pool = [[vertex] for vertex in self._vertices[0]] if pool is None else pool.T.tolist()

    def total(self, modulus: int) -> tuple[int, float]:
        total = sum(ways for _, ways in self._matches())
        return total % (modulus or 2**64), float(total) if total < 2**1023 else math.inf

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        matches = self._matches()
        while batch := list(islice(matches, BATCH)):
            columns = [[self._position(level, match[level]) for match, _ in batch] for level in range(self._listed)]
            sums = np.array([ways % 2**64 for _, ways in batch], np.uint64) if self.program.summing else None
            sizes = np.array([float(ways) for _, ways in batch]) if self.program.summing else None
            yield from behind(PartialMatches(np.array(columns, np.int32), len(batch), sums, sizes))

    def _matches(self) -> Iterator[tuple[Match, int]]:
        """The matches of the listed levels, with the ways to finish each."""
        for seed in self._pool:
            if all(vertex in self._sets[level] for level, vertex in enumerate(seed)):
                for match in self._grown([*seed, *[-1] * (len(self.program.levels) - len(seed))], len(seed)):
                    ways = math.prod(self._choices(level, match) for level in range(self._listed))
                    ways *= self._below(self._listed - 1, match) if ways else 0
                    if ways:
                        yield list(match), ways

    def _grown(self, match: Match, level: int) -> Iterator[Match]:
        """Matches the listed levels from `level` on, in all ways."""
        if level >= self.program.listed:
            yield match
            return
        for vertex in self._extensions(level, match):
            match[level] = vertex
            for _ in range(self._repetitions(level, match)):
                yield from self._grown(match, level + 1)

    def _below(self, level: int, match: Match) -> int:
        """The ways to match all summed levels below one."""
        return math.prod(self._sum(child, match) for child in self._children[level])

    def _sum(self, level: int, match: Match) -> int:
        """The ways to match a summed level and all below it."""
        step, total = self.program.levels[level], 0
        for vertex in self._extensions(level, match):
            match[level] = vertex
            ways = self._choices(level, match) * self._repetitions(level, match)
            total += ways * self._below(level, match) if ways else 0
        total -= min(total, step.minus)
        return {None: total, "optional": max(total, 1), "exists": min(total, 1), "absent": int(total == 0)}[step.cap]

    def _repetitions(self, level: int, match: Match) -> int:
        """The ways to come to the vertex of a level along rows that repeat it for every data edge."""
        found = 1
        for rows in self.program.levels[level].backward:
            if repeats(rows.relation):
                found *= sum(neighbour == match[level] for neighbour, _ in self.data.row(rows, match[rows.level]))
        return found

    def _extensions(self, level: int, match: Match) -> list[int]:
        """The vertices that a level may be matched to."""
        self.data.control.check()
        step = self.program.levels[level]
        rows = [self.data.neighbours(each, match[each.level]) for each in step.backward]
        found = set.intersection(*sorted(rows, key=len), self._sets[level])
        accepted = [vertex for vertex in sorted(found) if self._passes(step, level, vertex, match)]
        self.found[level] += len(accepted)
        return accepted

    def _passes(self, step: Level, level: int, vertex: int, match: Match) -> bool:
        match[level] = vertex
        return (
            all(match[other] != vertex for other in step.different)
            and all(match[other] < vertex for other in step.smaller)
            and not any(match[a] == match[b] and match[c] == match[d] for a, b, c, d in step.pairs)
            and not any(vertex in self.data.neighbours(each, match[each.level]) for each in step.absent)
            and all(self._compares(*each, match) for each in step.comparisons)
        )

    def _compares(self, left: int, right: int, operator: str, pair: int, match: Match) -> bool:
        ends = zip(self.ranks[pair], (left, right), strict=True)
        first, second = (ranks[self._position(level, match[level])] for ranks, level in ends)
        return NULL_RANK not in (first, second) and bool(COMPARED[operator](first, second))

    def _position(self, level: int, vertex: int) -> int:
        return vertex if self.program.space == "vertices" else int(np.searchsorted(self._vertices[level], vertex))

    def _choices(self, level: int, match: Match) -> int:
        """The ways to choose the data edges that are known at a level."""
        found = {}
        for number in self.program.levels[level].weights:
            rows, to = self.program.weights[number].rows, match[self.program.weights[number].to]
            found[number] = [edge for neighbour, edge in self.data.row(rows, match[rows.level]) if neighbour == to]
        return self._apart(found, {})

    def _apart(self, left: Mapping[int, list[int]], chosen: Mapping[int, int]) -> int:
        """The ways to choose one of the edges for each, others for those that collide."""
        if not left:
            return 1
        first, edges = next(iter(left.items()))
        choice = self.program.weights[first]
        alike = {first, *choice.collides}
        if choice.clique and all(left.get(number) == edges for number in alike):
            others = {number: left[number] for number in left.keys() - alike}
            return math.perm(len(edges), len(alike)) * self._apart(others, chosen)
        taken = {chosen.get(number) for number in choice.collides}
        others = {number: left[number] for number in left if number != first}
        return sum(self._apart(others, {**chosen, first: edge}) for edge in edges if edge not in taken)

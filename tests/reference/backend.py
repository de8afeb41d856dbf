"""The reference backend: every program by plain recursion, a vertex at a time.

It is the oracle of the other backends, and shows that the protocol says all that there is to know: of the engine it
sees the program and the graph. Its slowness is its virtue: it can be read.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Backend, FilterOutcome, Masks, PartialMatches, Ranks
from gquery.executor.lowering.adjacency import adjacency_of
from gquery.executor.lowering.program import NULL_RANK, Choice, Compare, Level, Program, Rows
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.progress import Control
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LoopFilter,
    NeighbourFilter,
    PredicateFilter,
    ReachedFilter,
    SeedFilter,
)
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Types
from gquery.settings import Settings
from gquery.storage.graph import Snapshot

BATCH = 100  # partial matches
_COMPARED = {
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
}


class ReferenceBackend:
    """Runs everything, slowly."""

    name = "reference"
    lacks: frozenset[str] = frozenset()

    def upload(self, snapshot: Snapshot) -> ReferenceGraph:
        return ReferenceGraph(snapshot)


def reference(settings: Settings) -> Backend:
    """As a device's name stands for a backend in `gquery.executor.devices`."""
    return ReferenceBackend()


class ReferenceGraph:
    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def filter(
        self,
        graph: QueryGraph,
        filters: tuple[Filter, ...],
        masks: Masks,
        control: Control,
        seeds: Seeds | None = None,
    ) -> ReferenceCandidates:
        candidates = ReferenceCandidates(graph, DataRows(self.snapshot, masks, control, seeds))
        for place, step in enumerate(filters):
            control.check()
            candidates.apply(step, masks.vertices.get(place))
        return candidates


class DataRows:
    """The rows of relations, each as (neighbour, edge) pairs."""

    def __init__(self, snapshot: Snapshot, masks: Masks, control: Control, seeds: Seeds | None) -> None:
        self.snapshot = snapshot
        self.masks = masks
        self.control = control
        self.seeds = seeds
        self._known: dict[object, dict[int, list[tuple[int, int]]]] = {}

    def at(self, rows: Rows, vertex: int) -> list[tuple[int, int]]:
        known = self._known.setdefault((rows.relation, rows.direction, rows.edge), {})
        if vertex not in known:
            memory = self.control.memory
            adjacency = adjacency_of(rows.relation, rows.direction, self.snapshot, memory, self.seeds)
            row = vertex - adjacency.first
            begin, end = adjacency.offsets[row : row + 2] if 0 <= row < adjacency.rows else (0, 0)
            mask = None if rows.edge is None else self.masks.edges[rows.edge]
            pairs = zip(adjacency.neighbours[begin:end].tolist(), adjacency.edges[begin:end].tolist(), strict=True)
            known[vertex] = [(neighbour, edge) for neighbour, edge in pairs if mask is None or mask[edge]]
        return known[vertex]

    def neighbours(self, rows: Rows, vertex: int) -> set[int]:
        return {neighbour for neighbour, _ in self.at(rows, vertex)}


class ReferenceCandidates:
    """The candidate sets, as sets."""

    def __init__(self, graph: QueryGraph, data: DataRows) -> None:
        self.graph = graph
        self.data = data
        self.sets: list[set[int]] = []
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self._labelled: list[set[int]] = []

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.sets))

    @property
    def nbytes(self) -> int:
        return 0

    def apply(self, step: Filter, kept: NDArray[np.int32] | None) -> None:
        snapshot = self.data.snapshot
        if isinstance(step, EdgePredicateFilter):
            after = int(self.data.masks.edges[step.edge].sum())
            self.outcomes.append(FilterOutcome(step, snapshot.edge_count, after))
            return
        before = len(self.sets[step.vertex]) if step.vertex < len(self.sets) else snapshot.vertex_count
        match step:
            case LabelFilter(tables=tables):
                self.sets.append(set(snapshot.vertex_numbers.ids(tables, np.int32).tolist()))
                self._labelled.append(self.sets[-1])
            case SeedFilter():
                assert self.data.seeds is not None
                self.sets.append(set(range(self.data.seeds.count)))
                self._labelled.append(self.sets[-1])
            case BindingFilter(vertex=vertex) | ReachedFilter(vertex=vertex) | PredicateFilter(vertex=vertex):
                among = self.sets[vertex] if kept is None else set(kept.tolist())
                self.sets[vertex] = self._labelled[vertex] = self.sets[vertex] & among
            case LoopFilter(vertex=vertex, types=types, present=present, edge=edge):
                rows = Rows(Types(types), "out", (), vertex) if edge is None else self._rows(edge, vertex)
                loops = {each for each in self.sets[vertex] if each in self.data.neighbours(rows, each)}
                self.sets[vertex] = loops if present else self.sets[vertex] - loops
            case NeighbourFilter(vertex=vertex, edge=edge, required=required):
                self._narrow(vertex, edge, required, self._labelled[self.graph.edges[edge].other(vertex)])
        self.outcomes.append(FilterOutcome(step, before, len(self.sets[step.vertex])))

    def refine(self) -> None:
        for edge in [each for each in self.graph.edges if each.source != each.target] * 2:
            for vertex in (edge.source, edge.target):
                if self.graph.binds(edge.index, vertex):
                    self._narrow(vertex, edge.index, 1, self.sets[edge.other(vertex)])
        for edge in self.graph.edges:
            rows, among = self._rows(edge.index, edge.source), self.sets[edge.target]
            found = (each[0] in among for vertex in self.sets[edge.source] for each in self.data.at(rows, vertex))
            self.edge_counts[edge.index] = sum(found)

    def vertices(self, merged: tuple[int, ...]) -> NDArray[np.int32]:
        return np.array(sorted(set.intersection(*(self.sets[vertex] for vertex in merged))), np.int32)

    def start(self, program: Program, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None = None) -> ReferenceSlices:
        return ReferenceSlices(program, self, ranks, pool)

    def _rows(self, edge: int, source: int) -> Rows:
        each = self.graph.edges[edge]
        return Rows(each.relation, each.direction(source), (), source, edge if edge in self.data.masks.edges else None)

    def _narrow(self, vertex: int, edge: int, required: int, among: set[int]) -> None:
        rows = self._rows(edge, vertex)
        self.sets[vertex] = {
            each
            for each in self.sets[vertex]
            if sum(neighbour in among for neighbour, _ in self.data.at(rows, each)) >= required
        }


Match = list[int]  # a data vertex for each level; those of levels that are not matched say nothing


class ReferenceSlices:
    """One run of a program: levels are matched one after the other, sums are products of the sums below."""

    def __init__(
        self, program: Program, candidates: ReferenceCandidates, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None
    ) -> None:
        self.program = program
        self.data = candidates.data
        self.ranks = ranks
        self.found = np.zeros(len(program.levels), np.int64)
        self.seconds_until: Mapping[int, float] = {}
        self._vertices = [candidates.vertices(level.candidates).tolist() for level in program.levels]
        self._sets = [set(vertices) for vertices in self._vertices]
        self._children = program.children()
        self._pool = [[vertex] for vertex in self._vertices[0]] if pool is None else pool.T.tolist()

    def total(self, modulus: int) -> tuple[int, float]:
        total = sum(ways for _, ways in self._listed())
        try:
            return total % (modulus or 2**64), float(total)
        except OverflowError:
            return 0, math.inf

    def batches(self) -> Generator[PartialMatches, None, None]:
        listed = self._listed()
        while batch := list(islice(listed, BATCH)):
            width = max(1, self.program.listed)
            columns = [[self._position(level, match[level]) for match, _ in batch if match] for level in range(width)]
            sums = sizes = None
            if self.program.summing:
                sums = np.array([ways % 2**64 for _, ways in batch], np.uint64)
                sizes = np.array([float(ways) for _, ways in batch])
            yield PartialMatches(np.array(columns, np.int32), len(batch), sums, sizes)

    def _listed(self) -> Iterator[tuple[Match, int]]:
        """The matches of the listed levels, with the ways to finish each."""
        for seed in self._pool:
            if all(vertex in self._sets[level] for level, vertex in enumerate(seed)):
                match = [*seed, *([-1] * (len(self.program.levels) - len(seed)))]
                for _ in self._extended(match, len(seed)):
                    ways = math.prod(self._weight(level, match) for level in range(max(1, self.program.listed)))
                    for child in self._children[max(1, self.program.listed) - 1] if ways else ():
                        ways *= self._sum(child, match)
                    if ways:
                        yield list(match), ways

    def _extended(self, match: Match, level: int) -> Iterator[None]:
        """Matches the listed levels from `level` on, in all ways."""
        if level >= self.program.listed:
            yield
            return
        for vertex in self._extensions(level, match):
            match[level] = vertex
            yield from self._extended(match, level + 1)

    def _sum(self, level: int, match: Match) -> int:
        """The ways to match a summed level and all below it."""
        total = 0
        for vertex in self._extensions(level, match):
            match[level] = vertex
            ways = self._weight(level, match)
            for child in self._children[level]:
                ways *= self._sum(child, match) if ways else 0
            total += ways
        total -= min(total, self.program.levels[level].minus)
        cap = self.program.levels[level].cap
        caps = {None: total, "optional": max(total, 1), "exists": min(total, 1), "absent": int(total == 0)}
        return caps[cap]

    def _extensions(self, level: int, match: Match) -> list[int]:
        """The vertices that a level may be matched to."""
        self.data.control.check()
        step = self.program.levels[level]
        rows = sorted((self.data.neighbours(each, match[each.level]) for each in step.backward), key=len)
        found = set.intersection(*rows) & self._sets[level] if rows else self._sets[level]
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
            and all(self._holds(each, match) for each in step.comparisons)
        )

    def _holds(self, compare: Compare, match: Match) -> bool:
        left_ranks, right_ranks = self.ranks[compare.pair]
        left = left_ranks[self._position(compare.left, match[compare.left])]
        right = right_ranks[self._position(compare.right, match[compare.right])]
        return NULL_RANK not in (left, right) and bool(_COMPARED[compare.operator](left, right))

    def _position(self, level: int, vertex: int) -> int:
        if self.program.space == "vertices":
            return vertex
        return int(np.searchsorted(self._vertices[level], vertex))

    def _weight(self, level: int, match: Match) -> int:
        """The ways to choose the data edges that are known at a level."""
        weights = self.program.levels[level].weights
        edges = {number: self._edges(self.program.weights[number], match) for number in weights}
        return self._choices(list(weights), edges, {})

    def _choices(self, left: list[int], edges: dict[int, list[int]], chosen: dict[int, int]) -> int:
        if not left:
            return 1
        first, *rest = left
        collides = self.program.weights[first].collides
        alike = {first, *collides}
        if self.program.weights[first].clique and all(edges[number] == edges[first] for number in alike):
            others = [number for number in left if number not in alike]
            return math.perm(len(edges[first]), len(alike)) * self._choices(others, edges, chosen)
        taken = [chosen[number] for number in collides if number in chosen]
        return sum(self._choices(rest, edges, {**chosen, first: e}) for e in edges[first] if e not in taken)

    def _edges(self, choice: Choice, match: Match) -> list[int]:
        row = self.data.at(choice.rows, match[choice.rows.level])
        return sorted(edge for neighbour, edge in row if neighbour == match[choice.to])

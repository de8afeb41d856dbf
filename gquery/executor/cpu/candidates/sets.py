"""The candidate sets of a query graph on the CPU: what its filters leave."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome, Masks
from gquery.executor.cpu.candidates.addresses import lists_of
from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.kernels import filters
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.lowering.adjacency import adjacency_of, masked, some_of
from gquery.executor.lowering.kept import Kept
from gquery.executor.lowering.program import Rows
from gquery.executor.progress import Control
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
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
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Binding, End, Identity, Relation, Types, Valued, repeats
from gquery.storage.adjacency import Adjacency
from gquery.storage.cache import Cache
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction

SLICE = 1 << 16  # vertices between two looks at the clock; a second thread does not pay for less
_LASTING = 1 << 10  # vertices to filter, from which on what is left of them is kept for other queries


class CandidateSets:
    """The candidate sets of one query graph, and the adjacencies that its edges may use."""

    def __init__(
        self,
        graph: QueryGraph,
        snapshot: Snapshot,
        masks: Masks,
        control: Control,
        threads: int,
    ) -> None:
        self.graph = graph
        self.snapshot = snapshot
        self.masks = masks
        self.control = control
        self.threads = threads
        self.sets: list[CandidateSet] = []
        self._labelled: list[CandidateSet] = []  # after labels, seeds and predicates: what alike query vertices share
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self.built: dict[object, tuple[Adjacency, CandidateSet, CandidateSet]] = {}  # candidate edges, with their ends
        self._filtered: dict[tuple[Relation, Direction, int], Adjacency] = {}  # by the id of the edges that are kept
        self._held: dict[tuple[Relation, Direction], Adjacency] = {}  # the snapshot may forget what it made
        self._lists: dict[int, tuple[int, int, int, int]] = {}  # by the id of an adjacency that is held

    def mover(self) -> Callable[[Snapshot, Control], CandidateSets]:
        """Makes the same sets on other snapshots with the same vertices; it holds nothing of this one."""
        graph, masks, threads, sets, labelled = self.graph, self.masks, self.threads, self.sets, self._labelled

        def moved(snapshot: Snapshot, control: Control) -> CandidateSets:
            there = CandidateSets(graph, snapshot, masks, control, threads)
            there.sets, there._labelled = sets, labelled
            return there

        return moved

    def repeated(self) -> Callable[[Snapshot, Control], CandidateSets]:
        """Makes the same sets for one run after the other on this snapshot; it holds nothing of it but adjacencies."""
        moved, outcomes = self.mover(), self.outcomes
        known = self.edge_counts, self.built, self._filtered, self._held, self._lists

        def again(snapshot: Snapshot, control: Control) -> CandidateSets:
            there = moved(snapshot, control)
            there.outcomes = outcomes
            there.edge_counts, there.built, there._filtered, there._held, there._lists = known
            return there

        return again

    @property
    def resting(self) -> int:
        """Bytes of what they hold between two runs that is not the cache's of edges."""
        held = (
            adjacency
            for (relation, _), adjacency in self._held.items()
            if isinstance(relation, Identity | Valued | End)
        )
        return self.nbytes + sum(adjacency.nbytes for adjacency in held)

    @property
    def nbytes(self) -> int:
        kept = sum(adjacency.nbytes for adjacency in self._filtered.values())
        kept += sum(adjacency.nbytes for adjacency, *_ in self.built.values())
        return kept + sum(candidates.nbytes for candidates in self.sets)

    @property
    def universe(self) -> int:
        """One more than the largest number that anything may be matched to: what query vertices of no table stand for
        may be more than there are vertices."""
        return max([self.snapshot.vertex_count, *(each.universe for each in self.sets)])

    def common(self, merged: tuple[int, ...]) -> CandidateSet:
        """The candidates that some query vertices have in common."""
        common = self.sets[merged[0]]
        for vertex in merged[1:]:
            if not common.equals(self.sets[vertex]):
                common = CandidateSet(self.sets[vertex].among(common.vertices), common.universe)
        return common

    # --- adjacency ---------------------------------------------------------------------------------------------

    def rows(self, edge: int, source: int) -> Rows:
        """The rows of a query edge, seen from query vertex `source`."""
        query_edge = self.graph.edges[edge]
        tables = self.graph.vertices[source].tables
        mask = edge if edge in self.masks.edges else None
        return Rows(query_edge.relation, query_edge.direction(source), tables, source, mask)

    def adjacency(self, rows: Rows) -> Adjacency:
        """The data edges of a relation that its mask leaves."""
        if rows.edge is None:
            return self._whole(rows)
        kept = self.masks.edges[rows.edge]
        key = rows.relation, rows.direction, id(kept)
        if key not in self._filtered:
            if kept.few is None:
                filtered = masked(self._whole(rows), kept.mask)
            else:
                filtered = self.snapshot.edges.build_of(kept.few, rows.direction)
            described = self.graph.edges[rows.edge].described
            self.control.memory.reserve(filtered.nbytes, f"the filtered edges of {described}")
            self._filtered[key] = filtered
        return self._filtered[key]

    def _whole(self, rows: Rows) -> Adjacency:
        relation, direction = key = rows.relation, rows.direction
        if key not in self._held:
            if isinstance(relation, Types) and relation != (all_edges := Types(relation.types)):
                whole = self._whole(rows._replace(relation=all_edges))  # which may have no room in the cache
                self._held[key] = some_of(relation, whole, direction, self.snapshot, self.control.memory)
            else:
                self._held[key] = adjacency_of(*key, self.snapshot, self.control.memory, self.masks.seeds)
        return self._held[key]

    def cache_of(self, adjacency: Adjacency) -> Cache | None:
        """Where what is made of an adjacency may stay for other queries; None for what this one has made."""
        lasting = (held for (relation, _), held in self._held.items() if not _is_made(relation))
        return self.snapshot.cache if any(held is adjacency for held in lasting) else None

    def lists(self, rows: Rows) -> tuple[int, int, int, int]:
        """`lists_of` the adjacency of the rows: an address takes a microsecond to ask for, and is asked for often."""
        adjacency = self.adjacency(rows)
        known = self._lists.get(id(adjacency))
        if known is None:
            known = self._lists[id(adjacency)] = lists_of(adjacency)
        return known

    def implies(self, rows: Rows, among: CandidateSet) -> bool:
        """Whether the rows lead to no vertices but those `among` the candidates of the other end."""
        reached = self._reached(rows) if among.tables is not None else None
        return among.everything if reached is None or among.tables is None else reached <= among.tables

    def mask(self, rows: Rows, among: CandidateSet) -> int:
        """Address of the bitset that tells which ends of the edge are `among` the candidates; 0 when all are."""
        return 0 if self.implies(rows, among) else among.words_address

    def reach(self, rows: Rows, among: CandidateSet) -> tuple[int, int]:
        """All vertices that the rows lead to lie in [begin, end). among: candidates of the other end."""
        tables = self._reached(rows)
        if tables is None:
            return 0, among.universe
        segments = self.snapshot.vertex_numbers.of(tables)
        return (segments[0].begin, segments[-1].end) if segments else (0, 1)

    def largest_row(self, rows: Rows) -> int:
        """At least the length of the longest of the rows."""
        bound = rows.relation.row_bound(self.snapshot.invariants, rows.direction, rows.tables)
        return self.adjacency(rows).longest if bound is None else bound

    def _reached(self, rows: Rows) -> frozenset[int] | None:
        """The tables of all vertices that the rows lead to; None when any may be among them."""
        return rows.relation.reached(self.snapshot.invariants, rows.direction, rows.tables)

    # --- filters -----------------------------------------------------------------------------------------------

    def apply(self, plan: tuple[Filter, ...]) -> None:
        """Runs the filters in the plan's order; the first for each vertex is its LabelFilter."""
        for place, step in enumerate(plan):
            self.control.check()
            match step:
                case LabelFilter(vertex=vertex):
                    self._start(step)
                    self.outcomes.append(FilterOutcome(step, self.snapshot.vertex_count, self._size(vertex)))
                case EdgePredicateFilter(edge=edge):
                    self.outcomes.append(FilterOutcome(step, self.snapshot.edge_count, self._kept_edges(edge)))
                case SeedFilter() | ValueFilter() | EdgesFilter():
                    self._start_seeds(step)
                case LookupFilter(vertex=vertex):
                    self.sets.append(CandidateSet(self.masks.vertices[place].vertices, self.snapshot.vertex_count))
                    self._labelled.append(self.sets[-1])
                    self.outcomes.append(FilterOutcome(step, self.snapshot.vertex_count, self._size(vertex)))
                case (
                    BindingFilter(vertex=vertex)
                    | EndsFilter(vertex=vertex)
                    | ReachedFilter(vertex=vertex)
                    | PredicateFilter(vertex=vertex)
                ):
                    before = self._size(vertex)
                    self._keep(vertex, self.masks.vertices.get(place))
                    self._labelled[vertex] = self.sets[vertex]
                    self.outcomes.append(FilterOutcome(step, before, self._size(vertex)))
                case LoopFilter(vertex=vertex):
                    self._narrow(step, vertex, self._with_loop(step))
                case NeighbourFilter():
                    self._narrow_alike(step)

    def _kept_edges(self, edge: int) -> int:
        kept, types = self.masks.edges[edge], self.graph.edges[edge].types
        if kept.few is not None:
            return len(kept)
        segments = self.snapshot.edges.numbers.of(self.snapshot.tables_of(types))
        return sum(int(np.count_nonzero(kept.mask[begin:end])) for begin, end, *_ in segments)

    def _size(self, vertex: int) -> int:
        return len(self.sets[vertex].vertices)

    def _start(self, step: LabelFilter) -> None:
        assert step.vertex == len(self.sets)
        alike = (number for number in range(step.vertex) if self.graph.vertices[number].tables == step.tables)
        whole = (self.sets[number] for number in alike if self.sets[number].tables is not None)
        self.sets.append(next(whole, None) or self._of_tables(step))
        self._labelled.append(self.sets[-1])

    def _start_seeds(self, step: SeedFilter | ValueFilter | EdgesFilter) -> None:
        assert step.vertex == len(self.sets)
        seeds = self.masks.seeds[step.vertex]
        chosen = seeds.candidates
        self.control.memory.reserve(chosen.nbytes, f"the candidates of {self.graph.vertices[step.vertex].described}")
        self.sets.append(CandidateSet(chosen, seeds.count))
        self._labelled.append(self.sets[-1])
        self.outcomes.append(FilterOutcome(step, seeds.count, len(chosen)))

    def _of_tables(self, step: LabelFilter) -> CandidateSet:
        size = sum(self.snapshot.vertex_tables[table].count for table in step.tables)
        purpose = f"the candidates of {self.graph.vertices[step.vertex].described}"
        self.control.memory.reserve(4 * size, purpose)
        key = ("all candidates", step.tables)
        return self.snapshot.vertex_cache.get(key, lambda: _whole(self.snapshot, step.tables, key), 4 * size, purpose)

    def _narrow(self, step: Filter, vertex: int, kept: NDArray[np.int32]) -> None:
        before = self._size(vertex)
        self.keep(vertex, kept)
        self.outcomes.append(FilterOutcome(step, before, self._size(vertex)))

    def _narrow_alike(self, step: NeighbourFilter) -> None:
        """Narrows as all queries do that ask the same of the same vertices: what is left of many is kept beside the
        snapshot."""
        own, asked = self.sets[step.vertex], self._asked(step)
        if own.key is None or asked is None or len(own.vertices) < _LASTING:
            self._narrow(step, step.vertex, self._passing(step))
            return
        key = (own.key, asked)

        def narrowed() -> CandidateSet:
            left = self._passing(step)
            return own if len(left) == len(own.vertices) else CandidateSet(left, own.universe, None, key).shared()

        purpose = f"the candidates of {self.graph.vertices[step.vertex].described}"
        self.sets[step.vertex] = self.snapshot.cache.get(key, narrowed, own.nbytes, purpose, self.control.memory)
        self.outcomes.append(FilterOutcome(step, len(own.vertices), self._size(step.vertex)))

    def _asked(self, step: NeighbourFilter) -> Hashable | None:
        """What a filter asks of a vertex; None where that depends on more than the graph."""
        if step.signature is not None:
            return step.signature
        rows, among = self.rows(step.edge, step.vertex), self._among(step)
        if rows.edge is not None or not isinstance(rows.relation, Types) or among.key is None:
            return None
        return rows.relation, rows.direction, step.required, among.key

    def _passing(self, step: NeighbourFilter) -> NDArray[np.int32]:
        if step.signature is not None:
            return self._with_signature(step.vertex, step.signature)
        return self.with_neighbours(step.vertex, step.edge, step.required, self._among(step))

    def _among(self, step: NeighbourFilter) -> CandidateSet:
        """The candidates that the neighbours have to be of."""
        return self._labelled[self.graph.edges[step.edge].other(step.vertex)]

    def keep(self, vertex: int, kept: NDArray[np.int32]) -> None:
        """Narrows C(vertex) to some of its vertices."""
        if len(kept) < self._size(vertex):
            self.sets[vertex] = CandidateSet(kept, self.sets[vertex].universe)

    def _keep(self, vertex: int, kept: Kept | None) -> None:
        """Narrows C(vertex) to what a filter keeps, if it does not keep all."""
        if kept is not None and kept.words is None:
            self.keep(vertex, kept.vertices)
        elif kept is not None and kept.words is not None and len(kept) < self._size(vertex):
            self.sets[vertex] = self.sets[vertex].within(kept.words)

    def _with_loop(self, step: LoopFilter) -> NDArray[np.int32]:
        loops = Rows(Types(step.types), "out", (), step.vertex)
        adjacency = self.adjacency(loops if step.edge is None else self.rows(step.edge, step.vertex))
        vertices = self.sets[step.vertex].vertices
        keep = np.ones(len(vertices), np.bool_)
        self.sliced(
            len(vertices),
            lambda begin, end: filters.with_loop(vertices, begin, end, lists_of(adjacency), step.present, keep),
        )
        return vertices[keep]

    def with_neighbours(self, vertex: int, edge: int, required: int, among: CandidateSet) -> NDArray[np.int32]:
        """Those of C(vertex) that have `required` entries along the edge that lead into `among`."""
        rows = self.rows(edge, vertex)
        lists, words = self.lists(rows), self.mask(rows, among)
        vertices = self.sets[vertex].vertices
        return self._select(
            vertices,
            lambda begin, end, kept: filters.with_neighbours(vertices, begin, end, lists, words, required, kept),
        )

    def _with_signature(self, vertex: int, wanted: int) -> NDArray[np.int32]:
        """Those of C(vertex) whose signatures have one of the wanted bits."""
        vertices, signatures = self.sets[vertex].vertices, self.snapshot.signatures(wanted)
        return self._select(
            vertices,
            lambda begin, end, kept: filters.with_signature(vertices, begin, end, signatures, np.uint64(wanted), kept),
        )

    def _select(
        self, vertices: NDArray[np.int32], select: Callable[[int, int, NDArray[np.int32]], int]
    ) -> NDArray[np.int32]:
        """The vertices that `select` copies, slice by slice."""
        kept = np.empty_like(vertices)
        if len(vertices) <= SLICE:
            self.control.check()
            return kept[: select(0, len(vertices), kept)].copy()
        counts: dict[int, int] = {}

        def work(begin: int, end: int) -> None:
            counts[begin] = select(begin, end, kept)

        self.sliced(len(vertices), work)
        return np.concatenate([kept[begin : begin + counts[begin]] for begin in sorted(counts)])

    def sliced(self, count: int, work: Callable[[int, int], object], size: int = SLICE) -> None:
        """Runs `work(begin, end)` over slices of `range(count)`, on all threads when there are many."""
        if count > size:
            run_slices(count, size, self.threads, self.control.check, work)
        elif count:
            self.control.check()
            work(0, count)


def _whole(snapshot: Snapshot, tables: tuple[int, ...], key: Hashable) -> CandidateSet:
    """All vertices of some tables, for every query."""
    vertices = snapshot.vertex_numbers.ids(tables, np.int32)
    return CandidateSet(vertices, snapshot.vertex_count, frozenset(tables), key).shared()


def _is_made(relation: Relation) -> bool:
    """Whether the adjacency of a relation is made for each run."""
    return isinstance(relation, Binding | Valued | End) or repeats(relation)

"""Candidate sets C(u) and the candidate graph on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome
from gquery.executor.cpu.kernels import filters
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.progress import Control
from gquery.executor.relational import scan
from gquery.planner.ir.filters import (
    BindingFilter,
    EdgePredicateFilter,
    Filter,
    LabelFilter,
    LoopFilter,
    NeighbourFilter,
    PredicateFilter,
    SeedFilter,
)
from gquery.planner.ir.match_plan import Counted
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.relations import Binding, Composed, Identity, Relation, Types
from gquery.storage.adjacency import Adjacency
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction

_SLICE = 1 << 16  # vertices between two looks at the clock; a second thread does not pay for less


class CandidateSet:
    """C(u) for one query vertex, ascending. `everything`: all vertices of the graph, so no test is needed. `whole`: all
    that have its labels."""

    def __init__(self, vertices: NDArray[np.int32], universe: int, whole: bool = False) -> None:
        self.vertices = vertices
        self.universe = universe
        self.whole = whole
        self.everything = len(vertices) == universe

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """Bitset over all vertices."""
        words = np.zeros((self.universe >> 6) + 1, np.uint64)
        filters.set_bits(self.vertices, words)
        return words

    def among(self, vertices: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of the vertices that are candidates."""
        bits = self.words[vertices >> 6] >> (vertices & 63).astype(np.uint64)
        inside: NDArray[np.int32] = vertices[(bits & np.uint64(1)).astype(np.bool_)]
        return inside

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """Candidates before each word of the bitset."""
        counts = np.bitwise_count(self.words)
        return np.concatenate([[0], np.cumsum(counts, dtype=np.int32)[:-1]]).astype(np.int32)

    @property
    def words_address(self) -> int:
        """Address of the bitset, 0 when every vertex is a candidate."""
        return 0 if self.everything else address(self.words)

    @property
    def nbytes(self) -> int:
        return self.vertices.nbytes + (self.universe >> 3) + (self.universe >> 4)


class CpuCandidates:
    """The candidate sets, and the adjacencies that their query edges may use."""

    def __init__(
        self,
        graph: QueryGraph,
        snapshot: Snapshot,
        parameters: Mapping[str, object],
        control: Control,
        threads: int,
        seeds: Seeds | None = None,
    ) -> None:
        self.graph = graph
        self.snapshot = snapshot
        self.parameters = parameters
        self.control = control
        self.threads = threads
        self.seeds = seeds
        self.sets: list[CandidateSet] = []
        self._labelled: list[CandidateSet] = []  # after labels, seeds and predicates: what alike query vertices share
        self.outcomes: list[FilterOutcome] = []
        self.edge_counts: dict[int, int] = {}
        self._edge_masks: dict[int, NDArray[np.bool_]] = {}
        self._filtered: dict[tuple[int, Direction], Adjacency] = {}
        self._held: dict[
            tuple[Relation, Direction], Adjacency
        ] = {}  # the snapshot may forget what it made on demand, a run must not

    @property
    def nbytes(self) -> int:
        return self._kept + sum(candidates.nbytes for candidates in self.sets)

    @property
    def _kept(self) -> int:
        """Bytes of what is made while problems are solved and serves the next one too."""
        return sum(adjacency.nbytes for adjacency in self._filtered.values())

    @contextmanager
    def solving(self) -> Iterator[None]:
        """What is reserved for one problem is free again for the next."""
        memory = self.control.memory
        before = memory.used - self._kept
        try:
            yield
        finally:
            memory.release(memory.used - self._kept - before)

    def of(self, problem: Problem) -> CpuCandidates:
        """The candidates of a problem that was made from the query: merged vertices have the candidates that all of
        them have."""
        if problem.graph is self.graph:
            return self
        other = CpuCandidates(problem.graph, self.snapshot, self.parameters, self.control, self.threads, self.seeds)
        other.sets = [self._common(group) for group in problem.merged]
        other._held = self._held
        for edge, origin in enumerate(problem.edges):
            if origin in self._edge_masks:
                other._edge_masks[edge] = self._edge_masks[origin]
        return other

    def _common(self, group: tuple[int, ...]) -> CandidateSet:
        common = self.sets[group[0]]
        for vertex in group[1:]:
            if not np.array_equal(common.vertices, self.sets[vertex].vertices):
                common = CandidateSet(self.sets[vertex].among(common.vertices), common.universe)
        return common

    # --- adjacency ---------------------------------------------------------------------------------------------

    def adjacency(self, edge: int, source: int) -> Adjacency:
        """Data edges that may be query edge `edge`, seen from query vertex `source`."""
        query_edge = self.graph.edges[edge]
        direction = query_edge.direction(source)
        raw = self.related(query_edge.relation, direction)
        if edge not in self._edge_masks:
            return raw
        if (edge, direction) not in self._filtered:
            filtered = _keep_edges(raw, self._edge_masks[edge])
            self.control.memory.reserve(filtered.nbytes, f"the filtered edges of {query_edge.described}")
            self._filtered[edge, direction] = filtered
        return self._filtered[edge, direction]

    def raw(self, types: tuple[str, ...], direction: Direction) -> Adjacency:
        """The adjacency of all edges of some types."""
        return self.related(Types(types), direction)

    def related(self, relation: Relation, direction: Direction) -> Adjacency:
        """The adjacency of a relation in the snapshot, asked for once."""
        key = (relation, direction)
        if key not in self._held:
            self._held[key] = self._build(relation, direction)
        return self._held[key]

    def _build(self, relation: Relation, direction: Direction) -> Adjacency:
        memory = self.control.memory
        match relation:
            case Types(types):
                return self.snapshot.adjacency(types, direction, memory)
            case Identity():
                return self.snapshot.identity(memory)
            case Composed(tables, hops):
                return self.snapshot.composed(tables, hops, direction, memory)
            case Binding(column):
                assert self.seeds is not None
                return self.seeds.adjacency(column, direction)

    @property
    def counted(self) -> Counted:
        """What the filters left, and candidate edges once `refine` has counted them."""
        shares = {
            (outcome.filter.vertex, edge): outcome.after / max(1, outcome.before)
            for outcome in self.outcomes
            if isinstance(outcome.filter, NeighbourFilter)
            for edge in outcome.filter.alike
        }
        return Counted(tuple(len(candidates.vertices) for candidates in self.sets), self.edge_counts, shares)

    def implies(self, edge: int, source: int, among: CandidateSet) -> bool:
        """Whether the edge, seen from `source`, leads to no vertices but those `among` the candidates of its other
        end."""
        tables = self._reached(edge, source) if among.whole else None
        if tables is None:
            return among.everything
        return tables <= set(self.graph.vertices[self.graph.edges[edge].other(source)].tables)

    def mask(self, edge: int, source: int, among: CandidateSet) -> int:
        """Address of the bitset that tells which ends of the edge are `among` the candidates; 0 when all are."""
        return 0 if self.implies(edge, source, among) else among.words_address

    def reach(self, edge: int, source: int) -> tuple[int, int]:
        """All vertices that the edge leads to, seen from `source`, lie in [begin, end)."""
        tables = self._reached(edge, source)
        if tables is None:
            return 0, self.snapshot.vertex_count
        segments = self.snapshot.vertex_numbers.of(tables)
        return (segments[0].begin, segments[-1].end) if segments else (0, 1)

    def largest_row(self, edge: int, source: int) -> int:
        """At least the length of the longest row of the edge's adjacency, seen from `source`."""
        query_edge, tables = self.graph.edges[edge], self.graph.vertices[source].tables
        bound = query_edge.relation.row_bound(self.snapshot.invariants, query_edge.direction(source), tables)
        return int(np.diff(self.adjacency(edge, source).offsets).max(initial=0)) if bound is None else bound

    def _reached(self, edge: int, source: int) -> frozenset[int] | None:
        """The tables of all vertices that the edge leads to, seen from `source`; None when any may be among them."""
        query_edge, tables = self.graph.edges[edge], self.graph.vertices[source].tables
        return query_edge.relation.reached(self.snapshot.invariants, query_edge.direction(source), tables)

    # --- filters -----------------------------------------------------------------------------------------------

    def apply(self, plan: tuple[Filter, ...]) -> None:
        """Runs the filters in the plan's order; the first for each vertex is its LabelFilter."""
        for step in plan:
            self.control.check()
            match step:
                case LabelFilter(vertex=vertex):
                    self._start(step)
                    self.outcomes.append(FilterOutcome(step, self.snapshot.vertex_count, self._size(vertex)))
                case SeedFilter():
                    self._start_seeds(step)
                case BindingFilter(vertex=vertex, edge=edge):
                    self._narrow(step, vertex, self._bound(vertex, edge))
                    self._labelled[vertex] = self.sets[vertex]
                case EdgePredicateFilter(edge=edge):
                    self._edge_masks[edge] = self._select_edges(step)
                    kept = int(np.count_nonzero(self._edge_masks[edge]))
                    self.outcomes.append(FilterOutcome(step, self.snapshot.edge_count, kept))
                case PredicateFilter(vertex=vertex):
                    self._narrow(step, vertex, self._select_vertices(step))
                    self._labelled[vertex] = self.sets[vertex]
                case LoopFilter(vertex=vertex):
                    self._narrow(step, vertex, self._with_loop(step))
                case NeighbourFilter(vertex=vertex, signature=int(wanted)):
                    self._narrow(step, vertex, self._with_signature(vertex, wanted))
                case NeighbourFilter(vertex=vertex, edge=edge, required=required):
                    among = self._labelled[self.graph.edges[edge].other(vertex)]
                    self._narrow(step, vertex, self.with_neighbours(vertex, edge, required, among))

    def _size(self, vertex: int) -> int:
        return len(self.sets[vertex].vertices)

    def _start(self, step: LabelFilter) -> None:
        assert step.vertex == len(self.sets)
        alike = (number for number in range(step.vertex) if self.graph.vertices[number].tables == step.tables)
        whole = (self.sets[number] for number in alike if self.sets[number].whole)
        self.sets.append(next(whole, None) or self._of_tables(step))
        self._labelled.append(self.sets[-1])

    def _start_seeds(self, step: SeedFilter) -> None:
        assert self.seeds is not None
        assert step.vertex == len(self.sets)
        rows = np.arange(self.seeds.count, dtype=np.int32)
        self.control.memory.reserve(rows.nbytes, "the seeds")
        self.sets.append(CandidateSet(rows, self.seeds.count, whole=True))
        self._labelled.append(self.sets[-1])
        self.outcomes.append(FilterOutcome(step, self.seeds.count, self.seeds.count))

    def _bound(self, vertex: int, edge: int) -> NDArray[np.int32]:
        """Those of C(vertex) that a seed binds by the edge."""
        relation = self.graph.edges[edge].relation
        assert self.seeds is not None
        assert isinstance(relation, Binding)
        candidates, bound = self.sets[vertex].vertices, self.seeds.bound(relation.column)
        places = np.searchsorted(candidates, bound)
        inside = places < len(candidates)
        inside[inside] = candidates[places[inside]] == bound[inside]
        return bound[inside]

    def _of_tables(self, step: LabelFilter) -> CandidateSet:
        size = sum(self.snapshot.vertex_tables[table].count for table in step.tables)
        self.control.memory.reserve(4 * size, f"the candidates of {self.graph.vertices[step.vertex].described}")
        vertices = self.snapshot.vertex_numbers.ids(step.tables, np.int32)
        return CandidateSet(vertices, self.snapshot.vertex_count, whole=True)

    def _narrow(self, step: Filter, vertex: int, kept: NDArray[np.int32]) -> None:
        before = self._size(vertex)
        self.keep(vertex, kept)
        self.outcomes.append(FilterOutcome(step, before, self._size(vertex)))

    def keep(self, vertex: int, kept: NDArray[np.int32]) -> None:
        """Narrows C(vertex) to some of its vertices."""
        if len(kept) < self._size(vertex):
            self.sets[vertex] = CandidateSet(kept, self.sets[vertex].universe)

    def _select_vertices(self, step: PredicateFilter) -> NDArray[np.int32]:
        """Those of C(vertex) for which the predicates hold: the columns are scanned, unless few are left."""
        candidates = self.sets[step.vertex]
        if not candidates.whole:
            return scan.among(self.snapshot, step.predicates, candidates.vertices, self.parameters, self.control)
        masks = {
            table: scan.select_vertices(self.snapshot, table, step.predicates, self.parameters, self.control)
            for table in self.graph.vertices[step.vertex].tables
        }
        kept: NDArray[np.int32] = candidates.vertices[self.snapshot.vertex_numbers.by_id(masks, np.bool_)]
        return kept

    def _select_edges(self, step: EdgePredicateFilter) -> NDArray[np.bool_]:
        mask = np.zeros(self.snapshot.edge_count, np.bool_)
        self.control.memory.reserve(mask.nbytes, f"the edge filter of {self.graph.edges[step.edge].described}")
        for index, table in enumerate(self.snapshot.edge_tables):
            if table.type in self.graph.edges[step.edge].types:
                selected = scan.select_edges(self.snapshot, index, step.predicates, self.parameters, self.control)
                for begin, end, _, row in self.snapshot.edges.numbers.of([index]):
                    mask[begin:end] = selected[row : row + end - begin]
        return mask

    def _with_loop(self, step: LoopFilter) -> NDArray[np.int32]:
        adjacency = self.raw(step.types, "out") if step.edge is None else self.adjacency(step.edge, step.vertex)
        vertices = self.sets[step.vertex].vertices
        keep = np.ones(len(vertices), np.bool_)
        self.sliced(
            len(vertices),
            lambda begin, end: filters.with_loop(
                vertices, begin, end, *rows_of(adjacency), address(adjacency.neighbours), step.present, keep
            ),
        )
        return vertices[keep]

    def with_neighbours(self, vertex: int, edge: int, required: int, among: CandidateSet) -> NDArray[np.int32]:
        """Those of C(vertex) that have `required` entries along the edge that lead into `among`."""
        adjacency = self.adjacency(edge, vertex)
        vertices = self.sets[vertex].vertices
        words = self.mask(edge, vertex, among)
        return self._select(
            vertices,
            lambda begin, end, kept: filters.with_neighbours(
                vertices, begin, end, *rows_of(adjacency), address(adjacency.neighbours), words, required, kept
            ),
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
        counts: dict[int, int] = {}

        def work(begin: int, end: int) -> None:
            counts[begin] = select(begin, end, kept)

        self.sliced(len(vertices), work)
        return np.concatenate([kept[:0], *(kept[begin : begin + counts[begin]] for begin in sorted(counts))])

    def sliced(self, count: int, work: Callable[[int, int], object], size: int = _SLICE) -> None:
        """Runs `work(begin, end)` over slices of `range(count)`, on all threads when there are many."""
        run_slices(count, size, self.threads, self.control.check, work)


def rows_of(adjacency: Adjacency) -> tuple[int, int, int]:
    """first, rows, address of the offsets: how kernels find a row."""
    return adjacency.first, adjacency.rows, address(adjacency.offsets)


def _keep_edges(adjacency: Adjacency, mask: NDArray[np.bool_]) -> Adjacency:
    """The adjacency of the edges in the mask; rows stay where they are."""
    kept = mask[adjacency.edges]
    offsets = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])[adjacency.offsets]
    return Adjacency(adjacency.first, offsets, adjacency.neighbours[kept], adjacency.edges[kept], adjacency.simple)

"""From a match plan and candidate sets to the packed plan of the CPU."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from gquery.executor import packed
from gquery.executor.cpu.candidate_graph import build_candidate_edges
from gquery.executor.cpu.candidates import CpuCandidates, rows_of
from gquery.executor.cpu.native import address
from gquery.executor.packed import PackedPlan, table
from gquery.executor.relational import scan
from gquery.planner.expr import Expression
from gquery.planner.physical import Comparison, ExtendStep, MatchPlan
from gquery.storage.adjacency import Adjacency
from gquery.storage.schema import common_type

_OPERATORS = {"=": packed.EQUAL, "<>": packed.NOT_EQUAL, "<": packed.LESS, "<=": packed.LESS_EQUAL}


class _Packer:
    def __init__(self, plan: MatchPlan, candidates: CpuCandidates) -> None:
        self.plan = plan
        self.candidates = candidates
        self.level = {vertex: level for level, vertex in enumerate(plan.order)}
        self.tracked = {choice.edge for choice in plan.choices}
        self.adjacencies: dict[tuple[int, int], Adjacency] = {}
        self.keep: list[object] = []
        self.backward: list[tuple[int, ...]] = []
        self.different: list[int] = []
        self.pairs: list[tuple[int, ...]] = []
        self.compare: list[tuple[int, ...]] = []
        self.absent: list[tuple[int, ...]] = []

    def pack(self) -> PackedPlan:
        last = len(self.plan.steps) - 1
        steps = [self._step(level, step, level == last) for level, step in enumerate(self.plan.steps)]
        choices, collides = self._choices()
        return PackedPlan(
            table(steps, packed.STEP_COLUMNS),
            table(self.backward, packed.ADJACENCY_COLUMNS),
            np.array(self.different, np.int64),
            table(self.pairs, 4),
            table(self.compare, 5),
            table(self.absent, packed.ADJACENCY_COLUMNS),
            table(choices, packed.CHOICE_COLUMNS),
            np.array(collides, np.int64),
            tuple(self.keep),
        )

    def _step(self, level: int, step: ExtendStep, last: bool) -> tuple[int, ...]:
        row = [0] * packed.STEP_COLUMNS
        candidate_set = self.candidates.sets[step.vertex]
        self.keep.append(candidate_set)
        rows = [self._edges_from(edge, self.plan.graph.edges[edge].other(step.vertex)) for edge in step.backward]
        row[packed.BACKWARD_BEGIN] = len(self.backward)
        for edge, adjacency in zip(step.backward, rows, strict=True):
            source = self.plan.graph.edges[edge].other(step.vertex)
            self.backward.append(self._adjacency_row(self.level[source], adjacency))
        row[packed.BACKWARD_END] = len(self.backward)
        row[packed.WORDS] = candidate_set.words_address
        if self.plan.space == "candidates":
            row[packed.SIZE] = len(candidate_set.vertices)
            row[packed.VERTICES] = 0 if candidate_set.everything else address(candidate_set.vertices)
            row[packed.RANKS] = 0 if candidate_set.everything else address(candidate_set.ranks)
        else:
            row[packed.SIZE] = candidate_set.universe
        row[packed.DIFFERENT_BEGIN] = len(self.different)
        self.different.extend(self.level[vertex] for vertex in step.different_from)
        row[packed.DIFFERENT_END] = len(self.different)
        row[packed.PAIRS_BEGIN] = len(self.pairs)
        self.pairs.extend(tuple(self.level[vertex] for vertex in pair) for pair in step.different_pairs)
        row[packed.PAIRS_END] = len(self.pairs)
        row[packed.COMPARE_BEGIN] = len(self.compare)
        self.compare.extend(self._comparison(self.plan.comparisons[index]) for index in step.comparisons)
        row[packed.COMPARE_END] = len(self.compare)
        row[packed.ABSENT_BEGIN] = len(self.absent)
        for vertex, direction in step.absent:
            adjacency = self.candidates.snapshot.adjacency(self.candidates.snapshot.schema.types, direction)
            self.absent.append(self._adjacency_row(self.level[vertex], adjacency))
        row[packed.ABSENT_END] = len(self.absent)
        row[packed.SIMPLE] = all(adjacency.simple for adjacency in rows)
        checked = step.different_pairs or step.comparisons or step.absent or self.plan.choices
        row[packed.SET_COUNT] = last and bool(step.backward) and not checked
        return tuple(row)

    def _edges_from(self, edge: int, source: int) -> Adjacency:
        if (edge, source) not in self.adjacencies:
            if self.plan.space == "vertices":
                adjacency = self.candidates.adjacency(edge, source)
            else:
                adjacency = build_candidate_edges(self.candidates, edge, source, edge in self.tracked)
            self.adjacencies[edge, source] = adjacency
            self.keep.append(adjacency)
        return self.adjacencies[edge, source]

    def _adjacency_row(self, level: int, adjacency: Adjacency) -> tuple[int, ...]:
        self.keep.append(adjacency)
        return (level, *rows_of(adjacency), address(adjacency.neighbours))

    def _comparison(self, comparison: Comparison) -> tuple[int, ...]:
        left, right = self._ranks(comparison)
        self.keep.append((left, right))
        return (
            self.level[comparison.left],
            self.level[comparison.right],
            _OPERATORS[comparison.operator],
            address(left),
            address(right),
        )

    def _ranks(self, comparison: Comparison) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        left = self._values(comparison.left, comparison.left_value)
        right = self._values(comparison.right, comparison.right_value)
        ranks = _rank(left, right)
        split = len(left)
        return self._by_position(comparison.left, ranks[:split]), self._by_position(comparison.right, ranks[split:])

    def _values(self, vertex: int, value: Expression) -> pa.Array:
        vertices = self.candidates.sets[vertex].vertices
        return scan.vertex_values(self.candidates.snapshot, value, vertices, self.candidates.parameters)

    def _by_position(self, vertex: int, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        candidate_set = self.candidates.sets[vertex]
        self.candidates.control.memory.reserve(ranks.nbytes, "the values of a comparison")
        if self.plan.space == "candidates" or candidate_set.everything:
            return np.ascontiguousarray(ranks)
        by_vertex = np.full(candidate_set.universe, packed.NULL_RANK, np.int64)
        by_vertex[candidate_set.vertices] = ranks
        return by_vertex

    def _choices(self) -> tuple[list[tuple[int, ...]], list[int]]:
        index_of = {choice.edge: index for index, choice in enumerate(self.plan.choices)}
        bound = {edge for choice in self.plan.choices for edge in (choice.edge, *choice.collides) if choice.collides}
        rows: list[tuple[int, ...]] = []
        collides: list[int] = []
        for choice in self.plan.choices:
            edge = self.plan.graph.edges[choice.edge]
            source, target = sorted((edge.source, edge.target), key=lambda vertex: self.level[vertex])
            adjacency = self._edges_from(choice.edge, source)
            begin = len(collides)
            collides.extend(index_of[other] for other in choice.collides)
            rows.append(
                (
                    self.level[source],
                    self.level[target],
                    *rows_of(adjacency),
                    address(adjacency.neighbours),
                    address(adjacency.edges),
                    begin,
                    len(collides),
                    int(choice.edge not in bound),
                )
            )
        return rows, collides


def pack(plan: MatchPlan, candidates: CpuCandidates) -> PackedPlan:
    """The packed plan; builds the candidate graph when the plan enumerates on it."""
    return _Packer(plan, candidates).pack()


def _rank(left: pa.Array, right: pa.Array) -> NDArray[np.int64]:
    """int64 ranks of both sides together: equal values have equal ranks, order is kept, null is NULL_RANK."""
    joint = common_type([left.type, right.type])
    both = pa.concat_arrays([left.cast(joint), right.cast(joint)])
    if pa.types.is_null(both.type):
        return np.full(len(both), packed.NULL_RANK)
    if pa.types.is_floating(both.type):
        both = pc.if_else(pc.is_nan(both), None, both)
    if pa.types.is_integer(both.type):
        ranks = both.cast(pa.int64())
    else:
        ranks = pc.rank(both, sort_keys="ascending", tiebreaker="dense").cast(pa.int64())
    ranks = pc.if_else(pc.is_valid(both), ranks, packed.NULL_RANK)
    return np.asarray(ranks.to_numpy(zero_copy_only=False), np.int64)

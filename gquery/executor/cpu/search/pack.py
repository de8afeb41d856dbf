"""From a match plan and candidate sets to the packed plan of the CPU."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.candidate_graph import build_candidate_edges
from gquery.executor.cpu.candidates.row_bitmaps import Bitsets, Columns
from gquery.executor.cpu.candidates.sets import CandidateSet, CpuCandidates, rows_of
from gquery.executor.cpu.kernels.blocks import Blocks
from gquery.executor.cpu.kernels.sum_branch import NO_FACTORS, Branch, Factors, Fold
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import packed
from gquery.executor.cpu.search.link import chain, link
from gquery.executor.cpu.search.packed import PackedPlan, joined
from gquery.executor.lowering.exact import SAFE
from gquery.executor.lowering.ranks import comparison_ranks
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan
from gquery.planner.ir.problem import Comparison, EdgeChoice
from gquery.storage.adjacency import Adjacency

_OPERATORS = {"=": packed.EQUAL, "<>": packed.NOT_EQUAL, "<": packed.LESS, "<=": packed.LESS_EQUAL}
_CAPS = {None: packed.PLAIN, "optional": packed.OPTIONAL, "exists": packed.EXISTS, "absent": packed.NONE}

_MEMORY = 1 << 28  # bytes for remembered sums of all workers, when no limit is set
_SMALLEST_MEMORY = 64  # slots
_ROOM, _SMALLEST_ROOM = 1 << 10, 1 << 6  # partial matches in a block: those of a few levels stay in the caches
_MOST = 0.9  # of all vertices: cutting rows to so many does not pay


class _Packer:
    def __init__(self, plan: MatchPlan, candidates: CpuCandidates, threads: int) -> None:
        self.plan = plan
        self.candidates = candidates
        self.threads = threads
        self.level = {vertex: level for level, vertex in enumerate(plan.order)}
        self.tracked = {choice.edge for choice in plan.choices}
        self.adjacencies: dict[tuple[int, int], Adjacency] = {}
        self.keep: list[object] = []
        self.backward: list[tuple[int, ...]] = []
        self.different: list[int] = []
        self.smaller: list[int] = []
        self.pairs: list[tuple[int, ...]] = []
        self.compare: list[tuple[int, ...]] = []
        self.absent: list[tuple[int, ...]] = []
        self.context: list[tuple[int, ...]] = []
        self.bitsets = Bitsets(candidates.control.memory, threads, candidates.sliced)
        self.slots = 0
        self.factors: dict[int, Factors] = {}  # by level
        self.bounded = False  # whether no sum can be too large for 64 bits

    def pack(self) -> PackedPlan:
        choices, collides, weights, listed = self._choices()
        folded = len(self.plan.steps) > 1 and all(step.folded for step in self.plan.steps[1:])
        folded = folded and 0 not in weights and self.plan.kept == 0
        self.bounded = folded and self._bound() < SAFE
        folds = self._folds()
        steps = [self._step(level, step, weights.get(level, (0, 0))) for level, step in enumerate(self.plan.steps)]
        link(steps, self.plan)
        is_chain = chain(steps, self.plan)
        listing = self.plan.kept > 1
        # Two groups have a block each for the level between them.
        room = self._room(len(steps) + len(self.plan.groups)) if is_chain or listing else 0
        self.candidates.control.memory.reserve(
            self.threads * (24 * self.slots + 8 * self.bitsets.marks), "remembered sums"
        )
        return PackedPlan(
            joined(
                [
                    steps,
                    self.backward,
                    self.different,
                    self.smaller,
                    self.pairs,
                    self.compare,
                    self.absent,
                    self.context,
                    choices,
                    collides,
                ]
            ),
            len(steps),
            len(self.backward),
            len(choices),
            self.plan.kept,
            listed,
            self.slots,
            self.bitsets.marks,
            self.bitsets.rows,
            folds,
            folded,
            room,
            is_chain and room >= _SMALLEST_ROOM,
            (*self.keep, *self.bitsets.matrices.values()),
        )

    def _room(self, width: int) -> int:
        """Partial matches in a block, as many as there is space for."""
        row = self.threads * Blocks.bytes_of(width)
        available = self.candidates.control.memory.available
        room = _ROOM if available is None else max(1, min(_ROOM, available // 8 // row))
        self.candidates.control.memory.reserve(room * row, "blocks of partial matches")
        return room

    def _step(self, level: int, step: ExtendStep, weights: tuple[int, int]) -> list[int]:
        row = [0] * packed.STEP_COLUMNS
        if step.folded:
            return row
        candidate_set = self.candidates.sets[step.vertex]
        self.keep.append(candidate_set)
        rows = [self._edges_from(edge, self.plan.graph.edges[edge].other(step.vertex)) for edge in step.backward]
        if self.plan.space == "candidates":
            row[packed.SIZE] = len(candidate_set.vertices)
            row[packed.WORDS] = candidate_set.words_address
            row[packed.VERTICES] = 0 if candidate_set.everything else address(candidate_set.vertices)
            row[packed.RANKS] = 0 if candidate_set.everything else address(candidate_set.ranks)
        else:
            row[packed.SIZE] = candidate_set.universe
            sources = ((edge, self.plan.graph.edges[edge].other(step.vertex)) for edge in step.backward)
            implied = any(self.candidates.implies(edge, source, candidate_set) for edge, source in sources)
            if level > 0 and not implied and not (step.backward and self._cut(row, candidate_set)):
                row[packed.WORDS] = candidate_set.words_address
        missed = self._absent(row, step, rows)
        row[packed.BACKWARD_BEGIN] = len(self.backward)
        self._backward(row, step, rows)
        row[packed.BACKWARD_END] = len(self.backward)
        row[packed.DIFFERENT_BEGIN] = len(self.different)
        self.different.extend(self.level[vertex] for vertex in step.different_from)
        row[packed.DIFFERENT_END] = len(self.different)
        row[packed.SMALLER_BEGIN] = len(self.smaller)
        self.smaller.extend(self.level[vertex] for vertex in step.above)
        row[packed.SMALLER_END] = len(self.smaller)
        row[packed.PAIRS_BEGIN] = len(self.pairs)
        self.pairs.extend(tuple(self.level[vertex] for vertex in pair) for pair in step.different_pairs)
        row[packed.PAIRS_END] = len(self.pairs)
        row[packed.COMPARE_BEGIN] = len(self.compare)
        self.compare.extend(self._comparison(self.plan.comparisons[index]) for index in step.comparisons)
        row[packed.COMPARE_END] = len(self.compare)
        row[packed.WEIGHTS_BEGIN], row[packed.WEIGHTS_END] = weights
        row[packed.SIMPLE] = all(adjacency.simple for adjacency in rows)
        factors = self.factors.get(level)
        if factors:
            row[packed.FACTORS], row[packed.FACTOR_SIZES] = address(factors.sums), address(factors.sizes)
            row[packed.FACTOR_BASE] = factors.base
        rare = bool(step.different_pairs or step.comparisons or step.absent)
        row[packed.TESTED] = 2 if rare else int(bool(step.different_from))
        branches = any(other.parent == level and other is not step for other in self.plan.steps)
        leaf = level >= self.plan.kept and not branches
        if leaf and step.backward and weights[0] == weights[1] and not (step.different_pairs or step.comparisons):
            self._set_size(row, step, all(adjacency.simple for adjacency in missed))
        row[packed.CAP] = _CAPS[step.cap]
        self._remember(row, step)
        return row

    def _backward(self, row: list[int], step: ExtendStep, rows: list[Adjacency]) -> None:
        """The rows that are intersected. That of the deepest level is another one every time: it is walked."""
        among = self._range(row, step)
        looks = self._looks(step, rows)
        universe = self._universe(step.vertex)
        levels = [self.level[self.plan.graph.edges[edge].other(step.vertex)] for edge in step.backward]
        found = {}
        for index in sorted(range(len(levels)), key=lambda each: levels[each]):
            if levels[index] < max(levels):
                found[index] = self.bitsets.looked_into(rows[index], *among, universe, looks)
            else:
                found[index] = self.bitsets.walked(rows[index], *among)
        self.backward.extend(self._adjacency_row(levels[index], rows[index], found[index]) for index in sorted(found))

    def _looks(self, step: ExtendStep, rows: list[Adjacency]) -> float:
        """About how often a row of a level is looked into while another is walked."""
        walked = min((len(adjacency.neighbours) / max(1, adjacency.rows) for adjacency in rows), default=0.0)
        return self.plan.steps[step.parent].rows * max(1.0, walked)

    def _absent(self, row: list[int], step: ExtendStep, rows: list[Adjacency]) -> list[Adjacency]:
        """The rows that must be missed; they are looked up by vertex, in either space."""
        universe = self.candidates.snapshot.vertex_count
        among = self._range(row, step) if self.plan.space == "vertices" else (0, universe)
        missed = [self.candidates.raw(types, direction) for _, direction, types in step.absent]
        row[packed.ABSENT_BEGIN] = len(self.absent)
        for (vertex, *_), adjacency in zip(step.absent, missed, strict=True):
            bitsets = self.bitsets.looked_into(adjacency, *among, universe, self._looks(step, rows))
            self.absent.append(self._adjacency_row(self.level[vertex], adjacency, bitsets))
        row[packed.ABSENT_END] = len(self.absent)
        return missed

    def _cut(self, row: list[int], candidate_set: CandidateSet) -> bool:
        """Cuts the rows of a level to the range that its candidates lie in: those of one label are side by side.
        Returns whether there are no other vertices in that range."""
        size = len(candidate_set.vertices)
        if size == 0:
            return False
        begin, end = int(candidate_set.vertices[0]), int(candidate_set.vertices[-1]) + 1
        if size == end - begin or end - begin <= _MOST * candidate_set.universe:
            row[packed.CUT_BEGIN], row[packed.CUT_END] = begin, end
        return size == end - begin

    def _set_size(self, row: list[int], step: ExtendStep, simple: bool) -> None:
        """Lets the size of a leaf be that of a set, if its tests allow that. simple: no row that it must miss repeats a
        neighbour, which would be taken away once for each repetition."""
        rows = row[packed.BACKWARD_END] - row[packed.BACKWARD_BEGIN]
        countable = self.plan.space == "vertices" and rows + len(step.absent) <= 2 and row[packed.SIMPLE] and simple
        if step.absent and not countable:
            return
        row[packed.SET_COUNT] = 1
        masked = row[packed.CUT_END] > 0 or (row[packed.VERTICES] == 0 and row[packed.WORDS] != 0)
        if rows == 1 and not step.absent and row[packed.SIMPLE] and not (masked or step.different_from or step.above):
            row[packed.LENGTH] = 1

    def _folds(self) -> tuple[Fold, ...]:
        """A fold for each vertex with folded branches, the deepest first: they are needed above."""
        folds = []
        for level in range(len(self.plan.steps) - 1, -1, -1):
            branches = [step for step in self.plan.steps[1:] if step.folded and step.parent == level]
            if branches:
                candidate_set = self.candidates.sets[self.plan.steps[level].vertex]
                positions = candidate_set.vertices
                if self.plan.space == "candidates":
                    positions = np.arange(len(positions), dtype=np.int32)
                self.factors[level] = self._new_factors(self.plan.steps[level].vertex, positions)
                folds.append(Fold(positions, self.factors[level], tuple(self._branch(step) for step in branches)))
        return tuple(folds)

    def _bound(self) -> float:
        """More than the matches of a plan of which everything is folded, by the largest degrees."""
        sums = [1.0] * len(self.plan.steps)
        for level in range(len(self.plan.steps) - 1, 0, -1):
            step = self.plan.steps[level]
            parent = self.plan.steps[step.parent].vertex
            sums[step.parent] *= max(1, self.candidates.largest_row(step.backward[0], parent)) * sums[level]
        return sums[0] * len(self.candidates.sets[self.plan.order[0]].vertices)

    def _branch(self, step: ExtendStep) -> Branch:
        (edge,) = step.backward
        parent = self.plan.steps[step.parent].vertex
        child_set = self.candidates.sets[step.vertex]
        self.keep.append(child_set)
        words = self.candidates.mask(edge, parent, child_set) if self.plan.space == "vertices" else 0
        child = self.factors.get(self.level[step.vertex], NO_FACTORS)
        return Branch(self._edges_from(edge, parent), words, child, _CAPS[step.cap])

    def _new_factors(self, vertex: int, positions: NDArray[np.int32]) -> Factors:
        base, size = 0, 0
        if len(positions):
            base = int(positions[0])
            size = int(positions[-1]) - base + 1
        self.candidates.control.memory.reserve(
            (8 if self.bounded else 16) * size, f"the sums at {self.plan.graph.vertices[vertex].described}"
        )
        return Factors(base, np.zeros(size, np.uint64), np.zeros(0 if self.bounded else size, np.float64))

    def _remember(self, row: list[int], step: ExtendStep) -> None:
        """Gives a level its part of the memory of sums: room for all its contexts, or for as many as there is space."""
        if not step.contexts:
            return
        sizes = [self._universe(vertex) for vertex in step.context]
        keys = math.prod(sizes)
        if keys >= 2**62:
            return
        available = self.candidates.control.memory.available
        budget = _MEMORY if available is None else min(_MEMORY, available // 4)
        most = budget // (24 * self.threads * len(self.plan.steps))
        if most < _SMALLEST_MEMORY:
            return
        wanted = 1 << max(4, math.ceil(math.log2(2 * step.contexts + 1)))
        slots = min(wanted, 1 << (most.bit_length() - 1))
        row[packed.DIRECT] = int(keys <= max(slots, min(most, 4 * wanted)))
        if row[packed.DIRECT]:
            slots = keys
        row[packed.SLOTS_BEGIN], row[packed.SLOTS] = self.slots, slots
        self.slots += slots
        row[packed.CONTEXT_BEGIN] = len(self.context)
        factor = 1
        for vertex, size in zip(step.context, sizes, strict=True):
            self.context.append((self.level[vertex], factor))
            factor *= size
        row[packed.CONTEXT_END] = len(self.context)

    def _universe(self, vertex: int) -> int:
        """Number of positions of a query vertex."""
        candidate_set = self.candidates.sets[vertex]
        return len(candidate_set.vertices) if self.plan.space == "candidates" else candidate_set.universe

    def _edges_from(self, edge: int, source: int) -> Adjacency:
        if (edge, source) not in self.adjacencies:
            if self.plan.space == "vertices":
                adjacency = self.candidates.adjacency(edge, source)
            else:
                adjacency = build_candidate_edges(self.candidates, edge, source, edge in self.tracked)
            self.adjacencies[edge, source] = adjacency
            self.keep.append(adjacency)
        return self.adjacencies[edge, source]

    def _adjacency_row(self, level: int, adjacency: Adjacency, bitsets: Columns) -> tuple[int, ...]:
        self.keep.append(adjacency)
        return (level, *rows_of(adjacency), address(adjacency.neighbours), *bitsets)

    def _range(self, row: list[int], step: ExtendStep) -> tuple[int, int]:
        """The positions that are looked for in the rows of a level lie in [begin, end)."""
        if row[packed.CUT_END]:
            return row[packed.CUT_BEGIN], row[packed.CUT_END]
        if self.plan.space == "candidates" or not step.backward:
            return 0, self._universe(step.vertex)
        sources = ((edge, self.plan.graph.edges[edge].other(step.vertex)) for edge in step.backward)
        ranges = [self.candidates.reach(edge, source) for edge, source in sources]
        return min(begin for begin, _ in ranges), max(end for _, end in ranges)

    def _comparison(self, comparison: Comparison) -> tuple[int, ...]:
        left, right = comparison_ranks(comparison, self.candidates, self.plan.space)
        self.keep.append((left, right))
        return (
            self.level[comparison.left],
            self.level[comparison.right],
            _OPERATORS[comparison.operator],
            address(left),
            address(right),
        )

    def _choices(self) -> tuple[list[tuple[int, ...]], list[int], dict[int, tuple[int, int]], int]:
        """The choices, weights first by the level where they are known; what they collide with; the rows of each
        level; the number of weights."""
        weighed = sorted((c for c in self.plan.choices if not c.listed), key=self._known_at)
        placed = weighed + [choice for choice in self.plan.choices if choice.listed]
        index_of = {choice.edge: index for index, choice in enumerate(placed)}
        weights: dict[int, tuple[int, int]] = {}
        rows: list[tuple[int, ...]] = []
        collides: list[int] = []
        for index, choice in enumerate(placed):
            edge = self.plan.graph.edges[choice.edge]
            source, target = sorted((edge.source, edge.target), key=lambda vertex: self.level[vertex])
            adjacency = self._edges_from(choice.edge, source)
            begin = len(collides)
            collides.extend(index_of[other] for other in choice.collides if index_of[other] < index)
            rows.append(
                (
                    self.level[source],
                    self.level[target],
                    *rows_of(adjacency),
                    address(adjacency.neighbours),
                    address(adjacency.edges),
                    begin,
                    len(collides),
                    int(not choice.collides),
                    int(self._in_clique(choice)),
                )
            )
            if not choice.listed:
                level = self._known_at(choice)
                weights[level] = (weights.get(level, (index, index))[0], index + 1)
        return rows, collides, weights, len(weighed)

    def _in_clique(self, choice: EdgeChoice) -> bool:
        """Whether the choices that it collides with collide with each other, and with no others."""
        together = {choice.edge, *choice.collides}
        return all(together == {other.edge, *other.collides} for other in self.plan.choices if other.edge in together)

    def _known_at(self, choice: EdgeChoice) -> int:
        """The level at which all the edges are matched that the choice may collide with, directly or through others."""
        return max(self.level[vertex] for vertex in choice.vertices)


def pack(plan: MatchPlan, candidates: CpuCandidates, threads: int) -> PackedPlan:
    """The packed plan; builds the candidate graph when the plan enumerates on it."""
    return _Packer(plan, candidates, threads).pack()

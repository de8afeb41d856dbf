"""The CPU backend."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError
from gquery.executor.backend import Matches
from gquery.executor.cpu.candidates.candidate_graph import refine
from gquery.executor.cpu.candidates.sets import CpuCandidates
from gquery.executor.cpu.kernels import edge_choices as kernel
from gquery.executor.cpu.kernels import sum_branch as fold
from gquery.executor.cpu.kernels.workspace import SCRATCH_ROWS
from gquery.executor.cpu.machine.compile import stoppable, stoppable_steps
from gquery.executor.cpu.machine.heap import keep_freed_memory
from gquery.executor.cpu.search.frames import Memory, PartialMatches, Stage
from gquery.executor.cpu.search.pack import pack
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.cpu.search.workers import Enumeration
from gquery.executor.lowering.exact import SAFE, exact_sum
from gquery.executor.lowering.seeds import Seeds
from gquery.executor.memory import DEFAULT_BUFFERS
from gquery.executor.profile import Profile
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.ir.query_graph import QueryGraph
from gquery.storage.graph import Snapshot

_LARGEST_BUFFER = 1 << 15  # partial matches: stays in the second-level cache, and is a good Arrow batch
_SMALLEST_BUFFER = 1 << 8
_LASTING = 200_000.0  # estimated looks at neighbours: a few milliseconds

keep_freed_memory()


class CpuBackend:
    """Numba kernels on all cores."""

    name = "cpu"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def filter(
        self,
        graph: QueryGraph,
        plan: tuple[Filter, ...],
        snapshot: Snapshot,
        parameters: Mapping[str, object],
        control: Control,
        seeds: Seeds | None = None,
    ) -> CpuCandidates:
        candidates = CpuCandidates(graph, snapshot, parameters, control, self.threads, seeds)
        with stoppable(control.check):
            candidates.apply(plan)
        return candidates

    def refine(self, candidates: CpuCandidates) -> None:
        with stoppable(candidates.control.check):
            refine(candidates)

    def count(self, plan: MatchPlan, candidates: CpuCandidates, profile: Profile) -> int:
        """The matches of one plan, times what each of them counts."""
        with stoppable(candidates.control.check), candidates.solving():
            return self._count(plan, candidates, profile)

    def matches(self, plan: MatchPlan, candidates: CpuCandidates, profile: Profile) -> Iterator[Matches]:
        return stoppable_steps(candidates.control.check, self._matches(plan, candidates, profile))

    def _count(self, plan: MatchPlan, candidates: CpuCandidates, profile: Profile) -> int:
        with profile.timed("pack"):
            candidates = candidates.of(plan.problem)
            packed = pack(plan, candidates, self.threads)
            search = self._search(plan, packed, candidates)

        def total(modulus: int) -> tuple[int, float]:
            if packed.folds:
                fold.run(packed.folds, modulus, candidates.sliced)
            if packed.is_folded:
                if modulus == 0:
                    profile.enumerations.append(None)
                return fold.total(packed.folds[-1], modulus)
            enumeration = search(modulus)
            if modulus == 0:
                profile.enumerations.append(enumeration)
            return enumeration.total()

        with profile.timed("search"):
            return plan.problem.coefficient * plan.factor * exact_sum(total)

    def _matches(self, plan: MatchPlan, candidates: CpuCandidates, profile: Profile) -> Generator[Matches, None, None]:
        packed = pack(plan, candidates, self.threads)
        fold.run(packed.folds, 0, candidates.sliced)
        enumeration = self._search(plan, packed, candidates)(0)
        profile.enumerations.append(enumeration)
        left = plan.limit
        for partial in enumeration.batches():
            batches = _expand(plan, packed, partial, candidates)
            for batch in itertools.chain.from_iterable(_turned(plan, batch) for batch in batches):
                if left is not None and batch.count >= left:
                    yield batch.first(left)
                    return
                yield batch
                left = None if left is None else left - batch.count

    def _search(self, plan: MatchPlan, packed: PackedPlan, candidates: CpuCandidates) -> Callable[[int], Enumeration]:
        """What makes a run of the packed plan with a modulus."""
        stages, capacity = self._stages(plan, packed, candidates.control)
        roots = _roots(plan, candidates)
        lasting = plan.limit is None and plan.cost > _LASTING
        memory = Memory(packed)

        def search(modulus: int) -> Enumeration:
            memory.forget()
            threads, control = self.threads, candidates.control
            return Enumeration(packed, stages, roots, capacity, threads, control, memory, modulus, lasting)

        return search

    def _stages(self, plan: MatchPlan, packed: PackedPlan, control: Control) -> tuple[tuple[Stage, ...], int]:
        """Vertex groups as stages, and the buffers' capacity: as large as the budget allows. When even the smallest
        buffers do not fit between all groups, the groups are combined into one (EGSM section 5.3)."""
        listed = max(1, plan.kept)
        available = control.memory.available
        budget = DEFAULT_BUFFERS if available is None else available // 2
        for groups in (plan.groups, (listed,)):
            bounds = [1, *(bound for bound in np.cumsum(groups).tolist() if 1 < bound <= listed)]
            # Besides the frame's own output, a worker may hold the copy that the next group reads, and its sums.
            row = 4 * 2 * self.threads * sum(bounds) + 16 * self.threads
            capacity = min(_LARGEST_BUFFER, budget // row)
            if capacity >= _SMALLEST_BUFFER or len(bounds) == 2:
                break
        capacity = max(capacity, min(_SMALLEST_BUFFER, budget // row), 1)
        if plan.limit is not None:
            capacity = min(capacity, max(plan.limit, _SMALLEST_BUFFER))
        control.memory.reserve(min(capacity * row, budget), "the partial matches")
        stages = [Stage(start, stop, False) for start, stop in itertools.pairwise(bounds)]
        if plan.kept < packed.width or packed.listed:
            stages.append(Stage(listed, packed.width, True))
        return tuple(stages), capacity


def _roots(plan: MatchPlan, candidates: CpuCandidates) -> NDArray[np.int32]:
    first = candidates.sets[plan.order[0]]
    if plan.space == "vertices":
        return first.vertices
    return np.arange(len(first.vertices), dtype=np.int32)


def _expand(
    plan: MatchPlan, packed: PackedPlan, partial: PartialMatches, candidates: CpuCandidates
) -> Iterator[Matches]:
    """Positions become vertices, and every embedding becomes its rows: as many as there are ways to finish it, and one
    for each choice of data edges that the answer tells apart."""
    for repeated in [partial] if plan.weighted else _repeated(partial):
        vertices = {}
        for level, vertex in enumerate(plan.order[: plan.kept]):
            positions = repeated.positions[level]
            vertices[vertex] = positions if plan.space == "vertices" else candidates.sets[vertex].vertices[positions]
        if packed.listed == packed.choices:
            yield Matches(repeated.count, vertices, {}, _weights(plan, repeated))
        else:
            yield from _with_edges(plan, packed, repeated, vertices, candidates.control)


def _turned(plan: MatchPlan, batch: Matches) -> Iterator[Matches]:
    """The matches that those of the batch stand for: the same columns under other vertices. Small ones are joined."""
    if len(plan.permutations) <= 1 or batch.count == 0:
        yield batch
        return
    together = max(1, _LARGEST_BUFFER // batch.count)
    for begin in range(0, len(plan.permutations), together):
        turns = plan.permutations[begin : begin + together]
        vertices = {}
        for vertex in batch.vertices:
            columns = [batch.vertices[turn[vertex]] for turn in turns]
            vertices[vertex] = columns[0] if len(turns) == 1 else np.concatenate(columns)
        weights = batch.weights if batch.weights is None else np.tile(batch.weights, len(turns))
        yield Matches(batch.count * len(turns), vertices, {}, weights)


def _weights(plan: MatchPlan, partial: PartialMatches) -> NDArray[np.int64] | None:
    if not plan.weighted:
        return None
    if partial.sums is None or partial.sizes is None:
        return np.ones(partial.count, np.int64)
    if np.any(partial.sizes >= SAFE):
        raise ExecutionError("a group has more than 2^62 matches", hint="count(*) without groups is exact at any size")
    return partial.sums.astype(np.int64)


def _repeated(partial: PartialMatches) -> Iterator[PartialMatches]:
    """Each row as often as there are ways to finish it, in pieces."""
    if partial.sums is None or not np.any(partial.sums > 1):
        yield partial
        return
    ends = np.cumsum(partial.sums.astype(np.float64))
    begin, total = 0, int(partial.sums.sum())
    while begin < total:
        end = min(begin + _LARGEST_BUFFER, total)
        rows = np.searchsorted(ends, np.arange(begin, end), side="right")
        yield PartialMatches(partial.positions[:, rows], end - begin)
        begin = end


def _with_edges(
    plan: MatchPlan,
    packed: PackedPlan,
    partial: PartialMatches,
    vertices: dict[int, NDArray[np.int32]],
    control: Control,
) -> Iterator[Matches]:
    listed = [choice.edge for choice in plan.choices if choice.listed]
    weights = _weights(plan, partial)
    capacity = max(_SMALLEST_BUFFER, partial.count)
    state = np.array([0, -1, 0], np.int64)
    scratch = np.zeros((SCRATCH_ROWS, packed.choices), np.int64)
    while state[kernel.INPUT_ROW] < partial.count or state[kernel.DEPTH] >= packed.listed:
        control.check()
        rows = np.empty(capacity, np.int64)
        edges = np.empty((len(listed), capacity), np.int64)
        kernel.expand(
            packed.tables,
            packed.listed,
            partial.positions,
            partial.count,
            rows,
            edges,
            state,
            scratch,
        )
        made = int(state[kernel.MADE])
        if made:
            yield Matches(
                made,
                {vertex: column[rows[:made]] for vertex, column in vertices.items()},
                {edge: edges[index, :made] for index, edge in enumerate(listed)},
                None if weights is None else weights[rows[:made]],
            )

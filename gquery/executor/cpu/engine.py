"""The CPU backend."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Matches
from gquery.executor.cpu import choices as kernel
from gquery.executor.cpu.candidate_graph import refine
from gquery.executor.cpu.candidates import CpuCandidates
from gquery.executor.cpu.frames import PartialMatches, Stage
from gquery.executor.cpu.pack import pack
from gquery.executor.cpu.workers import Enumeration
from gquery.executor.memory import DEFAULT_BUFFERS
from gquery.executor.packed import PackedPlan
from gquery.executor.profile import Profile
from gquery.executor.progress import Control
from gquery.planner.physical import Filter, MatchPlan
from gquery.planner.query_graph import QueryGraph
from gquery.storage.graph import Snapshot

_LARGEST_BUFFER = 1 << 15  # partial matches: stays in the second-level cache, and is a good Arrow batch
_SMALLEST_BUFFER = 1 << 8


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
    ) -> CpuCandidates:
        candidates = CpuCandidates(graph, snapshot, parameters, control, self.threads)
        candidates.apply(plan)
        return candidates

    def refine(self, candidates: CpuCandidates) -> None:
        refine(candidates)

    def count(self, plan: MatchPlan, candidates: CpuCandidates, profile: Profile) -> int:
        if len(plan.steps) == 1:  # no group to search: the start pool, over parallel loops, is the answer
            return sum(batch.count for batch in self.matches(plan, candidates, profile))
        return self._enumeration(plan, pack(plan, candidates), candidates, profile).count()

    def matches(self, plan: MatchPlan, candidates: CpuCandidates, profile: Profile) -> Iterator[Matches]:
        packed = pack(plan, candidates)
        enumeration = self._enumeration(plan, packed, candidates, profile)
        left = plan.limit
        for partial in enumeration.batches():
            for batch in _expand(plan, packed, partial, candidates):
                if left is not None and batch.count >= left:
                    yield batch.first(left)
                    return
                yield batch
                left = None if left is None else left - batch.count

    def _enumeration(
        self, plan: MatchPlan, packed: PackedPlan, candidates: CpuCandidates, profile: Profile
    ) -> Enumeration:
        stages, capacity = self._stages(plan, candidates.control)
        roots = _roots(plan, candidates)
        enumeration = Enumeration(packed, stages, roots, capacity, self.threads, candidates.control)
        profile.enumeration = enumeration
        return enumeration

    def _stages(self, plan: MatchPlan, control: Control) -> tuple[tuple[Stage, ...], int]:
        """Vertex groups as stages, and the buffers' capacity: as large as the budget allows. When even the smallest
        buffers do not fit between all groups, the groups are combined into one (EGSM section 5.3)."""
        width = len(plan.steps)
        available = control.memory.available
        budget = DEFAULT_BUFFERS if available is None else available // 2
        for groups in (plan.groups, (width,)):
            bounds = [1, *(bound for bound in np.cumsum(groups).tolist() if bound > 1)]
            # Besides the frame's own output, a worker may hold the copy that the next group reads.
            row = 4 * 2 * self.threads * sum(bounds[1:])
            capacity = min(_LARGEST_BUFFER, budget // max(1, row))
            if capacity >= _SMALLEST_BUFFER or len(bounds) == 2:
                break
        capacity = max(capacity, min(_SMALLEST_BUFFER, budget // max(1, row)), 1)
        if plan.limit is not None:
            capacity = min(capacity, max(plan.limit, _SMALLEST_BUFFER))
        control.memory.reserve(min(capacity * row, budget), "the partial matches")
        last = len(bounds) - 1
        stages = tuple(
            Stage(start, stop, plan.counting and index == last - 1)
            for index, (start, stop) in enumerate(itertools.pairwise(bounds))
        )
        return stages, capacity


def _roots(plan: MatchPlan, candidates: CpuCandidates) -> NDArray[np.int32]:
    first = candidates.sets[plan.order[0]]
    if plan.space == "vertices":
        return first.vertices
    return np.arange(len(first.vertices), dtype=np.int32)


def _expand(
    plan: MatchPlan, packed: PackedPlan, partial: PartialMatches, candidates: CpuCandidates
) -> Iterator[Matches]:
    """Positions become vertices, and every embedding becomes its rows over parallel edges."""
    vertices = {}
    for level, vertex in enumerate(plan.order):
        positions = partial.positions[level]
        vertices[vertex] = positions if plan.space == "vertices" else candidates.sets[vertex].vertices[positions]
    if not plan.choices:
        yield Matches(partial.count, vertices, {})
        return
    capacity = max(_SMALLEST_BUFFER, partial.count)
    state = np.array([0, -1, 0], np.int64)
    scratch = np.zeros((4, len(plan.choices)), np.int64)
    while state[kernel.INPUT_ROW] < partial.count or state[kernel.DEPTH] >= 0:
        candidates.control.check()
        rows = np.empty(capacity, np.int64)
        edges = np.empty((len(plan.choices), capacity), np.int64)
        kernel.expand(packed.choices, packed.collides, partial.positions, partial.count, rows, edges, state, scratch)
        made = int(state[kernel.MADE])
        if made:
            yield Matches(
                made,
                {vertex: column[rows[:made]] for vertex, column in vertices.items()},
                {choice.edge: edges[index, :made] for index, choice in enumerate(plan.choices)},
            )

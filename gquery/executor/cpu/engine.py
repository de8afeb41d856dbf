"""The CPU backend: Numba kernels on all cores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome, Masks, Ranks
from gquery.executor.cpu.candidates.candidate_graph import refine
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.machine.heap import keep_freed_memory
from gquery.executor.cpu.search.packed_again import PackedPlans
from gquery.executor.cpu.search.packed_once import PackedOnce
from gquery.executor.cpu.search.run import CpuSlices
from gquery.executor.cpu.search.sampling import CpuSampler
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.pushed import searched
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.query_graph import QueryGraph
from gquery.stopping import stoppable
from gquery.storage.graph import Snapshot

keep_freed_memory()


class CpuBackend:
    """Runs every program, on so many threads."""

    name = "cpu"
    lacks: frozenset[str] = frozenset()
    gathers: Literal["stored"] = "stored"

    def __init__(self, threads: int) -> None:
        self.workers = threads

    def upload(self, snapshot: Snapshot) -> CpuGraph:
        """Nothing is copied: kernels read the snapshot's arrays."""
        return CpuGraph(snapshot, self.workers)


class CpuGraph:
    """A snapshot, read where it is."""

    def __init__(self, snapshot: Snapshot, threads: int) -> None:
        self.snapshot = snapshot
        self.threads = threads

    def filter(
        self,
        graph: QueryGraph,
        filters: tuple[Filter, ...],
        masks: Masks,
        control: Control,
    ) -> CpuCandidates:
        sets = CandidateSets(graph, self.snapshot, masks, control, self.threads)
        with stoppable(control.check):
            sets.apply(filters)
        return CpuCandidates(sets)


class CpuCandidates:
    """The candidate sets of one run, and what starts from them. plans: of others, where they were made of these."""

    def __init__(self, sets: CandidateSets, plans: PackedPlans | PackedOnce | None = None) -> None:
        self.sets = sets
        self._plans = PackedOnce() if plans is None else plans

    @property
    def outcomes(self) -> Sequence[FilterOutcome]:
        return self.sets.outcomes

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(each.vertices) for each in self.sets.sets)

    @property
    def edge_counts(self) -> Mapping[int, int]:
        return self.sets.edge_counts

    @property
    def nbytes(self) -> int:
        return self.sets.nbytes - self._plans.to_come

    def refine(self) -> None:
        with stoppable(self.sets.control.check):
            refine(self.sets)

    @property
    def sampler(self) -> CpuSampler | None:
        """None where a limit leaves little for candidate edges that only planning looks at."""
        entries = 2 * (sum(self.sizes) + sum(self.edge_counts.values()))
        available = self.sets.control.memory.available
        return CpuSampler(self.sets) if available is None or 8 * entries < available // 4 else None

    def vertices(self, merged: tuple[int, ...]) -> NDArray[np.int32]:
        return self.sets.common(merged).vertices

    def start(self, program: Program, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None = None) -> CpuSlices:
        with stoppable(self.sets.control.check):
            if pool is not None and len(pool) > 1 and program.strategy == "push":
                program = searched(program)  # both ends are given
            sets, packed = self._plans.pack(program, self.sets, ranks, pool is not None)
            return CpuSlices(program, sets, packed, pool)

    def mover(self) -> Callable[[Snapshot, Control], CpuCandidates]:
        sets, plans = self.sets.mover(), PackedPlans()
        return lambda snapshot, control: CpuCandidates(sets(snapshot, control), plans)

    def repeated(self) -> tuple[Callable[[Snapshot, Control], CpuCandidates], int]:
        sets, plans = self.sets.repeated(), self._plans
        assert isinstance(plans, PackedOnce)  # others are of candidates that were moved here
        nbytes = self.sets.resting + plans.nbytes
        return lambda snapshot, control: CpuCandidates(sets(snapshot, control), plans.once_more()), nbytes

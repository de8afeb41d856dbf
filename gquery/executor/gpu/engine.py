"""The GPU backend: CUDA kernels through CuPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import FilterOutcome, Masks, Ranks, Slices
from gquery.executor.gpu.adaptive import AdaptiveSlices
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.device import Device
from gquery.executor.gpu.resident import QueryRows, ResidentGraph
from gquery.executor.gpu.search import GpuSlices
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.pushed import searched
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.query_graph import QueryGraph
from gquery.storage.graph import Snapshot


class _Residents:
    """The graphs on devices, those that were asked for longest ago first."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Snapshot, dict[Device, ResidentGraph]] = WeakKeyDictionary()
        self._lock = Lock()

    def __contains__(self, snapshot: Snapshot) -> bool:
        return bool(self._known.get(snapshot))

    def of(self, snapshot: Snapshot, device: Device) -> ResidentGraph:
        with self._lock:
            known = self._known.pop(snapshot, {})
            self._known[snapshot] = known  # the last one now
            if device not in known:
                known[device] = ResidentGraph(device, self._make_room)
            return known[device]

    def _make_room(self, graph: ResidentGraph, size: int) -> None:
        """Forgets other graphs until so many bytes of the device are free. Queries that go on keep what they have."""
        with self._lock:
            for known in list(self._known.values()):
                if graph.device.free_bytes() >= size:
                    return
                if known.get(graph.device) is not graph:
                    known.pop(graph.device, None)


_residents = _Residents()


def is_resident(snapshot: Snapshot) -> bool:
    """Whether a query on the snapshot has been on a device before, and the graph is still there."""
    return snapshot in _residents


class GpuBackend:
    """Runs programs on one device."""

    name = "gpu"
    lacks: frozenset[str] = frozenset()
    gathers: Literal["any"] = "any"
    workers = 1

    def __init__(self, device: Device) -> None:
        self.device = device

    def upload(self, snapshot: Snapshot) -> GpuGraph:
        """Adjacencies are copied when a query asks for them, once, and stay until others need their room."""
        return GpuGraph(_residents.of(snapshot, self.device), snapshot)


class GpuGraph:
    """A snapshot on the device."""

    def __init__(self, resident: ResidentGraph, snapshot: Snapshot) -> None:
        self.resident = resident
        self.snapshot = snapshot

    def filter(
        self,
        graph: QueryGraph,
        filters: tuple[Filter, ...],
        masks: Masks,
        control: Control,
    ) -> GpuCandidates:
        sets = CandidateSets(QueryRows(self.resident, graph, self.snapshot, masks, control))
        with self.resident.device.guarded():
            sets.apply(filters, masks)
        return GpuCandidates(sets)


class GpuCandidates:
    """The candidate sets of one run, and what starts from them."""

    def __init__(self, sets: CandidateSets) -> None:
        self.sets = sets

    @property
    def outcomes(self) -> Sequence[FilterOutcome]:
        return self.sets.outcomes

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.sets.sets))

    @property
    def edge_counts(self) -> Mapping[int, int]:
        return self.sets.edge_counts

    @property
    def nbytes(self) -> int:
        """Of the host's memory."""
        return 0

    @property
    def sampler(self) -> None:
        """Planning goes by estimates: each walk would be a launch and a copy back."""

    def refine(self) -> None:
        with self.sets.device.guarded():
            self.sets.refine()

    def repeated(self) -> tuple[Callable[[Snapshot, Control], GpuCandidates], int]:
        (again, nbytes), device = self.sets.repeated(), self.sets.device
        return lambda snapshot, control: GpuCandidates(
            again(_residents.of(snapshot, device), snapshot, control)
        ), nbytes

    def vertices(self, merged: tuple[int, ...]) -> NDArray[np.int32]:
        with self.sets.device.guarded():
            return self.sets.common(merged).fetched()

    def start(self, program: Program, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None = None) -> Slices:
        if program.strategy == "adaptive":
            return AdaptiveSlices(program, self.sets)
        if program.strategy == "push" and program.listed > 1:
            program = searched(program)
        with self.sets.device.guarded():
            return GpuSlices(program, self.sets, ranks, pool)

    def start_shared(self, program: Program, ranks: Sequence[Ranks]) -> GpuSlices:
        """A count that gets its roots share by share."""
        with self.sets.device.guarded():
            return GpuSlices(program, self.sets, ranks, None, shared=True)

"""Several cards of one machine: the roots of a long count, or the tasks below them, go to all of them, from one queue.

The graph is on every card that takes part. The first one does whatever does not pay to share: filters that planning
asks for, short counts, lists, and sums that are pushed, whose roots are numbered in an order of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.backend import FilterOutcome, Item, Masks, PartialMatches, Ranks, Slices
from gquery.executor.gpu.device import Device
from gquery.executor.gpu.engine import GpuBackend, GpuCandidates, GpuGraph
from gquery.executor.gpu.search import GpuSlices
from gquery.executor.gpu.shares import Shares
from gquery.executor.lowering.program import Program
from gquery.executor.progress import Control
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.query_graph import QueryGraph
from gquery.records import record
from gquery.storage.graph import Snapshot

_WORTH = 1e8  # looks at neighbours, from which on a count may be shared
_AFTER = 0.1  # seconds, after which it is: estimates of what takes long are not to be trusted

Others = Sequence[Callable[[], Device]]
"""Makes the other cards ready, which only long counts need."""


class SharingBackend:
    """Runs programs on several devices."""

    name = "gpu"
    lacks: frozenset[str] = frozenset()
    gathers: Literal["any"] = "any"
    workers = 1

    def __init__(self, first: Device, others: Others, worth: float = _WORTH, after: float = _AFTER) -> None:
        self.first = GpuBackend(first)
        self.others = others
        self._sharing = Sharing(others, worth, after)

    def upload(self, snapshot: Snapshot) -> SharingGraph:
        others = [partial(_uploaded, device, snapshot) for device in self.others]
        return SharingGraph(self.first.upload(snapshot), self._sharing, others)


@record(frozen=True, slots=True)
class Sharing:
    """The other devices, the cost from which on a count may be shared with them, and the seconds after which it is."""

    devices: Others
    worth: float
    after: float


def _uploaded(device: Callable[[], Device], snapshot: Snapshot) -> GpuGraph:
    return GpuBackend(device()).upload(snapshot)


class SharingGraph:
    """A snapshot that several devices can have."""

    def __init__(self, first: GpuGraph, sharing: Sharing, others: Sequence[Callable[[], GpuGraph]]) -> None:
        self.first = first
        self.sharing = sharing
        self.others = others

    def filter(
        self,
        graph: QueryGraph,
        filters: tuple[Filter, ...],
        masks: Masks,
        control: Control,
    ) -> SharingCandidates:
        def filtered(other: Callable[[], GpuGraph]) -> GpuCandidates:
            return other().filter(graph, filters, masks, control)

        others = [partial(filtered, other) for other in self.others]
        return SharingCandidates(self.first.filter(graph, filters, masks, control), self.sharing, others)


class SharingCandidates:
    """Candidate sets that the other devices filter once they are asked to count."""

    def __init__(self, first: GpuCandidates, sharing: Sharing, others: Sequence[Callable[[], GpuCandidates]]) -> None:
        self.first = first
        self._sharing = sharing
        self._others = others
        self._refined = False
        self._made: dict[int, GpuCandidates] = {}

    @property
    def outcomes(self) -> Sequence[FilterOutcome]:
        return self.first.outcomes

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.first.sizes

    @property
    def edge_counts(self) -> Mapping[int, int]:
        return self.first.edge_counts

    @property
    def nbytes(self) -> int:
        return self.first.nbytes

    @property
    def sampler(self) -> None:
        return self.first.sampler

    def refine(self) -> None:
        self.first.refine()
        self._refined = True

    def vertices(self, merged: tuple[int, ...]) -> NDArray[np.int32]:
        return self.first.vertices(merged)

    def start(self, program: Program, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None = None) -> Slices:
        alone = pool is not None or program.listed or program.strategy in ("fold", "push", "adaptive")
        if alone or program.cost < self._sharing.worth:
            return self.first.start(program, ranks, pool)
        starts = [partial(self._started, number, program, ranks) for number in range(len(self._others))]
        return SharedSlices(self.first.start_shared(program, ranks), self._sharing, starts)

    def _started(self, number: int, program: Program, ranks: Sequence[Ranks]) -> GpuSlices:
        """By the thread of that device alone."""
        if number not in self._made:
            made = self._others[number]()
            if self._refined:
                made.refine()  # which may find no room
            self._made[number] = made
        return self._made[number].start_shared(program, ranks)


class SharedSlices:
    """A count, a thread and a share of it after the other for each device; the others join the first when it
    takes long."""

    def __init__(self, first: GpuSlices, sharing: Sharing, others: Sequence[Callable[[], GpuSlices]]) -> None:
        self.first = first
        self._sharing = sharing
        self._others = others
        self._slices: list[GpuSlices | None] = [first, *[None] * len(others)]
        self._alike: Hashable = None
        self.seconds_until: Mapping[int, float] = {}
        self.worker_seconds: Sequence[float] = ()

    @property
    def found(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = np.sum([each.found for each in self._slices if each is not None], axis=0)
        return found

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        raise NotImplementedError("what is listed is not shared")

    def total(self, modulus: int) -> tuple[int, float]:
        shares = Shares(len(self._slices), self.first.control, self._sharing.after)
        self._alike = self.first.alike  # which writes its tape: were it asked by another's thread, two might write it
        with ThreadPoolExecutor(len(self._slices)) as pool:
            running = [pool.submit(self._total, 0, shares, modulus)]
            try:
                if wait(running, self._sharing.after).not_done:
                    others = range(1, len(self._slices))
                    running += [pool.submit(self._total, number, shares, modulus) for number in others]
                found = [each.result() for each in running]
            except BaseException:
                shares.stop()
                raise
        values, sizes = zip(*found, strict=True)
        return sum(values) % (modulus or 2**64), sum(sizes)

    def _total(self, number: int, shares: Shares, modulus: int) -> tuple[int, float]:
        try:
            slices = self._joining(number)
            return (0, 0.0) if slices is None else slices.shared_total(shares, modulus)
        except BaseException:
            shares.stop()
            raise

    def _joining(self, number: int) -> GpuSlices | None:
        """Those of a device, ready to count; None where it has no room to count in the same way as the first."""
        if not number:
            return self.first
        self._sharing.devices[number - 1]().use()
        try:
            slices = self._slices[number] or self._others[number - 1]()
            alike = slices.alike == self._alike  # else the same share is of something else there
        except MemoryLimitError:
            return None
        self._slices[number] = slices if alike else None
        return self._slices[number]

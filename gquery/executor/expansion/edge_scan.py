"""The data edges that fit the one query edge of a pattern, as they are stored: each is a match of its own.

There is nothing for a backend to do behind its filters: no vertex is extended, no edge is looked for by its ends. Whole
pieces of a table's columns go on as they are where all of their edges fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Candidates, Masks
from gquery.executor.expansion.expand import PIECE, Matches
from gquery.executor.lowering.reading import Reading
from gquery.planner.ir.match_plan import MatchPlan

Item = TypeVar("Item")
Vertices = NDArray[np.int32]
Truths = NDArray[np.bool_]

_FIRST = 1 << 12  # edges of the first piece: few matches may be enough
_MANY = 1 << 16  # edges that are worth a second thread
_WRITERS = 8  # threads: more wait for each other in Python


class _Edges(NamedTuple):
    """Some data edges: ids int64[], sources and targets int32[]."""

    ids: NDArray[np.int64]
    sources: Vertices
    targets: Vertices

    def chosen(self, fits: Truths) -> _Edges:
        """Those that fit."""
        if fits.all():
            return self
        chosen = np.flatnonzero(fits)
        return _Edges(self.ids[chosen], self.sources[chosen], self.targets[chosen])

    def turned(self) -> _Edges:
        """The same seen from their targets, but for self-loops, which look the same."""
        apart = self.chosen(self.sources != self.targets)
        return _Edges(apart.ids, apart.targets, apart.sources)


class EdgeScan:
    """One run of a plan that scans. found, seconds_until, worker_seconds: as in `EnumerationCounters`."""

    def __init__(self, plan: MatchPlan, candidates: Candidates, masks: Masks, reading: Reading) -> None:
        (self._edge,) = plan.graph.edges
        self._plan = plan
        self._reading = reading
        self._ends = [self._members(candidates, vertex) for vertex in (self._edge.source, self._edge.target)]
        self._kept = masks.edges.get(self._edge.index)
        self._listed = any(choice.listed for choice in plan.choices)
        self._pieces = self._cut()
        edges = sum(end - begin for begin, end in self._pieces)
        self._threads = min(_WRITERS, reading.threads) if edges >= _MANY else 1
        self._lock = Lock()
        self.found = np.zeros(2, np.int64)
        self.seconds_until = {2: 0.0}
        self.worker_seconds: Sequence[float] = ()

    def batches(self, behind: Callable[[Matches], Iterable[Item]]) -> Generator[Item, None, None]:
        """What `behind` makes of the matches, batch by batch; it is called by several threads at once. Closing the
        generator stops the work."""
        from gquery.executor.cpu.machine.slices import made_of_slices  # takes long to import, and is there by now

        control = self._reading.control

        def made(begin: int, end: int) -> Iterator[Item]:
            for number in range(begin, end):
                for matches in self._matches(*self._pieces[number]):
                    control.found(matches.count)
                    yield from behind(matches)
            control.reached(end / len(self._pieces))

        return made_of_slices(len(self._pieces), 1, self._threads, control.check, made)

    def _members(self, candidates: Candidates, vertex: int) -> Truths | None:
        """Which data vertices are candidates; None where all are."""
        found, count = candidates.vertices((vertex,)), self._reading.snapshot.vertex_count
        if len(found) == count:
            return None
        members = np.zeros(count, np.bool_)
        members[found] = True
        return members

    def _cut(self) -> list[tuple[int, int]]:
        """What is gone through at once: of the edges that are listed as kept, or of ids beside each other in a
        table."""
        few = None if self._kept is None else self._kept.few
        edges, most = self._reading.snapshot.edges, self._reading.control.memory.rows(PIECE)
        segments = edges.numbers.of(edges.tables_of(self._edge.types))
        pieces, size = [], min(_FIRST, most)
        for low, end in [(low, end) for low, end, *_ in segments] if few is None else [(0, len(few))]:
            begin = low
            while begin < end:
                pieces.append((begin, min(begin + size, end)))
                begin, size = begin + size, min(2 * size, most)
        return pieces

    def _matches(self, begin: int, end: int) -> Iterator[Matches]:
        """Those of a piece."""
        began = time.perf_counter()
        edges = self._stored(begin, end)
        ways = [edges] if self._edge.directed else [edges, edges.turned()]
        found = [each.chosen(self._fits(each)) for each in ways]
        with self._lock:
            self.found += sum(len(each.ids) for each in found)
            self.seconds_until[2] += time.perf_counter() - began
        for each in found:
            if len(each.ids):
                vertices = {self._edge.source: each.sources, self._edge.target: each.targets}
                weights = np.ones(len(each.ids), np.int64) if self._plan.weighted else None
                chosen = {self._edge.index: each.ids} if self._listed else {}
                yield Matches(len(each.ids), vertices, chosen, weights)

    def _stored(self, begin: int, end: int) -> _Edges:
        """The edges of a piece that predicates have left, and that are not gone."""
        edges, kept = self._reading.snapshot.edges, self._kept
        if kept is not None and kept.few is not None:
            ids = kept.few[begin:end]
            return _Edges(ids, *edges.ends_of(ids))
        ((_, _, table, row),) = edges.numbers.within(begin, end)
        ids, rows = np.arange(begin, end), slice(row, row + end - begin)
        sources, targets = edges.tables[table].ends
        fits = np.ones(len(ids), np.bool_) if kept is None else kept.mask[begin:end]
        gone = edges.gone[slice(*np.searchsorted(edges.gone, (begin, end)))]
        if len(gone):
            fits = fits.copy()
            fits[gone - begin] = False
        return _Edges(ids, sources[rows], targets[rows]).chosen(fits)

    def _fits(self, edges: _Edges) -> Truths:
        """Of which edges both ends are candidates, and differ where they have to."""
        fits = np.ones(len(edges.ids), np.bool_)
        for members, vertices in zip(self._ends, edges[1:], strict=True):
            if members is not None:
                fits &= members[vertices]
        if self._plan.problem.different:
            fits &= edges.sources != edges.targets
        return fits

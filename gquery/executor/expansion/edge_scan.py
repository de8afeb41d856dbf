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
from gquery.storage.sorting import among

Item = TypeVar("Item")
Piece = list[tuple[int, int]]
"""Ids that are gone through at once: [begin, end) beside each other in a table, or several such ranges that are
short."""

_FIRST = 1 << 12  # edges of the first piece: few matches may be enough
_FEW_BESIDE = 1 << 10  # ids beside each other in a table that are not worth a piece of their own
_LARGEST = 1 << 19  # edges of a piece: threads take turns at what Python does for each
_ROUNDS = 4  # pieces for each thread at least, of many edges
_MANY = 1 << 16  # edges that are worth a second thread
_WRITERS = 4  # threads: more wait for each other in Python (of 16 cores, 8 took 1.3 to 1.9 times as long as 4)


class _Edges(NamedTuple):
    """Some data edges: sources and targets int32[], and ids int64[], where somebody asks for them."""

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    ids: NDArray[np.int64] | None

    def chosen(self, places: NDArray[np.int64]) -> _Edges:
        """Some of them."""
        return _Edges(self.sources[places], self.targets[places], None if self.ids is None else self.ids[places])

    def turned(self) -> _Edges:
        """The same seen from their targets, but for self-loops, which look the same."""
        apart = self.chosen(np.flatnonzero(self.sources != self.targets))
        return apart._replace(sources=apart.targets, targets=apart.sources)


class EdgeScan:
    """One run of a plan that scans. found, seconds_until, worker_seconds: as in `EnumerationCounters`."""

    def __init__(self, plan: MatchPlan, candidates: Candidates, masks: Masks, reading: Reading) -> None:
        (self._edge,) = plan.graph.edges
        self._plan = plan
        self._reading = reading
        self._ends = [self._members(candidates, vertex) for vertex in (self._edge.source, self._edge.target)]
        self._kept = masks.edges[self._edge.index] if self._edge.predicates else None
        self._listed = any(choice.listed for choice in plan.choices)
        self._threads = min(_WRITERS, reading.threads)
        self._pieces = self._cut()
        self._lock = Lock()
        self._done = 0  # edges that have been gone through
        self.found = np.zeros(2, np.int64)
        self.seconds_until = {2: 0.0}
        self.worker_seconds: Sequence[float] = ()

    def batches(self, behind: Callable[[Matches], Iterable[Item]]) -> Generator[Item, None, None]:
        """What `behind` makes of the matches, batch by batch; it is called by several threads at once. Closing the
        generator stops the work."""
        from gquery.executor.cpu.machine.slices import made_of  # takes long to import, and is there by now

        control, pieces = self._reading.control, self._pieces
        edges = sum(map(_size, pieces))

        def made(piece: Piece) -> Iterator[Item]:
            for matches in self._matches(piece):
                control.found(matches.count)
                yield from behind(matches)
            with self._lock:
                self._done += _size(piece)
            control.reached(self._done / edges)

        return made_of(pieces, self._threads if edges >= _MANY else 1, control.check, made)

    def _members(self, candidates: Candidates, vertex: int) -> NDArray[np.uint8] | None:
        """A bit for each data vertex, of those that are candidates; None where all are."""
        found, count = candidates.vertices((vertex,)), self._reading.snapshot.vertex_count
        if len(found) == count:
            return None
        members = np.zeros(-(-count // 64) * 64, np.bool_)
        members[found] = True
        return np.packbits(members, bitorder="little")

    def _cut(self) -> list[Piece]:
        """What is gone through at once: of the edges that are listed as kept, or of all ids. Where single edges have
        got values of another type, ids of one table lie among those of another one."""
        few = None if self._kept is None else self._kept.few
        edges, memory = self._reading.snapshot.edges, self._reading.control.memory
        segments = edges.numbers.of(edges.tables_of(self._edge.types))
        ranges = [(begin, end) for begin, end, *_ in segments] if few is None else [(0, len(few))]
        share = sum(end - begin for begin, end in ranges) // (_ROUNDS * self._threads)
        most = memory.rows(min(_LARGEST, max(PIECE, share)))
        pieces: list[Piece] = []
        scattered: Piece = []
        size, held = min(_FIRST, most), 0
        for begin, end in ranges:
            if 0 < end - begin < min(_FEW_BESIDE, size):
                scattered.append((begin, end))
                held += end - begin
                if held >= size:
                    pieces.append(scattered)
                    scattered, held, size = [], 0, min(2 * size, most)
                continue
            while begin < end:
                pieces.append([(begin, min(begin + size, end))])
                begin, size = begin + size, min(2 * size, most)
        return [*pieces, scattered] if scattered else pieces

    def _matches(self, piece: Piece) -> Iterator[Matches]:
        """Those of a piece."""
        began = time.perf_counter()
        edges = self._stored(*piece[0]) if len(piece) == 1 else self._scattered(piece)
        ways = [edges] if self._edge.directed else [edges, edges.turned()]
        found = [each for each in map(self._fitting, ways) if len(each.sources)]
        with self._lock:
            self.found += sum(len(each.sources) for each in found)
            self.seconds_until[2] += time.perf_counter() - began
        for sources, targets, ids in found:
            vertices = {self._edge.source: sources, self._edge.target: targets}
            weights = np.ones(len(sources), np.int64) if self._plan.weighted else None
            yield Matches(len(sources), vertices, {} if ids is None else {self._edge.index: ids}, weights)

    def _stored(self, begin: int, end: int) -> _Edges:
        """The edges of a piece that predicates have left, and that are not gone."""
        edges, kept = self._reading.snapshot.edges, self._kept
        if kept is not None and kept.few is not None:
            ids = kept.few[begin:end]
            return _Edges(*edges.ends_of(ids), ids if self._listed else None)
        ((_, _, table, row),) = edges.numbers.within(begin, end)
        parts = (side[row : row + end - begin] for side in edges.tables[table].ends)
        sources, targets = map(np.ascontiguousarray, parts)  # those of a table that grows lie among others
        found = _Edges(sources, targets, np.arange(begin, end) if self._listed else None)
        gone = edges.gone[slice(*np.searchsorted(edges.gone, (begin, end)))]
        if kept is None and not len(gone):
            return found
        there = np.ones(end - begin, np.bool_) if kept is None else kept.mask[begin:end].copy()
        there[gone - begin] = False
        return found.chosen(np.flatnonzero(there))

    def _scattered(self, piece: Piece) -> _Edges:
        """The same of a piece whose ids lie apart."""
        edges, kept = self._reading.snapshot.edges, self._kept
        ids = np.concatenate([np.arange(begin, end) for begin, end in piece])
        ids = ids if kept is None else ids[kept.mask[ids]]
        ids = ids[~among(ids, edges.gone)] if len(edges.gone) else ids
        return _Edges(*edges.ends_of(ids), ids if self._listed else None)

    def _fitting(self, edges: _Edges) -> _Edges:
        """The edges both of whose ends are candidates, and differ where they have to."""
        apart, count = bool(self._plan.problem.different), len(edges.sources)
        if not apart and all(members is None for members in self._ends):
            return edges
        from gquery.executor.cpu.kernels.filters import with_ends
        from gquery.executor.cpu.machine.native import address

        ahead, behind = (0 if members is None else address(members) for members in self._ends)
        kept = np.empty(count + 1, np.int64)
        made = with_ends(count, address(edges.sources), address(edges.targets), ahead, behind, apart, kept)
        return edges if made == count else edges.chosen(kept[:made])


def _size(piece: Piece) -> int:
    return sum(end - begin for begin, end in piece)

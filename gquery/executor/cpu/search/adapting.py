"""What a sum in an order of its own for each partial match is handed: candidates numbered anew, and rows as bitsets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.cpu.candidates.candidate_graph import Wanted, candidate_edges
from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.sets import CandidateSets
from gquery.executor.cpu.kernels.sums import adaptive
from gquery.executor.cpu.kernels.sums.left import Left, Pattern, measure_all, write_rows
from gquery.executor.cpu.kernels.sums.remembered import LONG_ENTRY, move
from gquery.executor.cpu.kernels.workspace import DEPTH, EACH, ROW, SPLIT
from gquery.executor.cpu.machine.heap import dense_zeros
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search.giving import Begun, own_work
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.adapting import Arrangement
from gquery.executor.memory import Budget
from gquery.executor.progress import OrdersGivenUp
from gquery.lasting.locks import lasting_lock
from gquery.records import record
from gquery.storage.adjacency import Adjacency

_MOST = 1 << 27  # bytes of rows, when no limit is set
_SLOTS, _MOST_SLOTS = 1 << 12, 1 << 22  # sums that are remembered, at first and at most
_BELIEVED, _LITTLE = 0.2, 1 << 20  # share of the looks, and looks, from which on what is done says what is left
_BEHIND = 2.0  # times as many looks as there are for it: a sum that will take more is doubted
_PLANNED = 1 << 22  # looks in the time that it takes to plan another way
_DEARER = 2.0  # times as many looks as the other way takes: a sum that has more left is given up
_ENTRY = 8 * LONG_ENTRY  # bytes of each
_APART = 16  # numbers, so many that no two workers write to one cache line, or to two that are fetched together

Progress = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]
"""Nodes, places and sizes, as `Stack` has them."""


@record(frozen=True, slots=True)
class Adapting:
    """pattern: as the kernels read it. bits: the candidates of all vertices. roots int32[]: by position of the first
    vertex, its number. trial: how far all workers are; sums: what they remember. keep: what addresses point into."""

    pattern: Pattern
    bits: NDArray[np.uint64]
    roots: NDArray[np.int32]
    trial: Trial
    sums: Sums
    keep: tuple[NDArray[np.uint64], ...]


@record(frozen=True, slots=True)
class Matched:
    """Where a sum stands, from the root down to a depth."""

    progress: Progress
    left: Left


class Trial:
    """Whether a sum takes far more looks than there are for it, by what all workers have done: one that begins late, or
    with heavy roots, tells little. looks: of all of them, 0 where they may go on for ever. instead: those of another
    way, as `Control.instead` says."""

    def __init__(self, looks: float, roots: int, instead: Callable[[], float | None]) -> None:
        # Of two workers each has looks of its own, and half of the roots; what is little one does alone.
        self._looks = 2 * looks - min(looks, _LITTLE)
        self._roots = roots
        self._share = self._looks / max(1.0, 2 * looks)
        self._instead = instead
        self._is_doubted = False
        self._other: float | None = None  # looks
        self._handed_out = 0  # looks when there was a root for each worker
        self._still: NDArray[np.int64] | None = None  # what the worker has done that stands still
        self._done: list[NDArray[np.int64]] = []

    def joined(self) -> NDArray[np.int64]:
        """What another worker has done, as `Stack` has it."""
        done = np.zeros(_APART, np.int64)  # written all the time
        self._done.append(done)
        return done

    @property
    def remembered(self) -> int:
        """Sums that they have remembered, each as often as it was."""
        return self._sum(adaptive.KEPT)

    def passed(self) -> None:
        """The sum has been made once: the same with other numbers is not doubted any more."""
        self._looks, self._is_doubted = 0.0, False

    def slice(self, looks: int, least: int) -> int:
        """So many looks of the next slice, or fewer: many workers soon take more together than a trial may, and whether
        they go on they ask between two slices."""
        if not self._looks or self._is_doubted:
            return looks
        return min(looks, max(least, int(_BELIEVED * self._looks) // len(self._done)))

    def goes_on(self, done: NDArray[np.int64]) -> bool:
        """Whether a worker does, which has done so much; whoever asks first for another way stands still while that is
        planned, in a thread that would be one too many. Raises OrdersGivenUp where the sum takes more than it may, and
        what is left of it more than the other way."""
        if self._roots - self._sum(adaptive.ROOTS) > len(self._done):
            self._handed_out = self._sum(adaptive.LOOKS)
        self._is_doubted = self._is_doubted or self.is_hopeless
        if not self._is_doubted:
            return True
        if self._other is None:
            if self._left < _PLANNED:
                return True
            self._still = done if self._still is None else self._still
            self._other = self._instead()
            return self._other is not None or done is not self._still
        if self._left > _DEARER * self._other:
            raise OrdersGivenUp
        return True

    @property
    def is_hopeless(self) -> bool:
        """Whether it takes more than it may. The first roots take more than others, which find their sums remembered,
        so that early on they have to be further behind."""
        if not self._looks:
            return False
        looks = self._sum(adaptive.LOOKS)
        if looks <= min(self._looks, max(_LITTLE, _BELIEVED * self._looks)):
            return False
        used = looks / self._looks
        return min(used, used**3) > _BEHIND * self._sum(adaptive.ROOTS) / (self._roots * self._share)

    @property
    def _left(self) -> float:
        """About how many looks are left: if each root takes as many, and if those in progress take as long again as
        they are alone. Many workers are soon done with all but the heaviest."""
        done, looks = self._sum(adaptive.ROOTS), self._sum(adaptive.LOOKS)
        others = math.inf if done <= 0 else looks * (self._roots - done) / done
        return max(others, looks - self._handed_out)

    def _sum(self, slot: int) -> int:
        return sum(int(done[slot]) for done in self._done)


class Sums:
    """What all workers remember, in a table that grows. entries int64[slots * LONG_ENTRY]; a worker that has not yet
    heard of a larger one may go on with it."""

    def __init__(self, trial: Trial, memory: Budget) -> None:
        self.entries = np.zeros(_SLOTS * LONG_ENTRY, np.int64)
        self._trial, self._memory, self._most = trial, memory, _MOST_SLOTS
        self._remembered = 0  # when it grew
        self._lock = lasting_lock()

    @property
    def slots(self) -> int:
        return len(self.entries) // LONG_ENTRY

    def forget(self) -> None:
        """Before another run, whose sums are other numbers."""
        self.entries.fill(0)
        self._trial.passed()

    def grow(self) -> None:
        """Makes room for more sums where as many were remembered as there is room for, if there is memory. Who comes
        while another worker does so goes on with the table that there is: it takes some ten milliseconds."""
        if self._is_full and self._lock.acquire(blocking=False):
            try:
                if self._is_full:
                    self._grow(4 * self.slots)
            finally:
                self._lock.release()

    @property
    def _is_full(self) -> bool:
        return 4 * self.slots <= self._most and self._trial.remembered - self._remembered >= self.slots

    def _grow(self, slots: int) -> None:
        try:
            self._memory.reserve(slots * _ENTRY, "remembered sums")
        except MemoryLimitError:
            self._most = 0
            return
        entries = dense_zeros(slots * LONG_ENTRY, np.int64)
        move(self.entries, entries)
        self.entries, self._remembered = entries, self._trial.remembered


class Room:
    """Where one worker sums: what is left of the candidates, and the sums in progress."""

    def __init__(self, adapting: Adapting) -> None:
        pattern, words = adapting.pattern, len(adapting.bits)
        self._sums, self._pattern = adapting.sums, pattern
        self.left, self._progress = _left(pattern.width, (pattern.width + 1) * words), _progress(pattern.width)
        self.left.bits[:words] = adapting.bits
        self.left.written[: pattern.width] = 0
        measure_all(pattern, self.left)
        self._trial, self._done = adapting.trial, adapting.trial.joined()
        self._entries = np.zeros(0, np.int64)

    def goes_on(self) -> bool:
        """Whether there is a next slice now: see `Trial`."""
        return self._trial.goes_on(self._done)

    def stack(self) -> adaptive.Stack:
        """For the next slice."""
        self._sums.grow()
        self._entries = self._sums.entries  # held for as long as the slice goes on
        return adaptive.Stack(*self._progress, address(self._entries), len(self._entries) // LONG_ENTRY, self._done)

    def half(self, plan: PackedPlan, work: NDArray[np.int64]) -> Begun | None:
        """About half of the candidates that are left at the shallowest depth that has any. Products above it are of
        both parts, sums over other candidates there are the giver's: both results add up to the root's sum."""
        matched = Matched(_progress(self.left.width), _left(self.left.width, len(self.left.bits)))
        theirs, own = (adaptive.Stack(*each, 0, 0, self._done) for each in (matched.progress, self._progress))
        depth = adaptive.split(self._pattern, self.left, own, matched.left, theirs, int(work[DEPTH]))
        if depth < 0:
            return None
        work[SPLIT] = max(int(work[SPLIT]), depth)
        given = own_work(plan, work, depth, 1)
        given[SPLIT] = depth
        return Begun(given, matched, work[[ROW]] * work[EACH])

    def put(self, begun: Begun) -> None:
        """Goes on where another worker stood."""
        assert isinstance(begun.block, Matched)
        self._progress, self.left = begun.block.progress, begun.block.left
        self._done[adaptive.ROOTS] -= 1  # its root is done when the giver is


def _progress(width: int) -> Progress:
    """Room for the sums in progress, nothing of which is written."""
    return (
        np.empty((width + 1) * adaptive.NODE_COLUMNS, np.uint64),
        np.empty((width + 1) * adaptive.PLACE_COLUMNS, np.int64),
        np.empty((width + 1) * adaptive.SIZE_COLUMNS, np.float64),
    )


def _left(width: int, words: int) -> Left:
    """Room for what is left, with so many words of bitsets at all depths, nothing of which is written."""
    return Left(width, np.empty(words, np.uint64), *np.empty((2, (width + 1) * width), np.int64))


def adapting(program: Program, candidates: CandidateSets, sets: Sequence[CandidateSet]) -> Adapting | None:
    """What a program's sum is handed; sets: the candidates by level. None where there is no room for it."""
    width, memory = len(sets), candidates.control.memory
    arranged = Arrangement(
        program, [each.vertices for each in sets], lambda one, other: bool(sets[one].has(sets[other].vertices).any())
    )
    size = arranged.bytes_of_rows + 8 * (width + 1) * int(arranged.begins[-1]) * 2 * candidates.threads
    size += _SLOTS * _ENTRY
    available = memory.available
    if size > (_MOST if available is None else min(_MOST, available // 4)):
        return None
    memory.reserve(size, "rows as bitsets")
    rows, keep = _rows(arranged, candidates, sets[0].universe)
    pattern = Pattern(
        width, arranged.near, arranged.different, arranged.words, arranged.begins, arranged.weights, rows.reshape(-1)
    )
    roots = arranged.numbers(0)
    trial = Trial(program.tried, len(roots), candidates.control.instead)
    return Adapting(pattern, arranged.bits(), roots, trial, Sums(trial, memory), keep)


def _rows(
    arranged: Arrangement, candidates: CandidateSets, universe: int
) -> tuple[NDArray[np.int64], tuple[NDArray[np.uint64], ...]]:
    """The addresses of the rows between any two levels, both ways, and what they are of."""
    kinds = {id(kind): CandidateSet(kind, universe) for kind in arranged.kinds}
    sets = [kinds[id(kind)] for kind in arranged.kinds]
    leading = arranged.leading()
    wanted = [
        Wanted(rows, sets[first.source], sets[first.target], False)
        for first, *_ in leading.values()
        for rows in first.rows
    ]
    built = iter(candidate_edges(candidates, wanted))
    made = {
        key: reduce(np.bitwise_and, [_bits(next(built), sets[first.target]) for _ in first.rows])
        for key, (first, *_) in leading.items()
    }
    addresses = np.zeros((len(sets), len(sets)), np.int64)
    for key, alike in leading.items():
        for each in alike:
            addresses[each.source, each.target] = address(made[key])
    return addresses, tuple(made.values())


def _bits(edges: Adjacency, target: CandidateSet) -> NDArray[np.uint64]:
    """Rows as bitsets, uint64[candidates of the source, words of the target]."""
    bits = np.zeros((len(edges.offsets) - 1, len(target.vertices) + 63 >> 6 or 1), np.uint64)
    write_rows(edges.offsets, edges.neighbours, bits)
    return bits

"""The state of one running vertex group: what the kernels need to go on after a slice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu import extend as listing
from gquery.executor.cpu import total as summing
from gquery.executor.packed import PackedPlan

SLICE = 1 << 16  # looks at neighbours in one slice: about a millisecond


@dataclass(frozen=True, slots=True)
class PartialMatches:
    """positions int32[width, capacity], column-major in the sense that one query vertex is one row; `count` in use.

    sums uint64[count]: the ways to finish each of them, modulo 2^64 or the run's modulus, once they are known; sizes
    float64[count]: about the same numbers.
    """

    positions: NDArray[np.int32]
    count: int
    sums: NDArray[np.uint64] | None = None
    sizes: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """One vertex group: levels `start .. stop - 1`, listed or summed out."""

    start: int
    stop: int
    summing: bool


class Memory:
    """What one worker remembers of sums and marks, from frame to frame; the columns are those of `total`."""

    def __init__(self, plan: PackedPlan) -> None:
        self.entries = np.zeros((max(1, plan.slots), 3), np.int64)
        self.sizes = self.entries.view(np.float64)
        self.marks = np.zeros(max(1, plan.marks), np.uint64)
        self.marked = np.full((plan.width, 2), -1, np.int64)


class Frame(ABC):
    """Takes the rows of `given` through one stage, slice by slice."""

    def __init__(self, plan: PackedPlan, stage: int, stages: tuple[Stage, ...], given: PartialMatches) -> None:
        self.plan = plan
        self.stage = stage
        self.start, self.stop = stages[stage].start, stages[stage].stop
        self.given = given
        width, rows = plan.width, max(1, len(plan.backward))
        self.state = np.zeros(listing.STATE_SLOTS + width, np.int64)
        self.state[listing.ROW_END] = given.count
        self.state[listing.DEPTH] = -1
        self._vertices = np.zeros((2, width), np.int32)
        self._cursors = np.zeros((4, rows), np.int64)
        self._levels = np.zeros((2, width), np.int64)
        self._where = (*self._vertices, *self._cursors, *self._levels)

    @abstractmethod
    def run(self) -> int:
        """One slice; returns the status."""

    @abstractmethod
    def drain(self) -> PartialMatches:
        """What the last slices made; it is the caller's now."""

    @property
    def found(self) -> NDArray[np.int64]:
        """Matches found at each level so far."""
        return self.state[listing.STATE_SLOTS :]

    @property
    def rows_left(self) -> int:
        return int(self.state[listing.ROW_END] - self.state[listing.ROW])

    def split(self) -> PartialMatches:
        """Gives away the second half of the input that is left."""
        end = int(self.state[listing.ROW_END])
        middle = end - self.rows_left // 2
        self.state[listing.ROW_END] = middle
        return PartialMatches(np.ascontiguousarray(self.given.positions[:, middle:end]), end - middle)


class ListingFrame(Frame):
    """Writes the matches of its levels to `output`, int32[stop, capacity]."""

    def __init__(
        self,
        plan: PackedPlan,
        stage: int,
        stages: tuple[Stage, ...],
        given: PartialMatches,
        output: NDArray[np.int32],
    ) -> None:
        super().__init__(plan, stage, stages, given)
        self.output = output

    def run(self) -> int:
        tables = self.plan.listing_tables
        listing.extend(
            *tables, self.start, self.stop, SLICE, self.given.positions, self.output, self.state, *self._where
        )
        return int(self.state[listing.STATUS])

    def drain(self) -> PartialMatches:
        made = int(self.state[listing.MADE])
        self.state[listing.MADE] = 0
        return PartialMatches(self.output[:, :made].copy(), made)


class SummingFrame(Frame):
    """Sums the levels of its stage out: the rows of `given` stay, and get their numbers of matches."""

    def __init__(
        self,
        plan: PackedPlan,
        stage: int,
        stages: tuple[Stage, ...],
        given: PartialMatches,
        memory: Memory,
        modulus: int,
    ) -> None:
        super().__init__(plan, stage, stages, given)
        self.modulus = np.uint64(modulus)
        self._sums = np.zeros(given.count, np.uint64)
        self._sizes = np.zeros(given.count, np.float64)
        self._scratch = np.zeros((4, max(1, len(plan.choices))), np.int64)
        self._memory = memory
        self._level_sums, self._products = np.zeros((2, plan.width), np.uint64)
        self._level_sizes, self._product_sizes = np.zeros((2, plan.width), np.float64)
        self._drained = 0

    def run(self) -> int:
        summing.total(
            *self.plan.summing_tables,
            self.start,
            self.modulus,
            SLICE,
            self.given.positions,
            self._sums,
            self._sizes,
            self.state,
            *self._where,
            self._scratch,
            self._memory.marks,
            self._memory.marked,
            self._memory.entries,
            self._memory.sizes,
            self._level_sums,
            self._level_sizes,
            self._products,
            self._product_sizes,
        )
        return int(self.state[listing.STATUS])

    def drain(self) -> PartialMatches:
        """The rows done since the last drain for which there are any matches."""
        begin, end = self._drained, int(self.state[listing.ROW])
        self._drained = end
        kept = np.flatnonzero(self._sizes[begin:end]) + begin
        return PartialMatches(self.given.positions[:, kept], len(kept), self._sums[kept], self._sizes[kept])

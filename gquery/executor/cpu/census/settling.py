"""From counts by code to counts by class."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.cpu.census.canonical import Search
from gquery.executor.cpu.census.classes import Classes
from gquery.executor.cpu.census.pairs import turned
from gquery.executor.cpu.census.tally import Tally, empty, find_slots, new_tally, slots_for, with_room
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.progress import Control

_TOGETHER = 1 << 16  # codes that are refined together: some megabytes
_PARTS = 4  # classes that the count of a code counts for, itself first
_SLOT = 40  # bytes of a known code


class Settled:
    """Sums by class, of one worker. What it knows of codes it keeps from graph to graph, as far as memory allows; the
    tally of a graph is apart from that, and small enough for a core's cache."""

    def __init__(self, classes: Classes, search: Search, control: Control) -> None:
        self._classes = classes
        self._search = search
        self._control = control
        self._known = new_tally()  # whose counts are not used
        self._places = np.zeros((len(self._known.codes), _PARTS), np.int32)
        self._placed = 0  # of the known codes those that have their places
        self._sums = np.zeros(0, np.int64)
        self._held = 0

    def add(self, tally: Tally) -> None:
        """Adds what was counted, and empties the tally."""
        used = int(tally.used[0])
        self.add_counts(tally.codes[:used], tally.counts[:used])
        empty(tally)

    def add_counts(self, codes: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Adds the counts of codes, each of which is there once."""
        begin = 0
        while begin < len(codes):
            end = begin + self._room_for(min(len(codes) - begin, _TOGETHER))
            self._add(codes[begin:end], counts[begin:end])
            begin = end

    def sums(self) -> NDArray[np.int64]:
        """int64[classes so far]: the counts of each class, times its ways, since the last time."""
        self._lengthen()
        sums, self._sums = self._sums, np.zeros(0, np.int64)
        return sums

    def _lengthen(self) -> None:
        """For classes that were met since."""
        new = len(self._classes) - len(self._sums)
        self._sums = np.concatenate([self._sums, np.zeros(new, np.int64)])

    def release(self) -> None:
        """Gives back what was reserved."""
        self._control.memory.release(self._held)
        self._held = 0

    def _add(self, codes: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        slots = np.empty(len(codes), np.int32)
        find_slots(self._known, codes, slots)
        new = self._known.codes[self._placed : int(self._known.used[0])]
        if len(new):
            self._place(new)
            self._placed += len(new)
        self._lengthen()
        settle(counts, slots, self._places, self._sums)

    def _place(self, new: NDArray[np.int64]) -> None:
        parts = np.empty((len(new), _PARTS), np.int64)
        split(new, self._classes.layout, parts)
        there = parts >= 0
        places = self._places[self._placed : self._placed + len(new)]
        places[:] = -1
        places[there] = self._classes.places(parts[there], self._search, self._control.check)

    def _room_for(self, codes: int) -> int:
        """How many codes more can be known: all, where need be because the others are forgotten, or fewer."""
        size, before = slots_for(self._known, codes), len(self._known.codes)
        if before - int(self._known.used[0]) >= codes:
            return codes
        with suppress(MemoryLimitError):
            self._control.memory.reserve(_SLOT * size, "counting motifs")
            self._known = with_room(self._known, codes)
            self._places = np.concatenate([self._places, np.zeros((size - before, _PARTS), np.int32)])
            self._control.memory.release(self._held)
            self._held = _SLOT * size
            return codes
        empty(self._known)
        self._placed = 0
        return min(codes, before)


@kernel
def split(codes, layout, parts):  # type: ignore[no-untyped-def]
    """Writes each code, and what was counted too much where it is of an edge between two vertices beside a set: the two
    without their edge, and either as if it were beside the other alone. Elsewhere -1."""
    places = layout.size - 2
    own, other = layout.positions[places], layout.positions[places + 1]
    length = layout.colour_bits + places * layout.state_bits
    one = np.int64(1)
    colour = (one << layout.colour_bits) - 1
    for index in range(len(codes)):
        code = codes[index]
        first, second = (code >> own) & ((one << length) - 1), (code >> other) & ((one << length) - 1)
        edge = code >> (other + length)
        parts[index, 0], parts[index, 1:] = code, -1
        if edge and second > colour:
            base = code & ((one << own) - 1)
            parts[index, 1] = base | (first << own) | (second << other)
            parts[index, 2] = base | (first << own) | ((second & colour) << other) | (edge << (other + length))
            back = np.int64(turned(layout, edge)) << (other + length)
            parts[index, 3] = base | (second << own) | ((first & colour) << other) | back


@kernel
def settle(counts, slots, places, sums):  # type: ignore[no-untyped-def]
    """Adds counts to the sums of their classes, and takes them from those where they were counted too much."""
    for index in range(len(counts)):
        count, slot = counts[index], slots[index]
        sums[places[slot, 0]] += count
        for part in range(1, places.shape[1]):
            if places[slot, part] >= 0:
                sums[places[slot, part]] -= count

"""From counts by code to counts by class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.cpu.census.canonical import Search, new_search
from gquery.executor.cpu.census.classes import Classes
from gquery.executor.cpu.census.pairs import turned
from gquery.executor.cpu.census.tally import (
    Tally,
    empty,
    find_known,
    find_slots,
    new_tally,
    slots_for,
    with_room,
)
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.progress import Control

_TOGETHER = 1 << 20  # codes for each thread that are looked up together: graphs are settled side by side
_PARTS = 4  # classes that the count of a code counts for, itself first
_SLOT = 40  # bytes of a known code
_SHARE = 1 << 10  # codes that a thread places at a time
_LOOKED_UP = 1 << 14  # and that it looks up


class Known:
    """What codes count for: kept from graph to graph, as far as memory allows. For one thread, which may have others
    help it.

    places int32[slots, 4]: by slot of a code the classes that its count counts for, itself first, -1 for none. placed:
    codes for which that was found so far, also those that are forgotten.
    """

    def __init__(self, classes: Classes, search: Search, threads: int, control: Control) -> None:
        self._classes = classes
        self._searches = [search]
        self._threads = threads
        self._control = control
        self._known = new_tally()  # whose counts are not used
        self.places = np.zeros((len(self._known.codes), _PARTS), np.int32)
        self._whole = 0  # of the known codes those that have their places
        self._held = 0
        self.placed = 0

    def pieces(self, codes: NDArray[np.int64]) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Some of the codes after the other, and their slots, which hold until the next are asked for."""
        begin = 0
        while begin < len(codes):
            end = begin + self._room_for(min(len(codes) - begin, _TOGETHER * self._threads))
            slots = self._slots(codes[begin:end])
            used = int(self._known.used[0])
            if used > self._whole:
                self._place(self._whole, used)
                self.placed += used - self._whole
                self._whole = used
            yield slice(begin, end), slots
            begin = end

    def release(self) -> None:
        """Gives back what was reserved."""
        self._control.memory.release(self._held)
        self._held = 0

    def _slots(self, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Their slots, new ones for codes that are not known. One thread deals those out, most codes have theirs."""
        slots = np.empty(len(codes), np.int32)
        if self._threads == 1:
            find_slots(self._known, codes, slots)
            return slots
        run_slices(len(codes), _LOOKED_UP, self._threads, self._control.check,
                   lambda begin, end: find_known(self._known, codes[begin:end], slots[begin:end]))  # fmt: skip
        new = np.flatnonzero(slots < 0)
        found = np.empty(len(new), np.int32)
        find_slots(self._known, codes[new], found)
        slots[new] = found
        return slots

    def _place(self, begin: int, end: int) -> None:
        """Finds what new codes count for."""
        if end - begin <= _SHARE:
            self._place_some(begin, end)
            return
        run_slices(end - begin, _SHARE, self._threads, self._control.check,
                   lambda first, last: self._place_some(begin + first, begin + last))  # fmt: skip

    def _place_some(self, begin: int, end: int) -> None:
        try:
            search = self._searches.pop()
        except IndexError:
            search = new_search(self._classes.layout.size)
        parts = np.empty((end - begin, _PARTS), np.int64)
        split(self._known.codes[begin:end], self._classes.layout, parts)
        self._classes.find(parts.ravel(), search, self.places[begin:end].ravel())
        self._searches.append(search)

    def _room_for(self, codes: int) -> int:
        """How many codes more can be known: all, where need be because the others are forgotten, or fewer."""
        size, before = slots_for(self._known, codes), len(self._known.codes)
        if before - int(self._known.used[0]) >= codes:
            return codes
        with suppress(MemoryLimitError):
            self._control.memory.reserve(_SLOT * size, "counting motifs")
            self._known = with_room(self._known, codes)
            self.places = np.concatenate([self.places, np.zeros((size - before, _PARTS), np.int32)])
            self._control.memory.release(self._held)
            self._held = _SLOT * size
            return codes
        empty(self._known)
        self._whole = 0
        return min(codes, before)


class Settled:
    """Sums by class, of one worker. The tally of a graph is apart from what is known of codes, and small enough for a
    core's cache."""

    def __init__(self, classes: Classes, search: Search, control: Control) -> None:
        self._classes = classes
        self._known = Known(classes, search, 1, control)
        self._sums = np.zeros((1, 0), np.int64)

    def add(self, tally: Tally) -> None:
        """Adds what was counted, and empties the tally."""
        used = int(tally.used[0])
        for piece, slots in self._known.pieces(tally.codes[:used]):
            self._sums = wider(self._sums, len(self._classes))
            settle(tally.counts[piece], slots, self._known.places, np.array([0, len(slots)]), self._sums)
        empty(tally)

    @property
    def placed(self) -> int:
        """How many codes were brought to their classes so far."""
        return self._known.placed

    @property
    def ways(self) -> NDArray[np.int64]:
        """See `Classes`."""
        return self._classes.ways

    def sums(self) -> NDArray[np.int64]:
        """int64[classes so far]: the counts of each class, times its ways, since the last time."""
        sums: NDArray[np.int64] = wider(self._sums, len(self._classes))[0]
        self._sums = np.zeros((1, 0), np.int64)
        return sums

    def release(self) -> None:
        """Gives back what was reserved."""
        self._known.release()


def wider(sums: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """The same sums, a row for each graph, with room for classes that were met since."""
    if sums.shape[1] == classes:
        return sums
    wide = np.zeros((len(sums), classes), np.int64)
    wide[:, : sums.shape[1]] = sums
    return wide


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
def settle(counts, slots, places, begins, sums):  # type: ignore[no-untyped-def]
    """Adds counts to the sums of their classes, and takes them from those where they were counted too much. Those of
    each row of the sums begin somewhere."""
    for row in range(len(sums)):
        for index in range(begins[row], begins[row + 1]):
            count, slot = counts[index], slots[index]
            sums[row, places[slot, 0]] += count
            for part in range(1, places.shape[1]):
                if places[slot, part] >= 0:
                    sums[row, places[slot, part]] -= count

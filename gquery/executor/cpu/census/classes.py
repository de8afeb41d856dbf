"""From counts by code to counts by class."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.census.canonical import Search, count_ways, make_canonical
from gquery.executor.cpu.census.layout import Layout
from gquery.executor.cpu.census.refinement import make_refined
from gquery.executor.cpu.census.tally import Tally, empty, find_slots, new_tally, with_room
from gquery.executor.cpu.machine.compile import kernel
from gquery.stopping import Check

_AT_ONCE = 1 << 13  # codes between two looks at the clock
_TOGETHER = 1 << 16  # codes that are refined together: some megabytes
_PARTS = 4  # classes that the count of a code counts for, itself first


class Classes:
    """All classes that were met, by all workers and in all graphs, in the order of their discovery. Safe from several
    threads."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._met = new_tally()
        self._ways = np.zeros(0, np.int64)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._ways)

    @property
    def codes(self) -> NDArray[np.int64]:
        """int64[classes]: the canonical code of each."""
        with self._lock:
            return self._met.codes[: len(self)].copy()

    @property
    def ways(self) -> NDArray[np.int64]:
        """int64[classes]: from how many smaller sets a subgraph of each is counted."""
        return self._ways

    def places(self, codes: NDArray[np.int64], search: Search, check: Check) -> NDArray[np.int32]:
        """int32[codes]: the places of their classes."""

        def in_pieces(kernel: Callable[..., None], codes: NDArray[np.int64]) -> None:
            for begin in range(0, len(codes), _AT_ONCE):
                check()
                kernel(codes[begin : begin + _AT_ONCE], self.layout, search)

        refined = codes.copy()
        in_pieces(make_refined, refined)
        distinct, where = np.unique(refined, return_inverse=True)
        in_pieces(make_canonical, distinct)
        found = np.empty(len(distinct), np.int32)
        with self._lock:
            if len(self._met.codes) < len(self) + len(distinct):
                self._met = with_room(self._met, len(distinct))
            find_slots(self._met, distinct, found)
            new = self._met.codes[len(self) : int(self._met.used[0])]
            ways = np.zeros(len(new), np.int64)
            count_ways(new, self.layout, search, ways)
            self._ways = np.concatenate([self._ways, ways])
        return found[where]


class Settled:
    """The classes of the codes of one tally, which is settled once a graph."""

    def __init__(self, classes: Classes, search: Search) -> None:
        self._classes = classes
        self._search = search
        self._places = np.zeros((0, _PARTS), np.int32)
        self._sums = np.zeros(0, np.int64)

    def sums(self, tally: Tally, check: Check) -> NDArray[np.int64]:
        """int64[classes]: the counts of each class, times its ways, since the last time. The counts are zero then."""
        self._settle(tally, check)
        sums, self._sums = self._sums, np.zeros(0, np.int64)
        return sums

    def forget(self, tally: Tally, check: Check) -> None:
        """Empties the tally, whose counts stay."""
        self._settle(tally, check)
        empty(tally)
        self._places = self._places[:0].copy()

    def _settle(self, tally: Tally, check: Check) -> None:
        used = int(tally.used[0])
        new = tally.codes[len(self._places) : used]
        if len(new):
            pieces = [self._new(new[begin : begin + _TOGETHER], check) for begin in range(0, len(new), _TOGETHER)]
            self._places = np.concatenate([self._places, *pieces])
        self._sums = np.concatenate([self._sums, np.zeros(len(self._classes) - len(self._sums), np.int64)])
        settle(tally.counts[:used], self._places, self._sums)

    def _new(self, codes: NDArray[np.int64], check: Check) -> NDArray[np.int32]:
        parts = _parts(self._classes.layout, codes)
        places = np.full(parts.shape, -1, np.int32)
        places[parts >= 0] = self._classes.places(parts[parts >= 0], self._search, check)
        return places


def _parts(layout: Layout, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """int64[codes, 4]: each code, and what was counted too much where it is of an edge between two vertices beside a
    set: the two without their edge, and either as if it were beside the other alone. Elsewhere -1."""
    places = layout.size - 2
    own, other = int(layout.positions[places]), int(layout.positions[places + 1])
    top = other + layout.colour_bits + places * layout.state_bits
    rest, colour = (1 << own) - 1, (1 << layout.colour_bits) - 1
    base, first, second = codes & rest, (codes >> own) & ((1 << other - own) - 1), (codes >> other)
    edge = second >> (top - other)
    second = second & ((1 << top - other) - 1)
    parts = np.stack([
        codes,
        base | first << own | second << other,
        base | first << own | (second & colour) << other | edge << top,
        base | second << own | (first & colour) << other | turned_states(layout, edge) << top,
    ], axis=1)  # fmt: skip
    parts[(edge == 0) | (second >> layout.colour_bits == 0), 1:] = -1
    return parts


def turned_states(layout: Layout, states: NDArray[np.int64]) -> NDArray[np.int64]:
    """`turned` for NumPy."""
    if not layout.directed:
        return states
    return (states >> layout.types) | ((states & ((1 << layout.types) - 1)) << layout.types)


@kernel
def settle(counts, places, sums):  # type: ignore[no-untyped-def]
    """Adds counts to the sums of their classes, takes them from those where they were counted too much, and clears
    them."""
    for slot in range(len(counts)):
        count = counts[slot]
        if count:
            sums[places[slot, 0]] += count
            for part in range(1, places.shape[1]):
                if places[slot, part] >= 0:
                    sums[places[slot, part]] -= count
            counts[slot] = 0

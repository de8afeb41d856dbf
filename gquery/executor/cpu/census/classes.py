"""The classes of codes."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.canonical import Search, canonical, ways_of
from gquery.executor.cpu.census.refinement import make_refined
from gquery.executor.cpu.census.tally import Tally, new_tally, slot_of, with_room
from gquery.executor.cpu.machine.compile import inlined, kernel


class Classes:
    """All classes that were met, by all workers and in all graphs, in the order of their discovery. Safe from several
    threads."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._met = new_tally()  # canonical codes, with the ways of each
        self._refined = new_tally()  # those that codes become first, with the places of their classes
        self._many = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._many

    @property
    def codes(self) -> NDArray[np.int64]:
        """int64[classes]: the canonical code of each."""
        with self._lock:
            return self._met.codes[: self._many].copy()

    @property
    def ways(self) -> NDArray[np.int64]:
        """int64[classes]: from how many smaller sets a subgraph of each is counted."""
        return self._met.counts[: self._many]

    def find(self, codes: NDArray[np.int64], search: Search, places: NDArray[np.int32]) -> None:
        """Writes the place of the class of each code, -1 for -1. The codes are not the same afterwards. Some thousand
        at a time: nothing stops it meanwhile."""
        make_refined(codes, self.layout, search)
        with self._lock:
            self._met, self._refined = _roomy(self._met, len(codes)), _roomy(self._refined, len(codes))
            find_classes(codes, self.layout, search, self._refined, self._met, places)
            self._many = int(self._met.used[0])


def _roomy(tally: Tally, free: int) -> Tally:
    return tally if len(tally.codes) - int(tally.used[0]) >= free else with_room(tally, free)


@kernel
def find_classes(codes, layout, search, refined, met, places):  # type: ignore[no-untyped-def]
    """Writes the place of the class of each code, -1 for -1. There must be free slots for all in either tally. What is
    found out of a code is kept: there are hardly more that are refined than classes."""
    for index in range(len(codes)):
        places[index] = -1
        if codes[index] < 0:
            continue
        known = refined.used[0]
        slot = slot_of(refined, codes[index])
        if slot == known:
            refined.counts[slot] = class_of(codes[index], layout, search, met)
        places[index] = refined.counts[slot]


@inlined
def class_of(code, layout, search, met):  # type: ignore[no-untyped-def]
    """The place of the class of a code; there must be a free slot."""
    known = met.used[0]
    place = slot_of(met, canonical(code, layout, layout.size, search))
    if place == known:
        met.counts[place] = ways_of(met.codes[place], layout, search)
    return place

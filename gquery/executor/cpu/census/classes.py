"""The classes of codes."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.canonical import Search, count_ways, make_canonical
from gquery.executor.cpu.census.refinement import make_refined
from gquery.executor.cpu.census.tally import find_slots, new_tally, with_room
from gquery.stopping import Check

_AT_ONCE = 1 << 13  # codes between two looks at the clock
_FEW = 50  # codes, among which to look for those of one class costs more than it saves


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

        distinct, where = codes.copy(), None
        if len(codes) > _FEW:
            in_pieces(make_refined, distinct)
            met, where = new_tally(1 << len(codes).bit_length()), np.empty(len(codes), np.int32)
            find_slots(met, distinct, where)
            distinct = met.codes[: int(met.used[0])]
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
        return found if where is None else found[where]

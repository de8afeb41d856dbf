"""A census of what a device has counted by code."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.counts import Census, Random, Tallies, room_for_counts
from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.canonical import new_search
from gquery.executor.cpu.census.classes import Classes
from gquery.executor.cpu.census.settling import Known, settle, wider
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.progress import Control

_SLOT = 2 * 16 + 4  # bytes of a code and its count, of others that come meanwhile, and of what is known of it
_TOGETHER = 1 << 18  # sums of graphs that are settled together, for each thread: some megabytes


class Gatherer:
    """Takes tallies as they come, those of the graph itself first."""

    def __init__(self, layout: Layout, graphs: int, threads: int, control: Control) -> None:
        self._graphs, self._threads, self._control = graphs, threads, control
        self._classes = Classes(layout)
        self._known = Known(self._classes, new_search(layout.size), threads, control)
        self._begun: dict[int, NDArray[np.int64]] = {}  # sums of graphs of which more comes
        self._counts = np.zeros(0, np.int64)  # of the graph itself
        self._shown = np.zeros(0, np.intp)  # the classes that it has, by code
        self._random = np.zeros((0, 0), np.int64)
        self._totals = np.zeros(graphs, np.int64)

    def gather(self, tallies: Iterable[Tallies]) -> Census:
        """Raises QueryTimeout, QueryCancelled and MemoryLimitError."""
        try:
            for some in tallies:
                size = _SLOT * len(some.codes)
                self._control.memory.reserve(size, "counting motifs")
                try:
                    self._take(some)
                finally:
                    self._control.memory.release(size)
        finally:
            self._known.release()
        codes = self._classes.codes[self._shown]
        return Census(codes, self._counts[self._shown], Random(self._random, self._totals, 0, 0))

    def _take(self, some: Tallies) -> None:
        begin, graphs = 0, len(some.begins) - 1
        while begin < graphs:
            # That of the graph itself comes alone: it says what is asked of the others.
            together = 1 if some.first + begin < 0 else max(1, _TOGETHER * self._threads // max(1, len(self._classes)))
            end = min(graphs, begin + together)
            for place, sums in enumerate(self._sums(some, begin, end), begin):
                self._add(some.first + place, sums, some.whole)
            begin = end

    def _sums(self, some: Tallies, begin: int, end: int) -> NDArray[np.int64]:
        """int64[graphs, classes so far]: the counts of some graphs by class, times the ways of each class."""
        begins = some.begins[begin : end + 1]
        codes, counts = (each[begins[0] : begins[-1]] for each in (some.codes, some.counts))
        sums = np.zeros((end - begin, 0), np.int64)
        for piece, slots in self._known.pieces(codes):
            self._control.check()
            sums = wider(sums, len(self._classes))
            within = np.clip(begins - begins[0] - piece.start, 0, len(slots))
            self._settle(counts[piece], slots, within, sums)
        return wider(sums, len(self._classes))

    def _settle(
        self, counts: NDArray[np.int64], slots: NDArray[np.int32], within: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> None:
        """Adds to the sums of graphs, each by one thread."""

        def work(begin: int, end: int) -> None:
            settle(counts, slots, self._known.places, within[begin : end + 1], sums[begin:end])

        run_slices(len(sums), 1, self._threads, self._control.check, work)

    def _add(self, number: int, sums: NDArray[np.int64], whole: bool) -> None:
        before = self._begun.pop(number, None)
        if before is not None:
            sums[: len(before)] += before
        if not whole:
            self._begun[number] = sums
            return
        found = sums // self._classes.ways[: len(sums)]
        if number < 0:
            self._show(found)
            return
        self._random[number], self._totals[number] = found[self._shown], found.sum()

    def _show(self, counts: NDArray[np.int64]) -> None:
        """What the graph itself has is what is asked of the others."""
        shown = np.flatnonzero(counts)
        self._shown = shown[np.argsort(self._classes.codes[shown])]
        self._counts = counts
        self._random = room_for_counts(self._graphs, len(shown), self._control)

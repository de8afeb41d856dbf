"""A census of what a device has counted by code."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.counts import Census, Random, Tallies, room_for_counts
from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.canonical import new_search
from gquery.executor.cpu.census.classes import Classes
from gquery.executor.cpu.census.settling import Settled
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.progress import Control

_SLOT = 16  # bytes of a code and its count
_SHARE = 8  # graphs that a thread settles at a time


class Gatherer:
    """Takes tallies as they come, those of the graph itself first."""

    def __init__(self, layout: Layout, graphs: int, threads: int, control: Control) -> None:
        self._layout, self._graphs, self._threads, self._control = layout, graphs, threads, control
        self._classes = Classes(layout)
        self._idle: list[Settled] = []
        self._all: list[Settled] = []
        self._begun: dict[int, NDArray[np.int64]] = {}  # sums of graphs of which more comes
        self._counts = np.zeros(0, np.int64)  # of the graph itself
        self._shown = np.zeros(0, np.intp)  # the classes that it has, by code
        self._random = room_for_counts(0, 0, control)
        self._totals = np.zeros(graphs, np.int64)

    def gather(self, tallies: Iterable[Tallies]) -> Census:
        """Raises QueryTimeout, QueryCancelled and MemoryLimitError."""
        try:
            for some in tallies:
                size = _SLOT * len(some.codes)
                self._control.memory.reserve(size, "counting motifs")
                self._take(some)
                self._control.memory.release(size)
        finally:
            for worker in self._all:
                worker.release()
        codes = self._classes.codes[self._shown]
        return Census(codes, self._counts[self._shown], Random(self._random, self._totals, 0, 0))

    def _take(self, some: Tallies) -> None:
        graphs = len(some.begins) - 1
        itself = int(some.first < 0)
        self._settle(some, 0, itself)
        run_slices(
            graphs - itself, _SHARE, self._threads, self._control.check,
            lambda begin, end: self._settle(some, begin + itself, end + itself),
        )  # fmt: skip

    def _settle(self, some: Tallies, begin: int, end: int) -> None:
        """Of some graphs of some tallies."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = Settled(self._classes, new_search(self._layout.size), self._control)
            self._all.append(worker)
        for place in range(begin, end):
            own = slice(some.begins[place], some.begins[place + 1])
            worker.add_counts(some.codes[own], some.counts[own])
            self._add(some.first + place, worker.sums(), some.whole)
        self._idle.append(worker)

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
        self._control.fraction += 1 / self._graphs

    def _show(self, counts: NDArray[np.int64]) -> None:
        """What the graph itself has is what is asked of the others."""
        shown = np.flatnonzero(counts)
        self._shown = shown[np.argsort(self._classes.codes[shown])]
        self._counts = counts
        self._random = room_for_counts(self._graphs, len(shown), self._control)

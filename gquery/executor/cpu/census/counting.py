"""The census of a graph, and of random graphs like it: on all threads, the same for any number of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.census.counts import Census, Random, room_for_counts, too_many
from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.canonical import new_search
from gquery.executor.cpu.census.classes import Classes
from gquery.executor.cpu.census.pairs import Pairs, fill_pairs, room_for, room_for_sorting
from gquery.executor.cpu.census.settling import Settled
from gquery.executor.cpu.census.tally import new_tally, slots_for, with_room
from gquery.executor.cpu.census.walk import DEPTH, FULL, MORE, ROOT, ROOT_END, WANTED, advance, new_walk
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.cpu.random_graphs.shuffled import Shuffler
from gquery.executor.progress import Control

_SLICE = 1 << 22  # looks at neighbours between two looks at the clock: some milliseconds
_SHARES = 16  # pieces of the roots for each thread
_MOST = 2.0**62  # subgraphs, as often as they are found: what is taken from them fits, too
_SLOT = 24  # bytes of a tally for a code


class Counter:
    """Counts the subgraphs of graphs of one size, one after the other; for one thread."""

    def __init__(self, graph: Coloured, classes: Classes, control: Control, most: float) -> None:
        """most: how much its counts may add up to."""
        self._control = control
        self._most = most
        layout = self._layout = graph.layout
        self.pairs = room_for(
            len(graph.colours), len(graph.arcs.tails), graph.colours, layout.colour_bits + layout.state_bits
        )
        self._sorting = room_for_sorting(self.pairs)
        self._walk = new_walk(layout, self.pairs)
        self._tally = new_tally()
        self._search = new_search(layout.size)
        self._settled = Settled(classes, self._search, control)
        self._held = 0
        self._hold(sum(array.nbytes for bundle in (self.pairs, self._walk) for array in bundle))
        self._hold(_SLOT * len(self._tally.codes))

    def _hold(self, size: int) -> None:
        self._control.memory.reserve(size, "counting motifs")
        self._held += size

    def _release(self, size: int) -> None:
        self._control.memory.release(size)
        self._held -= size

    def release(self) -> None:
        """Gives back what was reserved."""
        self._release(self._held)
        self._settled.release()

    def read(self, arcs: Arcs) -> Pairs:
        """Turns to a graph."""
        fill_pairs(arcs, self._layout, self.pairs, self._sorting)
        return self.pairs

    def count(self, pairs: Pairs, begin: int, end: int) -> None:
        """Counts what begins with some of the vertices."""
        state = self._walk.state
        state[DEPTH], state[ROOT], state[ROOT_END] = 0, begin, end
        while (outcome := advance(pairs, self._layout, self._walk, self._tally, self._search, _SLICE)) in (MORE, FULL):
            self._control.check()
            self._expect_numbers_that_fit()
            if outcome == FULL:
                self._make_room(int(state[WANTED]))

    def _make_room(self, free: int) -> None:
        """For so many codes: in a larger tally, or where memory does not allow it in the same one, emptied."""
        before = len(self._tally.codes)
        try:
            self._hold(_SLOT * slots_for(self._tally, free))
        except MemoryLimitError:
            if before < free:
                raise
            self._settled.add(self._tally)
            return
        self._tally = with_room(self._tally, free)
        self._release(_SLOT * before)

    def _expect_numbers_that_fit(self) -> None:
        if self._walk.bound[0] > self._most:
            raise too_many()

    def settle(self) -> NDArray[np.int64]:
        """int64[classes so far]: what was counted since the last time, times the ways of each class."""
        self._expect_numbers_that_fit()
        self._walk.bound[0] = 0
        self._settled.add(self._tally)
        return self._settled.sums()


class Crew:
    """Whoever counts: as many workers as threads come to ask for one."""

    def __init__(self, graph: Coloured, threads: int, control: Control) -> None:
        self.classes = Classes(graph.layout)
        self._graph, self._threads, self._control = graph, threads, control
        self._idle: list[Counter] = []
        self._all: list[Counter] = []

    @contextmanager
    def one(self) -> Iterator[Counter]:
        """A worker that nobody else has meanwhile."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = Counter(self._graph, self.classes, self._control, _MOST / self._threads)
            self._all.append(worker)
        yield worker
        self._idle.append(worker)

    def of_graph(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Codes and counts of the graph itself."""
        vertices = len(self._graph.colours)
        with self.one() as first:
            pairs = first.read(self._graph.arcs)
        share = -(-vertices // (_SHARES * self._threads)) if self._threads > 1 else vertices

        def work(begin: int, end: int) -> None:
            with self.one() as worker:
                worker.count(pairs, begin, end)

        run_slices(vertices, max(1, share), self._threads, self._control.check, work)
        settled = [worker.settle() for worker in self._all]
        sums = np.zeros(len(self.classes), np.int64)
        for part in settled:
            sums[: len(part)] += part
        return self.classes.codes, sums // self.classes.ways

    def of_random_graphs(self, null: Null, graphs: int, shown: NDArray[np.intp]) -> Random:
        """Counts of some of the classes, by their places, in random graphs."""
        counts, totals = room_for_counts(graphs, len(shown), self._control), np.zeros(graphs, np.int64)
        shufflers: list[Shuffler] = []
        idle: list[Shuffler] = []

        def work(begin: int, end: int) -> None:
            try:
                shuffler = idle.pop()
            except IndexError:
                shuffler = Shuffler(self._graph.arcs, self._graph.colours, bool(self._graph.layout.directed), null)
                shufflers.append(shuffler)
            with self.one() as worker:
                for number in range(begin, end):
                    pairs = worker.read(shuffler.make(number, self._control.check))
                    worker.count(pairs, 0, len(self._graph.colours))
                    sums = worker.settle()
                    found = sums // self.classes.ways[: len(sums)]
                    counts[number], totals[number] = found[shown], found.sum()
                    self._control.fraction += 1 / graphs
            idle.append(shuffler)

        run_slices(graphs, 1, self._threads, self._control.check, work)
        changed, left_out = (sum(getattr(each, name) for each in shufflers) for name in ("changed", "left_out"))
        return Random(counts, totals, changed, left_out)

    def release(self) -> None:
        """Gives back what the workers hold."""
        for worker in self._all:
            worker.release()


def census(graph: Coloured, null: Null, graphs: int, threads: int, control: Control) -> Census:
    """Counts the connected induced subgraphs of a graph by class, and those of the classes that it has in random graphs
    like it. Raises QueryTimeout, QueryCancelled and MemoryLimitError."""
    crew = Crew(graph, threads, control)
    try:
        codes, counts = crew.of_graph()
        shown = np.flatnonzero(counts)
        shown = shown[np.argsort(codes[shown])]  # threads discover classes in any order
        random = crew.of_random_graphs(null, graphs, shown)
    finally:
        crew.release()
    return Census(codes[shown], counts[shown], random)

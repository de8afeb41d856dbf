"""The census of a graph, and of random graphs like it: on all threads, the same for any number of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.census.counts import Census, Random, Trial, room_for_counts, too_many
from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.canonical import new_search
from gquery.executor.cpu.census.classes import Classes
from gquery.executor.cpu.census.pairs import Pairs, fill_pairs, room_for, room_for_sorting
from gquery.executor.cpu.census.settling import Settled
from gquery.executor.cpu.census.tally import new_tally, slots_for, with_room
from gquery.executor.cpu.census.tree.choosing import worth_a_trial
from gquery.executor.cpu.census.tree.growing import Tree, grown
from gquery.executor.cpu.census.tree.matcher import Matcher
from gquery.executor.cpu.census.walk import DEPTH, FULL, LOOKS, MORE, ROOT, ROOT_END, WANTED, advance, new_walk
from gquery.executor.cpu.machine.slices import run_slices
from gquery.executor.cpu.random_graphs.shuffled import Shuffler
from gquery.executor.progress import Control

_SLICE = 1 << 22  # looks at neighbours between two looks at the clock: some milliseconds
_SHARES = 16  # pieces of the roots for each thread
_MOST = 2.0**62  # subgraphs, as often as they are found: what is taken from them fits, too
_SLOT = 24  # bytes of a tally for a code
_NEW = 325  # looks for a code that is new in the first random graph: to find its class takes eight times as long, but
# over a thousand graphs about an eighth as many are
_VISIT = 4  # looks for one along a tree, which waits for memory more often


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

    def by_class(self, pairs: Pairs, shown: NDArray[np.intp]) -> tuple[NDArray[np.int64], int]:
        """Of a whole graph the counts of some classes, and that of all."""
        self.count(pairs, 0, len(self.pairs.colours))
        sums = self.settle()
        found = sums // self._settled.ways[: len(sums)]
        return found[shown], int(found.sum())

    @property
    def effort(self) -> float:
        """What was done so far, in looks at neighbours."""
        return float(self._walk.state[LOOKS]) + _NEW * self._settled.placed


class Crew:
    """Whoever counts: as many workers as threads come to ask for one."""

    def __init__(self, graph: Coloured, threads: int, control: Control) -> None:
        self.classes = Classes(graph.layout)
        self._graph, self._threads, self._control = graph, threads, control
        self._memory = control.memory.part()  # of trees
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

    def of_random_graphs(self, null: Null, graphs: int, shown: NDArray[np.intp], tree: Tree | None) -> Random:
        """Counts of some of the classes, by their places, in random graphs; along a tree of these classes, or as those
        of the graph itself."""
        counts, totals = room_for_counts(graphs, len(shown), self._control), np.zeros(graphs, np.int64)
        shufflers: list[Shuffler] = []
        idle: list[tuple[Shuffler, Matcher | None]] = []

        def work(begin: int, end: int) -> None:
            try:
                shuffler, matcher = idle.pop()
            except IndexError:
                shuffler, matcher = self.shuffler(null), None if tree is None else self.matcher(tree)
                shufflers.append(shuffler)
            with self.one() as worker:
                for number in range(begin, end):
                    pairs = worker.read(shuffler.make(number, self._control.check))
                    found = worker.by_class(pairs, shown) if matcher is None else matcher.count(pairs)
                    counts[number], totals[number] = found
                    self._control.fraction += 1 / graphs
            idle.append((shuffler, matcher))

        run_slices(graphs, 1, self._threads, self._control.check, work)
        changed, left_out = (sum(getattr(each, name) for each in shufflers) for name in ("changed", "left_out"))
        return Random(counts, totals, changed, left_out)

    def shuffler(self, null: Null) -> Shuffler:
        """Who makes random graphs, for one thread."""
        return Shuffler(self._graph.arcs, self._graph.colours, bool(self._graph.layout.directed), null)

    def tree(self, shown: NDArray[np.intp]) -> Tree:
        """That of some classes. Raises MemoryLimitError."""
        return grown(self.classes.codes[shown], self._graph.layout, self._control.check, self._memory)

    def matcher(self, tree: Tree) -> Matcher:
        """Who counts along a tree, for one thread. Raises MemoryLimitError."""
        return Matcher(tree, self._graph, self._control.check, self._memory)

    def tried(self, null: Null, shown: NDArray[np.intp]) -> tuple[Tree | None, Trial | None]:
        """Counts the first random graph both ways. The tree, where it pays, and what was found out."""
        with self.one() as worker:
            pairs = worker.read(self.shuffler(null).make(0, self._control.check))
            before = worker.effort
            worker.by_class(pairs, shown)
            by_sets = worker.effort - before
            try:
                tree = self.tree(shown)
                matcher = self.matcher(tree)
            except MemoryLimitError:
                return None, None
            pays = matcher.count_within(pairs, by_sets / _VISIT)
        return tree if pays else None, Trial(pays, _VISIT * matcher.looks, by_sets, len(tree.classes))

    def release(self) -> None:
        """Gives back what the workers hold."""
        for worker in self._all:
            worker.release()
        self._memory.close()


def census(graph: Coloured, null: Null, graphs: int, threads: int, control: Control) -> Census:
    """Counts the connected induced subgraphs of a graph by class, and those of the classes that it has in random graphs
    like it. Raises QueryTimeout, QueryCancelled and MemoryLimitError."""

    def trial(crew: Crew, shown: NDArray[np.intp]) -> tuple[Tree | None, Trial | None]:
        tries = worth_a_trial(graph.layout, graphs, threads, len(shown))
        return crew.tried(null, shown) if tries else (None, None)

    return _census(Crew(graph, threads, control), null, graphs, trial)


def counted_along_tree(graph: Coloured, null: Null, graphs: int, threads: int, control: Control) -> Census:
    """The same, random graphs along a tree whatever that takes."""
    return _census(Crew(graph, threads, control), null, graphs, lambda crew, shown: (crew.tree(shown), None))


def _census(
    crew: Crew, null: Null, graphs: int, trial: Callable[[Crew, NDArray[np.intp]], tuple[Tree | None, Trial | None]]
) -> Census:
    try:
        codes, counts = crew.of_graph()
        shown = np.flatnonzero(counts)
        shown = shown[np.argsort(codes[shown])]  # threads discover classes in any order
        tree, tried = trial(crew, shown)
        random = crew.of_random_graphs(null, graphs, shown, tree)
    finally:
        crew.release()
    return Census(codes[shown], counts[shown], random, tried)

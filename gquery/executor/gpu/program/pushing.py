"""Writes pushed sums on a tape (kernels/push.cuh): chains from the roots to counters of all far vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import NamedTuple

from gquery.executor.gpu.program.blocks import Block
from gquery.executor.gpu.program.levels import Levels
from gquery.executor.gpu.program.table import NO_SUMS, Sums
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.pushed import chains
from gquery.planner.ir.relations import repeats

_COUNTERS = 1 << 32  # bytes at most
_SHARE = 8  # of the device's free memory, of which they take one
_WIDTHS = (2, 4, 8)  # bytes of a counter
_NEAR = 8  # as in kernels/push.cuh
_MANY = 12  # there is room to note one of so many counters; where more are reached all are gone through
_FAR = 1  # the level of the vertices that have counters


class Chain(NamedTuple):
    """levels: from the top, the end last. kind: which counters it adds to; a chain that is like another has that one's
    and no levels. minus: what is taken off a counter. noted: whether the counters that it comes to first are: where an
    end is what several rows have in common, since to find it twice is dearer than to note it."""

    levels: tuple[int, ...]
    kind: int
    minus: int
    noted: bool


def chains_with_ends(program: Program) -> list[Chain]:
    """The chains of a program in the levels of `pushed`: those that add to counters first, of these those that note."""
    every = chains(program)
    own = [each for each in every if program.levels[each[0]].like < 0]
    noting = [sum(rows.level == _FAR for level in each for rows in program.levels[level].backward) > 1 for each in own]
    order = sorted(range(len(own)), key=lambda number: not noting[number])
    kind_of = {own[number][0]: kind for kind, number in enumerate(order)}
    found = []
    for number in order:
        levels = *own[number], len(program.levels) + number
        minus = program.levels[own[number][-1]].minus
        found.append(Chain(levels, kind_of[levels[0]], minus, noting[number]))
    for each in every:
        like = program.levels[each[0]].like
        if like >= 0:
            found.append(Chain((), kind_of[like], program.levels[each[-1]].minus, False))
    return found


class Pushing:
    """The sums of roots, so many at a time."""

    def __init__(self, levels: Levels, found: Sequence[Chain], available: int | None) -> None:
        self.levels = levels
        self.tape = levels.tape
        self.table = levels.table
        self.chains = [each for each in found if each.levels]
        self._universe = -(-self.table.positions_of(_FAR) // _NEAR) * _NEAR
        ways = max(map(self._ways, self.chains))
        self._width = next(width for width in _WIDTHS if width == _WIDTHS[-1] or ways < 1 << 8 * width)
        room = min(_COUNTERS, levels.tape.device.free_bytes() // _SHARE if available is None else available // 4)
        size = 1 << room.bit_length() >> 1  # the same for most queries, which have them one after the other
        root = self._width * self._universe * len(self.chains)
        self.roots = max(1, min(len(self.table.sets[0]), size // root))
        each = self._width * self._universe * self.roots
        self._lent = [self.table.candidates.rows.graph.zeros.lend(each) for _ in self.chains]
        self._counters = [self.tape.room.hold(lent.array) for lent in self._lent]
        blocks = levels.tape.device.blocks
        self._room = max(1, self.roots * self._universe // _MANY // blocks)
        self._counts = self.tape.reserve(blocks * len(self.chains))
        self._full = self.tape.cell()
        self._noted = [self._room_to_note(blocks, each.kind) for each in self.chains if each.noted]
        words = [(self._counters[each.kind], self._width, int(each.kind == 0), each.minus) for each in found]
        self._words = self.tape.data([word for each in words for word in each])
        self._count = len(found)

    def _ways(self, chain: Chain) -> int:
        """By how many ways a chain comes to one end at most. An entry stands in a row twice only where rows repeat
        their neighbours."""
        longest, end = self.table.longest, self.table.program.levels[chain.levels[-1]]
        again = any(repeats(each.relation) for each in end.backward)
        return prod(longest[level] for level in (chain.levels if again else chain.levels[:-1]))

    @contextmanager
    def zeroed(self) -> Iterator[None]:
        """While the tape runs: counters are zero where it comes to its end."""
        for lent in self._lent:
            lent.is_zero = False
        yield
        for lent in self._lent:
            lent.is_zero = True

    def _room_to_note(self, blocks: int, kind: int) -> tuple[int, int, int, int]:
        """The words of a chain's `Noted`."""
        places = self.tape.room.take(4 * self._room * blocks)
        return places, self._room, self._counts + blocks * kind, self._full

    def sums(self, block: Block) -> Sums:
        """The sums of some roots."""
        tape, found = self.tape, self.levels.new_sums(block.most)
        for chain in self.chains:
            self._through(chain, block, NO_SUMS if chain.kind else found, self._push(chain))
        pushed, base = tape.register(), tape.register()
        many, least = self._many()
        written = tape.jump("Written", many, base, pushed, 0, waits=True)
        tape.patch(written, 3, tape.here)
        product = self.table.words, _FAR, self._words, self._count, *found
        counts = len(self.chains) * tape.device.blocks, self._counts
        few = tape.jump("Unless", pushed, least, 0)
        tape.add("HarvestAll", block.rows, self._universe, *counts, *product, scatters=[*self._counters, *found])
        done = tape.jump("Unless", tape.constant(0), 1, 0)
        tape.patch(few, 2, tape.here)
        tape.wait()
        for chain in self.chains:
            if chain.noted:
                self._harvest_noted(chain, product)
            else:
                self._through(chain, block, NO_SUMS, self._harvest(chain, product))
        tape.patch(done, 2, tape.here)
        tape.wait()
        return found

    def _many(self) -> tuple[int, int]:
        """A cell, and by how much it becomes larger where many counters have been reached."""
        if self.chains[0].noted:
            return self._full, 1
        dear = max(self.chains, key=lambda chain: len(chain.levels))
        return self.levels.found + dear.levels[-1], self.roots * self._universe // _MANY

    def _push(self, chain: Chain) -> Callable[[Sequence[int]], None]:
        """What is done with the ends of a chain."""
        counters, cell = self._counters[chain.kind], self.levels.found + chain.levels[-1]
        name, noted = ("PushNoting", self._noted[chain.kind]) if chain.noted else ("Push", ())
        return lambda words: self._add(name, *words, counters, self._width, *noted, cell, touched=[counters])

    def _harvest(self, chain: Chain, product: Sequence[int]) -> Callable[[Sequence[int]], None]:
        """What is done with them once all have been pushed."""
        counters = self._counters[chain.kind]
        if chain.kind == 0:
            return lambda words: self._add("Harvest", *words, *product, touched=[*self._counters, *product[4:]])
        return lambda words: self._add("ClearCounters", *words, counters, self._width, touched=[counters])

    def _harvest_noted(self, chain: Chain, product: Sequence[int]) -> None:
        """The same with what has been noted of them."""
        counters, noted = self._counters[chain.kind], self._noted[chain.kind]
        if chain.kind == 0:
            touched = [*self._counters, *product[4:]]
            self._add("HarvestNoted", self._universe, *noted, *product, touched=touched)
        else:
            self._add("ClearNoted", counters, self._width, *noted, touched=[counters])

    def _add(self, name: str, *words: int, touched: Sequence[int]) -> None:
        self.tape.add(name, *words, scatters=touched)

    def _through(self, chain: Chain, block: Block, sums: Sums, at_end: Callable[[Sequence[int]], None]) -> None:
        """All partial matches of a chain, whose ends are dealt with. sums: become zero."""
        *levels, end = chain.levels

        def further(number: int, block: Block, roots: int) -> None:
            if number == len(levels):
                self.levels.tried(end, block, lambda words: at_end((*words, roots, self._universe)))
                return
            self.levels.extend(
                levels[number], block, sums if number == 0 else NO_SUMS,
                lambda extended, parents: further(number + 1, extended, self._roots(roots, parents, extended)),
                found=self.tape.cell(),
            )  # fmt: skip

        further(0, block, 0)

    def _roots(self, before: int, parents: int, block: Block) -> int:
        """The rows of a block's roots."""
        if not before:
            return parents
        roots = self.tape.room.take(4 * block.most)
        self.tape.add(
            "FollowRoots", before, parents, block.rows, roots, rows=block.rows, reads=[parents], gathers=[before],
            writes=[roots],
        )  # fmt: skip
        return roots

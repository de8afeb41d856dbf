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
from gquery.executor.lowering.pushed import chains

_COUNTERS = 1 << 32  # bytes at most
_SHARE = 8  # of the device's free memory, of which they take one
_NARROW = 2**32
_MANY = (
    12  # all counters are gone through when there is an end for so many of them, or as many for each of several chains
)
_FAR = 1  # the level of the vertices that have counters


class Chain(NamedTuple):
    """levels: from the top, the end last. kind: which counters it adds to; a chain that is like another has that one's
    and no levels. minus: what is taken off a counter."""

    levels: tuple[int, ...]
    kind: int
    minus: int


def chains_with_ends(program: Program) -> list[Chain]:
    """The chains of a program in the levels of `pushed`, those that add to counters first."""
    pushing: list[Chain] = []
    alike: list[Chain] = []
    kind_of: dict[int, int] = {}
    for each in chains(program):
        last, like = program.levels[each[-1]], program.levels[each[0]].like
        if like >= 0:
            alike.append(Chain((), kind_of[like], last.minus))
            continue
        kind_of[each[0]] = len(pushing)
        pushing.append(Chain((*each, len(program.levels) + len(pushing)), len(pushing), last.minus))
    return pushing + alike


class Pushing:
    """The sums of roots, so many at a time."""

    def __init__(self, levels: Levels, found: Sequence[Chain], available: int | None) -> None:
        self.levels = levels
        self.tape = levels.tape
        self.table = levels.table
        self.chains = [each for each in found if each.levels]
        self._universe = -(-self.table.positions_of(_FAR) // 4) * 4
        self._wide = any(prod(map(self.table.longest.__getitem__, each.levels[:-1])) >= _NARROW for each in self.chains)
        width = 8 if self._wide else 4
        room = min(_COUNTERS, levels.tape.device.free_bytes() // _SHARE if available is None else available // 4)
        size = 1 << room.bit_length() >> 1  # the same for most queries, which have them one after the other
        root = width * self._universe * len(self.chains)
        self.roots = max(1, min(len(self.table.sets[0]), size // root))
        each = width * self._universe * self.roots
        self._lent = [self.table.candidates.rows.graph.zeros.lend(each) for _ in self.chains]
        self._counters = [self.tape.room.hold(lent.array) for lent in self._lent]
        words = [(self._counters[each.kind], int(self._wide), int(each.kind == 0), each.minus) for each in found]
        self._words = self.tape.data([word for each in words for word in each])
        self._count = len(found)

    @contextmanager
    def zeroed(self) -> Iterator[None]:
        """While the tape runs: counters are zero where it comes to its end."""
        for lent in self._lent:
            lent.is_zero = False
        yield
        for lent in self._lent:
            lent.is_zero = True

    def sums(self, block: Block) -> Sums:
        """The sums of some roots."""
        tape, found = self.tape, self.levels.new_sums(block.most)
        for chain in self.chains:
            self._through(chain, block, NO_SUMS if chain.kind else found, self._push(chain))
        dear = max(self.chains, key=lambda chain: len(chain.levels))
        pushed, base = tape.register(), tape.register()
        written = tape.jump("Written", self.levels.found + dear.levels[-1], base, pushed, 0, waits=True)
        tape.patch(written, 3, tape.here)
        product = self.table.words, _FAR, self._words, self._count, *found
        few = tape.jump("Unless", pushed, self.roots * self._universe // _MANY, 0)
        tape.add("HarvestAll", block.rows, self._universe, *product, scatters=[*self._counters, *found])
        done = tape.jump("Unless", tape.constant(0), 1, 0)
        tape.patch(few, 2, tape.here)
        tape.wait()
        for chain in self.chains:
            self._through(chain, block, NO_SUMS, self._harvest(chain, product))
        tape.patch(done, 2, tape.here)
        tape.wait()
        return found

    def _push(self, chain: Chain) -> Callable[[Sequence[int]], None]:
        """What is done with the ends of a chain."""
        counters, cell = self._counters[chain.kind], self.levels.found + chain.levels[-1]
        return lambda words: self._add("Push", *words, counters, int(self._wide), cell, touched=[counters])

    def _harvest(self, chain: Chain, product: Sequence[int]) -> Callable[[Sequence[int]], None]:
        """What is done with them once all have been pushed."""
        counters = self._counters[chain.kind]
        if chain.kind == 0:
            return lambda words: self._add("Harvest", *words, *product, touched=[*self._counters, *product[4:]])
        return lambda words: self._add("ClearCounters", *words, counters, int(self._wide), touched=[counters])

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

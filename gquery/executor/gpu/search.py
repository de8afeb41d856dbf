"""One run of a program on the device: level by level in blocks, depth first over blocks.

A block of partial matches is extended as a whole; what it becomes is cut into pieces that fit the arena, and each piece
goes all the way down before the next one begins, so that memory is bounded whatever the number of matches. Sums go down
in the same way and come back up: values are multiplied over branches and added up for what they are below.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from gquery.errors import UnsupportedError
from gquery.executor.backend import Item, PartialMatches, Ranks
from gquery.executor.gpu.candidates import CandidateSets
from gquery.executor.gpu.device import DeviceArray
from gquery.executor.gpu.table import Sums, Table
from gquery.executor.lowering.program import Program

_ARENA = 2 << 30  # bytes at most, for the blocks of all levels together
_LARGEST_BLOCK = 1 << 22  # partial matches
_SMALLEST_BLOCK = 1 << 8
_FIRST_LIMITED = 1 << 10  # partial matches of the first block when few matches are enough
_ROW = 120  # bytes of a partial match besides its positions: work, values, and those of the branches below
_ON_CPU = "use device='cpu'"
_CAPS = {None: 0, "optional": 1, "exists": 2, "absent": 3}


@dataclass(frozen=True, slots=True)
class Block:
    """Partial matches: columns int32[width, capacity], the first `count` of each in use."""

    columns: DeviceArray
    count: int

    @property
    def stride(self) -> int:
        return int(self.columns.shape[1])


@dataclass(frozen=True, slots=True)
class Work:
    """The shortest row of each partial match of a block, and the running sum of their lengths. most: at least the last
    of these, which kernels know."""

    begins: DeviceArray
    which: DeviceArray
    ends: DeviceArray
    most: int


class GpuSlices:
    """A program with its table and start pool. `pool` as in `Candidates.start`."""

    def __init__(
        self, program: Program, candidates: CandidateSets, ranks: Sequence[Ranks], pool: NDArray[np.int32] | None
    ) -> None:
        self.program = program
        self.device = candidates.device
        self.control = candidates.control
        self.table = Table(program, candidates, ranks)
        self.seconds_until: Mapping[int, float] = {}
        self.worker_seconds: Sequence[float] = ()
        self._pool = self._whole_pool() if pool is None else self._placed(pool)
        self._found = self.device.xp.zeros(len(program.levels), np.uint64)
        self._capacity = self._block_size()
        self._scratch = self._wheels()

    @property
    def found(self) -> NDArray[np.int64]:
        return self.device.fetch(self._found).astype(np.int64)

    def total(self, modulus: int) -> tuple[int, float]:
        with self.device.guarded():
            return self._total(modulus)

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        with self.device.guarded():
            for batch in self._batches():
                yield from behind(batch)

    def _total(self, modulus: int) -> tuple[int, float]:
        self._fold(modulus)
        value, size, given = 0, 0.0, len(self._pool)
        for block in self._blocks(given):
            for partial in self._listed(given, block):
                ways = self._ways(self.table.last, partial, modulus)
                self._check_choices()
                value += int(ways.sums.sum())
                size += float(ways.sizes.sum())
        return value % (modulus or 2**64), size

    def _batches(self) -> Iterator[PartialMatches]:
        self._fold(0)
        given = len(self._pool)
        for block in self._blocks(given):
            for partial in self._listed(given, block):
                yield from self._answered(partial)

    def _wheels(self) -> DeviceArray:
        """Where threads count edge choices, behind what says whether one gave up: see kernels/choices.cuh."""
        most = max((len(level.weights) for level in self.program.levels), default=0)
        wheels = self.device.xp.empty(1 + 5 * most * self.device.most_threads, np.int64)
        wheels[0] = 0
        return wheels

    def _check_choices(self) -> None:
        """Raises UnsupportedError when a thread gave up."""
        if self.program.weights and int(self._scratch[0]):
            raise UnsupportedError(
                "there are too many ways to choose edges of types that overlap for a kernel to try", hint=_ON_CPU
            )

    # --- the start ---------------------------------------------------------------------------------------------

    def _whole_pool(self) -> DeviceArray:
        return self.table.positions(0).reshape(1, -1)

    def _placed(self, pool: NDArray[np.int32]) -> DeviceArray:
        """The positions of those of the pool that are candidates."""
        if not 1 <= len(pool) <= self.table.last + 1:
            raise ValueError(f"a pool of {len(pool)} levels for a program that lists {self.program.listed}")
        columns = self.device.xp.asarray(pool)
        inside = reduce(
            lambda one, other: one & other,
            [each.member[column] > 0 for each, column in zip(self.table.sets, columns, strict=False)],
        )
        kept = columns[:, inside]
        if self.program.space == "vertices":
            return kept
        placed = [each.positions(column) for each, column in zip(self.table.sets, kept, strict=False)]
        return self.device.xp.stack(placed).astype(np.int32)

    def _block_size(self) -> int:
        """Partial matches of a block, so that one for each level fits the arena."""
        available = self.control.memory.available
        arena = min(_ARENA, self.device.free_bytes() // 2, _ARENA if available is None else available // 2)
        levels = max(1, len(self.program.levels))
        return max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, arena // (levels * (_ROW + 4 * levels))))

    def _blocks(self, width: int) -> Iterator[Block]:
        """The start pool, block by block."""
        count, begin = self._pool.shape[1], 0
        self._found[width - 1] += np.uint64(count)
        size = self._capacity if self.program.limit is None else min(self._capacity, _FIRST_LIMITED)
        while begin < count:
            self.control.check()
            end = min(count, begin + size)
            yield Block(self.device.xp.ascontiguousarray(self._pool[:, begin:end]), end - begin)
            self.control.fraction = end / count
            begin, size = end, min(self._capacity, 2 * size)

    # --- listing -----------------------------------------------------------------------------------------------

    def _listed(self, level: int, block: Block) -> Iterator[Block]:
        """The matches of all listed levels that begin with the partial matches of a block."""
        if level > self.table.last:
            yield block
            return
        for extended, _ in self._extended(level, block):
            yield from self._listed(level + 1, extended)

    def _answered(self, block: Block) -> Iterator[PartialMatches]:
        """A block with its sums on the host, less what cannot be finished."""
        columns = block.columns[:, : block.count]
        if not self.program.summing:
            self.control.matches += block.count
            yield PartialMatches(self.device.fetch(columns), block.count)
            return
        ways = self._ways(self.table.last, block, 0)
        self._check_choices()
        kept = self.device.xp.flatnonzero(ways.sizes > 0)
        if len(kept):
            self.control.matches += len(kept)
            fetched = map(self.device.fetch, (columns[:, kept], ways.sums[kept], ways.sizes[kept]))
            positions, sums, sizes = fetched
            yield PartialMatches(positions, len(kept), sums, sizes)

    # --- sums --------------------------------------------------------------------------------------------------

    def _fold(self, modulus: int) -> None:
        """Computes all factors, the deepest first."""
        for level in sorted(self.table.factors, reverse=True):
            factor, parent = self.table.factors[level], self.program.levels[level].parent
            positions = self.table.positions(parent)
            for begin in range(0, len(positions), self._capacity):
                among = positions[begin : begin + self._capacity]
                found = self._sum(level, Block(among.reshape(1, -1), len(among)), modulus)
                factor.sums[among], factor.sizes[among] = found

    def _ways(self, level: int, block: Block, modulus: int) -> Sums:
        """The ways to finish each partial match of a block that ends with the level: the product over the branches."""
        xp = self.device.xp
        values = Sums(xp.empty(block.count, np.uint64), xp.empty(block.count, np.float64))
        for weighing in self.table.weighed(level):
            self.device.launch(
                "begin_values", block.count, self.table.words, level, weighing, block.columns, block.stride,
                block.count, modulus, self._scratch, *values,
            )  # fmt: skip
        for child in self.table.deeper[level]:
            found, context = self._branch(child, block, modulus)
            self.device.launch("multiply", block.count, *values, *found, context, block.count, modulus)
        return values

    def _branch(self, level: int, block: Block, modulus: int) -> tuple[Sums, DeviceArray | None]:
        """The sums of one branch below a block, and for each partial match the number of its own; None when it is its
        own number. Equal contexts are summed once where the plan says that there are many."""
        if not self.table.is_merged(level):
            return self._sum(level, block, modulus), None
        xp, layout = self.device.xp, self.table.layouts[self.program.levels[level].parent]
        outer = self.table.outer[level]
        key = xp.zeros(block.count, np.int64)
        for each in outer:
            key = key * self.table.positions_of(each) + block.columns[layout.index(each)][: block.count]
        keys, context = xp.unique(key, return_inverse=True)
        columns = xp.empty((len(outer), len(keys)), np.int32)
        for place, each in reversed(list(enumerate(outer))):
            columns[place] = keys % self.table.positions_of(each)
            keys = keys // self.table.positions_of(each)
        return self._sum(level, Block(columns, columns.shape[1]), modulus), context.astype(np.int32)

    def _sum(self, level: int, block: Block, modulus: int) -> Sums:
        """The sum over a level and all below it, for each partial match of a block."""
        step, xp = self.program.levels[level], self.device.xp
        found = Sums(xp.zeros(block.count, np.uint64), xp.zeros(block.count, np.float64))
        if self.table.deeper[level]:
            for extended, parents in self._extended(level, block):
                ways = self._ways(level, extended, modulus)
                self.device.launch("add_up", extended.count, *ways, parents, extended.count, *found)
        else:
            self._count(level, block, modulus, found)
        self.device.launch("finish", block.count, *found, block.count, modulus, step.minus, _CAPS[step.cap])
        return found

    # --- one level ---------------------------------------------------------------------------------------------

    def _work(self, level: int, block: Block, enough: int) -> Work:
        xp, count = self.device.xp, block.count
        begins, which, lengths = xp.empty(count, np.int64), xp.empty(count, np.uint8), xp.empty(count, np.int64)
        self.device.launch(
            "measure_rows", count, self.table.words, level, block.columns, block.stride, count, begins, which, lengths
        )
        ends, most = xp.cumsum(lengths), count * self.table.longest[level]
        # Asking how many there are waits for the device: not where all of them can be tried at once anyway.
        return Work(begins, which, ends, most if most <= enough or not count else int(ends[-1]))

    def _extended(self, level: int, block: Block) -> Iterator[tuple[Block, DeviceArray]]:
        """The partial matches of a block with one more vertex, piece by piece, and which of the block they extend."""
        xp, width = self.device.xp, len(self.table.layouts[level])
        work = self._work(level, block, self._capacity)
        for first in range(0, work.most, self._capacity):
            self.control.check()
            last = min(work.most, first + self._capacity)
            columns = xp.empty((width, last - first), np.int32)
            parents = xp.empty(last - first, np.int32)
            written = xp.zeros(1, np.uint64)
            self.device.launch(
                "extend", last - first, *self._items(level, block, work, first, last), columns, last - first, parents,
                written,
            )  # fmt: skip
            count = int(written[0])
            self._found[level] += np.uint64(count)
            if count:
                yield Block(columns, count), parents

    def _count(self, level: int, block: Block, modulus: int, into: Sums) -> None:
        size = self.device.items_at_once
        work = self._work(level, block, size)
        for first in range(0, work.most, size):
            self.control.check()
            last = min(work.most, first + size)
            items = self._items(level, block, work, first, last)
            self.device.launch("count", last - first, *items, modulus, self._scratch, *into, self._found[level:])

    def _items(self, level: int, block: Block, work: Work, first: int, last: int) -> tuple[DeviceArray | int, ...]:
        """What kernels take that try items [first, last) of a block's rows."""
        begins = work.begins, work.which, work.ends
        return self.table.words, level, block.columns, block.stride, *begins, block.count, first, last

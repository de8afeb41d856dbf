"""One run of a program on the device: level by level in blocks, depth first over blocks.

A block of partial matches is extended as a whole; what it becomes is cut into pieces that fit the arena, and each piece
goes all the way down before the next one begins, so that memory is bounded whatever the number of matches. Sums go down
in the same way and come back up: values are multiplied over branches and added up for what they are below. All of this
is written on one tape, with a loop for each level that may have several pieces.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Item, PartialMatches, Ranks, VertexValues
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.device import DeviceArray
from gquery.executor.gpu.gathering import Gathering
from gquery.executor.gpu.program.blocks import Block
from gquery.executor.gpu.program.table import Sums
from gquery.executor.gpu.program.writing import Writing
from gquery.executor.gpu.shares import Shares
from gquery.executor.gpu.tape import Run
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.counting import counting
from gquery.lasting.properties import cached_property

_COPIES = 1  # blocks on their way to the host besides the one that is waited for


def added_up(run: Run, totals: Sums, blocks: int, modulus: int) -> tuple[int, float]:
    """What all blocks of the grid have found: as `Slices.total` has it."""
    values = run.cells(totals.sums, blocks).view(np.uint64)
    value = (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())  # the sum itself is beyond 64 bits
    return value % (modulus or 2**64), float(run.cells(totals.sizes, blocks).view(np.float64).sum())


class GpuSlices:
    """A program with its start pool. `pool` as in `Candidates.start`. shared: it is counted by `shared_total`."""

    def __init__(
        self,
        program: Program,
        candidates: CandidateSets,
        ranks: Sequence[Ranks],
        pool: NDArray[np.int32] | None,
        shared: bool = False,
    ) -> None:
        self.program = program
        self.device = candidates.device
        self.control = candidates.control
        self._graph = candidates.rows.graph
        self.seconds_until: Mapping[int, float] = {}
        self.worker_seconds: Sequence[float] = ()
        self.found = np.zeros(len(program.levels), np.int64)
        self._given = candidates, ranks, pool
        self._shared = shared

    @cached_property
    def _writing(self) -> Writing:
        """What a run shares with earlier ones is there when its tape is written: not before it begins."""
        return Writing(self.program, *self._given, self._shared)

    def total(self, modulus: int) -> tuple[int, float]:
        with self.device.guarded(), self._writing.whole_run():
            totals = self._counted
            run = self._writing.tape.start(self.control, modulus)
            for _ in run.launches():
                self._look(run)
            return added_up(run, totals, self.device.blocks, modulus)

    @property
    def alike(self) -> Hashable:
        """What has to be the same for all that share a count."""
        with self.device.guarded():
            return self._writing.alike

    def shared_total(self, shares: Shares, modulus: int) -> tuple[int, float]:
        """As `total`, of the shares that this one gets. A tape runs even if there are none left: what it makes for
        others, too, is there only then."""
        with self.device.guarded():
            totals = self._counted
            run = self._writing.tape.start(self.control, modulus)
            while not run.ended:
                for _ in run.launches():
                    self._writing.check_choices()
                    if shares.stopped:
                        return 0, 0.0
                if not run.ended:
                    self._writing.take_share(run, shares)
            return added_up(run, totals, self.device.blocks, modulus)

    def batches(self, behind: Callable[[PartialMatches], Iterable[Item]]) -> Generator[Item, None, None]:
        with self.device.guarded():
            for batch in self._batches():
                yield from behind(batch)

    @cached_property
    def _counted(self) -> Sums:
        """The tape is that of a count now: where its totals are, by block of the grid."""
        totals = Sums(*(self._writing.tape.cell(self.device.blocks) for _ in range(2)))
        self._writing.matches(lambda block: self._writing.add_to_totals(block, totals))
        self._writing.tape.jump("Halt")
        return totals

    def gathered(
        self, columns: Sequence[tuple[int, VertexValues]], copied: bool
    ) -> Generator[Sequence[Any], None, None]:
        with self.device.guarded():
            if copied:
                yield from self._copied(self._gathered(columns, None))
            else:
                yield from self._gathered(columns, self._number())

    def _number(self) -> int:
        """How many matches there are, where all levels are listed: none is, to count them."""
        candidates, ranks, pool = self._given
        sizes = [len(candidates.common(level.candidates)) for level in self.program.levels]
        counted = counting(self.program, 1 if pool is None else len(pool), sizes)
        return GpuSlices(counted, candidates, ranks, pool).total(0)[0]

    def _copied(self, blocks: Iterator[list[DeviceArray]]) -> Iterator[list[NDArray[Any]]]:
        """Copies go on while the next blocks are found, and while what was copied before is read."""
        under_way: deque[tuple[object, Callable[[], list[NDArray[Any]]]]] = deque()

        def first() -> list[NDArray[Any]]:
            found = under_way[0][1]()
            under_way.popleft()
            return found

        try:
            for arrays in blocks:
                under_way.append((arrays, self.device.copied(arrays)))
                if len(under_way) > _COPIES:
                    yield first()
            while under_way:
                yield first()
        finally:
            for _, wait in under_way:
                wait()

    def _gathered(self, columns: Sequence[tuple[int, VertexValues]], known: int | None) -> Iterator[list[DeviceArray]]:
        """Arrays on the device, of all rows at once where their number is known. What comes next is launched before
        anything is done with them."""
        asked = [(level, self._graph.values(values)) for level, values in columns]
        gathering = Gathering(self._writing, asked, known)
        run = self._writing.tape.start(self.control)
        arrays = gathering.hand_over(run)
        while True:
            self.device.use()  # who asks for more may be another thread
            for _ in run.launches():
                self._look(run)
            self.control.check()  # a tape that has halted has not
            count = gathering.rows(run)
            self.control.found(count)
            found = [array[:count] for array in arrays]
            if run.ended:
                yield found
                return
            arrays = gathering.hand_over(run)
            run.launch()
            yield found

    def _batches(self) -> Iterator[PartialMatches]:
        for block, values, run in self._blocks():
            yield from self._answered(block, values, run)

    def _blocks(self) -> Iterator[tuple[Block, Sums, Run]]:
        """Blocks of matches with their sums, which lie on the device until the next is asked for."""
        given: list[tuple[Block, Sums]] = []

        def halt(block: Block) -> None:
            values = self._writing.values(self._writing.table.last, block) if self.program.summing else Sums(0, 0)
            given.append((block, values))
            self._writing.tape.jump("Halt")
            self._writing.tape.wait()

        self._writing.matches(halt)
        self._writing.tape.jump("Halt")
        (block, values), tape = given[0], self._writing.tape
        run = tape.start(self.control)
        while True:
            self.device.use()  # who asks for more may be another thread
            for _ in run.launches():
                self._look(run)
            if run.ended:
                return
            yield block, values, run

    def _look(self, run: Run) -> None:
        self._writing.check_choices()
        self.found = run.cells(self._writing.found, len(self.program.levels)).copy()
        self.found[self._writing.width - 1] += self._writing.given
        self.control.reached(self._writing.fraction(run))

    def _answered(self, block: Block, values: Sums, run: Run) -> Iterator[PartialMatches]:
        """A block with its sums on the host, less what cannot be finished."""
        count, begin = run.register(block.rows), run.register(block.offset)
        columns = np.empty((self._writing.table.last + 1, count), np.int32)
        for number, column in enumerate(columns):
            column[:] = self._column(block, number, begin, count)
        if not self.program.summing:
            self.control.found(count)
            yield PartialMatches(columns, count)
            return
        sums = self.device.read(values.sums, count, np.uint64)
        sizes = self.device.read(values.sizes, count, np.float64)
        kept = np.flatnonzero(sizes > 0)
        if len(kept):
            self.control.found(len(kept))
            yield PartialMatches(np.ascontiguousarray(columns[:, kept]), len(kept), sums[kept], sizes[kept])

    def _column(self, block: Block, number: int, begin: int, count: int) -> NDArray[np.int32]:
        if not block.columns:
            return np.arange(begin, begin + count, dtype=np.int32)
        return self.device.read(block.columns + 4 * (number * block.stride + begin), count, np.int32)

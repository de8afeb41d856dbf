"""One level of a program on a tape: the rows that partial matches have there, and what is tried of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gquery.executor.gpu.program.blocks import Block, Work
from gquery.executor.gpu.program.table import NO_SUMS, Sums, Table

ITEMS = 1 << 26  # tried in one operation, which nothing stops


class Levels:
    """capacity: partial matches of a block at most. found: cells with the matches of each level."""

    def __init__(self, table: Table, capacity: int, found: int) -> None:
        self.table = table
        self.tape = table.tape
        self.capacity = capacity
        self.found = found

    def new_sums(self, count: int) -> Sums:
        return Sums(self.tape.room.take(8 * count), self.tape.room.take(8 * count))

    def most(self, level: int, block: Block) -> int:
        """At least as many as a level tries of a block."""
        most = block.most * self.table.longest[level]
        return min(most, self.table.entries[level]) if block.once else most

    def _work(self, level: int, block: Block, sums: Sums) -> Work:
        """Measures rows; the sums of all partial matches are zero then."""
        tape, take = self.tape, self.tape.room.take
        rows = len(self.table.program.levels[level].backward)
        ranges = take(16 * rows * block.most) if rows > 1 else 0
        work = Work(
            take(8 * block.most), take(block.most), take(8 * block.most), ranges, block.most, tape.register(),
            tape.register(), self.most(level, block),
        )  # fmt: skip
        partials = take(8 * self.tape.device.blocks)
        tape.add(
            "MeasureRows", self.table.words, level, *block.words, *work.words, partials, *sums, rows=block.rows,
            writes=[*work.arrays, *sums], gathers=[block.columns], scatters=[partials],
        )  # fmt: skip
        tape.add(
            "RunningSums", work.ends, block.rows, partials, work.total, work.first, rows=block.rows,
            writes=[work.ends], gathers=[partials],
        )  # fmt: skip
        tape.wait()  # whoever goes through the items looks for them in the sums of all rows
        return work

    def _items(self, work: Work, size: int, piece: Callable[[int, int], None]) -> None:
        """What is tried of a block's rows, piece by piece: registers with the first and the last of the items."""
        tape = self.tape
        if work.most <= size:
            piece(work.first, work.total)
            return
        last, count = tape.register(), tape.register()
        begin = tape.jump("NextPiece", work.first, last, count, work.total, tape.constant(size), 0)
        piece(work.first, last)
        tape.jump("Again", work.first, last, tape.constant(size), 0, begin)
        tape.patch(begin, 5, tape.here)
        tape.wait()

    def extend(
        self, level: int, block: Block, sums: Sums, behind: Callable[[Block, int], None], found: int | None = None
    ) -> None:
        """The partial matches of a block with one more vertex, piece by piece, and which of the block they extend.
        sums: become zero. found: a cell that counts them, the level's own when it is not given."""
        tape, take, work = self.tape, self.tape.room.take, self._work(level, block, sums)
        most = max(1, min(self.capacity, work.most))
        columns, parents = take(4 * len(self.table.layouts[level]) * most), take(4 * most)
        written, base, count = found or self.found + level, tape.register(), tape.register()

        def piece(first: int, last: int) -> None:
            tape.add(
                "Extend", self.table.words, level, *block.words, *work.words, first, last, columns, most, parents,
                written, base, gathers=[block.columns, *work.arrays], scatters=[columns, parents],
            )  # fmt: skip
            any_written = tape.jump("Written", written, base, count, 0, waits=True)
            behind(Block(columns, most, tape.constant(0), count, most), parents)
            tape.patch(any_written, 3, tape.here)
            tape.wait()

        self._items(work, self.capacity, piece)

    def tried(
        self,
        level: int,
        block: Block,
        behind: Callable[[Sequence[int]], None],
        sums: Sums = NO_SUMS,
        most: int = ITEMS,
    ) -> None:
        """What a level tries of a block, piece by piece of so many: the words of an operation that goes through it.
        sums: become zero."""
        work = self._work(level, block, sums)
        asked = self.table.words, level, *block.words, *work.words
        self._items(work, most, lambda first, last: behind((*asked, first, last)))

    def count(self, level: int, block: Block, into: Sums) -> None:
        """Counts what passes, or adds up the product of its factors where sums have sizes."""
        name, touched = "SumFactors" if into.sizes else "Count", [each for each in into if each]

        def asked(words: Sequence[int]) -> None:
            self.tape.add(name, *words, *touched, self.found + level, scatters=touched)

        self.tried(level, block, asked, into)

"""Writes the tape of a program: folds, then the start pool block by block, level by level."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.errors import UnsupportedError
from gquery.executor.backend import Ranks
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.program.blocks import Block, Ways
from gquery.executor.gpu.program.inside import Neighbourhoods
from gquery.executor.gpu.program.levels import Levels
from gquery.executor.gpu.program.pool import positions_of, shuffled
from gquery.executor.gpu.program.pushing import Pushing, chains_with_ends
from gquery.executor.gpu.program.table import NO_SUMS, Sums, Table
from gquery.executor.gpu.shares import Shares
from gquery.executor.gpu.tape import Run, Tape
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.pushed import pushed

_ARENA = 2 << 30  # bytes at most, for the blocks of all levels together
_LARGEST_BLOCK = 1 << 21  # partial matches
_LISTED = 4  # times as large are blocks and arena at most where blocks are the answer, which the host gets one by one
_SMALLEST_BLOCK = 1 << 8
_FIRST_LIMITED = 1 << 10  # partial matches of the first block when few matches are enough
_LOOKS = 1 << 30  # into rows of what is tried, at most, in one operation
_ROW = 120  # bytes of a partial match besides its positions: work, values, and those of the branches below
_CAPS = {None: 0, "optional": 1, "exists": 2, "absent": 3}


class Share(NamedTuple):
    """Registers with the first root of a share, the one behind its last, and whether there may be more."""

    first: int
    end: int
    more: int


class Writing:
    """pool: as in `Candidates.start`; shared: roots, or tasks below them, come share by share; given: its partial
    matches, of so many levels (width). found: cells with the matches of each level but those that were given."""

    def __init__(
        self,
        program: Program,
        candidates: CandidateSets,
        ranks: Sequence[Ranks],
        pool: NDArray[np.int32] | None,
        shared: bool = False,
    ) -> None:
        found = chains_with_ends(program) if program.strategy == "push" else []
        program = pushed(program) if found else program
        self.program = program
        self.tape = Tape(candidates.device)
        self.table = Table(program, candidates, ranks, self.tape, pool is None)
        self.device = candidates.device
        self._zero = self.tape.constant(0)
        available = candidates.control.memory.available
        self._capacity = self._block_size(available)
        self.found = self.tape.cell(len(program.levels))
        self.levels = Levels(self.table, self._capacity, self.found)
        self._pushing = Pushing(self.levels, found, available) if found else None
        self._inside = Neighbourhoods.of(self.levels, available)
        self._reached = self._zero
        self._dealing = self._inside.deal() if shared and self._inside else None
        at_roots = shared and self._dealing is None
        self._share = Share(*(self.tape.register(each) for each in (0, 0, 1))) if at_roots else None
        self._at_all = pool is None
        self.width = 1 if pool is None else len(pool)
        self.given = len(self.table.sets[0])
        if pool is not None or at_roots:
            placed = shuffled(self.table) if pool is None else positions_of(self.table, pool)
            self.given = placed.shape[1]
            self._pool = self.tape.room.take(placed.nbytes)
            self.device.write(self._pool, placed)
        else:
            self._pool = 0 if program.space == "candidates" else self.table.sets[0].vertices
        most = max((len(level.weights) for level in program.levels), default=0)
        self._scratch = self.tape.room.take(8 + 5 * 8 * most * self.device.threads) if most else 0
        if most:
            self.device.write(self._scratch, np.zeros(1, np.int64))

    def whole_run(self) -> AbstractContextManager[None]:
        """While the tape runs from its beginning to its end."""
        return self._pushing.zeroed() if self._pushing else nullcontext()

    def fraction(self, run: Run) -> float:
        """The share of the start pool that is done."""
        return 1.0 if run.ended else run.register(self._reached) / max(1, self.given)

    def check_choices(self) -> None:
        """Raises UnsupportedError when a thread that counted choices of edges gave up: see kernels/choices.cuh."""
        if self._scratch and self.device.read(self._scratch, 1, np.int64)[0]:
            raise UnsupportedError(
                "there are too many ways to choose edges of types that overlap for a kernel to try",
                hint="use device='cpu'",
            )

    def matches(self, behind: Callable[[Block], None], until: int | None = None) -> None:
        """Writes all: what is behind gets the matches of the listed levels, or until another one, block by block."""
        self._fold()
        most = min(self._capacity, self._pushing.roots) if self._pushing else self._capacity
        first = most if self.program.limit is None else min(most, _FIRST_LIMITED)

        def piece(first: int, last: int, count: int, most: int) -> None:
            self._reached = first
            begun = Block(self._pool, self.given, first, count, most, self._at_all)
            self._listed(self.width, begun, behind, self.table.last if until is None else until)

        if self._share is None:
            self._in_pieces(self.given, first, most, piece)
        else:
            self._in_shares(self._share, most, piece)

    def _in_shares(self, share: Share, most: int, piece: Callable[[int, int, int, int], None]) -> None:
        """Goes through the roots of a share piece by piece and halts, as long as there may be more."""
        tape, (first, end, more) = self.tape, share
        last, own, step = tape.register(), tape.register(), tape.constant(most)
        begin = tape.jump("NextPiece", first, last, own, end, step, 0)
        piece(first, last, own, most)
        tape.jump("Again", first, last, step, 0, begin)
        tape.patch(begin, 5, tape.here)
        tape.jump("Halt")
        over = tape.jump("Unless", more, 1, 0)
        tape.jump("Unless", self._zero, 1, begin)
        tape.patch(over, 2, tape.here)

    def take_share(self, run: Run, shares: Shares) -> None:
        """What the next launches go through, where a tape has halted for more."""
        if self._dealing:
            self._dealing.take(run, shares, self._reached, self.given)
        elif self._share:
            taken = shares.next(self.given)
            run.set(self._share.first, *(taken or (0, 0)), int(taken is not None))

    @property
    def alike(self) -> Hashable:
        """What has to be the same where a count is shared: what a share of it is."""
        return self.table.ranked is None, self._dealing and (self._capacity, self._inside and self._inside.room)

    def ways(self, level: int, block: Block) -> Ways:
        """The ways to finish each partial match of a block that ends with the level: the product over the branches."""
        if self.table.is_bare(level):
            if self._pushing and level == 0:
                return Ways(*self._pushing.sums(block), 0, 0, 0)
            if len(self.table.deeper[level]) == 1:
                return self._branch(self.table.deeper[level][0], block)
        return Ways(*self.values(level, block), 0, 0, 0)

    def values(self, level: int, block: Block) -> Sums:
        """The same in arrays of their own, finished."""
        values = self.levels.new_sums(block.most)
        asked = self.table.words, level, *block.words
        for weighing in self.table.weighed(level):
            self.tape.add(
                "BeginValues", *asked, weighing, self._scratch, *values, rows=block.rows, writes=values,
                gathers=[block.columns],
            )  # fmt: skip
        branches: dict[int, Ways] = {}
        if self._pushing and level == 0:
            branches[0] = Ways(*self._pushing.sums(block), 0, 0, 0)
        else:
            for child in self.table.deeper[level]:
                known = branches.get(self.program.levels[child].like)
                branches[child] = self._branch(child, block, known)
        for ways in branches.values():
            self.tape.add("Multiply", *ways, block.rows, *values, rows=block.rows, writes=values, **ways.touched())
        return values

    def add_to_totals(self, block: Block, totals: Sums) -> None:
        """Adds up what matches of all listed levels count."""
        ways = self.ways(self.table.last, block)
        self.tape.add("AddToTotals", *ways, block.rows, *totals, rows=block.rows, **ways.touched())

    # --- the start -----------------------------------------------------------------------------------------------

    def _block_size(self, available: int | None) -> int:
        """Partial matches of a block, so that one for each level fits the arena."""
        times = 1 if self.program.summing or self.program.limit is not None else _LISTED
        arena = min(times * _ARENA, self.device.free_bytes() // (2 * times))
        if available is not None:
            arena = min(arena, available // 2)
        levels = max(1, len(self.program.levels))
        return max(_SMALLEST_BLOCK, min(times * _LARGEST_BLOCK, arena // (levels * (_ROW + 4 * levels))))

    def _in_pieces(self, count: int, size: int, most: int, piece: Callable[[int, int, int, int], None]) -> None:
        """What begins with so many rows, piece by piece of `size` rows at first and twice as many each time, up to
        `most`: registers with the first, the last and the number of rows, and how many there are at most."""
        tape, total = self.tape, self.tape.constant(count)
        if count <= size:
            piece(self._zero, total, total, count)
            return
        first, last, own, step = tape.register(), tape.register(), tape.register(), tape.register(size)
        begin = tape.jump("NextPiece", first, last, own, total, step, 0)
        piece(first, last, own, min(count, most))
        tape.jump("Again", first, last, step, most, begin)
        tape.patch(begin, 5, tape.here)
        tape.wait()

    # --- listing -------------------------------------------------------------------------------------------------

    def _listed(self, level: int, block: Block, behind: Callable[[Block], None], until: int) -> None:
        """The matches of the levels until another that begin with the partial matches of a block."""
        if level > until:
            behind(block)
        else:
            self.levels.extend(
                level, block, NO_SUMS, lambda extended, _: self._listed(level + 1, extended, behind, until)
            )

    # --- sums ----------------------------------------------------------------------------------------------------

    def _fold(self) -> None:
        """Computes all factors, the deepest first."""
        for level in sorted(self.table.factors, reverse=True):
            positions = self.table.sets[self.program.levels[level].parent]
            columns = 0 if self.program.space == "candidates" else positions.vertices

            def piece(first: int, _: int, count: int, most: int, level: int = level, columns: int = columns) -> None:
                block, factor = Block(columns, 0, first, count, most, once=True), self.table.factors[level]
                found = self._sum(level, block)
                self.tape.add(
                    "StoreFactors", *self._finished(level, found)[:4], *block.words, *factor, rows=count, reads=found,
                    scatters=factor,
                )  # fmt: skip

            self._in_pieces(len(positions), self._capacity, self._capacity, piece)
        if self.table.factors:
            self.tape.wait()

    def _finished(self, level: int, found: Sequence[int], context: int = 0) -> Ways:
        """What sums over a level count as."""
        step = self.program.levels[level]
        return Ways(found[0], found[1], step.minus, _CAPS[step.cap], context)

    def _branch(self, level: int, block: Block, like: Ways | None = None) -> Ways:
        """The ways of one branch below a block; like: those of another that has the same sums."""
        if like is not None:
            return self._finished(level, like, like.context)
        if self.table.is_merged(level):
            return self._merged(level, block)
        return self._finished(level, self._sum(level, block))

    def _merged(self, level: int, block: Block) -> Ways:
        """Equal contexts are summed once where the plan says that there are many."""
        tape, take, layout = self.tape, self.tape.room.take, self.table.layouts[self.program.levels[level].parent]
        outer, slots = self.table.outer[level], 1 << (2 * block.most - 1).bit_length()
        keys = tape.room.hold(self.device.xp.zeros(slots, np.uint64))
        numbers, slot_of, context = take(4 * slots), take(4 * block.most), take(4 * block.most)
        columns = take(4 * len(outer) * block.most)
        written, base, count = tape.cell(), tape.register(), tape.register()
        tape.add(
            "FindContexts", *block.words, len(outer), tape.data([layout.index(each) for each in outer]),
            tape.data([self.table.positions_of(each) for each in outer]), slots, keys, numbers, slot_of, columns,
            block.most, written, base, rows=block.rows, writes=[slot_of], gathers=[block.columns],
            scatters=[keys, numbers, columns],
        )  # fmt: skip
        any_found = tape.jump("Written", written, base, count, 0, waits=True)
        tape.patch(any_found, 3, tape.here)
        tape.add(
            "NumberContexts", block.rows, keys, numbers, slot_of, context, rows=block.rows, reads=[slot_of],
            writes=[context], gathers=[numbers], scatters=[keys],
        )  # fmt: skip
        found = self._sum(level, Block(columns, block.most, self._zero, count, block.most, once=len(outer) == 1))
        return self._finished(level, found, context)

    def _sum(self, level: int, block: Block) -> Sums:
        """The sum over a level and all below it, for each partial match of a block."""
        if self._inside and self.program.levels[level].parent == 0 and self.table.children[level]:
            return self._inside.sums(level, block, self._dealing)
        if self.table.common_leaves(level):
            return self._common(level, block)
        if self.table.deeper[level] or self.program.levels[level].weights:
            found = self.levels.new_sums(block.most)
            self.levels.extend(
                level, block, found, lambda extended, parents: self._add_up(level, extended, parents, found)
            )
            return found
        if self.table.is_row(level):
            found = Sums(self.tape.room.take(8 * block.most), 0)
            self.tape.add(
                "CountRows", self.table.words, level, *block.words, found.sums, self.found + level, rows=block.rows,
                writes=found[:1], gathers=[block.columns],
            )  # fmt: skip
            return found
        folded = bool(self.table.children[level])
        found = self.levels.new_sums(block.most) if folded else Sums(self.tape.room.take(8 * block.most), 0)
        self.levels.count(level, block, found)
        return found

    def _common(self, level: int, block: Block) -> Sums:
        """The sum over a level and its leaves, which are gone through at once."""
        found, (leaf, *others) = self.levels.new_sums(block.most), self.table.common_leaves(level)
        ways = [word for each in (leaf, *others) for word in self._finished(level=each, found=found)[2:4]]
        asked = leaf, 1 + len(others), self.tape.data(ways)
        cells = self.found + level, self.found + leaf

        def count(words: Sequence[int]) -> None:
            self.tape.add("SumCommon", *words, *asked, *found, *cells, scatters=found)

        self.levels.tried(level, block, count, found, self._piece(self.table.longest[leaf]))
        return found

    def _piece(self, longest: int) -> int:
        """Vertices that one operation tries, whose rows have so many entries at most: as many as keep it short whatever
        their rows are, but one for each thread at least, since few rows are the longest."""
        return max(self.tape.device.threads, _LOOKS // max(1, longest))

    def _add_up(self, level: int, block: Block, parents: int, into: Sums) -> None:
        ways = self.ways(level, block)
        touched = ways.touched()
        touched["reads"] = [*touched["reads"], parents]
        self.tape.add("AddUp", *ways, parents, block.rows, *into, rows=block.rows, scatters=into, **touched)

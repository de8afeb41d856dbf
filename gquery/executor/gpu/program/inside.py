"""Writes sums inside the neighbourhoods of roots on a tape: bitsets first (kernels/neighbourhood.cuh), then what goes
through them (kernels/inside.cuh, alone.cuh), task by task (kernels/tasks.cuh, drawing.cuh)."""

from __future__ import annotations

from typing import NamedTuple

from gquery.executor.gpu.program.blocks import Block
from gquery.executor.gpu.program.levels import Levels
from gquery.executor.gpu.program.table import Sums, Table
from gquery.executor.gpu.resident import DeviceRows
from gquery.executor.gpu.shares import Shares
from gquery.executor.gpu.tape import Run, Tape
from gquery.executor.lowering.sums.tallied import tallied_levels

_LEVELS = 7  # as in kernels/neighbourhood.cuh
_MEMBERS = 1 << 16  # of a root
_BITSETS = 1 << 30  # bytes at most
_BITS = 32
_PIECES = 4  # of a word, where little is below its members
_STOP = 2048  # bytes of a `Stop` of kernels/tasks.cuh, at most
_ALONE = 8  # words of a root
_ALONE_PAIRS = 8  # the same where a lane takes a candidate of the second level
_ALONE_TALLIED = 7  # the same where a lane tallies: numbers of members have to fit FEW_PLANES of kernels/tally.cuh
_NOT_TALLIED, _ANY_TALLY, _IN_PAIRS = range(3)  # as in kernels/possible.cuh


class Dealing(NamedTuple):
    """Registers by which the host deals out handfuls of tasks: how many there are, of which roots (from one to
    another), from which one on and until which warps may draw them now, and whether there may be more."""

    handfuls: int
    first: int
    last: int
    begin: int
    end: int
    open: int

    @classmethod
    def by(cls, tape: Tape) -> Dealing:
        return cls(*(tape.register() for _ in cls._fields))

    def take(self, run: Run, shares: Shares, reached: int, roots: int) -> None:
        """What the next launches go through. reached: the register with the first root of a block, of so many."""
        begun, first, last = (run.register(each) for each in (reached, self.first, self.last))
        span = (begun + first) / roots, (begun + last) / roots
        taken = shares.next(run.register(self.handfuls), (begun, first), span)
        run.set(self.begin, *(taken or (0, 0)), int(taken is not None))


class Neighbourhoods:
    """What is written once for a program: what kernels ask of its levels, and room for bitsets."""

    def __init__(self, levels: Levels, members: DeviceRows, available: int | None) -> None:
        self.levels = levels
        self.tape = levels.tape
        self.table = levels.table
        self._members = members
        self._kinds = kinds_of(self.table)
        self._tallied = tallied_levels(self.table.program)
        size = _BITSETS if available is None else min(_BITSETS, available // 4)
        self.room = min(self._most_words(), size // (4 * len(self._kinds)))
        self._bits = self.tape.room.take(4 * self.room * len(self._kinds)) if self._is_enough else 0

    @classmethod
    def of(cls, levels: Levels, available: int | None) -> Neighbourhoods | None:
        """None where the card has another way for a program, or has no room for the neighbours of a single vertex."""
        table = levels.table
        members = members_of(table)
        if table.program.strategy != "inside" or len(table.program.levels) > _LEVELS or len(members) != 1:
            return None
        (rows,) = members
        if table.last or not kinds_of(table):
            return None
        found = cls(levels, rows, available)
        return found if found._is_enough else None

    @property
    def _is_enough(self) -> bool:
        """Whether there is room for any root."""
        return self._members.longest <= _MEMBERS and self._words_of(self._members.longest) <= self.room

    def _words_of(self, members: int) -> int:
        """The words of a root of so many members."""
        return -(-members // _BITS) * (members + len(self.table.program.levels))

    def _most_words(self) -> int:
        """Those of all roots, at most."""
        rows, levels = self._members, len(self.table.program.levels)
        return max(1, -(-rows.longest // _BITS) * (rows.entries + levels * min(rows.count, rows.entries)))

    def deal(self) -> Dealing | None:
        """What the tasks of a program are dealt out by to several cards. None where the sums over the tasks that each
        has do not add up: other branches and limits are of all that is below a root."""
        below = self.table.children[0]
        if len(below) > 1 or below != self.table.deeper[0] or not self.table.children[below[0]]:
            return None
        level = self.table.program.levels[below[0]]
        return None if level.minus or level.cap else Dealing.by(self.tape)

    def sums(self, level: int, block: Block, dealing: Dealing | None) -> Sums:
        """The sums over a level right below the roots of a block, and all below it. dealing: of those tasks that the
        host deals out."""
        tape, take, most = self.tape, self.tape.room.take, block.most
        found = self.levels.new_sums(most)
        begins, sizes, row_ends, ends = (take(width * most) for width in (8, 4, 8, 8))
        partials = [take(8 * self.tape.device.blocks) for _ in range(2)]
        inside = self._words([begins, sizes, row_ends, ends])
        total, begun = tape.register(), tape.cell(2)
        handfuls, first, last, begin, end, more = dealing or Dealing.by(tape)
        warps = tape.device.warps_apart["inside"]
        stops = take(_STOP * warps)
        tape.add(
            "MeasureInside", inside, *block.words, *partials, *found, rows=block.rows,
            writes=[row_ends, ends, *found], gathers=[block.columns], scatters=[begins, sizes, *partials],
        )  # fmt: skip
        for each, sums in zip((row_ends, ends), partials, strict=True):
            tape.add(
                "RunningSums", each, block.rows, sums, total, first, rows=block.rows, writes=[each], gathers=[sums]
            )
        rows, pieces = tape.register(), tape.register()
        second = self._second(level)
        each = self._pieces(second)
        tasks = rows if second < 0 else pieces
        piece = tape.jump(
            "NextInside", inside, first, last, block.rows, rows, pieces, each, 0, tasks, handfuls, end,
            int(dealing is not None), more, begun, stops, warps, waits=True,
        )  # fmt: skip
        roots = inside, *block.words, first, last
        tape.add("WriteInside", *roots, gathers=[begins, sizes, row_ends, ends], scatters=[self._bits])
        tape.wait()
        again = tape.add(
            "SumInsideApart", *roots, tasks, handfuls, end, level, second, each, self._alone(level), begun, stops,
            *found, self.levels.found,
            gathers=[self._bits], scatters=found,
        )  # fmt: skip
        asked = tape.jump("MoreInside", begun, end, more, again, 0, waits=True)
        tape.jump("Again", first, last, tape.constant(0), 0, piece)
        if dealing:
            tape.patch(asked, 4, tape.here)
            tape.jump("Halt")
            tape.jump("Dealt", begun, begin)
            tape.jump("Unless", tape.constant(0), 1, asked)
        tape.patch(piece, 7, tape.here)
        tape.wait()
        return found

    def _second(self, level: int) -> int:
        """The level of which a piece of a word is a task of its own, where there is enough below it; else -1."""
        inner = self._inner(level)
        return inner[0] if len(inner) == 1 and self._inner(inner[0]) else -1

    def _pieces(self, second: int) -> int:
        """Of a word, which are tasks of their own: each of its members where much is below them."""
        return _BITS if second >= 0 and any(map(self._inner, self._inner(second))) else _PIECES

    def _alone(self, level: int) -> int:
        """The most words of a root whose tasks are for a lane each: where there is one level of candidates below a
        member, or below one and a candidate, and roots have few members, since these lead up."""
        inner = self._inner(level)
        if len(inner) != 1:
            return 0
        if below := self._inner(inner[0]):
            lanes = self.table.oriented and len(below) == 1 and below[0] not in self._tallied
            return _ALONE_PAIRS if lanes and not self._inner(below[0]) else 0
        return _ALONE_TALLIED if inner[0] in self._tallied else _ALONE if self.table.oriented else 0

    def _words(self, arrays: list[int]) -> int:
        """Where the words of an `Inside` are."""
        data, kinds = self.tape.data, self._kinds
        levels = [word for level in range(len(self.table.program.levels)) for word in self._level(level)]
        rows = [word for each in kinds for word in (0, *each.words_in_program)]
        members = 0, *self._members.words_in_program
        return data(
            [
                self.table.words, data(levels), len(self.table.program.levels), *members, int(are_larger(self.table)),
                len(kinds), data(rows), *arrays, self._bits, self.room,
            ]
        )  # fmt: skip

    def _level(self, number: int) -> list[int]:
        """The words of one level's `InsideLevel`."""
        level, data = self.table.program.levels[number], self.tape.data
        rows = [
            word
            for each in level.backward
            if each.level and not level.folded
            for word in (self._kinds.index(self.table.walked(each, number)), each.level)
        ]
        different, smaller = (
            [each for each in those if each] for those in (level.different, self.table.smaller(number))
        )
        inner = self._inner(number)
        leaves = [each for each in self.table.deeper[number] if each not in inner]
        lists = rows, different, smaller, inner, leaves
        counts = len(rows) // 2, *map(len, lists[1:])
        return [level.minus, level.like, self._tally(number), *counts, *map(data, lists)]

    def _tally(self, number: int) -> int:
        """How the kernels count what hangs on a level."""
        if number not in self._tallied:
            return _NOT_TALLIED
        taken = [self.table.program.levels[each].minus for each in self.table.deeper[number]]
        return _IN_PAIRS if taken == [0, 1] else _ANY_TALLY

    def _inner(self, number: int) -> list[int]:
        """The levels below one that are gone through: those with something below, or folded into them."""
        return [each for each in self.table.deeper[number] if self.table.children[each]]


def are_larger(table: Table) -> bool:
    """Whether all members must be larger than their root, be it by way of others."""
    larger = {0}
    for number in range(len(table.program.levels)):
        if larger.intersection(table.smaller(number)):
            larger.add(number)
    return all(number in larger or level.folded for number, level in enumerate(table.program.levels))


def members_of(table: Table) -> set[DeviceRows]:
    """The rows of the root that the levels below it are in."""
    return {
        table.walked(rows, number)
        for number, level in enumerate(table.program.levels)
        if not level.folded
        for rows in level.backward
        if rows.level == 0
    }


def kinds_of(table: Table) -> list[DeviceRows]:
    """The rows among members."""
    found = (
        table.walked(rows, number)
        for number, level in enumerate(table.program.levels)
        if not level.folded
        for rows in level.backward
        if rows.level
    )
    return list(dict.fromkeys(found))

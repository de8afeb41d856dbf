"""Answers that are numbers of matched vertices: the tape of a list writes their columns itself (kernels/gather.cuh)."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.executor.gpu.device import DeviceArray
from gquery.executor.gpu.program.blocks import Block
from gquery.executor.gpu.program.levels import ITEMS
from gquery.executor.gpu.program.writing import Writing
from gquery.executor.gpu.tape import Run

_HANDED = 1 << 22  # rows that are written in one go where they are handed to the host


class Gathering:
    """Columns of an answer. asked: of each the level whose vertices have these numbers, an array by vertex. known: so
    many rows are there in all, and find room; else launches halt when the next block might not."""

    def __init__(self, writing: Writing, asked: Sequence[tuple[int, DeviceArray]], known: int | None) -> None:
        tape = self._tape = writing.tape
        self._writing = writing
        self._table = writing.table
        self._asked = asked
        self._known = known
        self._out = [tape.register() for _ in asked]  # one behind the other, as the two after them
        self._written, self._room = tape.register(), tape.register()
        self._most = 0  # rows that are written at once
        if writing.width > self._table.last:
            writing.matches(self._write)
        else:
            writing.matches(self._extend, self._table.last - 1)
        tape.jump("Halt")

    def _write(self, block: Block) -> None:
        """What was given is all that is matched."""
        self._most = block.most
        columns = self._columns()
        self._tape.add("Gather", *block.words, *columns, gathers=[block.columns])
        self._count(block.rows)

    def _extend(self, block: Block) -> None:
        """The last level's vertices go right where they belong."""
        tape, levels, last = self._tape, self._writing.levels, self._table.last
        columns, written, base, count = self._columns(), levels.found + last, tape.register(), tape.register()
        at_once = min(_HANDED, levels.capacity) if self._known is None else ITEMS
        self._most = max(1, min(at_once, levels.most(last, block)))

        def piece(words: Sequence[int]) -> None:
            tape.add("GatherExtended", *words, *columns, written, base, gathers=[block.columns])
            any_written = tape.jump("Written", written, base, count, 0, waits=True)
            self._count(count)
            tape.patch(any_written, 3, tape.here)

        levels.tried(last, block, piece, most=self._most)

    def _count(self, rows: int) -> None:
        """Halts when the next rows might not find room."""
        tape = self._tape
        tape.add("Advance", rows, self._written, self._room)
        full = tape.jump("Unless", self._room, self._most, 0)
        goes_on = tape.jump("Unless", tape.constant(0), 1, 0)
        tape.patch(full, 2, tape.here)
        tape.jump("Halt")
        tape.patch(goes_on, 2, tape.here)
        tape.wait()

    def _columns(self) -> tuple[int, int, int]:
        """The words of `Columns`."""
        by_vertex, sets = self._table.program.space == "vertices", self._table.sets
        words: list[int] = []
        for (level, values), out in zip(self._asked, self._out, strict=True):
            positions = 0 if by_vertex else sets[level].vertices
            words += level, positions, self._tape.device.address(values), values.dtype.itemsize, out
        return self._tape.data(words), len(self._asked), self._written

    def hand_over(self, run: Run) -> list[DeviceArray]:
        """Arrays that the next launches write to."""
        rows, left = (self._most, 0) if self._known is None else (self._known, self._most)
        arrays = [self._tape.device.xp.empty(rows, values.dtype) for _, values in self._asked]
        addresses = map(self._tape.device.address, arrays)
        run.set([*self._out, self._written][0], *addresses, 0, rows + left)
        return arrays

    def rows(self, run: Run) -> int:
        """How many have been written since."""
        return run.register(self._written)

"""Writes a sum with an order of its own for each partial match on a tape: candidates and rows as bitsets
(kernels/left.cuh), then warps that go through them (kernels/adaptive.cuh, giving.cuh)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.gpu.candidates.candidate_set import CandidateSet
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.program.blocks import Ways
from gquery.executor.gpu.program.table import Sums
from gquery.executor.gpu.tape import Run, Tape
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.adapting import Arrangement, Leading

MOST_LEVELS = 32  # as in kernels/left.cuh
_NODE = 80  # bytes of a `Node` of kernels/adaptive.cuh
_STANDING, _ENTRY = 24, 32  # of a `Standing`, and of what is remembered of a sum
_SLOTS = 1 << 20  # sums that are remembered, at most
_SHARE = 4  # of the memory that there is may be taken for rows, as much for sums, and for what warps have in hand


class Adapting:
    """What is written for a program. totals, found: cells with what all blocks have found, and with the matches of each
    level."""

    def __init__(self, program: Program, candidates: CandidateSets) -> None:
        """Raises MemoryLimitError where there is no room for it."""
        self.tape = Tape(candidates.device)
        self.device = candidates.device
        self._candidates = candidates
        self._sets = [candidates.common(level.candidates) for level in program.levels]
        fetched = {each: each.fetched() for each in set(self._sets)}
        vertices = [fetched[each] for each in self._sets]
        self._arranged = Arrangement(program, vertices, lambda one, other: _overlap(vertices[one], vertices[other]))
        self.found = self.tape.cell(len(program.levels))
        self.totals = Sums(*(self.tape.cell(self.device.blocks) for _ in range(2)))
        self._begun = self.tape.cell(3)
        available = candidates.control.memory.available
        free = self.device.free_bytes()
        self._share = (free if available is None else min(free, available)) // _SHARE
        self._roots = self._arranged.numbers(0).astype(np.int64)
        self._write()

    def fraction(self, run: Run) -> float:
        """About the share that is done."""
        return 1.0 if run.ended else float(run.cells(self._begun, 3).view(np.float64)[2])

    def _write(self) -> None:
        tape, take = self.tape, self.tape.room.take
        rows = self._rows()
        warps = min(tape.device.warps_apart["adaptive"], self._share // (8 * self._words))
        slots = min(_SLOTS, 1 << (self._share // _ENTRY).bit_length() - 1) if warps else 0
        if not slots:
            raise MemoryLimitError("there is no room on the card for sums with an order for each partial match")
        standing, sums, remembered = map(self._zeros, (_STANDING * warps, 16 * warps, slots * _ENTRY))
        asking, places = take(16 + 8 * warps), take(8 * self._words * warps)
        asked = [
            self._pattern(rows), self._uploaded(self._roots), len(self._roots), self._begun,
            asking, standing, asking + 16, asking + 16 + 4 * warps, places, self._words, warps, remembered, slots,
            sums, sums + 8 * warps, self.found,
        ]  # fmt: skip
        again = tape.add("Copy", 0, asking, 16 + 8 * warps, scatters=[asking])
        tape.wait()
        tape.add("SumAdaptivelyApart", *asked, scatters=[sums])
        tape.jump("MoreRoots", self._begun, len(self._roots), again, waits=True)
        ways, count = Ways(sums, sums + 8 * warps, 0, 0, 0), tape.constant(warps)
        tape.add("AddToTotals", *ways, count, *self.totals, rows=count, **ways.touched())
        tape.jump("Halt")

    @property
    def _words(self) -> int:
        """Of what a warp has in hand, as kernels/adaptive.cuh lays it out."""
        width = len(self._sets)
        return MOST_LEVELS * _NODE // 8 + ((width + 1) * width + 1) // 2 + width * int(self._arranged.begins[-1])

    def _rows(self) -> list[int]:
        """Writes the rows between any two levels, both ways, as bitsets; their addresses."""
        size, width = self._arranged.bytes_of_rows, len(self._sets)
        if size > self._share:
            raise MemoryLimitError(f"there is no room on the card for {size / 1e6:,.1f} MB of rows as bitsets")
        leading, addresses = self._arranged.leading(), [0] * (width * width)
        for alike, address in zip(
            leading.values(), self._written([first for first, *_ in leading.values()]), strict=True
        ):
            for each in alike:
                addresses[each.source * width + each.target] = address
        return addresses

    def _written(self, leading: Sequence[Leading]) -> list[int]:
        """Where the bitsets of rows are, once those that all have to be in have been kept."""
        kinds, tape = self._kinds(), self.tape
        asked = [[(rows, kinds[each.source], kinds[each.target]) for rows in each.rows] for each in leading]
        edges = self._candidates.candidate_edges(chain.from_iterable(asked), tape)
        words = [int(self._arranged.words[each.target]) for each in leading]
        sizes = [8 * count * len(self._arranged.kinds[each.source]) for count, each in zip(words, leading, strict=True)]
        ends = list(accumulate(size * len(rows) for size, rows in zip(sizes, asked, strict=True)))
        zeros = self._zeros(ends[-1] if ends else 0)
        places = [
            [zeros + end - size * number for number in range(len(rows), 0, -1)]
            for end, size, rows in zip(ends, sizes, asked, strict=True)
        ]
        for each, count, own in zip(asked, words, places, strict=True):
            for rows, place in zip(each, own, strict=True):
                tape.add("WriteBits", *edges[rows].words, count, place, gathers=[zeros])
        tape.wait()
        for (first, *others), size in zip(places, sizes, strict=True):
            for other in others:
                tape.add("KeepCommon", first, other, size // 8, gathers=[other], scatters=[first])
        return [first for first, *_ in places]

    def _zeros(self, size: int) -> int:
        """The address of so many bytes that are zero."""
        address = self.tape.room.take(size)
        self.tape.add("Copy", 0, address, size, scatters=[address])
        return address

    def _kinds(self) -> list[CandidateSet]:
        """By level the vertices that its candidates are numbered among."""
        made: dict[int, CandidateSet] = {}
        for kind, own in zip(self._arranged.kinds, self._sets, strict=True):
            if len(kind) == len(own):
                made[id(kind)] = own  # the others of the kind have no more
        for kind in self._arranged.kinds:
            if id(kind) not in made:
                made[id(kind)] = CandidateSet.of(self.device, kind, self._sets[0].universe)
        return [made[id(kind)] for kind in self._arranged.kinds]

    def _pattern(self, rows: Sequence[int]) -> int:
        """Where the words of a `Pattern` of kernels/left.cuh are."""
        arranged, data = self._arranged, self.tape.data
        lists = arranged.near.view(np.int64), arranged.different.view(np.int64), arranged.words, arranged.begins
        bits = arranged.bits()
        first = np.array([len(each) for each in arranged.vertices], np.uint32)
        return data(
            [
                len(self._sets), len(bits), *(data(each.tolist()) for each in lists),
                data(arranged.weights.view(np.int64).tolist()), data(rows), self._uploaded(bits), self._uploaded(first),
            ]
        )  # fmt: skip

    def _uploaded(self, values: NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.uint32]) -> int:
        address = self.tape.room.take(values.nbytes)
        self.device.write(address, values)
        return address


def _overlap(one: NDArray[np.int32], other: NDArray[np.int32]) -> bool:
    """Whether vertices that ascend have any in common with others that do."""
    if not len(one) or not len(other):
        return False
    places = np.searchsorted(one, other)
    return bool((one[np.minimum(places, len(one) - 1)] == other).any())

"""Writes a sum with an order of its own for each partial match on a tape: candidates and rows as bitsets
(kernels/left.cuh), then warps that go through them (kernels/adaptive.cuh, giving.cuh)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from gquery.errors import MemoryLimitError
from gquery.executor.gpu.candidates.candidate_set import CandidateSet
from gquery.executor.gpu.candidates.sets import CandidateSets
from gquery.executor.gpu.program.blocks import Ways
from gquery.executor.gpu.program.table import Sums
from gquery.executor.gpu.resident import DeviceRows
from gquery.executor.gpu.tape import Run, Tape
from gquery.executor.lowering.adapting import Arrangement, Leading
from gquery.executor.lowering.program import Program

MOST_LEVELS = 32  # as in kernels/left.cuh
_NODE = 80  # bytes of a `Node` of kernels/adaptive.cuh
_STANDING, _ENTRY = 16, 32  # of a `Standing`, and of what is remembered of a sum
_SLOTS = 1 << 20  # sums that are remembered
_SHARE = 4  # of the free memory may be taken for rows, and as much for what warps have in hand


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
        self._begun = self.tape.cell(2)
        self._roots = self._arranged.numbers(0).astype(np.int64)
        self._write()

    def fraction(self, run: Run) -> float:
        """The share of the roots that has been begun."""
        return 1.0 if run.ended else min(int(run.cells(self._begun)[0]), len(self._roots)) / max(1, len(self._roots))

    def _write(self) -> None:
        tape, take = self.tape, self.tape.room.take
        rows = self._rows()
        warps = min(tape.device.warps_apart["adaptive"], self.device.free_bytes() // (_SHARE * 8 * self._words))
        if not warps:
            raise MemoryLimitError("the card has no room for sums with an order for each partial match")
        standing, hands, sums = _STANDING * warps, 8 + 2 * warps, 16 * warps
        zeros = {each: take(size) for each, size in enumerate((standing, sums, _SLOTS * _ENTRY))}
        asking = take(8 * hands)
        places = take(8 * self._words * warps)
        for address, size in zip(zeros.values(), (standing, sums, _SLOTS * _ENTRY), strict=True):
            tape.add("Copy", 0, address, size, scatters=[address])
        asked = [
            self._pattern(rows), self._uploaded(self._roots), len(self._roots), self._begun,
            asking, zeros[0], asking + 16, asking + 16 + 4 * warps, places, self._words, warps, zeros[2], _SLOTS,
            zeros[1], zeros[1] + 8 * warps, self.found,
        ]  # fmt: skip
        again = tape.add("Copy", 0, asking, 8 * hands, scatters=[asking])
        tape.wait()
        tape.add("SumAdaptivelyApart", *asked, scatters=[places, zeros[1]])
        tape.jump("MoreRoots", self._begun, len(self._roots), again, waits=True)
        ways, count = Ways(zeros[1], zeros[1] + 8 * warps, 0, 0, 0), tape.constant(warps)
        tape.add("AddToTotals", *ways, count, *self.totals, rows=count, **ways.touched())
        tape.jump("Halt")

    @property
    def _words(self) -> int:
        """Of what a warp has in hand, as kernels/adaptive.cuh lays it out."""
        width = len(self._sets)
        return MOST_LEVELS * _NODE // 8 + ((width + 1) * width + 1) // 2 + width * int(self._arranged.begins[-1])

    def _rows(self) -> list[int]:
        """Writes the rows between any two levels, both ways, as bitsets; their addresses."""
        arranged, width = self._arranged, len(self._sets)
        size = arranged.bytes_of_rows
        if size > self.device.free_bytes() // _SHARE:
            raise MemoryLimitError(f"the card has no room for {size / 1e6:,.1f} MB of rows as bitsets")
        leading, kinds = arranged.leading(), self._kinds()
        asked = {
            key: [(rows, kinds[first.source], kinds[first.target]) for rows in first.rows]
            for key, (first, *_) in leading.items()
        }
        edges = self._candidates.candidate_edges(chain.from_iterable(asked.values()), self.tape)
        addresses = [0] * (width * width)
        for key, alike in leading.items():
            made = self._made([edges[each] for each in asked[key]], alike[0])
            for each in alike:
                addresses[each.source * width + each.target] = made
        return addresses

    def _made(self, edges: Sequence[DeviceRows], leading: Leading) -> int:
        """The address of what several rows have in common, as bitsets."""
        tape, words = self.tape, int(self._arranged.words[leading.target])
        size = 8 * words * len(self._arranged.kinds[leading.source])
        written: list[int] = []
        for each in edges:
            bits = tape.room.take(size)
            tape.add("Copy", 0, bits, size, scatters=[bits])
            tape.add("WriteBits", *each.words, words, bits, scatters=[bits])
            written.append(bits)
        for other in written[1:]:
            tape.add("KeepCommon", written[0], other, size // 8, gathers=[other], scatters=[written[0]])
        return written[0]

    def _kinds(self) -> list[CandidateSet]:
        """By level the vertices that its candidates are numbered among."""
        kinds, universe = self._arranged.kinds, self._sets[0].universe
        made = {id(kind): CandidateSet.of(self.device, kind, universe) for kind in kinds}
        return [made[id(kind)] for kind in kinds]

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

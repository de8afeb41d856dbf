"""A program in the words of kernels/program.cuh, and what of it each block of partial matches has to carry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Ranks
from gquery.executor.gpu.candidates import CandidateSets
from gquery.executor.gpu.device import DeviceArray
from gquery.executor.gpu.resident import DeviceRows
from gquery.executor.lowering.program import Choice, Compare, Level, Program, Rows

_OPERATORS = {"=": 0, "<>": 1, "<": 2, "<=": 3}
_LARGEST_KEY = 2**62


class Sums(NamedTuple):
    """uint64[n], modulo 2^64 or a run's modulus, and float64[n], about the same numbers."""

    sums: DeviceArray
    sizes: DeviceArray


class Pointer(NamedTuple):
    """The address of a word, once the first word has one."""

    offset: int


class Words:
    """64-bit words, some of which point to others."""

    def __init__(self) -> None:
        self._words: list[int | Pointer] = []

    def add(self, words: Sequence[int | Pointer]) -> int | Pointer:
        """Appends words and points to the first; null when there are none."""
        begin = len(self._words)
        self._words += words
        return Pointer(begin) if words else 0

    def reserve(self, count: int) -> int:
        """Room for words that are set later."""
        self._words += [0] * count
        return len(self._words) - count

    def set(self, begin: int, words: Sequence[int | Pointer]) -> None:
        self._words[begin : begin + len(words)] = words

    def at(self, address: int) -> NDArray[np.int64]:
        """The words when the first of them is at an address."""
        placed = [8 * each.offset + address if isinstance(each, Pointer) else each for each in self._words]
        return np.array(placed, np.int64)

    def __len__(self) -> int:
        return len(self._words)


class Table:
    """A program made ready: rows, ranks and sums on the device, and the addresses of all.

    factors[l]: the sums of a folded level by the position above it. layouts[l]: the levels whose positions a partial
    match that ends with level l carries, in the order of its columns. inputs[l]: the same for those that level l
    extends. longest[l]: at least as many positions as level l tries for any partial match.
    """

    def __init__(self, program: Program, candidates: CandidateSets, ranks: Sequence[Ranks]) -> None:
        self.program = program
        self.candidates = candidates
        self.device = candidates.device
        self.sets = [candidates.common(level.candidates) for level in program.levels]
        self.children = program.children()
        self.last = max(1, program.listed) - 1  # of the levels that are listed
        self.looked_at = [_looked_at(level, program) for level in program.levels]
        self.outer = self._outer_levels()
        self.layouts = [self._carried(level) for level in range(len(program.levels))]
        self.inputs = [self._given(level) for level in range(len(program.levels))]
        xp = self.device.xp
        self.factors = {level: self._new_factor(level) for level, each in enumerate(program.levels) if each.folded}
        self._ranks = [(xp.asarray(left), xp.asarray(right)) for left, right in ranks]
        if program.space == "candidates":
            candidates.candidate_edges(
                (rows, self.sets[rows.level], self.sets[number])
                for number, level in enumerate(program.levels)
                for rows in (*level.backward, *level.absent)
            )
        self.longest = [self._longest_row(level) for level in range(len(program.levels))]
        self._held: list[DeviceArray] = []  # what nobody else holds: the words have addresses alone
        self.words = self._written()

    @cached_property
    def deeper(self) -> list[list[int]]:
        """For each level the levels under it that are summed for each partial match."""
        return [[each for each in found if not self.program.levels[each].folded] for found in self.children]

    def folded(self, level: int) -> list[int]:
        """The levels under it whose sums are factors."""
        return [each for each in self.children[level] if self.program.levels[each].folded]

    def weighed(self, level: int) -> list[int]:
        """Itself, and the levels whose weights are counted when it is matched: all that are listed at the last."""
        before = range(level) if level == self.last else ()
        return [level, *(each for each in before if self.program.levels[each].weights)]

    def is_merged(self, level: int) -> bool:
        """Whether equal contexts of a sum are summed once for a block of partial matches."""
        step, outer = self.program.levels[level], self.outer[level]
        if not step.contexts or step.folded or len(outer) >= len(self.layouts[step.parent]):
            return False
        return prod(self.positions_of(each) for each in outer) < _LARGEST_KEY

    def positions_of(self, level: int) -> int:
        """One more than the largest position that a level may be matched to."""
        own = self.sets[level]
        return max(1, own.universe if self.program.space == "vertices" else len(own))

    def positions(self, level: int) -> DeviceArray:
        """All positions of a level's candidates, int32."""
        if self.program.space == "vertices":
            return self.sets[level].vertices
        return self.device.xp.arange(len(self.sets[level]), dtype=np.int32)

    # --- what partial matches carry ----------------------------------------------------------------------------

    def _outer_levels(self) -> list[tuple[int, ...]]:
        """For each level, the levels above that it and those summed below it look at."""
        found: list[set[int]] = [set() for _ in self.program.levels]
        for level in reversed(range(len(self.program.levels))):
            below = [found[child] for child in self.children[level]]
            found[level] = self.looked_at[level].union(*below) - {level}
        return [tuple(sorted(each)) for each in found]

    def _carried(self, level: int) -> tuple[int, ...]:
        if level <= self.last:
            return tuple(range(level + 1))
        below = [self.outer[child] for child in self.children[level] if not self.program.levels[child].folded]
        weighed = self.looked_at[level] if self.program.levels[level].weights else ()
        return (*sorted(set(weighed).union(*below) - {level}), level)

    def _given(self, level: int) -> tuple[int, ...]:
        step = self.program.levels[level]
        if level <= self.last:
            return self.layouts[level - 1] if level else ()
        if step.folded:
            return (step.parent,)
        return self.outer[level] if self.is_merged(level) else self.layouts[step.parent]

    # --- words -------------------------------------------------------------------------------------------------

    def _written(self) -> DeviceArray:
        """The words on the device, beginning with those of `Program`."""
        words = Words()
        header = words.reserve(3)
        levels = [self._level(level, words) for level in range(len(self.program.levels))]
        choices = [self._choice(choice, words) for choice in range(len(self.program.weights))]
        by_vertex = self.program.space == "vertices"
        vertices = [0 if by_vertex else self.device.address(each.vertices) for each in self.sets]
        words.set(header, [words.add(list(chain(*levels))), words.add(vertices), words.add(list(chain(*choices)))])
        found = self.device.xp.empty(len(words), np.int64)
        placed = words.at(self.device.address(found))
        found[:] = self.device.xp.asarray(placed)
        return found

    def _level(self, number: int, words: Words) -> list[int | Pointer]:
        """The words of one level's `Level`."""
        level, own = self.program.levels[number], self.sets[number]
        given = self.inputs[number]
        kept = [given.index(each) for each in self.layouts[number] if each != number and given]
        folded, by_vertex = self.folded(number), self.program.space == "vertices"
        lists = [
            words.add([word for rows in level.backward for word in self._rows(rows, number)]),
            words.add([word for rows in level.absent for word in self._rows(rows, number)]),
            words.add(level.different),
            words.add(level.smaller),
            words.add([each for pair in level.pairs for each in pair]),
            words.add([word for each in level.comparisons for word in self._compare(each)]),
            words.add([self.device.address(each) for child in folded for each in self._factor_of(child)]),
        ]
        counts = [len(level.backward), len(level.absent), len(level.different), len(level.smaller), len(level.pairs)]
        counts += [len(level.comparisons), len(folded), len(own), len(kept)]
        member = own.test if by_vertex else None
        candidates = own.vertices if by_vertex and not own.everything else None
        addresses = [0 if each is None else self.device.address(each) for each in (member, candidates)]
        weights = (level.weights[0], level.weights[-1] + 1) if level.weights else (0, 0)
        slots = [words.add(self._slots(layout)) for layout in (given, self.layouts[number])]
        return [number, *counts, *weights, *lists, *addresses, *slots, words.add(kept)]

    def _slots(self, layout: tuple[int, ...]) -> list[int]:
        """By level, the column in which a partial match carries it."""
        return [layout.index(each) if each in layout else 0 for each in range(len(self.program.levels))]

    def _choice(self, number: int, words: Words) -> list[int | Pointer]:
        """The words of one `Choice`."""
        choice = self.program.weights[number]
        rows, edges = self.candidates.rows.of(choice.rows), self.candidates.rows.edges(choice.rows)
        self._held.append(edges)
        earlier = [other for other in choice.collides if other < number]
        flags = [int(not choice.collides), int(choice.clique)]
        addresses = map(self.device.address, (rows.offsets, rows.neighbours, edges))
        ends = [choice.rows.level, choice.to, rows.first, rows.count, len(earlier)]
        return [*ends, *flags, *addresses, words.add(earlier)]

    def _rows(self, rows: Rows, target: int) -> list[int]:
        """The words of one `Rows`."""
        found = self._walked(rows, target)
        addresses = map(self.device.address, (found.offsets, found.neighbours))
        return [rows.level, found.first, found.count, *addresses]

    def _walked(self, rows: Rows, target: int) -> DeviceRows:
        if self.program.space == "vertices":
            return self.candidates.rows.distinct(rows)
        return self.candidates.candidate_edges([(rows, self.sets[rows.level], self.sets[target])])[0]

    def _longest_row(self, level: int) -> int:
        """At least as many positions as a level tries for any partial match."""
        rows = [self._walked(each, level).longest for each in self.program.levels[level].backward]
        return min(rows, default=len(self.sets[level]))

    def _compare(self, compare: Compare) -> list[int]:
        left, right = self._ranks[compare.pair]
        addresses = map(self.device.address, (left, right))
        return [compare.left, compare.right, _OPERATORS[compare.operator], *addresses]

    def _factor_of(self, folded: int) -> tuple[DeviceArray, DeviceArray]:
        factor = self.factors[folded]
        return factor.sums, factor.sizes

    def _new_factor(self, level: int) -> Sums:
        count, xp = self.positions_of(self.program.levels[level].parent), self.device.xp
        return Sums(xp.zeros(count, np.uint64), xp.zeros(count, np.float64))


def _looked_at(level: Level, program: Program) -> set[int]:
    """The levels that a level's rows, tests and weights speak of."""
    rows = {rows.level for rows in (*level.backward, *level.absent)}
    compared = {each for compare in level.comparisons for each in (compare.left, compare.right)}
    pairs = {each for pair in level.pairs for each in pair}
    chosen = {each for weight in level.weights for each in _ends(program.weights[weight])}
    return rows | compared | pairs | chosen | set(level.different) | set(level.smaller)


def _ends(choice: Choice) -> tuple[int, int]:
    return choice.rows.level, choice.to

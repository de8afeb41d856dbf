"""A program in the words of kernels/program.cuh, and what of it each block of partial matches has to carry."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from gquery.executor.backend import Ranks
from gquery.executor.gpu.candidates.candidate_set import CandidateSet
from gquery.executor.gpu.candidates.sets import Asked, CandidateSets
from gquery.executor.gpu.resident import DeviceRows
from gquery.executor.gpu.tape import Tape
from gquery.executor.lowering.orders import ranking_of
from gquery.executor.lowering.program import Compare, Program, Rows
from gquery.lasting.properties import cached_property

_OPERATORS = {"=": 0, "<>": 1, "<": 2, "<=": 3}
_LARGEST_KEY = 2**62


class Sums(NamedTuple):
    """Addresses of uint64[n], modulo 2^64 or a run's modulus, and float64[n], about the same numbers; none where these
    are so small that both are the same."""

    sums: int
    sizes: int


NO_SUMS = Sums(0, 0)


class Table:
    """A program made ready: rows, ranks and sums on the device, and the addresses of all.

    words: where these are. factors[l]: the sums of a folded level by the position above it. layouts[l]: the levels of
    which a partial match that ends with level l carries positions, in the order of its columns. inputs[l]: the same for
    those that level l extends. ranked: rows among the ranks of vertices, where positions are these. oriented: whether
    they lead to smaller ranks alone, since cliques are counted along them: nothing else has to say which vertex is
    larger, and that they are others. longest[l]: at least as many positions as level l tries for any partial match.
    """

    def __init__(
        self, program: Program, candidates: CandidateSets, ranks: Sequence[Ranks], tape: Tape, at_all: bool
    ) -> None:
        """at_all: it begins at all candidates of its first level."""
        self.program = program
        self.candidates = candidates
        self.tape = tape
        ranking = ranking_of(program) if at_all else None
        self.ranked = candidates.rows.ranked(ranking) if ranking else None
        self.oriented = self.ranked is not None and self.ranked.rows.oriented
        self.sets = self._sets()
        self.children = program.children()
        self.last = max(1, program.listed) - 1  # of the levels that are listed
        self.looked_at = [program.looked_at(level) for level in range(len(program.levels))]
        self.outer = self._outer_levels()
        self.layouts = [self._carried(level) for level in range(len(program.levels))]
        self.inputs = [self._given(level) for level in range(len(program.levels))]
        asarray, hold = tape.device.xp.asarray, tape.room.hold
        self.factors = {level: self._new_factor(level) for level, each in enumerate(program.levels) if each.folded}
        self._ranks = [(hold(asarray(left)), hold(asarray(right))) for left, right in ranks]
        self._edges: dict[Asked, DeviceRows] = {}
        if program.space == "candidates":
            asked = (
                (rows, self.sets[rows.level], self.sets[number])
                for number, level in enumerate(program.levels)
                for rows in (*level.backward, *level.absent)
            )
            self._edges = candidates.candidate_edges(asked, tape)
        self.longest = [self._longest_row(level) for level in range(len(program.levels))]
        self.entries = [self._entries(level) for level in range(len(program.levels))]
        self.words = self._written()

    def _sets(self) -> list[CandidateSet]:
        merged = [level.candidates for level in self.program.levels]
        if not self.ranked:
            return [self.candidates.common(each) for each in merged]
        sets = [self.candidates.common(each) for each in merged]
        known = {each: self.candidates.ranked(each, self.ranked.vertices, self.tape) for each in set(sets)}
        return [known[each] for each in sets]

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

    def is_bare(self, level: int) -> bool:
        """Whether what counts of a partial match that ends with the level is what is summed below it, and no more."""
        return not self.folded(level) and not any(self.program.levels[each].weights for each in self.weighed(level))

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

    def is_row(self, level: int) -> bool:
        """Whether a level that nothing is summed below has as many matches as a row has entries, but for those that are
        matched elsewhere."""
        step, own = self.program.levels[level], self.sets[level]
        asks = step.absent or step.pairs or step.comparisons or step.weights or self.children[level]
        members = self.program.space == "vertices" and step.backward and own.test
        return not asks and not members and len(step.backward) <= 1

    def common_leaves(self, level: int) -> list[int]:
        """The levels below one that the first vertex leads to, if all that is asked of each is to be in the same two
        rows: that of the level, and one of a level before. None where it is not so."""
        leaves = self.deeper[level]
        if self.program.levels[level].parent != 0 or not leaves or not self.is_bare(level):
            return []
        first, *others = leaves
        alike = all(self.program.levels[each].like == first for each in others)
        return leaves if alike and self._is_common_leaf(first, level) else []

    def _is_common_leaf(self, level: int, parent: int) -> bool:
        step = self.program.levels[level]
        asks = step.absent or step.pairs or step.comparisons or step.weights or self.children[level]
        joined = len(step.backward) == 2 and sum(rows.level == parent for rows in step.backward) == 1
        return joined and not asks and not self.different(level) and not self.smaller(level)

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

    def _written(self) -> int:
        """Where the words are, beginning with those of `Program`."""
        program = self.tape.reserve(3)
        levels = [word for level in range(len(self.program.levels)) for word in self._level(level)]
        choices = [word for choice in range(len(self.program.weights)) for word in self._choice(choice)]
        by_vertex, data = self.program.space == "vertices", self.tape.data
        vertices = () if by_vertex else [each.vertices for each in self.sets]
        self.tape.set(program, [data(levels), data(vertices), data(choices)])
        return program

    def _level(self, number: int) -> list[int]:
        """The words of one level's `Level`."""
        level, own, data = self.program.levels[number], self.sets[number], self.tape.data
        given = self.inputs[number]
        kept = [given.index(each) for each in self.layouts[number] if each != number and given]
        folded, by_vertex = self.folded(number), self.program.space == "vertices"
        lists = [
            data([word for rows in level.backward for word in self._rows(rows, number)]),
            data([word for rows in level.absent for word in self._rows(rows, number)]),
            data(self.different(number)),
            data(self.smaller(number)),
            data([each for pair in level.pairs for each in pair]),
            data([word for each in level.comparisons for word in self._compare(each)]),
            data([word for child in folded for word in self.factors[child]]),
        ]
        counts = [
            len(level.backward),
            len(level.absent),
            len(self.different(number)),
            len(self.smaller(number)),
            len(level.pairs),
        ]
        counts += [len(level.comparisons), len(folded), len(own), len(kept)]
        addresses = [own.test if by_vertex else 0, own.vertices if by_vertex and not own.everything else 0]
        weights = (level.weights[0], level.weights[-1] + 1) if level.weights else (0, 0)
        slots = [data(self._slots(layout)) for layout in (given, self.layouts[number])]
        return [number, *counts, *weights, *lists, *addresses, *slots, data(kept)]

    def _slots(self, layout: tuple[int, ...]) -> list[int]:
        """By level, the column in which a partial match carries it."""
        return [layout.index(each) if each in layout else 0 for each in range(len(self.program.levels))]

    def _choice(self, number: int) -> list[int]:
        """The words of one `Choice`."""
        choice = self.program.weights[number]
        rows, edges = self.candidates.rows.of(choice.rows), self.candidates.rows.edges(choice.rows)
        earlier = [other for other in choice.collides if other < number]
        flags = [int(not choice.collides), int(choice.clique)]
        addresses = [rows.offsets, rows.neighbours, self.tape.room.hold(edges)]
        ends = [choice.rows.level, choice.to, rows.first, rows.count, len(earlier)]
        return [*ends, *flags, *addresses, self.tape.data(earlier)]

    def _rows(self, rows: Rows, target: int) -> list[int]:
        """The words of one `Rows`."""
        return [rows.level, *self.walked(rows, target).words_in_program]

    def walked(self, rows: Rows, target: int) -> DeviceRows:
        """The rows that lead to a level, in positions, each neighbour once."""
        if self.program.space == "vertices":
            return self.ranked.rows if self.ranked else self.candidates.rows.distinct(rows)
        return self._edges[rows, self.sets[rows.level], self.sets[target]]

    def different(self, level: int) -> tuple[int, ...]:
        """The levels whose vertices must be others, where rows are not cut above these."""
        if self.oriented:
            return ()
        smaller = self.smaller(level)
        return tuple(each for each in self.program.levels[level].different if each not in smaller)

    def smaller(self, level: int) -> tuple[int, ...]:
        """The levels whose vertices must be smaller."""
        return () if self.oriented else self.program.levels[level].smaller

    def _longest_row(self, level: int) -> int:
        """At least as many positions as a level tries for any partial match."""
        rows = [self.walked(each, level).longest for each in self.program.levels[level].backward]
        return min(rows, default=len(self.sets[level]))

    def _entries(self, level: int) -> int:
        """At least as many positions as a level tries for all positions of the level that its rows begin at; any number
        without rows."""
        return min((self.walked(each, level).entries for each in self.program.levels[level].backward), default=2**62)

    def _compare(self, compare: Compare) -> list[int]:
        return [compare.left, compare.right, _OPERATORS[compare.operator], *self._ranks[compare.pair]]

    def _new_factor(self, level: int) -> Sums:
        size = 8 * self.positions_of(self.program.levels[level].parent)
        return Sums(self.tape.room.take(size), self.tape.room.take(size))

"""What a sum in an order of its own for each partial match is handed, whatever runs it: how candidates are numbered for
bitsets, and which rows lead from where to where.

Vertices that may be the same data vertex are numbered among the same vertices, their kind.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.lowering.program import Level, Program, Rows
from gquery.storage.schema import TURNED

_RANKED = 0.3  # logarithm to 2 of how much smaller a set has to be for each place that its vertex comes later


class Leading(NamedTuple):
    """Rows that lead from one level to another: what all of them have in common is left."""

    source: int
    target: int
    rows: tuple[Rows, ...]


class Arrangement:
    """vertices: of each level, ascending. near, different: by level the masks of the levels that rows join it with, and
    of those that it may collide with and must not. kinds: by level the vertices that its candidates are numbered among,
    the same object for levels of the same kind. words, begins: by level of its bitset, and before it; weights: the
    less, the sooner a level is matched."""

    def __init__(
        self, program: Program, vertices: Sequence[NDArray[np.int32]], overlap: Callable[[int, int], bool]
    ) -> None:
        """overlap: whether two levels have a candidate in common."""
        width = len(program.levels)
        self.vertices = vertices
        self._joined = list(map(_joined, program.levels))
        self._levels = program.levels
        different = _masks([level.different for level in program.levels])
        tables = [frozenset(level.tables) for level in program.levels]
        self._kind_of = _kinds(different, lambda one, other: bool(tables[one] & tables[other]) and overlap(one, other))
        known = {id(members): _united(vertices, members) for members in self._kind_of}
        self.kinds = [known[id(members)] for members in self._kind_of]
        # Others never collide, and their numbers are of other vertices.
        of_kind = [sum(1 << other for other in members) for members in self._kind_of]
        self.different = different & np.array(of_kind, np.uint64)
        self.near = _masks(self._joined)
        self.words = np.array([len(kind) + 63 >> 6 or 1 for kind in self.kinds], np.int64)
        self.begins = np.concatenate([[0], np.cumsum(self.words)])
        self.weights = np.exp2(_RANKED * np.arange(width))

    @property
    def bytes_of_rows(self) -> int:
        """Of bitsets of all rows, both ways."""
        ends = ((of, to) for of, joined in enumerate(self._joined) for to in joined)
        return 2 * sum(8 * len(self.kinds[to]) * int(self.words[of]) for of, to in ends)

    def numbers(self, level: int) -> NDArray[np.int32]:
        """By position of a level's candidate, its number."""
        return np.searchsorted(self.kinds[level], self.vertices[level]).astype(np.int32)

    def bits(self) -> NDArray[np.uint64]:
        """The candidates of all levels, uint64[words of all]."""
        bits = np.zeros(int(self.begins[-1]), np.uint64)
        for level in range(len(self.vertices)):
            own = self.numbers(level)
            np.bitwise_or.at(bits, self.begins[level] + (own >> 6), np.uint64(1) << (own & 63).astype(np.uint64))
        return bits

    def leading(self) -> dict[Hashable, list[Leading]]:
        """All rows between two levels, both ways: those that are the same, since the same edges join vertices of the
        same kinds, by one key."""
        found: dict[Hashable, list[Leading]] = {}
        for number, joined in enumerate(self._joined):
            for other, rows in joined.items():
                back = tuple(_turned(each, self._levels[number], number) for each in rows)
                for leading in (Leading(other, number, tuple(rows)), Leading(number, other, back)):
                    alike = tuple(each._replace(level=0, tables=()) for each in leading.rows)
                    ends = (id(self.kinds[end]) for end in leading[:2])
                    found.setdefault((*alike, *ends), []).append(leading)
        return found


def _joined(level: Level) -> dict[int, list[Rows]]:
    """The rows that lead to a level, by the level that they are of."""
    found: dict[int, list[Rows]] = {}
    for rows in level.backward:
        found.setdefault(rows.level, []).append(rows)
    return found


def _turned(rows: Rows, level: Level, number: int) -> Rows:
    """The same edges, seen from the other end."""
    return rows._replace(direction=TURNED[rows.direction], tables=level.tables, level=number)


def _masks(spoken_of: Sequence[Iterable[int]]) -> NDArray[np.uint64]:
    """By level the mask of the others that are spoken of together with it."""
    masks = [0] * len(spoken_of)
    for number, others in enumerate(spoken_of):
        for other in others:
            masks[number] |= 1 << other
            masks[other] |= 1 << number
    return np.array(masks, np.uint64)


def _kinds(different: NDArray[np.uint64], overlap: Callable[[int, int], bool]) -> list[list[int]]:
    """By level all levels of its kind: those that it may collide with and must not, of these the others, and so on."""
    kinds = [[level] for level in range(len(different))]
    for level in range(len(different)):
        for other in range(level):
            asked = int(different[level]) >> other & 1 and kinds[level] is not kinds[other]
            if asked and overlap(level, other):
                kinds[other] += kinds[level]
                for member in kinds[level]:
                    kinds[member] = kinds[other]
    return kinds


def _united(vertices: Sequence[NDArray[np.int32]], members: Sequence[int]) -> NDArray[np.int32]:
    return reduce(np.union1d, (vertices[member] for member in members))

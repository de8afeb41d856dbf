"""What is certain of a parted snapshot, and what is about so.

Of either part of an edge type only that is certain which holds of any part of the type. So much is the same for one
change and the next, and plans that rely on it stay good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gquery.storage.counted.counting import between, count_pairs
from gquery.storage.counted.counts import Between, Counts, DegreeSums, TypeCounts
from gquery.storage.invariants import Facts, Invariants
from gquery.storage.numbering import Numbering
from gquery.storage.schema import Direction
from gquery.storage.statistics import Statistics, TypeEstimates, estimates
from gquery.storage.tables import Ends

_APART = "\0"  # no edge type of a graph begins with it
_MANY = 2**31  # edges: no vertex has as many


def apart_type(type_: str) -> str:
    """The type of the edges of a type that are apart."""
    return _APART + type_


def is_apart(type_: str) -> bool:
    return type_.startswith(_APART)


def whole_type(type_: str) -> str:
    """The type in the graph that an edge type is a part of."""
    return type_.removeprefix(_APART)


class PartedInvariants(Invariants):
    """What holds of any part of the edges of each type, whichever vertices there are."""

    def everybody_has(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> bool:
        return False

    def largest_degree(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> int:
        """Larger than any."""
        return _MANY

    def signature(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> int | None:
        """None: signatures are those of all edges."""
        return None

    def _of(self, types: Iterable[str]) -> list[Facts]:
        return super()._of(map(whole_type, types))


def parted_invariants(counts: Counts) -> PartedInvariants:
    """What holds of the parts of a graph with these counts: the same where the same is certain."""
    return _known(tuple(
        (name, each.simple, each.simple_both, tuple([(row[0], row[1], row.loops > 0) for row in each.between]))
        for name, each in counts.types.items()
    ))  # fmt: skip


Certain = tuple[str, bool, bool, tuple[tuple[int, int, bool], ...]]
"""Of an edge type whether no two edges are parallel, in one direction and in both; between which tables there are
edges, and whether some are loops there."""


@lru_cache(maxsize=64)
def _known(certain: tuple[Certain, ...]) -> PartedInvariants:
    types = {
        name: TypeCounts(tuple(Between(source, target, 1, int(loops)) for source, target, loops in rows), (), *simple)
        for name, *simple, rows in certain
    }
    return PartedInvariants(Counts((), types))


class PartedStatistics(Statistics):
    """Estimates: of a type with its part that is apart, and without it, those of the type."""

    def __init__(
        self,
        counts: Counts,
        apart: Mapping[str, TypeCounts],
        unique: Callable[[int, str | None], bool],
    ) -> None:
        """apart: what is counted of the edges that are apart, by type."""
        super().__init__(counts, unique)
        self._apart = {type_: estimates(each) for type_, each in apart.items()}

    def few(self, types: tuple[str, ...]) -> bool:
        return bool(types) and all(map(is_apart, types))

    def edges_between(
        self, types: tuple[str, ...], source_tables: tuple[int, ...], target_tables: tuple[int, ...]
    ) -> int:
        """One at least that is apart: a plan is for other changes, too, of which some have one there."""
        found = super().edges_between(types, source_tables, target_tables)
        return max(1, found) if self.few(types) else found

    def _of(self, types: Iterable[str]) -> list[TypeEstimates]:
        asked = set(types)
        found = super()._of(asked)
        lone = (whole_type(type_) for type_ in asked if is_apart(type_) and whole_type(type_) not in asked)
        return found + [self._apart[type_] for type_ in sorted(lone) if type_ in self._apart]


def few_counts(ends: Mapping[str, Ends], numbers: Numbering) -> dict[str, TypeCounts]:
    """Counts of few edges by type, for estimates: as if each had ends of its own."""
    return {type_: _counted(*each, numbers) for type_, each in ends.items()}


def _counted(source: NDArray[np.int32], target: NDArray[np.int32], numbers: Numbering) -> TypeCounts:
    sources, targets = numbers.tables_of(source), numbers.tables_of(target)
    pairs = between(count_pairs(sources, targets), sources[source == target])
    out, into = np.bincount(sources), np.bincount(targets)
    both = np.bincount(np.concatenate([sources, targets]))
    sides: dict[Direction, NDArray[np.int64]] = {"out": out, "in": into, "both": both}
    degrees = tuple(
        DegreeSums(table, direction, count, count, count, 1)
        for direction, counts in sides.items()
        for table, count in enumerate(counts.tolist())
        if count
    )
    return TypeCounts(pairs, degrees, False, False)

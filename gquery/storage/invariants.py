"""What holds of a graph for certain. Plans rely on it for right answers, so all of it is exact, or errs to one side,
which is named. What is only to be about right is in `statistics.py`.

"Exact" is said of a graph that was counted as a whole. Where edges were deleted since, the largest degrees may be too
large, and `simple` may say no where it could say yes (`changes/recounted.py`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from gquery.lasting.properties import cached_property
from gquery.records import record
from gquery.storage.cache import remembered
from gquery.storage.counted.counts import Counts, TypeCounts
from gquery.storage.schema import Direction

SIGNATURE_BITS = 64

Kind = tuple[str, Direction, int]
"""A kind of neighbour: an edge type, its direction as seen from the vertex, the table of its other end."""


@record(frozen=True, slots=True)
class Facts:
    """Edges of one type. simple, simple_both: as in `TypeCounts`. ahead, back: the tables that edges from each table
    lead to, and those that edges to it come from. loops: the tables that have a vertex with a self-loop. with_any,
    largest: how many vertices of a table have an edge in a direction, and the largest number that one has."""

    simple: bool
    simple_both: bool
    ahead: Mapping[int, set[int]]
    back: Mapping[int, set[int]]
    loops: frozenset[int]
    with_any: Mapping[tuple[int, Direction], int]
    largest: Mapping[tuple[int, Direction], int]


class Invariants:
    """What is certain of a graph with these counts. Edge types and tables are asked for as tuples."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._facts: dict[str, Facts] = {}
        self._answers: dict[object, object] = {}

    @property
    def types(self) -> Collection[str]:
        """All edge types."""
        return self._counts.types.keys()

    @property
    def tables(self) -> tuple[int, ...]:
        """All vertex tables."""
        return tuple(range(len(self._counts.vertices)))

    def leads_only_to(
        self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...], others: tuple[int, ...]
    ) -> bool:
        """Whether every edge of `types` at a vertex of `tables`, seen in this direction, leads to one of `others`."""
        return self.reached(types, direction, tables) <= set(others)

    @remembered
    def reached(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> frozenset[int]:
        """The tables that edges of `types` at vertices of `tables` lead to, seen in this direction: none that they do
        not lead to."""
        entries = self._of(types)
        maps = [entry.ahead for entry in entries if direction != "in"]
        maps += [entry.back for entry in entries if direction != "out"]
        return frozenset(other for table in tables for reached in maps for other in reached.get(table, ()))

    def has_loop(self, types: Iterable[str], tables: Collection[int] | None = None) -> bool:
        """Whether a vertex of `tables` (of all when None) has a self-loop of any of `types`."""
        return any(tables is None or table in tables for entry in self._of(types) for table in entry.loops)

    @remembered
    def everybody_has(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> bool:
        """Whether every vertex of `tables` has an edge of any of `types` in this direction. Exact for one type; for
        several, a no can be wrong."""
        everybody = [(table, self._counts.vertices[table]) for table in tables]
        return any(
            all(entry.with_any.get((table, direction), 0) == count for table, count in everybody)
            for entry in self._of(types)
        )

    @remembered
    def largest_degree(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> int:
        """No vertex of `tables` has more edges of any of `types` in this direction. Exact for one type. In direction
        "both" a self-loop counts once, as it does in `(a)--(a)`."""
        entries = self._of(types)
        return max((sum(each.largest.get((table, direction), 0) for each in entries) for table in tables), default=0)

    @remembered
    def simple(self, types: tuple[str, ...], direction: Direction) -> bool:
        """Whether no row of this adjacency repeats a neighbour. Exact for one type; for several, a no can be wrong."""
        entries = self._of(types)
        if len(entries) == 1:
            return entries[0].simple_both if direction == "both" else entries[0].simple
        seen: set[tuple[int, int]] = set()
        for entry in entries:
            pairs = {(source, target) for source, targets in entry.ahead.items() for target in targets}
            if direction == "both":
                pairs = {(min(pair), max(pair)) for pair in pairs}
            if seen & pairs or not (entry.simple_both if direction == "both" else entry.simple):
                return False
            seen |= pairs
        return True

    def most_between(self, types: tuple[str, ...], direction: Direction) -> int | None:
        """No row of this adjacency has a neighbour more often; None where that is not known."""
        if self.simple(types, direction):
            return 1
        entries = self._of(types)
        if not all(entry.simple for entry in entries):
            return None
        return sum(1 if direction != "both" or entry.simple_both else 2 for entry in entries)

    @cached_property
    def kinds(self) -> Mapping[Kind, int]:
        """The bit of a vertex's signature for each kind of neighbour, those with most edges first; the last bit is
        shared by all that are left. Of all types, so nothing is verified: signatures are, bit by bit."""
        if self._counts.kinds is not None:
            return self._counts.kinds
        edges: Counter[Kind] = Counter()
        for name, entry in self._counts.types.items():
            for row in entry.between:
                edges[name, "out", row.target] += row.edges
                edges[name, "in", row.source] += row.edges
        ordered = sorted(edges, key=lambda kind: (-edges[kind], kind))
        return {kind: min(place, SIGNATURE_BITS - 1) for place, kind in enumerate(ordered)}

    @remembered
    def signature(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> int | None:
        """The bits of which a vertex has one when, and only when, an edge of `types` seen in this direction leads to a
        vertex of `tables`. None when signatures cannot tell."""
        seen: tuple[Direction, ...] = ("out", "in") if direction == "both" else (direction,)
        asked = {kind for kind in itertools.product(types, seen, tables) if kind in self.kinds}
        bits = {self.kinds[kind] for kind in asked}
        if any(bit in bits and kind not in asked for kind, bit in self.kinds.items()):
            return None
        return sum(1 << bit for bit in bits)

    def _of(self, types: Iterable[str]) -> list[Facts]:
        """The facts of those types that have edges, or might have; verified."""
        names = [name for name in sorted(set(types)) if name in self._counts.types]
        for name in names:
            counts = self._counts.of_type(name)
            if name not in self._facts:
                self._facts[name] = _facts(counts)
        return [self._facts[name] for name in names]


def _facts(counts: TypeCounts) -> Facts:
    ahead: dict[int, set[int]] = {}
    back: dict[int, set[int]] = {}
    for row in counts.between:
        ahead.setdefault(row.source, set()).add(row.target)
        back.setdefault(row.target, set()).add(row.source)
    return Facts(
        counts.simple,
        counts.simple_both,
        ahead,
        back,
        frozenset(row.source for row in counts.between if row.loops),
        {(row.table, row.direction): row.with_any for row in counts.degrees},
        {(row.table, row.direction): row.maximum for row in counts.degrees},
    )

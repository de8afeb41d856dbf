"""A snapshot whose edges of each type are parted in two: those that a change is about, and the rest.

The edges that are apart have a type of their own, so that a query graph may ask for them alone, for the rest or for
both: what is there before a change and after it are edge types. Everything else is the snapshot's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from gquery.lasting.properties import cached_property
from gquery.storage.adjacency import Adjacency, seen, seen_from
from gquery.storage.cache import Cache, Meter
from gquery.storage.counted.counts import Counts
from gquery.storage.graph import Snapshot
from gquery.storage.idle import Idle
from gquery.storage.parted.facts import (
    PartedInvariants,
    PartedStatistics,
    apart_type,
    few_counts,
    is_apart,
    parted_invariants,
    whole_type,
)
from gquery.storage.parted.few_rows import adjacency_of_few
from gquery.storage.schema import Direction
from gquery.storage.sorting import distinct
from gquery.storage.tables import Ends


class Parted(Snapshot):
    """A snapshot, seen with some of its edges apart. Ids are the snapshot's, and so are the tables."""

    def __init__(self, whole: Snapshot, apart: NDArray[np.int64], rest: Snapshot) -> None:
        """apart: ids of edges, ascending. rest: a snapshot with all edges of `whole` but these."""
        own = {name: value for name, value in whole.__dict__.items() if name not in ("invariants", "statistics")}
        self.__dict__.update(own)
        self.whole = whole
        self.rest = rest
        self.apart = apart
        self.idle = Idle()
        self.cache = Cache(whole.cache.limit, self.idle.clear)
        self._at_ends: dict[object, NDArray[np.int32]] = {}
        self._adjacencies: dict[tuple[tuple[str, ...], Direction], Adjacency] = {}

    @classmethod
    def with_none_apart(cls, whole: Snapshot) -> Parted:
        """A snapshot of which no edges are apart."""
        return cls(whole, np.zeros(0, np.int64), whole)

    @property
    def counts(self) -> Counts:
        return self.whole.counts

    @cached_property
    def invariants(self) -> PartedInvariants:
        """The same object for two versions of a graph of which the same is certain."""
        return parted_invariants(self.counts)

    @cached_property
    def statistics(self) -> PartedStatistics:
        ends = {type_: self._ends[type_] for type_ in self._ends}
        return PartedStatistics(self.counts, few_counts(ends, self.vertex_numbers), self.indexes.seems_unique)

    def tables_of(self, types: Collection[str]) -> list[int]:
        return self.whole.tables_of({*map(whole_type, types)})

    def at_ends(self, types: tuple[str, ...], direction: Direction) -> NDArray[np.int32]:
        if not all(map(is_apart, types)):
            return self.whole.at_ends(tuple(sorted({*map(whole_type, types)})), direction)
        key = types, direction
        if key not in self._at_ends:
            ends = (self._ends[type_] for type_ in map(whole_type, types) if type_ in self._ends)
            sides = [seen_from(*each, direction) for each in ends]
            self._at_ends[key] = distinct(np.concatenate([np.zeros(0, np.int32), *sides]))
        return self._at_ends[key]

    def few_edges(self, types: tuple[str, ...]) -> NDArray[np.int64] | None:
        if not all(map(is_apart, types)):
            return None
        found = [self._apart[type_] for type_ in map(whole_type, types) if type_ in self._apart]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *found]))

    def has_adjacency(self, types: Iterable[str], direction: Direction) -> bool:
        return True  # it is made of those of the parts

    def adjacency(self, types: Iterable[str], direction: Direction, meter: Meter | None = None) -> Adjacency:
        """Of edges that are apart, of the rest, or of both; of several types all in the same way."""
        key = tuple(types), direction
        known = self._adjacencies.get(key)
        if known is None:
            known = self._adjacencies[key] = self._adjacency(*key, meter)
        return known

    def _adjacency(self, types: tuple[str, ...], direction: Direction, meter: Meter | None) -> Adjacency:
        asked = set(types)
        own = {type_ for type_ in asked if not is_apart(type_)}
        named = {whole_type(type_) for type_ in asked - own}
        if own == named:
            return self.whole.adjacency(own, direction, meter)
        if not named:
            return self.rest.adjacency(own, direction, meter)
        assert not own, "of each type the same part is asked for"
        key = ("apart", tuple(sorted(named)), direction)
        return self.cache.get(key, lambda: self._build_apart(named, direction), 0, "the changed edges", meter)

    def _build_apart(self, types: set[str], direction: Direction) -> Adjacency:
        """Of the edges of some types that are apart."""
        there = sorted(types & self._apart.keys())
        if len(there) == 1:
            return adjacency_of_few(*seen(*self._ends[there[0]], self._apart[there[0]], direction))
        edges = self.few_edges(tuple(map(apart_type, types)))
        assert edges is not None
        return adjacency_of_few(*seen(*self.edges.ends_of(edges), edges, direction))

    def identity(self, meter: Meter | None = None) -> Adjacency:
        return self.whole.identity(meter)

    @cached_property
    def ends_apart(self) -> Ends:
        """Source and target of the edges that are apart."""
        return self.edges.ends_of(self.apart)

    @cached_property
    def _places(self) -> dict[str, NDArray[np.int64]]:
        """Where among the edges that are apart those of each type are."""
        found: dict[str, list[NDArray[np.int64]]] = {}
        places = np.arange(len(self.apart))
        for table, where, _ in self.edges.numbers.parts(self.apart):
            found.setdefault(self.edge_tables[table].type, []).append(places[where])
        return {type_: np.concatenate(parts) for type_, parts in found.items()}

    @cached_property
    def _apart(self) -> dict[str, NDArray[np.int64]]:
        """The edges that are apart, by type."""
        return {type_: self.apart[places] for type_, places in self._places.items()}

    @cached_property
    def _ends(self) -> dict[str, Ends]:
        """Source and target of the edges that are apart, by type."""
        source, target = self.ends_apart
        return {type_: (source[places], target[places]) for type_, places in self._places.items()}

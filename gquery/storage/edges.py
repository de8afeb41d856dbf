"""The edges of a graph: tables, ids, and the adjacencies that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.lasting.locks import lasting_lock
from gquery.lasting.promises import Promise
from gquery.lasting.properties import cached_property
from gquery.records import record
from gquery.storage.adjacency import Adjacency, build_adjacency, building_bytes, seen
from gquery.storage.numbering import Numbering
from gquery.storage.schema import Direction
from gquery.storage.tables import EdgeTable, Ends

NO_EDGES = np.zeros(0, np.int64)


@record(frozen=True)
class AdjacencyKey:
    """Which edges, seen how. `types` is sorted and without repeats."""

    types: tuple[str, ...]
    direction: Direction

    @property
    def is_kept(self) -> bool:
        """Whether this is of one type, from source to target or back: together, these are the graph."""
        return len(self.types) == 1 and self.direction != "both"


@lru_cache
def adjacency_key(types: tuple[str, ...], direction: Direction) -> AdjacencyKey:
    """The key of any types: asked for many times in a query, about few."""
    return AdjacencyKey(tuple(sorted(set(types))), direction)


class Edges:
    """All edges of a graph, and the adjacencies of each type from source to target and back, which are built when first
    needed and kept. Snapshots that have the same edges share them. Safe from several threads."""

    def __init__(
        self,
        tables: Iterable[EdgeTable],
        numbers: Numbering | None = None,
        stored: Mapping[AdjacencyKey, Callable[[], Adjacency]] | None = None,
        gone: NDArray[np.int64] = NO_EDGES,
    ) -> None:
        """`numbers`: one table after the other when None. `stored` loads adjacencies that exist already, on disk.
        gone: the ids of edges that were deleted, ascending: the tables still have their rows."""
        self.tables = tuple(tables)
        self.numbers = numbers or Numbering.consecutive(table.count for table in self.tables)
        self.gone = gone
        if any(table.type.startswith("\0") for table in self.tables):
            raise LoadError("an edge type cannot begin with NUL: the planner's own types do")
        self._stored = dict(stored or {})
        self._kept: dict[AdjacencyKey, Adjacency] = {}
        self._promised: dict[AdjacencyKey, Promise[Adjacency]] = {}
        self._lock = lasting_lock()

    def kept(self, key: AdjacencyKey) -> Adjacency:
        """The adjacency of one type in one direction."""
        with self._lock:
            if key not in self._kept:
                stored = self._stored.get(key)
                self._kept[key] = stored() if stored else self.build(key)
            return self._kept[key]

    def build(self, key: AdjacencyKey) -> Adjacency:
        return build_adjacency(*seen(*self.of_types(key.types), key.direction))

    def of_types(self, types: Collection[str]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Source, target and id of the edges of some types, ascending by id."""
        tables = self.tables_of(types)
        ids = self.numbers.ids(tables, np.int64)
        source, target = (
            self.numbers.by_id({table: self.tables[table].ends[side] for table in tables}, np.int32) for side in (0, 1)
        )
        if not len(self.gone):
            return source, target, ids
        there = np.isin(ids, self.gone, assume_unique=True, invert=True)
        return source[there], target[there], ids[there]

    @cached_property
    def gone_rows(self) -> Mapping[int, NDArray[np.int64]]:
        """For each table that has any, the rows of edges that are gone, ascending."""
        return {table: rows.astype(np.int64) for table, _, rows in self.numbers.parts(self.gone)}

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many edges each table has, without those that are gone."""
        gone = self.gone_rows
        return tuple(table.count - len(gone.get(number, ())) for number, table in enumerate(self.tables))

    def rows_there(self, table: int) -> NDArray[np.int64] | None:
        """The rows of a table whose edges are not gone, ascending; None: all of them."""
        gone = self.gone_rows.get(table)
        if gone is None:
            return None
        there = np.ones(self.tables[table].count, np.bool_)
        there[gone] = False
        return np.flatnonzero(there)

    @property
    def known_keys(self) -> tuple[AdjacencyKey, ...]:
        """Of the adjacencies that there are already, here or on disk."""
        with self._lock:
            return tuple({**self._stored, **self._kept})

    def promised(self, keys: Iterable[AdjacencyKey]) -> Mapping[AdjacencyKey, Promise[Adjacency]]:
        """Adjacencies as they are best changed, which the caller has to make; without those that somebody else makes,
        or has made. None: as it is."""
        with self._lock:
            new: dict[AdjacencyKey, Promise[Adjacency]] = {key: Promise() for key in keys if key not in self._promised}
            self._promised |= new
            return new

    def build_of(self, edges: NDArray[np.int64], direction: Direction) -> Adjacency:
        """The adjacency of some edges, given by their ids."""
        return build_adjacency(*seen(*self.ends_of(edges), edges, direction))

    def ends_of(self, edges: NDArray[np.int64]) -> Ends:
        """Source and target of some edges."""
        source, target = np.empty(len(edges), np.int32), np.empty(len(edges), np.int32)
        for table, where, rows in self.numbers.parts(edges):
            source[where], target[where] = self.tables[table].ends_at(rows)
        return source, target

    def count_of(self, types: Collection[str]) -> int:
        """How many edges of some types there are, or have been."""
        return sum(self.tables[index].count for index in self.tables_of(types))

    def most_for(self, key: AdjacencyKey, vertices: int) -> int:
        """Bytes that building an adjacency takes at most, in a graph of so many vertices."""
        edges = self.count_of(key.types)
        return building_bytes(2 * edges if key.direction == "both" else edges, vertices)

    def changed(
        self,
        tables: Iterable[EdgeTable],
        numbers: Numbering,
        gone: NDArray[np.int64],
        change: Callable[[AdjacencyKey, Adjacency], Adjacency],
    ) -> Edges:
        """With other edges. change: makes of an adjacency what it is then, which is done with all that there are."""
        promised = {key: promise.result() for key, promise in self._promised.items()}
        with self._lock:
            for key in self._stored:
                self.kept(key)
            kept = {key: change(key, promised.get(key) or adjacency) for key, adjacency in self._kept.items()}
        changed = Edges(tables, numbers, gone=gone)
        changed._kept = kept
        return changed

    @property
    def types(self) -> tuple[str, ...]:
        """Every edge type, in the order in which the tables first show it."""
        return tuple(dict.fromkeys(table.type for table in self.tables))

    def tables_of(self, types: Collection[str]) -> list[int]:
        """The edge tables of some types, ascending."""
        return [index for index, table in enumerate(self.tables) if table.type in types]


class NumberedEdges:
    """Edges with numbers of their own, for where they are matched as vertices are
    (`planner/passes/rewriting/compared_edges.py`). edges: int64[m], which edge a number is of; source, target:
    int32[m]. The edges of a vertex have numbers side by side, seen from their sources or from their targets, so that
    what is known of them is read in turn."""

    def __init__(self, adjacency: Adjacency, by_source: bool) -> None:
        """adjacency: of the edges, compact, from the ends by which they are numbered."""
        vertices = np.arange(adjacency.first, adjacency.first + adjacency.rows, dtype=np.int32)
        near: NDArray[np.int32] = np.repeat(vertices, np.diff(adjacency.offsets))
        far = adjacency.neighbours
        self.edges = adjacency.edges
        self.source, self.target = (near, far) if by_source else (far, near)
        self._nbytes = numbered_bytes(len(near), adjacency.rows)

    @property
    def count(self) -> int:
        return len(self.edges)

    def at(self, is_source: bool) -> NDArray[np.int32]:
        return self.source if is_source else self.target

    @cached_property
    def from_source(self) -> Adjacency:
        """From each vertex to the numbers of the edges of which it is the source."""
        return self.leading(True)

    @cached_property
    def from_target(self) -> Adjacency:
        """From each vertex to the numbers of the edges of which it is the target."""
        return self.leading(False)

    def leading(self, is_source: bool, chosen: NDArray[np.int32] | None = None) -> Adjacency:
        """The same for some of the edges, whose numbers ascend."""
        numbers = np.arange(self.count, dtype=np.int32) if chosen is None else chosen
        at = self.at(is_source)
        return build_adjacency(at if chosen is None else at[chosen], numbers, numbers.astype(np.int64))

    @property
    def nbytes(self) -> int:
        """With all that is made of them; edges and far ends are an adjacency's."""
        return self._nbytes


def numbered_bytes(edges: int, vertices: int) -> int:
    """Bytes that they take at most, with all that is made of them."""
    return 4 * edges + 2 * (12 * edges + 8 * vertices)

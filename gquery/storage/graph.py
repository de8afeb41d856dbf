"""The data graph: an immutable snapshot of Arrow vertex tables and edge tables.

Vertices are numbered 0..n-1. A load numbers them table by table, so that a label set is one range of internal ids; who
comes later is numbered behind all others (`numbering.py`), and who goes leaves a number that nobody has. Edges are
numbered 0..m-1 in the same way. Users see neither number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.lasting.properties import cached_property
from gquery.storage.adjacency import Adjacency, LoopAdjacency, build_adjacency, building_bytes, seen_from
from gquery.storage.cache import DEFAULT_LIMIT, Cache, Meter
from gquery.storage.counted.counting import count
from gquery.storage.counted.counts import Counts
from gquery.storage.counted.signatures import CountedSignatures
from gquery.storage.edges import Edges, NumberedEdges, adjacency_key, numbered_bytes
from gquery.storage.idle import Idle
from gquery.storage.indexes import Indexes
from gquery.storage.invariants import SIGNATURE_BITS, Invariants
from gquery.storage.numbering import Numbering
from gquery.storage.schema import Direction, EdgeTableSchema, Hop, Schema, VertexTableSchema
from gquery.storage.sorting import distinct
from gquery.storage.statistics import Statistics
from gquery.storage.tables import EdgeTable, VertexTable, largest_number

if TYPE_CHECKING:
    from gquery.storage.deleted import Deleted

LoadSignatures = Callable[[int, "Snapshot"], NDArray[np.uint64]]

_EDGE = 32  # bytes that an edge takes: its ends, and its neighbour and number in either direction
MAX_VERTICES = 2**31 - 1  # vertices travel as int32
_CHOOSING = 48  # bytes that each entry of an adjacency takes where some are made one of their own, twice at most
_AT_ONCE = 1 << 17  # entries of an adjacency that are looked through at a time


class Snapshot:
    """An immutable graph: vertex tables and edges. What queries need besides them is made on demand and kept in
    `cache`, of 1 GiB or twice what the edges take, whichever is more."""

    deleted: Deleted | None = None
    """What the rows of a statement may hold, though the statement has deleted it."""

    def __init__(
        self,
        vertex_tables: Iterable[VertexTable],
        edges: Iterable[EdgeTable] | Edges,
        vertex_numbers: Numbering | None = None,
        load_counts: Callable[[], Counts] | None = None,
        load_signatures: LoadSignatures | None = None,
    ) -> None:
        """`vertex_numbers`: one table after the other when None. The rest loads what exists already, on disk or with
        another snapshot. Signatures are loaded for some of their bits."""
        self.vertex_tables = tuple(vertex_tables)
        self.edges = edges if isinstance(edges, Edges) else Edges(edges)
        self.vertex_numbers = vertex_numbers or Numbering.consecutive(table.count for table in self.vertex_tables)
        if self.vertex_count > MAX_VERTICES:
            raise LoadError(f"{self.vertex_count:,} vertices are more than gquery can number ({MAX_VERTICES:,})")
        self.is_changed = False
        """Whether this was made of another snapshot: then there may be ids that nobody has, and what is counted may be
        on the safe side."""
        self._load_counts = load_counts
        self.load_signatures: LoadSignatures = load_signatures or CountedSignatures()
        self.idle = Idle()
        """What runs of queries have made ready for the next ones."""
        self.cache = Cache(max(DEFAULT_LIMIT, 2 * _EDGE * self.edge_count), self.idle.clear)
        self.vertex_cache = Cache()
        """Of what vertices alone tell: snapshots that have the same vertices share it."""
        self.indexes = Indexes(self.vertex_tables, self.vertex_cache)

    @property
    def vertex_count(self) -> int:
        """Of ids of vertices: as many as there are vertices, and those that were deleted."""
        return self.vertex_numbers.count

    @property
    def edge_count(self) -> int:
        """Of ids of edges, those that were deleted among them."""
        return self.edges.numbers.count

    @property
    def edge_tables(self) -> tuple[EdgeTable, ...]:
        return self.edges.tables

    @cached_property
    def schema(self) -> Schema:
        return Schema(
            tuple(VertexTableSchema(t.labels, t.id_type, t.columns.types, t.count) for t in self.vertex_tables),
            tuple(
                EdgeTableSchema(table.type, table.columns.types, count)
                for table, count in zip(self.edge_tables, self.edges.counts, strict=True)
            ),
        )

    @cached_property
    def free_id(self) -> int:
        """No vertex has this number, or a larger one, as its users' id."""
        return 1 + max((largest_number(table.ids) for table in self.vertex_tables), default=-1)

    @cached_property
    def counts(self) -> Counts:
        return self._load_counts() if self._load_counts else count(self)

    @cached_property
    def invariants(self) -> Invariants:
        """What is certain: right answers rely on it."""
        return Invariants(self.counts)

    @cached_property
    def statistics(self) -> Statistics:
        """What is about so: good plans rely on it."""
        return Statistics(self.counts, self.indexes.seems_unique)

    def signatures(self, bits: int = 2**SIGNATURE_BITS - 1) -> NDArray[np.uint64]:
        """uint64[vertex_count]: see `signatures.py`. Those of a saved graph are verified, the asked bits of them."""
        words = self.load_signatures(bits, self)
        if len(words) >= self.vertex_count:
            return words[: self.vertex_count]
        return self.cache.get("signatures", lambda: self._lengthened(words), 8 * self.vertex_count, "signatures")

    def _lengthened(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """With the signatures of vertices that are newer than the edges."""
        return np.concatenate([words, np.zeros(self.vertex_count - len(words), np.uint64)])

    def tables_of(self, types: Collection[str]) -> list[int]:
        """The edge tables of some types, ascending."""
        return self.edges.tables_of(types)

    def at_ends(self, types: tuple[str, ...], direction: Direction) -> NDArray[np.int32]:
        """The vertices, ascending, that edges of some types lead from, as they are seen in a direction."""
        source, target, _ = self.edges.of_types(types)
        return distinct(seen_from(source, target, direction))

    def few_edges(self, types: tuple[str, ...]) -> NDArray[np.int64] | None:
        """The edges of some types, ascending, where it is known that they are few."""
        return None

    def adjacency(self, types: Iterable[str], direction: Direction, meter: Meter | None = None) -> Adjacency:
        """The adjacency of all edges of `types`; safe from several threads. meter: of the query that asks."""
        key = adjacency_key(tuple(types), direction)
        if key.is_kept:
            return self.edges.kept(key)
        most, purpose = self.edges.most_for(key, self.vertex_count), f"an adjacency of {len(key.types)} edge types"
        return self.cache.get(key, lambda: self.edges.build(key), most, purpose, meter)

    def has_adjacency(self, types: Iterable[str], direction: Direction) -> bool:
        """Whether it need not be built for who asks."""
        key = adjacency_key(tuple(types), direction)
        return key in self.edges.known_keys if key.is_kept else self.cache.has(key)

    def composed(
        self, tables: tuple[int, ...], hops: tuple[Hop, ...], direction: Direction, meter: Meter | None = None
    ) -> Adjacency:
        """From each vertex of the tables to the one that the hops lead to, one after the other ("out"), or back ("in").
        A hop is (edge types, direction, tables of what it may lead to) and leads to one vertex at most."""

        def build() -> Adjacency:
            source, target = self._follow(tables, hops)
            if direction == "in":
                source, target = target, source
            return build_adjacency(source, target, np.arange(len(source)))

        most = building_bytes(sum(self.vertex_tables[table].count for table in tables), self.vertex_count)
        return self.cache.get((tables, hops, direction), build, most, f"an adjacency of {len(hops)} hops", meter)

    def _follow(self, tables: tuple[int, ...], hops: tuple[Hop, ...]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        source: NDArray[np.int32] = self.vertex_numbers.ids(tables, np.int32)
        target = source
        for types, direction, reached in hops:
            adjacency = self.adjacency(types, direction)
            begins, ends = adjacency.bounds(target)
            leads = begins < ends
            source, target = source[leads], adjacency.neighbours[begins[leads]]
            kept = np.zeros(len(target), np.bool_)
            for begin, end, *_ in self.vertex_numbers.of(reached):
                kept |= (target >= begin) & (target < end)
            source, target = source[kept], target[kept]
        return source, target

    def some_of(
        self,
        whole: Adjacency,
        types: tuple[str, ...],
        direction: Direction,
        number: int,
        loops: bool,
        meter: Meter | None = None,
    ) -> Adjacency:
        """Of an adjacency, that of all edges of `types`, some entries alone: of those between two vertices only the
        first, the second and so on (number; 0: all), and self-loops or not."""
        number = 0 if number == 1 and whole.simple else number
        if not number and loops:
            return whole

        def build() -> Adjacency:
            built = whole.compact() if loops else whole.compact().without_loops()
            return built.numbered(number) if number else built

        most = _CHOOSING * whole.entries + 8 * whole.rows
        return self.cache.get((types, direction, number, loops), build, most, "an adjacency of some edges", meter)

    def loops(self, types: tuple[str, ...], number: int = 0, meter: Meter | None = None) -> Adjacency:
        """The edges of the types that lead from a vertex to itself; of those at one vertex only the first, the second
        and so on (0: all)."""
        if number:
            every = self.loops(types, meter=meter)
            most = _CHOOSING * every.entries + 8 * every.rows
            return self.cache.get(("loops", types, number), lambda: every.numbered(number), most, "self-loops", meter)
        adjacency = self.adjacency(types, "out", meter)

        def build() -> Adjacency:
            whole = adjacency.compact()
            parts = (_own_entries(whole, begin) for begin in range(0, whole.entries, _AT_ONCE))
            own = np.concatenate([np.zeros(0, np.int64), *parts])
            source = whole.neighbours[own]
            built = build_adjacency(source, source, whole.edges[own])
            return LoopAdjacency(built.first, built.offsets, built.neighbours, built.edges, built.simple)

        loops = self.statistics.loops(types, tuple(range(len(self.vertex_tables))))
        most = 32 * min(_AT_ONCE, adjacency.entries) + building_bytes(loops, adjacency.rows)
        return self.cache.get(("loops", types), build, most, "the self-loops", meter)

    def numbered_edges(self, types: tuple[str, ...], by_source: bool, meter: Meter | None = None) -> NumberedEdges:
        """The edges of some types, sorted, with numbers of their own and their ends."""
        adjacency = self.adjacency(types, "out" if by_source else "in", meter).compact()
        most = numbered_bytes(adjacency.entries, adjacency.rows)
        key = ("numbered edges", types, by_source)
        return self.cache.get(key, lambda: NumberedEdges(adjacency, by_source), most, "the ends of edges", meter)

    def identity(self, meter: Meter | None = None) -> Adjacency:
        """Every vertex as its own and only neighbour."""

        def build() -> Adjacency:
            vertices = np.arange(self.vertex_count + 1)
            return Adjacency(0, vertices, vertices[:-1].astype(np.int32), vertices[:-1], True)

        most = 20 * self.vertex_count + 8
        return self.vertex_cache.get("identity", build, most, "an adjacency of all vertices", meter)


def _own_entries(adjacency: Adjacency, begin: int) -> NDArray[np.int64]:
    """Those of some entries, from one on, that are neighbours of themselves."""
    end = min(begin + _AT_ONCE, adjacency.entries)
    source = adjacency.first - 1 + np.searchsorted(adjacency.offsets, np.arange(begin, end), "right")
    return begin + np.flatnonzero(source == adjacency.neighbours[begin:end])

"""The data graph: an immutable snapshot of Arrow vertex tables and edge tables.

Vertices are numbered 0..n-1 table by table, so a label set is one range of internal ids and a label filter is a handful
of ranges. Edges are numbered 0..m-1 in the same way. Users see neither number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.storage.adjacency import Adjacency, build_adjacency, building_bytes, merge_directions
from gquery.storage.cache import DEFAULT_LIMIT, Cache, Meter
from gquery.storage.counting import count_statistics
from gquery.storage.schema import Direction, EdgeTableSchema, Hop, Schema, VertexTableSchema
from gquery.storage.signatures import count_signatures
from gquery.storage.statistics import SIGNATURE_BITS, Statistics

Ends = tuple[NDArray[np.int32], NDArray[np.int32]]  # source and target of some edges
_EDGE = 32  # bytes that an edge takes: its ends, and its neighbour and number in either direction
MAX_VERTICES = 2**31 - 1  # vertices travel as int32


class Columns(Mapping[str, pa.ChunkedArray]):
    """Property columns by name, each loaded when first asked for (a graph on disk opens column by column)."""

    def __init__(self, types: Mapping[str, pa.DataType], load: Callable[[str], pa.ChunkedArray]) -> None:
        self.types = dict(types)
        self._load = load
        self._loaded: dict[str, pa.ChunkedArray] = {}

    @classmethod
    def from_table(cls, table: pa.Table) -> Columns:
        return cls({field.name: field.type for field in table.schema}, table.column)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        if name not in self.types:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)


class VertexTable:
    """All vertices with exactly these labels.

    `ids` are the users' ids (int64 or string). `id_name` is the property that shows the id, None when it is not one.
    """

    def __init__(
        self,
        labels: tuple[str, ...],
        count: int,
        id_type: pa.DataType,
        id_name: str | None,
        columns: Columns,
        load_ids: Callable[[], pa.ChunkedArray],
    ) -> None:
        self.labels = labels
        self.count = count
        self.id_type = id_type
        self.id_name = id_name
        self.columns = columns
        self._load_ids = load_ids

    @classmethod
    def from_arrow(
        cls, labels: tuple[str, ...], ids: pa.ChunkedArray, properties: pa.Table, id_name: str | None
    ) -> VertexTable:
        return cls(labels, len(ids), ids.type, id_name, Columns.from_table(properties), lambda: ids)

    @cached_property
    def ids(self) -> pa.ChunkedArray:
        return self._load_ids()


class EdgeTable:
    """Edges of one type. `ends()` gives source and target, int32[count] internal vertex ids."""

    def __init__(
        self,
        type: str,
        count: int,
        columns: Columns,
        load_ends: Callable[[], Ends],
    ) -> None:
        self.type = type
        self.count = count
        self.columns = columns
        self._load_ends = load_ends

    @classmethod
    def from_arrow(
        cls, type: str, source: NDArray[np.int32], target: NDArray[np.int32], properties: pa.Table
    ) -> EdgeTable:
        return cls(type, len(source), Columns.from_table(properties), lambda: (source, target))

    @cached_property
    def ends(self) -> Ends:
        return self._load_ends()


@dataclass(frozen=True)
class AdjacencyKey:
    """Which edges, seen how. `types` is sorted and without repeats."""

    types: tuple[str, ...]
    direction: Direction


class Snapshot:
    """An immutable graph. The adjacencies of one type, from source to target and back, are the graph: they are built
    when first needed and kept. Whatever else queries need is made on demand and kept in `cache`, of 1 GiB or twice what
    the edges take, whichever is more."""

    def __init__(
        self,
        vertex_tables: Iterable[VertexTable],
        edge_tables: Iterable[EdgeTable],
        stored: Mapping[AdjacencyKey, Callable[[], Adjacency]] | None = None,
        load_statistics: Callable[[], Statistics] | None = None,
        load_signatures: Callable[[int, Snapshot], NDArray[np.uint64]] | None = None,
    ) -> None:
        """`stored` and the rest load what exists already, on disk. Signatures are loaded for some of their bits."""
        self.vertex_tables = tuple(vertex_tables)
        self.edge_tables = tuple(edge_tables)
        self.vertex_starts = starts_of(table.count for table in self.vertex_tables)
        self.edge_starts = starts_of(table.count for table in self.edge_tables)
        if any(table.type.startswith("\0") for table in self.edge_tables):
            raise LoadError("an edge type cannot begin with NUL: the planner's own types do")
        if self.vertex_count > MAX_VERTICES:
            raise LoadError(f"{self.vertex_count:,} vertices are more than gquery can number ({MAX_VERTICES:,})")
        self._stored = dict(stored or {})
        self._load_statistics = load_statistics
        self._load_signatures = load_signatures
        self._adjacencies: dict[AdjacencyKey, Adjacency] = {}
        self._lock = threading.RLock()
        self.cache = Cache(max(DEFAULT_LIMIT, 2 * _EDGE * self.edge_count))

    @property
    def vertex_count(self) -> int:
        return int(self.vertex_starts[-1])

    @property
    def edge_count(self) -> int:
        return int(self.edge_starts[-1])

    @cached_property
    def schema(self) -> Schema:
        return Schema(
            tuple(VertexTableSchema(t.labels, t.id_type, t.columns.types, t.count) for t in self.vertex_tables),
            tuple(EdgeTableSchema(t.type, t.columns.types, t.count) for t in self.edge_tables),
        )

    @cached_property
    def statistics(self) -> Statistics:
        return self._load_statistics() if self._load_statistics else count_statistics(self)

    @cached_property
    def _counted_signatures(self) -> NDArray[np.uint64]:
        return count_signatures(self)

    def signatures(self, bits: int = 2**SIGNATURE_BITS - 1) -> NDArray[np.uint64]:
        """uint64[vertex_count]: see `signatures.py`. Those of a saved graph are verified, the asked bits of them."""
        return self._load_signatures(bits, self) if self._load_signatures else self._counted_signatures

    def vertex_range(self, table: int) -> tuple[int, int]:
        """Internal ids [begin, end) of a vertex table."""
        return int(self.vertex_starts[table]), int(self.vertex_starts[table + 1])

    def edge_range(self, table: int) -> tuple[int, int]:
        """Internal ids [begin, end) of an edge table."""
        return int(self.edge_starts[table]), int(self.edge_starts[table + 1])

    @property
    def ends(self) -> NDArray[np.int32]:
        """Source and target of every edge, int32[2, edge_count], by edge id."""
        everything = range(len(self.edge_tables))
        most = 16 * self.edge_count
        return self.cache.get("ends", lambda: np.stack(self._gather_ends(everything)), most, "the ends of all edges")

    def adjacency(self, types: Iterable[str], direction: Direction, meter: Meter | None = None) -> Adjacency:
        """The adjacency of all edges of `types`; safe from several threads. meter: of the query that asks."""
        key = AdjacencyKey(tuple(sorted(set(types))), direction)
        if len(key.types) != 1 or direction == "both":
            purpose = f"an adjacency of {len(key.types)} edge types"
            return self.cache.get(key, lambda: self._build(key), self._most_for(key), purpose, meter)
        with self._lock:
            if key not in self._adjacencies:
                stored = self._stored.get(key)
                self._adjacencies[key] = stored() if stored else self._build(key)
            return self._adjacencies[key]

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
        source = np.concatenate([np.arange(*self.vertex_range(table), dtype=np.int32) for table in tables])
        target = source
        for types, direction, reached in hops:
            adjacency = self.adjacency(types, direction)
            row = target.astype(np.int64) - adjacency.first
            inside = (row >= 0) & (row < adjacency.rows)
            source, row = source[inside], row[inside]
            leads = adjacency.offsets[row] < adjacency.offsets[row + 1]
            source, target = source[leads], adjacency.neighbours[adjacency.offsets[row[leads]]]
            kept = np.zeros(len(target), np.bool_)
            for begin, end in (self.vertex_range(table) for table in reached):
                kept |= (target >= begin) & (target < end)
            source, target = source[kept], target[kept]
        return source, target

    def identity(self, meter: Meter | None = None) -> Adjacency:
        """Every vertex as its own and only neighbour."""

        def build() -> Adjacency:
            vertices = np.arange(self.vertex_count + 1)
            return Adjacency(0, vertices, vertices[:-1].astype(np.int32), vertices[:-1], True)

        return self.cache.get("identity", build, 20 * self.vertex_count + 8, "an adjacency of all vertices", meter)

    def _tables_of(self, types: tuple[str, ...]) -> list[int]:
        return [index for index, table in enumerate(self.edge_tables) if table.type in types]

    def _most_for(self, key: AdjacencyKey) -> int:
        """Bytes that building an adjacency takes at most."""
        edges = sum(self.edge_tables[index].count for index in self._tables_of(key.types))
        return building_bytes(2 * edges if key.direction == "both" else edges, self.vertex_count)

    def _build(self, key: AdjacencyKey) -> Adjacency:
        tables = self._tables_of(key.types)
        source, target = self._gather_ends(tables)
        ranges = [np.arange(*self.edge_range(index), dtype=np.int64) for index in tables]
        edges = np.concatenate(ranges) if ranges else np.zeros(0, np.int64)
        if key.direction == "in":
            source, target = target, source
        elif key.direction == "both":
            source, target, edges = merge_directions(source, target, edges)
        return build_adjacency(source, target, edges)

    def _gather_ends(self, tables: Iterable[int]) -> Ends:
        ends = [self.edge_tables[index].ends for index in tables]
        if not ends:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        return np.concatenate([source for source, _ in ends]), np.concatenate([target for _, target in ends])


def starts_of(counts: Iterable[int]) -> NDArray[np.int64]:
    """Where tables of so many rows begin when they are numbered one after the other, and where the last ends."""
    return np.concatenate([[0], np.cumsum(list(counts), dtype=np.int64)]).astype(np.int64)

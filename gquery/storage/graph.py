"""The data graph: an immutable snapshot of Arrow vertex tables and edge tables.

Vertices are numbered 0..n-1 table by table, so a label set is one range of internal ids and a label filter is a handful
of ranges. Edges are numbered 0..m-1 in the same way. Users see neither number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.errors import LoadError
from gquery.storage.adjacency import Adjacency, build_adjacency, merge_directions
from gquery.storage.schema import Direction, EdgeTableSchema, Hop, Schema, VertexTableSchema, common_type
from gquery.storage.signatures import count_signatures
from gquery.storage.statistics import Statistics, count_statistics

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
        load_ends: Callable[[], tuple[NDArray[np.int32], NDArray[np.int32]]],
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
    def ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self._load_ends()


@dataclass(frozen=True)
class AdjacencyKey:
    """Which edges, seen how. `types` is sorted and without repeats."""

    types: tuple[str, ...]
    direction: Direction


class Snapshot:
    """An immutable graph. Adjacencies are built when first needed and kept."""

    def __init__(
        self,
        vertex_tables: Iterable[VertexTable],
        edge_tables: Iterable[EdgeTable],
        stored: Mapping[AdjacencyKey, Callable[[], Adjacency]] | None = None,
        statistics: Statistics | None = None,
        load_signatures: Callable[[], NDArray[np.uint64]] | None = None,
    ) -> None:
        """`stored` and `load_signatures` load what exists already, on disk; `statistics`: if they are known."""
        self.vertex_tables = tuple(vertex_tables)
        self.edge_tables = tuple(edge_tables)
        self.vertex_starts = _starts(table.count for table in self.vertex_tables)
        self.edge_starts = _starts(table.count for table in self.edge_tables)
        if self.vertex_count > MAX_VERTICES:
            raise LoadError(f"{self.vertex_count:,} vertices are more than gquery can number ({MAX_VERTICES:,})")
        self._stored = dict(stored or {})
        self._statistics = statistics
        self._load_signatures = load_signatures
        self._adjacencies: dict[AdjacencyKey, Adjacency] = {}
        self._composed: dict[object, tuple[Adjacency, Adjacency]] = {}
        self._aligned: dict[tuple[str, str], pa.ChunkedArray] = {}
        self._lock = threading.RLock()

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
        return self._statistics or count_statistics(self)

    @cached_property
    def signatures(self) -> NDArray[np.uint64]:
        """uint64[vertex_count]: see `signatures.py`."""
        return self._load_signatures() if self._load_signatures else count_signatures(self)

    def vertex_range(self, table: int) -> tuple[int, int]:
        """Internal ids [begin, end) of a vertex table."""
        return int(self.vertex_starts[table]), int(self.vertex_starts[table + 1])

    def edge_range(self, table: int) -> tuple[int, int]:
        """Internal ids [begin, end) of an edge table."""
        return int(self.edge_starts[table]), int(self.edge_starts[table + 1])

    @cached_property
    def ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Source and target of every edge, int32[edge_count], by edge id."""
        return self._gather_ends(range(len(self.edge_tables)))

    def adjacency(self, types: Iterable[str], direction: Direction) -> Adjacency:
        """The adjacency of all edges of `types`; built at most once, safe from several threads."""
        key = AdjacencyKey(tuple(sorted(set(types))), direction)
        with self._lock:
            if key not in self._adjacencies:
                stored = self._stored.get(key)
                self._adjacencies[key] = stored() if stored else self._build(key)
            return self._adjacencies[key]

    def composed(self, tables: tuple[int, ...], hops: tuple[Hop, ...], direction: Direction) -> Adjacency:
        """From each vertex of the tables to the one that the hops lead to, one after the other ("out"), or back ("in").
        A hop is (edge types, direction, tables of what it may lead to) and leads to one vertex at most."""
        key = (tables, hops)
        with self._lock:
            if key not in self._composed:
                source, target = self._follow(tables, hops)
                numbers = np.arange(len(source))
                self._composed[key] = (
                    build_adjacency(source, target, numbers),
                    build_adjacency(target, source, numbers),
                )
            return self._composed[key][direction == "in"]

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

    @cached_property
    def identity(self) -> Adjacency:
        """Every vertex as its own and only neighbour."""
        vertices = np.arange(self.vertex_count + 1)
        return Adjacency(0, vertices, vertices[:-1].astype(np.int32), vertices[:-1], True)

    def vertex_ids(self) -> pa.ChunkedArray:
        """Users' ids of all vertices, by internal id; strings when some tables have string ids and some integers."""
        types = [table.id_type for table in self.vertex_tables]
        return self._align("ids", "", common_type(types) or pa.string(), [table.ids for table in self.vertex_tables])

    def vertex_property(self, key: str, type: pa.DataType) -> pa.ChunkedArray:
        """A property of all vertices as `type`, by internal id; null where a table does not have it."""
        return self._align("vertex", key, type, [_column(t.columns, key, t.count) for t in self.vertex_tables])

    def edge_property(self, key: str, type: pa.DataType) -> pa.ChunkedArray:
        """A property of all edges as `type`, by internal id; null where a table does not have it."""
        return self._align("edge", key, type, [_column(t.columns, key, t.count) for t in self.edge_tables])

    def _align(self, kind: str, key: str, type: pa.DataType, columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
        with self._lock:
            if (kind, key) not in self._aligned or self._aligned[kind, key].type != type:
                cast_columns = [column if column.type == type else _cast(column, type) for column in columns]
                chunks = [chunk for column in cast_columns for chunk in column.chunks]
                self._aligned[kind, key] = pa.chunked_array(chunks, type=type)
            return self._aligned[kind, key]

    def _build(self, key: AdjacencyKey) -> Adjacency:
        tables = [index for index, table in enumerate(self.edge_tables) if table.type in key.types]
        source, target = self._gather_ends(tables)
        ranges = [np.arange(*self.edge_range(index), dtype=np.int64) for index in tables]
        edges = np.concatenate(ranges) if ranges else np.zeros(0, np.int64)
        if key.direction == "in":
            source, target = target, source
        elif key.direction == "both":
            source, target, edges = merge_directions(source, target, edges)
        return build_adjacency(source, target, edges)

    def _gather_ends(self, tables: Iterable[int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        ends = [self.edge_tables[index].ends for index in tables]
        if not ends:
            return np.zeros(0, np.int32), np.zeros(0, np.int32)
        return np.concatenate([source for source, _ in ends]), np.concatenate([target for _, target in ends])


def _starts(counts: Iterable[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(list(counts), dtype=np.int64)]).astype(np.int64)


def _column(columns: Columns, key: str, count: int) -> pa.ChunkedArray:
    return columns[key] if key in columns else pa.chunked_array([pa.nulls(count)])


def _cast(column: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_null(column.type):
        return pa.chunked_array([pa.nulls(len(column), type)])
    return cast(pa.ChunkedArray, column.cast(type))

"""Answers that are numbers of matched vertices alone, gathered where the matches are found.

On a card that saves most of the way: ids and numbers are looked up there, and columns of an answer are what is copied,
or stay. On the CPU kernels write the columns, and workers do not wait for each other in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gquery.arrays import to_arrow, to_numpy
from gquery.executor.backend import Stored, VertexValues
from gquery.executor.relational.gather import first_id, gather, plain_type, stored_column
from gquery.planner.ir.expr import Attribute, Column, Kind
from gquery.planner.ir.query_graph import QueryGraph
from gquery.records import record
from gquery.storage.graph import Snapshot

Asked = tuple[int, VertexValues]
"""A query vertex, and the numbers that are asked of what it is matched to."""


@record(frozen=True, slots=True)
class Turns:
    """Some matches: columns as arrays, perhaps on a device; and, for each way to turn the matches, which columns are
    the answer's."""

    columns: Sequence[Any]
    ways: Sequence[Sequence[int]]

    def parts(self) -> Iterator[Sequence[Any]]:
        """The columns of each part of the answer."""
        return ([self.columns[place] for place in way] for way in self.ways)

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The same as Arrow, of columns on the host: what several parts have in common is made once."""
        arrays = [to_arrow(column) for column in self.columns]
        for way in self.ways:
            yield pa.record_batch([arrays[place] for place in way], schema=schema)


def asked_of(items: Sequence[Column], graph: QueryGraph, snapshot: Snapshot) -> tuple[Asked, ...] | None:
    """What is gathered for columns of an answer; None unless all are numbers that every vertex has."""
    vertex_of = {vertex.variable: vertex for vertex in graph.vertices}
    found = []
    for item in items:
        vertex = vertex_of.get(item.variable)
        if vertex is None or not vertex.tables or not _are_numbers(item, vertex.tables, snapshot):
            return None
        found.append((vertex.index, _values(item, vertex.tables, snapshot)))
    return tuple(found)


def turned(asked: Sequence[Asked], level_of: Mapping[int, int], turns: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """What to gather at which level for all ways to turn matches, and which of that each way has for its columns."""
    every = turns or [range(max(level_of, default=0) + 1)]
    ways = [[(level_of[turn[vertex]], values) for vertex, values in asked] for turn in every]
    columns = {(level, values.key): (level, values) for way in ways for level, values in way}
    place = {key: number for number, key in enumerate(columns)}
    return tuple(columns.values()), [[place[level, values.key] for level, values in way] for way in ways]


def _are_numbers(column: Column, tables: Sequence[int], snapshot: Snapshot) -> bool:
    if column.attribute not in (Attribute.ID, Attribute.PROPERTY):
        return False
    arrow = plain_type(column.type)
    if not (pa.types.is_integer(arrow) or pa.types.is_float32(arrow) or pa.types.is_float64(arrow)):
        return False
    stored = [stored_column(snapshot.vertex_tables[table], column) for table in tables]
    return all(values is not None and values.null_count == 0 for values in stored)


def _values(column: Column, tables: tuple[int, ...], snapshot: Snapshot) -> VertexValues:
    arrow = plain_type(column.type)

    def make() -> NDArray[Any]:
        vertices = snapshot.vertex_numbers.ids(tables, np.int32)
        values = np.zeros(snapshot.vertex_count, arrow.to_pandas_dtype())
        values[vertices] = to_numpy(gather(snapshot, Kind.NODE, column, to_arrow(vertices)))
        return values

    return VertexValues((column.attribute, column.key, arrow, tables), make, _stored(column, tables, snapshot))


def _stored(column: Column, tables: tuple[int, ...], snapshot: Snapshot) -> Callable[[float], Stored] | None:
    """The numbers as they are stored, where one table has them in one piece."""
    segments = snapshot.vertex_numbers.of(tables)
    if len(tables) != 1 or len(segments) != 1:
        return None
    first, table = segments[0].begin, snapshot.vertex_tables[tables[0]]
    values = stored_column(table, column)
    if values is None or values.num_chunks != 1 or values.type != plain_type(column.type):
        return None

    def find(rows: float) -> Stored:
        begin = first_id(table, column, rows)
        return Stored(first, to_numpy(values)) if begin is None else Stored(first, None, begin)

    return find

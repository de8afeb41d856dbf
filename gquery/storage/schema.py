"""What a graph looks like from outside: labels, types, properties. The planner binds against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from gquery.lasting.properties import cached_property

Direction = Literal["out", "in", "both"]

TURNED: Mapping[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}
"""The direction as seen from the other end."""

ZONED_TIME = pa.struct([("time", pa.time64("ns")), ("offset_seconds", pa.int32())])
"""A time of the day with an offset from UTC, for which Arrow has no type."""

Hop = tuple[tuple[str, ...], Direction, tuple[int, ...]]
"""An edge from a vertex to at most one other: edge types, direction, the vertex tables that the other is of."""


@dataclass(frozen=True, slots=True)
class VertexTableSchema:
    """One label set: its labels as declared (maybe none), the Arrow type of the user ids, the property types."""

    labels: tuple[str, ...]
    id_type: pa.DataType
    properties: Mapping[str, pa.DataType]
    count: int


@dataclass(frozen=True, slots=True)
class EdgeTableSchema:
    """One edge table: the edge type and the property types. Several tables may share a type."""

    type: str
    properties: Mapping[str, pa.DataType]
    count: int


@dataclass(frozen=True)
class Schema:
    """Tables in storage order; a vertex table's index is the id of its label set."""

    vertex_tables: tuple[VertexTableSchema, ...]
    edge_tables: tuple[EdgeTableSchema, ...]

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label, in the order in which the tables first show it."""
        return tuple(self.tables_with)

    @cached_property
    def tables_with(self) -> Mapping[str, tuple[int, ...]]:
        """The vertex tables of each label, ascending."""
        tables: dict[str, list[int]] = {}
        for index, table in enumerate(self.vertex_tables):
            for label in table.labels:
                tables.setdefault(label, []).append(index)
        return {label: tuple(found) for label, found in tables.items()}

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Every edge type, in the order in which the tables first show it."""
        return tuple(dict.fromkeys(table.type for table in self.edge_tables))

    def vertex_property(self, key: str, tables: Iterable[int] | None = None) -> tuple[pa.DataType, ...]:
        """The distinct types of one property over the given vertex tables (all when None); none where it is unknown."""
        chosen = self.vertex_tables if tables is None else [self.vertex_tables[index] for index in tables]
        return tuple(dict.fromkeys(table.properties[key] for table in chosen if key in table.properties))

    def edge_property(self, key: str, types: Iterable[str] | None = None) -> tuple[pa.DataType, ...]:
        """The distinct types of one property over the tables of the given edge types (all when None)."""
        names = None if types is None else set(types)
        chosen = (table for table in self.edge_tables if names is None or table.type in names)
        return tuple(dict.fromkeys(table.properties[key] for table in chosen if key in table.properties))

    def vertex_properties(self, tables: Iterable[int] | None = None) -> dict[str, tuple[pa.DataType, ...]]:
        """Property name -> its distinct types over the given vertex tables (all when None)."""
        chosen = self.vertex_tables if tables is None else [self.vertex_tables[index] for index in tables]
        return _distinct_types(table.properties for table in chosen)

    def edge_properties(self, types: Iterable[str] | None = None) -> dict[str, tuple[pa.DataType, ...]]:
        """Property name -> its distinct types over the tables of the given edge types (all when None)."""
        names = None if types is None else set(types)
        return _distinct_types(table.properties for table in self.edge_tables if names is None or table.type in names)


def _distinct_types(tables: Iterable[Mapping[str, pa.DataType]]) -> dict[str, tuple[pa.DataType, ...]]:
    found: dict[str, dict[pa.DataType, None]] = {}
    for properties in tables:
        for name, data_type in properties.items():
            found.setdefault(name, {})[data_type] = None
    return {name: tuple(types) for name, types in found.items()}


def common_type(types: Iterable[pa.DataType]) -> pa.DataType | None:
    """The one type that values of all `types` can be shown as: numbers widen, times get nanoseconds, null gives way;
    None if there is none."""
    distinct = [data_type for data_type in dict.fromkeys(types) if not pa.types.is_null(data_type)]
    if not distinct:
        return pa.null()
    if len(distinct) == 1:
        return distinct[0]
    if all(pa.types.is_integer(data_type) for data_type in distinct):
        return pa.int64()
    if all(pa.types.is_integer(data_type) or pa.types.is_floating(data_type) for data_type in distinct):
        return pa.float64()
    if all(pa.types.is_string(data_type) or pa.types.is_large_string(data_type) for data_type in distinct):
        return pa.large_string()
    if all(pa.types.is_timestamp(data_type) for data_type in distinct) and len({each.tz for each in distinct}) == 1:
        return pa.timestamp("ns", distinct[0].tz)
    if all(pa.types.is_time(data_type) for data_type in distinct):
        return pa.time64("ns")
    if all(pa.types.is_list(data_type) for data_type in distinct):
        item = common_type(data_type.value_type for data_type in distinct)
        return None if item is None else pa.list_(item)
    return None

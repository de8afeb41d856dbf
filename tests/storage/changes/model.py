"""A graph as plain dicts by internal id, random batches for it, and a snapshot that is made of it from scratch."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from gquery.storage.changes.batch import Batch, NewEdges, NewLabels, NewValues, NewVertices
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

LABELS = [("A",), ("B",), ("A", "B"), (), ("C",)]
TYPES = ["T", "U", "V"]
NAMES = ["x", "y", "z"]

Properties = dict[str, Any]


@dataclass
class Vertex:
    id: int | str
    labels: frozenset[str]
    properties: Properties


@dataclass
class Edge:
    type: str
    source: int
    target: int
    properties: Properties


@dataclass
class Model:
    """`vertex_ids`, `edge_ids`: how many ids there are, with those that are gone."""

    vertices: dict[int, Vertex] = field(default_factory=dict)
    edges: dict[int, Edge] = field(default_factory=dict)
    vertex_ids: int = 0
    edge_ids: int = 0

    def snapshot(self) -> Snapshot:
        """The same graph made anew; ids of users are what tells vertices apart in both."""
        tables: list[VertexTable] = []
        numbers: dict[int, int] = {}
        for (labels, id_type, types), members in _groups(
            self.vertices, lambda v: (tuple(sorted(v.labels)), type(v.id))
        ):
            for vertex in members:
                numbers[vertex] = len(numbers)
            ids = pa.chunked_array([pa.array([self.vertices[v].id for v in members], _ARROW[id_type])])
            tables.append(
                VertexTable.from_arrow(labels, ids, _columns([self.vertices[v] for v in members], types), None)
            )
        edge_tables = []
        for (name, types), members in _groups(self.edges, lambda edge: (edge.type,)):
            found = [self.edges[edge] for edge in members]
            source, target = (
                np.array([numbers[getattr(e, side)] for e in found], np.int32) for side in ("source", "target")
            )
            edge_tables.append(EdgeTable.from_arrow(name, source, target, _columns(found, types)))
        return Snapshot(tables, edge_tables)

    def batch(self, random: Random) -> Batch:
        """Some changes, which the model has already then."""
        new_vertices = [self._new_vertices(random) for _ in range(random.choice([0, 0, 1, 2]))]
        gone_vertices = [
            v for v in [*self.vertices] if v < self._before and random.random() < random.choice([0, 0, 0.1])
        ]
        doomed = {e for e, edge in self.edges.items() if not {edge.source, edge.target}.isdisjoint(gone_vertices)}
        gone_edges = [e for e in self.edges if e in doomed or random.random() < 0.05]
        for vertex in gone_vertices:
            del self.vertices[vertex]
        for edge in gone_edges:
            del self.edges[edge]
        new_edges = [self._new_edges(random) for _ in range(random.choice([0, 1, 3]))]
        labels = self._labels(random)
        vertex_values = [self._values(random, self.vertices) for _ in range(random.choice([0, 0, 1, 2]))]
        edge_values = [self._values(random, self.edges) for _ in range(random.choice([0, 0, 1]))]
        self._before = self.vertex_ids
        return Batch(
            tuple(new_vertices),
            tuple(filter(None, new_edges)),
            np.array(gone_vertices, np.int32),
            np.array(gone_edges, np.int64),
            tuple(filter(None, vertex_values)),
            tuple(filter(None, edge_values)),
            labels,
        )

    _before: int = 0

    def _new_vertices(self, random: Random) -> NewVertices:
        labels, count = random.choice(LABELS), random.randint(1, 6)
        ids = [1000 + self.vertex_ids + place for place in range(count)]
        names = [f"v{id}" for id in ids] if random.random() < 0.2 else ids
        types = {name: random.choice([int, str, float]) for name in NAMES if random.random() < 0.5}
        rows = [{name: _value(random, kind) for name, kind in types.items()} for _ in range(count)]
        for place, row in enumerate(rows):
            has = {name: value for name, value in row.items() if value is not None}
            self.vertices[self.vertex_ids + place] = Vertex(names[place], frozenset(labels), has)
        self.vertex_ids += count
        columns = {name: pa.array([row[name] for row in rows], _ARROW[kind]) for name, kind in types.items()}
        table = pa.table(columns) if columns else pa.table({"y": pa.nulls(count, pa.int64())})
        return NewVertices(labels, table, pa.array(names))

    def _new_edges(self, random: Random) -> NewEdges | None:
        if not self.vertices:
            return None
        type_, count = random.choice(TYPES), random.randint(1, 8)
        kind = random.choice([int, str])
        ends = [[random.choice([*self.vertices]) for _ in range(count)] for _ in range(2)]
        if random.random() < 0.3:
            ends[1] = ends[0][:1] * count  # loops, parallel edges
        values = [_value(random, kind) for _ in range(count)]
        for place, (source, target, value) in enumerate(zip(*ends, values, strict=True)):
            self.edges[self.edge_ids + place] = Edge(type_, source, target, {} if value is None else {"x": value})
        self.edge_ids += count
        return NewEdges(
            type_, *(np.array(side, np.int32) for side in ends), pa.table({"x": pa.array(values, _ARROW[kind])})
        )

    def _labels(self, random: Random) -> tuple[NewLabels, ...]:
        chosen = [v for v in self.vertices if random.random() < random.choice([0, 0, 0, 0.1])]
        labels = random.choice(LABELS)
        for vertex in chosen:
            self.vertices[vertex].labels = frozenset(labels)
        return (NewLabels(np.array(chosen, np.int32), labels),) if chosen else ()

    def _values(self, random: Random, elements: dict[int, Any]) -> NewValues | None:
        name, kind = random.choice(NAMES), random.choice([int, str, float])
        of = [each for each in elements if random.random() < random.choice([0.02, 0.4])]
        random.shuffle(of)
        values = [_value(random, kind) for _ in of]
        for each, value in zip(of, values, strict=True):
            elements[each].properties.pop(name, None)
            if value is not None:
                elements[each].properties[name] = value
        dtype = np.int32 if elements is self.vertices else np.int64
        return NewValues(np.array(of, dtype), name, pa.array(values, _ARROW[kind])) if of else None


_ARROW = {int: pa.int64(), str: pa.string(), float: pa.float64()}


def _value(random: Random, kind: type) -> Any:
    number = random.randint(0, 4)
    return (
        random.choice([None, number, number, number])
        if kind is int
        else None
        if random.random() < 0.2
        else kind(number)
    )


def _groups(elements: dict[int, Any], key: Any) -> list[tuple[Any, list[int]]]:
    groups: dict[Any, list[int]] = defaultdict(list)
    for number, element in elements.items():
        types = tuple(sorted((name, type(value)) for name, value in element.properties.items()))
        groups[*key(element), types] = [*groups[*key(element), types], number]
    return [*groups.items()]


def _columns(elements: list[Any], types: Any) -> pa.Table:
    if not types:
        return pa.table({"none": pa.nulls(len(elements))}).drop_columns(["none"])
    return pa.table({name: pa.array([e.properties[name] for e in elements], _ARROW[kind]) for name, kind in types})

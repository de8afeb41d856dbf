"""The generated graphs as gquery graphs, and answers in the form in which the tests compare them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import pyarrow as pa

import gquery
from tests.differential.forms import DataGraph, Edge, Match, Query, Value, Vertex
from tests.differential.sql import EDGE_KEYS, VERTEX_KEYS

Rows = Counter[tuple[str, ...]]


def to_gquery(graph: DataGraph) -> gquery.Graph:
    """One vertex table a label set, one edge table for each pair of label sets and type that has edges.

    A type without edges gets an empty table, so that it is known; the same holds for label sets without vertices.
    """
    label_set = {vertex.id: vertex.labels for vertex in graph.vertices}
    strings = any(isinstance(vertex.id, str) for vertex in graph.vertices)
    id_type = pa.string() if strings else pa.int64()
    vertices = {}
    for labels, keys in graph.label_sets.items():
        members = [vertex for vertex in graph.vertices if vertex.labels == labels]
        columns = {"id": pa.array([vertex.id for vertex in members], id_type)}
        columns |= _columns([vertex.properties for vertex in members], {key: VERTEX_KEYS[key] for key in keys})
        vertices[tuple(sorted(labels))] = pa.table(columns)
    edges = {}
    first = next(iter(graph.label_sets))
    groups: dict[tuple[frozenset[str], str, frozenset[str]], list[Edge]] = {(first, t, first): [] for t in graph.types}
    for edge in graph.edges:
        groups.setdefault((label_set[edge.source], edge.type, label_set[edge.target]), []).append(edge)
    for (source, type, target), parallel in groups.items():
        columns = {
            "source": pa.array([edge.source for edge in parallel], id_type),
            "target": pa.array([edge.target for edge in parallel], id_type),
        }
        columns |= _columns([edge.properties for edge in parallel], {key: EDGE_KEYS[key] for key in graph.types[type]})
        edges[tuple(sorted(source)), type, tuple(sorted(target))] = pa.table(columns)
    return gquery.from_arrow(vertices=vertices, edges=edges)


def _columns(rows: list[Mapping[str, Value]], types: Mapping[str, pa.DataType]) -> dict[str, pa.Array]:
    return {key: pa.array([row[key] for row in rows], type) for key, type in types.items()}


def expected_rows(query: Query, matches: Iterable[Match]) -> Rows:
    """What RETURN shows of the matches: the ids of the named vertices, the `eid` of the named edges."""
    return Counter(tuple(str(_shown(match[name])) for name in query.names) or ("1",) for match in matches)


def _shown(element: Vertex | Edge | None) -> Value:
    if isinstance(element, Edge):
        return element.properties["eid"]
    return None if element is None else element.id


def found_rows(result: gquery.Result) -> Rows:
    columns = [column.to_pylist() for column in result.to_arrow().columns]
    return Counter(tuple(str(value) for value in row) for row in zip(*columns, strict=True))

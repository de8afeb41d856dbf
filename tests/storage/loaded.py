"""Loaded graphs as plain Python values, and files to load."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from gquery.storage.load import LoadedGraph


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files into a folder; what ends in `.gz` is packed unless it is given as bytes."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        packed = name.endswith(".gz") and isinstance(content, str)
        path.write_bytes(gzip.compress(data) if packed else data)
    return folder


def ids(graph: LoadedGraph) -> dict[str, list[object]]:
    """User ids by labels, joined with colons."""
    return {":".join(table.labels): table.ids.to_pylist() for table in graph.snapshot.vertex_tables}


def vertices(graph: LoadedGraph, labels: str) -> list[dict[str, object]]:
    """The properties of the vertices with exactly these labels, row by row."""
    (table,) = [t for t in graph.snapshot.vertex_tables if ":".join(t.labels) == labels]
    return pa.table(dict(table.columns)).to_pylist()


def edges(graph: LoadedGraph) -> list[tuple[object, ...]]:
    """(source id, type, target id, properties if any) of every edge, in order."""
    users = [user for table in graph.snapshot.vertex_tables for user in table.ids.to_pylist()]
    rows: list[tuple[object, ...]] = []
    for table in graph.snapshot.edge_tables:
        properties = pa.table(dict(table.columns)).to_pylist() or [{}] * table.count
        for source, target, row in zip(*table.ends, properties, strict=True):
            rows.append((users[source], table.type, users[target], *([row] if row else [])))
    return rows

"""How a graph comes about: loaded from files or tables, or opened where it was saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gquery.session import Graph
from gquery.storage.load.report import LoadedGraph
from gquery.storage.persist import open_snapshot


def load(source: str | Path, **options: Any) -> Graph:
    """Loads a folder of CSV or Parquet files, an edge list, a `.graph` file or a single table; the kind is told by
    header and ending. Options: see `gquery.storage.load.load`. Raises LoadError with file, line, column and value."""
    from gquery.storage.load import load as load_source

    return _graph(load_source(source, **options))


def open(path: str | Path) -> Graph:
    """Opens a graph saved by `Graph.save`, by memory map: in milliseconds whatever its size."""
    return Graph(open_snapshot(path))


def from_arrow(vertices: Any, edges: Any, **options: Any) -> Graph:
    """A graph from tables: `vertices={"Person": people}`, `edges={("Person", "KNOWS", "Person"): knows}`.

    A table is anything with `__arrow_c_stream__`, a pandas frame or a dict of lists. Options: see
    `gquery.storage.load.from_arrow`.
    """
    from gquery.storage.load import from_arrow as load_tables

    return _graph(load_tables(vertices, edges, **options))


def from_duckdb(connection: Any, vertices: Any, edges: Any, **options: Any) -> Graph:
    """A graph from DuckDB tables or queries, by name or text, keyed as in `from_arrow`."""
    from gquery.storage.load import from_duckdb as load_relations

    return _graph(load_relations(connection, vertices, edges, **options))


def from_networkx(graph: Any, **options: Any) -> Graph:
    """A graph from a networkx graph: attribute `label` or `labels` of nodes, `type` of edges, the rest properties."""
    from gquery.integrations.networkx import from_networkx as load_networkx

    return _graph(load_networkx(graph, **options))


def _graph(loaded: LoadedGraph) -> Graph:
    return Graph(loaded.snapshot, loaded.report)

"""How a graph comes about: loaded from files or tables, or opened where it was saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from gquery.session import Graph
from gquery.storage.changes.durable.log import open_changed
from gquery.storage.load.report import LoadedGraph

if TYPE_CHECKING:
    from gquery.storage.load.options import FileOptions, NetworkxOptions, TableOptions


def load(source: str | os.PathLike[str], **options: Unpack[FileOptions]) -> Graph:
    """Loads a folder of CSV or Parquet files, an edge list, a `.graph` or `.sif` file or a single table; the kind is
    told by header and ending.

    mapping: a TOML file or a dict that says which files and columns are what; its files are looked for in `source`.
    super_labels: labels that others carry too, such as {"Message": ["Post", "Comment"]}.
    undirected: the two directions of a pair, and repeated edges, become one edge.
    delimiter, quote: of text files, where their content does not tell; quote="" makes quotes ordinary.
    header: whether the first row of text files names their columns; None: told by the file, or refused.
    null: a word or words that stand for a missing value in text files, such as ["NA", "n/a"].
    encoding: of text files; a byte order mark comes first, else it is UTF-8.
    types: of columns by name, such as {"balance": "float", "zip": "string"}.
    array_delimiter: between the items of lists and the labels of a label column.
    on_bad_row: "error" or "skip", for rows that cannot be read and ids that occur twice.
    on_dangling: "error", "skip" or "create", for edges whose ends do not exist.
    progress: called with what is being done and the fraction that is done, in another thread.
    timeout: seconds after which QueryTimeout is raised.
    Raises LoadError with file, line, column and value.
    """
    from gquery.storage.load import load as load_source

    return _graph(load_source(source, **options))


def open(path: str | os.PathLike[str]) -> Graph:
    """Opens a graph saved by `Graph.save`, by memory map: in milliseconds whatever its size; the newest version, where
    a store has written changes. Raises LoadError."""
    return Graph(open_changed(path).snapshot)


def from_arrow(vertices: Mapping[Any, Any], edges: Mapping[Any, Any], **options: Unpack[TableOptions]) -> Graph:
    """A graph from tables: `vertices={"Person": people}`, `edges={("Person", "KNOWS", "Person"): knows}`.

    A table is anything with `__arrow_c_stream__`, a pandas frame or a dict of lists. The id is the column `id`, else
    the first, else what `id={"Person": "pid"}` says; the ends are `source` and `target` or their like, else the first
    two columns, else what `ends={"KNOWS": ("a", "b")}` says. The other options are those of `load`. Raises LoadError.
    """
    from gquery.storage.load import from_arrow as load_tables

    return _graph(load_tables(vertices, edges, **options))


def from_duckdb(
    connection: Any, vertices: Mapping[Any, Any], edges: Mapping[Any, Any], **options: Unpack[TableOptions]
) -> Graph:
    """A graph from DuckDB tables or queries, by name or text, keyed as in `from_arrow`, with its options."""
    from gquery.storage.load import from_duckdb as load_relations

    return _graph(load_relations(connection, vertices, edges, **options))


def from_networkx(graph: Any, **options: Unpack[NetworkxOptions]) -> Graph:
    """A graph from a networkx graph: attribute `label` or `labels` of nodes, `type` of edges, the rest properties.
    Options: super_labels, undirected, progress, timeout, as those of `load`."""
    from gquery.integrations.networkx import from_networkx as load_networkx

    return _graph(load_networkx(graph, **options))


def _graph(loaded: LoadedGraph) -> Graph:
    return Graph(loaded.snapshot, loaded.report)

"""Loading: anything that holds a graph becomes a snapshot and a report.

The readers are imported when they are first used: a graph that is opened, not loaded, needs none of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gquery.errors import LoadError
from gquery.storage.load.report import LoadedGraph, LoadReport

if TYPE_CHECKING:
    import duckdb

    from gquery.storage.load.options import Progress

__all__ = ["LoadReport", "LoadedGraph", "from_arrow", "from_duckdb", "load"]


def load(
    source: str | os.PathLike[str],
    *,
    mapping: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    super_labels: Mapping[str, Iterable[str]] | None = None,
    undirected: bool = False,
    delimiter: str | None = None,
    quote: str = '"',
    array_delimiter: str = ";",
    header: bool | None = None,
    on_bad_row: str = "error",
    on_dangling: str = "error",
    progress: Progress | None = None,
) -> LoadedGraph:
    """Loads a folder of CSV or Parquet files, an edge list, a `.graph` file or a mapping.

    mapping: a TOML file or a dict that says which files and columns are what; its files are looked for in `source`.
    super_labels: labels that others carry too, such as {"Message": ["Post", "Comment"]}.
    undirected: the two directions of a pair, and repeated edges, become one edge.
    delimiter, quote, header: of text files, where their content does not tell; quote="" makes quotes ordinary.
    array_delimiter: between the items of lists and the labels of a label column.
    on_bad_row: "error" or "skip", for rows that cannot be read and ids that occur twice.
    on_dangling: "error", "skip" or "create", for edges whose ends do not exist.
    progress: called with what is being done and the fraction that is done.
    Raises LoadError.
    """
    from gquery.storage.load.assemble import assemble
    from gquery.storage.load.options import Options
    from gquery.storage.load.source import read_source

    if not isinstance(source, str | os.PathLike):
        hint = "tables in memory are loaded by from_arrow"
        raise LoadError(f"a {type(source).__name__} is no path of a file or folder", hint=hint)
    options = Options(
        super_labels=super_labels or {},
        undirected=undirected,
        delimiter=delimiter,
        quote=quote,
        array_delimiter=array_delimiter,
        header=header,
        on_bad_row=on_bad_row,
        on_dangling=on_dangling,
        progress=progress,
    )
    loading, vertices, edges = read_source(Path(source), mapping, options)
    return assemble(loading, vertices, edges)


def from_arrow(
    vertices: Mapping[Any, Any],
    edges: Mapping[Any, Any],
    *,
    id: Mapping[Any, str] | None = None,
    ends: Mapping[Any, tuple[str, str]] | None = None,
    super_labels: Mapping[str, Iterable[str]] | None = None,
    undirected: bool = False,
    on_bad_row: str = "error",
    on_dangling: str = "error",
    progress: Progress | None = None,
) -> LoadedGraph:
    """A graph of tables in memory: Arrow, pandas, Polars, DuckDB relations, dicts of lists.

    vertices: tables by label; "Post:Message" or a tuple for several, "" for none. The id is the column `id`, else the
    first, else what `id` says: {"Person": "pid"}.
    edges: tables by (source label, type, target label). The ends are `source` and `target` (or `src`/`dst`,
    `from`/`to`, `start`/`end`), else the first two columns, else what `ends` says: {"KNOWS": ("a", "b")}.
    The other options are those of `load`. Raises LoadError.
    """
    from gquery.storage.load.arrow import read_edges, read_vertices
    from gquery.storage.load.assemble import assemble
    from gquery.storage.load.loading import Loading
    from gquery.storage.load.options import Options

    options = Options(
        super_labels=super_labels or {},
        undirected=undirected,
        on_bad_row=on_bad_row,
        on_dangling=on_dangling,
        progress=progress,
    )
    loading = Loading(options)
    vertex_rows = read_vertices(loading, vertices, id or {})
    return assemble(loading, vertex_rows, read_edges(loading, edges, ends or {}))


def from_duckdb(
    connection: duckdb.DuckDBPyConnection,
    vertices: Mapping[Any, Any],
    edges: Mapping[Any, Any],
    **options: Any,
) -> LoadedGraph:
    """A graph of tables and queries of a DuckDB connection, each a table's name or the text of a query.

    Options are those of `from_arrow`. Raises LoadError.
    """
    from gquery.storage.load.duckdb_tables import fetch_all

    return from_arrow(fetch_all(connection, vertices), fetch_all(connection, edges), **options)

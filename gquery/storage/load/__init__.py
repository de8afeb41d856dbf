"""Loading: anything that holds a graph becomes a snapshot and a report.

The readers are imported when they are first used: a graph that is opened, not loaded, needs none of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from gquery.storage.load.report import LoadedGraph, LoadReport

if TYPE_CHECKING:
    import duckdb

    from gquery.storage.load.loading import Loading
    from gquery.storage.load.options import FileOptions, TableOptions

__all__ = ["LoadReport", "LoadedGraph", "from_arrow", "from_duckdb", "load"]


def load(source: str | os.PathLike[str], **options: Unpack[FileOptions]) -> LoadedGraph:
    """Loads a folder of CSV or Parquet files, an edge list, a `.graph` or `.sif` file or a mapping.

    The options are explained at `gquery.load`. Raises LoadError, QueryTimeout.
    """
    from gquery.storage.load.assembly.assemble import assemble
    from gquery.storage.load.options import FileOptions, read_options
    from gquery.storage.load.running import run
    from gquery.storage.load.source import read_source

    mapping = options.get("mapping")
    return run(
        read_options(options, FileOptions), lambda loading: assemble(loading, *read_source(loading, source, mapping))
    )


def from_arrow(vertices: Mapping[Any, Any], edges: Mapping[Any, Any], **options: Unpack[TableOptions]) -> LoadedGraph:
    """A graph of tables in memory: Arrow, pandas, Polars, DuckDB relations, dicts of lists.

    vertices: tables by label; "Post:Message" or a tuple for several, "" for none. The id is the column `id`, else the
    first, else what the option `id` says: {"Person": "pid"}.
    edges: tables by (source label, type, target label). The ends are `source` and `target` (or `src`/`dst`,
    `from`/`to`, `start`/`end`), else the first two columns, else what the option `ends` says: {"KNOWS": ("a", "b")}.
    The other options are those of `load`. Raises LoadError, QueryTimeout.
    """
    from gquery.storage.load.options import TableOptions, read_options
    from gquery.storage.load.running import run

    return run(read_options(options, TableOptions), lambda loading: _from_tables(loading, vertices, edges, options))


def from_duckdb(
    connection: duckdb.DuckDBPyConnection,
    vertices: Mapping[Any, Any],
    edges: Mapping[Any, Any],
    **options: Unpack[TableOptions],
) -> LoadedGraph:
    """A graph of tables and queries of a DuckDB connection, each a table's name or the text of a query.

    Options are those of `from_arrow`. Raises LoadError, QueryTimeout.
    """
    from gquery.storage.load.formats.duckdb_tables import check_connection, fetch_all
    from gquery.storage.load.options import TableOptions, read_options
    from gquery.storage.load.running import run

    def read(loading: Loading) -> LoadedGraph:
        tables = fetch_all(connection, vertices, "vertices"), fetch_all(connection, edges, "edges")
        return _from_tables(loading, *tables, options)

    chosen = read_options(options, TableOptions)
    check_connection(connection)
    return run(chosen, read, connection.interrupt)


def _from_tables(
    loading: Loading, vertices: Mapping[Any, Any], edges: Mapping[Any, Any], options: TableOptions
) -> LoadedGraph:
    from gquery.storage.load.assembly.assemble import assemble
    from gquery.storage.load.formats.arrow import read_edges, read_vertices

    vertex_rows = read_vertices(loading, vertices, options.get("id"))
    return assemble(loading, vertex_rows, read_edges(loading, edges, options.get("ends")))

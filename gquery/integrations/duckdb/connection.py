"""Opening DuckDB connections that know gquery, and putting graphs on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from gquery.integrations.duckdb import macros, native
from gquery.integrations.duckdb.registry import Graph, offered


def connect(database: str | Path = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the table function `gquery(graph, query, params := ...)`.

    options: as for `duckdb.connect`. The connection allows unsigned extensions, which DuckDB lets one say only here.
    Raises UnsupportedError when the native function was not built or does not fit this DuckDB.
    """
    config = {**options.pop("config", {}), "allow_unsigned_extensions": "true"}
    con = duckdb.connect(database, config=config, **options)
    try:
        native.load(con)
    except BaseException:
        con.close()
        raise
    return con


def attach(con: duckdb.DuckDBPyConnection, graph: Graph, name: str) -> None:
    """Makes `graph` known as `name` to `gquery(...)` in SQL; an earlier graph of that name is replaced.

    con: from `connect`, then every cursor on the database sees the graph; or any other connection, then a macro of the
    same name and signature is made on this one. The graph stays alive until the database is closed.
    """
    if not _defined(con, "gquery_attach"):
        if _allows_unsigned(con) and native.LIBRARY.exists():
            native.load(con)
        else:
            macros.define(con)
    with offered(graph) as token:
        con.execute("SELECT * FROM gquery_attach(?, ?)", [name, token]).fetchall()


def _defined(con: duckdb.DuckDBPyConnection, function: str) -> bool:
    found = con.execute("SELECT count(*) > 0 FROM duckdb_functions() WHERE function_name = ?", [function]).fetchall()
    return bool(found[0][0])


def _allows_unsigned(con: duckdb.DuckDBPyConnection) -> bool:
    setting = con.execute("SELECT current_setting('allow_unsigned_extensions')").fetchall()
    return bool(setting[0][0])

"""Opening DuckDB connections that know gquery, and putting graphs on them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from gquery.errors import BindError, ExecutionError, UnsupportedError
from gquery.integrations.duckdb import macros
from gquery.integrations.duckdb.native import extension
from gquery.integrations.duckdb.registry import Graph, checked, offered

_CHANGES = """
CREATE OR REPLACE TEMP MACRO gquery_changes(name, version) AS TABLE
    SELECT * FROM gquery(name, 'changes', params := {'after': version})
"""
_UNSIGNED = "allow_unsigned_extensions"


def connect(database: str | Path = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the table function `gquery(graph, query, params := ...)`.

    options: as for `duckdb.connect`. The connection allows unsigned extensions, which DuckDB lets one say only here.
    Raises UnsupportedError when the native function was not built, does not fit this DuckDB or is not allowed by
    `config`, BindError for options that DuckDB does not have, ExecutionError when the database cannot be opened.
    """
    if "\0" in str(database):
        raise BindError(f"{str(database)!r} is no file for a database", hint="a path has no NUL in it")
    config = _allowing(options.pop("config", None) or {})
    try:
        con = duckdb.connect(database, config=config, **options)
    except (TypeError, ValueError, duckdb.InvalidInputException, duckdb.CatalogException) as error:
        raise BindError(f"DuckDB does not connect: {error}", hint="the options are duckdb.connect's") from error
    except (duckdb.Error, RuntimeError, OSError) as error:
        raise ExecutionError(f"DuckDB does not open `{database}`: {error}") from error
    try:
        extension.load(con)
    except BaseException:
        con.close()
        raise
    _without_bar(con)
    return con


def attach(con: duckdb.DuckDBPyConnection, graph: Graph, name: str) -> None:
    """Makes `graph` known as `name` to `gquery(...)` in SQL; an earlier graph of that name is replaced. The changes of
    a standing query (`store.changes`) are known to `gquery_changes(name, version)`, on this connection.

    con: from `connect`, then every cursor on the database sees the graph; or any other connection, then a macro of the
    same name and signature is made on this one. The graph stays alive until the database is closed. Raises BindError
    for anything else, ExecutionError when the connection cannot be used.
    """
    if not isinstance(con, duckdb.DuckDBPyConnection):
        raise BindError(f"a graph is attached to a DuckDB connection, not to a {type(con).__name__}",
                        hint="make one: con = gquery.connect()")  # fmt: skip
    if not callable(getattr(graph, "query", None)):
        raise BindError(f"a graph is attached, not a {type(graph).__name__}", hint="gquery.attach(con, graph, name)")
    checked(name)
    try:
        if not _defined(con, "gquery_attach"):
            if _allows_unsigned(con) and extension.LIBRARY.exists():
                extension.load(con)
            else:
                macros.define(con)
        with offered(graph) as token:
            con.execute("SELECT * FROM gquery_attach(?, ?)", [name, token]).fetchall()
        con.execute(_CHANGES)
    except duckdb.Error as error:
        raise ExecutionError(f"the graph is not attached: {error}") from error


def _allowing(config: object) -> dict[str, Any]:
    if not isinstance(config, Mapping):
        raise BindError(f"`config` holds DuckDB's settings by name, not a {type(config).__name__}")
    allowed = str(config.get(_UNSIGNED, True)).lower()
    if allowed not in ("true", "1", "yes", "on"):
        raise UnsupportedError(
            f"gquery's DuckDB extension is unsigned, and `config` says {_UNSIGNED} = {allowed}",
            hint="leave that out, or use gquery.attach(con, graph, name) on a connection of duckdb.connect()",
        )
    return {**config, _UNSIGNED: "true"}


def _without_bar(con: duckdb.DuckDBPyConnection) -> None:
    """Under `python -c` DuckDB takes stdout for a terminal and writes its progress bar there, among the output."""
    if not sys.stdout.isatty() and "ipykernel" not in sys.modules:  # a notebook's bar is no text
        with contextlib.suppress(duckdb.Error):  # the configuration is locked
            con.execute("SET enable_progress_bar = false")


def _defined(con: duckdb.DuckDBPyConnection, function: str) -> bool:
    found = con.execute("SELECT count(*) > 0 FROM duckdb_functions() WHERE function_name = ?", [function]).fetchall()
    return bool(found[0][0])


def _allows_unsigned(con: duckdb.DuckDBPyConnection) -> bool:
    setting = con.execute("SELECT current_setting('allow_unsigned_extensions')").fetchall()
    return bool(setting[0][0])

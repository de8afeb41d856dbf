"""What the doors into DuckDB refuse, by name: wrong connections, graphs, names, options, NULLs, counts of arguments."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import duckdb
import pytest

import gquery
from gquery.integrations.duckdb import table_macro
from gquery.integrations.duckdb.native import extension
from tests.integrations.doors import connection, graph, needs_native, small_graph

__all__ = ["connection", "graph"]


@pytest.mark.parametrize(
    ("con", "given", "name"),
    [
        (None, "graph", "g"),
        ("con", "graph", "g"),
        (5, "graph", "g"),
        ("a connection", None, "g"),
        ("a connection", "x", "g"),
        ("a connection", "graph", None),
        ("a connection", "graph", 5),
        ("a connection", "graph", ""),
        ("a connection", "graph", "a\0b"),
        ("a connection", "graph", "\udc80"),
        ("a connection", "graph", b"g"),
    ],
)
def test_attach_refuses(con: Any, given: Any, name: Any) -> None:
    con = duckdb.connect() if con == "a connection" else con
    with pytest.raises(gquery.BindError):
        gquery.attach(con, small_graph() if given == "graph" else given, name)


def test_attach_to_a_closed_connection() -> None:
    con = duckdb.connect()
    con.close()
    with pytest.raises(gquery.ExecutionError, match="closed"):
        gquery.attach(con, small_graph(), "g")


@needs_native
@pytest.mark.parametrize("options", [{"config": 5}, {"foo": 1}, {"config": {"no_such_setting": 1}}, {"read_only": "x"}])
def test_connect_refuses_options(options: dict[str, Any]) -> None:
    with pytest.raises(gquery.BindError):
        gquery.connect(**options)


@needs_native
@pytest.mark.parametrize("database", [5, None, "/no/such/folder/x.db", "a\0b"])
def test_connect_refuses_databases(database: Any) -> None:
    with pytest.raises((gquery.BindError, gquery.ExecutionError)):
        gquery.connect(database).close()


@needs_native
@pytest.mark.parametrize("value", ["false", False, "0", 0])
def test_unsigned_extensions_stay_forbidden(value: object) -> None:
    with pytest.raises(gquery.UnsupportedError, match="allow_unsigned_extensions"):
        gquery.connect(config={"allow_unsigned_extensions": value})


@pytest.mark.parametrize(
    "call",
    [
        "gquery(NULL, 'RETURN 1 AS x')",
        "gquery('social', NULL)",
        "gquery(NULL, NULL, params := NULL)",
        "gquery('social')",
        "gquery('social', 'RETURN 1 AS x', 5, 6)",
        "gquery('social', 'RETURN 1 AS x', other := 5)",
        "gquery('social', 'RETURN 1 AS x', params := 5)",
        "gquery('social', 'RETURN 1 AS x', params := [1])",
        "gquery('social', 'RETURN 1 AS x', params := 'no JSON')",
        "gquery('social', 'RETURN 1 AS x', params := MAP {1: 2})",
        "gquery('social', '')",
        "gquery('', 'RETURN 1 AS x')",
        "gquery('social' || chr(0) || 'x', 'RETURN 1 AS x')",
        "gquery('social', 'RETURN 1 AS x' || chr(0) || 'nonsense')",
        "gquery_attach(NULL, NULL)",
        "gquery_attach('x', NULL)",
        "gquery_attach(NULL, 1)",
        "gquery_attach('x', 1)",
        "gquery_attach('x', -1)",
        "gquery_attach('x')",
        "gquery_attach('x', 'y')",
    ],
)
def test_calls_that_are_refused(connection: duckdb.DuckDBPyConnection, call: str) -> None:
    """The error is none of DuckDB's own: an INTERNAL error would make the database unusable."""
    with pytest.raises(duckdb.Error) as caught:
        connection.execute(f"FROM {call}").fetchall()
    assert "INTERNAL" not in str(caught.value)
    assert connection.execute("FROM gquery('social', 'RETURN 1 AS x')").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("con", "name", "parameters"),
    [
        (None, "f", {}),
        ("a connection", 5, {}),
        ("a connection", "no name", {}),
        ("a connection", "f", None),
        ("a connection", "f", [int]),
        ("a connection", "f", {5: int}),
        ("a connection", "f", {"x": 5}),
        ("a connection", "f", {"x": bytes}),
    ],
)
def test_table_macros_refuse(con: Any, name: Any, parameters: Any) -> None:
    con = duckdb.connect() if con == "a connection" else con
    with pytest.raises(gquery.BindError):
        table_macro(con, small_graph(), name, "RETURN 1 AS x", parameters)


@needs_native
def test_no_progress_bar_among_the_output() -> None:
    script = (
        "import gquery; con = gquery.connect(); "
        "print(con.sql(\"SELECT current_setting('enable_progress_bar')\").fetchall())"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[(False,)]"


@needs_native
def test_a_library_of_other_sources_is_refused() -> None:
    extension._bridge()
    library = ctypes.CDLL(str(extension.LIBRARY))
    assert not library.gquery_join_python(ctypes.byref(extension._Callbacks()), ctypes.sizeof(extension._Callbacks) - 8)

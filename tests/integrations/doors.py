"""A small graph, and a connection through each door into DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import gquery
from gquery.integrations.duckdb.native import extension

needs_native = pytest.mark.skipif(not extension.LIBRARY.exists(), reason="installed without a C compiler")


def small_graph() -> gquery.Graph:
    people = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"], "age": [30, 40, None]}
    knows = {"source": [1, 2, 3], "target": [2, 3, 1], "since": [2001, 2002, 2003]}
    return gquery.from_arrow({"Person": people}, {("Person", "KNOWS", "Person"): knows})


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    return small_graph()


def opened(door: str) -> duckdb.DuckDBPyConnection:
    """A connection for `native` or `macro`; files are forbidden on it."""
    config = {"enable_external_access": False} if door == "macro" else {}
    return gquery.connect(config=config) if door == "native" else duckdb.connect(config=config)


def answer_or_error(
    con: duckdb.DuckDBPyConnection, sql: str, parameters: list[object] | None = None
) -> tuple[list[Any] | None, str]:
    """The rows and no text, or None and the text of DuckDB's error, which is never one of its INTERNAL ones."""
    try:
        return con.execute(sql, parameters).fetchall(), ""
    except duckdb.InternalException:
        raise
    except duckdb.Error as error:
        return None, str(error)


@pytest.fixture(params=["native", "macro"])
def connection(request: pytest.FixtureRequest, graph: gquery.Graph) -> Iterator[duckdb.DuckDBPyConnection]:
    if request.param == "native" and not extension.LIBRARY.exists():
        pytest.skip("installed without a C compiler")
    con = opened(request.param)
    gquery.attach(con, graph, "social")
    yield con
    con.close()

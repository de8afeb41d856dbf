"""The changes of a standing query as a table of DuckDB."""

from __future__ import annotations

import duckdb
import pytest

import gquery

KNOWS = ("P", "KNOWS", "P")


def _store() -> gquery.Store:
    graph = gquery.from_arrow(vertices={"P": {"id": [1, 2, 3]}}, edges={KNOWS: {"source": [1], "target": [2]}})
    return gquery.Store(graph)


@pytest.fixture(params=[gquery.connect, duckdb.connect], ids=["native", "macro"])
def con(request: pytest.FixtureRequest) -> duckdb.DuckDBPyConnection:
    try:
        return request.param()
    except gquery.UnsupportedError as error:
        pytest.skip(str(error))


def test_a_table_that_follows(con: duckdb.DuckDBPyConnection) -> None:
    store = _store()
    gquery.attach(con, store.changes("MATCH (a)-[:KNOWS]->(b) RETURN a.id AS a, b.id AS b"), "known")
    assert con.sql("FROM gquery_changes('known', 0)").columns == ["version", "diff", "a", "b"]
    store.apply(insert={KNOWS: {"source": [2], "target": [3]}})
    store.apply(delete={KNOWS: {"source": [1], "target": [2]}})
    assert con.sql("FROM gquery_changes('known', 0) ORDER BY version").fetchall() == [(1, 1, 2, 3), (2, -1, 1, 2)]
    assert con.sql("SELECT a, diff FROM gquery_changes('known', 1)").fetchall() == [(1, -1)]
    assert con.sql("FROM gquery_changes('known', 2)").fetchall() == []


def test_a_version_from_before_a_column_had_several_types(con: duckdb.DuckDBPyConnection) -> None:
    """It was said to have got another type since, and no changes were told."""
    store = _store()
    store.apply(set={KNOWS: {"source": [1], "target": [2], "since": [1999]}})
    store.watch("MATCH (a) RETURN a.id").close()
    store.apply(insert={KNOWS: {"source": [2], "target": [3], "since": [2000]}})
    store.apply(insert={KNOWS: {"source": [3], "target": [1], "since": ["lately"]}})
    gquery.attach(con, store.changes("MATCH ()-[k:KNOWS]->() RETURN k.since AS since"), "known")
    found = con.sql("FROM gquery_changes('known', 1) ORDER BY version").fetchall()
    assert found == [(2, 1, 2000), (3, 1, "lately")]


def test_a_column_of_several_types_since(con: duckdb.DuckDBPyConnection) -> None:
    store = _store()
    store.apply(set={KNOWS: {"source": [1], "target": [2], "since": [1999]}})
    gquery.attach(con, store.changes("MATCH ()-[k:KNOWS]->() RETURN k.since AS since"), "known")
    store.apply(insert={KNOWS: {"source": [3], "target": [1], "since": ["lately"]}})
    with pytest.raises(duckdb.Error, match="and was int64 when the stream began"):
        con.sql("FROM gquery_changes('known', 1)").fetchall()


def test_what_cannot_be_asked(con: duckdb.DuckDBPyConnection) -> None:
    store = _store()
    gquery.attach(con, store.changes("MATCH (a)-[:KNOWS]->(b) RETURN a.id AS a"), "known")
    with pytest.raises(duckdb.Error, match="no way from version 9"):
        con.sql("FROM gquery_changes('known', 9)").fetchall()
    with pytest.raises(duckdb.Error, match="asked for by a version"):
        con.sql("FROM gquery('known', 'MATCH (a) RETURN a')").fetchall()

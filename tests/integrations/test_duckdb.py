"""gquery inside DuckDB: the native table function, the macro on a plain connection, datasets and lateral macros."""

from __future__ import annotations

import resource
import threading

import duckdb
import pytest

import gquery
from gquery.integrations.duckdb import dataset, table_macro
from gquery.integrations.duckdb.native import extension

PAIRS = "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name AS name, b.id AS id"

needs_native = pytest.mark.skipif(not extension.LIBRARY.exists(), reason="installed without a C compiler")


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    people = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"], "age": [30, 40, None]}
    knows = {"source": [1, 2, 3], "target": [2, 3, 1], "since": [2001, 2002, 2003]}
    return gquery.from_arrow({"Person": people}, {("Person", "KNOWS", "Person"): knows})


@pytest.fixture(params=["native", "macro"])
def connection(request: pytest.FixtureRequest, graph: gquery.Graph) -> duckdb.DuckDBPyConnection:
    if request.param == "native" and not extension.LIBRARY.exists():
        pytest.skip("installed without a C compiler")
    con = gquery.connect() if request.param == "native" else duckdb.connect()
    gquery.attach(con, graph, "social")
    yield con
    con.close()


def test_join(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE orders AS SELECT * FROM (VALUES (1, 10), (2, 20)) t(id, total)").fetchall()
    sql = f"SELECT p.name, o.total FROM gquery('social', '{PAIRS}') p JOIN orders o USING (id) ORDER BY 1"
    assert connection.sql(sql).fetchall() == [("Ann", 20), ("Cid", 10)]


def test_columns_follow_the_query(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql("FROM gquery('social', 'MATCH (a) RETURN a.age AS age, a.name AS n, count(*) AS c')")
    assert relation.columns == ["age", "n", "c"]
    assert [str(type_) for type_ in relation.types] == ["BIGINT", "VARCHAR", "BIGINT"]


def test_parameters(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT n FROM gquery('social', 'MATCH (a) WHERE a.age > $min RETURN a.name AS n', params := {'min': 35})"
    assert connection.sql(sql).fetchall() == [("Bob",)]


def test_whole_nodes(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT a.properties.name FROM gquery('social', 'MATCH (a) WHERE a.age IS NULL RETURN a')"
    assert connection.sql(sql).fetchall() == [("Cid",)]


def test_view_and_two_scans(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE VIEW v AS SELECT * FROM gquery('social', 'MATCH (a) RETURN a.id AS id')").fetchall()
    assert connection.sql("SELECT count(*) FROM v x, v y").fetchall() == [(9,)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("gquery('socal', 'MATCH (a) RETURN a')", "did you mean `social`?"),
        ("gquery('social', 'MATCH (a:Persn) RETURN a')", "did you mean `Person`?"),
        ("gquery('social', 'MATCH (a:Persn) RETURN a')", "^^^^^"),
        ("gquery('social', 'MATCH (a) WHERE a.age > $x RETURN a')", "parameter `$x` has no value"),
        ("gquery('social', 'UNWIND [1, 0] AS x RETURN 1 / x AS y')", "division by zero"),
    ],
)
def test_errors_are_gquery_s(connection: duckdb.DuckDBPyConnection, call: str, words: str) -> None:
    with pytest.raises(duckdb.Error) as caught:
        connection.sql(f"FROM {call}").fetchall()
    assert words in str(caught.value)
    assert "Traceback" not in str(caught.value)


@needs_native
def test_prepared_arguments_and_cursors(graph: gquery.Graph) -> None:
    with gquery.connect() as con:
        gquery.attach(con, graph, "social")
        sql = "SELECT count(*) FROM gquery('social', ?)"
        assert con.cursor().execute(sql, [PAIRS]).fetchall() == [(3,)]


@needs_native
def test_projection_and_limit_are_handed_down(graph: gquery.Graph) -> None:
    with gquery.connect() as con:
        gquery.attach(con, graph, "social")
        plan = con.sql(f"EXPLAIN SELECT id FROM gquery('social', '{PAIRS}')").fetchall()[0][1]
        assert "Projections: id" in plan


@needs_native
def test_duckdb_knows_about_how_many_rows_there_are() -> None:
    """It builds its tables for joins of the smaller side: with one row expected it held all matches."""
    ends = {"source": list(range(1000)) * 20, "target": list(range(20_000))}
    vertices = {"P": {"id": list(range(20_000))}}
    connection = gquery.connect()
    gquery.attach(connection, gquery.from_arrow(vertices, {("P", "K", "P"): ends}), "many")
    call = "gquery('many', 'MATCH (a)-[:K]->(b) RETURN a.id AS a')"
    (plan,) = connection.sql(f"EXPLAIN SELECT * FROM {call} JOIN range(3) AS few(a) USING (a)").fetchall()
    assert "~20,000 rows" in plan[1]


def test_errors_while_running(graph: gquery.Graph) -> None:
    with gquery.connect() as con:
        gquery.attach(con, graph, "social")
        with pytest.raises(duckdb.Error, match="division by zero"):
            con.sql("FROM gquery('social', 'MATCH (a) RETURN a.id / 0 AS x')").fetchall()
        assert con.sql("SELECT count(*) FROM gquery('social', 'MATCH (a) RETURN a.id')").fetchall() == [(3,)]


@needs_native
def test_cursors_in_threads(graph: gquery.Graph) -> None:
    with gquery.connect() as con:
        gquery.attach(con, graph, "social")
        found: list[object] = []

        def ask() -> None:
            cursor = con.cursor()
            sql = f"SELECT count(*) FROM gquery('social', '{PAIRS}')"
            found.extend(cursor.sql(sql).fetchall()[0][0] for _ in range(5))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [3] * 20


@needs_native
def test_repeated_calls_keep_nothing(graph: gquery.Graph) -> None:
    with gquery.connect() as con:
        gquery.attach(con, graph, "social")
        for round_ in range(300):
            con.sql(f"FROM gquery('social', '{PAIRS}')").fetchall()
            if round_ == 100:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB


def test_dataset(graph: gquery.Graph) -> None:
    con = duckdb.connect()
    con.register("ages", dataset(graph.query("MATCH (a) RETURN a.name AS name, a.age AS age")))
    assert con.sql("SELECT name FROM ages WHERE age > 35").fetchall() == [("Bob",)]
    assert con.sql("SELECT count(*) FROM ages x, ages y").fetchall() == [(9,)]


def test_lateral_macro(graph: gquery.Graph) -> None:
    con = duckdb.connect()
    query = "MATCH (a:Person {id: $who})-[:KNOWS]->(b) RETURN b.name AS friend"
    table_macro(con, graph, "friends", query, {"who": int})
    answer = con.sql("SELECT t.i, f.friend FROM (VALUES (1), (2)) t(i), friends(t.i) f ORDER BY 1").fetchall()
    assert answer == [(1, "Bob"), (2, "Cid")]
    with pytest.raises(gquery.BindError):
        table_macro(con, graph, "no name", query, {"who": int})
    between = "MATCH (a:Person) WHERE $low < a.id < $high RETURN a.id"
    table_macro(con, graph, "within", between, {"low": int, "high": int})
    assert con.sql("FROM within(0, 2)").fetchall() == [(1,)]
    table_macro(con, graph, "everybody", "MATCH (a:Person) RETURN a.id", {})
    assert con.sql("SELECT count(*) FROM range(2), everybody()").fetchall() == [(6,)]

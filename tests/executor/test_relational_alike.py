"""Rows that are alike are counted before they are grouped: the same answers, whatever the properties hold."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from types import ModuleType

import pyarrow as pa
import pytest

import gquery
from gquery import Graph
from gquery.executor.cpu.search import run, workers
from gquery.executor.relational.codes import alike, property_codes
from gquery.executor.relational.codes.alike import AlikeRows
from gquery.storage.cache import Cache

SEED = 41
PEOPLE, CITIES, KNOWS = 60, 7, 400

QUERIES = [
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.town AS x, b.age AS y, count(*) AS n",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.town AS x, b.town AS y, count(b.age) AS n, sum(b.age) AS s, "
    "avg(b.age) AS m, min(a.born) AS l, max(b.born) AS h, count(DISTINCT b.age) AS d",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN DISTINCT a.glad AS x, b.glad AS y",
    "MATCH (a:Person)-[k:KNOWS]->(b:Person) RETURN k.since AS x, k.how AS y, count(*) AS n",
    "MATCH (a:Person)-[:KNOWS]->() RETURN a.town AS x, count(*) AS n ORDER BY n DESC, x",
    "MATCH (a)-[:KNOWS|IN]->(b) RETURN a.town AS x, b.size AS y, count(*) AS n",
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:IN]->(c:City) RETURN a.age AS x, c.size AS y, count(*) AS n",
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:IN]->(c:Country) RETURN a.age AS x, c.code AS y, count(*) AS n",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) WHERE a.age < b.age + 3 OR a.town = b.town RETURN b.town AS x, count(*)",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) WITH a.town AS x, count(*) AS n WHERE n > 3 RETURN n AS n, count(*) AS m",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.age + b.age AS x, count(*) AS n ORDER BY n DESC, x LIMIT 5",
    "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN sum(a.age) AS s, min(b.town) AS l",
]


@pytest.fixture(scope="module")
def graph() -> Graph:
    chance = random.Random(SEED)
    days = [None, *(datetime.date(2020, 1, day) for day in range(1, 5))]
    people = pa.table({
        "id": range(PEOPLE),
        "town": [chance.choice([None, "", "oslo", "rome", "Åbo"]) for _ in range(PEOPLE)],
        "age": pa.array([chance.choice([None, 0, -1, 20, 30]) for _ in range(PEOPLE)], pa.int16()),
        "tall": [chance.choice([None, 0.0, -0.0]) for _ in range(PEOPLE)],
        "glad": [chance.choice([None, True, False]) for _ in range(PEOPLE)],
        "born": pa.array([chance.choice(days) for _ in range(PEOPLE)], pa.date32()),
    })  # fmt: skip
    cities = pa.table({"id": range(CITIES), "size": [chance.choice([None, 1, 2]) for _ in range(CITIES)]})
    ends = [(chance.randrange(PEOPLE), chance.randrange(PEOPLE)) for _ in range(KNOWS)]
    knows = pa.table({
        "from": [source for source, _ in ends],
        "to": [target for _, target in ends],
        "since": [chance.choice([None, 2001, 2002]) for _ in ends],
        "how": pa.array([chance.choice([None, "well", "badly"]) for _ in ends]).dictionary_encode(),
    })  # fmt: skip
    lives = pa.table({"from": range(0, PEOPLE, 2), "to": [chance.randrange(CITIES) for _ in range(0, PEOPLE, 2)]})
    none = pa.table({"from": pa.array([], pa.int64()), "to": pa.array([], pa.int64())})
    return gquery.from_arrow(
        vertices={
            "Person": people,
            "City": cities,
            "Country": pa.table({"id": pa.array([], pa.int64()), "code": pa.array([], pa.string())}),
        },
        edges={
            ("Person", "KNOWS", "Person"): knows,
            ("Person", "IN", "City"): lives,
            ("Person", "IN", "Country"): none,
        },
    )


def answer(graph: Graph, text: str, **settings: object) -> Counter[tuple[object, ...]]:
    rows = graph.with_settings(**{"threads": 1, **settings}).query(text).rows()
    return Counter(tuple(round(value, 9) if isinstance(value, float) else value for value in row) for row in rows)


@pytest.mark.parametrize("text", QUERIES)
@pytest.mark.parametrize("fewest", [1, 100], ids=["all counted", "the rest counted"])
def test_counted_first_or_not(graph: Graph, text: str, fewest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "_FEWEST", 10**9)
    expected = answer(graph, text)
    monkeypatch.setattr(alike, "_FEWEST", fewest)
    assert answer(graph, text) == expected


@pytest.mark.parametrize("text", [QUERIES[1], QUERIES[9]])
def test_counted_by_several_threads(graph: Graph, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(graph, text)
    monkeypatch.setattr(alike, "_FEWEST", 50)
    monkeypatch.setattr(run, "_LARGEST_BUFFER", 8)
    monkeypatch.setattr(run, "_SMALLEST_BUFFER", 8)
    monkeypatch.setattr(workers, "_ALONE", 0.0)
    for _ in range(5):
        assert answer(graph, text, threads=4) == expected


def test_duckdb_sees_each_different_row_once(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "_FEWEST", 1)
    fed: list[pa.RecordBatch] = []
    of_rows = AlikeRows.batches

    def noted(*arguments: object) -> object:
        for batch in of_rows(*arguments):  # type: ignore[arg-type]
            fed.append(batch)
            yield batch

    monkeypatch.setattr(AlikeRows, "batches", noted)
    assert sum(row[2] for row in graph.query(QUERIES[0]).rows()) == KNOWS
    (batch,) = fed
    rows = list(zip(*(batch.column(name).to_pylist() for name in ("a.town", "b.age")), strict=True))
    assert len(rows) == len(set(rows)) <= 25


@pytest.mark.parametrize(("room", "most"), [(property_codes, "_MOST_VALUES"), (alike, "_MOST_ROWS")])
def test_too_many_values_go_to_duckdb_as_they_are(
    graph: Graph, room: ModuleType, most: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = answer(graph, QUERIES[1])
    monkeypatch.setattr(alike, "_FEWEST", 1)
    monkeypatch.setattr(room, most, 2)
    monkeypatch.setattr(graph.snapshot, "cache", Cache())
    assert answer(graph, QUERIES[1]) == expected


def test_weights_that_numbers_cannot_add_go_to_duckdb_as_they_are(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "MATCH (a:Person)-[:KNOWS]->()-[:KNOWS]->() RETURN a.town AS x, count(*) AS n"
    expected = answer(graph, text)
    monkeypatch.setattr(alike, "_FEWEST", 1)
    monkeypatch.setattr(alike, "_MOST", 500)
    assert answer(graph, text) == expected


def test_under_a_memory_limit(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(graph, QUERIES[1])
    monkeypatch.setattr(alike, "_FEWEST", 1)
    for limit in ("32MiB", "64MiB", "1GB"):
        assert answer(graph, QUERIES[1], memory_limit=limit) == expected


def test_a_grouping_of_anything_else_is_not_counted_first(graph: Graph) -> None:
    """Floats have equal values that are not the same, random numbers are drawn for each row, lists keep order, and ids
    are never few."""
    for text in (
        "MATCH (a:Person) RETURN a.tall AS x, count(*) AS n",
        "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN a.id AS x, b.town AS y, count(*) AS n",
        "MATCH (a:Person) RETURN a.town AS x, rand() AS y, count(*) AS n",
        "MATCH (a:Person) RETURN a.town AS x, collect(a.age) AS y",
        "MATCH (a:Person) RETURN a.town AS x, count(a) AS n, min(id(a)) AS m",
    ):
        assert "Count rows" not in graph.explain(text)
    assert "Count rows with the same values first" in graph.explain(QUERIES[0])

"""Rows that are behind others are left out before they are sorted: the same answers, whatever the first key holds."""

from __future__ import annotations

import datetime
import math
import random
from collections.abc import Iterator

import pyarrow as pa
import pytest

import gquery
from gquery import Graph
from gquery.executor.cpu.search import run, workers
from gquery.executor.relational import topmost
from gquery.executor.relational.topmost import TopRows

SEED = 77
NOON = datetime.datetime(2024, 2, 29, 12)
DAYS = [datetime.date(year, 2, 29) for year in (1904, 1968, 2000, 2024)]
PEOPLE, KNOWS = 50, 600
KEYS = {
    "a.age": "ties and nulls",
    "a.age + b.age": "an expression",
    "b.score": "not a number, zeros of both signs, nulls",
    "a.score * b.age": "an expression of both",
    "a.score * b.share - 0.5": "fractions, some not a number, zeros of both signs, nulls",
    "-(a.share + b.score)": "a sum with the other sign",
    "a.name": "texts, some empty",
    "a.glad": "truth values",
    "b.born": "days and nulls",
    "b.seen": "points in time",
    "a.coded": "coded texts",
    "b.rare": "nearly all null",
    "k.since": "an edge's",
    "toLower(a.name) + b.name": "made texts",
    "a.age + $more": "a parameter",
    "b.level": "no nulls",
    "b.share": "one that is not a number",
    "a.id * 1000 + b.id": "hardly any ties",
}


@pytest.fixture(scope="module")
def graph() -> Graph:
    chance = random.Random(SEED)
    people = pa.table({
        "id": chance.sample(range(1000), PEOPLE),
        "age": [chance.choice([None, -3, 0, 20, 30]) for _ in range(PEOPLE)],
        "score": [chance.choice([None, math.nan, 0.0, -0.0, 1.5, -math.inf]) for _ in range(PEOPLE)],
        "name": [chance.choice([None, "", "oslo", "Oslo", "Åbo"]) for _ in range(PEOPLE)],
        "glad": [chance.choice([None, True, False]) for _ in range(PEOPLE)],
        "level": [chance.randrange(4) for _ in range(PEOPLE)],
        "share": [math.nan, *(chance.choice([0.0, -0.0, 0.5]) for _ in range(PEOPLE - 1))],
        "born": [chance.choice([None, *DAYS]) for _ in range(PEOPLE)],
        "seen": pa.array([NOON + datetime.timedelta(hours=chance.randrange(9)) for _ in range(PEOPLE)]),
        "coded": pa.array([chance.choice([None, "b", "a", ""]) for _ in range(PEOPLE)]).dictionary_encode(),
        "rare": [chance.choice([1, *[None] * 20]) for _ in range(PEOPLE)],
    })  # fmt: skip
    knows = pa.table({
        "from": [chance.choice(people["id"].to_pylist()) for _ in range(KNOWS)],
        "to": [chance.choice(people["id"].to_pylist()) for _ in range(KNOWS)],
        "since": [chance.choice([None, 2001, 2002, 2003]) for _ in range(KNOWS)],
    })  # fmt: skip
    return gquery.from_arrow(vertices={"Person": people}, edges={("Person", "KNOWS", "Person"): knows})


def text_of(key: str, order: str) -> str:
    rest = "a.id, b.id, id(k)"
    return f"MATCH (a:Person)-[k:KNOWS]->(b:Person) RETURN {rest}, b.name ORDER BY {key} {order}, {rest} SKIP 2 LIMIT 9"


def answer(graph: Graph, text: str) -> list[tuple[object, ...]]:
    return [tuple(map(repr, row)) for row in graph.query(text, {"more": 2}).rows()]


def set_fewest(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    for name in ("_FEWEST", "_FEWEST_COMPUTED"):
        monkeypatch.setattr(topmost, name, rows)


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_LARGEST_BUFFER", 40)
    monkeypatch.setattr(run, "_SMALLEST_BUFFER", 40)
    monkeypatch.setattr(workers, "_ALONE", 0.0)


@pytest.mark.parametrize("order", ["ASC", "DESC"])
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.usefixtures("small_batches")
def test_left_out_or_not(graph: Graph, key: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of(key, order)
    set_fewest(monkeypatch, 10**9)
    expected = answer(graph, text)
    assert len(expected) == 9
    set_fewest(monkeypatch, 2)
    for many, threads in ((0, 1), (2, 4), (8, 4)):
        monkeypatch.setattr(topmost, "_MANY", many)
        assert answer(graph.with_settings(threads=threads), text) == expected
    assert answer(graph.with_settings(memory_limit="64MB"), text) == expected


@pytest.mark.usefixtures("small_batches")
def test_few_rows_are_sorted(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows behind the first of an earlier batch never reach the statement."""
    left = 0
    of = TopRows.of

    def counted(*arguments: object) -> Iterator[pa.RecordBatch]:
        nonlocal left
        for batch in of(*arguments):  # type: ignore[arg-type]
            left += batch.num_rows
            yield batch

    set_fewest(monkeypatch, 2)
    monkeypatch.setattr(TopRows, "of", counted)
    text = "MATCH (a:Person)-[k:KNOWS]->(b:Person) RETURN a.name ORDER BY a.id * 1000 + b.id, b.name, a.age LIMIT 3"
    alone = graph.with_settings(threads=1)  # how many batches are on their way already is anyhow with more
    assert len(alone.query(text).rows()) == 3
    assert 3 <= left < KNOWS // 4


@pytest.mark.usefixtures("small_batches")
def test_before_another_clause(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "MATCH (a:Person)-[:KNOWS]->(b:Person) WITH a, b, a.id AS i ORDER BY b.age DESC, a.id, b.id LIMIT 20 "
        "WHERE b.age IS NULL OR b.age > 0 MATCH (b)-[:KNOWS]->(c) RETURN i, c.id AS j, count(*) AS n ORDER BY i, j"
    )
    set_fewest(monkeypatch, 10**9)
    expected = answer(graph, text)
    set_fewest(monkeypatch, 2)
    assert expected
    assert answer(graph, text) == expected


def test_it_is_in_the_plan(graph: Graph) -> None:
    line = "Leave out rows whose first key is behind those of 11 others"
    assert line in graph.explain(text_of("a.age", "DESC"), {"more": 2})
    hop = "MATCH (a:Person)-[:KNOWS]->(b:Person) RETURN"
    for rest in (
        "a.id AS x, b.name ORDER BY x",  # all are wanted
        "a.id AS x, count(*) AS n ORDER BY n LIMIT 3",  # of groups
        "DISTINCT a.id AS x, b.age AS y ORDER BY x LIMIT 3",
        "a.id AS x, b.age AS y ORDER BY rand() LIMIT 3",
        "a.id AS x, b.age AS y ORDER BY y LIMIT 3",  # an id is gathered for the rows that are left, anyhow
    ):
        assert "Leave out rows" not in graph.explain(f"{hop} {rest}")

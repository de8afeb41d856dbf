"""DISTINCT of rows that cannot be alike takes no statement, and of all others does."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import gquery

GATHERED = {
    "one vertex": "(a:A)-[:S]->(b:A)-[:S]->(c:A)|c.id AS c",
    "its id": "(a:A)-[:S]->(b:A)|id(b) AS b",
    "a whole one of any label": "(a)-[:S]->(b:A)|a",
    "neighbours": "(a:A)-[:S]->(b:A)-[:S]->(c:A)|a.id AS a, b.id AS b, b.x AS x",
    "a triangle's": "(a:A)-[:S]->(b:A)-[:S]->(c:A), (a)-[:S]->(c)|id(b) AS b, id(c) AS c",
    "those that others join": "(a:A)-[:S]->(b:A)-[:S]->(c:A)|a.id AS a, c.id AS c",
    "with a condition": "(a:A)-[:S]->(b:A) WHERE a.x > 1|id(b) AS b",
}
GROUPED = {
    "a property": "(a:A)-[:S]->(b:A)|b.x AS x",
    "ids of several labels": "(a)-[:S]->(b:A)|id(a) AS a",
    "parallel edges": "(a:A)-[:P]->(b:A)|a.id AS a, b.id AS b",
    "an optional one": "(a:A) OPTIONAL MATCH (a)-[:S]->(b:A)|b.id AS b",
    "an aggregate": "(a:A)-[:S]->(b:A)|b.id AS b, count(DISTINCT a) AS n",
    "an edge": "(a:A)-[e:P]->(b:A)|a.id AS a, e.w AS w",
}


def random_graph(random: Random) -> gquery.Graph:
    """A and B have the same ids; S is simple, P has parallel edges."""
    n = 12
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    simple = list(zip(*random.sample(pairs, 40), strict=True))
    beside = list(zip(*random.sample(pairs, 20), strict=True))
    parallel = list(zip(*random.choices(pairs[:30], k=40), strict=True))
    return gquery.from_arrow(
        vertices={label: {"id": list(range(n)), "x": [v % 4 for v in range(n)]} for label in "AB"},
        edges={
            ("A", "S", "A"): {"source": simple[0], "target": simple[1]},
            ("B", "S", "A"): {"source": beside[0], "target": beside[1]},
            ("A", "P", "A"): {"source": parallel[0], "target": parallel[1], "w": [n % 3 for n in range(40)]},
        },
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*GATHERED, *GROUPED])
def test_every_row_comes_once(name: str, seed: int, device: str) -> None:
    graph = random_graph(Random(f"distinct {seed}"))
    pattern, items = (GATHERED | GROUPED)[name].split("|")
    rows = graph.query(f"MATCH {pattern} RETURN DISTINCT {items}", device=device).rows()
    if "count" not in items:
        repeated = graph.query(f"MATCH {pattern} RETURN {items}", device=device).rows()
        assert len(rows) == len(set(map(repr, rows)))
        assert set(map(repr, rows)) == set(map(repr, repeated)), f"seed {seed}"
        some = graph.query(f"MATCH {pattern} WITH DISTINCT {items} RETURN count(*)", device=device).scalar()
        assert some == len(rows)
    plan = graph.explain(f"MATCH {pattern} RETURN DISTINCT {items}")
    assert ("DuckDB" in plan) == (name in GROUPED), plan


def test_order_and_limit_stay() -> None:
    graph = random_graph(Random("ordered"))
    text = "MATCH (a:A)-[:S]->(b:A) RETURN DISTINCT b.id AS b"
    every = sorted(graph.query(text).rows())
    assert graph.query(f"{text} ORDER BY b DESC SKIP 1 LIMIT 3").rows() == every[::-1][1:4]
    some = graph.query(f"{text} LIMIT 3").rows()
    assert len(set(some)) == 3
    assert set(some) <= set(every)


def test_what_is_optional_does_not_count_twice(device: str) -> None:
    """A vertex comes once, with the number of what is beside it, which count(DISTINCT a) does not ask for."""
    graph = random_graph(Random("distinct"))
    for optional in ("(b)", "(b:A)", "(a)--(b)", "(a)-[:S]->(b)-[:P]->(c)"):
        text = f"MATCH (a:A) OPTIONAL MATCH {optional} RETURN count(DISTINCT a) AS n"
        assert graph.query(text, device=device).scalar() == 12, text


def test_conditions_on_groups_count_as_their_columns_do() -> None:
    """count(DISTINCT a) of rows that have another `a` each, asked for by WITH and by its WHERE."""
    graph = random_graph(Random("distinct"))
    text = "MATCH (a:A) WITH a, count(DISTINCT a) AS n WHERE n <> a.x MATCH (b:B) RETURN count(DISTINCT a)"
    expected = graph.query("MATCH (a:A) WHERE 1 <> a.x RETURN count(*)").scalar()
    assert 0 < graph.query(text).scalar() == expected


@pytest.mark.parametrize("rows", [10, 5_000, 200_000])
@pytest.mark.parametrize("kind", ["int", "null", "small", "negative", "float", "date", "text"])
def test_values_once(kind: str, rows: int) -> None:
    """Many whole numbers are sorted, whatever else is hashed; DuckDB sees what is more."""
    random = np.random.default_rng(rows)
    numbers = random.integers(-(2**62), 2**62, rows)
    values: pa.Array = {
        "int": lambda: pa.array(numbers),
        "null": lambda: pa.array(numbers % 1000, mask=numbers % 7 == 0),
        "small": lambda: pa.array((numbers % 100).astype(np.int8)),
        "negative": lambda: pa.array(-np.abs(numbers % 50)),
        "float": lambda: pa.array(numbers % 100 / 7),
        "date": lambda: pa.array((numbers % 20000).astype(np.int32)).cast(pa.date32()),
        "text": lambda: pa.array([f"t{number}" for number in (numbers % 500).tolist()]),
    }[kind]()
    graph = gquery.from_arrow({"A": {"id": np.arange(rows), "v": values}}, {})
    for text in ("MATCH (a:A) RETURN DISTINCT a.v", "MATCH (a:A) WITH a.v AS v RETURN DISTINCT v",
                 "MATCH (a:A) WITH a.v AS v, rand() AS r RETURN v UNION MATCH (a:A) RETURN a.v AS v"):  # fmt: skip
        found = graph.query(text).to_arrow().column(0)
        assert len(found) == len(pc.unique(found))
        assert found.null_count == min(1, values.null_count)
        assert set(found.to_pylist()) == set(values.to_pylist())

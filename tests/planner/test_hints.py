"""USING: what a query says of the way in which it is matched, and that its answer is the same."""

from __future__ import annotations

import random

import pytest

import gquery


def _graph() -> gquery.Graph:
    seed, count = 7, 60
    print("seed", seed)
    drawn = random.Random(seed)
    ends = {kind: [drawn.randrange(size) for _ in range(160)] for kind, size in (("from", count), ("to", count))}
    return gquery.from_arrow(
        {
            "P": {"id": list(range(count)), "x": [drawn.randrange(9) for _ in range(count)]},
            "Q": {"id": list(range(30))},
        },
        {
            ("P", "K", "P"): {"source": ends["from"], "target": ends["to"]},
            ("P", "L", "Q"): {"source": ends["from"], "target": [end % 30 for end in ends["to"]]},
        },
    )


GRAPH = _graph()
PATTERNS = ("(a:P)-[:K]->(b)-[:K]->(c)-[:K]->(a)", "(a:P)-[:K]->(b)-[:L]->(c:Q)<-[:L]-(d)", "(a:P)-[:K]-(b), (c:Q)")
HINTS = ("START c", "ORDER c, a, b", "ORDER b, c", "ORDER b, c USING DEVICE cpu USING START a")


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("asked", ["count(*)", "id(a), id(b), id(c)", "b.x, count(DISTINCT c)"])
def test_answers_are_the_same(pattern: str, asked: str, device: str) -> None:
    graph = GRAPH.with_settings(device=device) if device != "cpu" else GRAPH
    expected = sorted(map(tuple, graph.query(f"MATCH {pattern} RETURN {asked}").rows()))
    for hint in HINTS if device == "cpu" else HINTS[:3]:
        query = f"MATCH {pattern} USING {hint} WHERE a.x > -1 RETURN {asked}"
        assert sorted(map(tuple, graph.query(query).rows())) == expected, query


def _levels(query: str) -> list[str]:
    """The vertices in matching order."""
    words = ("Scan", "Extend", "Sum over")
    lines = (line.strip() for line in GRAPH.explain(query).splitlines())
    return [line.split("(", 1)[1][0] for line in lines if line.startswith(words)]


def test_the_order_is_followed() -> None:
    triangle = PATTERNS[0]
    for order in ("cab", "bca", "acb"):
        hint = f"USING ORDER {', '.join(order)}"
        assert _levels(f"MATCH {triangle} {hint} RETURN id(a), id(b), id(c)") == list(order)
        assert _levels(f"MATCH {triangle} {hint} RETURN count(*)") == list(order)
    assert _levels(f"MATCH {PATTERNS[1]} USING START d RETURN count(*)")[0] == "d"
    assert _levels("MATCH (a)-[:K]->(b) USING START b MATCH (b)-[:K]->(c) USING START c RETURN count(*)")[:2] == [
        "b",
        "c",
    ]
    assert _levels("MATCH (a:P) WITH a LIMIT 2 MATCH (a)-[:K]->(b) USING START b RETURN b.x, count(*)")[1] == "b"


def test_explain_says_so() -> None:
    plan = GRAPH.explain("MATCH (a)-[:K]->(b) USING ORDER b, a USING DEVICE cpu RETURN a, b")
    assert plan.startswith("Match by device cpu, as USING says\n")
    assert "Begin the order with b, a, as USING says\n" in plan
    assert "USING" not in GRAPH.explain("MATCH (a)-[:K]->(b) RETURN a, b")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("MATCH (a) USING START x RETURN a", "USING speaks of `x`, which is no node here"),
        ("MATCH (a)-[r]-() USING START r RETURN a", "`r`, which is no node"),
        ("MATCH (a) USING DEVICE tpu RETURN a", "there is no device `tpu`"),
        ("MATCH (a) USING DEVICE cpu MATCH (b) USING DEVICE auto RETURN a", "matched on one device, `cpu` or `auto`"),
        ("MATCH (a) WHERE EXISTS { MATCH (a)--(b) USING START b } RETURN a", "USING stands behind a MATCH"),
    ],
)
def test_mistakes(query: str, message: str) -> None:
    with pytest.raises(gquery.BindError) as caught:
        GRAPH.query(query)
    assert message in caught.value.message
    assert caught.value.span is not None

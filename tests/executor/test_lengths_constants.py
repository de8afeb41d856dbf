"""Conditions that speak of nothing, beside relationships of any length."""

from __future__ import annotations

from typing import Any

import pytest

import gquery

GRAPH = gquery.from_arrow(
    vertices={"A": {"id": [1, 2, 3], "t": [True, False, True]}},
    edges={("A", "R", "A"): {"source": [1, 2], "target": [2, 3], "w": [1, 2]}},
)
LADDER = gquery.from_arrow(  # 2^40 paths from end to end
    vertices={"A": {"id": list(range(41))}},
    edges={("A", "R", "A"): {"source": [n // 2 for n in range(80)], "target": [n // 2 + 1 for n in range(80)]}},
)

CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("(v)<-[r*1..]-(n:A WHERE true AND n.t)", [(1, 0), (2, 1), (3, 1)]),
    ("(v)<-[r*1..]-(n:A WHERE $yes AND n.t)", [(1, 0), (2, 1), (3, 1)]),
    ("(v WHERE 1 < 2)<-[r*1..]-(n)", [(1, 0), (2, 1), (3, 2)]),
    ("(v)<-[r*0..]-(n) WHERE false AND n.t", [(1, 0), (2, 0), (3, 0)]),
    ("(v)<-[r*0..]-(n) WHERE null", [(1, 0), (2, 0), (3, 0)]),
    ("(v)<-[r*0..]-(n) WHERE rand() < 2", [(1, 1), (2, 2), (3, 3)]),
    ("(v)<-[r*1.. WHERE true AND r.w > 1]-(n)", [(1, 0), (2, 0), (3, 1)]),
    ("(v)<-[r*0.. WHERE false AND r.w > 1]-(n)", [(1, 1), (2, 1), (3, 1)]),
    ("p = shortestPath((v WHERE true)<-[r*1.. WHERE true]-(n WHERE true))", [(1, 0), (2, 1), (3, 2)]),
]


@pytest.mark.parametrize(("pattern", "rows"), CASES, ids=[pattern for pattern, _ in CASES])
def test_constants_beside_searches(pattern: str, rows: list[tuple[Any, ...]]) -> None:
    text = f"MATCH (v:A) OPTIONAL MATCH {pattern} RETURN v.id, count(n)"
    assert sorted(tuple(row) for row in GRAPH.query(text, {"yes": True}).rows()) == rows


@pytest.mark.parametrize("pattern", ["(v)-[r*1..]->(n) WHERE false", "(v)-[r*1.. WHERE false]->(n)"])
def test_what_cannot_hold_is_not_searched(pattern: str) -> None:
    text = f"MATCH (v:A {{id: 0}}) OPTIONAL MATCH {pattern} RETURN sum(size(r))"
    assert GRAPH.query(text).scalar() == 0
    assert LADDER.query(text, timeout=20.0).scalar() == 0

"""Predicates that are asked only of the vertices that an edge leads to, where these are few."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

import gquery

PEOPLE, EDGES = 40_000, 90_000
_RANDOM = np.random.default_rng(11)
SOURCE, TARGET = _RANDOM.integers(0, PEOPLE, (2, EDGES))
AGE = _RANDOM.integers(0, 90, PEOPLE)


@cache
def graph() -> gquery.Graph:
    """People who know each other, at random, in two tables of vertices."""
    ids = np.arange(PEOPLE)
    old = ids >= PEOPLE // 4
    vertices = {"Young": {"id": ids[~old], "age": AGE[~old]}, "Old": {"id": ids[old], "age": AGE[old]}}
    edges = {
        (one, "KNOWS", other): {"source": SOURCE[where], "target": TARGET[where]}
        for one in vertices
        for other in vertices
        if np.any(where := ((SOURCE >= PEOPLE // 4) == (one == "Old")) & ((TARGET >= PEOPLE // 4) == (other == "Old")))
    }
    return gquery.from_arrow(vertices=vertices, edges=edges)


@cache
def known() -> tuple[list[list[int]], list[list[int]]]:
    """Whom everybody knows, and by whom everybody is known."""
    out: list[list[int]] = [[] for _ in range(PEOPLE)]
    back: list[list[int]] = [[] for _ in range(PEOPLE)]
    for source, target in zip(SOURCE.tolist(), TARGET.tolist(), strict=True):
        out[source].append(target)
        back[target].append(source)
    return out, back


IDS = [3, 17, 9_999, 10_000, 25_000, 39_999]
ONE_HOP = [
    "MATCH (a)-[:KNOWS]->(b) WHERE a.id IN $ids AND b.age > 60 RETURN a.id, b.id",
    "MATCH (b)<-[:KNOWS]-(a) WHERE b.age > 60 AND a.id IN $ids RETURN a.id, b.id",
    "MATCH (a) WHERE a.id IN $ids WITH a MATCH (a)-[:KNOWS]->(b) WHERE b.age > 60 RETURN a.id, b.id",
    "MATCH (a) WHERE a.id IN $ids WITH a, a.id AS i MATCH (a)-[:KNOWS]->(b) WHERE b.age / 2 > 30 RETURN i, b.id",
]


@pytest.mark.parametrize("text", ONE_HOP)
def test_one_hop(text: str) -> None:
    least = 61 if "/" not in text else 62
    expected = Counter((a, b) for a in IDS for b in known()[0][a] if AGE[b] >= least)
    assert Counter(graph().query(text, {"ids": IDS}).rows()) == expected


def test_two_hops_from_what_is_left() -> None:
    text = """MATCH (a)-[:KNOWS]->(b)<-[:KNOWS]-(c:Old) WHERE a.id IN $ids AND b.age < 50 AND c.age >= 20
              RETURN a.id, b.id, c.id"""
    out, back = known()
    expected: Counter[tuple[int, ...]] = Counter()
    for a in IDS:
        for b in out[a]:
            others = Counter(back[b])
            others[a] -= 1  # the edge from a itself
            for c, times in others.items():
                if AGE[b] < 50 and AGE[c] >= 20 and c >= PEOPLE // 4 and times:
                    expected[a, b, c] += times
    assert Counter(graph().query(text, {"ids": IDS}).rows()) == expected


def test_optional_and_negated() -> None:
    """What need not be there narrows nothing but itself."""
    out, _ = known()
    text = "MATCH (a) WHERE a.id IN $ids OPTIONAL MATCH (a)-[:KNOWS]->(b) WHERE b.age > 80 RETURN a.id, b.id"
    expected: Counter[tuple[int, int | None]] = Counter()
    for a in IDS:
        expected.update([(a, b) for b in out[a] if AGE[b] > 80] or [(a, None)])
    assert Counter(graph().query(text, {"ids": IDS}).rows()) == expected
    text = "MATCH (a) WHERE a.id IN $ids AND NOT EXISTS { MATCH (a)-[:KNOWS]->(b) WHERE b.age > 60 } RETURN a.id"
    rows = sorted(graph().query(text, {"ids": IDS}).rows())
    assert rows == [(a,) for a in IDS if not any(AGE[b] > 60 for b in out[a])]


def test_few_are_looked_up_and_many_are_not() -> None:
    text = ONE_HOP[0]
    line = next(line for line in graph().query(f"PROFILE {text}", {"ids": IDS}).rows() if " leads, if " in line[0])
    reached = len({b for a in IDS for b in known()[0][a]})
    assert line[0].endswith(f"[{PEOPLE:,} -> {reached:,}]")
    everybody = list(range(PEOPLE))
    line = next(
        line for line in graph().query(f"PROFILE {text}", {"ids": everybody}).rows() if " leads, if " in line[0]
    )
    assert line[0].endswith(f"[{PEOPLE:,} -> {PEOPLE:,}]")
    assert graph().query(text, {"ids": everybody}).to_arrow().num_rows == np.count_nonzero(AGE[TARGET] > 60)


def test_none_reach_none() -> None:
    assert graph().query(ONE_HOP[0], {"ids": []}).to_arrow().num_rows == 0
    assert graph().query(ONE_HOP[2], {"ids": [-1]}).to_arrow().num_rows == 0


def test_one_seed_builds_no_candidate_graph() -> None:
    """It would look for the rows of everybody whom the seed may know."""
    text = "MATCH (a) WHERE a.id = 3 WITH DISTINCT a MATCH (a)-[:KNOWS]->(b) RETURN b.id"
    second = graph().profile(text).partition("joined by a")[2]
    assert "Walk the raw adjacency" in second
    assert Counter(row for (row,) in graph().query(text).rows()) == Counter(known()[0][3])


LED_TO = [
    "MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c) WHERE a.id IN $ids RETURN DISTINCT c.id",
    "MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c) WHERE a.id IN $ids RETURN c.id, count(*)",
    "MATCH (a) WHERE a.id IN $ids WITH a MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c) RETURN c.id, count(*)",
    "MATCH (a)-[:KNOWS]->(b)-[:KNOWS]->(c:Old) WHERE a.id IN $ids RETURN DISTINCT c.id",
]


@pytest.mark.parametrize("ids", [IDS, [], list(range(PEOPLE))], ids=["few", "none", "all"])
@pytest.mark.parametrize("text", LED_TO)
def test_sums_begin_where_predicates_lead(text: str, ids: list[int]) -> None:
    """Other edges are taken back: two edges of a match are not the same one."""
    out, _ = known()
    expected = Counter(c for a in ids for b in out[a] for c in out[b])
    expected -= Counter(c for a in ids for c in out[a] if c == a)
    if ":Old" in text:
        expected = Counter({c: times for c, times in expected.items() if c >= PEOPLE // 4})
    rows = sorted(graph().query(text, {"ids": ids}).rows())
    assert rows == (sorted((c,) for c in expected) if "DISTINCT" in text else sorted(expected.items()))

"""What a later clause does not share with the rows before it is counted once and multiplied, never gone through pair by
pair."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pytest

import gquery

MANY = 200_000


def ring(vertices: int) -> gquery.Graph:
    """Each knows the next one; x is the number modulo 5, null for 0."""
    ids = np.arange(vertices)
    table = pa.table({"id": ids, "x": pa.array(ids % 5, mask=ids % 5 == 0)})
    return gquery.from_arrow({"V": table}, {("V", "E", "V"): {"source": ids, "target": (ids + 1) % vertices}})


@cache
def large() -> gquery.Graph:
    return ring(MANY)


# Answers in the number of vertices.
COUNTS = {
    "MATCH (a) WITH a MATCH (b) RETURN count(*)": lambda n: n**2,
    "MATCH (a) WITH a AS s MATCH (b) RETURN count(*)": lambda n: n**2,
    "MATCH (a) WITH DISTINCT a MATCH (b)-->(c) RETURN count(c)": lambda n: n**2,
    "MATCH (a) WITH a.x AS x MATCH (b) WHERE b.x = 1 RETURN count(x)": lambda n: n * 4 // 5 * n // 5,
    "MATCH (a)-->(b) WITH b AS a MATCH (a)-->(b), (c) RETURN count(*)": lambda n: n**2,
    "MATCH (a) WITH a ORDER BY a.x LIMIT 1000 MATCH (b) RETURN count(*)": lambda n: n * min(n, 1000),
    "MATCH (a) WITH a AS s MATCH (b) WITH b AS t, s MATCH (t)-->(c) RETURN count(s)": lambda n: n**2,
    "MATCH (a) WITH a AS s MATCH (b) WITH 1 AS one MATCH (c) RETURN sum(one)": lambda n: n**3,
    "MATCH (a) WITH DISTINCT a OPTIONAL MATCH (b {x: 7}) RETURN count(*)": lambda n: n,
    "MATCH (a) WITH DISTINCT a OPTIONAL MATCH (b {x: 3}) RETURN count(*)": lambda n: n * n // 5,
    "MATCH (a) WITH DISTINCT a OPTIONAL MATCH (b {x: 7}) RETURN count(b)": lambda n: 0,
    "MATCH (a) WITH a.x AS x WHERE x > 2 MATCH (b) RETURN sum(x)": lambda n: (3 + 4) * n // 5 * n,
    "MATCH (a) WITH DISTINCT a MATCH (b) RETURN sum(b.x)": lambda n: 10 * n // 5 * n,
    "MATCH (a) WITH DISTINCT a MATCH (b) RETURN count(DISTINCT a)": lambda n: n,
    "MATCH (a {x: 9}) WITH DISTINCT a MATCH (b) RETURN count(*)": lambda n: 0,
}


@pytest.mark.parametrize("text", COUNTS)
def test_counts(text: str, device: str) -> None:
    assert ring(20).query(text, device=device).scalar() == COUNTS[text](20)


@pytest.mark.parametrize("text", COUNTS)
def test_counts_of_many(text: str) -> None:
    """Gone through pair by pair, 40 billion of them, none would end."""
    assert large().query(text, timeout=60).scalar() == COUNTS[text](MANY)


@pytest.mark.parametrize("key", ["s.x", "b.x"])
def test_groups_of_either_side(key: str) -> None:
    text = "MATCH (a) WITH a AS s MATCH (b) RETURN"
    every = [(x, MANY // 5 * MANY) for x in (1, 2, 3, 4, None)]
    assert large().query(f"{text} {key}, count(*) ORDER BY {key}", timeout=60).rows() == every
    assert large().query(f"{text} DISTINCT {key} ORDER BY {key}", timeout=60).rows() == [(x,) for x, _ in every]


def test_rows_of_either_side_come_as_often_as_they_are() -> None:
    graph = ring(4)
    for text in ("MATCH (a) WITH a AS s MATCH (b) RETURN id(s)", "MATCH (a) WITH a AS s MATCH (b) RETURN id(b)"):
        assert sorted(graph.query(text).rows()) == sorted([(i,) for i in range(4)] * 4)
    assert len(graph.query("MATCH (a) WITH a AS s MATCH (b) RETURN s, b LIMIT 7").rows()) == 7


def test_explain_says_so() -> None:
    assert "WITH" not in large().explain("MATCH (a) WITH a MATCH (b) RETURN count(*)")
    plan = large().explain("MATCH (a) WITH a AS s MATCH (b) RETURN count(*)")
    assert "MATCH (b), counted once for all rows" in plan
    plan = large().explain("MATCH (a) WITH a AS s, a.x AS x MATCH (s)-->(b) RETURN b, count(*)")
    assert "MATCH (s)-[:E]->(b), joined by s, once for rows that are alike" in plan


def test_more_rows_than_can_be_counted_are_an_error() -> None:
    ten = " ".join(f"MATCH (v{i})" for i in range(3))
    text = f"MATCH (a) WITH a AS s {ten} WITH 1 AS one {ten} RETURN count(*)"
    with pytest.raises(gquery.ExecutionError, match=r"2\^63"):
        large().query(text, timeout=60).scalar()


def test_groups_of_more_matches_than_64_bits_count_are_refused_by_name() -> None:
    """A count alone is exact at any size."""
    edges = {"source": [0] * 20 + [1] * 20, "target": [1] * 20 + [0] * 20}
    graph = gquery.from_arrow({"V": {"id": [0, 1], "x": [1, 2]}}, {("V", "E", "V"): edges})
    star = "MATCH REPEATABLE ELEMENTS " + ", ".join(f"(c)-->(l{leaf})" for leaf in range(50))
    assert graph.query(f"{star} RETURN count(*)", timeout=20).scalar() == 2 * 20**50
    assert graph.query(f"{star} RETURN max(c.x)", timeout=20).scalar() == 2
    for returned in ("sum(c.x), count(*)", "c.x, count(*)", "avg(c.x)"):
        with pytest.raises(gquery.ExecutionError, match=r"2\^62"):
            graph.query(f"{star} RETURN {returned}", timeout=20).rows()


@pytest.mark.parametrize("mode", ["different edges", "different nodes", "induced", "repeatable elements"])
def test_modes_hold_in_each_clause_alone(mode: str) -> None:
    """So putting patterns together changes nothing."""
    graph, text = ring(6), "MATCH (a)-[r]->(b) WITH {} MATCH (c)-[s]->(d) RETURN count(*)"
    together = graph.query(text.format("a, r, b"), mode=mode).scalar()
    assert together == graph.query(text.format("a AS z, r, b"), mode=mode).scalar() == 36

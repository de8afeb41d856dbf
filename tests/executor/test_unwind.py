"""UNWIND: lists as rows, in any order with MATCH and WITH."""

from __future__ import annotations

from typing import Any

import pytest

import gquery


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    return gquery.from_arrow(
        vertices={"P": {"id": [1, 2, 3], "x": [10, 20, None], "l": [["a", "b"], [], None]}},
        edges={("P", "K", "P"): {"source": [1, 2], "target": [2, 3]}},
    )


CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("UNWIND [1, 2, 2] AS x RETURN x", [(1,), (2,), (2,)]),
    ("UNWIND [] AS x RETURN x", []),
    ("UNWIND null AS x RETURN x", []),
    ("UNWIND [1, null] AS x RETURN x", [(1,), (None,)]),
    ("UNWIND [1, 'a', [2], {b: null}, {}] AS x RETURN x", [(1,), ("a",), ([2],), ({"b": None},), ({},)]),
    # Maps whose values are of several types: each value keeps its own.
    ("UNWIND [{l: [2]}, {l: [1.5]}, null] AS m RETURN m.l AS l", [([2],), ([1.5],), (None,)]),
    ("UNWIND [{a: {b: 2}}, {a: {b: 'x'}}] AS m RETURN m.a.b AS b", [(2,), ("x",)]),
    ("UNWIND [1, 2] AS x UNWIND [3, 4] AS y RETURN x, y", [(1, 3), (1, 4), (2, 3), (2, 4)]),
    ("UNWIND [[1, 2], [], [3]] AS l UNWIND l AS x RETURN sum(x), count(*)", [(6, 3)]),
    ("UNWIND range(1, 3) AS x WITH x WHERE x > 1 RETURN collect(x)", [([2, 3],)]),
    ("WITH [1, 2] AS l UNWIND l AS x RETURN *", [([1, 2], 1), ([1, 2], 2)]),
    ("MATCH (a) UNWIND a.l AS x RETURN a.x, x", [(10, "a"), (10, "b")]),
    ("MATCH (a) UNWIND [a.x, 5] AS v RETURN count(v), count(*)", [(5, 6)]),
    ("MATCH (a) UNWIND [1, 2] AS v RETURN count(*)", [(6,)]),
    ("MATCH (a) WITH collect(a) AS all UNWIND all AS b MATCH (b)-->(c) RETURN b.x, c.x", [(10, 20), (20, None)]),
    ("MATCH p = ()-->()-->() UNWIND nodes(p) AS n RETURN n.x, id(n)", [(10, 1), (20, 2), (None, 3)]),
    ("MATCH p = ()-->() UNWIND relationships(p) AS r RETURN type(r), count(*)", [("K", 2)]),
    ("UNWIND [10, 20, 30] AS v OPTIONAL MATCH (a {x: v}) RETURN v, id(a)", [(10, 1), (20, 2), (30, None)]),
    ("UNWIND [10, 10, 30] AS v MATCH (a {x: v}) RETURN v, id(a)", [(10, 1), (10, 1)]),
    ("MATCH (a) OPTIONAL MATCH (a)-->(b) UNWIND [b.x] AS v RETURN a.x, v", [(10, 20), (20, None), (None, None)]),
    ("UNWIND $rows AS r MATCH (a) WHERE id(a) = r.id RETURN r.name, a.x", [("one", 10), ("two", 20)]),
    ("UNWIND [3, 1, 2] AS x WITH x ORDER BY x LIMIT 2 RETURN x", [(1,), (2,)]),
    ("UNWIND [1, 2, 3, 4] AS x RETURN x % 2 AS k, count(*) ORDER BY k", [(0, 2), (1, 2)]),
    ("UNWIND [1, 2, 3] AS x RETURN x SKIP 1 LIMIT 1", [(2,)]),
    ("UNWIND [] AS x RETURN 5 AS v", []),
    ("UNWIND tail([null, null]) AS x RETURN x, 5 AS v", [(None, 5)]),
    ("MATCH (a)-->(b) UNWIND [a, b] AS n RETURN n.x, count(*) ORDER BY n.x", [(10, 1), (20, 2), (None, 1)]),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_rows(graph: gquery.Graph, text: str, expected: list[tuple[Any, ...]], device: str) -> None:
    rows = [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]
    found = [tuple(row) for row in graph.query(text, {"rows": rows} if "$" in text else None, device=device).rows()]
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_explain_names_the_step(graph: gquery.Graph) -> None:
    lines = graph.explain("MATCH (a) UNWIND a.l AS x RETURN a.x, x").splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["MATCH (a)", "UNWIND AS x", "RETURN"]


def test_many_rows_stream_and_stop(graph: gquery.Graph) -> None:
    text = "UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN x, y"
    assert len(graph.query(f"{text} LIMIT 5", timeout=20).rows()) == 5
    with pytest.raises(gquery.QueryTimeout):
        graph.query(f"{text.replace('RETURN x, y', 'RETURN count(*)')}", timeout=1).rows()

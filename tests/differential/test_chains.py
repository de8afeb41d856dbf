"""Chains of clauses: a WITH that carries everything on changes no answer, and many rows may travel between clauses."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import gquery
from tests.differential.build import found_rows, to_gquery
from tests.differential.render import Renderer
from tests.differential.test_metamorphic import cases

BETWEEN = (" WITH * ", " WITH *, 1 AS one WITH * ", " WITH * ORDER BY 1 SKIP 0 ", " WITH DISTINCT * WHERE true ", " ")
VERTICES, EDGES = 2_000, 12_000


def test_with_star(device: str) -> None:
    numbers = count()  # of columns, of which no two have one name
    for random, data, query, rows in cases("with star"):
        # All elements are named, so that there is something to carry on and no two rows are alike.
        writer = Renderer(replace(query, hidden=frozenset()), random, with_modes=True)
        body = re.sub(r"\bAS one\b", lambda _: f"AS one{next(numbers)}", writer.body(BETWEEN))
        text = f"{body} RETURN {Renderer(query, random, with_modes=True).returned()}"
        found = to_gquery(data).query(text, writer.parameters, device=device)
        assert found_rows(found) == rows, (text, writer.parameters, data)


# Each with its SQL over v(id, x) and e(s, t, w).
MANY = {
    "as many seeds as edges": (
        "MATCH (a)-[r]->(b) WITH a, r, b MATCH (b)-->(c) WHERE c.x > a.x RETURN count(*), sum(r.w), sum(c.x)",
        """SELECT count(*), sum(r.w), sum(c.x) FROM e r JOIN e q ON r.t = q.s JOIN v a ON a.id = r.s
           JOIN v c ON c.id = q.t WHERE c.x > a.x""",
    ),
    "many rows for each seed": (
        """MATCH (a)-->(b) WITH b MATCH (b)-[r]->() WITH b, r.w AS w ORDER BY id(b), w SKIP 10
           RETURN count(*), sum(w * b.x)""",
        """SELECT count(*), sum(w * x) FROM (SELECT r.w, v.x FROM e JOIN e r ON e.t = r.s JOIN v ON v.id = r.s
           ORDER BY r.s, r.w OFFSET 10)""",
    ),
    "optional matches of optional ones": (
        """MATCH (a) OPTIONAL MATCH (a)-[r]->(b) WHERE r.w < 3 WITH a, b OPTIONAL MATCH (b)-[q]->(c) WHERE q.w > a.x
           RETURN count(*), count(b), count(c), sum(c.x)""",
        """SELECT count(*), count(b.t), count(c.t), sum(c.x) FROM v a
           LEFT JOIN (SELECT * FROM e WHERE w < 3) b ON b.s = a.id
           LEFT JOIN (SELECT * FROM e JOIN v ON v.id = e.t) c ON c.s = b.t AND c.w > a.x""",
    ),
    "groups between": (
        """MATCH (a)-->(b) WITH a, count(*) AS n, max(b.x) AS most WHERE n > 5 MATCH (a)<-[r]-(c) WHERE c.x = most
           RETURN count(*), sum(n), sum(r.w)""",
        """SELECT count(*), sum(n), sum(r.w) FROM (SELECT s, count(*) AS n, max(x) AS most FROM e JOIN v ON v.id = e.t
           GROUP BY s HAVING n > 5) g JOIN e r ON r.t = g.s JOIN v c ON c.id = r.s AND c.x = most""",
    ),
    "patterns between two bound vertices": (
        "MATCH (a)-->(b) WITH DISTINCT a, b MATCH (b)-[r]->(a) RETURN count(*), sum(r.w)",
        "SELECT count(*), sum(w) FROM e JOIN (SELECT DISTINCT s AS a, t AS b FROM e) ON s = b AND t = a",
    ),
    "values alone": (
        "MATCH (a) WITH DISTINCT a.x AS x MATCH (b) WHERE b.x < x RETURN count(*), sum(x * b.x)",
        "SELECT count(*), sum(d.x * v.x) FROM (SELECT DISTINCT x FROM v) d JOIN v ON v.x < d.x",
    ),
}


@pytest.fixture(scope="module")
def tables() -> tuple[pa.Table, pa.Table]:
    random = np.random.default_rng(7)
    x = pa.array(random.integers(0, 9, VERTICES), mask=random.random(VERTICES) < 0.1)
    ends = random.integers(0, VERTICES, (2, EDGES))
    ends = np.where(random.random((2, EDGES)) < 0.3, ends % 40, ends)  # some have many
    vertices = pa.table({"id": np.arange(VERTICES), "x": x})
    return vertices, pa.table({"source": ends[0], "target": ends[1], "w": random.integers(0, 9, EDGES)})


@pytest.mark.large
@pytest.mark.parametrize("limit", ["1GB", "100MB"])
@pytest.mark.parametrize(("text", "sql"), MANY.values(), ids=MANY)
def test_many_rows(text: str, sql: str, limit: str, device: str, tables: tuple[pa.Table, pa.Table]) -> None:
    vertices, edges = tables
    graph = gquery.from_arrow(vertices={"V": vertices}, edges={("V", "E", "V"): edges})
    with duckdb.connect() as connection:
        connection.register("v", vertices)
        connection.register("e", edges.rename_columns(["s", "t", "w"]))
        expected = connection.execute(sql).fetchall()
    found = graph.query(text, device=device, memory_limit=limit).rows()
    assert [tuple(row) for row in found] == expected
    assert expected[0][0] > 100

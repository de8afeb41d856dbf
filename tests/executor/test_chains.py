"""Rows from clause to clause: WITH, later MATCHes, OPTIONAL MATCH, nulls, multiplicities, bounds."""

from __future__ import annotations

import datetime
from collections import Counter
from functools import cache

import pytest

import gquery
from gquery.executor.memory import Budget

Rows = list[tuple[object, ...]]


@cache
def graph() -> gquery.Graph:
    """Ann knows Bob twice and Cid; Bob knows Cid; Cid knows Ann; Dee knows herself; Eve knows nobody. All but Dee and
    Eve live somewhere. `x` is a number of people and a text of towns."""
    people = {
        "id": [1, 2, 3, 4, 5],
        "name": ["Ann", "Bob", "Cid", "Dee", "Eve"],
        "age": [34, 27, 41, None, 30],
        "born": [datetime.date(1990, 1, 2), None, datetime.date(1983, 5, 6), None, datetime.date(1994, 7, 8)],
        "x": [1, 2, 3, 4, 5],
    }
    knows = {"source": [1, 1, 1, 2, 3, 4], "target": [2, 2, 3, 3, 1, 4], "since": [2010, 2020, 2012, 2015, 2018, 2021]}
    towns = {"id": [1, 2], "name": ["Oslo", "Rome"], "x": ["a", "b"]}
    return gquery.from_arrow(
        vertices={"Person": people, "Town": towns},
        edges={
            ("Person", "KNOWS", "Person"): knows,
            ("Person", "LIVES_IN", "Town"): {"source": [1, 2, 3], "target": [1, 1, 2]},
        },
    )


def ask(text: str, **parameters: object) -> Rows:
    return [tuple(row) for row in graph().query(text, parameters).rows()]


def bag(text: str, **parameters: object) -> Counter[tuple[object, ...]]:
    return Counter(ask(text, **parameters))


ROWS: dict[str, Rows] = {
    # conditions that are not compared while matching
    "MATCH (a:Person) WHERE EXISTS { (a)-[:KNOWS]->() WHERE date() > date('2000-01-01') } RETURN count(*)": [(4,)],
    "MATCH (a:Person) WHERE NOT EXISTS { (a)-[:KNOWS]->(b) WHERE a.x <> toFloat(b.x) } RETURN a.name": [
        ("Dee",), ("Eve",)
    ],
    "MATCH (a:Person) WHERE EXISTS { (a)-->(t) WHERE a.x < t.x } RETURN a.name": [("Ann",), ("Bob",)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->(b) WHERE a.x <> toFloat(b.x) RETURN count(*)": [(7,)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->(b) WHERE a.x <> toFloat(b.x) MATCH (a)-[:LIVES_IN]->(t)"
    " WHERE (t)<--() RETURN count(*)": [(5,)],
    # what is known before
    "MATCH (a:Town) MATCH (b:Town) WHERE b.x = 'a' OR (a)<--() AND a.x = 'b' RETURN a.x, b.x": [
        ("a", "a"), ("b", "a"), ("b", "b")
    ],
    "MATCH (a)-[r:LIVES_IN]->(b) OPTIONAL MATCH (a)-[r]->(c {x: 'a'}) RETURN a.x, c.x": [(1, "a"), (2, "a"), (3, None)],
    "MATCH (a)-[r:LIVES_IN]->(b) OPTIONAL MATCH (a)<-[r]-(c) RETURN count(*), count(c)": [(3, 0)],
    "MATCH (a)-[r:LIVES_IN]->(b) WHERE (a)-[r]->({x: 'b'}) RETURN a.x": [(3,)],
    "MATCH (a)-[r:LIVES_IN]->() MATCH (b:Town) WHERE NOT EXISTS { (a)-[r]->(b) } RETURN a.x, b.x": [
        (1, "b"), (2, "b"), (3, "a")
    ],
    "MATCH (a:Town) OPTIONAL MATCH (a {x: 'b'}) RETURN *, a.x = 'b' AS b ORDER BY b LIMIT 0": [],
    "MATCH (a:Town) OPTIONAL MATCH (a {x: 'b'}) RETURN a.x": [("a",), ("b",)],
    "MATCH (a:Town) OPTIONAL MATCH p = (a) RETURN a.x": [("a",), ("b",)],
    "MATCH (a:Town) WHERE EXISTS { p = (a), (a)<--({x: 1}) } RETURN a.x": [("a",)],
    # WITH alone
    "MATCH (a:Person)-[r:KNOWS]->(b) WITH *, a.x AS x MATCH (c:Person) WITH x, c MATCH (c)-[r:LIVES_IN]->(d)"
    " RETURN max(x), count(*)": [(4, 18)],
    "WITH 1 AS x, 'a' AS y RETURN y, x": [("a", 1)],
    "WITH 1 AS x WITH x + 1 AS x WITH x * 10 AS y, x WHERE y > 5 RETURN *": [(2, 20)],
    "MATCH (a:Person) WITH a.name AS name, a.age AS age ORDER BY age DESC LIMIT 3 RETURN collect(name)": [
        (["Dee", "Cid", "Ann"],)
    ],
    "MATCH (a:Person) WITH a ORDER BY a.name SKIP 1 LIMIT 3 WHERE a.age > 30 RETURN a.name": [("Cid",)],
    "MATCH (a:Person) WITH a.name AS name WHERE a.age < 30 RETURN name": [("Bob",)],
    "MATCH (a:Person)-[:KNOWS]->(b) WITH DISTINCT a, b WHERE a.age > b.age RETURN a.name, b.name": [
        ("Ann", "Bob"), ("Cid", "Ann")
    ],
    "MATCH (a:Person)-[:KNOWS]->() WITH a, count(*) AS n WHERE n > 1 AND a.age > 30 RETURN a.name, n": [("Ann", 3)],
    "MATCH (a:Person)-[:KNOWS]->() WITH count(*) AS n RETURN n + 1": [(7,)],
    "MATCH (a:Person)-[:KNOWS]->() WITH a, count(*) AS n WITH n, count(*) AS m RETURN n, m": [(3, 1), (1, 3)],
    "MATCH (a:Person {name: 'Zoe'}) WITH count(a) AS n, sum(a.age) AS s, avg(a.age) AS m RETURN *": [(None, 0, 0)],
    "MATCH (a:Person {name: 'Zoe'}) WITH a.name AS name, count(*) AS n RETURN name, n": [],
    "MATCH (a:Person {name: 'Zoe'}) WITH a MATCH (a)-[:KNOWS]->(b) RETURN b": [],
    "MATCH (a:Person) WITH a AS b, a.name AS a WHERE b.age = 27 RETURN a, b.age": [("Bob", 27)],
    "MATCH (a:Person {name: 'Ann'})-[k:KNOWS]->(b {name: 'Cid'}) WITH b AS a, a AS b RETURN a.name, b.name": [
        ("Cid", "Ann")
    ],
    # MATCH after WITH
    "MATCH (a:Person {name: 'Ann'}) WITH a MATCH (a)-[:KNOWS]->(b) RETURN b.name": [("Bob",), ("Bob",), ("Cid",)],
    "MATCH (a:Person {name: 'Ann'})-[:KNOWS]->(b) WITH b MATCH (b)-[:LIVES_IN]->(t) RETURN b.name, t.name": [
        ("Bob", "Oslo"), ("Bob", "Oslo"), ("Cid", "Rome")
    ],
    "MATCH (a:Person) WITH a ORDER BY a.age LIMIT 2 MATCH (a)-[:LIVES_IN]->(t) RETURN a.name": [("Bob",)],
    "MATCH (t:Town) WITH t MATCH (a:Person) RETURN count(*)": [(10,)],
    "MATCH (t:Town) WITH 1 AS one MATCH (a:Person {age: 27}) RETURN one, a.name": [(1, "Bob"), (1, "Bob")],
    "WITH 30 AS least MATCH (a:Person) WHERE a.age > least RETURN a.name, a.age - least": [("Ann", 4), ("Cid", 11)],
    "WITH 'Bob' AS name MATCH (a:Person {name: name}) RETURN a.age": [(27,)],
    "MATCH (a:Person) WITH max(a.age) AS most MATCH (b:Person {age: most})-[:KNOWS]->(c) RETURN b.name, c.name": [
        ("Cid", "Ann")
    ],
    "MATCH (a:Person)-[k:KNOWS {since: 2012}]->() WITH k MATCH (x)-[k]->(y) RETURN x.name, y.name": [("Ann", "Cid")],
    "MATCH (a:Person)-[k:KNOWS {since: 2012}]->() WITH k MATCH (x)-[k]-(y) RETURN x.name": [("Ann",), ("Cid",)],
    "MATCH (a:Person)-[k:KNOWS {since: 2012}]->(b) WITH k, b MATCH (b)-[k]->(y) RETURN y.name": [],
    "MATCH p = (:Person {name: 'Bob'})-[:KNOWS]->(b) WITH p, b MATCH (b)-[:KNOWS]->(c) RETURN length(p), c.name": [
        (1, "Ann")
    ],
    "MATCH (a:Person)-[:KNOWS]->(b) WITH a, collect(b)[0] AS b WHERE a.name = 'Bob' MATCH (b)-[:LIVES_IN]->(t) "
    "RETURN b.name, t.name": [("Cid", "Rome")],
    "MATCH (a:Person)-[:KNOWS]->(b) WITH a, b MATCH (a)-[:KNOWS]->(b) RETURN count(*)": [(8,)],
    "MATCH (a:Person {name: 'Dee'})-[:KNOWS]->(b) WITH a, b MATCH (b)-[:KNOWS]->(a) RETURN a.name, b.name": [
        ("Dee", "Dee")
    ],
    "MATCH (n) WITH n.x AS x, n WHERE n.name IN ['Oslo', 'Bob'] MATCH (m {x: x}) RETURN x, m.name": [
        (2, "Bob"), ("a", "Oslo")
    ],
    "MATCH (n) WITH n MATCH (n:Town)<-[:LIVES_IN]-(a) RETURN a.name": [("Ann",), ("Bob",), ("Cid",)],
    "MATCH (a:Person) WITH a.born AS born, a WHERE born IS NOT NULL WITH min(born) AS first "
    "MATCH (b:Person) WHERE b.born = first RETURN b.name, first": [("Cid", datetime.date(1983, 5, 6))],
    # OPTIONAL MATCH
    "OPTIONAL MATCH (a:Person {name: 'Zoe'}) RETURN a, a.name": [(None, None)],
    "OPTIONAL MATCH (a:Town) RETURN a.name": [("Oslo",), ("Rome",)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:LIVES_IN]->(t) RETURN a.name, t.name": [
        ("Ann", "Oslo"), ("Bob", "Oslo"), ("Cid", "Rome"), ("Dee", None), ("Eve", None)
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:LIVES_IN]->(t) MATCH (t)<-[:LIVES_IN]-(b) RETURN a.name, b.name": [
        ("Ann", "Ann"), ("Ann", "Bob"), ("Bob", "Ann"), ("Bob", "Bob"), ("Cid", "Cid")
    ],
    "MATCH (a:Person {name: 'Eve'}) OPTIONAL MATCH (a)-[:LIVES_IN]->(t) OPTIONAL MATCH (t)<-[:LIVES_IN]-(b) "
    "RETURN a.name, t, b": [("Eve", None, None)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[k:KNOWS]->(b) WHERE b.age > a.age RETURN a.name, k.since, b.name": [
        ("Ann", 2012, "Cid"), ("Bob", 2015, "Cid"), ("Cid", None, None), ("Dee", None, None), ("Eve", None, None)
    ],
    "MATCH (a:Person) WITH a, 40 AS least OPTIONAL MATCH (a)-[:KNOWS]->(b) WHERE b.age > least RETURN a.name, b.name": [
        ("Ann", "Cid"), ("Bob", "Cid"), ("Cid", None), ("Dee", None), ("Eve", None)
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->(b) WITH a, count(b) AS n RETURN a.name, n": [
        ("Ann", 3), ("Bob", 1), ("Cid", 1), ("Dee", 1), ("Eve", 0)
    ],
    "MATCH (a:Person {name: 'Eve'}) OPTIONAL MATCH p = (a)-[:KNOWS]->() RETURN p, length(p)": [(None, None)],
    "MATCH (a:Person) OPTIONAL MATCH p = (a)-[:LIVES_IN]->() RETURN a.name, p IS NULL": [
        ("Ann", False), ("Bob", False), ("Cid", False), ("Dee", True), ("Eve", True)
    ],
    "MATCH (a:Person) OPTIONAL MATCH p = (a)-[:LIVES_IN]->() RETURN count(p), count(*)": [(3, 5)],
    "MATCH (a:Person) OPTIONAL MATCH p = (a)-[:LIVES_IN]->(), (c:Town) RETURN count(p), count(*)": [(6, 8)],
    "MATCH (a:Person {name: 'Ann'}) OPTIONAL MATCH (a)-[:LIVES_IN]->(t) OPTIONAL MATCH (a)-[:KNOWS]->(b) "
    "RETURN t.name, count(*), collect(DISTINCT b.name)": [("Oslo", 3, ["Bob", "Cid"])],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:LIVES_IN]->(t) WITH t, count(*) AS n RETURN t.name, n": [
        ("Oslo", 2), ("Rome", 1), (None, 2)
    ],
    "MATCH (a:Person {name: 'Eve'}) OPTIONAL MATCH (a)-[:LIVES_IN]->(t) WITH t MATCH (t) RETURN t": [],
    # patterns as conditions on rows
    "MATCH (a:Person) WITH a WHERE NOT (a)-[:LIVES_IN]->() RETURN a.name": [("Dee",), ("Eve",)],
    "MATCH (a:Person) WITH a, 40 AS least WHERE EXISTS { (a)-[:KNOWS]->(b) WHERE b.age > least } RETURN a.name": [
        ("Ann",), ("Bob",)
    ],
    "OPTIONAL MATCH (a:Person {name: 'Zoe'}) WITH a WHERE NOT (a)-[:KNOWS]->() RETURN a": [(None,)],
    "MATCH (a:Person) WITH a, a.age AS age MATCH (t:Town) WHERE (a)-[:LIVES_IN]->(t) AND age > 30 "
    "RETURN a.name, t.name": [("Ann", "Oslo"), ("Cid", "Rome")],
}  # fmt: skip


@pytest.mark.parametrize("text", ROWS)
def test_rows(text: str) -> None:
    assert bag(text) == Counter(ROWS[text]) if not _has_lists(ROWS[text]) else ask(text) == ROWS[text]


def _has_lists(rows: Rows) -> bool:
    return any(isinstance(value, list) for row in rows for value in row)


@pytest.mark.parametrize("text", ROWS)
def test_rows_under_a_memory_limit(text: str) -> None:
    """Where statements spill, in an instance of their own."""
    found = graph().query(text, memory_limit="64MB").rows()
    assert sorted(map(repr, found)) == sorted(map(repr, graph().query(text).rows()))


def test_collected_nodes() -> None:
    ((name, friends),) = ask(
        "MATCH (a:Person {name: 'Ann'})-[:KNOWS]->(b) WITH a, b ORDER BY b.name WITH a, collect(b) AS friends "
        "RETURN a.name, friends"
    )
    assert isinstance(friends, list)
    assert (name, [friend.properties["name"] for friend in friends]) == ("Ann", ["Bob", "Bob", "Cid"])


@pytest.mark.parametrize(
    ("rest", "sorts"),
    [
        ("MATCH (b)-[:KNOWS]->(c) RETURN count(*), max(c.age)", False),
        ("WITH b WHERE b.name > 'A' CALL (b) { MATCH (b)-->(c) RETURN c LIMIT 1 } RETURN sum(id(c))", False),
        ("MATCH (b)-[:KNOWS]->(c) WITH count(*) AS n RETURN n", False),
        ("MATCH (b)-[:KNOWS]->(c) RETURN c.name", True),
        ("MATCH (b)-[:KNOWS]->(c) RETURN c.name, count(*)", True),
        ("MATCH (b)-[:KNOWS]->(c) RETURN DISTINCT c.name", True),
        ("RETURN collect(b.name)", True),
        ("RETURN collect(DISTINCT b.name)", True),
        ("WITH b LIMIT 2 RETURN count(*), min(b.name)", True),
        ("CALL (b) { MATCH (b)-->(c) RETURN c } WITH c SKIP 1 RETURN count(c)", True),
    ],
)
@pytest.mark.parametrize("cut", ["", " LIMIT 2"])
def test_only_an_order_that_may_be_seen_is_sorted_for(rest: str, sorts: bool, cut: str) -> None:
    plan = graph().explain(f"MATCH (a:Person)-[:KNOWS]->(b) WITH a, b ORDER BY a.name DESC{cut} {rest}")
    assert ("ORDER BY" in plan) == (sorts or bool(cut))


def test_random_values_are_what_the_condition_saw() -> None:
    rows = ask("MATCH (a:Person) MATCH (b:Person) WITH rand() AS r WHERE r < 0.5 RETURN r")
    assert all(value < 0.5 for (value,) in rows)  # type: ignore[operator]


def test_a_limit_between_clauses_stops_the_matching() -> None:
    text = "MATCH (a:Person), (b:Person), (c:Person), (d:Person) WITH a LIMIT $most MATCH (a)-[:KNOWS]->(e) RETURN e"
    assert len(ask(text.replace("RETURN e", "RETURN count(*)"), most=3)) == 1
    plan = graph().explain(text, {"most": 3})
    assert "Stop after 3 matches" in plan
    plan = graph().explain("MATCH (a:Person) WITH DISTINCT a MATCH (a)-[:KNOWS]->(b) RETURN a, b LIMIT 4")
    assert "Stop after 4 matches" in plan
    assert len(ask("MATCH (a:Person) WITH DISTINCT a MATCH (a)-[:KNOWS]->(b) RETURN a, b LIMIT 4")) == 4


def test_kept_rows_count_against_the_memory_limit() -> None:
    text = "MATCH (a:Person), (b:Person), (c:Person), (d:Person), (e:Person), (f:Person), (g:Person) "
    text += "WITH a, b, c, d, e, f, g AS h MATCH (a)-[:KNOWS]->(x) "
    text += "RETURN x.name, b.name, c.name, d.name, e.name, f.name, h.name"
    with pytest.raises(gquery.MemoryLimitError, match="what a clause hands on to the next"):
        for _ in graph().query(text, memory_limit="1MB").reader():
            pass


@pytest.mark.parametrize("way", ["-[:KNOWS]->*", "-[:KNOWS*2..3]-"])
def test_a_search_gives_back_what_it_took_itself(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    def release(self: Budget, size: int) -> None:
        released(self, size)
        left.append(self.used)

    released = Budget.release
    monkeypatch.setattr(Budget, "release", release)
    ask(f"MATCH p = (a:Person){way}(b) WITH a, b, length(p) AS n MATCH (b)-[:KNOWS]->(c) RETURN n, c.name")
    assert left[-1] == min(left) == 0


@pytest.mark.parametrize(
    "clause", ["MATCH (x:Person), (y:Person), (z:Person)", "OPTIONAL MATCH (x:Person)-[:KNOWS]-(y)"]
)
def test_a_timeout_holds_in_every_segment(clause: str) -> None:
    people = {"id": list(range(400)), "name": [f"p{i}" for i in range(400)]}
    knows = {
        "source": [i for i in range(400) for _ in range(50)],
        "target": [(i * 7 + j) % 400 for i in range(400) for j in range(50)],
    }
    large = gquery.from_arrow(vertices={"Person": people}, edges={("Person", "KNOWS", "Person"): knows})
    text = f"MATCH (a:Person)-[:KNOWS]->(b) WITH a, b.name AS b {clause} WHERE x.name + b <> y.name RETURN a, b, x, y"
    with pytest.raises(gquery.QueryTimeout):
        for _ in large.query(text, timeout=0.5).reader():
            pass


def test_a_chain_is_cancelled_between_batches() -> None:
    result = graph().query("MATCH (a:Person) WITH a MATCH (b:Person) WITH a, b MATCH (c:Person) RETURN a, b, c")
    batches = result.batches()
    next(batches)
    result.cancel()
    with pytest.raises(gquery.QueryCancelled):
        list(batches)


def test_a_profile_shows_rows_by_segment() -> None:
    text = (
        "MATCH (a:Person)-[:KNOWS]->(b) WITH b, count(*) AS n OPTIONAL MATCH (b)-[:LIVES_IN]->(t) RETURN b.name, t.name"
    )
    headings = [line.split("  [")[-1] for line in graph().profile(text).splitlines() if not line.startswith((" ", "T"))]
    assert headings == ["4 rows]", "4 rows]", "4 rows]", "4 rows]"]

"""Subqueries and UNION: what rows they give beside the rows that they are asked for."""

from __future__ import annotations

import pytest

import gquery

PEOPLE = {
    "Person": {
        "id": [1, 2, 3, 4, 5],
        "name": ["Ann", "Bob", "Cid", "Dee", "Eve"],
        "age": [34, 27, 41, None, 30],
    },
    "City": {"id": [1, 2], "name": ["Oslo", "Bergen"]},
}
EDGES = {
    ("Person", "KNOWS", "Person"): {"source": [1, 1, 2, 3, 3, 4, 2], "target": [2, 2, 3, 1, 4, 4, 5]},
    ("Person", "LIVES_IN", "City"): {"source": [1, 2, 3, 5], "target": [1, 1, 2, 2]},
}
CASES = {
    "RETURN 1 AS x UNION RETURN 2 AS x UNION RETURN 1 AS x": [(1,), (2,)],
    "RETURN 1 AS x UNION ALL RETURN 'a' AS x UNION ALL RETURN null AS x": [(1,), ("a",), (None,)],
    "RETURN 1 AS `a b` UNION WITH 2 AS `a b` RETURN `a b`": [(1,), (2,)],
    "CALL { MATCH (`a b`:City) RETURN `a b` } RETURN `a b`.name AS x": [("Oslo",), ("Bergen",)],
    "MATCH (a:Person) WHERE a.age > 30 RETURN a.name AS n UNION MATCH (c:City) RETURN c.name AS n": [
        ("Ann",), ("Cid",), ("Oslo",), ("Bergen",),
    ],
    "RETURN COUNT { MATCH (a)-->(b) } AS n, EXISTS { (:City)-->() } AS e": [(11, False)],
    "MATCH (a:Person) RETURN a.name, COUNT { (a)-[:KNOWS]->() } AS n": [
        ("Ann", 2), ("Bob", 2), ("Cid", 2), ("Dee", 1), ("Eve", 0),
    ],
    "MATCH (a:Person) RETURN a.name, [(a)-[:KNOWS]->(b) WHERE b.age > 30 | b.name] AS l": [
        ("Ann", []), ("Bob", ["Cid"]), ("Cid", ["Ann"]), ("Dee", []), ("Eve", []),
    ],
    "MATCH (a:Person) RETURN a.name, COLLECT { MATCH (a)-->(b) RETURN b.name ORDER BY b.name DESC LIMIT 1 } AS l": [
        ("Ann", ["Oslo"]), ("Bob", ["Oslo"]), ("Cid", ["Dee"]), ("Dee", ["Dee"]), ("Eve", ["Bergen"]),
    ],
    "MATCH (a:Person) WHERE exists((a)-[:KNOWS]->(a)) OR NOT exists((a)-[:KNOWS]->()) RETURN a.name": [
        ("Dee",), ("Eve",),
    ],
    "MATCH (a:Person) WHERE exists(a.age) RETURN a.name, exists((a)-[:LIVES_IN]->()) AS lives": [
        ("Ann", True), ("Bob", True), ("Cid", True), ("Eve", True),
    ],
    "MATCH (a:Person) WHERE a.age > 35 OR (a)-[:LIVES_IN]->(:City {name: 'Bergen'}) RETURN a.name": [
        ("Cid",), ("Eve",),
    ],
    "MATCH (a:Person) WHERE NOT (a.age > 35 OR (a)-[:KNOWS]->(a)) RETURN a.name": [("Ann",), ("Bob",), ("Eve",)],
    # The mode of a MATCH is that of the patterns in its WHERE, wherever they stand there.
    "MATCH DIFFERENT NODES (a:Person) WHERE a.age > 99 OR (a)-[:KNOWS]->(:Person {name: 'Dee'}) RETURN a.name": [
        ("Cid",),
    ],
    "MATCH REPEATABLE ELEMENTS (a) WHERE a.age > 99 OR (a)-[:KNOWS]->(a)-[:KNOWS]->(a) RETURN a.name": [("Dee",)],
    "MATCH REPEATABLE ELEMENTS (a) WHERE COUNT { (a)-[:KNOWS]->(a)-[:KNOWS]->(a) } = 1 RETURN a.name": [("Dee",)],
    "MATCH REPEATABLE ELEMENTS (a:Person) WITH a WHERE a.age > 99 OR (a)-[:KNOWS]->(a)-[:KNOWS]->(a) RETURN a.name": [],
    # The WHERE of a WITH sees what the WITH drops.
    "MATCH (a:Person)-[:KNOWS]->(b) WITH a WHERE NOT (b)-[:KNOWS]->() RETURN a.name": [("Bob",)],
    "MATCH (a)-[:KNOWS]->(b) WITH a.name AS n WHERE EXISTS { (b)-->(:City {name: 'Bergen'}) } = true RETURN n": [
        ("Bob",), ("Bob",),
    ],
    "MATCH (a)-[:KNOWS]->(b) WITH a.name AS n, COUNT { MATCH (a) RETURN count(*) AS k } AS k"
    " WHERE EXISTS { (b)-->(:City {name: 'Bergen'}) } = true RETURN n, k": [("Bob", 1), ("Bob", 1)],
    "MATCH (a)-[:KNOWS]->(b) WITH b AS a, a.name AS n WHERE (a)-->(:City {name: 'Bergen'}) RETURN n": [
        ("Bob",), ("Bob",),
    ],
    "MATCH (a)-[:KNOWS]->(b) WITH a.name AS n ORDER BY n, b.name LIMIT 3 WHERE (b)-->(:City {name: 'Oslo'}) RETURN n": [
        ("Ann",), ("Ann",),
    ],
    # An aggregate has a row where there is nothing, too; a condition on it is asked there as well.
    "MATCH (a:Person) CALL (a) { MATCH (a)-[:KNOWS]->(b) RETURN count(*) AS n, max(b.age) AS m } RETURN a.name, n, m": [
        ("Ann", 2, 27), ("Bob", 2, 41), ("Cid", 2, 34), ("Dee", 1, None), ("Eve", 0, None),
    ],
    "MATCH (a:Person) CALL (a) { MATCH (a)-[:KNOWS]->(b) WITH count(b) AS n WHERE n <> 2 RETURN n } RETURN a.name, n": [
        ("Dee", 1), ("Eve", 0),
    ],
    # SKIP and LIMIT are counted for each row.
    "MATCH (a:Person) CALL { WITH a MATCH (a)-[:KNOWS]->(b) RETURN b.name AS x ORDER BY x SKIP 1 } RETURN a.name, x": [
        ("Ann", "Bob"), ("Bob", "Eve"), ("Cid", "Dee"),
    ],
    "OPTIONAL CALL () { UNWIND [] AS x RETURN date('2024-03-23') AS d, 5 AS n } RETURN d, d.year, n": [
        (None, None, None),
    ],
    "MATCH (a:Person) OPTIONAL CALL (a) { MATCH (a)-[:LIVES_IN]->(c) RETURN c.name AS c } RETURN a.name, c": [
        ("Ann", "Oslo"), ("Bob", "Oslo"), ("Cid", "Bergen"), ("Dee", None), ("Eve", "Bergen"),
    ],
    "MATCH (a:Person) CALL { MATCH (c:City) RETURN c } RETURN count(*)": [(10,)],
    # What the rows of each are sorted by may be an error.
    "MATCH (a:Person) CALL (a) { MATCH (a)-->(b) RETURN left(b.name, a.id % 1+1) AS x ORDER BY x LIMIT 1 } RETURN x": [
        ("B",), ("C",), ("A",), ("D",), ("B",)
    ],
    # A branch that counts what has nothing to do with the rows.
    "MATCH (c:City) CALL (c) { MATCH (:Person) RETURN count(*) AS n UNION ALL RETURN c.id AS n } RETURN sum(n)": [
        (13,)
    ],
    "MATCH (a:Person) CALL (a) { MATCH (a)-[:KNOWS]->(b) RETURN b UNION MATCH (a)<-[:KNOWS]-(b) RETURN b }"
    " RETURN a.name, count(b)": [("Ann", 2), ("Bob", 3), ("Cid", 3), ("Dee", 2), ("Eve", 1)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->(b) WHERE b.age > 40 OR (b)-[:KNOWS]->(b) RETURN a.name, b.name": [
        ("Ann", None), ("Bob", "Cid"), ("Cid", "Dee"), ("Dee", "Dee"), ("Eve", None),
    ],
    # A subquery that is asked for each item of a list.
    "MATCH (a:Person) RETURN a.name, any(x IN [(a)-[:KNOWS]->(b) | b] WHERE (x)-[:KNOWS]->(x)) AS l": [
        ("Ann", False), ("Bob", False), ("Cid", True), ("Dee", True), ("Eve", False),
    ],
    "MATCH p = (:Person {name: 'Bob'})-[:KNOWS]->() RETURN [x IN nodes(p) | COUNT { (x)-[:KNOWS]->() }] AS l": [
        ([2, 2],), ([2, 0],),
    ],
    # Patterns as conditions within each other, and in brackets.
    "MATCH (a:Person) WHERE EXISTS { (a)-[:KNOWS]->(b) WHERE NOT (b)-[:KNOWS]->() } RETURN a.name": [("Bob",)],
    "MATCH (a:Person) WHERE NOT EXISTS { (a)-[:KNOWS]->(b WHERE EXISTS { (b)-[:KNOWS]->(c) WHERE (c)-->(c) }) }"
    " RETURN a.name": [("Ann",), ("Eve",)],
    "MATCH (a:Person WHERE EXISTS { (a)-[:KNOWS]->(b) WHERE NOT (b)-[:KNOWS]->() })-[:LIVES_IN]->(c) RETURN c.name": [
        ("Oslo",)
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:KNOWS]->(b WHERE EXISTS { (b)-->(c) WHERE (c)-->(c) })"
    " RETURN a.name, b.name": [
        ("Ann", None), ("Bob", "Cid"), ("Cid", "Dee"), ("Dee", "Dee"), ("Eve", None),
    ],
    "MATCH (a:Person) WHERE EXISTS { MATCH (a) WHERE a.age > 40 } RETURN a.name": [("Cid",)],
    "MATCH (a:Person) WITH a WHERE EXISTS { (a) } AND EXISTS { MATCH p = (a) WHERE length(p) = 0 }"
    " RETURN count(*)": [(5,)],
    "LET x = 1 FILTER x > 0 LET y = x + 1 RETURN x, y": [(1, 2)],
    # Conditions in its brackets, too, may speak of what the clause around has.
    "MATCH (a:Person)-[k]->(c:City) WHERE EXISTS { (a)-[:KNOWS WHERE type(k) <> 'KNOWS']->() } RETURN a.name": [
        ("Ann",), ("Bob",), ("Cid",),
    ],
    "MATCH (a:Person)-[k]->(c:City) WHERE (a)-[:KNOWS]->(:Person WHERE id(k) < 0) RETURN a.name": [],
    "MATCH (a:Person)-[k]->(c:City) MATCH (b:Person WHERE EXISTS { (b)-[k]->() }) RETURN a.name, b.name": [
        ("Ann", "Ann"), ("Bob", "Bob"), ("Cid", "Cid"), ("Eve", "Eve"),
    ],
    "MATCH (a:Person)-[k:LIVES_IN]->() OPTIONAL MATCH (b {name: 'Bob'} WHERE (a)-[k]->({name: 'Oslo'}))"
    " RETURN a.name, b.name": [("Ann", "Bob"), ("Bob", "Bob"), ("Cid", None), ("Eve", None)],
    # Conditions of an OPTIONAL MATCH that speak of relationships around them, or of another OPTIONAL MATCH.
    "MATCH (a:Person)-[k]->(c:City) OPTIONAL MATCH (a)-[:KNOWS]->(b) WHERE EXISTS { (b)-->(:City) WHERE type(k) = 'X' }"
    " RETURN a.name, b.name": [("Ann", None), ("Bob", None), ("Cid", None), ("Eve", None)],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:LIVES_IN]->(b) OPTIONAL MATCH (c {name: 'Eve'}) WHERE (c)-->(b)"
    " RETURN a.name, c.name": [("Ann", None), ("Bob", None), ("Cid", "Eve"), ("Dee", None), ("Eve", "Eve")],
    # Paths that only a condition has.
    "MATCH (a:Person) WITH a WHERE EXISTS { MATCH p = (a)-->(b:City) WHERE nodes(p)[1].name = 'Oslo' } RETURN a.name": [
        ("Ann",), ("Bob",),
    ],
    "MATCH (a:Person) WHERE EXISTS { p = (a)-->(b) WHERE nodes(p)[1].name = 'Dee' } RETURN a.name": [
        ("Cid",), ("Dee",),
    ],
    "MATCH (a:Person) WHERE NOT EXISTS { p = (a)-->(b) WHERE all(n IN nodes(p) WHERE n.age > 0) } RETURN a.name": [
        ("Dee",), ("Eve",),
    ],
    "MATCH (a:Person WHERE EXISTS { p = (a)-->(b) WHERE nodes(p)[1].name = 'Dee' }) RETURN a.name": [
        ("Cid",), ("Dee",),
    ],
    "MATCH (a:Person) OPTIONAL MATCH (a)-[:LIVES_IN]->(c) WHERE EXISTS { p = (c)<--() WHERE nodes(p)[1].name = 'Eve' }"
    " RETURN a.name, c.name": [("Ann", None), ("Bob", None), ("Cid", "Bergen"), ("Dee", None), ("Eve", "Bergen")],
    # The columns of a RETURN have their names in subqueries, too.
    "MATCH (a:Person) RETURN a.name, COUNT { MATCH (a)-[:KNOWS]->(b) RETURN b UNION RETURN a AS b } AS n": [
        ("Ann", 2), ("Bob", 3), ("Cid", 3), ("Dee", 1), ("Eve", 1),
    ],
    "MATCH (a:City) RETURN a.name, COUNT { MATCH (a) RETURN a.name, a.id UNION ALL RETURN a.name, a.id } AS n": [
        ("Oslo", 2), ("Bergen", 2),
    ],
    "MATCH (a:City) RETURN COLLECT { CALL (a) { MATCH (a)<--(b) RETURN b } RETURN b.name ORDER BY b.name } AS l": [
        (["Ann", "Bob"],), (["Cid", "Eve"],),
    ],
    # What is in sight around a subquery is so behind its WITHs.
    "MATCH (a:Person) WHERE EXISTS { WITH 40 AS n MATCH (a)-[:KNOWS]->(b) WHERE b.age > n } RETURN a.name": [("Bob",)],
    "MATCH (a:City) RETURN COUNT { MATCH (b) WITH DISTINCT b.name AS n MATCH (a)<--({name: n}) } AS n": [
        (2,), (2,),
    ],
    "MATCH (a:Person) CALL (a) { MATCH (a)-[:KNOWS]->(b) WITH count(*) AS n WHERE n <> 2 RETURN a.age + n AS x }"
    " RETURN a.name, x": [("Dee", None), ("Eve", 30)],
    "MATCH (a:City) RETURN COUNT { WITH 1 AS x RETURN x UNION ALL WITH 1 AS x MATCH (a)<--() RETURN x } AS n": [
        (3,), (3,),
    ],
    "MATCH (a:City) CALL { WITH a WITH a.name AS n MATCH (a:Person) RETURN a.name AS x } RETURN DISTINCT x": [
        ("Ann",), ("Bob",), ("Cid",), ("Dee",), ("Eve",),
    ],
    # A branch that has no rows, by the labels, says nothing of what the nodes of the others are.
    "CALL { MATCH (a:Person) RETURN a UNION MATCH (a:Person&City) RETURN a } MATCH (a)-[:LIVES_IN]->(c)"
    " RETURN a.name, c.name": [("Ann", "Oslo"), ("Bob", "Oslo"), ("Cid", "Bergen"), ("Eve", "Bergen")],
    "MATCH (a:City)((b:City)<--(c:City&Person)){0,1}(a) RETURN a.name, COUNT { (a)<--() } AS n": [
        ("Oslo", 2), ("Bergen", 2),
    ],
}  # fmt: skip


@pytest.mark.parametrize("query", CASES)
def test_rows(query: str, device: str) -> None:
    graph = gquery.from_arrow(vertices=PEOPLE, edges=EDGES).with_settings(device=device)
    found = [tuple(row) for row in graph.query(query).rows()]
    assert sorted(found, key=repr) == sorted(CASES[query], key=repr)


def test_what_a_subquery_does_not_share_with_a_row_is_multiplied() -> None:
    edges = {("P", "K", "P"): {"source": [1], "target": [2]}}
    graph = gquery.from_arrow(vertices={"P": {"id": [1, 2, 3]}}, edges=edges)

    def counted(inner: str) -> list[tuple[object, ...]]:
        rows = graph.query(f"MATCH (a) CALL (a) {{ {inner} }} RETURN id, count(*)").rows()
        return sorted(tuple(row) for row in rows)

    pairs = "MATCH (), () RETURN a.id AS id"
    assert counted(pairs) == [(1, 9), (2, 9), (3, 9)]
    assert counted(f"{pairs} UNION ALL UNWIND [1, 2] AS x RETURN a.id AS id") == [(1, 11), (2, 11), (3, 11)]


def test_a_condition_that_is_matched_apart_keeps_the_rows_of_a_subquery_apart() -> None:
    edges = {("A", "T", "B"): {"source": [4], "target": ["0"]}}
    graph = gquery.from_arrow(vertices={"A": {"id": [4]}, "B": {"id": ["0"]}}, edges=edges)
    text = """
        MATCH (a) OPTIONAL MATCH (a)
        WHERE EXISTS { MATCH (a)-[r]-(b WHERE $p <> 3) } AND EXISTS { MATCH REPEATABLE ELEMENTS (a) }
        RETURN max(-1) AS c
    """
    assert graph.query(text, {"p": 1}).rows() == [(-1,)]

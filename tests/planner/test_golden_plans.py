"""Plans over a graph that never changes, held in `plans/*.txt`. GQUERY_GOLDEN=write writes the files anew."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from gquery import Graph
from tests.planner.town import town

PLANS = Path(__file__).with_name("plans")
QUERIES = {
    "triangle": "MATCH (a:Person)-[:KNOWS]-(b:Person)-[:KNOWS]-(c:Person)-[:KNOWS]-(a) RETURN count(*)",
    "label_expression": "MATCH (p:Person WHERE p.age > 60)-[:LIVES_IN|WORKS_AT]->(x:City|Company) RETURN p.name",
    "two_hops": "MATCH (a:Person {name: 'person 3'})-[:KNOWS]->(b)-[:KNOWS]->(c) WHERE c.age < b.age RETURN c.name",
    "parallel_edges": "MATCH (a:Person)-[x:CALLED]->(b:Person)<-[y:CALLED]-(a) RETURN a.name, x.minutes, y.minutes",
    "two_clauses": """
        MATCH (a:Person)-[:KNOWS]-(b:Person)
        MATCH (a)-[:LIVES_IN]->(c:City)<-[:LIVES_IN]-(b)
        RETURN a.name, b.name, c.name""",
    "induced": "MATCH INDUCED (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person) RETURN a.name, c.name",
    "limit": "MATCH (a)-[:KNOWS]->(b)-[:CALLED]->(c)-[:KNOWS]->(d) RETURN a.name, d.name SKIP 5 LIMIT 10",
    "grouped": """
        MATCH (p:Person)-[:WORKS_AT]->(k:Company)-[:BASED_IN]->(c:City)
        RETURN c.name AS city, count(*) AS people, avg(p.age) AS age ORDER BY people DESC, city LIMIT 3""",
    "count": "MATCH (a:Person)-[:LIVES_IN]->(:City)<-[:LIVES_IN]-(b:Person) WHERE a.age < b.age RETURN count(*)",
    "equal_values": """
        MATCH (a:Person)-[:WORKS_AT]->(k:Company), (b:Person)-[:WORKS_AT]->(k), (c:Person)
        WHERE a.age = c.age AND a.age < b.age AND a.name <> c.name RETURN k.name, count(*)""",
    "residual": "MATCH (a:Person)-[k:KNOWS]->(b:Person) WHERE a.age + b.age > k.since - 1950 RETURN a.name LIMIT 4",
    "six_vertices": """
        MATCH (a:Person)-[:KNOWS]->(b:Person)-[:KNOWS]->(c:Person)<-[:KNOWS]-(a),
              (a)-[:LIVES_IN]->(x:City), (b)-[:WORKS_AT]->(y:Company)-[:BASED_IN]->(z:City)
        WHERE x <> z RETURN count(*)""",
    "chain": """
        MATCH (a:Person)-[:KNOWS]->(b:Person) WITH b, count(*) AS known WHERE known > 2
        MATCH (b)-[:LIVES_IN]->(c:City) OPTIONAL MATCH (b)-[:CALLED]->(d) WHERE d.age < known
        RETURN c.name, known, d.name""",
    "unwind": "UNWIND ['person 3', 'person 4'] AS name MATCH (a:Person {name: name})-[:KNOWS]->(b) RETURN b.name",
    "chain_of_counts": """
        MATCH (a:Person) OPTIONAL MATCH (a)-[:CALLED]->(b) WITH a, count(b) AS calls
        MATCH (a)-[:KNOWS]->() RETURN calls, count(*) AS known ORDER BY calls""",
    "chain_of_products": """
        MATCH (a:Person)-[:KNOWS]->(b) WITH a, b WHERE a.age > 30 MATCH (b)-[:LIVES_IN]->(c) WITH c, a.age AS age
        MATCH (x:Company) RETURN c.name, count(x)""",
    "chain_of_conditions": """
        MATCH (a:Person)-[:LIVES_IN]->(c) WITH c, max(a.age) AS oldest WHERE (c)<-[:BASED_IN]-()
        MATCH (c)<-[:LIVES_IN]-(a:Person {age: oldest}) RETURN a.name, c.name""",
    "lengths_counted": "MATCH (a:Person)-[:KNOWS*1..2]->(b) RETURN count(*)",
    "lengths_swept": "MATCH (a:Person {name: 'person 3'})-[:KNOWS*1..3]->(b) RETURN DISTINCT b.name",
    "lengths_listed": """
        MATCH (a:Person {name: 'person 15'})-[r:KNOWS*2.. WHERE r.since > 2012]->(b:Person)-[:LIVES_IN]->(c)
        RETURN r, c.name LIMIT 3""",
    "shortest_paths": """
        MATCH (a:Person {name: 'person 3'}), (b:Person {name: 'person 9'}), p = ALL SHORTEST (a)-[:KNOWS]-+(b)
        RETURN length(p)""",
}  # fmt: skip


@cache
def graph() -> Graph:
    return town()


@pytest.mark.parametrize("name", QUERIES)
def test_golden_plan(name: str) -> None:
    found = f"{_text(name)}\n\n{graph().explain(QUERIES[name])}\n"
    file = PLANS / f"{name}.txt"
    if os.environ.get("GQUERY_GOLDEN") == "write":
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", QUERIES)
def test_the_planned_queries_run(name: str) -> None:
    """A plan that the run makes from true cardinalities is verified too, and the answer does not depend on it."""
    answer = graph().query(QUERIES[name]).to_arrow()
    again = graph().with_settings(threads=1).query(QUERIES[name]).to_arrow()
    assert answer.num_rows == again.num_rows > 0


def test_no_plan_is_left_over() -> None:
    assert {file.stem for file in PLANS.iterdir()} == set(QUERIES)


def _text(name: str) -> str:
    return "\n".join(line.strip() for line in QUERIES[name].strip().splitlines())

"""Pairs that others join are listed once, with the number of ways between them, and without what lies between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

import gquery

PATTERNS = {
    "common neighbours": "(a:A)-[:P]->(b:A)<-[:P]-(c:A)",
    "whom friends know": "(a:A)-[:P]->(b:A)-[:P]->(c:A)",
    "either way": "(a:A)-[:P]-(b:A)-[:P]-(c:A)",
    "of two labels": "(a:A)-[:P]->(b:A)-[:S]->(c:B)",
    "of any label": "(a)-->(b)-->(c)",
    "three steps": "(a:A)-[:S]->(b:B)<-[:S]-(d:A)-[:P]->(c:A)",
    "two ways": "(a:A)-[:P]->(b:A)<-[:P]-(c:A), (a)-[:S]->(d:B)<-[:S]-(c)",
    "others than the ends": "(a:A)-[:P]->(b:A)<-[:P]-(c:A) WHERE a <> c AND a.x <= c.x",
    "each pair once": "(a:A)-[:P]->(b:A)<-[:P]-(c:A) WHERE a.id < c.id",
    "strangers": "(a:A)-[:P]->(b:A)-[:P]->(c:A) WHERE a <> c AND NOT (a)-[:P]->(c)",
    "one of a few": "(a:A)-[:P]->(b:A)<-[:P]-(c:A) WHERE b.x = 1 AND a.x = 2",
}
MODES = ["DIFFERENT EDGES", "DIFFERENT NODES", "REPEATABLE ELEMENTS"]
MULTIGRAPH = "MATCH REPEATABLE ELEMENTS (a)-[:P]->(b)-[:P]->(c), (a)-[:P]->(d)-[:P]->(c) RETURN count(*)"


def edges_of(ends: Iterable[tuple[int, int]]) -> dict[str, list[int]]:
    sources, targets = zip(*ends, strict=True)
    return {"source": list(sources), "target": list(targets)}


def random_graph(random: Random, size: int = 14, edges: int = 50) -> gquery.Graph:
    """P has parallel edges and edges that lead back, S has none."""
    ids = list(range(size))
    parallel = edges_of((random.choice(ids), random.choice(ids)) for _ in range(edges))
    simple = edges_of(sorted({(random.choice(ids), 100 + random.choice(ids)) for _ in range(edges)}))
    others = {"id": [100 + each for each in ids]}
    columns = {"id": ids, "x": [random.choice([1, 2, 3, None]) for _ in ids]}
    tables = {("A", "P", "A"): parallel, ("A", "S", "B"): simple}
    return gquery.from_arrow({"A": columns, "B": others}, tables)


def test_there_is_a_plan_for_each() -> None:
    graph = random_graph(Random("plans"), 90, 400)
    for name, pattern in PATTERNS.items():
        assert "Reach (" in graph.explain(f"MATCH {pattern} RETURN a.id, c.id, count(*)"), name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("seed", range(2))
def test_pairs_have_their_numbers(name: str, mode: str, seed: int, device: str) -> None:
    graph = random_graph(Random(f"pairs {seed}"))
    match = f"MATCH {mode} {PATTERNS[name]}"
    ends = "id(a) AS a, id(c) AS c"
    ways = Counter(graph.query(f"{match} RETURN {ends}", device="cpu").rows())
    counted = graph.query(f"{match} RETURN {ends}, count(*) AS n", device=device).rows()
    assert Counter({(a, c): n for a, c, n in counted}) == ways, f"seed {seed}"
    assert len(counted) == len(ways)
    assert Counter(graph.query(f"{match} RETURN DISTINCT {ends}", device=device).rows()) == Counter(ways.keys())
    several = f"{match} WITH a, c, count(*) AS n WHERE n > 1 RETURN id(a), id(c), n * 2"
    found = graph.query(several, device=device).rows()
    assert Counter(found) == Counter((*pair, 2 * n) for pair, n in ways.items() if n > 1)
    most = f"{match} RETURN {ends}, count(*) AS n ORDER BY n DESC, a, c LIMIT 5"
    expected = sorted(((-n, *pair) for pair, n in ways.items()))[:5]
    assert [(-n, a, c) for a, c, n in graph.query(most, device=device).rows()] == expected


def test_values_are_grouped_behind(device: str) -> None:
    graph = random_graph(Random("values"))
    match = "MATCH (a:A)-[:P]->(b:A)<-[:P]-(c:A)"
    ways = Counter(graph.query(f"{match} RETURN a.x AS a, c.x AS c", device="cpu").rows())
    found = graph.query(f"{match} RETURN a.x AS a, c.x AS c, count(*) AS n", device=device).rows()
    assert Counter({(a, c): n for a, c, n in found}) == ways


def test_batches_fill() -> None:
    """More pairs than an output has room for, in the middle of a root's."""
    size = 700
    ends = [(u, v) for u in range(size) for v in (0, 1)]
    graph = gquery.from_arrow({"V": {"id": list(range(size))}}, {("V", "E", "V"): edges_of(ends)})
    text = "MATCH (a)-[:E]->(b)<-[:E]-(c) RETURN a.id AS a, c.id AS c, count(*) AS n"
    found = graph.with_settings(threads=1).query(text).to_arrow()
    assert found.num_rows == size * (size - 1)
    assert set(found["n"].to_pylist()) == {2}
    assert len(set(zip(found["a"].to_pylist(), found["c"].to_pylist(), strict=True))) == found.num_rows


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:A)-[:P]->(b:A)<-[:P]-(c:A) WHERE b.id = 3 RETURN a.id, c.id, count(*)",
        "MATCH (a:A)-[:P]->(b:A)<-[:P]-(c:A) RETURN a.id, c.id, sum(b.x)",
        "MATCH (a:A)-[e:P]->(b:A)<-[:P]-(c:A) RETURN a.id, c.id, max(e.w)",
        "MATCH (a:A)-[:P]->(b:A)<-[:P]-(c:A) RETURN a.id, c.id",
        "MATCH (a:A)-[:P]->(b:A)-[:P]->(c:A), (b)-[:S]->(d:B) RETURN a.id, c.id, count(*)",
    ],
)
def test_what_else_is_asked_is_listed(text: str) -> None:
    ids = list(range(5))
    ends = edges_of([(u, v) for u in ids for v in ids])
    tables = {("A", "P", "A"): {**ends, "w": [0] * 25}, ("A", "S", "B"): ends}
    graph = gquery.from_arrow({"A": {"id": ids, "x": ids}, "B": {"id": ids}}, tables)
    assert "Reach" not in graph.explain(text)


def test_memory_for_counters_is_not_taken_from_who_limits_it() -> None:
    graph = random_graph(Random("limit"))
    text = "MATCH (a:A)-[:P]->(b:A)<-[:P]-(c:A) RETURN a.id AS a, c.id AS c, count(*) AS n"
    limited = graph.with_settings(memory_limit="64MB")
    assert "Reach" not in limited.explain(text)
    assert Counter(limited.query(text).rows()) == Counter(graph.query(text).rows())


def test_sums_without_room_for_counters_mind_parallel_edges() -> None:
    """What is pushed comes to a vertex once for each data edge; what is intersected instead must not."""
    random = Random("room")
    ends = [(random.randrange(3000), random.randrange(3000)) for _ in range(15_000)]
    edges = edges_of([*ends, *ends[:5_000]])
    graph = gquery.from_arrow({"V": {"id": list(range(3000))}}, {("V", "P", "V"): edges})
    assert "pushed from each" in graph.explain(MULTIGRAPH)
    expected = graph.query(MULTIGRAPH).scalar()
    for limit in ("130kB", "200kB", "1MB"):
        assert graph.with_settings(memory_limit=limit, threads=2).query(MULTIGRAPH).scalar() == expected, limit

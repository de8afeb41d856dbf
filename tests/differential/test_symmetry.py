"""Lists of patterns that look like themselves: found once for every class, and permuted back."""

from __future__ import annotations

import itertools
from collections import Counter
from random import Random

import pytest

import gquery
from gquery.executor.expansion import expand
from gquery.planner.search.alike import symmetry

MODES = ("DIFFERENT EDGES", "DIFFERENT NODES", "REPEATABLE ELEMENTS", "INDUCED")
PATTERNS = {
    "edge": "(a)-[:E]-(b)",
    "path": "(a)-[:E]-(b)-[:E]-(c)",
    "long path": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(d)",
    "triangle": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(a)",
    "cycle": "(a)-[:E]->(b)-[:E]->(c)-[:E]->(a)",
    "square": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(d)-[:E]-(a)",
    "clique": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(d)-[:E]-(a), (a)-[:E]-(c), (b)-[:E]-(d)",
    "star": "(a)-[:E]-(b), (a)-[:E]-(c), (a)-[:E]-(d), (a)-[:E]-(e)",
    "labelled star": "(a)-[:E]-(b:L), (a)-[:E]-(c:L), (a)-[:E]-(d), (a)-[:E]-(e)",
    "two edges": "(a)-[:E]-(b), (c)-[:E]-(d)",
    "bow tie": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(a), (c)-[:E]-(d)-[:E]-(e)-[:E]-(c)",
    "house": "(a)-[:E]-(b)-[:E]-(c)-[:E]-(d)-[:E]-(a), (a)-[:F]-(e)-[:F]-(b)",
}
CONDITIONS = (" WHERE a.x > 1 AND b.x > 1", " WHERE a.x > 1", " WHERE a.x < b.x", " WHERE a.x + b.x > 2")
RETURNS = (
    "id(a) AS a, id(b) AS b",
    "a.x AS x, id(b) AS b, count(*) AS n",
    "id(b) AS b, count(*) AS n",
    "DISTINCT id(a) AS a",
)


def random_graph(random: Random, simple: bool) -> gquery.Graph:
    n = 9
    pairs = [(u, v) for u in range(n) for v in range(n) if (u < v or not simple)]
    ends = random.sample(pairs, 22) if simple else random.choices(pairs, k=22)
    labelled = n // 2
    vertices = {"K": {"id": list(range(labelled)), "x": [v % 4 for v in range(labelled)]}}
    vertices["L"] = {"id": list(range(labelled, n)), "x": [v % 4 for v in range(labelled, n)]}
    edges: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for number, (u, v) in enumerate(ends):
        type_ = "EF"[number % 5 == 0]
        key = ("KL"[u >= labelled], type_, "KL"[v >= labelled])
        table = edges.setdefault(key, {"source": [], "target": []})
        table["source"].append(u)
        table["target"].append(v)
    return gquery.from_arrow(vertices=vertices, edges=edges)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PATTERNS)
def test_every_match_comes_once(name: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"symmetry {name} {seed}")
    graph = random_graph(random, simple=seed % 2 == 0)
    everything = ", ".join(f"id({vertex}) AS {vertex}" for vertex in "abcde" if f"({vertex}" in PATTERNS[name])
    space = random.choice(["vertices", "candidates"])
    monkeypatch.setattr("gquery.planner.search.second_half.pick_space", lambda *_: (space, "the test says so"))
    monkeypatch.setattr(expand, "PIECE", random.choice([1, 7, 1 << 15]))
    for mode in MODES:
        for condition in ("", *random.sample(CONDITIONS, 1)):
            for returned in (everything, *random.sample(RETURNS, 1)):
                text = f"MATCH {mode} {PATTERNS[name]}{condition} RETURN {returned}"
                rows = Counter(tuple(row) for row in graph.query(text, device=device).rows())
                with monkeypatch.context() as patch:
                    patch.setattr(symmetry.Symmetry, "is_trivial", True)
                    fresh = gquery.Graph(graph.snapshot)
                    expected = Counter(tuple(row) for row in fresh.query(text, device=device).rows())
                assert rows == expected, f"seed {seed}, {space}: {text}"


def test_what_is_summed_out_changes_places_too(device: str) -> None:
    source, target = zip(*itertools.combinations(range(7), 2), strict=True)
    edges = {("K", "E", "K"): {"source": source[1:], "target": target[1:]}}
    graph = gquery.from_arrow(vertices={"K": {"id": range(7)}}, edges=edges)
    clique = f"MATCH DIFFERENT NODES {PATTERNS['clique']} RETURN id(a) AS a"
    assert "each match stands for 6" in graph.explain(f"{clique}, count(*) AS n")
    rows = graph.query(clique, device=device).rows()
    assert dict(graph.query(f"{clique}, count(*) AS n", device=device).rows()) == Counter(a for (a,) in rows)
    assert sorted(graph.query(clique.replace("RETURN", "RETURN DISTINCT"), device=device).rows()) == sorted(set(rows))
    assert len(rows) == graph.query(clique.replace("id(a) AS a", "count(*)"), device=device).scalar() > 0


def test_a_limit_takes_any_of_them(device: str) -> None:
    graph = random_graph(Random("limit"), simple=True)
    text = f"MATCH DIFFERENT NODES {PATTERNS['path']} RETURN id(a) AS a, id(b) AS b, id(c) AS c"
    everything = {tuple(row) for row in graph.query(text, device=device).rows()}
    for limit in (1, 2, 5, len(everything), len(everything) + 1):
        some = [tuple(row) for row in graph.query(f"{text} LIMIT {limit}", device=device).rows()]
        assert len(some) == len(set(some)) == min(limit, len(everything))
        assert set(some) <= everything

"""Shortest paths on random multigraphs with loops, against the evaluator: how many of which length there are for each
pair of ends. Which of several paths of one length is given is not said."""

from __future__ import annotations

from random import Random

import pytest

import gquery
from gquery.executor.paths import hops, leading, pairs, sides
from tests.evaluator.answers import answer
from tests.evaluator.values import Edge, Graph, Vertex
from tests.soak.read import read


@pytest.mark.parametrize("seed", range(40))
def test_shortest_paths(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second time in pieces so small that every search is cut, on two threads."""
    random = Random(seed)
    monkeypatch.setattr(leading, "SHARED", (16, 2)[seed // 2 % 2])
    for module, name in ((hops, "AT_ONCE"), (sides, "PIECE"), (pairs, "AT_ONCE"), (pairs, "TASK"), (pairs, "LENGTH")):
        monkeypatch.setattr(module, name, getattr(module, name) if seed % 2 else 1 + (name == "AT_ONCE"))
    count = random.randint(1, 5)
    ends = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(1, 7))]
    graph = gquery.from_arrow(
        vertices={"P": {"id": list(range(count))}},
        edges={("P", "K", "P"): {"source": [one for one, _ in ends], "target": [other for _, other in ends]}},
    ).with_settings(threads=2)
    vertices = tuple(Vertex(number, frozenset({"P"}), {"id": number}) for number in range(count))
    same = Graph(vertices, tuple(Edge("K", vertices[one], vertices[other], {}) for one, other in ends))
    for _ in range(6):
        text = _query(random)
        expected = sorted(row for run in answer(same, read(text)).runs for row in run)
        found = sorted(tuple(row) for row in graph.query(text).rows())
        assert found == expected, f"seed {seed}: {ends}: {text}"


def _query(random: Random) -> str:
    shortest = random.choice(["SHORTEST 1", "SHORTEST 2", "SHORTEST 3", "ALL SHORTEST", "ANY SHORTEST"])
    mode, least = random.choice(["", "TRAIL", "ACYCLIC", "SIMPLE"]), random.choice([0, 1, 1, 2, 3])
    most = random.choice(["", least, least + 1, least + 3])
    left, right = random.choice([("-", "->"), ("<-", "-"), ("-", "-")])
    looked_up = "MATCH (a), (b) WHERE a.id IN [0, 1] AND b.id IN [0, 2, 1] "
    known, end = random.choice(["", "MATCH (a), (b) ", looked_up]), random.choice(["(b)", "(b)", "(a)", "(b {id: 0})"])
    path = f"{shortest} {mode} (a){left}[:K*{least}..{most}]{right}{end}"
    asked = random.choice(["length(p)", "length(p)", "count(*)", "count(DISTINCT a)"])
    return f"{known}MATCH p = {path} RETURN id(a) AS x, id({end[1]}) AS y, {asked} AS n"

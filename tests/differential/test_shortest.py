"""Shortest paths on random multigraphs with loops, against the evaluator: how many of which length there are for each
pair of ends. Which of several paths of one length is given is not said."""

from __future__ import annotations

from random import Random

import pytest

import gquery
from gquery.executor.paths import hops, leading, pairs, sides
from gquery.executor.paths.several import by_length
from tests.evaluator.answers import answer
from tests.evaluator.values import Edge, Graph, Vertex
from tests.soak.read import read


@pytest.mark.parametrize("seed", range(40))
def test_shortest_paths(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second time in pieces so small that every search is cut, on two threads."""
    random = Random(seed)
    monkeypatch.setattr(leading, "SHARED", (16, 2)[seed // 2 % 2])
    monkeypatch.setattr(by_length, "PATIENCE", (1 << 18, 2)[seed // 4 % 2])
    for module, name in ((hops, "AT_ONCE"), (sides, "PIECE"), (pairs, "AT_ONCE"), (pairs, "TASK"), (pairs, "LENGTH")):
        monkeypatch.setattr(module, name, getattr(module, name) if seed % 2 else 1 + (name == "AT_ONCE"))
    count = random.randint(1, 5)
    ends = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(1, 7))]
    graph = _graph(count, ends).with_settings(threads=2)
    vertices = tuple(Vertex(number, frozenset({"P"}), {"id": number}) for number in range(count))
    same = Graph(vertices, tuple(Edge("K", vertices[one], vertices[other], {}) for one, other in ends))
    for _ in range(6):
        text = _query(random)
        expected = sorted(row for run in answer(same, read(text)).runs for row in run)
        found = sorted(tuple(row) for row in graph.query(text).rows())
        assert found == expected, f"seed {seed}: {ends}: {text}"


def _query(random: Random) -> str:
    shortest = random.choice(["SHORTEST 1", "SHORTEST 2", "SHORTEST 3", "SHORTEST 7", "ALL SHORTEST", "ANY SHORTEST"])
    mode, least = random.choice(["", "TRAIL", "ACYCLIC", "SIMPLE"]), random.choice([0, 1, 1, 2, 3])
    most = random.choice(["", least, least + 1, least + 3])
    left, right = random.choice([("-", "->"), ("<-", "-"), ("-", "-")])
    looked_up = "MATCH (a), (b) WHERE a.id IN [0, 1] AND b.id IN [0, 2, 1] "
    known, end = random.choice(["", "MATCH (a), (b) ", looked_up]), random.choice(["(b)", "(b)", "(a)", "(b {id: 0})"])
    path = f"{shortest} {mode} (a){left}[:K*{least}..{most}]{right}{end}"
    asked = random.choice(["length(p)", "length(p)", "count(*)", "count(DISTINCT a)"])
    return f"{known}MATCH p = {path} RETURN id(a) AS x, id({end[1]}) AS y, {asked} AS n"


@pytest.mark.parametrize("seed", range(30))
def test_several_of_each_pair_are_different_paths(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_length, "PATIENCE", (1 << 18, 0, 4)[seed % 3])
    random = Random(seed)
    count = random.randint(2, 6)
    ends = [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(2, 9))]
    graph = _graph(count, ends)
    for mode in ("TRAIL", "ACYCLIC", "SIMPLE"):
        found: dict[tuple[int, int], list[list[int]]] = {}
        asked = "RETURN [n IN nodes(p) | id(n)], [e IN relationships(p) | id(e)]"
        for nodes, edges in graph.query(f"MATCH (a), (b) MATCH p = SHORTEST 9 {mode} (a)-[:K*0..]-(b) {asked}").rows():
            found.setdefault((nodes[0], nodes[-1]), []).append(edges)
            steps = zip(nodes, nodes[1:], edges, strict=False)
            assert all(ends[edge] in ((one, other), (other, one)) for one, other, edge in steps)
            assert len(nodes) == len(edges) + 1
            assert len(set(edges)) == len(edges)
            assert mode == "TRAIL" or len(set(nodes[1:])) == len(edges)
            assert mode != "ACYCLIC" or len(set(nodes)) == len(nodes)
        assert all(len(set(map(tuple, paths))) == len(paths) <= 9 for paths in found.values())


@pytest.mark.parametrize("pattern", ["SHORTEST 3 (a)-[:K]-+(b)", "SHORTEST 3 ACYCLIC (a)-[:K]-+(b)"])
def test_trails_that_never_arrive_are_not_listed(pattern: str) -> None:
    """There is one path, and behind a bridge is where others lose themselves."""
    lost = [(one, other) for one in range(2, 14) for other in range(2, 14) if one != other]
    graph = _graph(14, [(0, 1), (0, 2), *lost])
    text = f"MATCH (a {{id: 0}}), (b {{id: 1}}) MATCH p = {pattern} RETURN length(p)"
    assert [tuple(row) for row in graph.query(text, timeout=20).rows()] == [(1,)]


@pytest.mark.parametrize("length", ["", "*2.."])
def test_not_all_of_a_length_are_listed(length: str) -> None:
    """There are ten million ways over a grid."""
    size = 14
    places = [(row, column) for row in range(size) for column in range(size)]
    ends = [(row * size + column, row * size + column + 1) for row, column in places if column + 1 < size]
    ends += [(row * size + column, (row + 1) * size + column) for row, column in places if row + 1 < size]
    graph = _graph(size * size, ends)
    known = f"MATCH (a {{id: 0}}), (b {{id: {size * size - 1}}})"
    text = f"{known} MATCH p = SHORTEST 2 (a)-[:K{length or '*'}]->(b) RETURN length(p)"
    assert [tuple(row) for row in graph.query(text, timeout=60).rows()] == [(26,), (26,)]


def _graph(count: int, ends: list[tuple[int, int]]) -> gquery.Graph:
    return gquery.from_arrow(
        vertices={"P": {"id": list(range(count))}},
        edges={("P", "K", "P"): {"source": [one for one, _ in ends], "target": [other for _, other in ends]}},
    )

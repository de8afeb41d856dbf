"""Searches that depend on each other, on random multigraphs with loops, against the evaluator: SHORTEST over several
relationships, and INDUCED over lengths of any number. Which of several paths of one length is given is not said."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

import gquery
from gquery.planner.binding.lengths import alternatives
from tests.evaluator.answers import answer
from tests.evaluator.values import Edge, Graph, Vertex
from tests.soak.read import read

Pair = tuple[gquery.Graph, Graph]


@pytest.mark.parametrize("seed", range(25))
def test_shortest_of_several_relationships(seed: int) -> None:
    random = Random(f"several {seed}")
    pair = _graphs(random)
    for _ in range(5):
        _compare(pair, _several(random), f"seed {seed}")


@pytest.mark.parametrize("seed", range(25))
def test_induced(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"induced {seed}")
    pair = _graphs(random)
    monkeypatch.setattr(alternatives, "MOST_ALTERNATIVES", 0)  # few lengths are searched for, too
    for _ in range(5):
        _compare(pair, _induced(random), f"seed {seed}")


@pytest.mark.parametrize("seed", range(25))
def test_conditions_on_what_is_known_before(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"known before {seed}")
    pair = _graphs(random)
    monkeypatch.setattr(alternatives, "MOST_ALTERNATIVES", 0)
    for _ in range(5):
        _compare(pair, _conditioned(random), f"seed {seed}")


def test_conditions_are_asked_before_more_is_searched_for() -> None:
    """There are 163,418 first paths, of which 33 have relationships as asked."""
    random = Random("asked before")
    ends = {end: [random.randrange(6) for _ in range(14)] for end in ("source", "target")}
    weights = {"w": [random.randrange(3) for _ in range(14)]}
    graph = gquery.from_arrow({"P": {"id": list(range(6))}}, {("P", "X", "P"): {**ends, **weights}})
    text = "MATCH (a)-[r WHERE r.w = a.id % 3]-{2,}(b)-->{0,2}(c) RETURN count(*)"
    assert graph.query(text, timeout=30).rows() == [(113,)]


def _graphs(random: Random) -> Pair:
    """Vertices with edges of two types, X and Y."""
    count = random.randint(2, 4)
    edges = {
        type_: [(random.randrange(count), random.randrange(count)) for _ in range(random.randint(1, 3))]
        for type_ in ("X", "Y")
    }
    tables = {
        ("P", type_, "P"): {
            "source": [one for one, _ in ends],
            "target": [other for _, other in ends],
            "w": [*range(len(ends))],
        }
        for type_, ends in edges.items()
    }
    vertices = tuple(Vertex(number, frozenset({"P"}), {"id": number}) for number in range(count))
    same = Graph(
        vertices,
        tuple(
            Edge(type_, vertices[one], vertices[other], {"w": number})
            for type_, ends in edges.items()
            for number, (one, other) in enumerate(ends)
        ),
    )
    return gquery.from_arrow({"P": {"id": list(range(count))}}, tables), same


def _compare(pair: Pair, text: str, told: str) -> None:
    graph, same = pair
    expected = sorted(row for run in answer(same, read(text)).runs for row in run)
    found = sorted(tuple(row) for row in graph.query(text).rows())
    assert found == expected, f"{told}: {same}: {text}"


def _several(random: Random) -> str:
    shortest = random.choice(["SHORTEST 1", "SHORTEST 2", "SHORTEST 3", "ALL SHORTEST", "ANY SHORTEST"])
    mode, path_mode = random.choice(_MODES), random.choice(["", "", "TRAIL", "ACYCLIC", "SIMPLE"])
    least = random.choice([0, 1, 1, 2]) if mode in ("", "REPEATABLE ELEMENTS") else 1
    most = random.choice(["", least + 2])
    inside = [f":{random.choice('XY')}*{least}..{most}", random.choice([":X", ":Y", ""])]
    inside += random.choice([[], [], [":X|Y*1..2"]])
    random.shuffle(inside)
    middle = [random.choice(["(b)", "()", "(b WHERE b.id > 0)", "(b {id: 1})"]), "(c)"][: len(inside) - 1]
    end = random.choice(["d", "d", "a"])
    path = "(a)" + "".join(_step(random, *each) for each in zip(inside, [*middle, f"({end})"], strict=True))
    before = random.choice(["", "", "MATCH (a), (d) ", "MATCH (a) WHERE a.id < 2 "])
    more = random.choice(["", "", ", (a)-[:X]->(e)"])
    where = random.choice(["", " WHERE a.id = 0", " WHERE length(p) > 2"])
    asked = f"RETURN id(a) AS x, id({end}) AS y, length(p) AS n"
    return f"{before}MATCH {mode} p = {shortest} {path_mode} {path}{more}{where} {asked}"


def _induced(random: Random) -> str:
    least = random.choice([1, 1, 2])
    most, types = random.choice(["", least, least + 2]), random.choice(["X", "Y", "X|Y"])
    end = random.choice(["b", "b", "a"])
    path = "(a)" + _step(random, f":{types}*{least}..{most}", f"({end})")
    others = [(":X", "(c)"), (":X*1..", "(c)"), (":Y", f"({end})")]
    more = random.choice(["", *(f", (a){_step(random, *each)}" for each in others)])
    shortest = random.choice(["", "", "ALL SHORTEST "])
    return f"MATCH INDUCED p = {shortest}{path}{more} RETURN id(a) AS x, id({end}) AS y, length(p) AS n"


def _conditioned(random: Random) -> str:
    """Conditions of the relationships of paths on nodes at their ends, and on others."""
    names = ["a", "b", random.choice("ca"), "d"][: random.choice([2, 3, 3, 4])]
    path, mode = f"({names[0]})", random.choice(_MODES[:4])
    for number, (one, other) in enumerate(pairwise(names)):
        least = random.choice([0, 1, 1, 2] if mode != "DIFFERENT NODES" else [1, 2])
        most = random.choice(["", least + 1]) if mode != "REPEATABLE ELEMENTS" else least + 1
        known, edge = random.choice([one, *names[: number + 1]]), f"r{number}"
        asked = random.choice(["", f" WHERE {edge}.w = {known}.id", f" WHERE {edge}.w <= {known}.id AND {edge}.w < 2"])
        path += _step(random, f"{edge}:{random.choice(['X', 'Y', 'X|Y'])}{asked}", f"{{{least},{most}}}({other})")
    more = random.choice(["", "", ", (a)-[:X]->(e)"])
    return f"MATCH {mode} {path}{more} RETURN {', '.join(f'id({name}) AS {name}' for name in dict.fromkeys(names))}"


_MODES = ["", "", "REPEATABLE ELEMENTS", "DIFFERENT NODES", "INDUCED"]


def _step(random: Random, inside: str, node: str) -> str:
    left, right = random.choice([("-", "->"), ("<-", "-"), ("-", "-")])
    return f"{left}[{inside}]{right}{node}" if inside else f"{left}{right}{node}"

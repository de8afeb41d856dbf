"""Counts of patterns around a hub, whichever way the sums go: inside of neighbourhoods, pushed, or one by one.

Each way is forced where cost would not choose it, on graphs with parallel edges, self-loops and labels, in all modes;
DuckDB knows the counts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.executor.lowering import exact
from gquery.planner.search.sums import inside, pushed, ties
from tests.differential.build import to_gquery
from tests.differential.forms import (
    Clause,
    DataGraph,
    Edge,
    Element,
    Expression,
    Label,
    Operation,
    Query,
    QueryEdge,
    QueryVertex,
    Vertex,
)
from tests.differential.generate import MODES
from tests.differential.judged import counted
from tests.differential.test_counting import WAYS as COUNTED
from tests.differential.test_counting import costs

FUZZ = int(os.environ.get("GQUERY_FUZZ", "1"))
GRAPHS, QUERIES = 5 * FUZZ, 6


def _half(self: inside.Neighbourhoods, tree: Any, *_: object) -> float:
    return float(tree.cost) / 2


def _half_pushed(self: pushed.Pushing, levels: Any, *_: object) -> tuple[float, Any]:
    return -1.0, tuple(level._replace(contexts=0.0) for level in levels)


PUSHED = [
    (pushed.Pushing, "_cost", _half_pushed),
    *COUNTED["raw adjacency"],
    costs({"roots": 9, "gain": 0.0}, worth_improving=-2.0, inside_look=1e9),
]
INSIDE = [(inside.Neighbourhoods, "_cost", _half), *COUNTED["raw adjacency"]]
WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "as planned": [],
    "inside": INSIDE,
    "inside, every order": [*INSIDE, *COUNTED["every root"]],
    "inside, nothing folded": [*INSIDE, costs({"roots": 9}, worth_improving=-1.0, folds=-1.0)],
    "inside, inclusion and exclusion": [*INSIDE, *COUNTED["inclusion and exclusion"]],
    "inside, no symmetry": [*INSIDE, *COUNTED["no symmetry"]],
    "pushed": PUSHED,
    "pushed, nothing folded": [*PUSHED[:-1], costs({"roots": 9, "gain": 0.0}, worth_improving=-2.0, folds=-1.0)],
    "pushed, no symmetry": [*PUSHED, *COUNTED["no symmetry"]],
    "pushed, inclusion and exclusion": [*PUSHED[:-1], costs({"gain": 1e9, "least_problems": 60}, worth_improving=-2.0)],
    "one by one": [*COUNTED["raw adjacency"], costs({"roots": 9}, worth_improving=-1.0, inside_look=1e9)],
}
MODULO = [(exact, "SAFE", -1.0), (exact, "_WORD", 1)]  # every count is looked at modulo primes, too
WAYS |= {f"{way}, modulo primes": [*WAYS[way], *MODULO] for way in ("inside, every order", "pushed")}


def near_graph(random: Random) -> DataGraph:
    """Dense; half of the graphs are simple, the others have loops and parallel edges."""
    number = random.randint(4, 10)
    labels = {frozenset("A"): ("x",), frozenset("AB"): ("x",), frozenset("B"): ("x",)}
    vertices = tuple(Vertex(id, random.choice(list(labels)), {"x": random.randint(0, 2)}) for id in range(number))
    pairs = list(combinations(range(number), 2))
    ends = random.sample(pairs, min(len(pairs), random.randint(2 * number, 3 * number)))
    if random.random() < 0.5:
        ends += [(end, end) for end in random.choices(range(number), k=random.randint(0, 2))]
        ends += random.choices(ends, k=random.randint(0, 3))
    turned = [pair if random.random() < 0.5 else pair[::-1] for pair in ends]
    types = {"X": ("eid",), "Y": ("eid",)}
    edges = [Edge(*pair, random.choice("XXXY"), {"eid": eid}) for eid, pair in enumerate(turned)]
    return DataGraph(labels, types, vertices, tuple(edges))


def near_query(random: Random, _: DataGraph) -> Query:
    """A hub, or two that are not joined, with edges to all others, and edges among those; maybe one vertex more."""
    hubs = ["h", "i"][: random.choice([1, 1, 2])]
    others = [f"n{number}" for number in range(random.randint(2, 4 - (len(hubs) > 1)))]
    links = [(hub, other) for hub in hubs for other in others]
    chance = random.choice([0.2, 0.5, 0.9])
    links += [pair for pair in combinations(others, 2) if random.random() < chance]
    if random.random() < 0.2:
        others.append("last")
        links.append((random.choice([*hubs, *others[:-1]]), "last"))
    if random.random() < 0.1:
        links.append(random.choice(links))
    links = [link if random.random() < 0.7 else link[::-1] for link in random.sample(links, len(links))]
    label = random.choice([None, None, Label("A"), Label("B")])
    types = random.choice([None, None, Label("X"), Operation("|", (Label("X"), Label("Y")))])
    directed = random.random() < 0.3
    edges = tuple(
        QueryEdge(
            f"r{index}",
            *link,
            types if random.random() < 0.9 else Label("X"),
            directed if random.random() < 0.9 else not directed,
        )
        for index, link in enumerate(links)
    )
    vertices = tuple(QueryVertex(name, label if random.random() < 0.8 else None) for name in (*hubs, *others))
    conditions: list[Expression] = []
    if random.random() < 0.1:
        one, other = random.sample([*hubs, *others], 2)
        conditions.append(Operation("<>", (Element(one), Element(other))))
    mode = random.choice([*MODES, "different nodes", "different nodes", "different edges"])
    clause = Clause(mode, tuple(v.name for v in vertices), edges, tuple(conditions))
    return Query(vertices, (clause,), frozenset())


@pytest.mark.parametrize("seed", range(GRAPHS))
@pytest.mark.parametrize("way", WAYS)
def test_the_way_does_not_matter(way: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    compare_near(way, device, [seed])


def compare_near(way: str, device: str, seeds: Iterable[int] = range(GRAPHS)) -> None:
    """Compares counts of random patterns in a way that is set already."""
    for seed in seeds:
        data, queries = counted(f"near {seed}", near_graph, near_query, QUERIES)
        graph = to_gquery(data)
        for query in queries:
            query.compare_count(graph, device, f"{way}, seed {seed}, {data}")


SMALL = {
    "0-1 1-2 2-3 3-0": ("pushed from each (u", "as many as for"),
    "0-1 0-2 1-3 2-4 3-4 3-2 1-4": ("pushed from each (u", "less 2 for"),
    "0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4": ("inside the neighbourhood of each (u", "as many as for"),
    "0-1 0-2 0-3 0-4 1-2 1-3 1-4 2-3 2-4 3-4": ("inside the neighbourhood of each (u",),
}


@pytest.mark.parametrize("links", SMALL)
def test_what_is_chosen_by_cost(links: str) -> None:
    """On a skewed graph: squares and fans are pushed, cliques and what is nearly one are counted inside of
    neighbourhoods. All agree with the count of the plain tree."""
    random, ends = Random(7), set[tuple[int, int]]()
    while len(ends) < 6000:
        one, other = (int(800 * random.random() ** 3) for _ in range(2))
        ends |= {(min(one, other), max(one, other))} if one != other else set()
    source, target = ([pair[side] for pair in sorted(ends)] for side in (0, 1))
    graph = gquery.from_arrow(
        vertices={"V": {"id": list(range(800))}}, edges={("V", "E", "V"): {"source": source, "target": target}}
    )
    pattern = ", ".join("(u{})--(u{})".format(*link.split("-")) for link in links.split())
    text = f"MATCH DIFFERENT NODES {pattern} RETURN count(*)"
    found = graph.explain(text)
    assert all(words in found for words in SMALL[links]), found
    count = graph.query(text).scalar()
    with pytest.MonkeyPatch.context() as patched:
        for owner, name, value in (costs(push=math.inf, inside_look=math.inf), (ties, "alike_in", _nothing)):
            patched.setattr(owner, name, value)
        plain = gquery.Graph(graph.snapshot)
        assert "Sum out " in plain.explain(text)
        assert not any(words in plain.explain(text) for words in ("pushed", "inside", "as many"))
        assert plain.query(text).scalar() == count


@pytest.mark.parametrize("between", [2, 3])
@pytest.mark.parametrize("mode", ["DIFFERENT NODES", "REPEATABLE ELEMENTS"])
def test_corners_without_an_edge(mode: str, between: int, device: str) -> None:
    """What is between two neighbours of a hub is counted for all second ones at once. The hub of all has several words
    of neighbours, in whose rows numbers take several bits."""
    people, injective = 50, mode == "DIFFERENT NODES"
    near = np.triu(np.random.default_rng(between).random((people, people)) < 0.3)
    near[0] = True
    source, target = near.nonzero()
    graph = gquery.from_arrow(
        vertices={"V": {"id": np.arange(people)}}, edges={("V", "E", "V"): {"source": source, "target": target}}
    )
    near |= near.T
    if injective:
        np.fill_diagonal(near, False)
    expected = 0
    for hub in near:
        inside = near[np.ix_(hub, hub)].astype(np.int64)
        common = inside @ inside
        if injective:
            np.fill_diagonal(common, 0)
        taken = [injective * number for number in range(between)]
        expected += int(np.prod([np.maximum(common - each, 0) for each in taken], axis=0).sum())
    others = [f"m{number}" for number in range(between)]
    links = [f"(h)--({each})" for each in ("a", "b", *others)]
    links += [f"({corner})--({each})" for corner in "ab" for each in others]
    text = f"MATCH {mode} {', '.join(links)} RETURN count(*)"
    found = graph.explain(text)
    assert not injective or ("inside the neighbourhood" in found and "as many as for" in found), found
    assert graph.query(text, device=device).scalar() == expected


@pytest.mark.parametrize("lonely", [0, 1])
def test_walks_that_do_not_close(lonely: int) -> None:
    """All walks less the triangles. Every row of a triangle is read once, so nothing is written inside of
    neighbourhoods. The filter that asks for two neighbours of the middle tells it apart from the beginning, unless
    there is nobody who has one only."""
    random, people = Random(7), 400
    ends = {tuple(sorted(random.sample(range(people), 2))) for _ in range(6000)}
    ends |= {(people - 1, people + number) for number in range(lonely)}
    likes = {(person, random.randrange(50)) for person in range(people) for _ in range(3)}
    graph = gquery.from_arrow(
        vertices={"P": {"id": list(range(people + lonely))}, "T": {"id": list(range(50))}},
        edges={("P", "K", "P"): _columns(ends), ("P", "L", "T"): _columns(likes)},
    )
    walk = "MATCH (a:P)-[:K]-(b:P)-[:K]-(c:P)-[:L]->(:T) WHERE a <> c"
    text = f"{walk} AND NOT (a)-[:K]-(c) RETURN count(*)"
    closed = graph.query(f"{walk} AND (a)-[:K]-(c) RETURN count(*)").scalar()
    expected = graph.query(f"{walk} RETURN count(*)").scalar() - closed
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(*costs({"gain": 1e9}, counted_look=1.0))
        assert graph.query(text).scalar() == expected
        found = gquery.Graph(graph.snapshot).profile(text)
    assert "inside" not in found, found
    assert ("each match stands for 2" in found) == (not lonely), found


def _columns(ends: Iterable[tuple[int, ...]]) -> dict[str, list[int]]:
    source, target = zip(*sorted(ends), strict=True)
    return {"source": list(source), "target": list(target)}


def _nothing(problem: Any, asked: Any) -> tuple[int, ...]:
    return (0,) * len(problem.graph.vertices)

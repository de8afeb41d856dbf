"""Patterns whose vertices collide because they look alike: stars, squares, wheels and what hangs on them.

What such collisions take away is known without looking for it, which must not change a count.
"""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from random import Random
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.planner.search.sums import ties
from tests.differential.build import to_gquery
from tests.differential.forms import (
    Attribute,
    Clause,
    Constant,
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

WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    way: COUNTED[way]
    for way in (
        "as planned",
        "inclusion and exclusion",
        "edges by number",
        "no self-loops",
        "everything remembered",
        "everything folded",
        "nothing folded",
        "candidate graph",
        "raw adjacency",
        "all filters by rows",
        "no symmetry",
        "depth first",
    )
}
WAYS["no constants"] = [(ties, "implied_in", lambda problem, _: (0,) * len(problem.graph.vertices))]


def alike_graph(random: Random) -> DataGraph:
    """Dense enough for stars; half of them simple, the others with loops and parallel edges."""
    number = random.randint(3, 9)
    labels = {frozenset("A"): ("x",), frozenset("AB"): ("x",)}
    vertices = tuple(Vertex(id, random.choice(list(labels)), {"x": random.randint(0, 2)}) for id in range(number))
    pairs = list(combinations(range(number), 2))
    ends = random.sample(pairs, min(len(pairs), random.randint(number, 2 * number)))
    if random.random() < 0.5:
        ends += [(end, end) for end in random.choices(range(number), k=random.randint(0, 2))]
        ends += random.choices(ends, k=random.randint(0, 3))
    turned = [pair if random.random() < 0.7 else pair[::-1] for pair in ends]
    types = {"X": ("eid", "w"), "Y": ("eid", "w")}
    edges = [
        Edge(*pair, random.choice("XXXY"), {"eid": eid, "w": random.randint(0, 1)}) for eid, pair in enumerate(turned)
    ]
    return DataGraph(labels, types, vertices, tuple(edges))


def alike_query(random: Random, _: DataGraph) -> Query:
    """A core of one to three vertices, and vertices that hang on the same of them, by the same edges or almost."""
    core = [f"c{number}" for number in range(random.randint(1, 3))]
    leaves = [f"l{number}" for number in range(random.randint(2, 5 - (len(core) > 2)))]
    links = list(pairwise(core)) if random.random() < 0.5 else []
    ends = random.sample(core, random.randint(1, min(2, len(core))))
    for leaf in leaves:
        links += [(end, leaf) for end in (ends if random.random() < 0.8 else random.sample(core, 1))]
    unlinked = [end for end in core if all(end not in link for link in links)]
    links += [(end, leaves[0]) for end in unlinked]
    if random.random() < 0.3:
        links.append(tuple(random.sample([*core, *leaves], 2)))  # type: ignore[arg-type]
    label = random.choice([None, None, Label("A"), Label("B")])
    types = random.choice([None, Label("X"), Operation("|", (Label("X"), Label("Y")))])
    directed = random.random() < 0.4
    edges = tuple(
        QueryEdge(
            f"r{index}",
            *link,
            types if random.random() < 0.9 else Label("X"),
            directed if random.random() < 0.9 else not directed,
        )
        for index, link in enumerate(links)
    )
    vertices = tuple(
        QueryVertex(name, label if name in leaves and random.random() < 0.9 else None) for name in (*core, *leaves)
    )
    conditions: list[Expression] = []
    if random.random() < 0.3:
        one, other = random.sample([*core, *leaves], 2)
        conditions.append(Operation("<>", (Element(one), Element(other))))
    if random.random() < 0.2:
        conditions.append(Operation("=", (Attribute(random.choice(leaves), "x"), Constant(random.randint(0, 2)))))
    if random.random() < 0.1:
        conditions.append(Operation("=", (Attribute(random.choice(edges).name, "w"), Constant(1))))
    mode = random.choice([*MODES, "different nodes", "different edges"])
    clause = Clause(mode, tuple(v.name for v in vertices), edges, tuple(conditions))
    return Query(vertices, (clause,), frozenset())


@pytest.mark.parametrize("seed", range(GRAPHS))
@pytest.mark.parametrize("way", WAYS)
def test_collisions(way: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    data, queries = counted(f"collisions {seed}", alike_graph, alike_query, QUERIES)
    graph = to_gquery(data)
    for query in queries:
        query.compare_count(graph, device, f"{way}, seed {seed}, {data}")


PENDANTS = [(0, 1), (0, 2), (0, 3), (1, 2), (4, 1), (5, 0), (5, 4), (6, 5), (2, 7)]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("query", ["c-l l-d d-m m-c m-e", "c-l l-m m-c m-d d-e e-m", "c-l c-m d-l d-m e-l"])
def test_filters_may_tell_alike_vertices_apart(
    query: str, turned: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two vertices are one, or may be, others look alike of which only one had to have several neighbours."""
    monkeypatch.setattr(*costs({"gain": 1e9, "least_problems": 60}, worth_improving=-1.0, folds=-1.0))
    ends = [(7 - one, 7 - other) if turned else (one, other) for one, other in PENDANTS]
    source, target = ([pair[side] for pair in ends] for side in (0, 1))
    graph = gquery.from_arrow(
        vertices={"V": {"id": list(range(8))}}, edges={("V", "E", "V"): {"source": source, "target": target}}
    )
    links = [link.split("-") for link in query.split()]
    names = sorted({name for link in links for name in link})
    near = {frozenset(pair) for pair in ends}
    expected = sum(
        all(frozenset((match[one], match[other])) in near for one, other in links)
        for match in (dict(zip(names, chosen, strict=True)) for chosen in permutations(range(8), len(names)))
    )
    pattern = ", ".join(f"({one})--({other})" for one, other in links)
    for constants in (True, False):
        if not constants:
            for owner, name, value in WAYS["no constants"]:
                monkeypatch.setattr(owner, name, value)
        text = f"MATCH DIFFERENT NODES {pattern} RETURN count(*)"
        assert gquery.Graph(graph.snapshot).query(text, device=device).scalar() == expected


def edges_graph(random: Random) -> DataGraph:
    """With self-loops, and edges side by side."""
    data = alike_graph(random)
    ids = [vertex.id for vertex in data.vertices]
    more = []
    for number in range(random.randint(1, 4)):
        source = random.choice(ids)
        target = source if random.random() < 0.5 else random.choice(ids)
        more.append(Edge(source, target, random.choice("XXY"), {"eid": 100 + number, "w": 0}))
    return replace(data, edges=(*data.edges, *more))


def edges_query(random: Random, data: DataGraph) -> Query:
    query = alike_query(random, data)
    return replace(query, clauses=tuple(replace(each, mode="different edges") for each in query.clauses))


@pytest.mark.parametrize(("folds", "reuse"), [(-1.0, 0.0), (1e9, 1.3)])
def test_edges_that_may_be_one(folds: float, reuse: float, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that two query edges are other data edges, left out whatever that costs."""
    effort = {"gain": 1e9, "least_problems": 60}
    monkeypatch.setattr(*costs(effort, worth_improving=-1.0, folds=folds, reuse=reuse))
    for seed in range(GRAPHS // 2):
        data, queries = counted(f"edges that may be one {seed}", edges_graph, edges_query, QUERIES)
        graph = to_gquery(data)
        for query in queries:
            query.compare_count(graph, device, f"seed {seed}, {data}")


TWICE_TO_ONE = "(c1)--(l0), (l1)--(c1)-[r4]-(l2)-[r5]-(c1)<--(c0), (c0)--(l1)"


@pytest.mark.parametrize("folds", [-1.0, 1e9])
def test_what_edges_that_were_one_leave_behind(folds: float, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Filters asked a vertex for two neighbours, along edges that are one now; those that it must differ from need not
    have as many."""
    source, target = [3, 3, 2, 8, 6, 3, 1, 0, 0, 1, 1, 4, 5, 3, 7, 4], [4, 7, 1, 7, 8, 6, 6, 1, 6, 4, 3, 5, 7, 5, 1, 4]
    graph = gquery.from_arrow(
        vertices={"V": {"id": list(range(9))}}, edges={("V", "X", "V"): {"source": source, "target": target}}
    )
    monkeypatch.setattr(*costs({"gain": 1e9, "least_problems": 60}, worth_improving=-1.0, folds=folds))
    assert graph.query(f"MATCH {TWICE_TO_ONE} RETURN count(*)", device=device).scalar() == 0


@pytest.mark.parametrize("arrow", ["->", "-"])
@pytest.mark.parametrize("copies", [0, 1, 40])
def test_walks_of_two_edges(arrow: str, copies: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Query edges that may be one data edge, over self-loops and parallel edges: walks less those along one edge."""
    monkeypatch.setattr(*costs(worth_improving=-1.0))
    random = Random(f"walks {copies}")
    pairs = random.sample([(one, other) for one in range(40) for other in range(40) if one < other], 120)
    pairs += [(one, one) for one in random.choices(range(40), k=1 + copies)]
    pairs += random.choices(pairs, k=copies)
    source, target = ([pair[side] for pair in pairs] for side in (0, 1))
    graph = gquery.from_arrow(
        vertices={"V": {"id": list(range(40))}}, edges={("V", "E", "V"): {"source": source, "target": target}}
    )
    steps = [(one, other, edge) for edge, (one, other) in enumerate(pairs)]
    if arrow == "-":
        steps += [(other, one, edge) for one, other, edge in steps if one != other]
    expected = sum(b == c and edge != other for _, b, edge in steps for c, _, other in steps)
    text = f"MATCH (a)-[:E]-{arrow[1:]}(b)-[:E]-{arrow[1:]}(c) RETURN count(*)"
    assert graph.query(text, device=device).scalar() == expected
    plan = graph.explain(text)
    assert plan.count("Sum out in one pass") == plan.count("Sum out")
    assert ("Subtract the matches where" in plan) == (copies > 0 or arrow == "->")


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("arrows", ["- - -", "-> -> ->", "-> - <-", "- -> - -"])
def test_walks_of_several_edges(arrows: str, parallel: bool, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All tests that two of them are not one data edge are left out together, also where ends meet in two ways, and
    where only self-loops can be one: left out one by one, the first would gain nothing."""
    monkeypatch.setattr(*costs({"gain": 1e9, "least_problems": 150}, worth_improving=-1.0))
    random = Random(f"walks {arrows}")
    pairs = [(random.randrange(25), random.randrange(25)) for _ in range(60)]
    pairs += [(one, one) for one in random.choices(range(25), k=8)]
    if parallel:
        pairs += random.choices(pairs, k=8)
    else:
        pairs = list({frozenset(pair): pair for pair in pairs}.values())
    source, target = ([pair[side] for pair in pairs] for side in (0, 1))
    graph = gquery.from_arrow(
        vertices={"V": {"id": list(range(25))}}, edges={("V", "E", "V"): {"source": source, "target": target}}
    )
    ways = {"->": [(*pair, edge) for edge, pair in enumerate(pairs)]}
    ways["<-"] = [(target, source, edge) for source, target, edge in ways["->"]]
    ways["-"] = list({*ways["->"], *ways["<-"]})
    walks: list[tuple[int, tuple[int, ...]]] = [(vertex, ()) for vertex in range(25)]
    for arrow in arrows.split():
        steps = [[(b, edge) for a, b, edge in ways[arrow] if a == vertex] for vertex in range(25)]
        walks = [(b, (*used, edge)) for end, used in walks for b, edge in steps[end] if edge not in used]
    pattern = "".join(f"{arrow.replace('-', '-[:E]-', 1)}()" for arrow in arrows.split())
    assert graph.query(f"MATCH (){pattern} RETURN count(*)", device=device).scalar() == len(walks)
    plan = graph.explain(f"MATCH (){pattern} RETURN count(*)")
    assert "Add the matches that pass 0 of" in plan or not parallel
    assert "Add the matches that pass" in plan
    assert "not ((" not in plan


@pytest.mark.parametrize(
    ("pattern", "count"),
    [("(a)--(b)--(c)--(d)--(e)", 129_375_374), ("(a)--(b)--(c), (b)--(d)--(e)", 129_036_716)],
)
def test_self_loops_tie_no_far_edges(pattern: str, count: int) -> None:
    """Only self-loops can be one data edge for two query edges that do not meet; these are subtracted."""
    pairs = np.random.default_rng(2).integers(0, 2_000, (2, 16_000))
    low, high = np.unique(np.sort(pairs, axis=0), axis=1)
    low, high = np.append(low, np.arange(40)), np.append(high, np.arange(40))
    low, high = np.unique(np.stack([low, high]), axis=1)
    graph = gquery.from_arrow({"V": {"id": np.arange(2_000)}}, {("V", "E", "V"): {"source": low, "target": high}})
    text = f"MATCH {pattern} RETURN count(*)"
    assert "not ((" not in graph.explain(text)
    assert graph.query(text).scalar() == count

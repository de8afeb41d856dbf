"""Patterns over graphs with edges back and self-loops, counted by the numbers that edges have between two vertices, and
without self-loops where vertices must differ. DuckDB knows the count."""

from __future__ import annotations

import os
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.planner.ir.match_plan import ExtendStep
from gquery.planner.ir.problem import Problem
from gquery.planner.search import counting
from gquery.planner.search.sums.some_edges import loop_free
from gquery.planner.search.sums.strategy import repeated_edges
from gquery.records import replace
from gquery.session import Prepared
from gquery.settings import Settings
from tests.differential.build import to_gquery
from tests.differential.forms import (
    Clause,
    DataGraph,
    Edge,
    Element,
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
GRAPHS, QUERIES = 6 * FUZZ, 6

WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "as planned": [],
    "by number": [costs({"gain": 1e9, "numbered": 1e9, "least_problems": 0}, worth_improving=-1.0)],
    "by number, with exclusion": [
        costs({"gain": 1e9, "numbered": 1e9, "least_problems": 60}, worth_improving=-1.0, select=0.0)
    ],
    "pushed": [costs({"gain": 1e9, "numbered": 0.0, "least_problems": 60}, worth_improving=-1.0, skew=0.0)],
    "pushed by number": [costs({"gain": 1e9, "numbered": 1e9, "least_problems": 60}, worth_improving=-1.0, skew=0.0)],
    "no self-loops": [costs({"numbered": 0.0}, select=0.0, folds=-1.0)],
    "no self-loops, with exclusion": [
        costs({"gain": 1e9, "numbered": 0.0, "least_problems": 60}, worth_improving=-1.0, select=0.0, folds=1e9)
    ],
}


def graph_with_edges_back(random: Random) -> DataGraph:
    """At most one edge of a type from one vertex to another; most have one back."""
    number = random.randint(2, 7)
    labels = {frozenset("A"): (), frozenset("AB"): ()}
    vertices = tuple(Vertex(id, random.choice(list(labels)), {}) for id in range(number))
    ends: list[tuple[int, int, str]] = []
    for one, other, type in product(range(number), range(number), "XY"):
        if one <= other and random.random() < (0.2 if one == other else 0.35):
            ends.append((one, other, type))
            if one != other and random.random() < 0.6:
                ends.append((other, one, type))
    edges = tuple(Edge(*end, {"eid": eid}) for eid, end in enumerate(ends))
    return DataGraph(labels, {"X": ("eid",), "Y": ("eid",)}, vertices, edges)


def pattern(random: Random, _: DataGraph) -> Query:
    """Three to five vertices in one piece, with up to two more edges; most edges of either direction."""
    names = [f"v{number}" for number in range(random.randint(3, 5))]
    links = [(random.choice(names[:place]), name) for place, name in enumerate(names) if place]
    links += [tuple(random.sample(names, 2)) for _ in range(random.randint(0, 2))]  # type: ignore[misc]
    types = random.choice([None, Label("X"), Operation("|", (Label("X"), Label("Y")))])
    directed = random.random() < 0.2
    edges = tuple(
        QueryEdge(f"r{index}", *link, types if random.random() < 0.9 else Label("Y"), directed)
        for index, link in enumerate(links)
    )
    vertices = tuple(QueryVertex(name, random.choice([None, None, None, Label("B")])) for name in names)
    apart = [pair for pair in links if random.random() < 0.15]
    conditions = tuple(Operation("<>", (Element(one), Element(other))) for one, other in apart)
    return Query(vertices, (Clause(random.choice(MODES), tuple(names), edges, conditions),), frozenset())


@pytest.mark.parametrize("seed", range(GRAPHS))
@pytest.mark.parametrize("way", WAYS)
def test_the_way_does_not_matter(way: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    data, queries = counted(f"some edges {seed}", graph_with_edges_back, pattern, QUERIES)
    graph = to_gquery(data)
    for query in queries:
        query.compare_count(graph, device, f"{way}, seed {seed}, {data}")


@pytest.fixture
def follows() -> gquery.Graph:
    """Each follows the next ones in a circle, who follow back now and then; some follow themselves."""
    people = np.arange(200)
    ahead = [(one, (one + step) % 200) for one in people for step in (1, 2, 3, 5, 8, 13)]
    back = [pair[::-1] for number, pair in enumerate(ahead) if number % 3]
    loops = [(one, one) for one in people[::7]]
    ends = np.array([*ahead, *back, *loops])
    return gquery.from_arrow(
        vertices={"Person": {"id": people}},
        edges={("Person", "FOLLOWS", "Person"): {"source": ends[:, 0], "target": ends[:, 1]}},
    )


def test_plans_say_which_edges(follows: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*costs({"numbered": 1e9}, worth_improving=-1.0, select=0.0))
    triangle = "(a)--(b)--(c)--(a) RETURN count(*)"
    plan = follows.explain(f"MATCH {triangle}")
    assert "along the second of (a)-[:FOLLOWS]-(b)" in plan
    assert "Multiply by the number of data edges" not in plan
    plan = follows.explain(f"MATCH DIFFERENT NODES {triangle}")
    assert "the first of (a)-[:FOLLOWS]-(b) but self-loops" in plan
    assert "<>" not in plan


def test_all_data_edges_are_pushed_along(follows: gquery.Graph, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edge that leads alone need not be numbered, nor its data edges counted."""
    text = "MATCH DIFFERENT NODES (a)--(b)--(c)--(d)--(a) RETURN count(*)"
    monkeypatch.setattr(*costs({"numbered": 0.0, "gain": 0.0}, push=1e9))
    assert "pushed" not in follows.explain(text)
    expected = gquery.Graph(follows.snapshot).query(text, device=device).scalar()
    monkeypatch.setattr(*costs({"numbered": 0.0, "gain": 10.0}, skew=1e-3, worth_improving=-1.0))
    plan = gquery.Graph(follows.snapshot).explain(text)
    assert "pushed from each" in plan
    assert "as many as for" in plan
    assert "Multiply by the number of data edges" in plan
    assert gquery.Graph(follows.snapshot).query(text, device=device).scalar() == expected


def test_what_is_searched_below_a_vertex_is_searched_once(follows: gquery.Graph) -> None:
    """However many data edges lead to it."""
    triangle = problem_of(follows, "MATCH REPEATABLE ELEMENTS (a)--(b)--(c)--(a) WHERE a <> c RETURN count(*)")
    root, inner, leaf = step(0, (), 0), step(1, (0,), 0), step(2, (1,), 1)
    assert repeated_edges(triangle, (root, inner, leaf), 0, pushed=False) == {1}
    assert repeated_edges(triangle, (root, inner, replace(leaf, parent=0)), 0, pushed=False) == {0, 1}


def problem_of(graph: gquery.Graph, text: str) -> Problem:
    return Prepared(graph.snapshot, text, {}, Settings()).plan.matches[0].problem


def step(vertex: int, backward: tuple[int, ...], parent: int) -> ExtendStep:
    """Matches a vertex along some edges."""
    return ExtendStep(vertex, backward, (), (), (), (), (), 1.0, parent)


@pytest.mark.parametrize("way", ["candidate graph", "raw adjacency"])
def test_more_edges_lead_to_a_vertex_than_there_are_vertices(
    way: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that repeat their vertices are longer than sets of candidates."""
    for owner, name, value in COUNTED[way]:
        monkeypatch.setattr(owner, name, value)
    monkeypatch.setattr(*costs(folds=-1.0))
    source, target = [0] * 40 + [1] * 30 + [2] * 20, [1] * 40 + [2] * 30 + [0] * 20
    graph = gquery.from_arrow(
        vertices={"V": {"id": [0, 1, 2]}}, edges={("V", "E", "V"): {"source": source, "target": target}}
    )
    text = "MATCH REPEATABLE ELEMENTS (a)--(b)--(c)--(d), (b)--(e) RETURN count(*)"
    between = np.zeros((3, 3), np.int64)
    np.add.at(between, (source + target, target + source), 1)
    degrees = between.sum(axis=0)
    expected = sum(degrees[b] ** 2 * between[b, c] * degrees[c] for b, c in product(range(3), range(3)))
    assert graph.query(text, device=device).scalar() == expected


def test_one_of_two_edges_that_are_one_is_no_self_loop(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the other is none either, whichever of them is of fewer types."""
    monkeypatch.setattr(*costs({"gain": 1e9, "least_problems": 60, "numbered": 0.0}, worth_improving=-1.0, select=0.0))
    graph = gquery.from_arrow(
        vertices={"V": {"id": [0, 1, 2]}},
        edges={
            ("V", "X", "V"): {"source": [0, 0, 0], "target": [0, 1, 2]},
            ("V", "Y", "V"): {"source": [0], "target": [1]},
        },
    )
    text = "MATCH (c)-[]->(a), (c)-[]->(b), (c)-[:X]->(d) WHERE b <> c RETURN count(*)"
    assert graph.query(text, device=device).scalar() == 14


def test_little_memory_is_not_spent_on_other_adjacencies(
    follows: gquery.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*costs({"gain": 1e9, "numbered": 1e9}, worth_improving=-1.0, select=0.0))
    text = "MATCH DIFFERENT NODES (a)--(b)--(c)--(a) RETURN count(*)"
    assert "the second of" in follows.explain(text)
    expected = follows.query(text).scalar()
    limited = gquery.Graph(follows.snapshot).with_settings(memory_limit="200kB")
    plan = limited.explain(text)
    assert "the second of" not in plan
    assert "but self-loops" not in plan
    assert limited.query(text).scalar() == expected


def test_what_is_listed_is_matched_along_all_edges(follows: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("rows are told apart by their edges")

    for name in (loop_free.__name__, "numbered"):
        monkeypatch.setattr(counting, name, refused)
    rows = follows.query("MATCH DIFFERENT NODES (a)-[r]-(b)-[s]-(c)-[t]-(a) RETURN a.id, b.id, c.id LIMIT 10").rows()
    assert len(rows) == 10


def test_changes_of_a_graph_are_seen(follows: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*costs({"gain": 1e9, "numbered": 1e9}, worth_improving=-1.0, select=0.0))
    text = "MATCH DIFFERENT NODES (a)--(b)--(c)--(a) RETURN count(*)"
    store = gquery.Store(follows)
    before = store.execute(text).scalar()
    store.execute("CREATE (a:Person {id: 1000})-[:FOLLOWS]->(b:Person {id: 1001})-[:FOLLOWS]->(c:Person {id: 1002})")
    store.execute("MATCH (a {id: 1000}), (c {id: 1002}) CREATE (c)-[:FOLLOWS]->(a), (a)-[:FOLLOWS]->(a)")
    assert store.execute(text).scalar() == before + 6
    store.execute("MATCH (a {id: 1000}), (c {id: 1002}) CREATE (a)-[:FOLLOWS]->(c)")
    assert store.execute(text).scalar() == before + 12

"""Edges of a change that lack a neighbour which the pattern asks for: what would begin there does not run."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import gquery
from gquery.continuous.answers import Answering
from gquery.continuous.terms import terms_of
from gquery.executor.chain import sieve
from gquery.executor.lowering.reading import AHEAD, BACK
from gquery.executor.progress import Control
from gquery.grammar.parser import parse
from gquery.planner.binding.clauses import bind
from gquery.storage.parted.snapshot import Parted

Edges = dict[tuple[str, str, str], dict[str, list[int]]]

VERTICES = {label: {"id": list(range(begin, begin + 4))} for label, begin in (("A", 0), ("B", 10), ("C", 20))}
EDGES: Edges = {
    ("A", "X", "B"): {"source": [0, 1, 2, 3], "target": [10, 11, 12, 13]},
    ("B", "X", "C"): {"source": [10, 11, 12], "target": [20, 21, 22]},
    ("C", "Y", "A"): {"source": [20, 21, 23], "target": [0, 2, 3]},
}


def sieved(pattern: str, graph: gquery.Graph) -> dict[int, list[tuple[int, int, int]]]:
    """By place: source and target, by users' ids, and in which ways the edge fits, of all edges of the graph."""
    snapshot = graph.snapshot
    bound = bind(parse(f"MATCH {pattern} RETURN count(*) AS n"), snapshot.schema, {}, "different edges", strict=True)
    terms = terms_of(bound, snapshot.schema)
    parted = Parted(snapshot, np.arange(snapshot.edge_count), snapshot)
    users = np.concatenate([each.ids.to_numpy() for each in snapshot.vertex_tables])
    found = {}
    for place, leads in terms.sieve.leads(parted, Control()).items():
        assert leads is not None
        kept = zip(*users[leads.ends].tolist(), leads.ways.tolist(), strict=True)
        found[place] = [each for each in kept if each[2]]
    return found


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(:A)-[:X]->(:B)", {0: [(0, 10, AHEAD), (1, 11, AHEAD), (2, 12, AHEAD), (3, 13, AHEAD)]}),
        ("(:B)-[:X]-(:A)", {0: [(0, 10, BACK), (1, 11, BACK), (2, 12, BACK), (3, 13, BACK)]}),
        ("(:B)-[:X]->(:A)", {}),
        ("(:A)-[:Y]-(:B)", {}),
        (
            "(:A)-[:X]->(:B)-[:X]->()",
            {0: [(i, 10 + i, 1) for i in (0, 1, 2)], 1: [(10 + i, 20 + i, 1) for i in (0, 1, 2)]},
        ),
        ("(a:A)-[:X]->(:B)-[:X]->(:C)-[:Y]->(a)", {0: [(0, 10, 1)], 1: [(10, 20, 1)], 2: [(20, 0, 1)]}),
        (
            "(a:A)-[:X]->(:B)-[:X]->(:C)-[:Y]->(:A)",
            {0: [(0, 10, 1), (1, 11, 1), (2, 12, 1)], 1: [(10, 20, 1), (11, 21, 1)], 2: [(20, 0, 1), (21, 2, 1)]},
        ),
    ],
)
def test_what_fits(pattern: str, expected: dict[int, list[tuple[int, int, int]]]) -> None:
    assert sieved(pattern, gquery.from_arrow(vertices=VERTICES, edges=EDGES)) == expected


def test_common_neighbours_in_rows_of_many_labels() -> None:
    """Against sets: of each pair of labels the edges that a triangle with a third may have."""
    random = np.random.default_rng(5)
    ends = np.unique(random.integers(0, 60, (2, 400)), axis=1)
    bounds = [0, 7, 20, 21, 60]
    vertices = {f"L{i}": {"id": list(range(*each))} for i, each in enumerate(pairwise(bounds))}
    labels = np.searchsorted(bounds, np.arange(60), side="right") - 1
    edges: Edges = {}
    for source, target in ends.T.tolist():
        row = edges.setdefault((f"L{labels[source]}", "X", f"L{labels[target]}"), {"source": [], "target": []})
        row["source"].append(source)
        row["target"].append(target)
    graph = gquery.from_arrow(vertices=vertices, edges=edges)
    out = {vertex: set(ends[1, ends[0] == vertex].tolist()) for vertex in range(60)}
    for third in range(4):
        found = sieved(f"(a)-[:X]->(b), (a)-[:X]->(c:L{third}), (b)-[:X]->(c)", graph).get(0, [])
        pairs = ((a, b) for a, b in ends.T.tolist() if any(labels[c] == third for c in out[a] & out[b]))
        assert sorted(each[:2] for each in found) == sorted(pairs)


def test_of_very_many_edges_none_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieve, "_MOST", 1)
    store = gquery.Store(gquery.from_arrow(vertices=VERTICES, edges=EDGES))
    watch = store.watch("MATCH (a:A)-[:X]->(:B)-[:X]->(:C)-[:Y]->(a) RETURN a.id AS a")
    store.apply(insert={("C", "Y", "A"): {"source": [21, 22], "target": [1, 0]}})
    change = watch.next()
    assert change is not None
    assert change.added.to_pylist() == [{"a": 1}]


def test_what_has_no_edge_left_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    store = gquery.Store(gquery.from_arrow(vertices=VERTICES, edges=EDGES))
    watch = store.watch("MATCH (a:A)-[:X]->(b:B)-[:X]->(:C)-[:Y]->(a) RETURN a.id AS a, b.id AS b")
    assert "(a:A): at one of the few (a)-[:X]->(b), where its ends have (:C)" in watch.explain()
    ran: list[tuple[int, ...]] = []
    whole = Answering._chain

    def chain(answering: Answering, planned: object, leads: dict[int, object], *rest: object) -> object:
        ran.append(tuple(leads))
        return whole(answering, planned, leads, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Answering, "_chain", chain)
    store.apply(insert={("C", "Y", "A"): {"source": [22, 23], "target": [1, 0]}})
    change = watch.next()
    assert change is not None
    assert not change
    assert not ran
    store.apply(insert={("C", "Y", "A"): {"source": [21], "target": [1]}})
    change = watch.next()
    assert change is not None
    assert change.added.to_pylist() == [{"a": 1, "b": 11}]
    assert ran == [(2,)]

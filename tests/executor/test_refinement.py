"""Refinement leaves the candidates that have every edge, whatever slices and threads it is done in."""

from __future__ import annotations

import numpy as np
import pytest

import gquery
from gquery.executor.cpu.candidates import candidate_graph
from gquery.executor.devices import backend_of
from gquery.executor.lowering.reading import Reading
from gquery.executor.matcher import Matcher
from gquery.executor.progress import Control
from gquery.planner.ir.query_plan import QueryPlan
from gquery.session import Prepared
from tests.reference.backend import ReferenceBackend

SIZE = 300
QUERIES = {
    "triangle": "(a:A)-[:X]->(b:B)-[:X]->(c:C)-[:X]->(a)",
    "cycle": "(a:A)-[:X]->(b:B)-[:X]->(c:C)-[:X]->(d:A)-[:X]->(e:B)-[:X]->(a)",
    "one label": "(a:A)-[:X]->(b:A)-[:X]->(c:A)-[:X]->(d:A)-[:X]->(e:B)",
    "any label": "(a)-[:X]-(b)-[:X]-(c)-[:X]->(a), (c)-[:X]->(d:C)",
    "loop": "(a:A)-[:X]->(a), (a)-[:X]->(b)-[:X]->(c:B)",
    "nothing": "(a:A)-[:Y]->(b:B)-[:X]->(c:C)",
    "no edges": "(a:A), (b:B)",
    "optional": "(a:A)-[:X]->(b:B) OPTIONAL MATCH (b)-[:X]->(c:C)-[:X]->(d:A)",
    "predicates": "(a:A {n: 3})-[x:X]->(b:B)-[:X]->(c) WHERE x.w > 2 AND c.n < 9",
}


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    random = np.random.default_rng(5)
    vertices = {label: {"id": np.arange(SIZE), "n": np.arange(SIZE) % 20} for label in "ABC"}
    ends = {
        (source, "X", target): {
            "source": random.integers(0, SIZE, SIZE // 2),
            "target": random.integers(0, SIZE, SIZE // 2),
            "w": random.integers(0, 5, SIZE // 2),
        }
        for source in "ABC"
        for target in "ABC"
    }
    none = np.zeros(0, np.int64)
    return gquery.from_arrow(vertices=vertices, edges={**ends, ("A", "Y", "B"): {"source": none, "target": none}})


@pytest.mark.parametrize("slice_size", [1 << 16, 128, 64])
@pytest.mark.parametrize("query", QUERIES)
def test_what_is_left_has_every_edge(
    graph: gquery.Graph, query: str, slice_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With sweeps until nothing changes, which a backend may end before."""
    monkeypatch.setattr(candidate_graph, "SLICE", slice_size)
    monkeypatch.setattr(candidate_graph, "MAX_SWEEPS", 40)
    monkeypatch.setattr(candidate_graph, "_PAYS", -1.0)
    planned = Prepared(graph.snapshot, f"MATCH {QUERIES[query]} RETURN count(*)", {}, graph.settings)
    step = planned.plan.steps[0]
    assert isinstance(step, QueryPlan)
    cpu, plain = (
        Matcher.filtering(backend, step.graph, step.filters, Reading(graph.snapshot, {}, Control()))
        for backend in (backend_of(graph.settings.changed(threads=3)), ReferenceBackend())
    )
    cpu.candidates.refine()
    for _ in range(20):  # each of which sweeps twice
        plain.candidates.refine()
    for vertex in range(len(step.graph.vertices)):
        assert cpu.candidates.vertices((vertex,)).tolist() == plain.candidates.vertices((vertex,)).tolist()
    assert cpu.candidates.edge_counts == plain.candidates.edge_counts

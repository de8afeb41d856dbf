"""What the ablation switches off is there, and no count depends on it."""

from __future__ import annotations

import numpy as np
import pytest

import gquery
from benchmarks.ablation import TECHNIQUES, Technique, without

PATTERNS = (
    "MATCH DIFFERENT NODES (a)-[]->(b)-[]->(c)<-[]-(a), (c)-[]->(d)-[]->(e)",
    "MATCH (a)-[]-(b)-[]-(c)-[]-(d)-[]-(a) WHERE NOT (a)-[]->(c)",
    "MATCH (a:V)-[]->(b)-[]->(c), (b)-[]->(d) WHERE c <> d",
)


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    pairs = np.unique(np.random.default_rng(5).integers(0, 60, (400, 2)), axis=0)
    edges = {"source": pairs[:, 0], "target": pairs[:, 1]}
    return gquery.from_arrow(vertices={"V": {"id": np.arange(60)}}, edges={("V", "E", "V"): edges})


@pytest.fixture(scope="module")
def repeated() -> gquery.Graph:
    """With self-loops, edges that are there twice, and values that several have."""
    random = np.random.default_rng(6)
    ends = random.integers(0, 40, (300, 2))
    ends = np.concatenate([ends, ends[:60]])
    edges = {"source": ends[:, 0], "target": ends[:, 1], "w": random.integers(0, 9, len(ends))}
    vertices = {"id": np.arange(40), "x": random.integers(0, 5, 40)}
    return gquery.from_arrow(vertices={"V": vertices}, edges={("V", "E", "V"): edges})


ASKED = (
    "MATCH (a)-[]->(b)-[]->(c) WHERE a.x = c.x RETURN count(*)",
    "MATCH (a)-[]->(b)-[]->(c)-[]->(a) RETURN count(*)",
    "MATCH (a)-[]->(b)-[]->(c) RETURN b.x AS x, count(*) AS n ORDER BY x",
    "MATCH DIFFERENT NODES (a)-[]->(b)-[]->(c)<-[]-(d)<-[]-(a) RETURN a.x AS x, count(*) AS n ORDER BY x",
    "MATCH (a)-[p]->(b) RETURN a.id AS a, b.x AS b, p.w AS w ORDER BY a, b, w",
    "MATCH (a)-[p]->(b) RETURN a.x AS x, sum(p.w) AS w ORDER BY x",
)


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda each: each.name)
def test_answers_without_it(repeated: gquery.Graph, technique: Technique) -> None:
    for text in ASKED:
        expected = repeated.query(text).to_arrow()
        with without(technique):
            assert gquery.Graph(repeated.snapshot, settings=repeated.settings).query(text).to_arrow() == expected, text


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda each: each.name)
def test_counts_without_it(graph: gquery.Graph, technique: Technique) -> None:
    for pattern in PATTERNS:
        text = f"{pattern} RETURN count(*)"
        expected = graph.query(text).scalar()
        with without(technique):
            assert gquery.Graph(graph.snapshot, settings=graph.settings).query(text).scalar() == expected, pattern

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


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda each: each.name)
def test_counts_without_it(graph: gquery.Graph, technique: Technique) -> None:
    for pattern in PATTERNS:
        text = f"{pattern} RETURN count(*)"
        expected = graph.query(text).scalar()
        with without(technique):
            assert gquery.Graph(graph.snapshot, settings=graph.settings).query(text).scalar() == expected, pattern

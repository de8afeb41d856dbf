"""Estimates where few vertices have most of the neighbours."""

from __future__ import annotations

import re

import numpy as np

import gquery


def test_who_is_known_is_known_by_more_than_the_mean() -> None:
    """A twentieth of the vertices has most edges: by means there would be a tenth of the paths that there are."""
    random = np.random.default_rng(5)
    source = np.concatenate([np.repeat(np.arange(20), 150), np.repeat(np.arange(20, 400), 3)])
    pairs = np.unique(np.column_stack([source, random.integers(0, 400, len(source))]), axis=0)
    graph = gquery.from_arrow(
        vertices={"Person": {"id": np.arange(400)}},
        edges={("Person", "KNOWS", "Person"): {"source": pairs[:, 0], "target": pairs[:, 1]}},
    )
    plan = graph.explain("MATCH (a)<-[:KNOWS]-(b)-[:KNOWS]->(c) RETURN id(a), id(b), id(c)")
    estimated = float(re.findall(r"estimated ([\d,]+)", plan)[-1].replace(",", ""))
    paths = (np.bincount(pairs[:, 0]) ** 2).sum() / 2  # each match stands for two
    assert paths / 1.5 < estimated < paths * 1.5

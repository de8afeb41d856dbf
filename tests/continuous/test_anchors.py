"""Queries of which an edge that comes may take rows away: their anchors are asked before a change and after it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.continuous.standing import Emit, Standing
from gquery.settings import Settings
from tests.continuous.batches import random_batch, random_edges, random_graph, random_steps
from tests.continuous.test_random_batches import MODES, _answer, _groups, _rows, _some

PATTERNS = (
    "(a:A)-[:X]->(b) WHERE NOT (b)-[:Y]->(a)",
    "(a)-[:X]->(b) WHERE NOT (b)-[:Y]->() AND NOT (a)-[:X]->(:A)-[:Y]->(b)",
    "(a)-[:X]-(b) WHERE EXISTS { MATCH (b)-[:Y]->(c) WHERE c.p > a.p AND NOT (c)-[:X]-(a) }",
    "(a:A)-[e:X]->(b) WHERE (b)-[:Y]->() OR a.p > 1 OR e.w = 1",
    "(a) WHERE NOT (a)-[:X]->(:B) AND NOT (a)-[:Y]->(a)",
    "(a:A) WHERE NOT EXISTS { (a)-[:X]->(b) WHERE NOT EXISTS { (b)-[:Y]->(c) WHERE c.p = b.p } }",
    "(a)-[:X]->(b)-[:X]->(c) WHERE COUNT { (b)-[:Y]-(c) } + COUNT { (a)-[:Y]-() } > 1",
    "(a:A)-[:X]-(b) OPTIONAL MATCH (b)-[f:Y]->(c)-[:X]-(a)",
    "(a) OPTIONAL MATCH (a)-[:X]->(b) WHERE b.p > 0 OPTIONAL MATCH (b)-[:Y]-(c) WHERE c.p < a.p",
    "(a)-[:X]->(b) WITH b AS a OPTIONAL MATCH (a)-[:Y]->(b) WITH a, b WHERE b IS NULL OR b.p = a.p",
    "(a:A) WHERE a.p > 1",
    "(b)-[:X]->(a)-[:Y]-(c)-[:X]-(b) WHERE NOT (a)-[:X]->(c)",
    "INDUCED (a)-[:X]-(b)-[:X|Y]-(c)",
    "INDUCED (a)-[:X]->(b) MATCH (b)-[:Y]-(c) WHERE NOT (c)-[:X]->(a)",
    "INDUCED (a)-[:X]-(b), (b)-[:Y]-(c), (c)-[:X]-(d)",
    "(a) CALL (a) { MATCH (a)-[:X]->(b) RETURN b.p AS q } WITH a, q",
)
ROWS, GROUPS = "RETURN a.p AS p", "RETURN a.p AS p, count(*) AS n"
pytestmark = pytest.mark.filterwarnings("ignore::gquery.QueryWarning")

GRAPHS = 400 if os.environ.get("GQUERY_SLOW") else 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_old_and_change_is_new(seed: int, mode: Any, device: Any) -> None:
    random = np.random.default_rng([seed, 4, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    chosen = random.choice(PATTERNS, 4, replace=False).tolist()
    asked: list[tuple[str, Emit]] = [(ROWS, "rows"), (GROUPS, "counts"), ("RETURN count(*) AS n", "counts")]
    watched = [
        Standing(f"MATCH {pattern} {end}", {}, settings, emit)
        for pattern, (end, emit) in zip(chosen, (*asked, asked[0]), strict=True)
    ]
    graph = random_graph(random)
    answers = [_answer(graph.snapshot, each.text, settings) for each in watched]
    for between in random_steps(random, graph.snapshot, 2, random_edges if seed % 2 else random_batch):
        for place, each in enumerate(watched):
            told = _rows if each.emit == "rows" else _groups
            added, removed = map(told, each.change(between))
            before, answers[place] = answers[place], _answer(between.new, each.text, settings)
            expected = told(answers[place])
            expected.subtract(told(before))
            added.subtract(removed)
            assert _some(added) == _some(expected), f"{each.text}, {mode}, seed {seed}"


@pytest.mark.parametrize("query", [f"MATCH {pattern} {ROWS}" for pattern in PATTERNS])
def test_each_is_told_by_anchors(query: str) -> None:
    """And so by no more than what is near the change."""
    edges = {("A", type_, "B"): {"source": [1, 2], "target": [1, 2], "w": [1, 2]} for type_ in "XY"}
    vertices = {label: {"id": [1, 2], "p": [1, 2]} for label in "AB"}
    told = gquery.Store(gquery.from_arrow(vertices, edges)).watch(query).explain()
    assert "Answer for these before the change and after it, and compare" in told

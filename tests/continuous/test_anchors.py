"""Queries of which an edge that comes may take rows away: their anchors are asked before a change and after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gquery
from gquery.continuous.standing import Emit
from gquery.settings import Settings
from tests.continuous.batches import random_batch, random_edges, random_graph, random_steps
from tests.continuous.queries import ANCHORED, GROUPS_OF_A, MODES, NUMBER, OF_A
from tests.continuous.rerun import Rerun

pytestmark = pytest.mark.filterwarnings("ignore::gquery.QueryWarning")

GRAPHS = 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_old_and_change_is_new(seed: int, mode: Any, device: Any) -> None:
    random = np.random.default_rng([seed, 4, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    chosen = random.choice(ANCHORED, 4, replace=False).tolist()
    asked: list[tuple[str, Emit]] = [(OF_A, "rows"), (GROUPS_OF_A, "counts"), (NUMBER, "counts")]
    snapshot = random_graph(random).snapshot
    watched = [
        Rerun(f"MATCH {pattern} {end}", emit, settings, snapshot)
        for pattern, (end, emit) in zip(chosen, (*asked, asked[0]), strict=True)
    ]
    for between in random_steps(random, snapshot, 2, random_edges if seed % 2 else random_batch):
        for each in watched:
            each.follow(between)


@pytest.mark.parametrize("query", [f"MATCH {pattern} {OF_A}" for pattern in ANCHORED])
def test_each_is_told_by_anchors(query: str) -> None:
    """And so by no more than what is near the change."""
    edges = {("A", type_, "B"): {"source": [1, 2], "target": [1, 2], "w": [1, 2]} for type_ in "XY"}
    vertices = {label: {"id": [1, 2], "p": [1, 2]} for label in "AB"}
    told = gquery.Store(gquery.from_arrow(vertices, edges)).watch(query).explain()
    assert "Answer for these before the change and after it, and compare" in told

"""Many small changes of edges, one after the other: what matchings have made ready for one serves the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gquery
from gquery.continuous.standing import Emit
from gquery.executor.chain import again
from gquery.settings import Settings
from tests.continuous.batches import random_edges, random_graph, random_steps
from tests.continuous.queries import GROUPS_OF_A, JOINED, MODES, NUMBER
from tests.continuous.rerun import Rerun

BATCHES = 6


@pytest.mark.parametrize("mode", MODES[:3])
@pytest.mark.parametrize("seed", range(3))
def test_one_batch_after_the_other(seed: int, mode: Any, device: Any) -> None:
    random = np.random.default_rng([seed, 3, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    asked: list[tuple[str, Emit]] = [(NUMBER, "counts"), (GROUPS_OF_A, "counts")]
    asked.append(("RETURN a.p AS p, b.p AS q, c.p AS r", "rows"))
    chosen = random.choice(JOINED, 2, replace=False).tolist()
    snapshot = random_graph(random).snapshot
    watched = [Rerun(f"MATCH {pattern} {end}", emit, settings, snapshot) for pattern in chosen for end, emit in asked]
    for between in random_steps(random, snapshot, BATCHES, random_edges):
        for each in watched:
            each.follow(between)


def test_what_is_made_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """A term is made ready when it runs again on the same vertices, once; and anew when these change."""
    made: list[object] = []
    whole = again._made

    def make(*given: Any) -> object:
        made.append(whole(*given))
        return made[-1]

    monkeypatch.setattr(again, "_made", make)
    edges = {("V", "X", "V"): {"source": [0, 0, 1, 0], "target": [1, 2, 1, 0]}}
    store = gquery.Store(gquery.from_arrow(vertices={"V": {"id": list(range(9)), "p": [0] * 9}}, edges=edges))
    watch = store.watch("MATCH (a)-[:X]->(b)-[:X]->(c) RETURN count(*) AS n", emit="counts", mode="different nodes")

    def added(source: int, target: int) -> int:
        store.apply(insert={("V", "X", "V"): {"source": [source, source], "target": [target, 8]}})
        change = watch.next()
        assert change is not None
        return int(change.added["n"][0].as_py())

    assert [added(*ends) for ends in ((2, 3), (3, 4), (4, 5), (5, 6))] == [2, 2, 2, 2]
    assert len(made) == 1  # no edge leads on from where the first relationship would end
    assert all(made)
    store.apply(set={"V": {"id": [0], "p": [1]}})
    assert watch.next() is not None
    assert [added(*ends) for ends in ((6, 7), (7, 3))] == [2, 4]
    assert len(made) == 2

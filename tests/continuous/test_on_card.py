"""What a large change did to a count may be found on a card; what a small one did is not worth it."""

from __future__ import annotations

import numpy as np
import pytest

import gquery
from gquery.settings import Settings
from tests.emulated.device import COMPILER, emulated
from tests.executor.test_card_beside import Beside

RING = "MATCH (a:A)-[:X]->(b:A)-[:X]->(c:A)-[:X]->(a) RETURN count(*) AS n"


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")
def test_large_changes_go_to_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = np.unique(np.random.default_rng(3).integers(0, 40, (2, 900)), axis=1)
    edges = [{"source": each[0], "target": each[1]} for each in (ends[:, ::2], ends[:, 1::2])]
    graph = gquery.from_arrow({"A": {"id": np.arange(40)}}, {("A", "X", "A"): edges[0]})
    beside = Beside(emulated(Settings()))
    monkeypatch.setattr("gquery.continuous.answers.card_beside", lambda _: beside)
    store = gquery.Store(graph)
    watch = store.watch(RING, emit="counts")
    for change, asked in ((edges[1], 1), ({"source": [0], "target": [0]}, 0)):
        before, beside.asked = store.graph.query(RING).scalar(), 0
        store.apply(insert={("A", "X", "A"): change})
        told = watch.next()
        assert told is not None
        assert told.added["n"][0].as_py() == store.graph.query(RING).scalar() - before
        assert bool(beside.asked) == bool(asked)

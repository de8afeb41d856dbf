"""Edges that must not be there, in the candidate graph: there may be far more of them than of those that must."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import gquery
from tests.differential.test_counting import WAYS

SIZE = 40


def test_more_absent_edges_than_others(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of A lead to the one of B and that to all of C; each of A to all of C but one."""
    for patch in WAYS["candidate graph"]:
        monkeypatch.setattr(*patch)
    ids = np.arange(SIZE)
    sources, targets = (each.ravel() for each in np.meshgrid(ids, ids))
    kept = sources != targets
    graph = gquery.from_arrow(
        vertices={
            "A": pa.table({"id": ids}),
            "B": pa.table({"id": [SIZE]}),
            "C": pa.table({"id": SIZE + 1 + ids}),
        },
        edges={
            ("A", "X", "B"): pa.table({"source": ids, "target": [SIZE] * SIZE}),
            ("B", "X", "C"): pa.table({"source": [SIZE] * SIZE, "target": SIZE + 1 + ids}),
            ("A", "X", "C"): pa.table({"source": sources[kept], "target": SIZE + 1 + targets[kept]}),
        },
    )
    text = "MATCH INDUCED (a:A)-[:X]->(b:B)-[:X]->(c:C) RETURN id(a), id(c)"
    found = sorted((a, c) for a, c in graph.query(text, device=device).rows())
    assert found == [(each, SIZE + 1 + each) for each in range(SIZE)]

"""Streams of updates on a real graph, in several batches: what comes and goes is what two published matchers have
counted. All of them: `python -m benchmarks.continuous`."""

from __future__ import annotations

from pathlib import Path

import pytest

import gquery
from benchmarks.continuous.streams import STREAMS, Place, expected, measure, updates

pytestmark = pytest.mark.large
SAMPLE = ("github_dense_0", "github_sparse_2", "github_tree_0")
BATCHES = 5


@pytest.mark.parametrize("stream", STREAMS)
def test_github(stream: str, shared_data: Path) -> None:
    folder = shared_data / "continuous"
    graph = gquery.load(folder / "github.graph.gz")
    known = [each for each in expected(folder, "github", stream) if each.query in SAMPLE]
    _, measured = measure(Place(folder, "cpu"), graph, updates(folder, "github", stream), known, BATCHES)
    assert len(measured) == len(SAMPLE)
    assert all(each.right for each in measured), [each.expected for each in measured if not each.right]

"""Graphs whose ids are in segments, as inserts leave them, answer as all others do; saved and opened too."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import gquery
from gquery.session import Graph
from tests.differential.build import expected_rows, found_rows, to_gquery
from tests.differential.generate import random_graph
from tests.differential.judged import written
from tests.differential.test_random import FUZZ, cases
from tests.storage.scattered import scattered

SEEDS = 20 * FUZZ  # a chunk


@pytest.mark.parametrize("chunk", range(4))
def test_rows_and_counts(chunk: int, device: str, tmp_path: Path) -> None:
    for seed in range(chunk * SEEDS, (chunk + 1) * SEEDS):
        random = Random(f"segments {seed}")
        data = random_graph(random, 12)
        graph = Graph(scattered(to_gquery(data).snapshot, random))
        if seed % 4 == 0:
            graph.save(tmp_path / f"{seed}.gq")
            graph = gquery.open(tmp_path / f"{seed}.gq")
        for query, matches in cases(random, data):
            renderer, body, mode = written(query, random)
            text = f"{body} RETURN {renderer.returned()}"
            told = f"seed {seed}: {text} {renderer.parameters} {mode}\n{data}"
            rows = found_rows(graph.query(text, renderer.parameters, mode=mode, device=device))
            assert rows == expected_rows(query, matches), told
            count = graph.query(f"{body} RETURN count(*) AS n", renderer.parameters, mode=mode, device=device)
            assert count.scalar() == len(matches), told

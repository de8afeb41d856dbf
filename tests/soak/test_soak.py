"""Random queries over random graphs of mixed types, held against the evaluator. The long version is `make soak`.

The seeds are fixed: chunk c has the graphs c * GRAPHS and on. GQUERY_SLOW=1 takes ten times as many.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.soak.__main__ import REFUSED
from tests.soak.queries import random_query
from tests.soak.run import reproduction, soaked

CHUNKS = 8
GRAPHS = 32 * (10 if os.environ.get("GQUERY_SLOW") else 1)  # a chunk, of eight queries each


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_gquery_agrees_with_the_evaluator(chunk: int) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(chunk * GRAPHS, (chunk + 1) * GRAPHS):
        for outcome in soaked(seed, random_query):
            kinds[outcome.verdict.kind] += 1
            assert not outcome.verdict.bad, reproduction(outcome)
    print(f"graphs {chunk * GRAPHS} and on: {dict(kinds)}")
    assert kinds["refused"] <= REFUSED * kinds.total(), kinds
    assert kinds["same"] >= 0.7 * kinds.total(), kinds

"""Columns of an answer that workers gather: batches, and what waits for them, end in the middle of everything."""

from __future__ import annotations

import numpy as np
import pytest

from gquery.executor.cpu.search import run
from gquery.executor.cpu.search.frames import columns, memory
from tests.differential.test_counting import WAYS
from tests.executor.test_cpu_ways import GIVEN
from tests.executor.test_gathered import compare_numbers


@pytest.mark.parametrize("seed", range(24))
def test_batches_of_any_size(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(seed)
    monkeypatch.setattr(run, "_LARGEST_BUFFER", int(random.integers(1, 60)))
    monkeypatch.setattr(columns, "_STAGED", 0)
    monkeypatch.setattr(columns, "_FEWEST", int(random.integers(1, 20)))
    monkeypatch.setattr(memory, "_SLICE", int(random.integers(2, 200)))
    if seed % 2:
        monkeypatch.setattr(*WAYS["candidate graph"][0])
    for patch in GIVEN if seed % 3 == 0 else ():
        monkeypatch.setattr(*patch)
    compare_numbers(random, seed % 4 < 2, "cpu")

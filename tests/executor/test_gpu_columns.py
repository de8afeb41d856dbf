"""Columns that stay on a card: how their length is counted, and how they are written where blocks are small."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from gquery.executor.devices import BACKENDS
from gquery.executor.gpu import search
from gquery.executor.gpu.program import writing
from gquery.executor.lowering.program import Program
from gquery.executor.lowering.sums.counting import counting
from tests.emulated.device import COMPILER, emulated
from tests.executor.test_gathered import compare_columns

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


@pytest.fixture(autouse=True)
def _on_emulated_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    monkeypatch.setitem(sys.modules, "cupy", np)


@pytest.mark.parametrize("seed", range(3))
def test_small_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_LARGEST_BLOCK", 16)
    compare_columns(np.random.default_rng(seed), "gpu")


def test_levels_that_are_folded_and_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """By sums for each candidate where a level looks at the one before alone, else by partial match."""
    counted: list[Program] = []

    def noted(*asked: object) -> Program:
        counted.append(counting(*asked))  # type: ignore[arg-type]
        return counted[-1]

    monkeypatch.setattr(search, "counting", noted)
    compare_columns(np.random.default_rng(0), "gpu")
    assert {level.folded for program in counted for level in program.levels} == {False, True}

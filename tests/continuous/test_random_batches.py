"""Random batches, in all modes: `python -m tests.continuous` takes ten thousand of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gquery.continuous.standing import Emit
from gquery.settings import Settings
from tests.continuous.batches import random_graph, random_steps
from tests.continuous.queries import COUNTS, MODES, ROWS
from tests.continuous.rerun import Rerun

pytestmark = pytest.mark.filterwarnings("ignore::gquery.QueryWarning")

GRAPHS, BATCHES = 12, 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_rows(seed: int, mode: str, device: str) -> None:
    _follow(seed, mode, device, ROWS, "rows")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_counts(seed: int, mode: str, device: str) -> None:
    _follow(seed, mode, device, COUNTS, "counts")


def test_vertices_beyond_all_rows_of_a_matrix() -> None:
    """Two rows decide a sum, and the vertex of one is beyond all that have any: that ended the process."""
    _follow(102, "repeatable elements", "cpu", COUNTS, "counts")


@pytest.mark.parametrize("seed", range(8))
def test_several_batches_as_one_change(seed: int) -> None:
    random = np.random.default_rng([seed, 2])
    first, *others = random_steps(random, random_graph(random).snapshot, 4)
    for each in others:
        first = first.joined(each)
    for query in ROWS:
        Rerun(query, "rows", Settings(strict=False), first.old).follow(first)


def _follow(seed: int, mode: Any, device: Any, queries: tuple[str, ...], emit: Emit) -> None:
    """A few of the queries."""
    random = np.random.default_rng([seed, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    chosen = random.choice(queries, 3, replace=False).tolist()
    snapshot = random_graph(random).snapshot
    watched = [Rerun(query, emit, settings, snapshot) for query in chosen]
    for between in random_steps(random, snapshot, BATCHES):
        for each in watched:
            each.follow(between)

"""Queries that stand while one random graph changes, batch after batch: some that are written down, and random ones."""

from __future__ import annotations

import faulthandler
import warnings
from typing import Any

import numpy as np

from gquery.continuous import standing
from gquery.continuous.numbers import kept, making, totals
from gquery.continuous.numbers.kept import Kept
from gquery.continuous.standing import Emit
from gquery.errors import QueryWarning
from gquery.executor.devices import BACKENDS
from gquery.settings import Settings
from tests.conftest import SUITE
from tests.continuous.batches import random_batch, random_edges, random_graph, random_steps
from tests.continuous.making import waited_for
from tests.continuous.queries import ANCHORED, COUNTS, FALLING_APART, GROUPS_OF_A, JOINED, MODES, NUMBER, OF_A, ROWS
from tests.continuous.random_queries import random_query
from tests.continuous.rerun import Rerun

BATCHES = 10
STANDING = 6

_MATCHED = [f"MATCH {pattern}" for pattern in (*JOINED, *ANCHORED, *FALLING_APART)]
_ROWS = (*ROWS, *(f"{each} {OF_A}" for each in _MATCHED))
_COUNTS = (*COUNTS, *(f"{each} {end}" for each in _MATCHED for end in (GROUPS_OF_A, NUMBER)))
_QUERIES: list[tuple[str, Emit]] = [*((each, "rows") for each in _ROWS), *((each, "counts") for each in _COUNTS)]


_ANSWERED = Kept.answered_without


def begin(device: str) -> None:
    """In a process of its own: all that it asks goes to one of the test suite's devices, and sums are made after the
    first few changes, however little these have taken, while further ones come or not; or changes are large, and all
    matches are counted."""
    faulthandler.enable()
    warnings.simplefilter("ignore", QueryWarning)
    BACKENDS[device] = SUITE[device]
    kept._CHANGES, kept._LEAST, kept._CALL, kept._PATIENCE = 3, 0.0, -60.0, 1e9
    making._FEW = 1
    totals._SHARE, totals._TERM = 0.0, 60.0


def follow(graph: int, device: Any) -> list[str]:
    """What was wrong, once for each query."""
    standing._FEW = (1 << 10, 0)[graph // (2 * len(MODES)) % 2]
    Kept.answered_without = (_ANSWERED, waited_for(_ANSWERED))[graph // (4 * len(MODES)) % 2]  # type: ignore[method-assign]
    random = np.random.default_rng([graph, 5])
    settings = Settings(mode=MODES[graph % len(MODES)], device=device, strict=False)  # type: ignore[arg-type]
    snapshot = random_graph(random).snapshot
    chosen = [_QUERIES[place] for place in random.choice(len(_QUERIES), STANDING // 2, replace=False)]
    chosen += [random_query(random) for _ in range(STANDING // 2)]
    watched = [Rerun(text, emit, settings, snapshot) for text, emit in chosen]
    wrong = []
    make = (random_batch, random_edges)[graph // len(MODES) % 2]
    for between in random_steps(random, snapshot, BATCHES, make):
        for each in watched.copy():
            try:
                each.follow(between)
            except Exception as error:
                wrong.append(f"{type(error).__name__}: {error} [{each.text}]")
                watched.remove(each)
    return wrong

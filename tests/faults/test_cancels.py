"""Cancels at random moments: none is lost, and the answer to one comes soon. GQUERY_SLOW=1: a thousand of them."""

from __future__ import annotations

import os
import random
import statistics
import threading
import time

import pytest

import gquery
from tests.conftest import patience
from tests.faults.graphs import LONG_COUNT, MANY_ROWS, dense_graph

pytestmark = pytest.mark.alone

CANCELS = 1_000 if os.environ.get("GQUERY_SLOW") else 60
SEED = 4
AT_THE_MEDIAN = 0.1  # seconds
AT_MOST = 5.0

ENDLESS = [
    LONG_COUNT,
    MANY_ROWS,
    MANY_ROWS + " ORDER BY a + b + c DESC",
    MANY_ROWS.replace("RETURN", "RETURN DISTINCT"),
    MANY_ROWS.replace("id(a) AS a", "size(range(1, 200000 + id(a))) AS a"),
    "MATCH (a)-[:X]->(b) WHERE size(range(1, 900000 + id(a))) > 3 RETURN count(*)",
]


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    graph = dense_graph()
    for text in ENDLESS:  # compiled before anything is cancelled
        with pytest.raises(gquery.QueryTimeout):
            graph.query(text, timeout=0.2).to_arrow()
    return graph


def test_none_is_lost(graph: gquery.Graph) -> None:
    chance = random.Random(SEED)
    late = []
    for number in range(CANCELS):
        result = graph.query(ENDLESS[number % len(ENDLESS)])
        outcome: list[object] = []

        def read(result: gquery.Result = result, outcome: list[object] = outcome) -> None:
            try:
                for _ in result.reader():
                    pass
                outcome.append("no end")
            except gquery.GQueryError as error:
                outcome.append(type(error))

        thread = threading.Thread(target=read)
        # Half of them at once, when the run may not have begun.
        moment = 0.0 if chance.random() < 0.5 else chance.uniform(0.0, 0.15)
        thread.start()
        time.sleep(moment)
        began = time.monotonic()
        result.cancel()
        thread.join(AT_MOST * patience())
        assert outcome == [gquery.QueryCancelled], f"seed {SEED}, cancel {number}: {outcome}"
        late.append(time.monotonic() - began)
    print(f"seed {SEED}: {CANCELS} cancels, median {statistics.median(late):.3f} s, longest {max(late):.3f} s")
    assert statistics.median(late) < AT_THE_MEDIAN * patience()


def test_before_the_run_begins(graph: gquery.Graph) -> None:
    """It holds for the next run, and for no other."""
    result = graph.query(f"{MANY_ROWS} LIMIT 3")
    result.cancel()
    with pytest.raises(gquery.QueryCancelled):
        result.rows()
    assert len(result.rows()) == 3
    result.cancel()
    assert len(result.rows()) == 3, "what is kept is no run"


def test_before_the_first_batch(graph: gquery.Graph) -> None:
    result = graph.query(MANY_ROWS)
    reader = result.reader()
    result.cancel()
    with pytest.raises(gquery.QueryCancelled):
        reader.read_next_batch()


def test_all_runs_of_a_result(graph: gquery.Graph) -> None:
    result = graph.query(MANY_ROWS)
    first, second = result.reader(), result.reader()
    assert first.read_next_batch().num_rows > 0
    assert second.read_next_batch().num_rows > 0
    result.cancel()
    for reader in (first, second):
        with pytest.raises(gquery.QueryCancelled):
            reader.read_all()

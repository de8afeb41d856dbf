"""How workers share one search: the pool, what is given away, what is finished, who waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.kernels.workspace import PATIENT, SIGNALS, STATE_SLOTS, ends_early
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.helper import Helper
from gquery.executor.cpu.search import sharing, workers
from gquery.executor.cpu.search.frames import memory
from gquery.executor.cpu.search.sharing import Sharing, Task
from gquery.executor.cpu.search.workers import Enumeration
from gquery.executor.relational.streams import Made, through
from tests.helpers import no_helper_left

SOON = 20.0  # seconds


def pool_of(rows: int) -> PartialMatches:
    return PartialMatches(np.arange(rows, dtype=np.int32).reshape(1, -1), rows)


def test_chunks_are_the_whole_pool() -> None:
    shared: Sharing[int] = Sharing(2, pool_of(10), 4, False, 1)
    found, task = [], shared.take(False, 0.0)
    while task is not None:
        assert not shared.is_over
        found.extend(task.given.positions[0].tolist())
        task = shared.take(True, None)
    assert found == list(range(10))
    assert shared.is_over


def test_who_waits_is_given_what_was_promised() -> None:
    shared: Sharing[int] = Sharing(2, pool_of(1), 1, False, 1)
    assert shared.take(False, 0.0) is not None
    assert not shared.promises()
    given, got = Task(0, pool_of(3)), []
    waiting = threading.Thread(target=lambda: got.append(shared.take(False, None)))
    waiting.start()
    deadline = time.monotonic() + SOON
    while not shared.promises() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert not shared.promises()  # it is promised to already
    shared.give(given, claimed=False)
    waiting.join(SOON)
    assert got == [given]


def test_a_claim_of_a_kernel_is_settled() -> None:
    """One kernel alone gives for each who waits; another one may, where the first had nothing to give."""
    shared: Sharing[int] = Sharing(3, pool_of(1), 1, False, 1)
    work = np.zeros(STATE_SLOTS, np.int64)
    work[SIGNALS] = shared.signals

    def claims() -> bool:
        return bool(_claims(work))

    assert shared.take(False, 0.0) is not None
    assert not claims()
    given, got = Task(0, pool_of(3)), []
    waiting = [threading.Thread(target=lambda: got.append(shared.take(False, None))) for _ in range(2)]
    for number, thread in enumerate(waiting):
        thread.start()
        deadline = time.monotonic() + SOON
        while not shared.is_wanted and time.monotonic() < deadline:
            time.sleep(0.001)
        assert claims()
        assert not claims()
        assert not shared.is_wanted
        if number == 0:
            shared.give(None, claimed=True)
            assert claims()
    shared.give(given, claimed=True)
    shared.give(given, claimed=True)
    for thread in waiting:
        thread.join(SOON)
    assert got == [given, given]
    assert not claims()
    work[PATIENT] = 1 << 40
    assert not claims()
    shared.stop()
    assert claims()  # whatever the patience


@kernel
def _claims(state):  # type: ignore[no-untyped-def]
    return ends_early(state)


def test_work_is_given_where_a_kernel_claims_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one root, while the slices of all others go on."""
    edges = {"source": [n // 200 for n in range(40_000)], "target": [n % 200 for n in range(40_000)]}
    graph = gquery.from_arrow(vertices={"V": {"id": range(200)}}, edges={("V", "X", "V"): edges})
    given: list[bool] = []
    give = Sharing.give

    def noted(self: Sharing[object], task: Task | None, claimed: bool) -> None:
        given.append(claimed and task is not None)
        give(self, task, claimed)

    monkeypatch.setattr(sharing.Sharing, "give", noted)
    asked = graph.with_settings(threads=3)
    text = "MATCH REPEATABLE ELEMENTS (a {id: 7})-[]->(b)-[]->(c)-[]->(d) RETURN id(b) AS b, id(c) AS c, id(d) AS d"
    for _ in range(20):  # on a busy machine one thread may have done all before another has begun
        assert asked.query(text).to_arrow().num_rows == 200**3
        if any(given):
            return
    raise AssertionError("nothing was given")


def test_who_waits_wakes_when_nothing_is_left() -> None:
    shared: Sharing[int] = Sharing(2, pool_of(1), 1, False, 1)
    assert shared.take(False, 0.0) is not None
    got: list[Task | None] = []
    waiting = threading.Thread(target=lambda: got.append(shared.take(False, None)))
    waiting.start()
    time.sleep(0.01)
    assert not got
    assert shared.take(True, None) is None
    waiting.join(SOON)
    assert got == [None]


@pytest.mark.parametrize("how", ["consumed", "stopped"])
def test_finished_items_wait_for_room(how: str) -> None:
    shared: Sharing[int] = Sharing(2, pool_of(1), 1, False, 1)
    shared.deliver(0)
    waiting = threading.Thread(target=lambda: shared.deliver(1))
    waiting.start()
    time.sleep(0.01)
    assert waiting.is_alive()
    if how == "stopped":
        shared.stop()
    found = list(shared.finished())
    waiting.join(SOON)
    assert [*found, *shared.finished()] == [0, 1]


def test_what_fails_behind_the_kernels_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever thread it happens; and no thread is left."""
    edges = {"source": [n // 300 for n in range(90_000)], "target": [n % 300 for n in range(90_000)]}
    graph = gquery.from_arrow(vertices={"V": {"id": range(300)}}, edges={("V", "X", "V"): edges})
    graph = graph.with_settings(threads=3)
    calls: list[int] = []
    deliver = Sharing.deliver

    def failing(self: Sharing[object], item: object) -> None:
        calls.append(threading.get_ident())
        if len(calls) > 2:
            raise gquery.ExecutionError("as if it could not be made")
        deliver(self, item)

    monkeypatch.setattr(sharing.Sharing, "deliver", failing)
    with no_helper_left(), pytest.raises(gquery.ExecutionError, match="as if"):
        graph.query("MATCH (a)-[]->(b)-[]->(c)-[]->(d) RETURN id(a) AS a, id(d) AS d").to_arrow()
    assert threading.get_ident() not in calls


def batch(*values: int) -> pa.RecordBatch:
    return pa.record_batch([pa.array(values)], ["n"])


def plus(number: int) -> Callable[[pa.RecordBatch], Iterator[pa.RecordBatch]]:
    return lambda rows: iter([batch(*(value + number for value in rows.column(0).to_pylist()))])


@pytest.mark.parametrize("kind", ["made", "given"])
def test_rows_go_through_all_that_is_done_with_them(kind: str) -> None:
    closed: list[str] = []

    def numbers(work: Callable[[pa.RecordBatch], Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        try:
            for number in range(3):
                yield from work(batch(number))
        finally:
            closed.append(kind)

    rows = Made(numbers) if kind == "made" else numbers(lambda each: iter([each]))
    rows = through(through(rows, plus(10)), plus(100))
    assert next(rows).column(0).to_pylist() == [110]
    assert next(rows).column(0).to_pylist() == [111]
    rows.close()
    assert closed == [kind]


@pytest.mark.parametrize("last", ["a", "d"])
def test_what_is_not_done_at_once_begins_anew(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are searched in one slice; where that is too short, nothing of it stays."""
    random = np.random.default_rng(3)
    edges = {("V", "X", "V"): {"source": random.integers(0, 60, 900), "target": random.integers(0, 60, 900)}}
    graph = gquery.from_arrow(vertices={"V": {"id": np.arange(60)}}, edges=edges)
    text = f"MATCH (a {{id: 0}})-[:X]-(b)-[:X]-(c)-[:X]-({last}) RETURN count(*) AS n"
    at_once = graph.query(text).scalar()
    monkeypatch.setattr(memory, "_SLICE", 5)
    tried = []
    whole = Enumeration._at_once
    monkeypatch.setattr(Enumeration, "_at_once", lambda search: tried.append(whole(search)) or tried[-1])
    assert graph.query(text).scalar() == at_once
    assert tried == [None]


def test_what_is_done_at_once_starts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the reader takes with what it was given."""
    edges = {("P", "K", "P"): {"source": [1, 2, 3], "target": [2, 3, 1]}}
    graph = gquery.from_arrow(vertices={"P": {"id": [1, 2, 3]}}, edges=edges)
    query = graph.with_settings(threads=4).query("MATCH (a)-[:K]->(b)-[:K]->(c) RETURN a.id, c.id")
    query.rows()
    monkeypatch.setattr(workers, "_ALONE", 0.01)
    monkeypatch.setattr(Helper, "start", lambda _: pytest.fail("started"))
    for row in query:
        time.sleep(0.02)
        assert len(row) == 2

"""The tail as a stream: it pulls no more than it needs, stops when told, and leaves nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from gquery.errors import MemoryLimitError, QueryCancelled, QueryTimeout
from gquery.executor.progress import Control
from gquery.executor.relational import computing
from gquery.executor.relational.database import running as database
from gquery.executor.relational.database.running import LEAST_MEMORY
from gquery.executor.relational.database.watch import NAME
from tests.conftest import patience
from tests.executor.relational_graph import people, tail_of

PLAIN = "MATCH (a:Person) RETURN a.name"
COMPUTED = "MATCH (a:Person) RETURN a.age + 1"
SORTED = "MATCH (a:Person) RETURN a.name, rand() AS r ORDER BY r"
KEPT = "MATCH (a:Person) RETURN a.name, a.age ORDER BY a.age"
ENDLESS = 10**9
SOON = 2.0  # seconds

every_way = pytest.mark.parametrize(
    "text", [PLAIN, COMPUTED, SORTED, KEPT], ids=["gathered", "streamed", "sorted", "kept"]
)


def running() -> set[threading.Thread]:
    """The threads, but for the one of the process that watches over statements and ends by itself."""
    return {thread for thread in threading.enumerate() if thread.name != NAME}


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    before = running()
    yield
    gc.collect()
    assert not running() - before


@pytest.mark.parametrize("text", [PLAIN, COMPUTED], ids=["gathered", "streamed"])
def test_rows_come_while_matches_still_come(text: str) -> None:
    pulled = [0]
    answer = tail_of(text).run(people(ENDLESS, 1000, pulled), Control())
    assert next(answer).num_rows
    after_first = pulled[0]
    assert after_first <= 100
    time.sleep(0.05)
    assert pulled[0] == after_first, "something pulls between two reads"
    answer.close()  # type: ignore[attr-defined]
    assert pulled[0] == after_first


@pytest.mark.parametrize("text", [f"{PLAIN} LIMIT 10", f"{COMPUTED} LIMIT 10", f"{COMPUTED} SKIP 500 LIMIT 10"])
def test_limit_stops_pulling(text: str) -> None:
    pulled = [0]
    answer = tail_of(text).run(people(ENDLESS, 1000, pulled), Control())
    assert sum(batch.num_rows for batch in answer) == 10
    assert pulled[0] <= 60


def test_limit_zero_pulls_nothing() -> None:
    pulled = [0]
    assert list(tail_of(f"{PLAIN} LIMIT 0").run(people(ENDLESS, 10, pulled), Control())) == []
    assert pulled[0] == 0


@every_way
def test_closing_early_closes_the_match_stream(text: str) -> None:
    closed = []

    def matches() -> Iterator[pa.RecordBatch]:
        try:
            yield from people(100, 1000)
        finally:
            closed.append(True)

    answer = tail_of(text).run(matches(), Control())
    next(answer)
    answer.close()  # type: ignore[attr-defined]
    assert closed == [True]


def test_dropping_the_stream_is_closing_it() -> None:
    closed = []

    def matches() -> Iterator[pa.RecordBatch]:
        try:
            yield from people(100, 1000)
        finally:
            closed.append(True)

    answer = tail_of(COMPUTED).run(matches(), Control())
    next(answer)
    del answer
    gc.collect()
    assert closed == [True]


@every_way
@pytest.mark.parametrize("error", [QueryTimeout("too late"), MemoryLimitError("too much"), ZeroDivisionError("ours")])
def test_errors_of_the_matcher_come_out_as_they_are(text: str, error: Exception) -> None:
    def matches() -> Iterator[pa.RecordBatch]:
        yield from people(3, 1000)
        raise error

    with pytest.raises(type(error)) as raised:
        list(tail_of(text).run(matches(), Control()))
    assert raised.value is error


@every_way
def test_cancel_while_matches_come(text: str) -> None:
    control = Control()

    def matches() -> Iterator[pa.RecordBatch]:
        for index, batch in enumerate(people(ENDLESS, 10)):
            if index == 200:
                control.cancel()
            yield batch

    with pytest.raises(QueryCancelled):
        list(tail_of(text).run(matches(), control))


@pytest.mark.alone
@every_way
def test_timeout_while_matches_come(text: str) -> None:
    def matches() -> Iterator[pa.RecordBatch]:
        for batch in people(ENDLESS, 10):
            time.sleep(0.001)
            yield batch

    started = time.monotonic()
    with pytest.raises(QueryTimeout):
        list(tail_of(text).run(matches(), Control(timeout=0.1)))
    assert time.monotonic() - started < SOON * patience()


def heavy() -> Iterator[pa.RecordBatch]:
    """Few matches, and much to do for DuckDB once they are in."""
    return people(1, 300_000)


HEAVY = "MATCH (a:Person) RETURN size(range(1, 20000 + toInteger(a.age))) AS s ORDER BY s"


@pytest.mark.alone
def test_cancel_while_duckdb_works_alone() -> None:
    control = Control()
    timer = threading.Timer(0.2, control.cancel)
    timer.start()
    started = time.monotonic()
    with pytest.raises(QueryCancelled):
        list(tail_of(HEAVY).run(heavy(), control))
    assert time.monotonic() - started < 0.2 + SOON * patience()
    timer.join()


@pytest.mark.alone
def test_timeout_while_duckdb_works_alone() -> None:
    started = time.monotonic()
    with pytest.raises(QueryTimeout):
        list(tail_of(HEAVY).run(heavy(), Control(timeout=0.2)))
    assert time.monotonic() - started < 0.2 + SOON * patience()


@pytest.mark.parametrize("text", [COMPUTED, SORTED], ids=["streamed", "sorted"])
def test_ctrl_c(text: str) -> None:
    def matches() -> Iterator[pa.RecordBatch]:
        for index, batch in enumerate(people(ENDLESS, 10)):
            if index == 200:
                os.kill(os.getpid(), signal.SIGINT)
            yield batch

    with pytest.raises(KeyboardInterrupt):
        list(tail_of(text).run(matches(), Control()))
    assert len(list(tail_of(f"{text} LIMIT 1").run(people(3, 10), Control()))) == 1, "the next query works"


def test_two_streams_at_once() -> None:
    first = tail_of(COMPUTED).run(people(50, 2000), Control())
    second = tail_of(COMPUTED).run(people(50, 2000), Control())
    rows = [0, 0]
    for one, other in zip(first, second, strict=True):
        rows[0] += one.num_rows
        rows[1] += other.num_rows
    assert rows == [100_000, 100_000]


def many_values(batches: int) -> Iterator[pa.RecordBatch]:
    generator = np.random.default_rng(1)
    for _ in range(batches):
        yield pa.record_batch({"a": pa.array(generator.integers(0, 5, 100_000), pa.int32())})


def test_sorting_beyond_the_memory_limit_spills() -> None:
    tail = tail_of("MATCH (a:Person) RETURN rand() AS r, a.name ORDER BY r")
    values = [batch.column(0).to_numpy() for batch in tail.run(many_values(30), Control(memory_limit=LEAST_MEMORY))]
    whole = np.concatenate(values)
    assert len(whole) == 3_000_000
    assert np.all(whole[1:] >= whole[:-1])


def test_what_cannot_spill_reaches_the_memory_limit() -> None:
    tail = tail_of("MATCH (a:Person) RETURN collect(a.name + 'x')")
    with pytest.raises(MemoryLimitError) as raised:
        list(tail.run(many_values(60), Control(memory_limit=LEAST_MEMORY)))
    assert "memory_limit" in (raised.value.hint or "")
    assert "SET" not in str(raised.value)


def test_nothing_is_written_beside_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    list(tail_of(SORTED).run(many_values(5), Control(memory_limit=LEAST_MEMORY)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("batches", "threads"), [(4, 1), (60, 2)])
def test_several_threads_group_many_rows_however_small_the_first_batch(
    batches: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    stream = database.stream

    def noted(*arguments: Any, **named: Any) -> Iterator[pa.RecordBatch]:
        asked.append(named["threads"])
        return stream(*arguments, **named)

    monkeypatch.setattr(database, "stream", noted)
    monkeypatch.setattr(computing, "FEW", 0)
    answer = tail_of("MATCH (a:Person) RETURN a.age + rand() * 0 AS r, count(*)").run(
        people(batches, 1000), Control(), threads=2
    )
    assert sum(batch.num_rows for batch in answer)
    assert asked == [threads]

"""Work over slices of a range."""

from __future__ import annotations

import threading
import time

import pytest

from gquery.executor.cpu.machine.slices import run_slices


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 10, 11, 95, 1000])
def test_every_part_is_worked_on_once(count: int, threads: int) -> None:
    seen: list[int] = []
    run_slices(count, 10, threads, lambda: None, lambda begin, end: seen.extend(range(begin, end)))
    assert sorted(seen) == list(range(count))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_failure_stops_all_threads_and_is_raised(kind: type[BaseException], threads: int) -> None:
    def work(begin: int, end: int) -> None:
        if begin == 50:
            raise kind("fifty")

    with pytest.raises(kind, match="fifty"):
        run_slices(1000, 10, threads, lambda: None, work)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gquery-slices")]


def test_a_check_that_raises_ends_the_work() -> None:
    done: list[int] = []

    def check() -> None:
        if len(done) >= 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run_slices(1000, 10, 1, check, lambda begin, end: done.append(begin))
    assert done == [0, 10, 20]


def test_ctrl_c_before_all_threads_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at_start(monkeypatch, "gquery-slices-2")
    with pytest.raises(KeyboardInterrupt):
        run_slices(1000, 10, 3, lambda: None, lambda begin, end: time.sleep(0.002))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gquery-slices")]


def interrupted_at_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Ctrl-C comes as the thread of that name is started."""
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if thread.name == name:
            raise KeyboardInterrupt
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)

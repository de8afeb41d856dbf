"""Work over slices of a range."""

from __future__ import annotations

import time

import pytest

from gquery.executor.cpu.machine.slices import run_slices
from tests.helpers import interrupted_at_start, no_helper_left


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

    with no_helper_left(), pytest.raises(kind, match="fifty"):
        run_slices(1000, 10, threads, lambda: None, work)


def test_a_check_that_raises_ends_the_work() -> None:
    done: list[int] = []

    def check() -> None:
        if len(done) >= 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        run_slices(1000, 10, 1, check, lambda begin, end: done.append(begin))
    assert done == [0, 10, 20]


def test_ctrl_c_before_all_threads_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_at_start(monkeypatch, 1)
    with no_helper_left(), pytest.raises(KeyboardInterrupt):
        run_slices(1000, 10, 3, lambda: None, lambda begin, end: time.sleep(0.002))

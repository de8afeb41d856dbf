"""Work over slices of a range."""

from __future__ import annotations

import time

import pytest

from gquery.executor.cpu.machine.slices import made_of, run_slices
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


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 10, 100])
def test_every_item_is_made_once(count: int, threads: int) -> None:
    with no_helper_left():
        made = made_of(range(count), threads, lambda: None, lambda piece: [2 * piece, 2 * piece + 1])
        assert sorted(made) == list(range(2 * count))


def test_late_items_are_waited_for() -> None:
    def work(piece: int) -> list[int]:
        time.sleep(0.05 if piece == 0 else 0.0)
        return [piece]

    for _ in range(5):
        assert sorted(made_of(range(3), 3, lambda: None, work)) == [0, 1, 2]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_a_failure_is_raised_where_items_are_read(kind: type[BaseException], threads: int) -> None:
    def work(piece: int) -> list[int]:
        if piece == 50:
            raise kind("fifty")
        return [piece]

    with no_helper_left(), pytest.raises(kind, match="fifty"):
        list(made_of(range(1000), threads, lambda: None, work))


@pytest.mark.parametrize("threads", [1, 3])
def test_nobody_works_on_when_no_item_is_wanted(threads: int) -> None:
    done: list[int] = []

    def work(piece: int) -> list[int]:
        done.append(piece)
        return [piece]

    with no_helper_left():
        made = made_of(range(10_000), threads, lambda: None, work)
        next(made)
        made.close()
    assert len(done) < 1000


def test_a_check_that_raises_ends_the_making() -> None:
    def check() -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    deadline = time.monotonic() + 0.1
    with no_helper_left(), pytest.raises(TimeoutError):
        list(made_of(range(10**9), 3, check, lambda piece: [piece]))

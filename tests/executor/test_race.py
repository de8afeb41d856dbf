"""Two ways to one answer: what each of them hears when the other is done, fails or goes on alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NoReturn

import pytest

from gquery.errors import MemoryLimitError, QueryCancelled
from gquery.executor.progress import Control
from gquery.executor.race import Follower, Overtaken, first_of


def searching(control: Control) -> NoReturn:
    """Until somebody ends it."""
    while True:
        control.tried(1)
        control.check()


def failing(_: Control) -> NoReturn:
    raise MemoryLimitError("no room")


def ended(by: type[Exception], told: threading.Event) -> Callable[[Control], NoReturn]:
    def search(control: Control) -> NoReturn:
        try:
            searching(control)
        except by:
            told.set()
            raise

    return search


def test_what_is_soon_done_is_alone() -> None:
    assert first_of(Control(), 10, lambda control: control.tried(10) or "lead", failing) == ("lead", True)


def test_who_follows_may_be_first() -> None:
    left = threading.Event()
    assert first_of(Control(), 10, ended(Overtaken, left), lambda _: "follow") == ("follow", False)
    assert left.is_set()


def test_who_follows_hears_that_it_is_late() -> None:
    left, follows = threading.Event(), threading.Event()

    def lead(control: Control) -> str:
        control.tried(1)
        assert follows.wait(20)
        control.check()
        return "lead"

    def follow(control: Control) -> NoReturn:
        follows.set()
        ended(Overtaken, left)(control)

    assert first_of(Control(), 0, lead, follow) == ("lead", True)
    assert left.wait(20)


def test_who_cannot_leaves_it_to_the_other() -> None:
    assert first_of(Control(), 0, failing, lambda _: "follow") is None  # it has not begun

    def lead(control: Control) -> NoReturn:
        control.tried(1)
        failing(control)

    assert first_of(Control(), 0, lead, lambda _: "follow") == ("follow", False)
    with pytest.raises(MemoryLimitError):
        first_of(Control(), 0, lead, failing)


def test_a_failure_of_who_follows_is_not_heard() -> None:
    def lead(control: Control) -> str:
        for _ in range(1000):
            control.tried(1)
            control.check()
        return "lead"

    assert first_of(Control(), 0, lead, failing) == ("lead", True)


def test_who_follows_may_go_on_alone() -> None:
    left = threading.Event()

    def follow(control: Follower) -> bool:
        control.go_on_alone()
        return left.is_set()

    assert first_of(Control(), 0, ended(Overtaken, left), follow) == (True, False)


def test_both_end_when_the_query_is_cancelled() -> None:
    whole, left = Control(), threading.Event()

    def follow(control: Control) -> NoReturn:
        whole.cancel()
        ended(QueryCancelled, left)(control)

    with pytest.raises(QueryCancelled):
        first_of(whole, 0, searching, follow)
    assert left.wait(20)


def test_progress_is_that_of_the_first() -> None:
    whole = Control()

    def follow(control: Control) -> str:
        control.found(5)
        control.reached(0.5)
        return "follow"

    assert first_of(whole, 0, searching, follow) == ("follow", False)
    assert (whole.matches, whole.fraction) == (0, 0.0)

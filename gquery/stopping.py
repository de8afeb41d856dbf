"""How work stays stoppable: whatever loops over what a user gave calls a check now and then.

A check raises QueryTimeout or QueryCancelled when the work has to end; `Control.check` of the executor is one. It costs
less than a microsecond.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from typing import TypeVar

from gquery.errors import ExecutionError

Check = Callable[[], object]
T = TypeVar("T")
_TICK = 0.02  # seconds between two checks of who waits
_AT_ONCE = 1024  # items between two checks
_thread = threading.local()  # check: of the query that the thread works for


def unchecked() -> None:
    """The check of work that nobody stops."""


def checked(items: Iterable[T], check: Check) -> Iterator[T]:
    """The items of what a user gave, which may be millions, and each of them a list."""
    for number, item in enumerate(items):
        if number % _AT_ONCE == 0:
            check()
        yield item


def check_of_this_thread() -> Check:
    """That of the query that the thread works for."""
    check: Check = getattr(_thread, "check", unchecked)
    return check


class stoppable:  # noqa: N801 - reads as a statement
    """Whatever this thread waits for meanwhile ends when `check` raises."""

    def __init__(self, check: Check) -> None:
        self._check = check

    def __enter__(self) -> None:
        self._before = check_of_this_thread()
        _thread.check = self._check

    def __exit__(self, *_: object) -> None:
        _thread.check = self._before


def stoppable_steps(check: Check, steps: Generator[T, None, None]) -> Generator[T, None, None]:
    """The same steps, each of them stoppable; between two of them the thread may work for other queries."""
    with closing(steps):
        while True:
            with stoppable(check):
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step


def start(thread: threading.Thread) -> None:
    """ExecutionError where the system has no thread to spare, as in a container that may have a few only."""
    try:
        thread.start()
    except RuntimeError as error:
        hint = "the system's limit of processes and threads is reached, or Python is ending"
        raise ExecutionError(f"the work cannot begin: {error}", hint=hint) from None


def awaited(make: Callable[[], T], check: Check) -> T:
    """What is made, in a thread of its own: a compiler neither looks whether anybody still waits nor hears signals. It
    goes on when `check` has raised, for whoever asks next."""
    made = Future[T]()

    def run() -> None:
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)

    start(threading.Thread(target=run, daemon=True))
    while not wait([made], _TICK).done:
        check()
    return made.result()

"""Long work made visible and stoppable: a bar with a rate on stderr, Ctrl-C as a cancel."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from gquery.executor.cpu.machine.kernel_cache import compiled_kernels
from gquery.stopping import start

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from gquery.executor.progress import Control

T = TypeVar("T")


class Watched(Protocol):
    """What can be shown and stopped: a result, a search for motifs."""

    @property
    def progress(self) -> Control: ...

    def cancel(self) -> None: ...


QUERY_PATIENCE = 0.5  # seconds until the bar of a query is shown
LOAD_PATIENCE = 1.0
_TICK = 0.1
FIRST_RUN = "compiling the matching kernels, once on this machine: this takes some seconds"


def matches(state: Control) -> str:
    """How many matches a query has found, and how fast."""
    return f"{state.matches:,} matches, {_short(state.matches / max(state.elapsed, 1e-9))}/s"


def watch(
    result: Watched,
    consume: Callable[[], T],
    console: Console | None,
    detail: Callable[[Control], str] = matches,
) -> T:
    """What `consume` gives, which reads `result`, while a bar on `console` (none when None) shows how far it is, and
    `detail` of it.

    It runs in a thread of its own, so that Ctrl-C is noticed at once whatever the engine is doing. Ctrl-C cancels the
    query, which then raises QueryCancelled; a second one gives up waiting and raises KeyboardInterrupt.
    """
    outcome: Future[T] = Future()
    bar = _QueryBar(result, console, detail)
    worker = threading.Thread(target=_fulfil, args=(outcome, consume), name="gquery query", daemon=True)
    try:
        start(worker)
        while not wait([outcome], timeout=_TICK).done:
            bar.update()
    except KeyboardInterrupt:
        result.cancel()
        while not wait([outcome], timeout=_TICK).done:
            result.cancel()  # again: the run may only just have begun
    finally:
        bar.close()
    return outcome.result()


def _fulfil(outcome: Future[T], consume: Callable[[], T]) -> None:
    try:
        outcome.set_result(consume())
    except BaseException as error:
        outcome.set_exception(error)


class _QueryBar:
    """The bar of one query; nothing is drawn before it has run for a while, or when stderr is no terminal."""

    def __init__(self, result: Watched, console: Console | None, detail: Callable[[Control], str]) -> None:
        self._result = result
        self._detail = detail
        self._console = console
        self._started = time.monotonic()
        self._compiled: int | None = compiled_kernels()
        self._progress: Progress | None = None

    def update(self) -> None:
        if self._console is None or not self._console.is_terminal:
            return
        if time.monotonic() - self._started < QUERY_PATIENCE:
            return
        self._tell_of_compiling(self._console)
        if self._progress is None:
            self._progress = _bar(self._console, "{task.fields[found]}")
            self._progress.add_task("matching", total=None, found="")
            self._progress.start()
        state = self._result.progress
        self._progress.update(
            self._progress.task_ids[0],
            description=state.stage or "matching",
            total=1.0 if state.fraction else None,
            completed=state.fraction,
            found=self._detail(state),
        )

    def _tell_of_compiling(self, console: Console) -> None:
        """Says once why this query is slow, when no kernel was there or some have come since it began."""
        if self._compiled is not None and (self._compiled == 0 or compiled_kernels() > self._compiled):
            console.print(FIRST_RUN)
            self._compiled = None

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()


@contextmanager
def loading(console: Console) -> Iterator[Callable[[str, float], None]]:
    """A callback for a load to tell how far it is; after a second it is shown as a bar."""
    started = time.monotonic()
    progress: Progress | None = None

    def show(what: str, fraction: float) -> None:
        nonlocal progress
        if progress is None:
            if not console.is_terminal or time.monotonic() - started < LOAD_PATIENCE:
                return
            progress = _bar(console, "{task.fields[found]}")
            progress.add_task(what, total=1.0, found="")
            progress.start()
        progress.update(progress.task_ids[0], description=what, completed=fraction)

    try:
        yield show
    finally:
        if progress is not None:
            progress.stop()


def _bar(console: Console, detail: str) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30), TaskProgressColumn(),
        TextColumn(detail), TimeElapsedColumn(), console=console, transient=True,
    )  # fmt: skip


def _short(number: float) -> str:
    """`950`, `1.2k`, `34.5M`."""
    for unit in ("", "k", "M", "G"):
        if number < 1000 or unit == "G":
            break
        number /= 1000
    return f"{number:.0f}" if not unit else f"{number:.1f}{unit}"

"""One thread a process that stops what cannot look at a control itself: statements inside DuckDB.

It looks at all that runs every few milliseconds, so that a statement costs an entry in a dict and no thread of its own.
DuckDB forgets an interrupt that comes before a statement begins; hence it is repeated until the statement has ended.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from gquery.errors import GQueryError
from gquery.executor.progress import Control
from gquery.stopping import start

NAME = "gquery-watch"
_TICK = 0.02  # seconds between two looks
_LINGER = 1.0  # seconds without anything to watch after which the thread ends; the next statement starts another


@contextmanager
def watched(control: Control, interrupt: Callable[[], object]) -> Iterator[None]:
    """Calls `interrupt` again and again from the time that `control` says stop until the block ends."""
    watcher = _watcher(os.getpid())
    ticket = watcher.add(control, interrupt)
    try:
        yield
    finally:
        watcher.remove(ticket)


@cache
def _watcher(process: int) -> _Watcher:
    """A forked process makes its own: threads do not come along."""
    return _Watcher()


class _Watcher:
    def __init__(self) -> None:
        self._watched: dict[int, tuple[weakref.ref[Control], Callable[[], object]]] = {}
        self._tickets = itertools.count()
        self._lock = threading.Lock()
        self._running = False

    def add(self, control: Control, interrupt: Callable[[], object]) -> int:
        ticket = next(self._tickets)
        with self._lock:
            if not self._running:
                start(threading.Thread(target=self._run, name=NAME, daemon=True))
                self._running = True
            self._watched[ticket] = weakref.ref(control), interrupt
        return ticket

    def remove(self, ticket: int) -> None:
        """Afterwards `interrupt` is not called again."""
        with self._lock:
            self._watched.pop(ticket, None)

    def _run(self) -> None:
        busy = time.monotonic()
        while True:
            time.sleep(_TICK)
            with self._lock:
                if self._watched:
                    busy = time.monotonic()
                elif time.monotonic() - busy > _LINGER:
                    self._running = False
                    return
                self._look_at_all()

    def _look_at_all(self) -> None:
        """A function of its own: what the thread held while it sleeps could not be closed when Python ends."""
        for ticket, (control, interrupt) in list(self._watched.items()):
            if not _look(control(), interrupt):
                del self._watched[ticket]


def _look(control: Control | None, interrupt: Callable[[], object]) -> bool:
    """Interrupts what has to stop. False for what nobody waits for any more: a KeyboardInterrupt may have come between
    the end of a statement and its removal."""
    if control is None:
        return False
    try:
        control.check()
    except GQueryError:
        try:
            interrupt()
        except Exception:  # the connection is closed
            return False
    return True

"""Threads that help for a few milliseconds.

A small search is over before the system has given a new thread a core and the interpreter its lock, which where others
want that core takes milliseconds. `threading.Thread` is waited for twice, until it runs and until it ends; a helper
only where it has begun: who has done all the work alone meanwhile goes on.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from contextlib import suppress


class Helper:
    """A thread of its own that does `work`, unless it comes too late. What is raised there is `work`'s to keep."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._begun, self._ended = _thread.allocate_lock(), _thread.allocate_lock()
        self._ended.acquire()

    def start(self) -> None:
        with suppress(RuntimeError):  # there is none to be had, which is as good as one that comes too late
            _thread.start_new_thread(self._run, ())

    def join(self) -> None:
        """Waits until the work is done; what has not begun yet never will."""
        if not self._begun.acquire(blocking=False):
            with self._ended:
                pass

    def _run(self) -> None:
        if self._begun.acquire(blocking=False):
            try:
                self._work()
            finally:
                self._ended.release()

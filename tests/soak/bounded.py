"""The evaluator tries everything: of some queries it does so for hours."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.evaluator.answers import Undecided

LONGEST = 5.0  # seconds


@contextmanager
def bounded() -> Iterator[None]:
    """Raises Undecided when what is inside takes too long; only the main thread can be stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise Undecided("the evaluator takes too long")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

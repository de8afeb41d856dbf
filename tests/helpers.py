"""The CPU engine's helpers: threads that `threading` does not know of."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gquery.executor.cpu.machine.helper import Helper

_SOON = 5.0  # seconds


@contextmanager
def no_helper_left() -> Iterator[None]:
    """All helpers that are started meanwhile end soon: the last steps of a thread come after what `join` waits for."""
    before = _running()
    yield
    deadline = time.monotonic() + _SOON
    while _running() > before and time.monotonic() < deadline:
        time.sleep(0.001)
    assert _running() <= before


def known_threads() -> set[threading.Thread]:
    """Those of `threading`. A helper that asked who it is, as logging does, stays there as a dummy."""
    return {thread for thread in threading.enumerate() if not isinstance(thread, threading._DummyThread)}


def _running() -> int:
    return _thread._count() - len(known_threads())


def interrupted_at_start(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Ctrl-C comes as so many helpers have been started."""
    start, left = Helper.start, [number]

    def interrupted(helper: Helper) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        start(helper)

    monkeypatch.setattr(Helper, "start", interrupted)

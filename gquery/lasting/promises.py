"""What another thread makes, and somebody will wait for.

A forked process has no thread but the one that forked it, so nobody there keeps what was promised before: what was not
made by then never comes, and who asks for it has to do without.
"""

from __future__ import annotations

import os
import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Promise(Generic[T]):
    """Kept once, by whoever makes it."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._is_kept = threading.Event()
        self._made: T | None = None

    def keep(self, made: T | None) -> None:
        """None: there is nothing."""
        self._made = made
        self._is_kept.set()

    def result(self) -> T | None:
        """Waits for it. None where there is nothing, and where nobody makes it any more."""
        if os.getpid() == self._process:
            self._is_kept.wait()
        return self._made

"""Locks of what outlives a query, such as what a graph keeps for the next one.

A forked process has no thread but the one that forked it: a lock that another one held just then would be held there
for ever. These are free in it. What they guard is put in its place at the end of what is done under them, so that half
of it is nowhere.
"""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

_lasting: WeakSet[threading.RLock] = WeakSet()


def lasting_lock() -> threading.RLock:
    lock = threading.RLock()
    _lasting.add(lock)
    return lock


def _free() -> None:
    for lock in _lasting:
        lock._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)

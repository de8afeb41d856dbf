"""Long statements, which DuckDB binds and plans for seconds without looking at an interrupt, and those that several
threads of its own work on, for which it waits without hearing signals.

They are begun in a thread of their own. A query that has to stop waits for it a moment, as DuckDB looks at interrupts
while it computes, and then leaves it behind: the thread ends by itself and then closes what the statement held.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import ExitStack
from typing import TypeVar

from gquery.executor.progress import Control
from gquery.stopping import start

LONG = 1 << 15  # characters: planned in about 0.1 s
_MOMENT = 0.3  # seconds: most often a tenth of that is enough
_TICK = 0.02  # seconds between two looks at the control

T = TypeVar("T")


def begun(call: Callable[[], T], sql: str, control: Control, held: ExitStack, threads: int = 1) -> T:
    """What the call gives, which begins a statement that so many threads work on. held: what that needs, given away
    where it is left behind."""
    if len(sql) < LONG and threads == 1:
        return call()
    pending: Future[T] = Future()
    try:
        start(threading.Thread(target=_settle, args=(pending, call), name="gquery-begun"))
        while not pending.done():
            control.check()
            wait([pending], _TICK)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):  # of which what the thread pulls would not hear
            control.cancel()
        if not pending.cancel():  # it has begun
            if threads > 1:
                wait([pending], _MOMENT)
            left = held.pop_all()
            pending.add_done_callback(lambda _: left.close())
        raise
    return pending.result()


def _settle(pending: Future[T], call: Callable[[], T]) -> None:
    if not pending.set_running_or_notify_cancel():
        return
    try:
        pending.set_result(call())
    except BaseException as error:
        pending.set_exception(error)

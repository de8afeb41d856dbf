"""How work stays stoppable: whatever loops over what a user gave calls a check now and then.

A check raises QueryTimeout or QueryCancelled when the work has to end; `Control.check` of the executor is one. It costs
less than a microsecond.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

Check = Callable[[], object]
T = TypeVar("T")
_TICK = 0.02  # seconds between two checks of who waits


def unchecked() -> None:
    """The check of work that nobody stops."""


def awaited(make: Callable[[], T], check: Check) -> T:
    """What is made, in a thread of its own: a compiler neither looks whether anybody still waits nor hears signals. It
    goes on when `check` has raised, for whoever asks next."""
    made = Future[T]()

    def run() -> None:
        try:
            made.set_result(make())
        except BaseException as error:
            made.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    while not wait([made], _TICK).done:
        check()
    return made.result()

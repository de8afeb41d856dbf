"""Work over slices of a range, on all threads.

The caller's thread takes part: starting one thread is cheaper than handing everything to a pool, and short work is done
before a pool would have been set up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from gquery.executor.cpu.machine.compile import stoppable

_FEWEST = 4  # slices that are worth a second thread


def run_slices(
    count: int, size: int, threads: int, check: Callable[[], object], work: Callable[[int, int], object]
) -> None:
    """Runs `work(begin, end)` over slices of `range(count)`. `check` raises when the work has to stop; whatever is
    raised first stops the other threads too, and is raised again here."""
    begins = iter(range(0, count, size))  # handed out under the interpreter's lock
    failures: list[BaseException] = []

    def take() -> None:
        try:
            with stoppable(check):
                for begin in begins:
                    check()
                    work(begin, min(begin + size, count))
                    if failures:
                        return
        except BaseException as failure:
            failures.append(failure)

    others: list[threading.Thread] = []
    if count > (_FEWEST - 1) * size:
        others = [threading.Thread(target=take, name=f"gquery-slices-{n}", daemon=True) for n in range(1, threads)]
    try:
        for thread in others:
            thread.start()
        take()
    except BaseException as failure:  # Ctrl-C between two of them
        failures.append(failure)
    for thread in others:
        if thread.is_alive():
            thread.join()
    if failures:
        raise failures[0]

"""Work over slices of a range, on all threads.

The caller's thread takes part: starting one thread is cheaper than handing everything to a pool, and short work is done
before a pool would have been set up.
"""

from __future__ import annotations

from collections.abc import Callable

from gquery.executor.cpu.machine.compile import stoppable
from gquery.executor.cpu.machine.helper import Helper

_FEWEST = 3  # slices that are worth a second thread


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

    others: list[Helper] = []
    if count > (_FEWEST - 1) * size:
        others = [Helper(take) for _ in range(1, min(threads, -(-count // size)))]
    try:
        for helper in others:
            helper.start()
        take()
    except BaseException as failure:  # Ctrl-C between two of them
        failures.append(failure)
    for helper in others:
        helper.join()
    if failures:
        raise failures[0]

"""Times on a card: between the first and the last event of each launch, and from text to answer.

Launches of short queries are timed in runs of their own, in which the card has something else to do until each has been
queued: else what Python takes to launch one, some 20 microseconds, would count as the card's.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import cupy

import gquery
from gquery.executor.gpu.device import card

_ENOUGH = 1.0  # seconds; what takes longer is counted once
_LONG = 10.0  # seconds; what takes longer the first time is asked once
_AHEAD = 100_000  # nanoseconds that the card is busy before a launch that is timed
_WAITING = r"""
extern "C" __global__ void wait(unsigned long long nanoseconds) {
    unsigned long long begun, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begun));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begun < nanoseconds);
}
"""


@dataclass(frozen=True)
class Taken:
    """Milliseconds, medians: of all launches of a query together, and from its text to its answer; launches of one
    run; bytes of the device that were allocated at the most; the answer, a number."""

    answer: int
    device: float
    whole: float
    launches: int
    peak: int


class _Run(NamedTuple):
    """Milliseconds of one run: its launches, and all of it."""

    answer: int
    device: float
    whole: float
    launches: int


class Stopwatch:
    """Sees every launch on the first card."""

    def __init__(self) -> None:
        seen: Any = card()
        self._events: list[tuple[Any, Any]] = []
        self._wait = cupy.RawKernel(_WAITING, "wait")
        self._ahead = False
        seen.run, seen.run_apart = self._timed(seen.run), self._timed(seen.run_apart)

    def _timed(self, launch: Callable[..., None]) -> Callable[..., None]:
        def timed(*arguments: Any) -> None:
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            if self._ahead:
                self._wait((1,), (1,), (_AHEAD,))
            begin.record()
            launch(*arguments)
            end.record()
            self._events.append((begin, end))

        return timed

    def measure(self, ask: Callable[[int], int], runs: int) -> Taken:
        """ask: gets the number of the run. Raises what it does; else as one of those that take turns."""
        asked: list[_Run] = []
        while _goes_on(asked, runs):
            asked.append(self._once(ask, len(asked)))
        return _taken(asked)

    def in_turns(self, asks: Mapping[str, Callable[[int], int]], runs: int) -> dict[str, Taken | None]:
        """All of them run by run, in an order drawn anew each time, so that what a machine does in the meantime is
        nobody's. None: not answered in time. The first run of each is not counted, unless it takes very long; one that
        takes long is its last."""
        asked: dict[str, list[_Run]] = {name: [] for name in asks}
        failed: set[str] = set()
        order = random.Random(runs)
        while waiting := [name for name in asks if name not in failed and _goes_on(asked[name], runs)]:
            for name in order.sample(waiting, len(waiting)):
                try:
                    asked[name].append(self._once(asks[name], len(asked[name])))
                except (gquery.QueryTimeout, gquery.ExecutionError):
                    failed.add(name)
        return {name: None if name in failed else _taken(found) for name, found in asked.items()}

    def _once(self, ask: Callable[[int], int], run: int) -> _Run:
        answer, whole = self._asked(ask, 2 * run)
        if self._events and whole < 1000 * _ENOUGH:
            self._ahead = True
            try:
                self._asked(ask, 2 * run + 1)
            finally:
                self._ahead = False
        device = sum(cupy.cuda.get_elapsed_time(*each) for each in self._events)
        return _Run(answer, device, whole, len(self._events))

    def _asked(self, ask: Callable[[int], int], run: int) -> tuple[int, float]:
        """The answer, and milliseconds from its text to it."""
        self._events.clear()
        began = time.perf_counter()
        answer = ask(run)
        cupy.cuda.runtime.deviceSynchronize()
        return answer, 1000 * (time.perf_counter() - began)


def _goes_on(asked: list[_Run], runs: int) -> bool:
    """Whether another run is wanted behind these."""
    if not asked:
        return True
    return len(asked) <= runs and asked[-1].whole <= 1000 * (_LONG if len(asked) == 1 else _ENOUGH)


def _taken(asked: list[_Run]) -> Taken:
    counted = asked[1:] or asked
    return Taken(
        asked[-1].answer,
        statistics.median(each.device for each in counted),
        statistics.median(each.whole for each in counted),
        asked[-1].launches,
        cupy.get_default_memory_pool().total_bytes(),
    )

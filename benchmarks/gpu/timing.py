"""Times on a card: between the first and the last event of each launch, and from text to answer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cupy

from gquery.executor.gpu.device import card

_ENOUGH = 1.0  # seconds; what takes longer is counted once
_LONG = 10.0  # seconds; what takes longer on the device is asked once


@dataclass(frozen=True)
class Taken:
    """Milliseconds, medians: of all launches of a query together, and from its text to its answer; launches of one
    run; bytes of the device that were allocated at the most; the answer, a number."""

    answer: int
    device: float
    whole: float
    launches: int
    peak: int


class Stopwatch:
    """Sees every launch on the first card."""

    def __init__(self) -> None:
        seen: Any = card()
        self._events: list[tuple[Any, Any]] = []
        seen.run, seen.run_apart = self._timed(seen.run), self._timed(seen.run_apart)

    def _timed(self, launch: Callable[[int, int], None]) -> Callable[[int, int], None]:
        def timed(machine: int, modulus: int) -> None:
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            begin.record()
            launch(machine, modulus)
            end.record()
            self._events.append((begin, end))

        return timed

    def measure(self, ask: Callable[[int], int], runs: int) -> Taken:
        """ask: gets the number of the run. The first is not counted, unless it takes very long; one that takes long is
        the last."""
        pool = cupy.get_default_memory_pool()
        devices, wholes = [], []
        for run in range(runs + 1):
            self._events.clear()
            began = time.perf_counter()
            answer = ask(run)
            cupy.cuda.runtime.deviceSynchronize()
            wholes.append(1000 * (time.perf_counter() - began))
            devices.append(sum(cupy.cuda.get_elapsed_time(*each) for each in self._events))
            if (wholes[-1] > 1000 * _ENOUGH) if run else (devices[-1] > 1000 * _LONG):
                break
        return Taken(
            answer,
            statistics.median(devices[1:] or devices),
            statistics.median(wholes[1:] or wholes),
            len(self._events),
            pool.total_bytes(),
        )

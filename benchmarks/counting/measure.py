"""Counts the matches of one case and says what that took."""

from __future__ import annotations

import statistics
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.counting.suites import Case, Suite, loaded
from gquery.errors import GQueryError
from gquery.executor.matching import Measured
from gquery.executor.progress import Control
from gquery.session import Prepared

_WRAPPED = 2**64  # some research codes count modulo this
_WARM: set[Path] = set()  # graphs in which this process has counted
_SHORT, _RUNS = 0.2, 5  # seconds below which so many runs are made, and their median taken


@dataclass(frozen=True)
class Outcome:
    """count: None when it was not found in time. seconds: from text to count, graph loaded, by the suite's clock;
    search: of that, without parsing, planning, filters and building; kernel: of that, inside the compiled search, on
    all cores together; peak: bytes besides the graph."""

    case: Case
    count: int | None
    seconds: float
    search: float
    kernel: float
    peak: int
    problem: str

    @property
    def agrees(self) -> bool:
        """Whether nobody says otherwise. A count beyond 2^64 may be known modulo that only."""
        if self.count is None or self.case.expected is None:
            return True
        return self.count == self.case.expected or (
            self.count >= _WRAPPED and self.count % _WRAPPED == self.case.expected
        )

    @property
    def wrapped(self) -> bool:
        return self.agrees and self.count is not None and self.case.expected not in (None, self.count)


class ProcessorTime(Control):
    """For a query on one thread, timed by that thread's processor time: neither what others do nor kernels that are
    compiled meanwhile, which has a thread of its own, take any of it."""

    def __init__(self, timeout: float, memory_limit: int | None) -> None:
        super().__init__(timeout, memory_limit)
        self._clock = time.pthread_getcpuclockid(threading.get_ident())
        self._began = time.clock_gettime(self._clock)

    @property
    def elapsed(self) -> float:
        return time.clock_gettime(self._clock) - self._began


def measure(case: Case, suite: Suite, memory: int | None) -> Outcome:
    """Counts once; and again when that is over soon, for a single run of a millisecond says little. A graph's first
    case is counted once before, which loads the graph and the compiled kernels."""
    if case.data not in _WARM:
        _count(case, suite, None)
        _WARM.add(case.data)
    outcomes = [_count(case, suite, memory)]
    while outcomes[0].seconds < _SHORT and len(outcomes) < _RUNS:
        outcomes.append(_count(case, suite, memory))
    return replace(
        outcomes[0],
        seconds=statistics.median(outcome.seconds for outcome in outcomes),
        search=statistics.median(outcome.search for outcome in outcomes),
        kernel=statistics.median(outcome.kernel for outcome in outcomes),
        peak=max(outcome.peak for outcome in outcomes),
    )


def _count(case: Case, suite: Suite, memory: int | None) -> Outcome:
    graph = loaded(case.data, suite.threads)
    control, measured = suite.clock(suite.timeout, memory), [Measured(), Measured()]
    count, problem = None, ""
    try:
        query = Prepared(graph.snapshot, case.text, {}, graph.settings)
        (batch,) = query.run(control, measured)
        count = int(batch.column(0)[0].as_py())
    except GQueryError as error:
        problem = type(error).__name__
    seconds = control.elapsed
    search = measured[0].profile.seconds.get("search", 0.0)
    searched = measured[0].profile.enumerations
    kernel = sum(sum(each.seconds_until.values()) for each in searched) if searched else search
    return Outcome(case, count, seconds, search, kernel, control.memory.peak, problem)

"""The one object that a running query and its user share: deadline, cancellation, counters."""

from __future__ import annotations

import math
import time

from gquery.errors import QueryCancelled, QueryTimeout
from gquery.executor.memory import Budget, PartOfBudget


class Control:
    """Made when a query starts. Workers call `check` between slices; the user calls `cancel` from any thread.

    spent: seconds of the timeout that planning took. matches: embeddings found so far. fraction: share of the start
    pool that is done, 0.0 to 1.0. memory: the budget.
    """

    def __init__(self, timeout: float | None = None, memory_limit: int | None = None, spent: float = 0.0) -> None:
        self.timeout = timeout
        self.memory = Budget(memory_limit)
        self.started = time.monotonic() - spent
        self.matches = 0
        self.fraction = 0.0
        self.stage = ""
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    @property
    def memory_limit(self) -> int | None:
        return self.memory.limit

    @property
    def elapsed(self) -> float:
        """Seconds since the query started."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds until the timeout; infinitely many without one."""
        return math.inf if self.timeout is None else self.timeout - self.elapsed

    def found(self, matches: int) -> None:
        self.matches += matches

    def reached(self, fraction: float) -> None:
        self.fraction = fraction

    def tried(self, steps: int) -> None:
        """So many steps of a search have been taken. Who counts them says what they are; on a card, what it looks at to
        extend partial matches, and the candidates inside neighbourhoods."""

    def planned(self, looks: float) -> None:
        """What is to be counted next will take about so many looks at neighbours. Returns when it may begin."""

    def instead(self) -> float | None:
        """The looks that one order for all partial matches would take, for a sum with an order for each that takes
        longer than planned; None while nobody knows. Raises OrdersGivenUp where nobody looks for that order."""
        raise OrdersGivenUp

    def check(self) -> None:
        """Raises QueryCancelled or QueryTimeout when the query has to stop."""
        if self.cancelled:
            raise QueryCancelled("the query was cancelled")
        if self.timeout is not None and self.elapsed > self.timeout:
            raise QueryTimeout(f"the query ran longer than its timeout of {self.timeout:g} s")


class Step(Control):
    """For one step of a query: what it takes of the memory is its own until `memory.close()`. It can be cancelled by
    itself."""

    memory: PartOfBudget

    def __init__(self, whole: Control) -> None:
        super().__init__()
        self.memory = whole.memory.part()
        self._whole = whole

    def found(self, matches: int) -> None:
        self._whole.found(matches)

    def reached(self, fraction: float) -> None:
        self._whole.reached(fraction)

    def tried(self, steps: int) -> None:
        self._whole.tried(steps)

    def planned(self, looks: float) -> None:
        self._whole.planned(looks)

    def instead(self) -> float | None:
        return self._whole.instead()

    def check(self) -> None:
        if self.cancelled:
            raise QueryCancelled("the query has stopped")
        self._whole.check()


class GivenUp(Exception):
    """A try took more steps than it may."""


class OrdersGivenUp(Exception):
    """A sum with an order for each partial match took more looks at neighbours than its plan allows."""


class Try(Step):
    """For a step that is given up once it has taken some steps of a search and is not done: `check` raises GivenUp
    then."""

    def __init__(self, whole: Control) -> None:
        super().__init__(whole)
        self._left = math.inf
        self._is_heard = False

    def begin(self, steps: float, heard: bool) -> None:
        """From now on it may take so many steps; heard: of which others hear."""
        self._left, self._is_heard = steps, heard
        self.check()

    def tried(self, steps: int) -> None:
        if self._is_heard:
            super().tried(steps)
        self._left -= steps

    def check(self) -> None:
        super().check()
        if self._left < 0:
            raise GivenUp

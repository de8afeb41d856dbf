"""Two ways to one answer: the second begins when the first takes long. Both go on, and who is done first ends the
other; or the second is only planned meanwhile, and the first ends where that would take less."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Generic, TypeVar

from gquery.errors import MemoryLimitError, UnsupportedError
from gquery.executor.backend import Backend
from gquery.executor.cpu.machine.helper import Helper
from gquery.executor.engine import Beside
from gquery.executor.progress import Control, OrdersGivenUp, Step
from gquery.stopping import Check
from gquery.storage.graph import Snapshot

T = TypeVar("T")
_TICK = 0.02  # seconds between two looks at whether the query has to stop


class Overtaken(Exception):
    """The other way was done first, or goes on alone."""


class Follower(Step):
    """The control of the second way, of whose progress nobody hears until it is alone."""

    def __init__(self, whole: Control) -> None:
        super().__init__(whole)
        self.is_over = False
        self.goes_on_alone = False
        self.is_alone = Event()

    def found(self, matches: int) -> None:
        if self.is_alone.is_set():
            super().found(matches)

    def reached(self, fraction: float) -> None:
        if self.is_alone.is_set():
            super().reached(fraction)

    def tried(self, steps: int) -> None: ...

    def check(self) -> None:
        if self.is_over:
            raise Overtaken
        super().check()

    def go_on_alone(self) -> None:
        """Returns when the first way has ended, without an answer."""
        self.goes_on_alone = True
        while not self.is_alone.wait(_TICK):
            self.check()


class _Leader(Step, Generic[T]):
    """The control of the first way. follow: begins the second."""

    def __init__(self, whole: Control, follower: Follower, steps: int, follow: Callable[[], Future[T]]) -> None:
        super().__init__(whole)
        self.following: Future[T] | None = None
        self._follower = follower
        self._left = steps
        self._follow = follow

    def tried(self, steps: int) -> None:
        super().tried(steps)
        self._left -= steps
        if self._left < 0 and self.following is None:
            self.following = self._follow()

    def check(self) -> None:
        super().check()
        following = self.following
        if self._follower.goes_on_alone or (following and following.done() and following.exception() is None):
            raise Overtaken


class Planned(Follower):
    """The control of a second way that is planned, and goes on when it is alone. looks: that it will take, when that is
    known."""

    def __init__(self, whole: Control) -> None:
        super().__init__(whole)
        self.looks: float | None = None

    def planned(self, looks: float) -> None:
        self.looks = looks
        self.go_on_alone()


class Doubted(Step, Generic[T]):
    """The control of a sum with an order for each partial match. When it takes longer than planned it asks what one
    order for all would take: `follow` plans that in a thread of its own, and counts by it if the sum is given up."""

    def __init__(self, whole: Control, follow: Callable[[Planned], T]) -> None:
        super().__init__(whole)
        self._follower = Planned(whole)
        self._follow: Callable[[Planned], T] | None = follow
        self._following: Future[T] = Future()
        self._planner: Helper | None = None
        self._lock = Lock()

    def instead(self) -> float | None:
        with self._lock:
            if self._planner is None:
                self._planner = Helper(self._plan)
                self._planner.start()
        if self._following.done():  # it has failed
            raise OrdersGivenUp
        return self._follower.looks

    def _plan(self) -> None:
        follow = self._follow
        assert follow is not None
        try:
            self._following.set_result(follow(self._follower))
        except BaseException as failure:  # raised where the answer is asked for
            self._following.set_exception(failure)

    def answer(self) -> T | None:
        """That of the other way, once the sum is given up; None where nobody has looked for it."""
        if self._planner is None:
            return None
        self._follower.is_alone.set()
        while not self._following.done():
            self.check()
            wait([self._following], _TICK)
        return self._following.result()

    def end(self) -> None:
        """The other way ends, too. What the sum leaves behind may be held for long, and holds this."""
        self._follower.is_over = True
        if self._planner is not None:
            self._planner.join()
        self._follow, self._following = None, Future()


class CardLater:
    """A card that a follower goes to when the leader, which is there, has ended."""

    def __init__(self, beside: Beside, follower: Follower) -> None:
        self._beside = beside
        self._follower = follower

    def begun(self, snapshot: Snapshot) -> tuple[bool, bool]:
        return self._beside.begun(snapshot)

    def backend(self, check: Check) -> Backend:
        self._follower.go_on_alone()
        return self._beside.backend(check)


def first_of(
    whole: Control, steps: int, lead: Callable[[Control], T], follow: Callable[[Follower], T]
) -> tuple[T, bool] | None:
    """The answer of `lead`, or that of `follow`, which begins in a thread of its own when `lead` has tried more than so
    many steps, at once where these are fewer than none, and is not waited for when it was too late; and whether it is
    that of `lead`. None where `lead` cannot, or has no room, before that."""
    follower = Follower(whole)

    def begin() -> Future[T]:
        threads = ThreadPoolExecutor(1, "gquery-race")
        try:
            return threads.submit(follow, follower)
        finally:
            threads.shutdown(wait=False)

    leader = _Leader(whole, follower, steps, begin)
    leader.tried(0)
    try:
        try:
            return lead(leader), True
        except (MemoryLimitError, UnsupportedError, Overtaken):
            if leader.following is None:
                return None
        finally:
            follower.is_alone.set()
        while not leader.following.done():
            whole.check()
            wait([leader.following], _TICK)
        return leader.following.result(), False
    finally:
        follower.is_over = True

"""The versions of a graph as they follow each other, for those who follow them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from weakref import WeakSet

from gquery.continuous.between import Between
from gquery.errors import BindError
from gquery.lasting.locks import lasting_lock
from gquery.records import record
from gquery.storage.changes.batch import Batch
from gquery.storage.graph import Snapshot

KEPT = 64  # versions that a watch may go on from


@record(frozen=True, slots=True)
class Step:
    """From one version to a later one. What lies between is worked out for who asks, and once for all."""

    since: int
    version: int
    between: Between

    def joined(self, later: Step) -> Step | None:
        """Both as one; None where ids have changed in between, as they do where a graph is compacted."""
        if self.between.new is not later.between.old:
            return None
        return Step(self.since, later.version, self.between.joined(later.between))


class Follower:
    """The steps that one who follows has not taken yet, `most` at a time: further ones become one. Safe from several
    threads. at_end: called when there are no more."""

    def __init__(self, steps: Sequence[Step], most: int, at_end: Callable[[], None]) -> None:
        self._steps = deque(steps)
        self._most = max(2, most)
        self._at_end = at_end
        self._changed = threading.Condition(lasting_lock())
        self._listeners: list[Callable[[], None]] = []
        self._ended = False

    def offer(self, step: Step) -> None:
        """A step more. Never waits for who takes them."""
        with self._changed:
            joined = self._steps[-1].joined(step) if len(self._steps) >= self._most else None
            if joined is not None:
                self._steps[-1] = joined
            else:
                self._steps.append(step)
            self._tell()

    def first(self, timeout: float | None) -> Step | None:
        """The first step, which stays until it is `taken`. Waits for one, `timeout` seconds at most; None where there
        is none then, or will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._steps or self._ended, timeout)
            return self._steps[0] if self._steps else None

    @property
    def is_over(self) -> bool:
        """Whether there is no step, and will be none."""
        with self._changed:
            return self._ended and not self._steps

    @contextmanager
    def telling(self, listener: Callable[[], None]) -> Iterator[None]:
        """For who does not wait in a thread: calls back whenever there may be a step or will be none, at once too. What
        is called must not wait."""
        with self._changed:
            self._listeners.append(listener)
            if self._steps or self._ended:
                listener()
        try:
            yield
        finally:
            with self._changed:
                self._listeners.remove(listener)

    def _tell(self) -> None:
        self._changed.notify_all()
        for listener in self._listeners:
            listener()

    def taken(self, step: Step) -> bool:
        """Whether the step was still the first one, which it is no more."""
        with self._changed:
            if not self._steps or self._steps[0] is not step:
                return False
            self._steps.popleft()
            return True

    def end(self) -> None:
        """There are no more steps but those that are there. Raises what the call at the end does."""
        with self._changed:
            self._ended = True
            self._tell()
        self._at_end()


class Versions:
    """The last steps of a graph, its newest version, and those who follow it. Safe from several threads."""

    def __init__(self, newest: Snapshot, kept: int = KEPT) -> None:
        self.newest = newest
        self._steps: deque[Step] = deque(maxlen=kept)
        self._followers: WeakSet[Follower] = WeakSet()  # who is forgotten is offered no more
        self._failed: list[Callable[[], None]] = []
        self._lock = lasting_lock()

    def add(self, version: int, old: Snapshot, new: Snapshot, batches: Sequence[Batch]) -> None:
        """A new version, which is made of the one before by some batches, one after the other."""
        step = Step(version - 1, version, Between.by(old, new, batches))
        with self._lock:
            self.newest = new
            self._steps.append(step)
            for follower in self._followers:
                follower.offer(step)

    def follow(self, after: int, newest: int, most: int, at_end: Callable[[], None]) -> Follower:
        """The steps behind a version, of which there is a `newest` now. Raises BindError for one that is not kept."""
        with self._lock:
            behind = [step for step in self._steps if step.version > after]
            if after > newest or len(behind) != newest - after:
                oldest = self._steps[0].since if self._steps else newest
                raise BindError(
                    f"there is no way from version {after:,}", hint=f"begin with one from {oldest:,} to {newest:,}"
                )
            follower = Follower(behind, most, at_end)
            self._followers.add(follower)
            return follower

    def leave(self, follower: Follower, failed: Callable[[], None] | None = None) -> None:
        """Offers it no more. failed: raises why it leaves, at the end, unless somebody has been told before."""
        with self._lock:
            self._followers.discard(follower)
            if failed is not None:
                self._failed.append(failed)
        follower.end()

    def end(self) -> None:
        """Nobody has to follow any further. Raises what the ends of those who do raise, and why others have left."""
        with self._lock:
            ends, self._failed = [follower.end for follower in self._followers] + self._failed, []
        with ExitStack() as stack:
            for end in ends:
                stack.callback(end)

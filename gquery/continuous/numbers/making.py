"""Sums that are made behind who asks for changes.

To make them takes seconds, in which changes are told without. Each of those is noted. The sums of the version that was
the newest when they were begun follow all that have been noted meanwhile, at once, then those that came in between, and
so on, until there are so few left that who asks next can follow them. Who asks for a change that takes long without
waits for the sums: such a change is at vertices with many neighbours, where they save most.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from functools import reduce
from typing import NamedTuple
from weakref import ref

from gquery.continuous.between import Between
from gquery.continuous.numbers.counting import Counting
from gquery.continuous.numbers.sums import Sums
from gquery.errors import GQueryError
from gquery.executor.progress import Control
from gquery.storage.graph import Snapshot

THREAD = "gquery sums"
_FEW = 4  # versions that are left to who asks
_POLL = 0.01  # seconds between two looks at whether who waits still wants to


class Behind(Control):
    """For what nobody waits for: it ends with whom it is for, and with the program."""

    def __init__(self, whom: object, timeout: float, memory_limit: int | None) -> None:
        super().__init__(timeout, memory_limit)
        self._whom = ref(whom)

    def check(self) -> None:
        if self._whom() is None or not threading.main_thread().is_alive():
            self.cancel()
        super().check()


class Made(NamedTuple):
    """left: what the sums have still to follow."""

    sums: Sums
    left: Between | None


class Making:
    """A thread that makes sums, and what has changed since they were begun. Safe from several threads."""

    def __init__(self, counting: Counting, snapshot: Snapshot, control: Behind) -> None:
        """counting: for this thread alone; snapshot: the newest version; control: of all that is done."""
        self._counting = counting
        self._control = control
        self._newest = snapshot
        self._noted: list[Between] = []
        self._sums: Sums | None = None
        self._error: BaseException | None = None
        self._was_awaited = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, args=(snapshot,), name=THREAD)
        with suppress(RuntimeError):  # the system has none more, or the process ends: it is done, and in vain
            self._thread.start()

    @property
    def is_wanted(self) -> bool:
        return not self._control.cancelled

    def note(self, between: Between) -> None:
        """A change that was told without sums."""
        with self._lock:
            if not self.leads_to(between.old):
                self.cancel()
            self._noted.append(between)
            self._newest = between.new

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    @property
    def may_be_awaited(self) -> bool:
        """Whether it is under way, and nobody has waited for it in vain."""
        return not (self.is_done or self._was_awaited)

    def wait(self, seconds: float, control: Control) -> None:
        """Until it is done, for so long at most. Raises QueryCancelled and QueryTimeout."""
        until = time.monotonic() + seconds
        while not self.is_done and time.monotonic() < until:
            control.check()
            self._thread.join(_POLL)
        self._was_awaited = True

    def leads_to(self, snapshot: Snapshot | None) -> bool:
        """Whether a version is the last one that is known here."""
        return self._newest is snapshot

    def taken(self) -> Made | None:
        """When it is done: the sums, if they could be made and are wanted. Raises what has gone wrong there,
        other than what answering a query raises."""
        if self._error is not None:
            raise self._error
        if self._sums is None or not self.is_wanted:
            return None
        return Made(self._sums, reduce(Between.joined, self._noted) if self._noted else None)

    def cancel(self) -> None:
        """Nobody wants the sums any more."""
        self._control.cancel()

    def stop(self) -> None:
        """Returns when the thread has ended. Raises as `taken` does."""
        self.cancel()
        if self._thread.ident is not None:
            self._thread.join()
        self.taken()

    def _run(self, snapshot: Snapshot) -> None:
        try:
            sums = self._counting.of(snapshot, self._control)
            while (between := self._left(sums)) is not None:
                self._counting.follow(sums, between, self._control)
        except GQueryError:  # it takes too long, there is no room, or nobody wants them
            pass
        except BaseException as error:  # for who asks next
            self._error = error

    def _left(self, sums: Sums) -> Between | None:
        """What has been noted meanwhile, if that is much; else the sums are made."""
        with self._lock:
            if len(self._noted) <= _FEW:
                self._sums = sums
                return None
            noted, self._noted = self._noted, []
        return reduce(Between.joined, noted)

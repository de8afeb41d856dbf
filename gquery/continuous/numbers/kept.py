"""Sums that are kept from version to version (`sums.py`), where changes take long without."""

from __future__ import annotations

import math
import time

from gquery.continuous.answers import Answering
from gquery.continuous.between import Between
from gquery.continuous.numbers.counting import Apart, Counting
from gquery.continuous.numbers.making import Behind, Made, Making
from gquery.continuous.numbers.sums import Sums
from gquery.errors import GQueryError
from gquery.executor.progress import Control
from gquery.lasting.locks import lasting_lock
from gquery.storage.graph import Snapshot

_CALL = 0.002  # seconds that a change takes at least, more or less, however little there is to find
_CHANGES, _LEAST = 16, 0.05  # changes, and seconds of these, before it is worth a try
_LONGER = 64  # times as long as these may a try take: nobody waits for all of it
_SOON = 0.005  # seconds that a change may take without sums while they are being made
_AWAITED = 5.0  # seconds that it waits for them at most if it takes longer
_PATIENCE = (
    0.5  # seconds that changes take more with sums than they took without, altogether, before these are given up
)


def half_of(memory_limit: int | None) -> int | None:
    """While sums are made, what they may take, and what changes may take that are told meanwhile."""
    return None if memory_limit is None else memory_limit // 2


class Worth:
    """Whether sums are worth to be made and to be kept. They are begun when changes that were answered without have
    taken long enough, and again when these have taken as long as the last try was allowed to: so at most half of the
    time is spent on tries. Of trees the numbers by vertex may be many where the matches are counted soon: then there
    are no sums any more."""

    def __init__(self) -> None:
        self._changes, self._spent, self._least = 0, 0.0, _LEAST
        self._took, self._usual, self._lost = 0.0, 0.0, 0.0

    def answered_without(self, seconds: float) -> float | None:
        """A change has taken so long without sums. Returns the seconds that it is worth to make them; None where it is
        not worth while."""
        self._changes += 1
        self._took += seconds
        self._spent += max(0.0, seconds - _CALL)
        return _LONGER * self._spent if self._changes >= _CHANGES and self._spent >= self._least else None

    def answered_with(self, seconds: float) -> bool:
        """A change has taken so long with sums. Returns whether these are worth to be kept."""
        self._lost += seconds - self._usual
        if self._lost > _PATIENCE:
            self._least = math.inf
        return self._lost <= _PATIENCE

    def given_up(self) -> None:
        """To make them took longer, or there is no room."""
        self._least = _LONGER * self._spent

    def made(self) -> None:
        """Changes are answered with them from now on."""
        self._usual, self._lost = self._took / max(1, self._changes), 0.0
        self._changes, self._spent, self._took, self._least = 0, 0.0, 0.0, _LEAST


class Kept:
    """For one version at a time. Changes are told by one thread at a time; it may be closed by any."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._worth = Worth()
        self._sums: Sums | None = None
        self._making: Making | None = None
        self._is_closed = False
        self._lock = lasting_lock()  # of what is being made

    @property
    def is_making(self) -> bool:
        """Whether a thread makes sums now."""
        return self._making is not None and not self._making.is_done

    def hurried(self, control: Control) -> Control:
        """For an answer without sums: what it may take before it is worth to wait for those that are being made; the
        same where there are none to wait for."""
        making = self._making
        if making is None or not making.may_be_awaited:
            return control
        return Control(min(_SOON, control.left), control.memory_limit)

    def wait(self, control: Control) -> None:
        """Until sums are made, for some seconds at most, and no longer than leaves time to do without. Raises
        QueryCancelled and QueryTimeout."""
        making = self._making
        if making is not None:
            making.wait(min(_AWAITED, control.left / 2), control)

    def told(self, apart: Apart, between: Between, control: Control) -> tuple[int, int] | None:
        """How many matches of a pattern are new, and how many are gone, by what the change did to its branches; None
        where there are no sums of the old version, or that cannot be told. Raises what has gone wrong where sums were
        made, other than what answering a query raises."""
        made = self._made(between.old)
        if made is not None:
            self._sums = made.sums
            self._worth.made()
        began = time.perf_counter()
        try:
            numbers = self._followed(Counting(apart, self._answering), between, made, control)
        except GQueryError:  # a branch may have more matches than the pattern
            numbers = None
        if numbers is None or not self._worth.answered_with(time.perf_counter() - began):
            self._sums = None
        return numbers

    def answered_without(self, apart: Apart, between: Between, seconds: float) -> None:
        """A change has taken so long without sums: they are begun to be made, where that is worth while."""
        worth = self._worth.answered_without(seconds)
        with self._lock:
            if self._making is not None:
                self._making.note(between)
            elif worth is not None and not self._is_closed:
                control = Behind(self, worth, half_of(self._answering.settings.memory_limit))
                self._making = Making(Counting(apart, self._answering.another()), between.new, control)

    def forget(self) -> None:
        """Nobody goes on from the version whose sums these are, or are to be. Raises as `told` does."""
        self._sums = None
        self._made(None)

    def stop(self) -> None:
        """Makes none now. Raises what has gone wrong there."""
        with self._lock:
            making, self._making = self._making, None
        if making is not None:
            making.stop()

    def close(self) -> None:
        """No more sums are made, and no thread is left that does. Raises what has gone wrong there."""
        with self._lock:
            self._is_closed = True
        self.stop()

    def _made(self, old: Snapshot | None) -> Made | None:
        """What has been made for who asks what a version has become, if it is there now."""
        with self._lock:
            making = self._making
            if making is None:
                return None
            if not making.leads_to(old):
                making.cancel()
            if not making.is_done:
                return None
            self._making = None
        made = making.taken()
        if made is None and making.is_wanted:
            self._worth.given_up()
        return made

    def _followed(
        self, counting: Counting, between: Between, made: Made | None, control: Control
    ) -> tuple[int, int] | None:
        """By sums of the old version, which may have been made just now; None where there are none."""
        if self._sums is None:
            return None
        if made is not None and made.left is not None:
            counting.follow(self._sums, made.left, control)
        return counting.follow(self._sums, between, control) if self._sums.are_of(between.old) else None

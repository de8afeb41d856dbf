"""Work over slices of a range, or over pieces of anything, on all threads.

The caller's thread takes part: starting one thread is cheaper than handing everything to a pool, and short work is done
before a pool would have been set up.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from gquery.errors import QueryCancelled
from gquery.executor.cpu.machine.helper import Helper
from gquery.stopping import stoppable

Item = TypeVar("Item")
Piece = TypeVar("Piece")

_FEWEST = 3  # slices that are worth a second thread
_WAITING = 8  # items that may wait for who consumes them
_PATIENCE = 0.02  # seconds between two checks while there is nothing to do but wait


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


def made_of(
    pieces: Sequence[Piece], threads: int, check: Callable[[], object], work: Callable[[Piece], Iterable[Item]]
) -> Generator[Item, None, None]:
    """What `work` makes of each piece, in any order. The caller's thread works too, whenever nothing waits for it.
    Closing the generator stops the other threads, and waits for them."""
    making = _Making(pieces, work)
    helpers = [Helper(making.help) for _ in range(1, min(threads, len(pieces)))]
    try:
        for helper in helpers:
            helper.start()
        while True:
            check()
            if making.made:
                yield making.first()
            elif (taken := making.take()) is not None:
                with stoppable(check):
                    items = list(taken)
                yield from items
            elif not making.wait():
                return
    finally:
        making.stop()
        for helper in helpers:
            helper.join()


class _Making(Generic[Piece, Item]):
    """What threads share that make items of pieces for one of them, which consumes them."""

    def __init__(self, pieces: Iterable[Piece], work: Callable[[Piece], Iterable[Item]]) -> None:
        self.made: deque[Item] = deque()
        self._pieces = iter(pieces)
        self._work = work
        self._working = 0
        self._stopped = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition(threading.RLock())

    def take(self) -> Iterator[Item] | None:
        """The items of the next piece, which the caller makes; None when there is none any more."""
        with self._changed:
            for piece in self._pieces:
                self._working += 1
                return self._items(piece)
            return None

    def _items(self, piece: Piece) -> Iterator[Item]:
        try:
            yield from self._work(piece)
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    def first(self) -> Item:
        """What has waited longest."""
        with self._changed:
            self._changed.notify_all()
            return self.made.popleft()

    def wait(self) -> bool:
        """A moment for what others make; False when they are done. Raises what they have raised."""
        with self._changed:
            if not self.made and self._working and self._failure is None:
                self._changed.wait(_PATIENCE)
            if self._failure is not None:
                raise self._failure
            return bool(self.made or self._working)

    def stop(self) -> None:
        """Nothing more is wanted."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def help(self) -> None:
        """What the other threads do."""
        try:
            with stoppable(self._expect_going_on):
                while not self._stopped and (taken := self.take()) is not None:
                    for item in taken:
                        self._deliver(item)
        except BaseException as failure:  # raised where the items are consumed
            with self._changed:
                self._failure = self._failure or failure
                self._changed.notify_all()

    def _deliver(self, item: Item) -> None:
        """Hands an item over, when there is room."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.made) < _WAITING or self._stopped)
            self._expect_going_on()
            self.made.append(item)
            self._changed.notify_all()

    def _expect_going_on(self) -> None:
        if self._stopped:
            raise QueryCancelled("the query has stopped")

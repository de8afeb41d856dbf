"""What is made of a graph on demand and kept while there is room: the least recently used goes first. Answers to small
questions are all kept, and now and then all forgotten."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from gquery.lasting.locks import lasting_lock

DEFAULT_LIMIT = 2**30  # bytes
_MOST_ANSWERS = 10_000  # that are remembered by one that is asked


class Meter(Protocol):
    """The budget of the query that asks: what it makes the cache hold is counted as its own."""

    limit: int | None

    def reserve(self, size: int, purpose: str) -> None:
        """Takes bytes, or raises an error of the query's."""

    def release(self, size: int) -> None:
        """Gives bytes back."""


class Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


Made = TypeVar("Made", bound=Sized)


Question = TypeVar("Question", bound=Callable[..., Any])


def remembered(question: Question) -> Question:
    """Answers a question once for each combination of its arguments, and keeps that in `_answers` of the one asked:
    planning asks few, again and again."""

    @wraps(question)
    def answer(asked: Any, *arguments: Any) -> Any:
        key = (question.__name__, *arguments)
        try:
            return asked._answers[key]
        except KeyError:
            found = question(asked, *arguments)
        if len(asked._answers) >= _MOST_ANSWERS:
            asked._answers.clear()
        asked._answers[key] = found
        return found

    return cast(Question, answer)


class Cache:
    """Values by key, of at most `limit` bytes together, and of no more than its own limit when a query with one adds to
    them. Who has a value keeps it: what goes from here is made again for who asks next. before: called before anything
    goes, so that who has values for no query lets go of them. Safe from several threads.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT, before: Callable[[], None] = lambda: None) -> None:
        self.limit = limit
        self._before = before
        self.nbytes = 0
        self._kept: OrderedDict[object, Sized] = OrderedDict()
        self._lock = lasting_lock()

    def get(self, key: object, make: Callable[[], Made], most: int, purpose: str, meter: Meter | None = None) -> Made:
        """The value, made when it is not there. most: bytes that making it takes at most; `purpose` needs them."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast(Made, self._kept[key])
            made = _metered(make, most, purpose, meter)
            bounds = [self.limit] if meter is None or meter.limit is None else [self.limit, meter.limit]
            self._keep(key, made, min(bounds))
            return made

    def has(self, key: object) -> bool:
        with self._lock:
            return key in self._kept

    def carried(self, of: Cache, carry: Callable[[object, Sized], Sized | None]) -> None:
        """Takes over what another one holds, as `carry` makes it of key and value; None is left there."""
        with of._lock:
            held = list(of._kept.items())
        for key, value in held:
            made = carry(key, value)
            if made is not None:
                with self._lock:
                    self._keep(key, made, self.limit)

    def _keep(self, key: object, made: Sized, limit: int) -> None:
        self._kept[key] = made
        self.nbytes += made.nbytes
        if self.nbytes > limit:
            self._before()
        while self.nbytes > limit:
            _, oldest = self._kept.popitem(last=False)
            self.nbytes -= oldest.nbytes


def _metered(make: Callable[[], Made], most: int, purpose: str, meter: Meter | None) -> Made:
    """Makes a value; its bytes stay reserved when it is there, and none when it cannot be made."""
    if meter is None:
        return make()
    meter.reserve(most, purpose)
    held = 0
    try:
        made = make()
        held = min(most, made.nbytes)
        return made
    finally:
        meter.release(most - held)

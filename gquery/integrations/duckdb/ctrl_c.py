"""Ctrl-C while DuckDB runs is KeyboardInterrupt, in the line of the user's that called DuckDB.

Python raises it wherever the main thread looks at signals: in a callback of ours, from which nothing may pass through
DuckDB, or while DuckDB polls, which makes a RuntimeError of it. So a handler in front of Python's own sets a trap on
the frame that called DuckDB: the error that comes back to it, whatever DuckDB calls it, becomes the KeyboardInterrupt.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import duckdb

_stops: list[Callable[[], None]] = []  # what else has to end on Ctrl-C
_previous: Any = None  # the handler before ours, while ours is in place
_entries: set[CodeType] = set()  # functions that DuckDB calls


def install() -> None:
    """Puts the handler in front of the present one. Only the main thread can; elsewhere nothing happens."""
    global _previous
    present = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is threading.main_thread() and callable(present) and present is not _handle:
        _previous = present
        signal.signal(signal.SIGINT, _handle)
        errors: Any = duckdb.Error
        errors.__init__ = _see_signals_first


def is_pythons_own() -> bool:
    """Whether Ctrl-C will be KeyboardInterrupt: the handler is ours, and Python's own is behind it."""
    return signal.getsignal(signal.SIGINT) is _handle and _previous is signal.default_int_handler


def also_stop(stop: Callable[[], None]) -> None:
    """`stop` is called on Ctrl-C, in the main thread at any moment: it must not wait for what that thread holds."""
    _stops.append(stop)


def entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that DuckDB calls: the frame under it is the one to get the KeyboardInterrupt."""
    _entries.add(function.__code__)
    return function


def guarded(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a function returns; whoever calls this catches all that it raises.

    An entry from which nothing may pass does its work in here: KeyboardInterrupt is raised nowhere else in it.
    """
    if _is_set():
        raise KeyboardInterrupt
    return function(*arguments)


def _handle(number: int, frame: FrameType | None) -> None:
    try:
        _previous(number, frame)
    except KeyboardInterrupt:
        raise_where_called(frame)
        for stop in _stops:
            stop()
        if _may_raise(frame):
            raise


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _may_raise(frame: FrameType | None) -> bool:
    for outer in _outwards(frame):
        if outer.f_code is guarded.__code__:
            return True
        if outer.f_code in _entries:
            return False
    return True


def caught(frame: FrameType) -> None:
    """An entry has caught a KeyboardInterrupt: where another handler than ours raised it, no trap is set yet."""
    if signal.getsignal(signal.SIGINT) is not _handle:
        raise_where_called(frame)


def raise_where_called(frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt as soon as the frame that called DuckDB goes on. frame: the one that runs now."""
    called = [outer.f_back for outer in _outwards(frame) if outer.f_code in _entries] or [frame]
    if called[-1] is not None and not _is_set():
        _Trap(called[-1])


class _Trap:
    """A trace function for one event of one frame."""

    def __init__(self, frame: FrameType) -> None:
        self._before = sys.gettrace(), frame.f_trace, frame.f_trace_opcodes
        frame.f_trace_opcodes = True
        frame.f_trace = self
        sys.settrace(_no_other_frame)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        trace, frame.f_trace, frame.f_trace_opcodes = self._before
        sys.settrace(trace)
        if event != "exception" or _is_duckdbs(argument[0]):
            raise KeyboardInterrupt from None


def _is_set() -> bool:
    """Whether a trap of this thread waits."""
    return sys.gettrace() is _no_other_frame


def _no_other_frame(frame: FrameType, event: str, argument: object) -> None:
    return None


def _is_duckdbs(kind: type[BaseException]) -> bool:
    return issubclass(kind, (duckdb.Error, RuntimeError))


def _see_signals_first(error: duckdb.Error, *arguments: Any) -> None:
    """Makes an error of DuckDB's. That this is Python code is the point: where DuckDB has worked without looking at
    signals, it has the main thread look before the error is there, and KeyboardInterrupt takes its place."""
    Exception.__init__(error, *arguments)

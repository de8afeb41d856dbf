"""Packages that a first query needs, imported where Ctrl-C does not reach.

Python interrupts whatever the main thread is at. A package that is setting up its C code then swallows the interrupt
or stays half made, and some of ours take tenths of a second for that: pyarrow imports pandas, where it is installed, as
soon as it first converts what is no plain number (`arrays.py`). So they are imported in a thread of their own, when
they are needed, and the main thread waits.

What they make is there to stay. Looking through it for garbage, again and again, would be a tenth of the time.

What all queries need is imported with `gquery` itself, by the main thread. A program hears of Ctrl-C then as it does in
any import; the command `gquery`, in which nothing has begun yet, ends.
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gquery.stopping import Check

CONVERSION = ("pandas",)
ENGINE = ("gquery.executor.cpu.engine",)
DATABASE = ("duckdb",)
GROUPING = "pyarrow.acero"

_POLL = 0.02  # seconds between two looks at the clock
_CANCELLED = 130  # the exit code of a command that Ctrl-C ends
_LONGEST = 10.0  # seconds that a fork waits for an import, which takes tenths of one
_absent: set[str] = set()
_there: set[str] = set()
_asked: Counter[str] = Counter()
_at_work: set[threading.Thread] = set()
_beginning = threading.Lock()  # no import begins while a process is forked


def import_apart(names: tuple[str, ...], check: Check) -> None:
    """Imports what is installed of the packages and is not known yet; `check` is called while it waits."""
    missing = [name for name in names if name not in sys.modules and name not in _absent]
    if not missing or threading.current_thread() is not threading.main_thread():
        return
    thread = _importing(missing)
    while thread.is_alive():
        thread.join(_POLL)
        check()


def is_imported(name: str, after: int) -> bool:
    """Whether a package is there that takes longer to import than it saves at first: a thread imports it once it has
    been asked for so often."""
    if name in _there:
        return True
    _asked[name] += 1
    if name in sys.modules and _asked[name] <= after:
        _there.add(name)  # somebody else's import
    elif _asked[name] == after:
        _importing([name])
    return name in _there


@contextmanager
def ending_quietly() -> Iterator[None]:
    """Ctrl-C ends the command `gquery` meanwhile, where Python would show how far it has come."""
    heard = signal.getsignal(signal.SIGINT)
    is_ours = heard is signal.default_int_handler and threading.current_thread() is threading.main_thread()
    if not (is_ours and _is_command()):
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(_CANCELLED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def _is_command() -> bool:
    """Whether this process is `gquery`, or `python -m gquery`."""
    script = os.path.basename(next(iter(sys.argv), ""))
    return script.removesuffix(".exe") == "gquery" or sys.orig_argv[1:3] == ["-m", "gquery"]


@contextmanager
def collected_later() -> Iterator[None]:
    """Python's collection of cyclic garbage waits meanwhile."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def nothing_is_garbage() -> Iterator[None]:
    """The same, for what makes things that are there to stay."""
    with collected_later():
        try:
            yield
        finally:
            _take_for_old()


def _take_for_old() -> None:
    """Moves all objects to the oldest generation without a look at them: what was made meanwhile would be looked
    through as soon as the collection goes on. What somebody has frozen stays frozen, and the rest is as it was."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


def _importing(names: list[str]) -> threading.Thread:
    thread = threading.Thread(target=_import, args=(names,), name="gquery-imports", daemon=True)
    with _beginning:
        _at_work.add(thread)
        try:
            thread.start()
        except RuntimeError:  # there is none to be had: whoever needs the packages imports them
            _at_work.discard(thread)
    return thread


def _import(names: list[str]) -> None:
    try:
        with nothing_is_garbage():
            for name in names:
                with suppress(Exception):  # whoever needs it says what is wrong with it
                    importlib.import_module(name)
                (_there if name in sys.modules else _absent).add(name)
    finally:
        _at_work.discard(threading.current_thread())


def _wait() -> None:
    """Before a fork: what is imported just then would stay half made in the new process, and be waited for for ever."""
    _beginning.acquire()
    for thread in _at_work - {threading.current_thread()}:
        thread.join(_LONGEST)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=_beginning.release, after_in_child=_beginning.release)

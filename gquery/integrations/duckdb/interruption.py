"""Whether the user has interrupted the DuckDB statement that works of ours belong to, and what then stops them.

DuckDB looks at that between two chunks only, so a query that matches for a minute before its first row would not feel
`con.interrupt()`. The stable API has no question for it. The wheels of DuckDB 2.0 export what it takes to ask all the
same; where they do not, interruption waits for the next batch, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import select
import signal
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import NamedTuple

import duckdb

from gquery.integrations.duckdb import ctrl_c

_POLL = 0.02  # seconds
_CLASS = "6duckdb13ClientContext"


class Interrupted(BaseException):
    """Raised in the thread that binds a statement which was interrupted; DuckDB's own error takes its place."""


class _Symbols:
    """Functions of the loaded DuckDB library. Raises AttributeError when it does not export them."""

    def __init__(self) -> None:
        import _duckdb

        library = ctypes.PyDLL(_duckdb.__file__)  # they return at once
        self.get_context = library.duckdb_table_function_get_client_context
        self.get_context.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
        self.destroy_context = library.duckdb_destroy_client_context
        self.destroy_context.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
        self.is_interrupted = getattr(library, f"_ZNK{_CLASS}13IsInterruptedEv")
        self.is_interrupted.argtypes = [ctypes.c_void_p]
        self.is_interrupted.restype = ctypes.c_bool
        self.interrupt = getattr(library, f"_ZN{_CLASS}9InterruptEv")
        self.interrupt.argtypes = [ctypes.c_void_p]
        self.raise_interrupted = getattr(library, f"_ZNK{_CLASS}14InterruptCheckEv")


@functools.cache
def _symbols() -> _Symbols | None:
    if not duckdb.__version__.startswith("2.0."):
        return None  # how a context handle is laid out is known for 2.0 only
    try:
        return _Symbols()
    except (AttributeError, OSError):
        return None


def raise_interrupted() -> int | None:
    """The address of DuckDB's function that throws its InterruptException when a context is interrupted."""
    symbols = _symbols()
    return ctypes.cast(symbols.raise_interrupted, ctypes.c_void_p).value if symbols else None


def context_of(bind_info: int) -> int | None:
    """The address of the context of a statement that is being bound; None where this DuckDB cannot be asked."""
    symbols = _symbols()
    if symbols is None:
        return None
    handle = ctypes.c_void_p()
    symbols.get_context(bind_info, ctypes.byref(handle))
    if not handle.value:
        return None
    context = ctypes.c_void_p.from_address(handle.value).value  # the handle holds a reference to the context
    symbols.destroy_context(ctypes.byref(handle))
    return context


class _Work(NamedTuple):
    """Something of ours that a statement waits for."""

    context: int | None
    stop: Callable[[], None]
    on_main: bool  # the main thread runs the statement, so that Ctrl-C ends it


class Watcher:
    """A thread that calls `stop` of the works whose statement was interrupted. It sleeps while there are none."""

    def __init__(self) -> None:
        self._connections: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()
        self._begin()
        ctrl_c.also_stop(self.stop_main)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_again)

    def _begin(self) -> None:
        self._works: dict[object, _Work] = {}
        self._lock = threading.RLock()  # a signal may come while the main thread holds it
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        self._thread: threading.Thread | None = None

    def _begin_again(self) -> None:
        """A forked process has no threads of its parent's, and would wake its parent's."""
        parents = self._waker  # stays open until another one is in its place
        self._begin()
        self.install(parents.fileno())

    def install(self, replaced: int = -1) -> None:
        """Has Ctrl-C wake the thread, for DuckDB may work long without looking at signals itself. replaced: what woke
        it before."""
        ctrl_c.install()
        with contextlib.suppress(ValueError):  # not the main thread
            before = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
            if before not in (-1, replaced, self._waker.fileno()):
                signal.set_wakeup_fd(before)  # someone else's, such as asyncio's

    def add(self, context: int | None, stop: Callable[[], None], on_main: bool) -> object:
        """Watches a context, which stays alive until `remove`; returns what `remove` takes. `stop` is called once.
        Without a context only Ctrl-C stops the work."""
        key = object()
        self._add(key, _Work(context, stop, on_main))
        return key

    def _add(self, key: object, work: _Work) -> None:
        self._start()
        with self._lock:
            self._works[key] = work
        self._wake()

    def remove(self, key: object) -> None:
        """Ends a watch: neither is its context looked at afterwards, nor its `stop` called."""
        with self._lock:
            self._works.pop(key, None)

    @contextlib.contextmanager
    def stopping(self, stop: Callable[[], None], on_main: bool) -> Iterator[None]:
        """Calls `stop` on Ctrl-C while the block runs."""
        key = self.add(None, stop, on_main)
        try:
            yield
        finally:
            self.remove(key)

    def raising(self, context: int | None, work: Callable[[], int]) -> int | None:
        """What `work` returns; None when the statement was interrupted meanwhile, which raises Interrupted in it.

        At most one Interrupted comes, perhaps only when the work is done, and none after this has returned.
        """
        key = object()
        try:
            try:
                self._add(key, _Work(context, functools.partial(_raise_in, threading.get_ident()), on_main=False))
                return work()
            finally:
                self.remove(key)
        except Interrupted:
            self.remove(key)
            return None

    def interrupts(self, con: duckdb.DuckDBPyConnection) -> None:
        """Has Ctrl-C interrupt what runs on a connection of the main thread's, without knowing its statements."""
        if threading.current_thread() is threading.main_thread():
            self._start()
            self._connections.add(con)

    def stop_main(self) -> None:
        """Interrupts the statements that the main thread runs, and their works; a Ctrl-C not yet seen is this one."""
        symbols = _symbols()
        with self._lock:
            self._signalled()
            for key, work in list(self._works.items()):
                if work.on_main:
                    if work.context and symbols:
                        symbols.interrupt(work.context)
                    self._stop(key)
            for con in list(self._connections):
                with contextlib.suppress(duckdb.Error):  # it is closed
                    con.interrupt()

    def _stop(self, key: object) -> None:
        self._works.pop(key).stop()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="gquery-duckdb-watch", daemon=True)
            self._thread.start()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):  # it is about to wake anyway
            self._waker.send(b"\0")

    def _run(self) -> None:
        symbols = _symbols()
        while True:
            select.select([self._woken], [], [], _POLL if self._works else None)
            with self._lock:
                if self._signalled() and ctrl_c.is_pythons_own():
                    self.stop_main()
                for key, work in list(self._works.items()):
                    if work.context and symbols and symbols.is_interrupted(work.context):
                        self._stop(key)

    def _signalled(self) -> bool:
        try:
            return signal.SIGINT in self._woken.recv(4096)
        except BlockingIOError:
            return False


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Interrupted))


watcher = Watcher()

"""Whether the user has interrupted the DuckDB query that a scan belongs to.

DuckDB looks at that between two chunks only, so a query that matches for a minute before its first row would not feel
`con.interrupt()` or Ctrl-C. The stable API has no question for it. The wheels of DuckDB 2.0 export what it takes to ask
all the same; where they do not, interruption waits for the next batch, and nothing else changes.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable

_POLL = 0.05  # seconds
_IS_INTERRUPTED = "_ZNK6duckdb13ClientContext13IsInterruptedEv"


class _Symbols:
    """Functions of the loaded DuckDB library. Raises AttributeError when it does not export them."""

    def __init__(self) -> None:
        import _duckdb

        library = ctypes.CDLL(_duckdb.__file__)
        self.get_context = library.duckdb_table_function_get_client_context
        self.get_context.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
        self.destroy_context = library.duckdb_destroy_client_context
        self.destroy_context.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
        self.is_interrupted = getattr(library, _IS_INTERRUPTED)
        self.is_interrupted.argtypes = [ctypes.c_void_p]
        self.is_interrupted.restype = ctypes.c_bool


@functools.cache
def _symbols() -> _Symbols | None:
    import duckdb

    if not duckdb.__version__.startswith("2.0."):
        return None  # how a context handle is laid out is known for 2.0 only
    try:
        return _Symbols()
    except (AttributeError, OSError):
        return None


def interruption_probe(bind_info: int) -> Callable[[], bool] | None:
    """A question to ask while the query runs that is being bound, or None where this DuckDB cannot be asked."""
    symbols = _symbols()
    if symbols is None:
        return None
    handle = ctypes.c_void_p()
    symbols.get_context(bind_info, ctypes.byref(handle))
    if not handle.value:
        return None
    context = ctypes.c_void_p.from_address(handle.value).value  # the handle holds a reference to the context
    symbols.destroy_context(ctypes.byref(handle))
    return functools.partial(symbols.is_interrupted, context)


class Watch:
    """Calls `stop` once, from a thread of its own, when `interrupted` turns true before the watch is closed."""

    def __init__(self, interrupted: Callable[[], bool], stop: Callable[[], None]) -> None:
        self._closed = threading.Event()
        self._interrupted = interrupted
        self._stop = stop
        self._thread = threading.Thread(target=self._run, name="gquery-duckdb-watch", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(_POLL):
            if self._interrupted():
                self._stop()
                return

    def close(self) -> None:
        """Ends the watch; afterwards `interrupted` is not asked again."""
        self._closed.set()
        self._thread.join()

"""A load runs in a thread of its own: Ctrl-C and a timeout are noticed at once, whatever the readers are doing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait

from gquery.errors import LoadError, QueryTimeout
from gquery.stopping import start
from gquery.storage.load.loading import Loading
from gquery.storage.load.options import Options
from gquery.storage.load.report import LoadedGraph

_GRACE = 0.1  # seconds that a stopped load has to end before its caller goes on without it


def run(
    options: Options, load: Callable[[Loading], LoadedGraph], interrupt: Callable[[], None] = lambda: None
) -> LoadedGraph:
    """What `load` makes. `interrupt` ends what it waits for.

    Raises what `load` raises, QueryTimeout when it takes longer than its options allow, and LoadError when memory or
    the stack ends. A load that nobody waits for any more ends at its next step; a process that ends meanwhile waits for
    that, since a thread that is cut off inside Arrow takes the process down with it.
    """
    loading = Loading(options)
    outcome: Future[LoadedGraph] = Future()
    worker = threading.Thread(target=_fulfil, args=(outcome, load, loading), name="gquery load", daemon=False)
    patience = None if options.timeout is None else min(options.timeout, threading.TIMEOUT_MAX)
    try:
        start(worker)
        if not wait([outcome], patience).done:
            raise QueryTimeout(f"the load took longer than its timeout of {options.timeout:g} s")
        return outcome.result()
    finally:
        if not outcome.done():
            loading.stop()
            interrupt()
            if worker.is_alive():
                worker.join(_GRACE)


def _fulfil(outcome: Future[LoadedGraph], load: Callable[[Loading], LoadedGraph], loading: Loading) -> None:
    try:
        outcome.set_result(load(loading))
    except MemoryError:
        hint = "load fewer columns or rows, or a machine with more memory is needed"
        outcome.set_exception(LoadError("the graph does not fit into memory", hint=hint))
    except RecursionError:
        hint = "lists and structs within each other may be some hundred levels deep"
        outcome.set_exception(LoadError("the values are nested too deep", hint=hint))
    except BaseException as error:
        outcome.set_exception(error)

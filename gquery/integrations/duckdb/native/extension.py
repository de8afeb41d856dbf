"""The table function `gquery(graph, query, params := ...)`: the Python half of the C extension.

DuckDB calls C, C calls the functions of `_Bridge` here, from whatever thread DuckDB works on. No exception may leave
them: an error goes back as text. What C keeps of Python's objects are numbers.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import itertools
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from gquery.errors import BindError, GQueryError, UnsupportedError
from gquery.integrations.duckdb import ctrl_c
from gquery.integrations.duckdb.interruption import Interrupted, context_of, raise_interrupted, watcher
from gquery.integrations.duckdb.native.statement import Scan, Statement
from gquery.integrations.duckdb.native.values import ValueReader
from gquery.integrations.duckdb.parameters import parameters_of
from gquery.integrations.duckdb.registry import Registry, accept
from gquery.lasting.properties import cached_property

_PARTING, _GLANCE = 2.0, 0.01  # seconds that calls have to end as Python exits, and between two looks at them
LIBRARY = Path(__file__).with_name("gquery.duckdb_extension")

_Address = ctypes.c_void_p
_Number = ctypes.c_int64
_NumberOut = ctypes.POINTER(ctypes.c_int64)


# what C asks of Python itself, in the order of `struct callbacks`
_PYTHONS = {
    "hold_gil": "PyGILState_Ensure",
    "release_gil": "PyGILState_Release",
    "fetch_error": "PyErr_Fetch",
    "restore_error": "PyErr_Restore",
}


class _Told(ctypes.Structure):
    """`struct statement` of extension.c, of which all but the handle is told when a statement is bound. schema: where
    an `ArrowSchema` begins."""

    _fields_ = (("handle", _Number), ("context", _Address), ("rows", _Number), ("schema", _Address))


class _Callbacks(ctypes.Structure):
    """`struct callbacks` of extension.c. Those that can fail return the address of the error's text, empty for none."""

    _fields_ = (
        ("open", ctypes.CFUNCTYPE(_Number)),
        ("close", ctypes.CFUNCTYPE(None, _Number)),
        ("attach", ctypes.CFUNCTYPE(_Address, _Number, _Address, _Address)),
        (
            "bind",
            ctypes.CFUNCTYPE(
                _Address, _Number, _Address, _Address, _Address, _Address, ctypes.POINTER(_Told), _NumberOut
            ),
        ),
        ("start", ctypes.CFUNCTYPE(_Address, _Number, _NumberOut, _Number, _NumberOut)),
        ("next", ctypes.CFUNCTYPE(_Address, _Number, _Address)),
        ("raise_interrupted", _Address),
        *((name, _Address) for name in _PYTHONS),
    )


_told: dict[int, Any] = {}


def _tell(message: str) -> int:
    """Keeps a text a thread; a `threading.local` would lose it, since DuckDB's threads are Python's only for a call."""
    text = ctypes.create_string_buffer(message.replace("\0", "\\0").encode("utf-8", "replace"))
    _told[threading.get_ident()] = text
    return ctypes.addressof(text)


class _Bridge:
    """The callbacks, and the objects that C knows by number."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._held: dict[int, Any] = {}
        self._inside: set[int] = set()  # the threads that are in a call
        self._numbers = itertools.count(1)
        self._library = library
        self._no_error = ctypes.create_string_buffer(b"")
        fields: Any = _Callbacks._fields_
        kinds: dict[str, Any] = dict(fields)
        self._callbacks = _Callbacks(
            kinds["open"](lambda: self._hold(Registry())),
            kinds["close"](self._close),
            kinds["attach"](self._reporting(self._attach)),
            kinds["bind"](self._interruptible(self._reporting(self._bind))),
            kinds["start"](self._reporting(self._start)),
            kinds["next"](self._reporting(self._next)),
            raise_interrupted(),
            *(ctypes.cast(getattr(ctypes.pythonapi, name), _Address) for name in _PYTHONS.values()),
        )
        if not library.gquery_join_python(ctypes.byref(self._callbacks), ctypes.sizeof(self._callbacks)):
            raise OSError("it was built from other sources")

    def _reporting(self, function: Callable[..., Any]) -> Callable[..., int]:
        """The function as C may call it: it returns its error's text, good until the thread's next call.

        What the function makes for C to hold is held under a number, which goes to where the last argument points.
        """
        success = ctypes.addressof(self._no_error)

        @ctrl_c.entry
        def call(*arguments: Any) -> int:
            self._inside.add(threading.get_ident())
            try:
                made = ctrl_c.guarded(function, arguments)
            except GQueryError as error:
                return _tell(str(error))
            except KeyboardInterrupt:
                ctrl_c.caught(sys._getframe())
                return _tell("interrupted by Ctrl-C")
            except Interrupted:
                raise
            except BaseException as error:  # nothing may pass through C
                return _tell(f"{type(error).__name__}: {error}")
            finally:
                self._inside.discard(threading.get_ident())
            if made is not None:
                arguments[-1][0] = self._hold(made)
            return success

        return call

    def leave(self) -> None:
        """As Python exits: C, which may outlive it, calls nobody any more, and whoever is in a call gets out first."""
        self._library.gquery_join_python(None, 0)
        for thing in list(self._held.values()):
            if isinstance(thing, Scan):
                thing.cancel()
        until = time.monotonic() + _PARTING
        while self._inside and time.monotonic() < until:
            time.sleep(_GLANCE)
        time.sleep(_GLANCE)  # the last one still has to let go of Python

    def _interruptible(self, bind: Callable[..., int]) -> Callable[..., int]:
        """`bind`, which also ends when the statement is interrupted while it is bound."""

        @ctrl_c.entry
        def call(*arguments: Any) -> int:
            told = watcher.raising(context_of(arguments[1]), functools.partial(bind, *arguments))
            return _tell("interrupted") if told is None else told

        return call

    @cached_property
    def _values(self) -> ValueReader:
        return ValueReader(self._library.gquery_api())

    def _hold(self, thing: Any) -> int:
        number = next(self._numbers)
        self._held[number] = thing
        if isinstance(thing, Scan):
            thing.watch()
        return number

    @ctrl_c.entry
    def _close(self, number: int) -> None:
        thing = self._held.pop(number, None)
        if isinstance(thing, Scan):
            with suppress(Exception):  # nothing may pass through C, and there is nobody to tell
                thing.close()

    def _attach(self, registry: int, name: int, token: int) -> None:
        self._held[registry].add(self._values.read(name), accept(self._values.read(token)))

    def _bind(
        self, registry: int, info: int, graph: int, query: int, parameters: int | None, told: Any, number: Any
    ) -> Statement:
        name, text = self._values.read(graph), self._values.read(query)
        if not isinstance(name, str) or not isinstance(text, str):
            raise BindError("gquery() needs the name of a graph and the text of a query, not NULL")
        bound = told.contents
        bound.context = here = context_of(info)
        given = parameters_of(self._values.read(parameters))
        statement = Statement(self._held[registry].find(name), text, given, here)
        bound.rows = statement.rows
        statement.schema._export_to_c(ctypes.addressof(bound) + _Told.schema.offset)
        return statement

    def _start(self, statement: int, columns: Any, count: int, number: Any) -> Scan:
        places = [column for column in columns[:count] if column >= 0]
        scan: Scan = self._held[statement].scan(places)
        return scan

    def _next(self, scan: int, batch_out: int) -> None:
        batch = self._held[scan].next()
        if batch is not None:
            batch._export_to_c(batch_out)


@functools.cache
def _bridge() -> _Bridge:
    """The library, connected with this process's Python. Raises UnsupportedError when there is none that fits."""
    hint = "install gquery again where a C compiler is found; without it use gquery.attach(con, graph, name) on an own "
    hint += "connection, see docs/duckdb.md"
    if not LIBRARY.exists():
        raise UnsupportedError(
            "gquery was installed without a C compiler, so its DuckDB extension is missing", hint=hint
        )
    try:
        library = ctypes.CDLL(str(LIBRARY))
        library.gquery_join_python.argtypes = [_Address, _Number]
        library.gquery_join_python.restype = ctypes.c_bool
        library.gquery_api.restype = ctypes.POINTER(_Address)
        bridge = _Bridge(library)
    except (OSError, AttributeError) as error:
        raise UnsupportedError(f"gquery's DuckDB extension does not load here: {error}", hint=hint) from error
    atexit.register(bridge.leave)
    return bridge


_loading = threading.Lock()


def load(con: duckdb.DuckDBPyConnection) -> None:
    """Loads the extension into the connection's database, which must allow unsigned extensions.

    Raises UnsupportedError when the extension is missing or DuckDB refuses it.
    """
    watcher.install()
    with _loading:
        _bridge()
        try:
            con.load_extension(str(LIBRARY))
        except duckdb.Error as error:
            raise UnsupportedError(
                f"DuckDB {duckdb.__version__} does not load gquery's extension: {error}",
                hint="gquery is made for DuckDB 2.0 and later",
            ) from error

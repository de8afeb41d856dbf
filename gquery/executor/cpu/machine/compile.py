"""How kernels are compiled: once per machine, without the interpreter's lock and without Numba's runtime.

Kernels allocate nothing, so they can do without the runtime, and then their array arguments are not reference counted:
the atomic counting inside the inner loops took more than half of the enumeration's time.

Compiling a kernel takes up to some seconds in which nothing could stop it. So it happens in a thread of its own, while
the thread that wants to call the kernel waits and looks at its query's check. A query that stops leaves the compilation
going on: the next one finds the kernel.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.core.typing.typeof import typeof
from numba.np import numpy_support

from gquery.executor.cpu.machine import kernel_cache
from gquery.executor.cpu.machine.kept import KernelCache
from gquery.executor.cpu.machine.whole import Whole
from gquery.stopping import check_of_this_thread, start

_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False}
_POLL = 0.02  # seconds between two looks at the check
_PATIENCE = 1.0  # seconds of waiting after which it is said why
_njit: Any = njit  # whose types leave out what is not for everybody, as do those of the next
_types: Any = types
_log = logging.getLogger("gquery")

kernel_cache.begin()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function that Python calls."""
    compiled: Any = _njit(**_OPTIONS, no_cfunc_wrapper=True, pipeline_class=Whole)(function)
    compiled._cache = KernelCache(function)  # type: ignore[no-untyped-call]

    def compile_for_arguments(*arguments: Any) -> Any:
        """What Numba calls when there is no kernel for arguments of these types yet."""
        given = tuple(_type_of(argument) for argument in arguments)
        return _compilations.wait(lambda: compiled.compile(given))

    compiled._compile_for_args = compile_for_arguments
    compiled.typeof_pyval = _type_of
    return compiled  # type: ignore[no-any-return]


def _type_of(argument: Any) -> Any:
    """Numba's type of an argument. Numba itself imports all masked arrays first, to see that an array is none."""
    if type(argument) is np.ndarray:
        dtype = numpy_support.from_dtype(argument.dtype)
        layout = numpy_support.map_layout(argument)
        return _types.Array(dtype, argument.ndim, layout, readonly=not argument.flags.writeable)
    if isinstance(argument, tuple):
        return _types.BaseTuple.from_types([_type_of(each) for each in argument], type(argument))
    return typeof(argument)  # type: ignore[no-untyped-call]


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels call, and Python cannot: taking bundles apart takes long to compile."""
    return _part(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that LLVM makes part of its callers: passing many arrays costs more than the work done."""
    return _part(function, forceinline=True)


def pasted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that becomes part of its callers before they are compiled. That takes longer than if LLVM does it, but
    is the only way to give views of arrays."""
    return _part(function, inline="always")


def _part(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    decorate: Callable[..., Any] = _njit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)
    return decorate(function)  # type: ignore[no-any-return]


# --- waiting -----------------------------------------------------------------------------------------------------


class _Compilations:
    """The compilations under way, each in its thread, one after the other: Numba takes no two at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._compiling: threading.Thread | None = None
        self._told = False
        self._is_ending = False

    def wait(self, compile_kernel: Callable[[], Any]) -> Any:
        """What a compilation gives. The check of the waiting thread may end the waiting, but not the compilation."""
        check = check_of_this_thread()
        outcome: list[Any] = []
        failure: list[BaseException] = []
        ended = threading.Event()

        def work() -> None:
            try:
                with self._turn:  # until all that an error holds is gone, too: modules of LLVM's among it
                    try:
                        if self._is_ending:  # who ended before may have left a lock of Numba's behind
                            raise SystemExit
                        self._compiling = threading.current_thread()
                        outcome.append(compile_kernel())
                    except BaseException as error:  # raised again where the kernel is called
                        failure.append(SystemExit() if self._is_ending else error)
            finally:
                ended.set()

        start(threading.Thread(target=work, name="gquery-compiling", daemon=True))
        began = time.monotonic()
        while not ended.wait(_POLL):
            check()
            if time.monotonic() - began > _PATIENCE:
                self._tell()
        if failure:
            raise failure[0]
        return outcome[0]

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            _log.warning("gquery compiles its kernels, once on this machine: this takes some seconds")

    def stop(self) -> None:
        """Before Python ends: LLVM must not be at work when its library goes. A thread ends at its next step in Python,
        which is after the part of a kernel that LLVM has in hand; where that step is a callback of LLVM's, Python can
        only print what arrives there, and is kept from it: the kernel has no code then, which is an error of Numba's.
        Nobody has a turn after it."""
        self._is_ending = True
        told: set[threading.Thread] = set()
        heard = sys.unraisablehook
        sys.unraisablehook = lambda given: None if threading.current_thread() in told else heard(given)
        while not self._turn.acquire(timeout=_POLL):
            thread = self._compiling
            if thread is None or thread in told:
                continue
            if not thread.is_alive():  # a fork has no other threads than its own
                return
            told.add(thread)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit))


_compilations = _Compilations()
atexit.register(_compilations.stop)

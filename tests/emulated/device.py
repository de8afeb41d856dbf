"""A device that runs the GPU's kernels on the CPU: what they compute is tested without a card. Races are not."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Backend
from gquery.executor.gpu.device import Argument, source
from gquery.executor.gpu.engine import GpuBackend
from gquery.settings import Settings

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
_HEADER = Path(__file__).parent / "machine.hpp"


class EmulatedDevice:
    """As `gquery.executor.gpu.device.Device`: arrays are NumPy's."""

    xp: ModuleType = np
    most_threads = 1
    items_at_once = 1 << 20

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def address(self, array: Any) -> int:
        return int(array.ctypes.data)

    def fetch(self, array: Any) -> NDArray[Any]:
        return np.array(array)

    def launch(self, kernel: str, threads: int, *arguments: Argument) -> None:
        if threads > 0:
            getattr(self._library, kernel)(*map(_passed, arguments))

    def guarded(self) -> AbstractContextManager[None]:
        return nullcontext()

    def free_bytes(self) -> int:
        return 1 << 30


def _passed(argument: Argument) -> ctypes.c_int64 | ctypes.c_void_p:
    if argument is None or isinstance(argument, int):
        return ctypes.c_int64(argument or 0)
    assert argument.flags.c_contiguous
    return ctypes.c_void_p(argument.ctypes.data)


@cache
def _compiled() -> EmulatedDevice:
    assert COMPILER is not None
    text = f'#include "{_HEADER}"\n{source()}'
    seen = sha256(text.encode() + _HEADER.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gquery-emulated-{seen}"
    library = folder / "kernels.so"
    if not library.exists():
        folder.mkdir(exist_ok=True)
        (folder / "kernels.cpp").write_text(text, "utf-8")
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as made:
            options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", made.name]
            subprocess.run([COMPILER, *options, folder / "kernels.cpp"], check=True)
            Path(made.name).rename(library)
    return EmulatedDevice(ctypes.CDLL(str(library)))


def emulated(settings: Settings) -> Backend:
    """As a device's name stands for a backend in `gquery.executor.devices`."""
    return GpuBackend(_compiled())

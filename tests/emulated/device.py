"""A device that runs the GPU's kernels on the CPU: what they compute is tested without a card. Races are not."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.backend import Backend
from gquery.executor.gpu import tape
from gquery.executor.gpu.device import source
from gquery.executor.gpu.engine import GpuBackend
from gquery.settings import Settings

tape._CHUNK = 0  # nothing shares an allocation: what is written behind an end meets a fence
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
_BUDGET = 40  # barriers, after which a tape is interrupted
_POISON = 0xA5  # in memory that nobody has written
_FENCE = 256  # bytes
_HEADER = Path(__file__).parent / "machine.hpp"
_WORDS = _HEADER.with_name("words.hpp")  # what both headers begin with


class EmulatedDevice:
    """As `gquery.executor.gpu.device.Device`: arrays are NumPy's."""

    xp: ModuleType = np
    blocks = threads = 1
    warps_apart: Mapping[str, int] = {"inside": 1, "adaptive": 1}
    apart = 40  # looks at the clock, after which what goes on apart is interrupted

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._fenced: list[weakref.ref[NDArray[np.uint8]]] = []

    def address(self, array: Any) -> int:
        assert array.flags.c_contiguous
        return int(array.ctypes.data)

    def empty(self, size: int) -> NDArray[np.uint8]:
        """With a fence behind it, which is looked at when kernels have run."""
        whole = np.full(size + _FENCE, _POISON, np.uint8)
        self._fenced.append(weakref.ref(whole))
        return whole[:size]

    def _look_at_fences(self) -> None:
        self._fenced = [each for each in self._fenced if each() is not None]
        for each in self._fenced:
            whole = each()
            assert whole is None or (whole[-_FENCE:] == _POISON).all(), "a kernel wrote behind the end of an array"

    def write(self, address: int, values: NDArray[Any]) -> None:
        assert values.flags.c_contiguous
        ctypes.memmove(address, values.ctypes.data, values.nbytes)

    def read(self, address: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        size = count * np.dtype(dtype).itemsize
        return np.frombuffer(ctypes.string_at(address, size), dtype).copy()

    def array(self, address: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        return np.frombuffer((ctypes.c_char * (count * np.dtype(dtype).itemsize)).from_address(address), dtype)

    def copied(self, arrays: Sequence[Any]) -> Callable[[], list[NDArray[Any]]]:
        """When it is waited for: whatever was done to the arrays until then is seen."""
        return lambda: [array.copy() for array in arrays]

    def run(self, machine: int, modulus: int, short: bool) -> None:
        self.library.run(*map(ctypes.c_uint64, (machine, modulus, _BUDGET)))
        self._look_at_fences()

    def run_apart(self, kernel: str, machine: int, modulus: int) -> None:
        getattr(self.library, kernel)(*map(ctypes.c_uint64, (machine, modulus, self.apart)))
        self._look_at_fences()

    def use(self) -> None: ...

    def guarded(self) -> AbstractContextManager[None]:
        return nullcontext()

    def free_bytes(self) -> int:
        """So few that one lane is done with a block in some ten milliseconds: between blocks signals are heard."""
        return 8 << 20


class LaneDevice(EmulatedDevice):
    """All lanes of two warps, in a random order. Sums inside neighbourhoods are not for it."""

    threads = 64
    warps_apart: Mapping[str, int] = {"adaptive": 2}

    def __init__(self, seed: int) -> None:
        folder = Path(__file__).parent
        text = source() + (folder / "tape_lanes.hpp").read_text("utf-8")
        super().__init__(compiled("tape_lanes", text, folder / "lanes.hpp"))
        self.library.seed_lanes(ctypes.c_uint64(seed))

    def run(self, machine: int, modulus: int, short: bool) -> None:
        self.library.run_by_lanes(*map(ctypes.c_uint64, (machine, modulus, _BUDGET)))
        self._look_at_fences()

    def run_apart(self, kernel: str, machine: int, modulus: int) -> None:
        getattr(self.library, f"{kernel}_by_lanes")(*map(ctypes.c_uint64, (machine, modulus, self.apart)))
        self._look_at_fences()


@cache
def compiled(name: str, kernels: str, header: Path = _HEADER) -> ctypes.CDLL:
    """Kernels as a library of the CPU. header: what stands for CUDA."""
    assert COMPILER is not None
    text = f'#include "{header}"\n{kernels}'
    seen = sha256(text.encode() + header.read_bytes() + _WORDS.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gquery-emulated-{seen}"
    library = folder / f"{name}.so"
    if not library.exists():
        folder.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as made:  # others may be compiling the same
            options = ["-std=c++17", "-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o", made.name]
            subprocess.run([COMPILER, *options, "-x", "c++", "-"], input=text.encode(), check=True)
            Path(made.name).rename(library)
    return ctypes.CDLL(str(library))


@cache
def emulated_device() -> EmulatedDevice:
    return EmulatedDevice(compiled("kernels", source()))


def emulated(settings: Settings) -> Backend:
    """As a device's name stands for a backend in `gquery.executor.devices`."""
    return GpuBackend(emulated_device())

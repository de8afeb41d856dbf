"""What the backend needs of a device: arrays that live there, and kernels. The one file that knows CuPy."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError, MemoryLimitError, UnsupportedError

_KERNELS = Path(__file__).parent / "kernels"
_FILES = (
    "machine", "program", "values", "choices", "scan", "filter", "extend", "sum", "merge", "neighbourhood", "possible",
    "inside", "push", "run",
)  # fmt: skip
_BLOCK = 256  # threads; as in machine.cuh
_TO_DEVICE, _TO_HOST = 1, 2
_STREAM = 0  # the one that CuPy uses
_BUDGET = 20_000_000  # nanoseconds of a launch, between two looks at the clock

DeviceArray = Any
"""An array on the device, with what NumPy's and CuPy's arrays have in common."""


class Device(Protocol):
    """xp: NumPy or a module like it, whose arrays live on the device. blocks, threads: of every launch."""

    xp: ModuleType
    blocks: int
    threads: int

    def address(self, array: DeviceArray) -> int: ...

    def empty(self, size: int) -> DeviceArray:
        """An array of so many bytes."""
        ...

    def write(self, address: int, values: NDArray[Any]) -> None: ...

    def read(self, address: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        """A copy in the host's memory of what is there once all launches are over."""
        ...

    def run(self, machine: int, modulus: int) -> None:
        """Launches the tape of the machine at an address, for some tens of milliseconds at most."""
        ...

    def run_apart(self, machine: int, modulus: int) -> None:
        """Launches the operation that the tape has stopped before, for about as long."""
        ...

    def free_bytes(self) -> int: ...

    def guarded(self) -> AbstractContextManager[None]:
        """What the device raises within comes out as an error of ours."""
        ...


@cache
def source() -> str:
    """The kernels in one text."""
    suffix = {"run": "cu"}
    return "\n".join((_KERNELS / f"{name}.{suffix.get(name, 'cuh')}").read_text("utf-8") for name in _FILES)


class Card:
    """A CUDA device through CuPy."""

    def __init__(self, number: int) -> None:
        import cupy

        self.xp: ModuleType = cupy
        self.number = number
        self._driver = cupy.cuda.driver
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name = properties["name"].decode()
        # One text without includes: CuPy's cache of what it compiled knows no others.
        self._module = cupy.RawModule(code=source(), options=("-std=c++17",))
        self._run = self._module.get_function("run").kernel.ptr
        resident = self._driver.occupancyMaxActiveBlocksPerMultiprocessor(self._run, _BLOCK, 0)
        self.blocks: int = properties["multiProcessorCount"] * resident
        self._apart = self._module.get_function("apart").kernel.ptr
        resident = self._driver.occupancyMaxActiveBlocksPerMultiprocessor(self._apart, _BLOCK, 0)
        self._apart_blocks = properties["multiProcessorCount"] * resident
        self.threads = self.blocks * _BLOCK

    def address(self, array: DeviceArray) -> int:
        return int(array.data.ptr)

    def empty(self, size: int) -> DeviceArray:
        return self.xp.empty(size, np.uint8)

    def write(self, address: int, values: NDArray[Any]) -> None:
        self.xp.cuda.runtime.memcpy(address, values.ctypes.data, values.nbytes, _TO_DEVICE)

    def read(self, address: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        found = np.empty(count, dtype)
        if count:
            self.xp.cuda.runtime.memcpy(found.ctypes.data, address, found.nbytes, _TO_HOST)
        return found

    def run(self, machine: int, modulus: int) -> None:
        # Cooperative: all blocks are there at once, since they wait for each other.
        with _packed(machine, modulus, _BUDGET) as arguments:
            self._driver.launchCooperativeKernel(self._run, self.blocks, 1, 1, _BLOCK, 1, 1, 0, _STREAM, arguments)

    def run_apart(self, machine: int, modulus: int) -> None:
        with _packed(machine, modulus) as arguments:
            self._driver.launchKernel(self._apart, self._apart_blocks, 1, 1, _BLOCK, 1, 1, 0, _STREAM, arguments, 0)

    def free_bytes(self) -> int:
        free, _ = self.xp.cuda.runtime.memGetInfo()
        pool = self.xp.get_default_memory_pool()
        return int(free + pool.free_bytes())

    @contextmanager
    def guarded(self) -> Iterator[None]:
        try:
            yield
        except self.xp.cuda.memory.OutOfMemoryError as error:
            raise MemoryLimitError(
                f"{self.name} has no room for this query: {error}", hint="use device='cpu'"
            ) from None
        except self.xp.cuda.runtime.CUDARuntimeError as error:
            raise ExecutionError(f"{self.name}: {error}") from error


@contextmanager
def _packed(*values: int) -> Iterator[int]:
    """The address of the arguments of a kernel, while it is launched."""
    words = [ctypes.c_uint64(each) for each in values]
    arguments = (ctypes.c_void_p * len(words))(*map(ctypes.addressof, words))
    yield ctypes.addressof(arguments)


def describe_card() -> str:
    """The card that queries run on, or why there is none."""
    try:
        found = card()
    except UnsupportedError as error:
        return error.message
    return f"{found.name}, {found.free_bytes() / 1e9:.1f} GB free, CuPy {found.xp.__version__}"


@cache
def card() -> Card:
    """The first card. Raises UnsupportedError, in one sentence, when there is none that can be used."""
    try:
        import cupy
    except ImportError:
        raise UnsupportedError(
            "the GPU backend needs CuPy, which is not installed", hint="pip install cupy-cuda13x, or use device='cpu'"
        ) from None
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise UnsupportedError(f"no GPU can be used: {error}", hint="use device='cpu'") from None
    if not found:
        raise UnsupportedError("this machine has no GPU that CUDA can see", hint="use device='cpu'")
    return Card(0)

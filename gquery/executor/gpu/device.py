"""What the backend needs of a device: arrays that live there, and kernels. The one file that knows CuPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gquery.errors import ExecutionError, MemoryLimitError, UnsupportedError
from gquery.executor.gpu.pinned import Pinned

_KERNELS = Path(__file__).parent / "kernels"
_FILES = (
    "machine", "program", "values", "choices", "scan", "filter", "extend", "sum", "common", "merge", "neighbourhood",
    "possible", "tally", "alone", "inside", "tasks", "drawing", "left", "adaptive", "giving", "push", "gather", "run",
)  # fmt: skip
_APART = ("inside", "adaptive")  # kernels that a tape stops before, as in run.cu
_BLOCK, _WARP = 256, 32  # threads; as in machine.cuh
_TO_DEVICE, _TO_HOST = 1, 2
_STREAM = 0  # the one that CuPy uses
_BUDGET = 20_000_000  # nanoseconds of a launch, between two looks at the clock
_SHORT_BUDGET = 4_000_000  # of the first of a run: it is soon heard that it takes longer
_BUDGET_APART = 20_000_000  # of what goes on apart

DeviceArray = Any
"""An array on the device, with what NumPy's and CuPy's arrays have in common."""


class Device(Protocol):
    """xp: NumPy or a module like it, whose arrays live on the device. blocks, threads: of every launch. warps_apart: of
    a launch of `run_apart`, by the name of the kernel."""

    xp: ModuleType
    blocks: int
    threads: int
    warps_apart: Mapping[str, int]

    def address(self, array: DeviceArray) -> int: ...

    def empty(self, size: int) -> DeviceArray:
        """An array of so many bytes."""
        ...

    def write(self, address: int, values: NDArray[Any]) -> None: ...

    def read(self, address: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        """A copy in the host's memory of what is there once all launches are over."""
        ...

    def array(self, address: int, count: int, dtype: type[np.generic]) -> DeviceArray:
        """What is there, as an array that owns nothing."""
        ...

    def copied(self, arrays: Sequence[DeviceArray]) -> Callable[[], list[NDArray[Any]]]:
        """Begins to copy arrays to the host's memory; what is returned waits for the copies. Until then the arrays are
        kept, and stay as they are."""
        ...

    def run(self, machine: int, modulus: int, short: bool) -> None:
        """Launches the tape of the machine at an address, for some tens of milliseconds at most; short: for some."""
        ...

    def run_apart(self, kernel: str, machine: int, modulus: int) -> None:
        """Launches the kernel of the operation that the tape has stopped before, for as long."""
        ...

    def free_bytes(self) -> int: ...

    def use(self) -> None:
        """The calling thread works with this device from now on."""
        ...

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
        self._copies = cupy.cuda.Stream(non_blocking=True)
        self._pinned = Pinned(_pinned, (cupy.cuda.runtime.CUDARuntimeError,))
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name = properties["name"].decode()
        # One text without includes: CuPy's cache of what it compiled knows no others.
        self._module = cupy.RawModule(code=source(), options=("-std=c++17",))
        self._kernels = {name: self._module.get_function(name).kernel.ptr for name in ("run", *_APART)}
        self._blocks = {
            name: properties["multiProcessorCount"]
            * self._driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel, _BLOCK, 0)
            for name, kernel in self._kernels.items()
        }
        self.blocks: int = self._blocks["run"]
        self.threads = self.blocks * _BLOCK
        self.warps_apart: Mapping[str, int] = {name: self._blocks[name] * _BLOCK // _WARP for name in _APART}

    def address(self, array: DeviceArray) -> int:
        return int(array.data.ptr)

    def empty(self, size: int) -> DeviceArray:
        return self.xp.empty(size, np.uint8)

    def write(self, address: int, values: NDArray[Any]) -> None:
        self.xp.cuda.runtime.memcpy(address, values.ctypes.data, values.nbytes, _TO_DEVICE)

    def read(self, address: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        found = self._room(count, np.dtype(dtype))
        if count:
            self.xp.cuda.runtime.memcpy(found.ctypes.data, address, found.nbytes, _TO_HOST)
        return found

    def _room(self, count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        lent = self._pinned.lend(count * dtype.itemsize)
        return np.empty(count, dtype) if lent is None else lent.view(dtype)

    def copied(self, arrays: Sequence[DeviceArray]) -> Callable[[], list[NDArray[Any]]]:
        # On a stream of its own, behind what is launched so far.
        begins, ends = (self.xp.cuda.Event(disable_timing=True) for _ in range(2))
        begins.record()
        self._copies.wait_event(begins)
        found = [self._room(array.size, array.dtype) for array in arrays]
        for to, array in zip(found, arrays, strict=True):
            self.xp.cuda.runtime.memcpyAsync(to.ctypes.data, array.data.ptr, to.nbytes, _TO_HOST, self._copies.ptr)
        ends.record(self._copies)

        def wait() -> list[NDArray[Any]]:
            ends.synchronize()
            return found

        return wait

    def array(self, address: int, count: int, dtype: type[np.generic]) -> DeviceArray:
        memory = self.xp.cuda.UnownedMemory(address, count * np.dtype(dtype).itemsize, self, self.number)
        return self.xp.ndarray(count, dtype, self.xp.cuda.MemoryPointer(memory, 0))

    def run(self, machine: int, modulus: int, short: bool) -> None:
        # Cooperative: all blocks are there at once, since they wait for each other.
        with _packed(machine, modulus, _SHORT_BUDGET if short else _BUDGET) as arguments:
            blocks, kernel = self._blocks["run"], self._kernels["run"]
            self._driver.launchCooperativeKernel(kernel, blocks, 1, 1, _BLOCK, 1, 1, 0, _STREAM, arguments)

    def run_apart(self, kernel: str, machine: int, modulus: int) -> None:
        with _packed(machine, modulus, _BUDGET_APART) as arguments:
            function, blocks = self._kernels[kernel], self._blocks[kernel]
            self._driver.launchKernel(function, blocks, 1, 1, _BLOCK, 1, 1, 0, _STREAM, arguments, 0)

    def free_bytes(self) -> int:
        free, _ = self.xp.cuda.runtime.memGetInfo()
        pool = self.xp.get_default_memory_pool()
        return int(free + pool.free_bytes())

    def use(self) -> None:
        self.xp.cuda.Device(self.number).use()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        try:
            yield
        except self.xp.cuda.memory.OutOfMemoryError as error:
            raise MemoryLimitError(
                f"{self.name} has no room for this query: {error}", hint="use device='cpu'"
            ) from None
        except (self.xp.cuda.runtime.CUDARuntimeError, self._driver.CUDADriverError) as error:
            raise ExecutionError(f"{self.name}: {error}") from error


def _pinned(size: int) -> Any:
    from cupy.cuda import PinnedMemory, PinnedMemoryPointer

    return PinnedMemoryPointer(PinnedMemory(size), 0)


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
def card(number: int = 0) -> Card:
    """One of the cards. Raises UnsupportedError, in one sentence, when there is none that can be used."""
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
    with cupy.cuda.Device(number):
        return Card(number)


@cache
def other_cards() -> tuple[Callable[[], Card], ...]:
    """What makes the cards besides the first ready."""
    import cupy

    return tuple(partial(card, number) for number in range(1, cupy.cuda.runtime.getDeviceCount()))

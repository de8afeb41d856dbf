"""What the backend needs of a device: arrays that live there, and kernels. The one file that knows CuPy."""

from __future__ import annotations

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
_FILES = ("machine.cuh", "program.cuh", "values.cuh", "choices.cuh", "filter.cu", "extend.cu", "sum.cu")
_BLOCK = 256  # threads; as in machine.cuh
_RESIDENT = 8  # blocks of a multiprocessor at a time
_ITEMS = 1 << 28

DeviceArray = Any
"""An array on the device, with what NumPy's and CuPy's arrays have in common."""

Argument = DeviceArray | int | None
"""Of a kernel: an array stands for its address, None for none; whole numbers are of 64 bits."""


class Device(Protocol):
    """xp: NumPy or a module like it, whose arrays live on the device. most_threads: of one launch. items_at_once: how
    many may be tried in one launch, which nothing stops: some tens of milliseconds."""

    xp: ModuleType
    most_threads: int
    items_at_once: int

    def address(self, array: DeviceArray) -> int: ...

    def fetch(self, array: DeviceArray) -> NDArray[Any]:
        """A copy in the host's memory."""
        ...

    def launch(self, kernel: str, threads: int, *arguments: Argument) -> None:
        """Starts a kernel with at least so many threads, or as many as the device has room for: kernels stride."""
        ...

    def free_bytes(self) -> int: ...

    def guarded(self) -> AbstractContextManager[None]:
        """What the device raises within comes out as an error of ours."""
        ...


def source() -> str:
    """The kernels in one text."""
    return "\n".join((_KERNELS / name).read_text("utf-8") for name in _FILES)


class Card:
    """A CUDA device through CuPy."""

    items_at_once = _ITEMS

    def __init__(self, number: int) -> None:
        import cupy

        self.xp: ModuleType = cupy
        self.number = number
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        self.name = properties["name"].decode()
        self.most_threads: int = properties["multiProcessorCount"] * _RESIDENT * _BLOCK
        text = source()
        # One text without includes: CuPy's cache of what it compiled knows no others.
        self._module = cupy.RawModule(code=text, options=("-std=c++17",))
        self._kernels: dict[str, Any] = {}

    def address(self, array: DeviceArray) -> int:
        return int(array.data.ptr)

    def fetch(self, array: DeviceArray) -> NDArray[Any]:
        fetched: NDArray[Any] = self.xp.asnumpy(array)
        return fetched

    def launch(self, kernel: str, threads: int, *arguments: Argument) -> None:
        if threads > 0:
            blocks = -(-min(threads, self.most_threads) // _BLOCK)
            given = tuple(np.int64(each or 0) if each is None or isinstance(each, int) else each for each in arguments)
            self._kernel(kernel)((blocks,), (_BLOCK,), given)

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

    def _kernel(self, name: str) -> Any:
        if name not in self._kernels:
            self._kernels[name] = self._module.get_function(name)
        return self._kernels[name]


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

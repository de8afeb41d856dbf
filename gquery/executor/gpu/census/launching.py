"""The kernels of the census, and what launches them."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import Protocol

from gquery.executor.gpu.device import Card, Device, card

_KERNELS = Path(__file__).parent / "kernels"
_MACHINE = Path(__file__).parents[1] / "kernels" / "machine.cuh"
_FILES = ("census", "chance", "links", "shuffling", "pairs", "tally", "orders", "walk", "beside")
_BLOCK, _WARP = 256, 32  # threads; as in machine.cuh
_STREAM = 0  # the one that CuPy uses

MAKE, COUNT = "make_graphs", "count_sets"


class Kernels(Protocol):
    """device: where arrays are. blocks, warps: of a launch. attempts: to switch an edge of each graph in one. looks: at
    neighbours, by each warp."""

    device: Device
    blocks: int
    warps: int
    attempts: int
    looks: int

    def launch(self, name: str, batch: ctypes.Structure, counters: int, budget: int) -> None:
        """Launches a kernel. counters: an address; budget: how many attempts or looks it may take."""
        ...


@cache
def source() -> str:
    """The kernels in one text."""
    files = (_MACHINE, *(_KERNELS / f"{name}.cuh" for name in _FILES))
    return "\n".join(file.read_text("utf-8") for file in files)


def _fields(struct: str) -> list[tuple[str, type]]:
    """The fields of a structure, as the kernels say them: each is a word."""
    body = source().split(f"struct {struct} {{")[1].split("\n};")[0]
    words = re.findall(r"(\w+)(?:\[(\d+)\])?(?=[,;])", re.sub(r"//.*", "", body))
    return [(name, ctypes.c_int64 * int(many) if many else ctypes.c_int64) for name, many in words]


class LayoutWords(ctypes.Structure):
    _fields_ = _fields("Layout")


class BatchWords(ctypes.Structure):
    _fields_ = [(name, LayoutWords if name == "layout" else kind) for name, kind in _fields("Census")]


COUNTERS = [name for name, _ in _fields("Counters")]


class CardKernels:
    """On a CUDA device."""

    attempts = 1 << 14
    looks = 1 << 20

    def __init__(self, device: Card) -> None:
        self.device: Device = device
        self._driver = device.xp.cuda.driver
        module = device.xp.RawModule(code=source(), options=("-std=c++17",))
        self._functions = {name: module.get_function(name) for name in (MAKE, COUNT)}
        properties = device.xp.cuda.runtime.getDeviceProperties(device.number)
        pointer = self._functions[COUNT].kernel.ptr
        resident: int = self._driver.occupancyMaxActiveBlocksPerMultiprocessor(pointer, _BLOCK, 0)
        self.blocks: int = resident * properties["multiProcessorCount"]
        self.warps = self.blocks * _BLOCK // _WARP

    def launch(self, name: str, batch: ctypes.Structure, counters: int, budget: int) -> None:
        words = (batch, ctypes.c_int64(counters), ctypes.c_int64(budget))
        arguments = (ctypes.c_void_p * len(words))(*map(ctypes.addressof, words))
        pointer = self._functions[name].kernel.ptr
        self._driver.launchKernel(pointer, self.blocks, 1, 1, _BLOCK, 1, 1, 0, _STREAM, ctypes.addressof(arguments), 0)


@cache
def kernels_of_card() -> Kernels:
    """Those of the first card. Raises UnsupportedError, in one sentence, when there is none that can be used."""
    return CardKernels(card())

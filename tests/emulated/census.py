"""The kernels of the census on the CPU."""

from __future__ import annotations

import ctypes
from pathlib import Path

from gquery.executor.gpu.census.launching import BatchWords, source
from gquery.executor.gpu.device import Device
from tests.emulated.device import EmulatedDevice, compiled


class EmulatedKernels:
    """As `gquery.executor.gpu.census.launching.CardKernels`. So few looks that enumerations are interrupted often."""

    blocks = warps = 1
    attempts = 1 << 10
    looks = 1 << 10

    def __init__(self) -> None:
        self._library = compiled("census", source())
        self.device: Device = EmulatedDevice(self._library)

    def launch(self, name: str, batch: ctypes.Structure, counters: int, budget: int) -> None:
        assert isinstance(batch, BatchWords)
        getattr(self._library, name)(batch, *map(ctypes.c_int64, (counters, budget)))


class LaneKernels(EmulatedKernels):
    """All lanes of two warps, in a random order."""

    warps = 2

    def __init__(self, seed: int) -> None:
        folder = Path(__file__).parent
        text = source() + (folder / "census_lanes.hpp").read_text("utf-8")
        self._library = compiled("census_lanes", text, folder / "lanes.hpp")
        self._library.seed_lanes(ctypes.c_uint64(seed))
        self.device = EmulatedDevice(self._library)

    def launch(self, name: str, batch: ctypes.Structure, counters: int, budget: int) -> None:
        super().launch(f"{name}_by_lanes", batch, counters, budget)

"""The candidates of one query vertex on the device."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gquery.executor.gpu.device import Device, DeviceArray


class CandidateSet:
    """C(u): vertices int32[n], ascending, out of `universe`; member: uint8[universe]."""

    def __init__(self, device: Device, vertices: DeviceArray, universe: int) -> None:
        self.device = device
        self.vertices = vertices
        self.universe = universe

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def everything(self) -> bool:
        return len(self.vertices) == self.universe

    @cached_property
    def member(self) -> DeviceArray:
        member = self.device.xp.zeros(self.universe, np.uint8)
        member[self.vertices] = 1
        return member

    @property
    def test(self) -> DeviceArray | None:
        """What kernels look members up in; None when every vertex is one."""
        return None if self.everything else self.member

    @cached_property
    def positions(self) -> DeviceArray:
        """By vertex, the number of candidates before it: int32[universe]."""
        return (self.device.xp.cumsum(self.member, dtype=np.int32) - self.member).astype(np.int32)

    def of(self, member: DeviceArray) -> CandidateSet:
        """Another set of the same universe."""
        kept = self.device.xp.flatnonzero(member).astype(np.int32)
        return self if len(kept) == len(self) else CandidateSet(self.device, kept, self.universe)

    def among(self, other: CandidateSet) -> CandidateSet:
        """Those that are in the other set, too."""
        return self if other is self or other.everything else self.of(self.member & other.member)

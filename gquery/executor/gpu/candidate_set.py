"""The candidates of one query vertex on the device."""

from __future__ import annotations

from collections.abc import Sequence
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
    def through(self) -> DeviceArray:
        """By vertex, the number of candidates up to it: int32[universe]. One less is a candidate's position."""
        return self.device.xp.cumsum(self.member, dtype=np.int32)

    def positions(self, vertices: DeviceArray) -> DeviceArray:
        """Of candidates, int32[n]."""
        return (self.through[vertices] - 1).astype(np.int32)


def narrowed(sets: Sequence[CandidateSet], members: Sequence[DeviceArray]) -> list[CandidateSet]:
    """Those of each set that are members still: uint8[universe], which the new sets keep. One look from the host for
    all, since it waits for the device."""
    if not sets:
        return []
    device = sets[0].device
    through = [device.xp.cumsum(member, dtype=np.int32) for member in members]
    counts = device.fetch(device.xp.stack([each[-1:].sum() for each in through])).tolist()
    return [_narrowed(*each) for each in zip(sets, members, through, counts, strict=True)]


def _narrowed(own: CandidateSet, member: DeviceArray, through: DeviceArray, count: int) -> CandidateSet:
    if count == len(own):
        return own
    kept = own.device.xp.empty(count, np.int32)
    own.device.launch("compact", len(own), own.vertices, len(own), member, through, kept)
    found = CandidateSet(own.device, kept, own.universe)
    found.member, found.through = member, through
    return found

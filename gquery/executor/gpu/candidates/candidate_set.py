"""The candidates of one query vertex on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gquery.executor.gpu.device import Device
from gquery.executor.gpu.tape import Room, Tape


class CandidateSet:
    """C(u): addresses of vertices int32[count], ascending, out of `universe`; member uint8[universe]; through
    int64[universe]: the number of candidates up to a vertex, one more than a candidate's position. room: what they are
    in."""

    def __init__(self, room: Room, count: int, universe: int, vertices: int, member: int, through: int) -> None:
        self.room = room
        self.count = count
        self.universe = universe
        self.vertices = vertices
        self.member = member
        self.through = through

    @classmethod
    def of(cls, device: Device, vertices: NDArray[np.int32], universe: int) -> CandidateSet:
        """Made of the host's vertices."""
        member = np.zeros(universe, np.uint8)
        member[vertices] = 1
        room = Room(device)
        parts: list[NDArray[Any]] = [vertices, member, np.cumsum(member, dtype=np.int64)]
        addresses = [room.take(each.nbytes) for each in parts]
        for address, each in zip(addresses, parts, strict=True):
            device.write(address, each)
        return cls(room, len(vertices), universe, *addresses)

    def __len__(self) -> int:
        return self.count

    @property
    def everything(self) -> bool:
        return self.count == self.universe

    @property
    def test(self) -> int:
        """What operations look members up in; null when every vertex is one."""
        return 0 if self.everything else self.member

    def fetched(self) -> NDArray[np.int32]:
        return self.room.device.read(self.vertices, self.count, np.int32)


class Narrowing:
    """Sets that a tape makes of members; the host asks for their sizes when it has run."""

    def __init__(self, tape: Tape, own: Sequence[CandidateSet], members: Sequence[int], room: Room) -> None:
        """own: what they were; members: addresses of uint8[universe], which the new sets keep."""
        self._room = room
        self._own = own
        self._members = members
        self._through = [room.take(8 * each.universe) for each in own]
        self._kept = [room.take(4 * each.count) for each in own]
        self._first = tape.cell(len(own))
        if own:
            words: list[int] = []
            for number, each in enumerate(own):
                words += members[number], each.universe, self._through[number], self._kept[number], self._first + number
            partials = tape.room.take(8 * (tape.device.blocks + len(own)))
            sets = tape.data(words), len(own), partials
            tape.add("CountMembers", *sets, gathers=members, scatters=[partials])
            tape.add("ListMembers", *sets, gathers=[*members, partials])

    def sets(self, cells: NDArray[np.int64]) -> list[CandidateSet]:
        """cells: those of the tape, from `first` on."""
        rest = zip(self._own, cells.tolist(), self._kept, self._members, self._through, strict=True)
        return [
            CandidateSet(self._room, count, own.universe, kept, member, through)
            for own, count, kept, member, through in rest
        ]

    @property
    def first(self) -> int:
        return self._first

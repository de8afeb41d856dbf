"""How often each code was met: a hash table that only grows, so that what is known of a code is kept by its slot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.machine.compile import inlined, kernel

_FIRST = 1 << 12  # slots
_SPARSE = 2  # buckets for each slot
ODD = np.int64(-7046029254386353131)  # 2^64 divided by the golden ratio


class Tally(NamedTuple):
    """buckets int32[2^n]: the slot of a code, -1 for none, open addressing. codes, counts int64[slots]. used int64[1]:
    slots in use. Slots are in the order in which codes were first met."""

    buckets: NDArray[np.int32]
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    used: NDArray[np.int64]


def new_tally(slots: int = _FIRST) -> Tally:
    """An empty one, for a power of two."""
    buckets = np.full(_SPARSE * slots, -1, np.int32)
    return Tally(buckets, np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(1, np.int64))


def with_room(tally: Tally, free: int) -> Tally:
    """The same tally, with so many free slots at least."""
    used = int(tally.used[0])
    larger = new_tally(1 << (max(2 * used, used + free, _FIRST) - 1).bit_length())
    refill(tally, larger)
    return larger


@inlined
def add(tally, code, number):  # type: ignore[no-untyped-def]
    """Adds to the count of a code; there must be a free slot."""
    mixed = code * ODD
    mask = np.int64(len(tally.buckets) - 1)
    at = (mixed ^ (mixed >> 32)) & mask
    while True:
        slot = np.int64(tally.buckets[at])
        if slot < 0:
            slot = tally.used[0]
            tally.used[0] = slot + 1
            tally.buckets[at] = slot
            tally.codes[slot] = code
            tally.counts[slot] = number
            return
        if tally.codes[slot] == code:
            tally.counts[slot] += number
            return
        at = (at + 1) & mask


@kernel
def refill(tally, larger):  # type: ignore[no-untyped-def]
    """Copies a tally into an empty one, slot by slot."""
    for slot in range(tally.used[0]):
        add(larger, tally.codes[slot], tally.counts[slot])

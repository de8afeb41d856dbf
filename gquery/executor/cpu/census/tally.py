"""How often each code was met, or what else is a number: a hash table that only grows, so that what is known of a code
is kept by its slot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.machine.compile import inlined, kernel

_FIRST = 1 << 9  # slots
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
    buckets = np.empty(_SPARSE * slots, np.int32)
    buckets.fill(-1)
    return Tally(buckets, np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(1, np.int64))


def slots_for(tally: Tally, free: int) -> int:
    """How many slots the same tally has with so many free ones at least."""
    used = int(tally.used[0])
    return 1 << (max(2 * used, used + free, _FIRST) - 1).bit_length()


def with_room(tally: Tally, free: int) -> Tally:
    """The same tally, with so many free slots at least."""
    larger = new_tally(slots_for(tally, free))
    refill(tally, larger)
    return larger


def empty(tally: Tally) -> None:
    """Forgets all codes."""
    tally.buckets.fill(-1)
    tally.used[0] = 0


@inlined
def slot_of(tally, code):  # type: ignore[no-untyped-def]
    """The slot of a code, which gets one where it has none; there must be a free slot."""
    at = bucket_of(tally, code)
    slot = np.int64(tally.buckets[at])
    if slot < 0:
        slot = tally.used[0]
        tally.used[0] = slot + 1
        tally.buckets[at] = slot
        tally.codes[slot], tally.counts[slot] = code, 0
    return slot


@inlined
def bucket_of(tally, code):  # type: ignore[no-untyped-def]
    """The bucket that has the slot of a code, or would."""
    mixed = code * ODD
    mask = np.int64(len(tally.buckets) - 1)
    at = (mixed ^ (mixed >> 32)) & mask
    slot = np.int64(tally.buckets[at])
    while slot >= 0 and tally.codes[slot] != code:
        at = (at + 1) & mask
        slot = np.int64(tally.buckets[at])
    return at


@inlined
def add(tally, code, number):  # type: ignore[no-untyped-def]
    """Adds to the count of a code; there must be a free slot."""
    tally.counts[slot_of(tally, code)] += number


@kernel
def find_known(tally, codes, slots):  # type: ignore[no-untyped-def]
    """Writes the slot of each code, -1 where it has none; several threads may look at once."""
    for index in range(len(codes)):
        slots[index] = tally.buckets[bucket_of(tally, codes[index])]


@kernel
def find_slots(tally, codes, slots):  # type: ignore[no-untyped-def]
    """Writes the slot of each code; there must be a free one for each."""
    for index in range(len(codes)):
        slots[index] = slot_of(tally, codes[index])


@kernel
def refill(tally, larger):  # type: ignore[no-untyped-def]
    """Copies a tally into an empty one, slot by slot."""
    for slot in range(tally.used[0]):
        add(larger, tally.codes[slot], tally.counts[slot])

"""Sums that all workers remember together, without a lock.

An entry is a key, a sum and about the sum. Two workers may write one at the same time, and leave a part of each: so a
key is sealed with what it is for, and such an entry is one of no key (as in the tables that chess programs share). What
is read is read once.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.machine.native import bits_of, float_of, load_shared, store_shared

# Words of an entry, int64; one of zeros is empty. Keys of 128 bits have another word behind.
SEALED, SUM, APPROXIMATE, SEALED_MORE = 0, 1, 2, 3
ENTRY, LONG_ENTRY = 3, 4


@inlined
def seal(key, value, about):  # type: ignore[no-untyped-def]
    """A key with a sum, all int64; and from that the key again. Of an empty entry it is 0."""
    mixed = (np.uint64(value) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(about)) * np.uint64(0xC2B2AE3D27D4EB4F)
    return key ^ np.int64(mixed ^ (mixed >> np.uint64(32)))


@inlined
def recall(memory, slot, key):  # type: ignore[no-untyped-def]
    """Whether the entry of a slot is that of a key other than 0, its sum and about the sum. memory: address."""
    begin = slot * ENTRY
    sealed = load_shared(memory, begin + SEALED)  # type: ignore[call-arg, var-annotated]
    value = load_shared(memory, begin + SUM)
    about = load_shared(memory, begin + APPROXIMATE)
    return seal(sealed, value, about) == key, np.uint64(value), float_of(about)


@inlined
def remember(memory, slot, key, value, size):  # type: ignore[no-untyped-def]
    """Writes an entry over what is there."""
    begin, number, about = slot * ENTRY, np.int64(value), bits_of(size)
    store_shared(memory, begin + SEALED, seal(key, number, about))  # type: ignore[call-arg]
    store_shared(memory, begin + SUM, number)
    store_shared(memory, begin + APPROXIMATE, about)


@inlined
def recall_long(memory, slot, key, more):  # type: ignore[no-untyped-def]
    """The same for a key of two words, the first of them not 0. The second is sealed with the first word, too."""
    begin = slot * LONG_ENTRY
    sealed = load_shared(memory, begin + SEALED)  # type: ignore[call-arg, var-annotated]
    value = load_shared(memory, begin + SUM)
    about = load_shared(memory, begin + APPROXIMATE)
    sealed_more = load_shared(memory, begin + SEALED_MORE)
    found = seal(sealed, value, about) == key and seal(sealed_more, value, about ^ sealed) == more
    return found, np.uint64(value), float_of(about)


@inlined
def remember_long(memory, slot, key, more, value, size):  # type: ignore[no-untyped-def]
    """Writes such an entry over what is there."""
    begin, number, about = slot * LONG_ENTRY, np.int64(value), bits_of(size)
    sealed = seal(key, number, about)
    store_shared(memory, begin + SEALED, sealed)  # type: ignore[call-arg]
    store_shared(memory, begin + SUM, number)
    store_shared(memory, begin + APPROXIMATE, about)
    store_shared(memory, begin + SEALED_MORE, seal(more, number, about ^ sealed))


@kernel
def move(entries, larger):  # type: ignore[no-untyped-def]
    """Writes what is remembered by keys of two words to a larger table, of zeros: both int64[slots * LONG_ENTRY]."""
    slots = len(larger) // LONG_ENTRY
    for begin in range(0, len(entries), LONG_ENTRY):
        sealed, value, about = entries[begin + SEALED], entries[begin + SUM], entries[begin + APPROXIMATE]
        key = seal(sealed, value, about)
        if key != 0:
            place = (np.int64(np.uint64(key) >> np.uint64(1)) & (slots - 1)) * LONG_ENTRY
            larger[place + SEALED], larger[place + SUM], larger[place + APPROXIMATE] = sealed, value, about
            larger[place + SEALED_MORE] = entries[begin + SEALED_MORE]

"""Random numbers for kernels: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a stream for each random graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.machine.compile import inlined

_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_ALL = 2**64 - 1
STEP, FIRST, SECOND = np.uint64(_STEP), np.uint64(_FIRST), np.uint64(_SECOND)
LOW = np.uint64(2**32 - 1)


def stream(seed: int, number: int) -> NDArray[np.uint64]:
    """uint64[1]: the state of a graph's stream. Who draws from it, and when, changes no other."""
    return np.array([_mixed(_mixed(seed & _ALL) + _STEP * (number + 1) & _ALL)], np.uint64)


def _mixed(value: int) -> int:
    value = (value ^ value >> 30) * _FIRST & _ALL
    value = (value ^ value >> 27) * _SECOND & _ALL
    return value ^ value >> 31


@inlined
def below(chance, number):  # type: ignore[no-untyped-def]
    """A number from 0 to `number` - 1, at most 2^31, each as likely (Lemire, ACM TOMACS 29(1), 2019)."""
    size = np.uint64(number)
    product = drawn(chance) * size
    if (product & LOW) < size:
        least = ((LOW + np.uint64(1)) - size) % size
        while (product & LOW) < least:
            product = drawn(chance) * size
    return np.int64(product >> np.uint64(32))


@inlined
def drawn(chance):  # type: ignore[no-untyped-def]
    """32 random bits."""
    chance[0] += STEP
    value = chance[0]
    value = (value ^ (value >> np.uint64(30))) * FIRST
    value = (value ^ (value >> np.uint64(27))) * SECOND
    return (value ^ (value >> np.uint64(31))) >> np.uint64(32)

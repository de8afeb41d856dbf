"""Numbers in order, and each once.

NumPy sorts numbers in a tenth of the time in which it sorts their positions, or looks them up in a table one by one, as
`numpy.unique` does. So what is asked of sorted numbers is made of sorting, and positions are part of what is sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BITS = 63  # of a number that is sorted

Positions = NDArray[np.int64]


def distinct(numbers: NDArray[Any]) -> NDArray[Any]:
    """The numbers, ascending, each once."""
    ordered = np.sort(numbers)
    return ordered[changes(ordered)]


def order_of(numbers: NDArray[np.int64]) -> Positions:
    """The positions of numbers from 0 on, ascending by number and then by position; the numbers are gone then."""
    bits = len(numbers).bit_length()
    if int(numbers.max(initial=0)).bit_length() + bits > _BITS:
        return np.argsort(numbers, kind="stable")
    numbers <<= bits
    numbers |= np.arange(len(numbers))
    numbers.sort()
    numbers &= (1 << bits) - 1
    return numbers


def grouped(numbers: NDArray[np.int64]) -> tuple[Positions, Positions]:
    """Of numbers from 0 on: where each of them stands first, ascending by number, and for each position which of these
    it has."""
    order = order_of(numbers.copy())
    begins = changes(numbers[order])
    which = np.empty(len(numbers), np.int64)
    which[order] = np.cumsum(begins) - 1
    return order[begins], which


def changes(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Where sorted numbers are others than those before them."""
    changes = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return changes

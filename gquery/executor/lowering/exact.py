"""Whole numbers of any size from sums that were kept modulo 2^64.

A count beyond 2^63 is counted again modulo primes below 2^32, as many as its size asks for, and put together by the
Chinese remainder theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from gquery.errors import ExecutionError

_WORD = 2**64
SAFE = 2.0**62  # approximate sums below are far enough from 2^64 for their rounding not to matter


def exact_sum(total: Callable[[int], tuple[int, float]]) -> int:
    """The sum of which `total(modulus)` gives (remainder, approximate size); modulus 0 stands for 2^64."""
    value, size = total(0)
    if size < SAFE:
        return value
    if math.isinf(size):
        raise ExecutionError("the number of matches has more than 308 digits")
    modulus = _WORD
    for prime in _primes():
        if modulus > size * 4:
            return value
        remainder, _ = total(prime)
        value += modulus * ((remainder - value) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    raise AssertionError("there are more primes than digits")


def _primes() -> Iterator[int]:
    """Primes below 2^32, descending."""
    divisors = np.arange(3, 1 << 16, 2)
    for number in range(2**32 - 1, 2**31, -2):
        if np.all(number % divisors):
            yield number

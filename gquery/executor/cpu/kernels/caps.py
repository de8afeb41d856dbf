"""What the sum over a part of the query graph counts as."""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.machine.compile import inlined
from gquery.executor.cpu.search.packed import EXISTS, OPTIONAL, PLAIN


@inlined
def capped(cap, value, size):  # type: ignore[no-untyped-def]
    """The sum itself, at least one, one if there is any, or one if there is none."""
    if cap == PLAIN:
        return value, size
    # Whether there is any changes from vertex to vertex: arithmetic, since a branch would be mispredicted.
    some = np.uint64(size > 0.0)
    if cap == OPTIONAL:
        return value + (np.uint64(1) - some), size + (1.0 - some)
    if cap == EXISTS:
        return some, float(some)
    return np.uint64(1) - some, 1.0 - some

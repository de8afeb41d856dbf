"""What the sum over a part of the query graph counts as."""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.compile import inlined
from gquery.executor.packed import EXISTS, NONE, OPTIONAL, PLAIN


@inlined
def capped(cap, value, size):  # type: ignore[no-untyped-def]
    """The sum itself, at least one, one if there is any, or one if there is none."""
    if cap == PLAIN or (cap == OPTIONAL and size > 0.0):
        return value, size
    if (cap == EXISTS and size == 0.0) or (cap == NONE and size > 0.0):
        return np.uint64(0), 0.0
    return np.uint64(1), 1.0

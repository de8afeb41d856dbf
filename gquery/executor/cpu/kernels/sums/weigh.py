"""How many matches listed rows stand for where nothing is summed out below them: the choices of their edges, and what
is folded into their vertices.

`tree.py` could tell that too. It takes four seconds to compile, and a list of rows over parallel edges would wait for
it after installation.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sums.numbers import given_matches, load_row, reduced
from gquery.executor.cpu.kernels.workspace import (
    DONE,
    EACH,
    MODULUS,
    MORE,
    QUANTUM,
    ROW,
    ROW_END,
    START,
    STATE_SLOTS,
    STATUS,
    choices_of,
    ends_early,
    tables_of,
    takes_more,
    walk_of,
)
from gquery.executor.cpu.machine.compile import kernel


@kernel
def weigh(plan, work, marked, given, sums, sizes, budget):  # type: ignore[no-untyped-def]
    """One slice: adds to `sums` uint64[] and `sizes` float64[], for each row of `given` int32[start, rows] or for all.

    marked int64[*, 3]: see `row_bitset.py`.
    """
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    choices = choices_of(plan, work, tables)
    state = work[:STATE_SLOTS]
    start, modulus = state[START], np.uint64(state[MODULUS])
    status = MORE
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if state[ROW] >= state[ROW_END] and not takes_more(state):
            status = DONE
            break
        load_row(tables, walk, given, state[ROW], start)
        product, size, looks = given_matches(tables, walk, choices, start, modulus)
        budget -= looks + 1
        place = state[ROW] * state[EACH]
        sums[place] = reduced(sums[place] + product, modulus)
        sizes[place] += size
        state[ROW] += 1
    state[STATUS] = status

"""Lists pairs that others join: what is pushed from one root after the other (`sums/push.py`) is not added up, but
written, a row for each vertex that was reached.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.intersect import accepts
from gquery.executor.cpu.kernels.row_bitset import restore
from gquery.executor.cpu.kernels.sums.numbers import given_matches, load_row
from gquery.executor.cpu.kernels.sums.push import FAR, clear, first_kind, next_chain, number_at, push_chains
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    ENTERING,
    FULL,
    MADE,
    MORE,
    QUANTUM,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    TAKEN,
    choices_of,
    ends_early,
    tables_of,
    takes_more,
    times,
    walk_of,
)
from gquery.executor.cpu.machine.compile import inner, kernel

_WRITING = 0  # where a search stands that has pushed all chains of a root


@inner
def write_reached(tables, walk, counters, output, sums, sizes, state, product, about):  # type: ignore[no-untyped-def]
    """Writes the vertices that were reached from the root, from the one in place TAKEN on, with their numbers times
    that of the root; returns whether there was room for all."""
    kind, made, place = first_kind(tables.steps), state[MADE], state[TAKEN]
    reached, fill = counters.reached[kind], counters.fill[kind]
    while place < fill and made < output.shape[1]:
        vertex = reached[place]
        number, size = number_at(tables, counters, vertex, np.uint64(0))
        if size != 0.0 and accepts(tables, walk, FAR, np.int64(vertex), vertex):
            output[0, made], output[FAR, made] = walk.positions[0], vertex
            sums[made], sizes[made] = number * product, times(size, about)
            made += 1
        place += 1
    walk.found[FAR] += made - state[MADE]
    state[MADE], state[TAKEN] = made, place
    return place == fill


@kernel
def list_reached(plan, work, marked, counters, given, output, sums, sizes, budget):  # type: ignore[no-untyped-def]
    """One slice, as `extend` does it, for the rows of `given` int32[1, rows]; with `sums` uint64[capacity] and `sizes`
    float64[capacity] of the rows of the output, int32[2, capacity]."""
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    choices = choices_of(plan, work, tables)
    steps = tables.steps
    state = work[:STATE_SLOTS]
    level, entering = state[DEPTH], state[ENTERING]
    status = MORE
    restore(tables, walk, np.int64(len(steps) - 1) if level > _WRITING else np.int64(-1))
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if level < 0:
            if state[ROW] >= state[ROW_END] and not takes_more(state):
                status = DONE
                break
            budget -= 1
            load_row(tables, walk, given, state[ROW], np.int64(1))
            level, entering = next_chain(steps, FAR), np.int64(1)
        level, entering, budget = push_chains(tables, walk, counters, level, entering, budget, pause)
        if level < 0:
            level = np.int64(_WRITING)
            state[TAKEN] = 0
        if level == _WRITING:
            before = state[TAKEN]
            product, about, looks = given_matches(tables, walk, choices, np.int64(1), np.uint64(0))
            is_done = write_reached(tables, walk, counters, output, sums, sizes, state, product, about)
            budget -= looks + state[TAKEN] - before
            if not is_done:
                status = FULL
                break
            clear(counters)
            state[ROW] += 1
            level = np.int64(-1)
    state[DEPTH] = level
    state[ENTERING] = entering
    state[STATUS] = status

"""Lists matches: the levels of a vertex group, block by block.

`extend` takes partial matches of the levels before `start`, matches the levels `start .. stop - 1` and writes what it
finds. It returns after a bounded number of looks at neighbours, or when the output is full; everything it needs to go
on is in `state` and the blocks, so the caller can check for cancellation, drain the output, or give half of the
remaining input away between two slices.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.blocks import COUNT, NEXT, fill_block, inherit, open_block, share_of
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    FULL,
    MADE,
    MORE,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    TAKEN,
    column_of,
    cursors_of,
    levels_of,
    table_of,
)
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.search.packed import (
    ABSENT,
    ADJACENCY_COLUMNS,
    BACKWARD,
    COMPARE,
    DIFFERENT,
    PAIRS,
    SMALLER,
    STEP_COLUMNS,
    STEPS,
)


@kernel
def extend(  # type: ignore[no-untyped-def]
    plan, work, matched, columns, spans, fill, given, output, marks, marked, start, stop, budget
):
    """One slice; see the module's docstring. columns, spans, fill: see `blocks.py`. given, output: positions
    int32[width, capacity], column by column. marks: address of uint64[]; marked int64[*, 3]: see `row_bitset.py`."""
    steps = table_of(plan, STEPS, STEP_COLUMNS)
    backward = table_of(plan, BACKWARD, ADJACENCY_COLUMNS)
    different = column_of(plan, DIFFERENT)
    smaller = column_of(plan, SMALLER)
    pairs = table_of(plan, PAIRS, 4)
    compare = table_of(plan, COMPARE, 5)
    absent = table_of(plan, ABSENT, ADJACENCY_COLUMNS)
    positions, vertices = matched[0], matched[1]
    width, rows = len(steps), len(backward)
    state = work[: STATE_SLOTS + width]
    pivots, last = levels_of(work, width, 0), levels_of(work, width, 1)
    begins, cursors = cursors_of(work, width, rows, 0), cursors_of(work, width, rows, 1)
    ends, bitsets = cursors_of(work, width, rows, 2), cursors_of(work, width, rows, 3)
    share = share_of(columns)
    top = start - 1
    level = state[DEPTH]
    written = state[MADE]
    capacity = output.shape[1]
    status = MORE
    while budget > 0:
        if level < top:
            state[ROW] = state[TAKEN]
            if state[TAKEN] >= state[ROW_END]:
                status = DONE
                break
            made = min(share, state[ROW_END] - state[TAKEN])
            for column in range(start):
                for index in range(made):
                    columns[top, column, index] = given[column, state[TAKEN] + index]
            state[TAKEN] += made
            budget -= made
            open_block(steps, backward, absent, columns, spans, fill, top, start, made)
            level = np.int64(top)
        begin, count = fill[NEXT, level], fill[COUNT, level]
        if begin == count:
            level = level - 1 if level > top else np.int64(-1)
        elif level == stop - 1:
            if written == capacity:
                status = FULL
                break
            copied = min(count - begin, capacity - written)
            for column in range(stop):
                for index in range(copied):
                    output[column, written + index] = columns[level, column, begin + index]
            written += copied
            fill[NEXT, level] = begin + copied
            budget -= copied
        else:
            level += 1
            made, looks = fill_block(
                steps,
                backward,
                smaller,
                different,
                pairs,
                compare,
                absent,
                columns,
                spans,
                fill,
                level,
                positions,
                vertices,
                begins,
                cursors,
                ends,
                bitsets,
                pivots,
                last,
                marks,
                marked,
                budget,
            )
            budget -= looks
            state[STATE_SLOTS + level] += made
            inherit(steps, columns, level, made)
            open_block(
                steps, backward, absent, columns, spans, fill, level, level + 1 if level < stop - 1 else -1, made
            )
    state[DEPTH] = level
    state[MADE] = written
    state[STATUS] = status

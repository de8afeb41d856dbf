"""Lists matches, block by block.

`extend` takes partial matches of the levels before `start`, matches the levels `start .. stop - 1` and writes what it
finds. It returns after a bounded number of looks at neighbours, or when the output is full; everything it needs to go
on is in `state` and the blocks, so the caller can check for cancellation, drain the output, or give half of the
remaining input away between two slices.

Where columns of an answer are gathered the output is small and stays in the caches: as often as it is full its rows
become numbers in the columns, and Python has nothing to do until these are full.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.blocks import COUNT, NEXT, blocks_of, fill_block, inherit, open_block, share_of
from gquery.executor.cpu.kernels.lists.gather import gather_rows
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    FULL,
    MADE,
    MORE,
    QUANTUM,
    ROW,
    ROW_END,
    START,
    STATE_SLOTS,
    STATUS,
    STOP,
    TAKEN,
    ends_early,
    tables_of,
    takes_more,
    walk_of,
)
from gquery.executor.cpu.machine.compile import kernel


@kernel
def extend(plan, work, marked, packed_blocks, given, output, columns, room, budget):  # type: ignore[no-untyped-def]
    """One slice; see the module's docstring. packed_blocks: see `blocks.py`. given, output: positions int32[width,
    capacity], column by column. marked int64[*, 3]: see `row_bitset.py`. columns: see `gather.py`, for so many rows as
    there is room; none where the output itself is what is asked for. MADE rows are in either."""
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    blocks = blocks_of(packed_blocks, len(tables.steps))
    state = work[:STATE_SLOTS]
    start, stop = state[START], state[STOP]
    top = start - 1
    level = state[DEPTH]
    gathers, capacity = len(columns) > 0, output.shape[1]
    written = np.int64(0) if gathers else state[MADE]
    status = MORE
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if level < top:
            state[ROW] = state[TAKEN]
            if state[TAKEN] >= state[ROW_END] and not takes_more(state):
                status = DONE
                break
            made = min(share_of(blocks), state[ROW_END] - state[TAKEN])
            for column in range(start):
                for index in range(made):
                    blocks.columns[top, column, index] = given[column, state[TAKEN] + index]
            state[TAKEN] += made
            budget -= made
            open_block(tables, blocks, top, start, made)
            level = top
        begin, count = blocks.fill[NEXT, level], blocks.fill[COUNT, level]
        if begin == count:
            level = level - 1 if level > top else np.int64(-1)
        elif level == stop - 1:
            if written == capacity:
                if not gathers:
                    status = FULL
                    break
                gather_rows(columns, output, written, state)
                budget -= written
                written = np.int64(0)
                if state[MADE] + capacity > room:
                    break
            copied = min(count - begin, capacity - written)
            for column in range(stop):
                for index in range(copied):
                    output[column, written + index] = blocks.columns[level, column, begin + index]
            written += copied
            blocks.fill[NEXT, level] = begin + copied
            budget -= copied
        else:
            level += 1
            made, looks = fill_block(tables, walk, blocks, level, min(budget, QUANTUM))
            budget -= looks
            walk.found[level] += made
            inherit(tables, blocks, level, made)
            open_block(tables, blocks, level, level + 1 if level < stop - 1 else -1, made)
    state[DEPTH] = level
    if gathers:
        gather_rows(columns, output, written, state)
        if status == MORE and state[MADE] + capacity > room:
            status = FULL
    else:
        state[MADE] = written
    state[STATUS] = status

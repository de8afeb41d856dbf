"""Sums a chain of levels breadth first, a block of partial matches at a time.

A partial match carries its number of matches so far: the product of what is folded into its vertices. The last level
is not written down; its set sizes are multiplied in.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.blocks import (
    COUNT,
    NEXT,
    blocks_of,
    fill_block,
    inherit,
    leave_apart,
    load_partial,
    multiply,
    open_block,
    share_of,
)
from gquery.executor.cpu.kernels.leaf_sizes import set_size
from gquery.executor.cpu.kernels.sums.numbers import given_matches, load_row
from gquery.executor.cpu.kernels.sums.pair_leaf import Sums, add, count_pairs
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
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
    TAKEN,
    choices_of,
    ends_early,
    tables_of,
    takes_more,
    times,
    walk_of,
)
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.search.packed import CHILD, MINUS, PARENT, SET_COUNT, SPANS


@inlined
def take_rows(tables, walk, choices, blocks, given, state, modulus, left):  # type: ignore[no-untyped-def]
    """Fills the topmost block with rows of the input, as far as `left` looks at edges go; returns how many stand for
    any matches, and the looks."""
    start = state[START]
    top, width = start - 1, len(tables.steps)
    made, looks = 0, np.int64(0)
    while made < share_of(blocks) and state[TAKEN] < state[ROW_END] and looks < left:
        load_row(tables, walk, given, state[TAKEN], start)
        product, size, more = given_matches(tables, walk, choices, start, modulus)
        looks += more + 1
        for column in range(start):
            blocks.columns[top, column, made] = given[column, state[TAKEN]]
        blocks.columns[top, width, made] = state[TAKEN] * state[EACH]
        blocks.products[top, made] = product
        blocks.sizes[top, made] = size
        made += size != 0.0
        state[TAKEN] += 1
    return made, looks


@inner
def add_leaves(tables, walk, blocks, into, level, left):  # type: ignore[no-untyped-def]
    """Adds the rest of the partial matches of the last block that is written down to the sums of their given rows, each
    times the size of the leaf below it, until `left` looks at neighbours are used; returns the looks."""
    child = tables.steps[level, CHILD]
    products, sizes, spans = blocks.products[level], blocks.sizes[level], blocks.spans[level]
    origins = blocks.columns[level, len(tables.steps)]
    index, count = blocks.fill[NEXT, level], blocks.fill[COUNT, level]
    looks = np.int64(0)
    if child < 0:
        while index < count:
            add(into, origins[index], products[index], sizes[index])
            index += 1
        looks += count
    elif tables.steps[child, SPANS] == 1:
        while index < count:
            length = max(spans[1, index] - spans[0, index] - tables.steps[child, MINUS], np.int64(0))
            add(into, origins[index], products[index] * np.uint64(length), times(sizes[index], length))
            index += 1
        looks += count
    else:
        while index < count and looks < left:
            load_partial(tables, walk, blocks, level, index)
            found, more = set_size(tables, walk, child)
            add(into, origins[index], products[index] * np.uint64(found), times(sizes[index], found))
            looks += more
            index += 1
    blocks.fill[NEXT, level] = index
    return looks


@kernel
def sweep(plan, work, marked, packed_blocks, given, sums, sizes, budget):  # type: ignore[no-untyped-def]
    """One slice, as `total` does it: fills `sums` uint64[] and `sizes` float64[] for the rows of `given` int32[start,
    rows].

    packed_blocks: see `blocks.py`; marked int64[*, 3]: see `row_bitset.py`.
    """
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    choices = choices_of(plan, work, tables)
    blocks = blocks_of(packed_blocks, len(tables.steps))
    steps = tables.steps
    state = work[:STATE_SLOTS]
    into = Sums(sums, sizes, np.uint64(state[MODULUS]))
    top = state[START] - 1
    depth = state[DEPTH]
    status = MORE
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if depth < top:
            state[ROW] = state[TAKEN]
            if state[TAKEN] >= state[ROW_END] and not takes_more(state):
                status = DONE
                break
            left = min(budget, QUANTUM)
            made, looks = take_rows(tables, walk, choices, blocks, given, state, into.modulus, left)
            budget -= looks
            open_block(tables, blocks, top, steps[top, CHILD], made)
            depth = top
        child = steps[depth, CHILD]
        if blocks.fill[NEXT, depth] == blocks.fill[COUNT, depth]:
            depth = steps[depth, PARENT] if depth > top else np.int64(-1)
        elif child >= 0 and steps[child, SET_COUNT] == 0:
            made, looks = fill_block(tables, walk, blocks, child, min(budget, QUANTUM))
            budget -= looks
            walk.found[child] += made
            made = leave_apart(tables, blocks, child, made)
            made = multiply(tables, blocks, child, made, into.modulus)
            inherit(tables, blocks, child, made)
            if made > 0:
                open_block(tables, blocks, child, steps[child, CHILD], made)
                depth = child
        elif child >= 0 and steps[child, SPANS] == 2:
            budget -= count_pairs(tables, walk, blocks, into, depth, min(budget, QUANTUM))
        else:
            budget -= add_leaves(tables, walk, blocks, into, depth, min(budget, QUANTUM))
    state[DEPTH] = depth
    state[STATUS] = status

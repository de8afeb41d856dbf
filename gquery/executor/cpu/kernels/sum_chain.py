"""Sums a chain of levels breadth first, a block of partial matches at a time.

A partial match carries its number of matches so far: the product of what is folded into its vertices. The last level
is not written down; its set sizes are multiplied in.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.blocks import (
    COUNT,
    NEXT,
    fill_block,
    inherit,
    load_partial,
    multiply,
    open_block,
    share_of,
)
from gquery.executor.cpu.kernels.intersect import set_size
from gquery.executor.cpu.kernels.sum_pair_leaf import add, count_pairs
from gquery.executor.cpu.kernels.sum_tree import load_row, own_matches
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    LEFT,
    MORE,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    TAKEN,
    column_of,
    cursors_of,
    levels_of,
    scratch_of,
    table_of,
)
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.search.packed import (
    ABSENT,
    ADJACENCY_COLUMNS,
    BACKWARD,
    CHILD,
    CHOICE_COLUMNS,
    CHOICES,
    COLLIDES,
    COMPARE,
    DIFFERENT,
    PAIRS,
    PARENT,
    SET_COUNT,
    SMALLER,
    SPANS,
    STEP_COLUMNS,
    STEPS,
)


@kernel
def sweep(  # type: ignore[no-untyped-def]
    plan,
    work,
    matched,
    columns,
    products,
    product_sizes,
    spans,
    fill,
    given,
    sums,
    sizes,
    marks,
    marked,
    start,
    modulus,
    budget,
):
    """One slice, as `total` does it: fills `sums` uint64[] and `sizes` float64[] for the rows of `given` int32[start,
    rows].

    columns, products, product_sizes, spans, fill: the blocks, see `blocks.py`. marks: address of uint64[]; marked
    int64[*, 3]: see `row_bitset.py`.
    """
    steps = table_of(plan, STEPS, STEP_COLUMNS)
    backward = table_of(plan, BACKWARD, ADJACENCY_COLUMNS)
    different = column_of(plan, DIFFERENT)
    smaller = column_of(plan, SMALLER)
    pairs = table_of(plan, PAIRS, 4)
    compare = table_of(plan, COMPARE, 5)
    absent = table_of(plan, ABSENT, ADJACENCY_COLUMNS)
    choices = table_of(plan, CHOICES, CHOICE_COLUMNS)
    collides = column_of(plan, COLLIDES)
    positions, vertices = matched[0], matched[1]
    width, rows = len(steps), len(backward)
    state = work[: STATE_SLOTS + width]
    pivots, last = levels_of(work, width, 0), levels_of(work, width, 1)
    begins, cursors = cursors_of(work, width, rows, 0), cursors_of(work, width, rows, 1)
    ends, bitsets = cursors_of(work, width, rows, 2), cursors_of(work, width, rows, 3)
    scratch = scratch_of(work, width, rows, len(choices))
    share = share_of(columns)
    top = start - 1
    depth = state[DEPTH]
    status = MORE
    while budget > 0:
        if depth < top:
            state[ROW] = state[TAKEN]
            if state[TAKEN] >= state[ROW_END]:
                status = DONE
                break
            made = 0
            while made < share and state[TAKEN] < state[ROW_END]:
                load_row(steps, given, state[TAKEN], start, positions, vertices)
                product, size = own_matches(steps, choices, collides, start, modulus, positions, scratch)
                for column in range(start):
                    columns[top, column, made] = given[column, state[TAKEN]]
                columns[top, width, made] = state[TAKEN]
                products[top, made] = product
                product_sizes[top, made] = size
                made += size != 0.0
                state[TAKEN] += 1
            budget -= made + 1
            open_block(steps, backward, absent, columns, spans, fill, top, steps[top, CHILD], made)
            depth = np.int64(top)
        count = fill[COUNT, depth]
        if fill[NEXT, depth] == count:
            depth = steps[depth, PARENT] if depth > top else np.int64(-1)
            continue
        child = steps[depth, CHILD]
        if child >= 0 and steps[child, SET_COUNT] == 0:
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
                child,
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
            state[STATE_SLOTS + child] += made
            made = multiply(steps, columns, products, product_sizes, child, made, modulus)
            inherit(steps, columns, child, made)
            if made > 0:
                open_block(steps, backward, absent, columns, spans, fill, child, steps[child, CHILD], made)
                depth = child
            continue
        origins = columns[depth, width]
        index = fill[NEXT, depth]
        if child < 0:
            while index < count:
                add(sums, sizes, origins[index], products[depth, index], product_sizes[depth, index], modulus)
                index += 1
            budget -= count
        elif steps[child, SPANS] == 1:
            while index < count:
                length = spans[depth, 1, index] - spans[depth, 0, index]
                product = products[depth, index] * np.uint64(length)
                size = product_sizes[depth, index] * length
                add(sums, sizes, origins[index], product, size, modulus)
                index += 1
            budget -= count
        elif steps[child, SPANS] == 2:
            state[LEFT] = budget
            index = count_pairs(
                steps,
                backward,
                smaller,
                different,
                absent,
                columns,
                products,
                product_sizes,
                spans,
                depth,
                index,
                vertices,
                sums,
                sizes,
                marks,
                marked,
                modulus,
                state,
                count,
            )
            budget = state[LEFT]
        else:
            while index < count and budget > 0:
                load_partial(steps, columns, depth, index, positions, vertices)
                found, looks = set_size(
                    steps,
                    backward,
                    smaller,
                    different,
                    absent,
                    child,
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
                )
                budget -= looks
                product = products[depth, index] * np.uint64(found)
                size = product_sizes[depth, index] * found
                add(sums, sizes, origins[index], product, size, modulus)
                index += 1
        fill[NEXT, depth] = index
    state[DEPTH] = depth
    state[STATUS] = status

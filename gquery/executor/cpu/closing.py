"""The last two levels of a sum in one loop: the most frequent end of a pattern, as in every triangle.

For each candidate of a level, the leaf below it is the set of what one row of the candidate and one row matched earlier
have in common, or the one without the other. What does not change with the candidate is looked up once, and rows of
different candidates do not wait for each other: the processor fetches the next while it counts the last.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.ahead import fetch_ahead
from gquery.executor.cpu.compile import inlined
from gquery.executor.cpu.intersect import common_size, floor_of
from gquery.executor.cpu.lookup import contains, has_bit, lower_bound, rank, row
from gquery.executor.cpu.marks import bits_of
from gquery.executor.cpu.native import load_float, load_int32, load_word
from gquery.executor.cpu.workspace import LEFT, STATE_SLOTS
from gquery.executor.packed import (
    ABSENT_BEGIN,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTOR_BASE,
    FACTOR_SIZES,
    FACTORS,
    FIRST,
    LEVEL,
    NEIGHBOURS,
    OFFSETS,
    RANKS,
    ROWS,
    SMALLER_BEGIN,
    SMALLER_END,
    VERTICES,
    WORDS,
)


@inlined
def sum_row(  # type: ignore[no-untyped-def]
    steps,
    backward,
    smaller,
    different,
    absent,
    level,
    positions,
    vertices,
    cursors,
    ends,
    marks,
    marked,
    modulus,
    state,
):
    """(sum, about) over the candidates of an opened level that are left, or as many as the budget state[LEFT] allows.

    The level has one row without repeats and no tests but membership; the leaf has two rows, one of them of the level.
    """
    child = steps[level, CHILD]
    own = steps[level, BACKWARD_BEGIN]
    values, cursor, stop = backward[own, NEIGHBOURS], cursors[own], ends[own]
    address, words = steps[level, VERTICES], np.int64(0)
    if address == 0:
        words = steps[level, WORDS]
    factors, factor_sizes, base = steps[level, FACTORS], steps[level, FACTOR_SIZES], steps[level, FACTOR_BASE]
    leaf_words = steps[child, WORDS] if steps[child, VERTICES] == 0 else np.int64(0)
    begin = steps[child, BACKWARD_BEGIN]
    missing = steps[child, BACKWARD_END] - begin == 1  # the leaf has one row, and one that it must miss
    moves = backward[begin, LEVEL] == level  # the row of the leaf that changes is its first
    first = backward[begin]
    second = absent[steps[child, ABSENT_BEGIN]] if missing else backward[begin + 1]
    moving, fixed = (first, second) if moves else (second, first)
    moving_values, moving_first, moving_rows = moving[NEIGHBOURS], moving[FIRST], moving[ROWS]
    moving_offsets, fixed_values = moving[OFFSETS], fixed[NEIGHBOURS]
    position = np.int64(positions[fixed[LEVEL]])  # equal to the vertex where rows are missed
    fixed_low, fixed_high = row(fixed[OFFSETS], fixed[FIRST], fixed[ROWS], position)
    bits = bits_of(fixed, position, fixed_high - fixed_low, stop - cursor, marks, marked)
    floor, ceiling = np.int64(steps[child, CUT_BEGIN]), steps[child, CUT_END]
    if ceiling > 0:
        fixed_low = lower_bound(fixed_values, fixed_low, fixed_high, floor)
        fixed_high = lower_bound(fixed_values, fixed_low, fixed_high, ceiling)
    ordered = steps[child, SMALLER_BEGIN] < steps[child, SMALLER_END]
    distinct = steps[child, DIFFERENT_BEGIN] < steps[child, DIFFERENT_END]
    total, size = np.uint64(0), 0.0
    left = state[LEFT]
    while cursor < stop and left > 0:
        fetch_ahead(steps, level, values, cursor, stop)
        position = np.int64(load_int32(values, cursor))
        cursor += 1
        left -= 1
        if words != 0 and not has_bit(words, position):
            continue
        state[STATE_SLOTS + level] += 1
        low, high = row(moving_offsets, moving_first, moving_rows, position)
        other_low = fixed_low
        if ordered or distinct:
            vertices[level] = load_int32(address, position) if address != 0 else np.int32(position)
        if ordered:
            floor = floor_of(steps, smaller, child, vertices)
            if bits == 0 or missing:
                other_low = lower_bound(fixed_values, fixed_low, fixed_high, floor)
        if floor > 0:
            low = lower_bound(moving_values, low, high, floor)
        if ceiling > 0:
            high = lower_bound(moving_values, low, high, ceiling)
        if bits == 0 and fixed_high - other_low < high - low:
            left -= fixed_high - other_low
            count = common_size(fixed_values, other_low, fixed_high, np.int64(0), moving_values, low, high, leaf_words)
        else:
            left -= high - low
            count = common_size(moving_values, low, high, bits, fixed_values, other_low, fixed_high, leaf_words)
        if missing and moves:
            count = high - low - count
        elif missing:
            count = fixed_high - other_low - count
        other = np.int64(-1)  # the position that the leaf must not take
        if distinct and count > 0:
            vertex = vertices[different[steps[child, DIFFERENT_BEGIN]]]
            if steps[child, WORDS] == 0 or has_bit(steps[child, WORDS], vertex):
                other = np.int64(vertex)
                if steps[child, VERTICES] != 0:
                    other = rank(steps[child, WORDS], steps[child, RANKS], vertex)
        if other >= floor and other >= 0:
            in_first = contains(moving_values, low, high, other)
            in_second = contains(fixed_values, other_low, fixed_high, other)
            if missing and moves:
                count -= in_first and not in_second
            elif missing:
                count -= in_second and not in_first
            else:
                count -= in_first and in_second
        product, product_size = np.uint64(count), float(count)
        if factors != 0:
            product *= load_word(factors, position - base)
            product_size *= load_float(factor_sizes, position - base)
        if modulus != 0:
            product %= modulus
        total += product
        size += product_size
    cursors[own] = cursor
    state[LEFT] = left
    return total, size

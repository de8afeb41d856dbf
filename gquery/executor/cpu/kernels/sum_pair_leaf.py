"""The last level of a breadth-first sum when two rows decide it: what both hold, or one without the other.

The most frequent end of a pattern, as in every triangle.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.blocks import vertex_at
from gquery.executor.cpu.kernels.intersect import common_size, floor_of
from gquery.executor.cpu.kernels.row_bitset import bits_of
from gquery.executor.cpu.kernels.sorted_rows import contains, count_both, has_bit, lower_bound, rank
from gquery.executor.cpu.kernels.workspace import LEFT
from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.search.packed import (
    ABSENT_BEGIN,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    LEVEL,
    MATRIX,
    MATRIX_BEGIN,
    MATRIX_END,
    NEIGHBOURS,
    RANKS,
    SMALLER_BEGIN,
    SMALLER_END,
    VERTICES,
    WORDS,
)


@inlined
def add(sums, sizes, origin, product, size, modulus):  # type: ignore[no-untyped-def]
    """Adds matches to the sum of a given row."""
    if modulus != 0:
        product = (product % modulus + sums[origin]) % modulus
        sums[origin] = 0
    sums[origin] += product
    sizes[origin] += size


@kernel
def count_pairs(  # type: ignore[no-untyped-def]
    steps,
    backward,
    smaller,
    different,
    absent,
    columns,
    products,
    product_sizes,
    spans,
    level,
    index,
    vertices,
    sums,
    sizes,
    marks,
    marked,
    modulus,
    state,
    count,
):
    """The leaf below `level` for its partial matches from `index` on: what two rows have in common, or one has without
    the other. Goes on while the budget state[LEFT] lasts; returns the first that is left."""
    child = steps[level, CHILD]
    begin = steps[child, BACKWARD_BEGIN]
    missing = steps[child, BACKWARD_END] - begin == 1
    first = backward[begin]
    second = absent[steps[child, ABSENT_BEGIN]] if missing else backward[begin + 1]
    # The row of the shallower vertex stays for many partial matches, perhaps as a bitset.
    moves = first[LEVEL] > second[LEVEL]
    moving, kept = (first, second) if moves else (second, first)
    moving_span, kept_span = (0, 2) if moves else (2, 0)
    moving_values, kept_values = moving[NEIGHBOURS], kept[NEIGHBOURS]
    owners, movers = columns[level, kept[LEVEL]], columns[level, moving[LEVEL]]
    dense = moving[MATRIX] != 0 and kept[MATRIX] != 0
    matrix_words = (moving[MATRIX_END] - moving[MATRIX_BEGIN]) >> 6
    words = steps[child, WORDS] if steps[child, VERTICES] == 0 else np.int64(0)
    cut, ceiling = steps[child, CUT_BEGIN], steps[child, CUT_END]
    ordered = steps[child, SMALLER_BEGIN] < steps[child, SMALLER_END]
    distinct = steps[child, DIFFERENT_BEGIN] < steps[child, DIFFERENT_END]
    origins = columns[level, len(steps)]
    left = state[LEFT]
    while index < count and left > 0:
        left -= 1
        low, high = spans[level, moving_span, index], spans[level, moving_span + 1, index]
        kept_low, kept_high = spans[level, kept_span, index], spans[level, kept_span + 1, index]
        bits = np.int64(0)
        if low < high:
            bits = bits_of(kept, np.int64(owners[index]), kept_high - kept_low, high - low, marks, marked)
        floor = cut
        if ordered:
            for place in range(steps[child, SMALLER_BEGIN], steps[child, SMALLER_END]):
                earlier = smaller[place]
                vertices[earlier] = vertex_at(steps, earlier, columns[level, earlier, index])
            floor = floor_of(steps, smaller, child, vertices)
        if floor > 0:
            low = lower_bound(moving_values, low, high, floor)
            if bits == 0 or missing:
                kept_low = lower_bound(kept_values, kept_low, kept_high, floor)
        if ceiling > 0:
            high = lower_bound(moving_values, low, high, ceiling)
            if bits == 0 or missing:
                kept_high = lower_bound(kept_values, kept_low, kept_high, ceiling)
        shorter = min(high - low, kept_high - kept_low)
        if dense and 2 * matrix_words < high - low:
            left -= matrix_words
            mover = np.int64(movers[index])
            found = count_both(
                bits_of(moving, mover, high - low, shorter, marks, marked),
                bits,
                words,
                max(floor, moving[MATRIX_BEGIN]),
                min(ceiling, moving[MATRIX_END]) if ceiling > 0 else moving[MATRIX_END],
            )
        elif bits == 0 and kept_high - kept_low < high - low:
            left -= kept_high - kept_low
            found = common_size(kept_values, kept_low, kept_high, np.int64(0), moving_values, low, high, words)
        else:
            left -= high - low
            found = common_size(moving_values, low, high, bits, kept_values, kept_low, kept_high, words)
        if missing and moves:
            found = high - low - found
        elif missing:
            found = kept_high - kept_low - found
        if distinct and found > 0:
            earlier = different[steps[child, DIFFERENT_BEGIN]]
            vertex = vertex_at(steps, earlier, columns[level, earlier, index])
            if steps[child, WORDS] == 0 or has_bit(steps[child, WORDS], vertex):
                other = np.int64(vertex)
                if steps[child, VERTICES] != 0:
                    other = rank(steps[child, WORDS], steps[child, RANKS], vertex)
                inside = contains(moving_values, low, high, other)
                if not missing and bits != 0:
                    outside = inside and has_bit(bits, other)
                else:
                    outside = contains(kept_values, kept_low, kept_high, other)
                if not missing:
                    found -= inside and outside
                elif moves:
                    found -= inside and not outside
                else:
                    found -= outside and not inside
        product = products[level, index] * np.uint64(found)
        add(sums, sizes, origins[index], product, product_sizes[level, index] * found, modulus)
        index += 1
    state[LEFT] = left
    return index

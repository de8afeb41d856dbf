"""The last level of a breadth-first sum when two rows decide it: what both hold, or one without the other.

The most frequent end of a pattern, as in every triangle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.blocks import COUNT, NEXT
from gquery.executor.cpu.kernels.intersect import floor_of, position_of, vertex_at
from gquery.executor.cpu.kernels.leaf_sizes import common_size
from gquery.executor.cpu.kernels.row_bitset import bits_of
from gquery.executor.cpu.kernels.sorted_rows import contains, count_both, first_from, has_bit
from gquery.executor.cpu.kernels.workspace import times
from gquery.executor.cpu.machine.compile import inlined, inner
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
    MINUS,
    NEIGHBOURS,
    SMALLER_BEGIN,
    SMALLER_END,
    VERTICES,
    WORDS,
)

_NEAR = 64  # words of a row, up to which a second-level cache holds a matrix of as many rows as bits


class Sums(NamedTuple):
    """Sums of the given rows: uint64[], modulo 2^64 or the modulus, and float64[], about."""

    sums: NDArray[np.uint64]
    sizes: NDArray[np.float64]
    modulus: np.uint64


@inlined
def add(into, origin, product, size):  # type: ignore[no-untyped-def]
    """Adds matches to the sum of a given row."""
    if into.modulus != 0:
        product = (product % into.modulus + into.sums[origin]) % into.modulus
        into.sums[origin] = 0
    into.sums[origin] += product
    into.sizes[origin] += size


@inlined
def floor_at(tables, walk, columns, child, index):  # type: ignore[no-untyped-def]
    """The first position that the leaf may take below a partial match of the block with these columns."""
    for place in range(tables.steps[child, SMALLER_BEGIN], tables.steps[child, SMALLER_END]):
        earlier = tables.smaller[place]
        walk.vertices[earlier] = vertex_at(tables.steps, earlier, columns[earlier, index])
    return floor_of(tables, walk, child)


@inner
def count_pairs(tables, walk, blocks, into, level, left):  # type: ignore[no-untyped-def]
    """The leaf below `level` for the rest of its partial matches: what two rows have in common, or one has without the
    other. Adds it to the sums of their given rows, until `left` looks at neighbours are used; returns the looks."""
    steps, columns, spans = tables.steps, blocks.columns[level], blocks.spans[level]
    products, sizes, origins = blocks.products[level], blocks.sizes[level], columns[len(steps)]
    child = steps[level, CHILD]
    begin = steps[child, BACKWARD_BEGIN]
    missing = steps[child, BACKWARD_END] - begin == 1
    first = tables.backward[begin]
    second = tables.absent[steps[child, ABSENT_BEGIN]] if missing else tables.backward[begin + 1]
    # The row of the shallower vertex stays for many partial matches, perhaps as a bitset.
    moves = first[LEVEL] > second[LEVEL]
    moving, kept = (first, second) if moves else (second, first)
    moving_span, kept_span = (0, 2) if moves else (2, 0)
    moving_values, kept_values = moving[NEIGHBOURS], kept[NEIGHBOURS]
    owners, movers = columns[kept[LEVEL]], columns[moving[LEVEL]]
    dense = moving[MATRIX] != 0 and kept[MATRIX] != 0
    matrix_words = (moving[MATRIX_END] - moving[MATRIX_BEGIN]) >> 6
    near = dense and matrix_words <= _NEAR
    words = steps[child, WORDS] if steps[child, VERTICES] == 0 else np.int64(0)
    cut, ceiling = steps[child, CUT_BEGIN], steps[child, CUT_END]
    ordered = steps[child, SMALLER_BEGIN] < steps[child, SMALLER_END]
    distinct = steps[child, DIFFERENT_BEGIN] < steps[child, DIFFERENT_END]
    looks = np.int64(0)
    index, count = blocks.fill[NEXT, level], blocks.fill[COUNT, level]
    while index < count and looks < left:
        looks += 1
        low, high = spans[moving_span, index], spans[moving_span + 1, index]
        kept_low, kept_high = spans[kept_span, index], spans[kept_span + 1, index]
        if low == high and not missing:
            index += 1
            continue
        bits = np.int64(0)
        if low < high:
            bits = bits_of(walk, kept, np.int64(owners[index]), kept_high - kept_low, high - low)
        floor = cut
        if ordered:
            floor = floor_at(tables, walk, columns, child, index)
        if floor > 0:
            low = first_from(moving_values, low, high, floor)
            if bits == 0 or missing:
                kept_low = first_from(kept_values, kept_low, kept_high, floor)
        if ceiling > 0:
            high = first_from(moving_values, low, high, ceiling)
            if bits == 0 or missing:
                kept_high = first_from(kept_values, kept_low, kept_high, ceiling)
        moving_bits = np.int64(0)
        if dense:
            moving_bits = bits_of(walk, moving, np.int64(movers[index]), high - low, np.int64(1))
        if dense and bits != 0 and matrix_words < high - low:  # a vertex that is beyond all rows has no bits
            looks += matrix_words
            last = min(ceiling, moving[MATRIX_END]) if ceiling > 0 else moving[MATRIX_END]
            found = count_both(moving_bits, bits, words, max(floor, moving[MATRIX_BEGIN]), last)
        elif bits == 0 and kept_high - kept_low < high - low:
            looks += kept_high - kept_low
            found = common_size(kept_values, kept_low, kept_high, np.int64(0), moving_values, low, high, words)
        else:
            looks += high - low
            found = common_size(moving_values, low, high, bits, kept_values, kept_low, kept_high, words)
        if missing:
            found = (high - low if moves else kept_high - kept_low) - found
        if distinct and found > 0:
            earlier = tables.different[steps[child, DIFFERENT_BEGIN]]
            taken = position_of(steps, child, vertex_at(steps, earlier, columns[earlier, index]))
            if taken >= 0:
                if near and moving_bits != 0 and taken < moving[MATRIX_END]:
                    inside = taken >= max(floor, moving[MATRIX_BEGIN]) and has_bit(moving_bits, taken)
                    inside = inside and (ceiling == 0 or taken < ceiling)
                else:
                    inside = contains(moving_values, low, high, taken)
                if bits != 0 and (moves or not missing):  # what is inside is in the range that rows are cut to
                    other = inside and has_bit(bits, taken)
                else:
                    other = contains(kept_values, kept_low, kept_high, taken)
                if not missing:
                    found -= inside and other
                elif moves:
                    found -= inside and not other
                else:
                    found -= other and not inside
        found -= min(found, steps[child, MINUS])
        add(into, origins[index], products[index] * np.uint64(found), times(sizes[index], found))
        index += 1
    blocks.fill[NEXT, level] = index
    return looks

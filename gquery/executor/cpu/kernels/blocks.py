"""Blocks of partial matches: what a breadth-first search keeps of each level, and how one block fills the next.

A depth-first search waits for memory at every vertex: where its row begins, what the row holds, where the next row
begins. A block of partial matches asks for all of its rows first and reads them after, so that the waiting overlaps,
and every loop does one thing (the blocks of EGSM's hybrid search, section 5.2, with the batches of columnar engines).
When a block is full it is searched before the rest of the block above, so the blocks of all levels together are all
the room that a search needs.

A block holds as many partial matches as fit the caches, as columns: the positions that are still needed of the levels
above, the row of the input that each began with, and the number of matches that it stands for so far.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.intersect import accepts, holds, next_common, open_level, vertex_at
from gquery.executor.cpu.kernels.sorted_rows import has_bit, lower_bound, row
from gquery.executor.cpu.kernels.sums.numbers import factor_at
from gquery.executor.cpu.kernels.workspace import times
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import load_int32, load_int64, prefetch
from gquery.executor.cpu.search.packed import (
    ABSENT_BEGIN,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    COMPARE_BEGIN,
    COMPARE_END,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTORS,
    FIRST,
    LEFT,
    LEFT_RANKS,
    LEVEL,
    LIVE,
    NEIGHBOURS,
    OFFSETS,
    OPERATOR,
    PARENT,
    RIGHT,
    RIGHT_RANKS,
    ROWS,
    SIGNATURES,
    SPANS,
    VERTICES,
    WORDS,
)

# Rows of `fill`, int64[3, width], by level: partial matches in the block; the next to be extended; where in its row.
COUNT, NEXT, CURSOR = 0, 1, 2
CLOSED = -1  # CURSOR of a partial match that has not been begun

_LONG = 16  # neighbours from which on a row is searched for the first candidate


class Blocks(NamedTuple):
    """The blocks of all levels, for one worker.

    columns int32[width, width + 2, room]: by level, the positions at the levels above, the row of the input, and the
    partial match in the block above. products uint64[width, room], sizes float64[width, room]: matches so far, modulo
    and about. spans int64[width, 4, room]: begin and end of the rows that each is extended with. fill int64[3, width].
    """

    columns: NDArray[np.int32]
    products: NDArray[np.uint64]
    sizes: NDArray[np.float64]
    spans: NDArray[np.int64]
    fill: NDArray[np.int64]

    @staticmethod
    def bytes_of(width: int) -> int:
        """Bytes for one partial match in each of `width` blocks."""
        return width * (4 * (width + 2) + 8 * 6)


def new_blocks(width: int, room: int) -> NDArray[np.int64]:
    """Blocks for `room` partial matches each, all in one array."""
    fill = 3 * width
    blocks = np.empty(1 + fill + -(-room * Blocks.bytes_of(width) // 8), np.int64)
    blocks[0] = room
    blocks[1 : 1 + fill] = 0
    return blocks


@inner
def blocks_of(blocks, width):  # type: ignore[no-untyped-def]
    """The blocks in such an array."""
    room = blocks[0]
    spans = 1 + 3 * width
    products = spans + 4 * width * room
    sizes = products + width * room
    columns = sizes + width * room
    entries = width * (width + 2) * room
    return Blocks(
        blocks[columns:].view(np.int32)[:entries].reshape((width, width + 2, room)),
        blocks[products:sizes].view(np.uint64).reshape((width, room)),
        blocks[sizes:columns].view(np.float64).reshape((width, room)),
        blocks[spans:products].reshape((width, 4, room)),
        blocks[1:spans].reshape((3, width)),
    )


@inlined
def is_needed(steps, level, column):  # type: ignore[no-untyped-def]
    """Whether the levels below `level` ask for the position at another level."""
    return (steps[level, LIVE] >> min(column, 63)) & 1 != 0


@inlined
def share_of(blocks):  # type: ignore[no-untyped-def]
    """Rows of the input that are taken at once: few, since what is not taken yet can be given to another worker."""
    return max(1, blocks.columns.shape[2] >> 2)


@inlined
def load_partial(tables, walk, blocks, level, index):  # type: ignore[no-untyped-def]
    """What is still needed of a partial match in the block of `level`."""
    for column in range(level + 1):
        if is_needed(tables.steps, level, column):
            position = blocks.columns[level, column, index]
            walk.positions[column] = position
            walk.vertices[column] = vertex_at(tables.steps, column, position)


@inner
def look_up(adjacency, positions, begins, ends, count):  # type: ignore[no-untyped-def]
    """Where the rows of a column of positions begin and end; asks for their first entries."""
    offsets, first, rows, values = adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], adjacency[NEIGHBOURS]
    for index in range(count):
        begins[index], ends[index] = row(offsets, first, rows, positions[index])
    for index in range(count):
        prefetch(values + 4 * begins[index])  # type: ignore[call-arg]


@inlined
def signature(adjacency, position):  # type: ignore[no-untyped-def]
    """The signature of a position's row."""
    index = np.int64(position) - adjacency[FIRST]
    word = np.int32(0)
    if 0 <= index < adjacency[ROWS]:
        word = load_int32(adjacency[SIGNATURES], index)
    return word


@inner
def look_up_alike(adjacency, other, positions, others, begins, ends, count):  # type: ignore[no-untyped-def]
    """The same for rows that have something in common with those of a column of `others` in another adjacency, as far
    as signatures tell; all other rows are taken to be empty."""
    offsets, first, rows, values = adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], adjacency[NEIGHBOURS]
    for index in range(count):
        begins[index] = ends[index] = 0
        if signature(adjacency, positions[index]) & signature(other, others[index]) != 0:
            begins[index], ends[index] = row(offsets, first, rows, positions[index])
            prefetch(values + 4 * begins[index])  # type: ignore[call-arg]


@inner
def open_block(tables, blocks, level, child, count):  # type: ignore[no-untyped-def]
    """The block of `level` has been filled: looks up the rows that its partial matches are extended with to `child`, -1
    for none."""
    steps, backward, columns, spans = tables.steps, tables.backward, blocks.columns[level], blocks.spans[level]
    blocks.fill[COUNT, level] = count
    blocks.fill[NEXT, level] = 0
    blocks.fill[CURSOR, level] = CLOSED
    if child >= 0 and steps[child, SPANS] > 0:
        begin = steps[child, BACKWARD_BEGIN]
        first = backward[begin]
        look_up(first, columns[first[LEVEL]], spans[0], spans[1], count)
        if steps[child, SPANS] == 2 and steps[child, BACKWARD_END] - begin == 2:
            second = backward[begin + 1]
            look_up(second, columns[second[LEVEL]], spans[2], spans[3], count)
        elif steps[child, SPANS] == 2:
            second = tables.absent[steps[child, ABSENT_BEGIN]]
            positions, others = columns[second[LEVEL]], columns[first[LEVEL]]
            if second[SIGNATURES] == 0:
                look_up(second, positions, spans[2], spans[3], count)
            else:
                look_up_alike(second, first, positions, others, spans[2], spans[3], count)


@inner
def leave_apart(tables, blocks, level, made):  # type: ignore[no-untyped-def]
    """Leaves out the new partial matches whose row below has to have something in common with a row from above, and has
    nothing, as far as signatures tell; returns how many stay."""
    steps, child = tables.steps, tables.steps[level, CHILD]
    if child < 0 or steps[child, SPANS] != 2 or steps[child, BACKWARD_END] - steps[child, BACKWARD_BEGIN] != 2:
        return made
    first, second = tables.backward[steps[child, BACKWARD_BEGIN]], tables.backward[steps[child, BACKWARD_BEGIN] + 1]
    new, other = (first, second) if first[LEVEL] > second[LEVEL] else (second, first)
    if new[SIGNATURES] == 0 or new[LEVEL] != level or other[LEVEL] == level:
        return made
    own, parents = blocks.columns[level, level], blocks.columns[level, len(steps) + 1]
    above = blocks.columns[steps[level, PARENT], other[LEVEL]]
    kept = 0
    for index in range(made):
        common = signature(new, own[index]) & signature(other, above[parents[index]])
        own[kept], parents[kept] = own[index], parents[index]
        kept += common != 0
    return kept


@inner
def leave_same(tables, blocks, level, made):  # type: ignore[no-untyped-def]
    """Leaves out the new partial matches whose vertex must be another than one above; returns how many stay."""
    steps = tables.steps
    begin, end = steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]
    if steps[level, SPANS] == 0 or begin == end:
        return made
    above, own, parents = steps[level, PARENT], blocks.columns[level, level], blocks.columns[level, len(steps) + 1]
    kept = 0
    for index in range(made):
        vertex = vertex_at(steps, level, own[index])
        same = False
        for other in range(begin, end):
            column = tables.different[other]
            same |= vertex_at(steps, column, blocks.columns[above, column, parents[index]]) == vertex
        own[kept], parents[kept] = own[index], parents[index]
        kept += not same
    return kept


@inner
def leave_passing(tables, blocks, level, made):  # type: ignore[no-untyped-def]
    """Leaves out the new partial matches for which a comparison does not hold; returns how many stay."""
    steps, compare = tables.steps, tables.compare
    if steps[level, SPANS] == 0:
        return made
    above, own, parents = steps[level, PARENT], blocks.columns[level, level], blocks.columns[level, len(steps) + 1]
    for test in range(steps[level, COMPARE_BEGIN], steps[level, COMPARE_END]):
        own_left, operator = compare[test, LEFT] == level, compare[test, OPERATOR]
        others = blocks.columns[above, compare[test, RIGHT] if own_left else compare[test, LEFT]]
        ranks_here = compare[test, LEFT_RANKS] if own_left else compare[test, RIGHT_RANKS]
        ranks_there = compare[test, RIGHT_RANKS] if own_left else compare[test, LEFT_RANKS]
        kept = 0
        for index in range(made):
            here = load_int64(ranks_here, np.int64(own[index]))
            there = load_int64(ranks_there, np.int64(others[parents[index]]))
            passed = holds(operator, here if own_left else there, there if own_left else here)
            own[kept], parents[kept] = own[index], parents[index]
            kept += passed
        made = kept
    return made


@inner
def multiply(tables, blocks, level, made, modulus):  # type: ignore[no-untyped-def]
    """Numbers of matches of the new partial matches, without those that have none; returns how many stay."""
    steps = tables.steps
    above, own, parents = steps[level, PARENT], blocks.columns[level, level], blocks.columns[level, len(steps) + 1]
    products, products_above = blocks.products[level], blocks.products[above]
    sizes, sizes_above = blocks.sizes[level], blocks.sizes[above]
    if steps[level, FACTORS] == 0:
        for index in range(made):
            products[index] = products_above[parents[index]]
            sizes[index] = sizes_above[parents[index]]
        return made
    kept = 0
    for index in range(made):
        factor, factor_size = factor_at(steps, level, own[index])
        products[kept] = products_above[parents[index]] * factor
        if modulus != 0:
            products[kept] %= modulus
        sizes[kept] = times(sizes_above[parents[index]], factor_size)
        own[kept], parents[kept] = own[index], parents[index]
        kept += factor_size != 0.0
    return kept


@inner
def inherit(tables, blocks, level, made):  # type: ignore[no-untyped-def]
    """Copies to the new partial matches what is still needed of those that they extend."""
    above, width = tables.steps[level, PARENT], len(tables.steps)
    parents = blocks.columns[level, width + 1]
    for column in range(width + 1):
        if column == width or (column <= above and is_needed(tables.steps, level, column)):
            source, target = blocks.columns[above, column], blocks.columns[level, column]
            for index in range(made):
                target[index] = source[parents[index]]


@inner
def walk_rows(tables, blocks, level, left):  # type: ignore[no-untyped-def]
    """Extends partial matches along one row each, in which no neighbour is repeated and that needs no test but
    membership, until the block of `level` is full. Returns how many it made and the looks."""
    steps, fill = tables.steps, blocks.fill
    above = steps[level, PARENT]
    values = tables.backward[steps[level, BACKWARD_BEGIN], NEIGHBOURS]
    words = steps[level, WORDS] if steps[level, VERTICES] == 0 else np.int64(0)
    floor, ceiling = steps[level, CUT_BEGIN], steps[level, CUT_END]
    own, parents = blocks.columns[level, level], blocks.columns[level, len(steps) + 1]
    begins, ends = blocks.spans[above, 0], blocks.spans[above, 1]
    room = len(own)
    made, looks = 0, np.int64(0)
    index, cursor = fill[NEXT, above], fill[CURSOR, above]
    count = fill[COUNT, above]
    while index < count and looks < left:
        high = ends[index]
        if cursor == CLOSED:
            cursor = begins[index]
            if ceiling > 0 and high - cursor > _LONG:
                cursor = lower_bound(values, cursor, high, floor)
                high = lower_bound(values, cursor, high, ceiling)
                ends[index] = high
        looks += 1
        stop = min(high, cursor + room - made)
        looks += stop - cursor
        if words == 0 and ceiling == 0:
            for place in range(cursor, stop):
                own[made] = load_int32(values, place)
                parents[made] = index
                made += 1
        else:
            for place in range(cursor, stop):
                position = load_int32(values, place)
                own[made], parents[made] = position, index
                inside = ceiling == 0 or (position >= floor and position < ceiling)
                if inside and words != 0:
                    inside = has_bit(words, position)
                made += inside
        cursor = stop
        if cursor < high:
            break
        index += 1
        cursor = np.int64(CLOSED)
    fill[NEXT, above], fill[CURSOR, above] = index, cursor
    return made, looks


@inner
def intersect_rows(tables, walk, blocks, level, left):  # type: ignore[no-untyped-def]
    """Extends partial matches along any number of rows and with all tests, until the block of `level` is full. Returns
    how many it made and the looks."""
    steps, fill = tables.steps, blocks.fill
    above = steps[level, PARENT]
    own, parents = blocks.columns[level, level], blocks.columns[level, len(steps) + 1]
    room = len(own)
    made, looks = 0, np.int64(0)
    index, count = fill[NEXT, above], fill[COUNT, above]
    while index < count and looks < left and made < room:
        load_partial(tables, walk, blocks, above, index)
        if fill[CURSOR, above] == CLOSED:
            open_level(tables, walk, level)
            fill[CURSOR, above] = 0
        position = np.int64(0)
        while made < room:
            looks += 1
            position = next_common(tables, walk, level)
            if position < 0:
                break
            if accepts(tables, walk, level, position, vertex_at(steps, level, position)):
                own[made], parents[made] = position, index
                made += 1
        if position < 0:
            index += 1
            fill[CURSOR, above] = CLOSED
    fill[NEXT, above] = index
    return made, looks


@inner
def fill_block(tables, walk, blocks, level, left):  # type: ignore[no-untyped-def]
    """Extends partial matches of the block above, until the block of `level` is full. Returns how many it made, and the
    looks at neighbours that this took; it stops after about `left` of them."""
    if tables.steps[level, SPANS] == 1:
        made, looks = walk_rows(tables, blocks, level, left)
        return leave_passing(tables, blocks, level, leave_same(tables, blocks, level, made)), looks
    return intersect_rows(tables, walk, blocks, level, left)

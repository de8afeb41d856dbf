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

import numpy as np

from gquery.executor.cpu.kernels.intersect import accepts, next_common, open_level
from gquery.executor.cpu.kernels.sorted_rows import has_bit, lower_bound, row
from gquery.executor.cpu.kernels.sum_tree import factor_at
from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.machine.native import load_int32, prefetch
from gquery.executor.cpu.search.packed import (
    ABSENT_BEGIN,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTORS,
    FIRST,
    LEVEL,
    LIVE,
    NEIGHBOURS,
    OFFSETS,
    PARENT,
    ROWS,
    SPANS,
    VERTICES,
    WORDS,
)

# Rows of `fill`, int64[3, width], by level: partial matches in the block; the next to be extended; where in its row.
COUNT, NEXT, CURSOR = 0, 1, 2
CLOSED = -1  # CURSOR of a partial match that has not been begun

_LONG = 16  # neighbours from which on a row is searched for the first candidate


class Blocks:
    """The blocks of all levels, for one worker.

    columns int32[width, width + 2, room]: by level, the positions at the levels above, the row of the input, and the
    partial match in the block above. products uint64[width, room], sizes float64[width, room]: matches so far, modulo
    and about. spans int64[width, 4, room]: begin and end of the rows that each is extended with. fill int64[3, width].
    """

    def __init__(self, width: int, room: int) -> None:
        self.columns = np.empty((width, width + 2, room), np.int32)
        self.products = np.empty((width, room), np.uint64)
        self.sizes = np.empty((width, room), np.float64)
        self.spans = np.empty((width, 4, room), np.int64)
        self.fill = np.zeros((3, width), np.int64)

    @staticmethod
    def bytes_of(width: int) -> int:
        """Bytes for one partial match in each of `width` blocks."""
        return width * (4 * (width + 2) + 8 * 6)


@inlined
def is_needed(steps, level, column):  # type: ignore[no-untyped-def]
    """Whether the levels below `level` ask for the position at another level."""
    return (steps[level, LIVE] >> min(column, 63)) & 1 != 0


@inlined
def share_of(columns):  # type: ignore[no-untyped-def]
    """Rows of the input that are taken at once: few, since what is not taken yet can be given to another worker."""
    return max(1, columns.shape[2] >> 2)


@inlined
def vertex_at(steps, level, position):  # type: ignore[no-untyped-def]
    """The vertex of a position."""
    address = steps[level, VERTICES]
    return load_int32(address, np.int64(position)) if address != 0 else np.int32(position)


@inlined
def load_partial(steps, columns, level, index, positions, vertices):  # type: ignore[no-untyped-def]
    """What is still needed of a partial match in the block of `level`."""
    for column in range(level + 1):
        if is_needed(steps, level, column):
            position = columns[level, column, index]
            positions[column] = position
            vertices[column] = vertex_at(steps, column, position)


@kernel
def look_up(adjacency, positions, begins, ends, count):  # type: ignore[no-untyped-def]
    """Where the rows of a column of positions begin and end; asks for their first entries."""
    offsets, first, rows, values = adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], adjacency[NEIGHBOURS]
    for index in range(count):
        begins[index], ends[index] = row(offsets, first, rows, positions[index])
    for index in range(count):
        prefetch(values + 4 * begins[index])  # type: ignore[call-arg]


@kernel
def open_block(steps, backward, absent, columns, spans, fill, level, child, count):  # type: ignore[no-untyped-def]
    """The block of `level` has been filled: looks up the rows that its partial matches are extended with to `child`, -1
    for none."""
    fill[COUNT, level] = count
    fill[NEXT, level] = 0
    fill[CURSOR, level] = CLOSED
    if child >= 0 and steps[child, SPANS] > 0:
        first = steps[child, BACKWARD_BEGIN]
        look_up(backward[first], columns[level, backward[first, LEVEL]], spans[level, 0], spans[level, 1], count)
        if steps[child, SPANS] == 2:
            second = backward[first + 1]
            if steps[child, BACKWARD_END] - first == 1:
                second = absent[steps[child, ABSENT_BEGIN]]
            look_up(second, columns[level, second[LEVEL]], spans[level, 2], spans[level, 3], count)


@kernel
def leave_same(steps, different, columns, level, made):  # type: ignore[no-untyped-def]
    """Leaves out the new partial matches whose vertex must be another than one above; returns how many stay."""
    begin, end = steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]
    if steps[level, SPANS] == 0 or begin == end:
        return made
    above, own, parents = steps[level, PARENT], columns[level, level], columns[level, len(steps) + 1]
    kept = 0
    for index in range(made):
        vertex = vertex_at(steps, level, own[index])
        same = False
        for other in range(begin, end):
            column = different[other]
            same |= vertex_at(steps, column, columns[above, column, parents[index]]) == vertex
        own[kept], parents[kept] = own[index], parents[index]
        kept += not same
    return kept


@kernel
def multiply(steps, columns, products, product_sizes, level, made, modulus):  # type: ignore[no-untyped-def]
    """Numbers of matches of the new partial matches, without those that have none; returns how many stay."""
    above, own, parents = steps[level, PARENT], columns[level, level], columns[level, len(steps) + 1]
    if steps[level, FACTORS] == 0:
        for index in range(made):
            products[level, index] = products[above, parents[index]]
            product_sizes[level, index] = product_sizes[above, parents[index]]
        return made
    kept = 0
    for index in range(made):
        factor, factor_size = factor_at(steps, level, own[index])
        products[level, kept] = products[above, parents[index]] * factor
        if modulus != 0:
            products[level, kept] %= modulus
        product_sizes[level, kept] = product_sizes[above, parents[index]] * factor_size
        own[kept], parents[kept] = own[index], parents[index]
        kept += factor_size != 0.0
    return kept


@kernel
def inherit(steps, columns, level, made):  # type: ignore[no-untyped-def]
    """Copies to the new partial matches what is still needed of those that they extend."""
    above, width = steps[level, PARENT], len(steps)
    parents = columns[level, width + 1]
    for column in range(width + 1):
        if column == width or (column <= above and is_needed(steps, level, column)):
            source, target = columns[above, column], columns[level, column]
            for index in range(made):
                target[index] = source[parents[index]]


@kernel
def walk_rows(steps, backward, columns, spans, fill, level, left):  # type: ignore[no-untyped-def]
    """Extends partial matches along one row each, in which no neighbour is repeated and that needs no test but
    membership, until the block of `level` is full. Returns how many it made and the looks."""
    above = steps[level, PARENT]
    adjacency = backward[steps[level, BACKWARD_BEGIN]]
    values = adjacency[NEIGHBOURS]
    words = steps[level, WORDS] if steps[level, VERTICES] == 0 else np.int64(0)
    floor, ceiling = steps[level, CUT_BEGIN], steps[level, CUT_END]
    own, parents = columns[level, level], columns[level, len(steps) + 1]
    begins, ends = spans[above, 0], spans[above, 1]
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


@kernel
def intersect_rows(  # type: ignore[no-untyped-def]
    steps,
    backward,
    smaller,
    different,
    pairs,
    compare,
    absent,
    columns,
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
    left,
):
    """Extends partial matches along any number of rows and with all tests, until the block of `level` is full. Returns
    how many it made and the looks."""
    above = steps[level, PARENT]
    own, parents = columns[level, level], columns[level, len(steps) + 1]
    room = len(own)
    made, looks = 0, np.int64(0)
    index, count = fill[NEXT, above], fill[COUNT, above]
    while index < count and looks < left and made < room:
        load_partial(steps, columns, above, index, positions, vertices)
        if fill[CURSOR, above] == CLOSED:
            open_level(
                steps,
                backward,
                smaller,
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
            )
            fill[CURSOR, above] = 0
        position = np.int64(0)
        while made < room:
            looks += 1
            position = next_common(steps, backward, level, cursors, ends, bitsets, pivots, last)
            if position < 0:
                break
            vertex = vertex_at(steps, level, position)
            if accepts(
                steps, different, pairs, compare, absent, level, position, vertex, positions, vertices, marks, marked
            ):
                own[made], parents[made] = position, index
                made += 1
        if position < 0:
            index += 1
            fill[CURSOR, above] = CLOSED
    fill[NEXT, above] = index
    return made, looks


@kernel
def fill_block(  # type: ignore[no-untyped-def]
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
    left,
):
    """Extends partial matches of the block above, until the block of `level` is full. Returns how many it made, and the
    looks at neighbours that this took; it stops after about `left` of them."""
    if steps[level, SPANS] == 1:
        made, looks = walk_rows(steps, backward, columns, spans, fill, level, left)
        return leave_same(steps, different, columns, level, made), looks
    return intersect_rows(
        steps,
        backward,
        smaller,
        different,
        pairs,
        compare,
        absent,
        columns,
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
        left,
    )

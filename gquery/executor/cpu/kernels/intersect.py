"""A level's candidates: the intersection of the rows of its backward neighbours, and the tests beyond the rows.

Rows are sorted, so the shortest is walked and the others are looked into, by a bit test where the row is kept as a
bitset for a while and by galloping in step otherwise (a leapfrog join).
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.row_bitset import bits_of
from gquery.executor.cpu.kernels.sorted_rows import contains, first_from, has_bit, lower_bound, next_bit, rank, row
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import load_int32, load_int64
from gquery.executor.cpu.search.packed import (
    ABSENT_BEGIN,
    ABSENT_END,
    BACKWARD_BEGIN,
    BACKWARD_END,
    COMPARE_BEGIN,
    COMPARE_END,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    EQUAL,
    FIRST,
    LEFT,
    LEFT_RANKS,
    LESS,
    LEVEL,
    NEIGHBOURS,
    NOT_EQUAL,
    OFFSETS,
    OPERATOR,
    PAIRS_BEGIN,
    PAIRS_END,
    RANKS,
    RIGHT,
    RIGHT_RANKS,
    ROWS,
    SIMPLE,
    SIZE,
    SMALLER_BEGIN,
    SMALLER_END,
    TESTED,
    VERTICES,
    WORDS,
    A,
    B,
    C,
    D,
)
from gquery.executor.lowering.program import NULL_RANK


@inlined
def vertex_at(steps, level, position):  # type: ignore[no-untyped-def]
    """The vertex of a position."""
    address = steps[level, VERTICES]
    return load_int32(address, np.int64(position)) if address != 0 else np.int32(position)


@inlined
def position_of(steps, level, vertex):  # type: ignore[no-untyped-def]
    """The position of a vertex at a level, -1 when it is no candidate."""
    position = np.int64(vertex)
    if steps[level, WORDS] != 0 and not has_bit(steps[level, WORDS], vertex):
        position = np.int64(-1)
    elif steps[level, VERTICES] != 0:
        position = rank(steps[level, WORDS], steps[level, RANKS], vertex)
    return position


@inlined
def floor_of(tables, walk, level):  # type: ignore[no-untyped-def]
    """The first position that a level may take: its vertex id is above those of all levels that must be smaller."""
    steps = tables.steps
    floor = np.int64(steps[level, CUT_BEGIN])
    for index in range(steps[level, SMALLER_BEGIN], steps[level, SMALLER_END]):
        above = np.int64(walk.vertices[tables.smaller[index]]) + 1
        if steps[level, VERTICES] != 0:
            above = rank(steps[level, WORDS], steps[level, RANKS], above)
        floor = max(floor, above)
    return floor


@inlined
def open_level(tables, walk, level):  # type: ignore[no-untyped-def]
    """Points the cursors of a level at the rows of its backward neighbours and picks the shortest as pivot."""
    steps, backward = tables.steps, tables.backward
    begins, cursors, ends = walk.begins, walk.cursors, walk.ends
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    floor = floor_of(tables, walk, level)
    walk.last[level] = floor - 1
    shortest = np.int64(-1)
    for index in range(begin, end):
        position = walk.positions[backward[index, LEVEL]]
        low, high = row(backward[index, OFFSETS], backward[index, FIRST], backward[index, ROWS], position)
        begins[index] = low
        cursors[index] = low
        ends[index] = high
        walk.bitsets[index] = 0
        if shortest < 0 or high - low < shortest:
            shortest = high - low
            walk.pivots[level] = index
    if begin == end:
        return
    pivot = walk.pivots[level]
    if floor > 0:
        low = first_from(backward[pivot, NEIGHBOURS], begins[pivot], ends[pivot], floor)
        begins[pivot] = low
        cursors[pivot] = low
    if steps[level, CUT_END] > 0:
        ends[pivot] = first_from(backward[pivot, NEIGHBOURS], begins[pivot], ends[pivot], steps[level, CUT_END])
    for index in range(begin, end):
        if index != pivot and shortest > 0:
            position = np.int64(walk.positions[backward[index, LEVEL]])
            length = ends[index] - begins[index]
            walk.bitsets[index] = bits_of(walk, backward[index], position, length, shortest)


@inlined
def next_common(tables, walk, level):  # type: ignore[no-untyped-def]
    """The next position in every row of the level, or -1."""
    steps, backward = tables.steps, tables.backward
    cursors, ends, bitsets, last = walk.cursors, walk.ends, walk.bitsets, walk.last
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    if begin == end:
        position = np.int64(last[level] + 1)
        if steps[level, VERTICES] == 0 and steps[level, WORDS] != 0:
            position = next_bit(steps[level, WORDS], position, steps[level, SIZE])
        if position >= steps[level, SIZE]:
            return np.int64(-1)
        last[level] = position
        return np.int64(position)
    pivot = walk.pivots[level]
    values = backward[pivot, NEIGHBOURS]
    cursor, stop = cursors[pivot], ends[pivot]
    if end - begin == 1 and steps[level, SIMPLE] == 1:
        if cursor == stop:
            return np.int64(-1)
        cursors[pivot] = cursor + 1
        return np.int64(load_int32(values, cursor))
    while cursor < stop:
        position = load_int32(values, cursor)
        if position == last[level]:  # a parallel edge: the embedding is the same
            cursor += 1
            continue
        common = True
        for index in range(begin, end):
            if index == pivot:
                continue
            if bitsets[index] != 0:
                if not has_bit(bitsets[index], position):
                    cursor += 1
                    common = False
                    break
                continue
            found = lower_bound(backward[index, NEIGHBOURS], cursors[index], ends[index], position)
            cursors[index] = found
            if found == ends[index]:
                cursors[pivot] = stop
                return np.int64(-1)
            other = load_int32(backward[index, NEIGHBOURS], found)
            if other != position:
                cursor = lower_bound(values, cursor + 1, stop, other)
                common = False
                break
        if common:
            cursors[pivot] = cursor + 1
            last[level] = position
            return np.int64(position)
    cursors[pivot] = cursor
    return np.int64(-1)


@inlined
def accepts(tables, walk, level, position, vertex):  # type: ignore[no-untyped-def]
    """Everything but the backward rows: membership, injectivity, edge collisions, comparisons, non-edges. The levels
    that must be smaller were minded when the level was opened."""
    steps = tables.steps
    if steps[level, VERTICES] == 0 and steps[level, WORDS] != 0 and not has_bit(steps[level, WORDS], vertex):
        return False
    walk.vertices[level] = vertex
    walk.positions[level] = position
    if steps[level, TESTED] == 0:
        return True
    for index in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        if walk.vertices[tables.different[index]] == vertex:
            return False
    return steps[level, TESTED] == 1 or passes(tables, walk, level)


@inner
def passes(tables, walk, level):  # type: ignore[no-untyped-def]
    """The rarer tests on a level that was just matched: edge collisions, comparisons, non-edges."""
    steps, pairs, compare, absent = tables.steps, tables.pairs, tables.compare, tables.absent
    positions, vertices = walk.positions, walk.vertices
    vertex = vertices[level]
    for index in range(steps[level, PAIRS_BEGIN], steps[level, PAIRS_END]):
        if (
            vertices[pairs[index, A]] == vertices[pairs[index, B]]
            and vertices[pairs[index, C]] == vertices[pairs[index, D]]
        ):
            return False
    for index in range(steps[level, COMPARE_BEGIN], steps[level, COMPARE_END]):
        left = load_int64(compare[index, LEFT_RANKS], np.int64(positions[compare[index, LEFT]]))
        right = load_int64(compare[index, RIGHT_RANKS], np.int64(positions[compare[index, RIGHT]]))
        if not holds(compare[index, OPERATOR], left, right):
            return False
    for index in range(steps[level, ABSENT_BEGIN], steps[level, ABSENT_END]):
        other = np.int64(vertices[absent[index, LEVEL]])
        low, high = row(absent[index, OFFSETS], absent[index, FIRST], absent[index, ROWS], other)
        bits = bits_of(walk, absent[index], other, high - low, np.int64(1))
        if bits != 0:
            if has_bit(bits, vertex):
                return False
        elif contains(absent[index, NEIGHBOURS], low, high, vertex):
            return False
    return True


@inlined
def holds(operator, left, right):  # type: ignore[no-untyped-def]
    """Whether a comparison of two ranks holds."""
    if operator == EQUAL:
        found = left == right
    elif operator == NOT_EQUAL:
        found = left != right
    elif operator == LESS:
        found = left < right
    else:
        found = left <= right
    return found & (left != NULL_RANK) & (right != NULL_RANK)

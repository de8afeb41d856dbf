"""The one enumeration kernel: depth-first search over the levels of a vertex group, in slices.

`extend` takes partial matches of the levels before `start`, matches the levels `start .. stop - 1` and writes what it
finds, or counts it. It returns after a bounded number of looks at neighbours, or when the output is full; everything
it needs to go on is in `state` and `cursors`, so the caller can check for cancellation, drain the output, or give half
of the remaining input away between two slices.

A level's candidates are the intersection of the rows of its backward neighbours. Rows are sorted, so the shortest is
walked and the others are galloped through in step (a leapfrog join): no buffer is needed, whatever the degree.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from gquery.executor.cpu.choices import count_choices
from gquery.executor.cpu.lookup import contains, has_bit, lower_bound, rank, row
from gquery.executor.cpu.native import load_int32, load_int64
from gquery.executor.packed import (
    ABSENT_BEGIN,
    ABSENT_END,
    BACKWARD_BEGIN,
    BACKWARD_END,
    COMPARE_BEGIN,
    COMPARE_END,
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
    NULL_RANK,
    OFFSETS,
    OPERATOR,
    PAIRS_BEGIN,
    PAIRS_END,
    RANKS,
    RIGHT,
    RIGHT_RANKS,
    ROWS,
    SET_COUNT,
    SIMPLE,
    SIZE,
    VERTICES,
    WORDS,
    A,
    B,
    C,
    D,
)

# Slots of `state`, int64[STATE_SLOTS + width]; the tail counts the matches found at each level.
ROW, ROW_END, DEPTH, MADE, STATUS, TOTAL, STATE_SLOTS = 0, 1, 2, 3, 4, 5, 6
DONE, MORE, FULL = 0, 1, 2  # values of STATUS: input used up; slice over; output full


@njit(nogil=True, cache=True)
def open_level(steps, backward, level, positions, begins, cursors, ends, pivots, last):  # type: ignore[no-untyped-def]
    """Points the cursors of a level at the rows of its backward neighbours and picks the shortest as pivot."""
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    last[level] = -1
    shortest = np.int64(-1)
    for index in range(begin, end):
        low, high = row(
            backward[index, OFFSETS], backward[index, FIRST], backward[index, ROWS], positions[backward[index, LEVEL]]
        )
        begins[index] = low
        cursors[index] = low
        ends[index] = high
        if shortest < 0 or high - low < shortest:
            shortest = high - low
            pivots[level] = index


@njit(nogil=True, cache=True)
def next_common(steps, backward, level, cursors, ends, pivots, last):  # type: ignore[no-untyped-def]
    """The next position in every row of the level, or -1."""
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    if begin == end:
        position = last[level] + 1
        if position >= steps[level, SIZE]:
            return np.int64(-1)
        last[level] = position
        return np.int64(position)
    pivot = pivots[level]
    values = backward[pivot, NEIGHBOURS]
    cursor, stop = cursors[pivot], ends[pivot]
    while cursor < stop:
        position = load_int32(values, cursor)
        if position == last[level]:  # a parallel edge: the embedding is the same
            cursor += 1
            continue
        common = True
        for index in range(begin, end):
            if index == pivot:
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


@njit(nogil=True, cache=True)
def accepts(  # type: ignore[no-untyped-def]
    steps, different, pairs, compare, absent, level, position, vertex, positions, vertices
):
    """Everything but the backward rows: membership, injectivity, edge collisions, comparisons, non-edges."""
    step = steps[level]
    if step[VERTICES] == 0 and step[WORDS] != 0 and not has_bit(step[WORDS], vertex):
        return False
    for index in range(step[DIFFERENT_BEGIN], step[DIFFERENT_END]):
        if vertices[different[index]] == vertex:
            return False
    vertices[level] = vertex
    positions[level] = position
    for index in range(step[PAIRS_BEGIN], step[PAIRS_END]):
        pair = pairs[index]
        if vertices[pair[A]] == vertices[pair[B]] and vertices[pair[C]] == vertices[pair[D]]:
            return False
    for index in range(step[COMPARE_BEGIN], step[COMPARE_END]):
        test = compare[index]
        left = load_int64(test[LEFT_RANKS], np.int64(positions[test[LEFT]]))
        right = load_int64(test[RIGHT_RANKS], np.int64(positions[test[RIGHT]]))
        if left == NULL_RANK or right == NULL_RANK:
            return False
        operator = test[OPERATOR]
        if operator == EQUAL:
            holds = left == right
        elif operator == NOT_EQUAL:
            holds = left != right
        elif operator == LESS:
            holds = left < right
        else:
            holds = left <= right
        if not holds:
            return False
    for index in range(step[ABSENT_BEGIN], step[ABSENT_END]):
        edge = absent[index]
        low, high = row(edge[OFFSETS], edge[FIRST], edge[ROWS], vertices[edge[LEVEL]])
        if contains(edge[NEIGHBOURS], low, high, vertex):
            return False
    return True


@njit(nogil=True, cache=True)
def count_level(  # type: ignore[no-untyped-def]
    steps, backward, different, level, vertices, begins, cursors, ends, pivots, last
):
    """Matches of the last level by set size: the rows' intersection less the vertices matched already.

    Returns the count and the number of neighbours looked at.
    """
    step = steps[level]
    begin, end = step[BACKWARD_BEGIN], step[BACKWARD_END]
    masked = step[VERTICES] == 0 and step[WORDS] != 0
    pivot = pivots[level]
    low, high = cursors[pivot], ends[pivot]
    looks = high - low + 1
    count = np.int64(0)
    if end - begin == 1 and not masked and step[SIMPLE] == 1:
        count = high - low
        looks = np.int64(1)
        if count == 0:
            return count, looks
    else:
        while True:
            position = next_common(steps, backward, level, cursors, ends, pivots, last)
            if position < 0:
                break
            if not masked or has_bit(step[WORDS], position):
                count += 1
        if count == 0:
            return count, looks
    for index in range(step[DIFFERENT_BEGIN], step[DIFFERENT_END]):
        vertex = vertices[different[index]]
        repeated = False
        for earlier in range(step[DIFFERENT_BEGIN], index):
            repeated |= vertices[different[earlier]] == vertex
        if repeated or (step[WORDS] != 0 and not has_bit(step[WORDS], vertex)):
            continue
        position = np.int64(vertex)
        if step[VERTICES] != 0:
            position = rank(step[WORDS], step[RANKS], vertex)
        inside = True
        for other in range(begin, end):
            inside = inside and contains(backward[other, NEIGHBOURS], begins[other], ends[other], position)
        count -= inside
    return count, looks


@njit(nogil=True, cache=True)
def extend(  # type: ignore[no-untyped-def]
    steps,
    backward,
    different,
    pairs,
    compare,
    absent,
    choices,
    collides,
    start,
    stop,
    counting,
    budget,
    given,
    output,
    state,
    positions,
    vertices,
    begins,
    cursors,
    ends,
    pivots,
    last,
    scratch,
):
    """One slice. given, output: positions int32[width, capacity], column-major; see the module's docstring."""
    level = state[DEPTH]
    made = state[MADE]
    total = np.int64(0)
    status = MORE
    capacity = output.shape[1]
    while budget > 0:
        if level < start:
            if state[ROW] >= state[ROW_END]:
                status = DONE
                break
            for column in range(start):
                position = given[column, state[ROW]]
                positions[column] = position
                address = steps[column, VERTICES]
                vertices[column] = load_int32(address, np.int64(position)) if address != 0 else position
            state[ROW] += 1
            level = start
            open_level(steps, backward, level, positions, begins, cursors, ends, pivots, last)
        if level == stop - 1:
            if counting and steps[level, SET_COUNT] == 1:
                found, looks = count_level(
                    steps, backward, different, level, vertices, begins, cursors, ends, pivots, last
                )
                total += found
                budget -= looks
                level -= 1
                continue
            if made == capacity and not counting:
                status = FULL
                break
        budget -= 1
        position = next_common(steps, backward, level, cursors, ends, pivots, last)
        if position < 0:
            level -= 1
            continue
        address = steps[level, VERTICES]
        vertex = load_int32(address, position) if address != 0 else np.int32(position)
        if not accepts(steps, different, pairs, compare, absent, level, position, vertex, positions, vertices):
            continue
        positions[level] = position
        vertices[level] = vertex
        state[STATE_SLOTS + level] += 1
        if level < stop - 1:
            level += 1
            open_level(steps, backward, level, positions, begins, cursors, ends, pivots, last)
        elif not counting:
            for column in range(stop):
                output[column, made] = positions[column]
            made += 1
        elif len(choices) == 0:
            total += 1
        else:
            total += count_choices(choices, collides, positions, scratch)
    state[DEPTH] = level
    state[MADE] = made
    state[STATUS] = status
    state[TOTAL] = total

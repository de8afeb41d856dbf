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

from gquery.executor.cpu.choices import count_choices
from gquery.executor.cpu.compile import inlined, kernel
from gquery.executor.cpu.lookup import contains, count_common, has_bit, lower_bound, rank, row
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


@inlined
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


@inlined
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


@inlined
def accepts(  # type: ignore[no-untyped-def]
    steps, different, pairs, compare, absent, level, position, vertex, positions, vertices
):
    """Everything but the backward rows: membership, injectivity, edge collisions, comparisons, non-edges."""
    if steps[level, VERTICES] == 0 and steps[level, WORDS] != 0 and not has_bit(steps[level, WORDS], vertex):
        return False
    for index in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        if vertices[different[index]] == vertex:
            return False
    vertices[level] = vertex
    positions[level] = position
    for index in range(steps[level, PAIRS_BEGIN], steps[level, PAIRS_END]):
        if (
            vertices[pairs[index, A]] == vertices[pairs[index, B]]
            and vertices[pairs[index, C]] == vertices[pairs[index, D]]
        ):
            return False
    for index in range(steps[level, COMPARE_BEGIN], steps[level, COMPARE_END]):
        left = load_int64(compare[index, LEFT_RANKS], np.int64(positions[compare[index, LEFT]]))
        right = load_int64(compare[index, RIGHT_RANKS], np.int64(positions[compare[index, RIGHT]]))
        if left == NULL_RANK or right == NULL_RANK:
            return False
        operator = compare[index, OPERATOR]
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
    for index in range(steps[level, ABSENT_BEGIN], steps[level, ABSENT_END]):
        low, high = row(
            absent[index, OFFSETS], absent[index, FIRST], absent[index, ROWS], vertices[absent[index, LEVEL]]
        )
        if contains(absent[index, NEIGHBOURS], low, high, vertex):
            return False
    return True


@inlined
def count_two(backward, begin, positions, cursors, ends, words, marks, marked):  # type: ignore[no-untyped-def]
    """Size of the intersection of two rows, `begin` and `begin + 1` of `backward`.

    The row of the shallower level stays while the deeper one changes, so from its second use on it is kept as marks:
    then every look at the other row is one bit test. marked: the position whose row is marked, the one seen last.
    """
    shallow, deep = begin, begin + 1
    if backward[shallow, LEVEL] > backward[deep, LEVEL]:
        shallow, deep = deep, shallow
    kept, walked = backward[shallow, NEIGHBOURS], backward[deep, NEIGHBOURS]
    low, high = cursors[shallow], ends[shallow]
    other_low, other_high = cursors[deep], ends[deep]
    position = np.int64(positions[backward[shallow, LEVEL]])
    if (high - low) * 8 < other_high - other_low:
        return count_common(kept, low, high, walked, other_low, other_high, words)
    if marked[0] != position:
        if marked[1] != position:
            marked[1] = position
            if other_high - other_low < high - low:
                return count_common(walked, other_low, other_high, kept, low, high, words)
            return count_common(kept, low, high, walked, other_low, other_high, words)
        if marked[0] >= 0:
            old_low, old_high = row(
                backward[shallow, OFFSETS], backward[shallow, FIRST], backward[shallow, ROWS], marked[0]
            )
            for index in range(old_low, old_high):
                marks[load_int32(kept, index) >> 6] = 0
        for index in range(low, high):
            neighbour = load_int32(kept, index)
            marks[neighbour >> 6] |= np.uint64(1) << np.uint64(neighbour & 63)
        marked[0] = position
    count = np.int64(0)
    for index in range(other_low, other_high):
        neighbour = load_int32(walked, index)
        if (marks[neighbour >> 6] >> np.uint64(neighbour & 63)) & np.uint64(1) != np.uint64(0):
            count += words == 0 or has_bit(words, neighbour)
    return count


@inlined
def count_level(  # type: ignore[no-untyped-def]
    steps, backward, different, level, positions, vertices, begins, cursors, ends, pivots, last, marks, marked
):
    """Matches of the last level by set size: the rows' intersection less the vertices matched already.

    Returns the count and the number of neighbours looked at.
    """
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    masked = steps[level, VERTICES] == 0 and steps[level, WORDS] != 0
    pivot = pivots[level]
    low, high = cursors[pivot], ends[pivot]
    looks = high - low + 1
    count = np.int64(0)
    if end - begin == 1 and not masked and steps[level, SIMPLE] == 1:
        count = high - low
        looks = np.int64(1)
        if count == 0:
            return count, looks
    elif end - begin == 2 and steps[level, SIMPLE] == 1:
        words = steps[level, WORDS] if masked else np.int64(0)
        count = count_two(backward, begin, positions, cursors, ends, words, marks, marked)
        if count == 0:
            return count, looks
    else:
        while True:
            position = next_common(steps, backward, level, cursors, ends, pivots, last)
            if position < 0:
                break
            if not masked or has_bit(steps[level, WORDS], position):
                count += 1
        if count == 0:
            return count, looks
    for index in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        vertex = vertices[different[index]]
        repeated = False
        for earlier in range(steps[level, DIFFERENT_BEGIN], index):
            repeated |= vertices[different[earlier]] == vertex
        if repeated or (steps[level, WORDS] != 0 and not has_bit(steps[level, WORDS], vertex)):
            continue
        position = np.int64(vertex)
        if steps[level, VERTICES] != 0:
            position = rank(steps[level, WORDS], steps[level, RANKS], vertex)
        inside = True
        for other in range(begin, end):
            inside = inside and contains(backward[other, NEIGHBOURS], begins[other], ends[other], position)
        count -= inside
    return count, looks


@kernel
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
    marks,
    marked,
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
                    steps,
                    backward,
                    different,
                    level,
                    positions,
                    vertices,
                    begins,
                    cursors,
                    ends,
                    pivots,
                    last,
                    marks,
                    marked,
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

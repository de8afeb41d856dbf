"""How many candidates a leaf of a sum has, where nobody needs to know which: the size of an intersection, less those
that a test leaves out.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.intersect import holds, next_common, open_level, position_of
from gquery.executor.cpu.kernels.row_bitset import bits_of
from gquery.executor.cpu.kernels.sorted_rows import contains, count_common, has_bit, lower_bound, row
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import load_int32, load_int64
from gquery.executor.cpu.search.packed import (
    ABSENT_BEGIN,
    ABSENT_END,
    BACKWARD_BEGIN,
    BACKWARD_END,
    COMPARE_BEGIN,
    COMPARE_END,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    EQUAL,
    FIRST,
    LEFT,
    LEFT_RANKS,
    LENGTH,
    LESS,
    LEVEL,
    LIKE,
    MINUS,
    NEIGHBOURS,
    NOT_EQUAL,
    OFFSETS,
    OPERATOR,
    RIGHT,
    RIGHT_RANKS,
    ROWS,
    SIMPLE,
    VERTICES,
    WORDS,
)
from gquery.executor.lowering.program import NULL_RANK


@inlined
def common_size(  # type: ignore[no-untyped-def]
    values, low, high, bits, others, other_low, other_high, words
):
    """Size of the intersection of two rows without repeats and of the bitset at `words`. bits: the other row as a
    bitset, 0 when it is not written."""
    count = np.int64(0)
    if bits == 0:
        count = count_common(values, low, high, others, other_low, other_high, words)
    elif words == 0:  # additions instead of branches: which neighbours are common cannot be predicted
        for index in range(low, high):
            count += has_bit(bits, load_int32(values, index))
    else:
        for index in range(low, high):
            neighbour = load_int32(values, index)
            count += has_bit(bits, neighbour) & has_bit(words, neighbour)
    return count


@inlined
def is_passed(tables, walk, level, position):  # type: ignore[no-untyped-def]
    """Whether all comparisons of a leaf hold for a candidate."""
    steps, compare = tables.steps, tables.compare
    passed = True
    for index in range(steps[level, COMPARE_BEGIN], steps[level, COMPARE_END]):
        own_left = compare[index, LEFT] == level
        left = position if own_left else np.int64(walk.positions[compare[index, LEFT]])
        right = np.int64(walk.positions[compare[index, RIGHT]]) if own_left else position
        left, right = load_int64(compare[index, LEFT_RANKS], left), load_int64(compare[index, RIGHT_RANKS], right)
        passed = passed and holds(compare[index, OPERATOR], left, right)
    return passed


@inlined
def passing(operator, own_left, other):  # type: ignore[no-untyped-def]
    """The ranks for which a comparison with another one holds: from the first on to the second, but for the third."""
    low, high, but = np.int64(NULL_RANK + 1), np.int64(2**63 - 1), np.int64(NULL_RANK)
    if other == NULL_RANK or (operator == LESS and not own_left and other == high):
        high = np.int64(NULL_RANK)
    elif operator == EQUAL:
        low = high = other
    elif operator == NOT_EQUAL:
        but = other
    elif own_left:
        high = other - (operator == LESS)
    else:
        low = other + (operator == LESS)
    return low, high, but


@inlined
def passing_here(tables, walk, level, index):  # type: ignore[no-untyped-def]
    """Where the ranks of a leaf's candidates are that a comparison asks for, and which of them it holds for: the other
    rank is looked up once for all."""
    compare = tables.compare
    own_left = compare[index, LEFT] == level
    own = compare[index, LEFT_RANKS] if own_left else compare[index, RIGHT_RANKS]
    others = compare[index, RIGHT_RANKS] if own_left else compare[index, LEFT_RANKS]
    other = load_int64(others, np.int64(walk.positions[compare[index, RIGHT] if own_left else compare[index, LEFT]]))
    low, high, but = passing(compare[index, OPERATOR], own_left, other)
    return own, low, high, but


@inner
def passed_size(tables, walk, level, words):  # type: ignore[no-untyped-def]
    """How many of the candidates of a leaf that has been opened pass its comparisons, of which there are seldom more
    than two: something is later, and not much later."""
    steps, backward = tables.steps, tables.backward
    begin, first = steps[level, BACKWARD_BEGIN], steps[level, COMPARE_BEGIN]
    comparisons = steps[level, COMPARE_END] - first
    count = np.int64(0)
    alone = steps[level, BACKWARD_END] - begin == 1 and comparisons <= 2
    if not alone or words != 0 or steps[level, SIMPLE] == 0:
        while True:
            position = next_common(tables, walk, level)
            if position < 0:
                return count
            count += (words == 0 or has_bit(words, position)) and is_passed(tables, walk, level, position)
    values = backward[begin, NEIGHBOURS]
    own, low, high, but = passing_here(tables, walk, level, first)
    if comparisons == 1:
        for index in range(walk.cursors[begin], walk.ends[begin]):
            rank_here = load_int64(own, np.int64(load_int32(values, index)))
            count += (rank_here >= low) & (rank_here <= high) & (rank_here != but)
        return count
    others, least, most, none = passing_here(tables, walk, level, first + 1)
    for index in range(walk.cursors[begin], walk.ends[begin]):
        candidate = np.int64(load_int32(values, index))
        rank_here, other = load_int64(own, candidate), load_int64(others, candidate)
        passed = (rank_here >= low) & (rank_here <= high) & (rank_here != but)
        count += passed & (other >= least) & (other <= most) & (other != none)
    return count


@inlined
def taken_size(tables, walk, level, floor, words):  # type: ignore[no-untyped-def]
    """How many of a leaf's candidates from the position `floor` on are in the row that it must miss or matched already,
    and the looks. There is at most one such row, of a level with one row, where positions are vertices."""
    steps, backward, absent, begins, ends = tables.steps, tables.backward, tables.absent, walk.begins, walk.ends
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    missed = steps[level, ABSENT_BEGIN]
    missing = missed < steps[level, ABSENT_END]
    taken, looks = np.int64(0), np.int64(0)
    low, high = np.int64(0), np.int64(0)
    if missing:
        own, own_low, own_high = backward[begin, NEIGHBOURS], begins[begin], ends[begin]
        length = own_high - own_low
        others, position = absent[missed, NEIGHBOURS], np.int64(walk.vertices[absent[missed, LEVEL]])
        low, high = row(absent[missed, OFFSETS], absent[missed, FIRST], absent[missed, ROWS], position)
        bits = bits_of(walk, absent[missed], position, high - low, length)
        low = lower_bound(others, low, high, floor)
        if steps[level, CUT_END] > 0:
            high = lower_bound(others, low, high, steps[level, CUT_END])
        if bits == 0 and high - low < length:
            taken = common_size(others, low, high, bits, own, own_low, own_high, words)
        else:
            taken = common_size(own, own_low, own_high, bits, others, low, high, words)
        looks = min(high - low, length)
    for index in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        vertex = walk.vertices[tables.different[index]]
        repeated = False
        for earlier in range(steps[level, DIFFERENT_BEGIN], index):
            repeated |= walk.vertices[tables.different[earlier]] == vertex
        position = position_of(steps, level, vertex)
        inside = not repeated and position >= floor
        for place in range(begin, end):
            inside = inside and contains(backward[place, NEIGHBOURS], begins[place], ends[place], position)
        if missing and inside:
            inside = not contains(absent[missed, NEIGHBOURS], low, high, position)
        taken += inside and is_passed(tables, walk, level, position)
    return taken, looks


@inlined
def set_size(tables, walk, level):  # type: ignore[no-untyped-def]
    """Matches of a leaf by set size: the rows' intersection less the rows that must be missed, what comparisons leave
    out and the vertices matched already, looked for or known to be there. Returns the size and the number of neighbours
    looked at. `last` of the level is then the size before what is known is taken away, for the other leaves that have
    the same set."""
    steps, backward, cursors, ends = tables.steps, tables.backward, walk.cursors, walk.ends
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    open_level(tables, walk, level)
    words = steps[level, WORDS] if steps[level, VERTICES] == 0 else np.int64(0)
    pivot = walk.pivots[level]
    floor = np.int64(walk.last[level]) + 1
    looks = ends[pivot] - cursors[pivot] + 1
    count = np.int64(0)
    if steps[level, COMPARE_BEGIN] < steps[level, COMPARE_END]:
        count = passed_size(tables, walk, level, words)
    elif end - begin == 2 and steps[level, SIMPLE] == 1:
        other = begin + end - 1 - pivot
        count = common_size(
            backward[pivot, NEIGHBOURS],
            cursors[pivot],
            ends[pivot],
            walk.bitsets[other],
            backward[other, NEIGHBOURS],
            walk.begins[other],
            ends[other],
            words,
        )
    elif end - begin == 1 and words == 0 and steps[level, SIMPLE] == 1:
        count = ends[pivot] - cursors[pivot]
    else:
        while True:
            position = next_common(tables, walk, level)
            if position < 0:
                break
            if words == 0 or has_bit(words, position):
                count += 1
    if count > 0:
        taken, more = taken_size(tables, walk, level, floor, words)
        count -= taken
        looks += more
    walk.last[level] = count
    count -= min(count, steps[level, MINUS])
    return count, looks


@inlined
def leaf_size(tables, walk, level):  # type: ignore[no-untyped-def]
    """The same as `set_size`, without a call where the size is the length of the one row or known already."""
    steps, backward = tables.steps, tables.backward
    size, looks = np.int64(0), np.int64(1)
    if steps[level, LIKE] >= 0:
        size = max(walk.last[steps[level, LIKE]] - steps[level, MINUS], np.int64(0))
    elif steps[level, LENGTH] == 1:
        only = steps[level, BACKWARD_BEGIN]
        position = walk.positions[backward[only, LEVEL]]
        low, high = row(backward[only, OFFSETS], backward[only, FIRST], backward[only, ROWS], position)
        walk.last[level] = high - low
        size = max(high - low - steps[level, MINUS], np.int64(0))
    else:
        size, looks = set_size(tables, walk, level)
    return size, looks

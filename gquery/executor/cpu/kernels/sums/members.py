"""The members that levels can have inside the neighbourhood of a root, where those above them are matched."""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sums.neighbourhood import row_inside
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import count_bits
from gquery.executor.cpu.search.packed import (
    AMONG,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTORS,
    LEVEL,
    LIKE,
    MINUS,
    SMALLER_BEGIN,
    SMALLER_END,
)

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def row_at(tables, walk, inside, index):  # type: ignore[no-untyped-def]
    """Where the bits of a row of `backward` begin."""
    adjacency = tables.backward[index]
    return row_inside(inside, adjacency[AMONG], np.int64(walk.positions[adjacency[LEVEL]]))


@inlined
def floor_inside(tables, walk, level):  # type: ignore[no-untyped-def]
    """The first member that a level may take. That all are above the root, if they must be, the masks know."""
    floor = np.int64(0)
    for index in range(tables.steps[level, SMALLER_BEGIN], tables.steps[level, SMALLER_END]):
        if tables.smaller[index] > 0:
            floor = max(floor, np.int64(walk.positions[tables.smaller[index]]) + 1)
    return floor


@inlined
def is_leaf(steps, level):  # type: ignore[no-untyped-def]
    """Whether the sum of a level is the size of a set: there is nothing below, and nothing folded into it."""
    return steps[level, CHILD] < 0 and steps[level, FACTORS] == 0


@inner
def size_inside(tables, walk, inside, level):  # type: ignore[no-untyped-def]
    """Matches of a leaf."""
    steps, backward, bits = tables.steps, tables.backward, inside.bits
    if steps[level, LIKE] >= 0:
        return max(walk.last[steps[level, LIKE]] - steps[level, MINUS], np.int64(0))
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    mask = (inside.width + level) * inside.words
    floor = floor_inside(tables, walk, level)
    first = floor >> 6
    one = other = mask
    rows = 0
    for index in range(begin, end):
        if backward[index, AMONG] >= 0:
            rows += 1
            other = row_at(tables, walk, inside, index)
            if rows == 1:
                one = other
    count = np.int64(0)
    if first < inside.words:
        below = (_ONE << np.uint64(floor & 63)) - _ONE
        if rows <= 2:
            for word in range(first, inside.words):
                count += count_bits(bits[mask + word] & bits[one + word] & bits[other + word])  # type: ignore[call-arg]
            count -= count_bits(bits[mask + first] & bits[one + first] & bits[other + first] & below)  # type: ignore[call-arg]
        else:
            for word in range(first, inside.words):
                common = bits[mask + word]
                for index in range(begin, end):
                    if backward[index, AMONG] >= 0:
                        common &= bits[row_at(tables, walk, inside, index) + word]
                if word == first:
                    common &= ~below
                count += count_bits(common)  # type: ignore[call-arg]
    for place in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        member = np.int64(walk.positions[tables.different[place]])
        taken = member >= floor and bit_at(inside, mask, member)
        for earlier in range(steps[level, DIFFERENT_BEGIN], place):
            taken &= walk.positions[tables.different[earlier]] != member
        for index in range(begin, end):
            if taken and backward[index, AMONG] >= 0:
                taken = bit_at(inside, row_at(tables, walk, inside, index), member)
        count -= taken
    walk.last[level] = count
    return max(count - steps[level, MINUS], np.int64(0))


@inlined
def bit_at(inside, begin, member):  # type: ignore[no-untyped-def]
    return (inside.bits[begin + (member >> 6)] >> np.uint64(member & 63)) & _ONE != 0


@inner
def open_inside(tables, walk, inside, level, without):  # type: ignore[no-untyped-def]
    """Writes the candidates of a level that is gone through. without: a level of which nothing is asked."""
    steps, backward, bits = tables.steps, tables.backward, inside.bits
    begin, mask = level * inside.words, (inside.width + level) * inside.words
    floor = floor_inside(tables, walk, level)
    first = floor >> 6
    for word in range(first, inside.words):
        bits[begin + word] = bits[mask + word]
    for index in range(steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]):
        if backward[index, AMONG] >= 0 and backward[index, LEVEL] != without:
            other = row_at(tables, walk, inside, index)
            for word in range(first, inside.words):
                bits[begin + word] &= bits[other + word]
    if first < inside.words:
        bits[begin + first] &= _ALL << np.uint64(floor & 63)
    for index in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        member = np.int64(walk.positions[tables.different[index]])
        if member >= 0 and tables.different[index] != without:
            bits[begin + (member >> 6)] &= ~(_ONE << np.uint64(member & 63))
    walk.pivots[level] = first


@inlined
def next_inside(walk, inside, level):  # type: ignore[no-untyped-def]
    """Takes the next candidate of a level that is gone through; -1 when there is none."""
    begin, word = level * inside.words, walk.pivots[level]
    while word < inside.words and inside.bits[begin + word] == 0:
        word += 1
    walk.pivots[level] = word
    member = np.int64(-1)
    if word < inside.words:
        left = inside.bits[begin + word]
        inside.bits[begin + word] = left & (left - _ONE)
        member = (word << 6) + count_bits((left & (~left + _ONE)) - _ONE)  # type: ignore[call-arg]
    return member

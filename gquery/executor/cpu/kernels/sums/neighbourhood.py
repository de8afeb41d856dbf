"""The neighbourhood of a root, written small.

The neighbours of one root are few. They are numbered anew, in their order, and the edges among them written as bitsets
of these numbers, so that a row is a few words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.intersect import position_of
from gquery.executor.cpu.kernels.sorted_rows import contains, lower_bound, row
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import load_int32
from gquery.executor.cpu.search.packed import (
    AMONG,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CUT_BEGIN,
    CUT_END,
    FIRST,
    FROM_ROOT,
    NEIGHBOURS,
    OFFSETS,
    PLANES,
    ROWS,
    SMALLER_BEGIN,
    SMALLER_END,
    InsideRoom,
)

_ONE = np.uint64(1)
_LONG = 16  # times as long as there are members: the members are looked for in such a row


class Room(NamedTuple):
    """Where the neighbourhood of one root after the other is written, by one worker: members int32[*]; place
    int32[universe], -1 between two roots; bits uint64[*]."""

    members: NDArray[np.int32]
    place: NDArray[np.int32]
    bits: NDArray[np.uint64]


def new_room(room: InsideRoom) -> Room:
    """Room for so many."""
    place = np.full(room.universe, -1, np.int32)
    return Room(np.zeros(room.members, np.int32), place, np.zeros(room.words, np.uint64))


class Inside(NamedTuple):
    """The neighbourhood of one root. members: its vertices, ascending; place: the number of each, -1 for all others;
    bits: for each level the candidates that are left, then all that it can have, then planes of numbers, then the rows
    of each kind of edges by member, `words` words each. size: members; width: levels."""

    members: NDArray[np.int32]
    place: NDArray[np.int32]
    bits: NDArray[np.uint64]
    size: int
    words: int
    width: int


@inlined
def row_inside(inside, kind, member):  # type: ignore[no-untyped-def]
    """Where the bits of a member's row of a kind begin."""
    return (2 * inside.width + PLANES + kind * inside.size + member) * inside.words


@inner
def gather(tables, walk, members, place, root, lowest, room):  # type: ignore[no-untyped-def]
    """Numbers the neighbours of a root from `lowest` on; returns how many there are, -1 for more than `room`."""
    backward, cursors, ends = tables.backward, walk.cursors, walk.ends
    for index in range(len(backward)):
        if backward[index, AMONG] == FROM_ROOT:
            low, high = row(backward[index, OFFSETS], backward[index, FIRST], backward[index, ROWS], root)
            cursors[index] = lower_bound(backward[index, NEIGHBOURS], low, high, lowest)
            ends[index] = high
    count = np.int64(0)
    while True:
        least = np.int64(-1)
        for index in range(len(backward)):
            if backward[index, AMONG] == FROM_ROOT and cursors[index] < ends[index]:
                neighbour = np.int64(load_int32(backward[index, NEIGHBOURS], cursors[index]))
                if least < 0 or neighbour < least:
                    least = neighbour
        if least < 0:
            return count
        for index in range(len(backward)):
            if backward[index, AMONG] == FROM_ROOT:
                while cursors[index] < ends[index] and load_int32(backward[index, NEIGHBOURS], cursors[index]) == least:
                    cursors[index] += 1
        if count == room:
            leave(members, place, count)
            return np.int64(-1)
        members[count] = least
        place[least] = count
        count += 1


@inner
def leave(members, place, count):  # type: ignore[no-untyped-def]
    """Forgets the numbers."""
    for index in range(count):
        place[members[index]] = -1


@inner
def write_masks(tables, inside, root):  # type: ignore[no-untyped-def]
    """What each level can have: the members that are candidates, larger than the root if they must be, and in all of
    its rows of the root."""
    steps, backward = tables.steps, tables.backward
    for level in range(1, inside.width):
        begin = (inside.width + level) * inside.words
        for word in range(inside.words):
            inside.bits[begin + word] = 0
        above = np.int64(-1)
        for index in range(steps[level, SMALLER_BEGIN], steps[level, SMALLER_END]):
            if tables.smaller[index] == 0:
                above = root
        for member in range(inside.size if steps[level, BACKWARD_BEGIN] < steps[level, BACKWARD_END] else 0):
            vertex = inside.members[member]
            passes = vertex > above and position_of(steps, level, vertex) >= 0
            if steps[level, CUT_END] > 0:
                passes &= vertex >= steps[level, CUT_BEGIN] and vertex < steps[level, CUT_END]
            for index in range(steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]):
                if passes and backward[index, AMONG] < 0:
                    low, high = row(backward[index, OFFSETS], backward[index, FIRST], backward[index, ROWS], root)
                    passes = contains(backward[index, NEIGHBOURS], low, high, vertex)
            inside.bits[begin + (member >> 6)] |= np.uint64(passes) << np.uint64(member & 63)


@inner
def write_rows(adjacency, inside, number, lowest):  # type: ignore[no-untyped-def]
    """The rows of one kind of edges among the members; returns the looks."""
    members, place, bits, words = inside.members, inside.place, inside.bits, inside.words
    values = adjacency[NEIGHBOURS]
    looks = np.int64(0)
    for member in range(inside.size):
        begin = row_inside(inside, number, member)
        for word in range(words):
            bits[begin + word] = 0
        low, high = row(adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], members[member])
        if lowest > 0:
            low = lower_bound(values, low, high, lowest)
        if high - low > _LONG * inside.size:
            looks += inside.size
            for other in range(inside.size):
                low = lower_bound(values, low, high, members[other])
                if low == high:
                    break
                inside_row = load_int32(values, low) == members[other]
                bits[begin + (other >> 6)] |= np.uint64(inside_row) << np.uint64(other & 63)
        else:
            looks += high - low
            for index in range(low, high):
                found = np.int64(place[load_int32(values, index)])
                if found >= 0:
                    bits[begin + (found >> 6)] |= _ONE << np.uint64(found & 63)
    return looks


@inlined
def is_above_root(tables):  # type: ignore[no-untyped-def]
    """Whether all levels must be larger than the root, be it by way of others."""
    steps = tables.steps
    above = np.int64(1)  # a bit for each such level
    every = True
    for level in range(1, len(steps)):
        if steps[level, BACKWARD_BEGIN] < steps[level, BACKWARD_END]:
            own = np.int64(0)
            for index in range(steps[level, SMALLER_BEGIN], steps[level, SMALLER_END]):
                own |= above >> tables.smaller[index] & 1
            above |= own << level
            every &= own != 0
    return every


@inner
def enter(tables, walk, members, place, bits, root, most, room):  # type: ignore[no-untyped-def]
    """Writes the neighbourhood of a root. Returns how many members it has, -1 when there is no room, and the looks.
    most: members; room: words of `bits`."""
    lowest = np.int64(root) + 1 if is_above_root(tables) else np.int64(0)
    width = len(tables.steps)
    count = gather(tables, walk, members, place, root, lowest, most)
    looks = count + 1
    if count > 0:
        kinds = np.int64(0)
        for index in range(len(tables.backward)):
            kinds = max(kinds, tables.backward[index, AMONG] + 1)
        words = (count + 63) >> 6
        if (2 * width + PLANES + kinds * count) * words > room:
            leave(members, place, count)
            return np.int64(-1), looks
        inside = Inside(members, place, bits, count, words, width)
        write_masks(tables, inside, root)
        for number in range(kinds):
            for index in range(len(tables.backward)):
                if tables.backward[index, AMONG] == number:
                    looks += write_rows(tables.backward[index], inside, number, lowest)
                    break
    return count, looks

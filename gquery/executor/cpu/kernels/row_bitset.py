"""Rows that are kept as bitsets while they stay: a look into one is then a bit test, whatever its length.

In a depth-first search the row of a shallow level is intersected with one row of a deeper level after the other.
Writing it as a bitset costs its length; galloping in it costs a little every time. The bitset is written once the
galloping has cost as much (as with renting and buying skis), so the work is at most twice what it could have been.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import row
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import load_int32, load_word, store_word
from gquery.executor.cpu.search.packed import (
    BACKWARD_BEGIN,
    BACKWARD_END,
    FIRST,
    LEVEL,
    MARKED,
    MARKS,
    MATRIX,
    NEIGHBOURS,
    OFFSETS,
    ROWS,
    STRIDE,
)

# Columns of `marked`, int64[rows of adjacencies, 3], by row of `backward` and `absent`.
POSITION, SEEN, SPENT = 0, 1, 2  # whose row is written; whose was asked for last; what looking into that one has cost

_GALLOP = 4  # cost of finding one neighbour in a row, in bits written


@inner
def write(adjacency, position, marks, marked):  # type: ignore[no-untyped-def]
    """Writes the row of a position into its bitset, instead of the one that is there."""
    state = marked[adjacency[MARKED]]
    base, values = adjacency[MARKS], adjacency[NEIGHBOURS]
    if state[POSITION] >= 0:
        low, high = row(adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], state[POSITION])
        for index in range(low, high):
            word = base + (np.int64(load_int32(values, index)) >> 6)
            store_word(marks, word, np.uint64(0))
    low, high = row(adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], position)
    for index in range(low, high):
        neighbour = np.int64(load_int32(values, index))
        word = base + (neighbour >> 6)
        bits = load_word(marks, word) | (np.uint64(1) << np.uint64(neighbour & 63))
        store_word(marks, word, bits)
    state[POSITION] = position


@inlined
def bits_of(walk, adjacency, position, length, looks):  # type: ignore[no-untyped-def]
    """Address of the row of a position as a bitset, 0 while it is not worth that.

    adjacency: its row of `backward` or `absent`; length: of the data row; looks: neighbours that will be looked for.
    """
    base = adjacency[MARKS]
    address = np.int64(0)
    if adjacency[MATRIX] != 0:
        index = position - adjacency[FIRST]
        if 0 <= index < adjacency[ROWS]:
            address = adjacency[MATRIX] + index * adjacency[STRIDE]
    elif base >= 0:
        state = walk.marked[adjacency[MARKED]]
        if state[POSITION] == position:
            address = walk.marks + 8 * base
        else:
            if state[SEEN] != position:
                state[SEEN] = position
                state[SPENT] = 0
            state[SPENT] += _GALLOP * (looks + 1)
            if state[SPENT] > 2 * length:
                write(adjacency, position, walk.marks, walk.marked)
                address = walk.marks + 8 * base
    return address


@inlined
def restore(tables, walk, depth):  # type: ignore[no-untyped-def]
    """Rewrites the bitsets of the open levels up to `depth`, if another search used their room since the last slice."""
    backward = tables.backward
    for level in range(depth + 1):
        for index in range(tables.steps[level, BACKWARD_BEGIN], tables.steps[level, BACKWARD_END]):
            position = walk.positions[backward[index, LEVEL]]
            room = backward[index, MARKS] >= 0
            if room and walk.bitsets[index] != 0 and walk.marked[backward[index, MARKED], POSITION] != position:
                write(backward[index], position, walk.marks, walk.marked)

"""Lists matches: depth-first search over the levels of a vertex group, in slices.

`extend` takes partial matches of the levels before `start`, matches the levels `start .. stop - 1` and writes what it
finds. It returns after a bounded number of looks at neighbours, or when the output is full; everything it needs to go
on is in `state` and `cursors`, so the caller can check for cancellation, drain the output, or give half of the
remaining input away between two slices.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.compile import inlined, kernel
from gquery.executor.cpu.intersect import accepts, next_common, open_level
from gquery.executor.cpu.marks import restore
from gquery.executor.cpu.native import load_int32
from gquery.executor.cpu.workspace import (
    DEPTH,
    DONE,
    FULL,
    MADE,
    MORE,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    column_of,
    cursors_of,
    levels_of,
    table_of,
)
from gquery.executor.packed import (
    ABSENT,
    ADJACENCY_COLUMNS,
    BACKWARD,
    COMPARE,
    DIFFERENT,
    PAIRS,
    SMALLER,
    STEP_COLUMNS,
    STEPS,
    VERTICES,
)


@inlined
def load_row(steps, given, input_row, stop, positions, vertices):  # type: ignore[no-untyped-def]
    """Positions and vertices of a partial match of `stop` levels."""
    for column in range(stop):
        position = given[column, input_row]
        positions[column] = position
        address = steps[column, VERTICES]
        vertices[column] = load_int32(address, np.int64(position)) if address != 0 else position


@kernel
def extend(plan, work, matched, given, output, marks, marked, start, stop, budget):  # type: ignore[no-untyped-def]
    """One slice; see the module's docstring. given, output: positions int32[width, capacity], column-major. marks:
    address of uint64[]; marked int64[*, 3]: see `marks.py`."""
    steps = table_of(plan, STEPS, STEP_COLUMNS)
    backward = table_of(plan, BACKWARD, ADJACENCY_COLUMNS)
    different = column_of(plan, DIFFERENT)
    smaller = column_of(plan, SMALLER)
    pairs = table_of(plan, PAIRS, 4)
    compare = table_of(plan, COMPARE, 5)
    absent = table_of(plan, ABSENT, ADJACENCY_COLUMNS)
    positions, vertices = matched[0], matched[1]
    width, rows = len(steps), len(backward)
    state = work[: STATE_SLOTS + width]
    pivots, last = levels_of(work, width, 0), levels_of(work, width, 1)
    begins, cursors = cursors_of(work, width, rows, 0), cursors_of(work, width, rows, 1)
    ends, bitsets = cursors_of(work, width, rows, 2), cursors_of(work, width, rows, 3)
    level = state[DEPTH]
    made = state[MADE]
    status = MORE
    capacity = output.shape[1]
    restore(steps, backward, level, positions, bitsets, marks, marked)
    while budget > 0:
        if level < start:
            if state[ROW] >= state[ROW_END]:
                status = DONE
                break
            load_row(steps, given, state[ROW], start, positions, vertices)
            state[ROW] += 1
            level = start
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
        if level == stop - 1 and made == capacity:
            status = FULL
            break
        budget -= 1
        position = next_common(steps, backward, level, cursors, ends, bitsets, pivots, last)
        if position < 0:
            level -= 1
            continue
        address = steps[level, VERTICES]
        vertex = load_int32(address, position) if address != 0 else np.int32(position)
        if not accepts(
            steps, different, pairs, compare, absent, level, position, vertex, positions, vertices, marks, marked
        ):
            continue
        positions[level] = position
        vertices[level] = vertex
        state[STATE_SLOTS + level] += 1
        if level < stop - 1:
            level += 1
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
        else:
            for column in range(stop):
                output[column, made] = positions[column]
            made += 1
    state[DEPTH] = level
    state[MADE] = made
    state[STATUS] = status

"""One array of the plan, one of work: where the kernels find their tables, cursors and counters in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.machine.compile import inlined
from gquery.executor.cpu.search.packed import PackedPlan

# Slots of the state, at the front of the work; behind them the matches found at each level.
ROW, ROW_END, DEPTH, MADE, STATUS, ENTERING, LEFT, TAKEN, STATE_SLOTS = 0, 1, 2, 3, 4, 5, 6, 7, 8
DONE, MORE, FULL = 0, 1, 2  # values of STATUS: input used up; slice over; output full

_LEVEL_PARTS, _CURSOR_PARTS = 2, 4  # pivots, last; begins, cursors, ends, bitsets
SCRATCH_ROWS = 5


def new_work(plan: PackedPlan, rows: int) -> NDArray[np.int64]:
    """The work of a search through `rows` partial matches, at its beginning."""
    size = STATE_SLOTS + (1 + _LEVEL_PARTS) * plan.width + _CURSOR_PARTS * plan.rows + SCRATCH_ROWS * plan.choices
    work = np.zeros(size, np.int64)
    work[ROW_END] = rows
    work[DEPTH] = -1
    return work


@inlined
def table_of(plan, index, columns):  # type: ignore[no-untyped-def]
    """A table of the packed plan."""
    begin, rows = plan[2 * index], plan[2 * index + 1]
    return plan[begin : begin + rows * columns].reshape((rows, columns))


@inlined
def column_of(plan, index):  # type: ignore[no-untyped-def]
    """A table of one column."""
    begin = plan[2 * index]
    return plan[begin : begin + plan[2 * index + 1]]


@inlined
def levels_of(work, width, part):  # type: ignore[no-untyped-def]
    """Part 0: the pivot of each level; 1: the position it gave last."""
    begin = STATE_SLOTS + (1 + part) * width
    return work[begin : begin + width]


@inlined
def cursors_of(work, width, rows, part):  # type: ignore[no-untyped-def]
    """For each row of `backward` 0: where its data row begins; 1: the cursor; 2: the end; 3: address of its bits."""
    begin = STATE_SLOTS + (1 + _LEVEL_PARTS) * width + part * rows
    return work[begin : begin + rows]


@inlined
def scratch_of(work, width, rows, choices):  # type: ignore[no-untyped-def]
    """Room for the odometer over edge choices, int64[SCRATCH_ROWS, choices]."""
    begin = STATE_SLOTS + (1 + _LEVEL_PARTS) * width + _CURSOR_PARTS * rows
    return work[begin : begin + SCRATCH_ROWS * choices].reshape((SCRATCH_ROWS, choices))

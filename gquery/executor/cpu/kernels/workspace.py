"""One array of the plan, one of work: where the kernels find their tables, cursors and counters in them.

A kernel is handed few arrays, since taking one from Python costs as much as many a small search, and makes bundles of
views from them, which it hands to other kernels. What small kernels take is kept short: pointers where that is enough,
and no tables that they do not look at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.machine.compile import inlined, inner, pasted
from gquery.executor.cpu.machine.native import fetch_add, load_int64, load_shared, pointer
from gquery.executor.cpu.search.packed import (
    ABSENT,
    ADJACENCY_COLUMNS,
    BACKWARD,
    CHOICE_COLUMNS,
    CHOICES,
    COLLIDES,
    COMPARE,
    COMPARE_COLUMNS,
    DIFFERENT,
    PAIRS,
    PAIRS_COLUMNS,
    SMALLER,
    STEP_COLUMNS,
    STEPS,
    PackedPlan,
)

# Slots of the state, at the front of the work. What a frame is begun with: the rows of its input from ROW to ROW_END,
# its levels START .. STOP - 1, what sums are reduced by (0 for 2^64), the addresses of the marks and of the signals,
# whether its input is the pool, whose rows are handed out; EACH: 1 when every row has its sum, 0 when all have one.
# PATIENT: how many quanta of looks a slice goes on while somebody waits for work.
ROW, ROW_END, START, STOP, MODULUS, MARKS_ADDRESS, SIGNALS, HANDED, EACH = 0, 1, 2, 3, 4, 5, 6, 7, 8
# Where a search stands; SPLIT: no level of a tree up to that one has its whole sum here; MEMBERS: of a neighbourhood.
DEPTH, ENTERING, TAKEN, MADE, STATUS, SPLIT, MEMBERS = 9, 10, 11, 12, 13, 14, 15
# Since when somebody waits, in quanta, and whether the slice has ended for that: then its worker has to give.
PATIENT, WAITED, CLAIMED, STATE_SLOTS = 16, 17, 18, 19
DONE, MORE, FULL, HEAVY = 0, 1, 2, 3  # values of STATUS: input used up; slice over; output full; no room for a row

# Slots of the signals, which all workers read: the next row of the pool, its rows; in how many parts what is left is
# handed out; how often work was wanted so far, or that all have to stop; how often a kernel has ended for that, which
# alone is written here. What is written often has cache lines of its own.
NEXT_ROW, POOL_ROWS, PARTS, WANTED, CLAIMS, SIGNAL_SLOTS = 0, 8, 9, 16, 24, 32
STOPPED = 1 << 32  # in WANTED: all have to stop
_LARGEST_SHARE = 256  # rows: nobody should be left with much when the pool is used up
QUANTUM = 1 << 14  # looks at neighbours between two looks at the signals: about a quarter of a millisecond

# Behind the state, one slot a level each: matches found, pivots, last positions, what is matched (two int32 a slot),
# and for a tree of sums the sums and the products, modulo and about. Then one slot a row of `backward` each.
_FOUND, _PIVOTS, _LAST, _MATCHED, SUMS, SUM_SIZES, PRODUCTS, PRODUCT_SIZES, _LEVEL_PARTS = 0, 1, 2, 3, 4, 5, 6, 7, 8
_BEGINS, _CURSORS, _ENDS, _BITSETS, _CURSOR_PARTS = 0, 1, 2, 3, 4
SCRATCH_ROWS = 5


class Tables(NamedTuple):
    """What tells how a level is matched: tables of a packed plan. `packed.py` has their columns."""

    steps: NDArray[np.int64]
    backward: NDArray[np.int64]
    different: NDArray[np.int64]
    smaller: NDArray[np.int64]
    pairs: NDArray[np.int64]
    compare: NDArray[np.int64]
    absent: NDArray[np.int64]


class Walk(NamedTuple):
    """Where a walk through the data graph stands.

    By level: positions and vertices, int32[width], of the levels that are matched; matches found; the pivot, which is
    the row of `backward` that is walked; the last position that it gave. By row of `backward`: where its data row
    begins, the cursor, the end, the address of its bits. marks: address of uint64[]; marked int64[*, 3]: see
    `row_bitset.py`.
    """

    positions: NDArray[np.int32]
    vertices: NDArray[np.int32]
    found: NDArray[np.int64]
    pivots: NDArray[np.int64]
    last: NDArray[np.int64]
    begins: NDArray[np.int64]
    cursors: NDArray[np.int64]
    ends: NDArray[np.int64]
    bitsets: NDArray[np.int64]
    marks: int
    marked: NDArray[np.int64]


class Choices(NamedTuple):
    """The tables of a packed plan that tell which data edges stand behind an embedding, and room for the odometer over
    them, int64[SCRATCH_ROWS, choices]; see `edge_choices.py`. signals: their address."""

    table: NDArray[np.int64]
    collides: NDArray[np.int64]
    scratch: NDArray[np.int64]
    signals: int


def new_work(plan: PackedPlan, start: int, stop: int, modulus: int, marks: int, signals: int) -> NDArray[np.int64]:
    """The work of a search at its beginning, without input. marks, signals: their addresses."""
    size = STATE_SLOTS + _LEVEL_PARTS * plan.width + _CURSOR_PARTS * plan.rows + SCRATCH_ROWS * plan.choices
    work = np.zeros(size, np.int64)
    work[START], work[STOP], work[MODULUS], work[MARKS_ADDRESS], work[SIGNALS] = start, stop, modulus, marks, signals
    work[EACH] = 1
    work[DEPTH] = work[SPLIT] = -1
    return work


@inlined
def takes_more(state):  # type: ignore[no-untyped-def]
    """Takes the next rows of the pool, where it is handed out; returns whether there are any."""
    if state[HANDED] == 0:
        return False
    signals, rows = state[SIGNALS], load_int64(state[SIGNALS], POOL_ROWS)
    left = rows - load_shared(signals, NEXT_ROW)  # type: ignore[call-arg]
    share = max(1, min(_LARGEST_SHARE, left // load_int64(signals, PARTS)))
    begin = min(rows, fetch_add(signals, NEXT_ROW, share))
    state[ROW] = state[TAKEN] = begin
    state[ROW_END] = min(rows, begin + share)
    return begin < rows


@inlined
def ends_early(state):  # type: ignore[no-untyped-def]
    """Whether the slice has to end: all have to stop, or somebody has waited for work for some time and this worker is
    the one that gives some. The others stay in their kernels."""
    signals = state[SIGNALS]
    wanted = load_shared(signals, WANTED)  # type: ignore[call-arg,var-annotated]
    state[WAITED] = state[WAITED] + 1 if wanted > load_shared(signals, CLAIMS) else 0
    if wanted >= STOPPED:
        return True
    if state[WAITED] > state[PATIENT]:
        if fetch_add(signals, CLAIMS, 1) < wanted:
            state[WAITED], state[CLAIMED] = 0, 1
            return True
        fetch_add(signals, CLAIMS, -1)  # others were sooner
    return False


@inlined
def times(size, factor):  # type: ignore[no-untyped-def]
    """About a product: nothing is nothing, times whatever is beyond all floats."""
    return size * factor if size != 0.0 and factor != 0.0 else 0.0


@inlined
def has_to_stop(signals):  # type: ignore[no-untyped-def]
    """Whether all have to stop, now and not at the end of the slice. signals: their address."""
    return load_shared(signals, WANTED) >= STOPPED  # type: ignore[call-arg]


@pasted
def table_of(plan, index, columns):  # type: ignore[no-untyped-def]
    """A table of the packed plan."""
    begin, rows = plan[2 * index], plan[2 * index + 1]
    return plan[begin : begin + rows * columns].reshape((rows, columns))


@pasted
def column_of(plan, index):  # type: ignore[no-untyped-def]
    """A table of one column."""
    begin = plan[2 * index]
    return plan[begin : begin + plan[2 * index + 1]]


@inner
def tables_of(plan):  # type: ignore[no-untyped-def]
    """How levels are matched by the packed plan."""
    return Tables(
        table_of(plan, STEPS, STEP_COLUMNS),
        table_of(plan, BACKWARD, ADJACENCY_COLUMNS),
        pointer(column_of(plan, DIFFERENT)),
        pointer(column_of(plan, SMALLER)),
        table_of(plan, PAIRS, PAIRS_COLUMNS),
        table_of(plan, COMPARE, COMPARE_COLUMNS),
        table_of(plan, ABSENT, ADJACENCY_COLUMNS),
    )


@pasted
def levels_of(work, width, part):  # type: ignore[no-untyped-def]
    """One slot a level."""
    begin = STATE_SLOTS + part * width
    return work[begin : begin + width]


@pasted
def cursors_of(work, width, rows, part):  # type: ignore[no-untyped-def]
    """One slot a row of `backward`."""
    begin = STATE_SLOTS + _LEVEL_PARTS * width + part * rows
    return work[begin : begin + rows]


@inner
def walk_of(work, marked, tables):  # type: ignore[no-untyped-def]
    """The walk that the work is about."""
    width, rows = len(tables.steps), len(tables.backward)
    matched = levels_of(work, width, _MATCHED).view(np.int32)
    return Walk(
        pointer(matched),
        pointer(matched[width:]),
        pointer(levels_of(work, width, _FOUND)),
        pointer(levels_of(work, width, _PIVOTS)),
        pointer(levels_of(work, width, _LAST)),
        pointer(cursors_of(work, width, rows, _BEGINS)),
        pointer(cursors_of(work, width, rows, _CURSORS)),
        pointer(cursors_of(work, width, rows, _ENDS)),
        pointer(cursors_of(work, width, rows, _BITSETS)),
        work[MARKS_ADDRESS],
        marked,
    )


@inner
def choices_of(plan, work, tables):  # type: ignore[no-untyped-def]
    """The choices of the packed plan."""
    table = table_of(plan, CHOICES, CHOICE_COLUMNS)
    begin = STATE_SLOTS + _LEVEL_PARTS * len(tables.steps) + _CURSOR_PARTS * len(tables.backward)
    scratch = work[begin : begin + SCRATCH_ROWS * len(table)].reshape((SCRATCH_ROWS, len(table)))
    return Choices(table, column_of(plan, COLLIDES), scratch, work[SIGNALS])


def found_in(work: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Matches found at each level so far."""
    return work[STATE_SLOTS : STATE_SLOTS + width]


def sums_in(work: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By level, the sums of a tree so far and about the same numbers; a zero is a zero in both."""
    return levels_of.py_func(work, width, SUMS), levels_of.py_func(work, width, SUM_SIZES)  # type: ignore[attr-defined]


def cursors_in(work: NDArray[np.int64], width: int, rows: int) -> tuple[NDArray[np.int64], ...]:
    """Pivots and last positions by level; cursors, ends and bitsets by row of `backward`."""
    levels = [levels_of.py_func(work, width, part) for part in (_PIVOTS, _LAST)]  # type: ignore[attr-defined]
    parts = (_CURSORS, _ENDS, _BITSETS)
    return (*levels, *(cursors_of.py_func(work, width, rows, part) for part in parts))  # type: ignore[attr-defined]

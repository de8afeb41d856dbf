"""Fetches the rows that the next candidates of a level will be asked for, while the current one is searched.

A depth-first search waits for memory at every new row, and again for the entries in it. The candidates of a level are
known well before they are reached, so their rows are asked for in time: first where a row begins, then what is there.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.compile import inlined
from gquery.executor.cpu.native import load_int32, load_int64, prefetch
from gquery.executor.packed import AHEAD_FIRST, AHEAD_NEIGHBOURS, AHEAD_OFFSETS, AHEAD_ROWS, CHILD

FAR, NEAR, NEXT = 8, 5, 3  # candidates ahead: where the row begins, its first entries, and what is below them


@inlined
def fetch_offsets(steps, level, position):  # type: ignore[no-untyped-def]
    """Asks for the place that says where the row of a candidate begins."""
    index = np.int64(position) - steps[level, AHEAD_FIRST]
    if 0 <= index < steps[level, AHEAD_ROWS]:
        prefetch(steps[level, AHEAD_OFFSETS] + 8 * index)  # type: ignore[call-arg]


@inlined
def fetch_entries(steps, level, position):  # type: ignore[no-untyped-def]
    """Asks for the entries of the row of a candidate."""
    index = np.int64(position) - steps[level, AHEAD_FIRST]
    if 0 <= index < steps[level, AHEAD_ROWS]:
        prefetch(steps[level, AHEAD_NEIGHBOURS] + 4 * load_int64(steps[level, AHEAD_OFFSETS], index))  # type: ignore[call-arg]


@inlined
def _first_below(steps, level, position):  # type: ignore[no-untyped-def]
    index = np.int64(position) - steps[level, AHEAD_FIRST]
    first = np.int64(-1)
    if 0 <= index < steps[level, AHEAD_ROWS]:
        low = load_int64(steps[level, AHEAD_OFFSETS], index)
        if low < load_int64(steps[level, AHEAD_OFFSETS], index + 1):
            first = np.int64(load_int32(steps[level, AHEAD_NEIGHBOURS], low))
    return first


@inlined
def fetch_ahead(steps, level, values, cursor, stop):  # type: ignore[no-untyped-def]
    """Asks for the rows of the candidates after the one at `cursor` of the level's only row, and for those of the first
    candidate below each: one level down, rows are often too short to look ahead in them."""
    if steps[level, AHEAD_ROWS] != 0:
        if cursor + FAR < stop:
            fetch_offsets(steps, level, load_int32(values, cursor + FAR))
        if cursor + NEAR < stop:
            fetch_entries(steps, level, load_int32(values, cursor + NEAR))
        child = steps[level, CHILD]
        if child >= 0 and steps[child, AHEAD_ROWS] != 0:
            if cursor + NEXT < stop:
                fetch_offsets(steps, child, _first_below(steps, level, load_int32(values, cursor + NEXT)))
            if cursor + 1 < stop:
                fetch_entries(steps, child, _first_below(steps, level, load_int32(values, cursor + 1)))


@inlined
def fetch_below(steps, level, given, input_row, end):  # type: ignore[no-untyped-def]
    """The same for the rows of the input, which are met in order: only what is below them has to be asked for."""
    child = steps[level, CHILD]
    if steps[level, AHEAD_ROWS] != 0 and child >= 0 and steps[child, AHEAD_ROWS] != 0:
        if input_row + FAR < end:
            fetch_offsets(steps, child, _first_below(steps, level, given[level, input_row + FAR]))
        if input_row + NEAR < end:
            fetch_entries(steps, child, _first_below(steps, level, given[level, input_row + NEAR]))

"""From vertex embeddings to edge choices: over parallel edges one embedding stands for several matches.

Every tracked query edge has a run of equal neighbours in its adjacency row, one entry for each data edge. An odometer
runs over these runs and leaves out choices where two query edges of one clause would be the same data edge.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.compile import kernel
from gquery.executor.cpu.lookup import lower_bound, row
from gquery.executor.cpu.native import load_int32, load_int64
from gquery.executor.cpu.workspace import column_of, table_of
from gquery.executor.packed import (
    CHOICE_COLUMNS,
    CHOICE_EDGES,
    CHOICE_FIRST,
    CHOICE_NEIGHBOURS,
    CHOICE_OFFSETS,
    CHOICE_ROWS,
    CHOICES,
    COLLIDES,
    COLLIDES_BEGIN,
    COLLIDES_END,
    FREE,
    FROM,
    TO,
)

# Rows of the odometer's `scratch`, int64[4, number of choices].
BEGIN, END, CURSOR, CHOSEN = 0, 1, 2, 3

# Slots of the expansion's `state`, int64[3].
INPUT_ROW, DEPTH, MADE = 0, 1, 2


@kernel
def locate(choices, begin, end, positions, scratch):  # type: ignore[no-untyped-def]
    """Finds the run of data edges behind every query edge of `choices[begin:end]`."""
    for index in range(begin, end):
        values = choices[index, CHOICE_NEIGHBOURS]
        low, high = row(
            choices[index, CHOICE_OFFSETS],
            choices[index, CHOICE_FIRST],
            choices[index, CHOICE_ROWS],
            positions[choices[index, FROM]],
        )
        wanted = positions[choices[index, TO]]
        low = lower_bound(values, low, high, wanted)
        scratch[BEGIN, index] = low
        while low < high and load_int32(values, low) == wanted:
            low += 1
        scratch[END, index] = low


@kernel
def advance(choices, begin, end, collides, depth, scratch, skip_free):  # type: ignore[no-untyped-def]
    """Turns the odometer over `choices[begin:end]` from wheel `depth` to its next full choice; -1 without one."""
    last = end - 1
    while depth >= begin:
        free = skip_free and choices[depth, FREE] == 1
        if scratch[CURSOR, depth] == scratch[END, depth]:
            depth -= 1
            continue
        edge = load_int64(choices[depth, CHOICE_EDGES], scratch[CURSOR, depth])
        scratch[CURSOR, depth] = scratch[END, depth] if free else scratch[CURSOR, depth] + 1
        collision = False
        for index in range(choices[depth, COLLIDES_BEGIN], choices[depth, COLLIDES_END]):
            collision |= scratch[CHOSEN, collides[index]] == edge
        if collision:
            continue
        scratch[CHOSEN, depth] = edge
        if depth == last:
            return depth
        depth += 1
        scratch[CURSOR, depth] = scratch[BEGIN, depth]
    return -1


@kernel
def count_choices(choices, begin, end, collides, positions, scratch):  # type: ignore[no-untyped-def]
    """Number of ways to choose the edges `choices[begin:end]` of one embedding: a product over the free edges, an
    enumeration of the others."""
    locate(choices, begin, end, positions, scratch)
    product = np.int64(1)
    colliding = False
    for index in range(begin, end):
        if choices[index, FREE] == 1:
            product *= scratch[END, index] - scratch[BEGIN, index]
        else:
            colliding = True
    if not colliding or product == 0:
        return product
    scratch[CURSOR, begin] = scratch[BEGIN, begin]
    depth = np.int64(begin)
    found = np.int64(0)
    while True:
        depth = advance(choices, begin, end, collides, depth, scratch, True)
        if depth < 0:
            return found * product
        found += 1


@kernel
def expand(plan, begin, given, count, rows, edges, state, scratch):  # type: ignore[no-untyped-def]
    """Writes one row for each way to choose the plan's edges from `begin` on, for the embeddings `given[:, :count]`,
    as many as fit.

    rows int64[capacity]: the embedding's column in `given`; edges int64[choices listed, capacity]. Goes on where
    `state` says; done when it returns with state[INPUT_ROW] = count and state[DEPTH] = -1.
    """
    choices = table_of(plan, CHOICES, CHOICE_COLUMNS)
    collides = column_of(plan, COLLIDES)
    depth = state[DEPTH]
    input_row = state[INPUT_ROW]
    end = len(choices)
    made = np.int64(0)
    capacity = len(rows)
    while made < capacity:
        if depth < begin:
            if input_row == count:
                break
            locate(choices, begin, end, given[:, input_row], scratch)
            input_row += 1
            depth = np.int64(begin)
            scratch[CURSOR, begin] = scratch[BEGIN, begin]
        depth = advance(choices, begin, end, collides, depth, scratch, False)
        if depth >= begin:
            rows[made] = input_row - 1
            for index in range(begin, end):
                edges[index - begin, made] = scratch[CHOSEN, index]
            made += 1
    state[INPUT_ROW] = input_row
    state[DEPTH] = depth
    state[MADE] = made

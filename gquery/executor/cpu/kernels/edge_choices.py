"""Counts edge choices: over parallel edges one embedding stands for several matches.

Every tracked query edge has a run of equal neighbours in its adjacency row, one entry for each data edge. An odometer
runs over these runs and leaves out choices where two query edges of one clause would be the same data edge.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import lower_bound, row
from gquery.executor.cpu.machine.compile import inner
from gquery.executor.cpu.machine.native import load_int32, load_int64
from gquery.executor.cpu.search.packed import (
    CHOICE_EDGES,
    CHOICE_FIRST,
    CHOICE_NEIGHBOURS,
    CHOICE_OFFSETS,
    CHOICE_ROWS,
    CLIQUE,
    COLLIDES_BEGIN,
    COLLIDES_END,
    FREE,
    FROM,
    TO,
)

# Rows of `scratch`, int64[5, number of choices]: the run of each choice, where the odometer stands in it, the edge it
# has chosen; while choices are only counted, how many edges of the run are taken by others.
BEGIN, END, CURSOR, CHOSEN, TAKEN = 0, 1, 2, 3, 4


@inner
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


@inner
def advance(choices, begin, end, collides, depth, scratch):  # type: ignore[no-untyped-def]
    """Turns the odometer over `choices[begin:end]` from wheel `depth` to its next full choice, -1 without one; wheels
    that collide with no other stand still."""
    last = end - 1
    while depth >= begin:
        free = choices[depth, FREE] == 1
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


@inner
def count_choices(choices, begin, end, collides, modulus, positions, scratch):  # type: ignore[no-untyped-def]
    """The ways to choose the edges `choices[begin:end]` of one embedding: modulo 2^64 or the modulus, and roughly.

    Runs over the same two data vertices hold one another unless their types only overlap. Where of every two colliding
    runs one holds the other, or nothing of it, the ways are a product: a choice has as many as its run is long, less
    those taken by the choices from runs that lie in its own. Only the others are enumerated.
    """
    locate(choices, begin, end, positions, scratch)
    nested = take_from_runs(choices, begin, end, collides, scratch)
    if nested and is_exhausted(begin, end, scratch):
        return np.uint64(0), 0.0
    exact, size = np.uint64(1), 1.0
    for index in range(begin, end):
        if nested or choices[index, FREE] == 1:
            ways = scratch[END, index] - scratch[BEGIN, index] - scratch[TAKEN, index]
            exact *= np.uint64(ways)
            size *= ways
            if modulus != 0:
                exact %= modulus
    if not nested:
        found = enumerated(choices, begin, end, collides, scratch)
        exact *= np.uint64(found)
        size *= found
        if modulus != 0:
            exact %= modulus
    return exact, size


@inner
def take_from_runs(choices, begin, end, collides, scratch):  # type: ignore[no-untyped-def]
    """Counts what colliding choices take from each other's runs; False when that does not tell the number of ways."""
    for index in range(begin, end):
        scratch[TAKEN, index] = 0
    for index in range(begin, end):
        length = scratch[END, index] - scratch[BEGIN, index]
        for place in range(choices[index, COLLIDES_BEGIN], choices[index, COLLIDES_END]):
            other = collides[place]
            other_length = scratch[END, other] - scratch[BEGIN, other]
            common = common_edges(choices, index, other, scratch)
            if common == 0:
                continue
            holder = index if length >= other_length else other
            scratch[TAKEN, holder] += 1
            # What two choices take from a run are two edges only if those collide as well.
            if common < min(length, other_length) or (scratch[TAKEN, holder] > 1 and choices[holder, CLIQUE] == 0):
                return False
    return True


@inner
def is_exhausted(begin, end, scratch):  # type: ignore[no-untyped-def]
    """Whether others take all edges of some choice's run."""
    exhausted = False
    for index in range(begin, end):
        exhausted |= scratch[END, index] - scratch[BEGIN, index] <= scratch[TAKEN, index]
    return exhausted


@inner
def common_edges(choices, one, other, scratch):  # type: ignore[no-untyped-def]
    """How many data edges are in the runs of both choices. A run is not sorted."""
    edges, other_edges = choices[one, CHOICE_EDGES], choices[other, CHOICE_EDGES]
    low, high = scratch[BEGIN, one], scratch[END, one]
    other_low, other_high = scratch[BEGIN, other], scratch[END, other]
    if edges == other_edges and low == other_low:
        return high - low
    common = np.int64(0)
    for place in range(low, high):
        edge = load_int64(edges, place)
        for other_place in range(other_low, other_high):
            common += load_int64(other_edges, other_place) == edge
    return common


@inner
def enumerated(choices, begin, end, collides, scratch):  # type: ignore[no-untyped-def]
    """The ways to choose the edges that collide, one by one."""
    scratch[CURSOR, begin] = scratch[BEGIN, begin]
    depth = np.int64(begin)
    found = np.int64(0)
    while True:
        depth = advance(choices, begin, end, collides, depth, scratch)
        if depth < 0:
            return found
        found += 1

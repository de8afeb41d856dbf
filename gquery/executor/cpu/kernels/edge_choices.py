"""Counts edge choices: over parallel edges one embedding stands for several matches.

Every tracked query edge has a run of equal neighbours in its adjacency row, one entry for each data edge. An odometer
runs over these runs and leaves out choices where two query edges of one clause would be the same data edge.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import lower_bound, row
from gquery.executor.cpu.kernels.workspace import has_to_stop, times
from gquery.executor.cpu.machine.compile import inner, kernel
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

_OFTEN = (1 << 12) - 1  # turns of the odometer between two looks at the signals


@kernel
def find_runs(lists, sources, targets, begins, lengths):  # type: ignore[no-untyped-def]
    """Where the entries of each target begin in the row of its source, and how many there are: int64[count]. lists:
    how to walk the rows (`lists_of`); sources, targets: addresses of int32[count]. Mostly the next target is the one
    before or a little behind it, in the same row, and the run near."""
    first, rows, offsets, neighbours = lists
    source, target = np.int64(-1), np.int64(-1)
    begin, end, length = np.int64(0), np.int64(0), np.int64(0)
    for index in range(len(begins)):
        here, wanted = np.int64(load_int32(sources, index)), np.int64(load_int32(targets, index))
        if here != source or wanted < target:
            begin, end = row(offsets, first, rows, here)
            length = np.int64(0)
        if here != source or wanted != target:
            begin = lower_bound(neighbours, begin + length, end, wanted)
            length = lower_bound(neighbours, begin, end, wanted + 1) - begin
            source, target = here, wanted
        begins[index], lengths[index] = begin, length


@kernel
def take_runs(rows, begins, lengths, edges, state, places, taken):  # type: ignore[no-untyped-def]
    """The next data edges of the runs of some rows, as many as there is room for: taken int64[count], with the place in
    `rows` of each. edges: address of those of the adjacency; state int64[2]: the place to go on at, and the entry of
    its run."""
    place, entry = state[0], state[1]
    made = 0
    while made < len(taken):
        row_index = rows[place]
        last = min(lengths[row_index], entry + len(taken) - made)
        for each in range(entry, last):
            places[made], taken[made] = place, load_int64(edges, begins[row_index] + each)
            made += 1
        entry = last
        if entry == lengths[row_index]:
            place, entry = place + 1, np.int64(0)
    state[0], state[1] = place, entry


@inner
def locate(choices, begin, end, positions, scratch):  # type: ignore[no-untyped-def]
    """Finds the run of data edges behind every query edge of `choices[begin:end]`. The one before is mostly of the same
    row, and near."""
    for index in range(begin, end):
        values = choices[index, CHOICE_NEIGHBOURS]
        low, high = row(
            choices[index, CHOICE_OFFSETS],
            choices[index, CHOICE_FIRST],
            choices[index, CHOICE_ROWS],
            positions[choices[index, FROM]],
        )
        wanted = positions[choices[index, TO]]
        before = scratch[BEGIN, index]
        if low <= before < scratch[END, index] <= high and load_int32(values, before) <= wanted:
            low = before
        low = lower_bound(values, low, high, wanted)
        scratch[BEGIN, index] = low
        while low < high and load_int32(values, low) == wanted:
            low += 1
        scratch[END, index] = low


@inner
def count_choices(choices, begin, end, collides, modulus, positions, scratch, signals):  # type: ignore[no-untyped-def]
    """The ways to choose the edges `choices[begin:end]` of one embedding: modulo 2^64 or the modulus, and roughly; and
    the looks at edges that this took.

    Runs over the same two data vertices hold one another unless their types only overlap. Where of every two colliding
    runs one holds the other, or nothing of it, the ways are a product: a choice has as many as its run is long, less
    those taken by the choices from runs that lie in its own. Only the others are enumerated.
    """
    locate(choices, begin, end, positions, scratch)
    if are_single(begin, end, scratch):
        ways = np.int64(0) if share_one(choices, begin, end, collides, scratch) else np.int64(1)
        return np.uint64(ways), np.float64(ways), np.int64(end - begin)
    nested, looks = take_from_runs(choices, begin, end, collides, scratch, signals)
    if nested and is_exhausted(begin, end, scratch):
        return np.uint64(0), 0.0, looks
    exact, size = np.uint64(1), 1.0
    for index in range(begin, end):
        if nested or choices[index, FREE] == 1:
            ways = scratch[END, index] - scratch[BEGIN, index] - scratch[TAKEN, index]
            exact *= np.uint64(ways)
            size *= ways
            if modulus != 0:
                exact %= modulus
    if not nested:
        found, more = enumerated(choices, begin, end, collides, scratch, signals)
        looks += more
        exact *= np.uint64(found)
        size = times(size, found)
        if modulus != 0:
            exact %= modulus
    return exact, size, looks


@inner
def are_single(begin, end, scratch):  # type: ignore[no-untyped-def]
    """Whether each choice has one data edge, as most have wherever parallel edges are few."""
    single = True
    for index in range(begin, end):
        single &= scratch[END, index] - scratch[BEGIN, index] == 1
    return single


@inner
def share_one(choices, begin, end, collides, scratch):  # type: ignore[no-untyped-def]
    """Whether of such choices two that collide have the same edge."""
    shared = False
    for index in range(begin, end):
        edge = np.int64(-1)
        for place in range(choices[index, COLLIDES_BEGIN], choices[index, COLLIDES_END]):
            other = collides[place]
            if edge < 0:
                edge = load_int64(choices[index, CHOICE_EDGES], scratch[BEGIN, index])
            shared |= load_int64(choices[other, CHOICE_EDGES], scratch[BEGIN, other]) == edge
    return shared


@inner
def take_from_runs(choices, begin, end, collides, scratch, signals):  # type: ignore[no-untyped-def]
    """Counts what colliding choices take from each other's runs; False when that does not tell the number of ways. And
    the looks at edges."""
    looks = np.int64(end - begin)
    for index in range(begin, end):
        scratch[TAKEN, index] = 0
    for index in range(begin, end):
        length = scratch[END, index] - scratch[BEGIN, index]
        for place in range(choices[index, COLLIDES_BEGIN], choices[index, COLLIDES_END]):
            other = collides[place]
            other_length = scratch[END, other] - scratch[BEGIN, other]
            common, more = common_edges(choices, index, other, scratch, signals)
            looks += more
            if common == 0:
                continue
            holder = index if length >= other_length else other
            scratch[TAKEN, holder] += 1
            # What two choices take from a run are two edges only if those collide as well.
            if common < min(length, other_length) or (scratch[TAKEN, holder] > 1 and choices[holder, CLIQUE] == 0):
                return False, looks
    return True, looks


@inner
def is_exhausted(begin, end, scratch):  # type: ignore[no-untyped-def]
    """Whether others take all edges of some choice's run."""
    exhausted = False
    for index in range(begin, end):
        exhausted |= scratch[END, index] - scratch[BEGIN, index] <= scratch[TAKEN, index]
    return exhausted


@inner
def common_edges(choices, one, other, scratch, signals):  # type: ignore[no-untyped-def]
    """How many data edges are in the runs of both choices, and the looks at edges. A run is not sorted."""
    edges, other_edges = choices[one, CHOICE_EDGES], choices[other, CHOICE_EDGES]
    low, high = scratch[BEGIN, one], scratch[END, one]
    other_low, other_high = scratch[BEGIN, other], scratch[END, other]
    if edges == other_edges and low == other_low:
        return high - low, np.int64(1)
    common = np.int64(0)
    for place in range(low, high):
        if has_to_stop(signals):
            break
        edge = load_int64(edges, place)
        for other_place in range(other_low, other_high):
            common += load_int64(other_edges, other_place) == edge
    return common, 1 + (high - low) * (other_high - other_low)


@inner
def enumerated(choices, begin, end, collides, scratch, signals):  # type: ignore[no-untyped-def]
    """The ways to choose the edges that collide, one by one, and the looks at edges: an odometer, of which wheels that
    collide with no other stand still. When all have to stop it does, with whatever it has found: nobody asks for it."""
    last = end - 1
    depth = np.int64(begin)
    found = looks = np.int64(0)
    scratch[CURSOR, begin] = scratch[BEGIN, begin]
    while depth >= begin:
        looks += 1
        if looks & _OFTEN == 0 and has_to_stop(signals):
            break
        if scratch[CURSOR, depth] == scratch[END, depth]:
            depth -= 1
            continue
        edge = load_int64(choices[depth, CHOICE_EDGES], scratch[CURSOR, depth])
        scratch[CURSOR, depth] = scratch[END, depth] if choices[depth, FREE] == 1 else scratch[CURSOR, depth] + 1
        collision = False
        for index in range(choices[depth, COLLIDES_BEGIN], choices[depth, COLLIDES_END]):
            collision |= scratch[CHOSEN, collides[index]] == edge
        if collision:
            continue
        scratch[CHOSEN, depth] = edge
        if depth == last:
            found += 1
        else:
            depth += 1
            scratch[CURSOR, depth] = scratch[BEGIN, depth]
    return found, looks

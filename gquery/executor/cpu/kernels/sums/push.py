"""Pushes sums: for one root after the other, chains are matched down to their ends, and each end adds to counters.

A chain's counter of a vertex is the number of its matches that end there. The sum of a root is the sum over all
vertices that were reached of the product of their counters. Which were reached is kept as a list, so that a light root
costs what it reaches and no more; the counters are zero between two roots.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.intersect import accepts, floor_of, next_common, open_level, position_of
from gquery.executor.cpu.kernels.row_bitset import restore
from gquery.executor.cpu.kernels.sorted_rows import lower_bound, row
from gquery.executor.cpu.kernels.sums.numbers import factor_at, given_matches, load_row, reduced
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    EACH,
    ENTERING,
    MODULUS,
    MORE,
    QUANTUM,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    choices_of,
    ends_early,
    tables_of,
    takes_more,
    times,
    walk_of,
)
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import load_int32
from gquery.executor.cpu.search.packed import (
    BACKWARD_BEGIN,
    BACKWARD_END,
    CAP,
    CHILD,
    COUNTER,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    EXISTS,
    FACTORS,
    FIRST,
    LEVEL,
    LIKE,
    MINUS,
    NEIGHBOURS,
    OFFSETS,
    PARENT,
    ROWS,
    SIBLING,
    SIMPLE,
)

FAR = 1  # the level of the vertices that have counters
_HELD = np.int64(1) << 62  # in the counter of a vertex that is not to be counted just now
_MOST_HELD = 62  # levels at most


class Counters(NamedTuple):
    """numbers int64[kinds, universe]; reached int32[kinds, universe]: the vertices whose numbers are not zero, as many
    as fill[kind] says; held int64[*]: numbers of the vertices that are not to be counted."""

    numbers: NDArray[np.int64]
    reached: NDArray[np.int32]
    fill: NDArray[np.int64]
    held: NDArray[np.int64]


def counter_bytes(universe: int) -> int:
    """Bytes of one kind of counters."""
    return 12 * universe


def new_counters(kinds: int, universe: int) -> Counters:
    """Counters that are all zero."""
    numbers, reached = np.zeros((kinds, universe), np.int64), np.zeros((kinds, universe), np.int32)
    return Counters(numbers, reached, np.zeros(kinds, np.int64), np.zeros(_MOST_HELD, np.int64))


@inner
def push_row(tables, walk, counters, end):  # type: ignore[no-untyped-def]
    """Adds one for each vertex of the one row that leads to the end of a chain; returns the looks."""
    steps, adjacency = tables.steps, tables.backward[tables.steps[end, BACKWARD_BEGIN]]
    kind, values = steps[end, COUNTER], adjacency[NEIGHBOURS]
    numbers, reached = counters.numbers[kind], counters.reached[kind]
    position = np.int64(walk.positions[adjacency[LEVEL]])
    low, high = row(adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], position)
    floor = floor_of(tables, walk, end)
    if floor > 0:
        low = lower_bound(values, low, high, floor)
    begin, stop = steps[end, DIFFERENT_BEGIN], steps[end, DIFFERENT_END]
    for index in range(begin, stop):
        vertex = walk.vertices[tables.different[index]]
        counters.held[index - begin] = numbers[vertex]
        numbers[vertex] = _HELD
    fill = counters.fill[kind]
    for index in range(low, high):
        vertex = load_int32(values, index)
        number = numbers[vertex]
        numbers[vertex] = number + 1
        if number == 0:
            reached[fill] = vertex
            fill += 1
    for index in range(stop - 1, begin - 1, -1):
        numbers[walk.vertices[tables.different[index]]] = counters.held[index - begin]
    counters.fill[kind] = fill
    return high - low + 1


@inner
def push_common(tables, walk, counters, end):  # type: ignore[no-untyped-def]
    """Adds one for each vertex that all rows lead to; returns the looks."""
    kind = tables.steps[end, COUNTER]
    numbers, reached, fill = counters.numbers[kind], counters.reached[kind], counters.fill[kind]
    looks = np.int64(1)
    open_level(tables, walk, end)
    while True:
        vertex = next_common(tables, walk, end)
        if vertex < 0:
            break
        looks += 1
        if accepts(tables, walk, end, vertex, np.int32(vertex)):
            number = numbers[vertex]
            numbers[vertex] = number + 1
            if number == 0:
                reached[fill] = vertex
                fill += 1
    counters.fill[kind] = fill
    return looks


@inlined
def push_end(tables, walk, counters, end):  # type: ignore[no-untyped-def]
    """The end of a chain; returns the looks."""
    steps = tables.steps
    if steps[end, BACKWARD_END] - steps[end, BACKWARD_BEGIN] == 1 and steps[end, SIMPLE] == 1:
        looks = push_row(tables, walk, counters, end)
    else:
        looks = push_common(tables, walk, counters, end)
    return looks


@inlined
def end_of(steps, chain):  # type: ignore[no-untyped-def]
    """The last level of a chain."""
    while steps[chain, CHILD] >= 0:
        chain = steps[chain, CHILD]
    return chain


@inlined
def is_far(steps, vertex):  # type: ignore[no-untyped-def]
    """Whether a vertex is a candidate of the far level."""
    inside = position_of(steps, FAR, vertex) >= 0
    if steps[FAR, CUT_END] > 0:
        inside &= vertex >= steps[FAR, CUT_BEGIN] and vertex < steps[FAR, CUT_END]
    return inside


@inlined
def number_at(tables, counters, vertex, modulus):  # type: ignore[no-untyped-def]
    """The product of all chains' numbers of a vertex that the first of them has reached, modulo and about."""
    steps, numbers = tables.steps, counters.numbers
    product, about = np.uint64(1), 1.0
    if not is_far(steps, vertex):
        about = 0.0
    elif steps[FAR, FACTORS] != 0:
        product, about = factor_at(steps, FAR, vertex)
    chain = steps[FAR, SIBLING]
    while chain >= 0 and about != 0.0:
        end = end_of(steps, chain)
        number = max(numbers[steps[end, COUNTER], vertex] - steps[end, MINUS], np.int64(0))
        if steps[chain, CAP] == EXISTS:
            number = min(number, np.int64(1))
        product = reduced(product * reduced(np.uint64(number), modulus), modulus)
        about = times(about, number)
        chain = steps[chain, SIBLING]
    return product, about


@inlined
def first_kind(steps):  # type: ignore[no-untyped-def]
    """The counters of the first chain: no vertex counts that it has not reached."""
    return steps[end_of(steps, steps[FAR, SIBLING]), COUNTER]


@inner
def harvest(tables, counters, modulus):  # type: ignore[no-untyped-def]
    """The sum over all vertices that the first chain has reached of the product of their numbers, modulo and about.
    All numbers are zero then."""
    kind = first_kind(tables.steps)
    total, size = np.uint64(0), 0.0
    for index in range(counters.fill[kind]):
        product, about = number_at(tables, counters, counters.reached[kind, index], modulus)
        if about != 0.0:
            total = reduced(total + product, modulus)
            size += about
    clear(counters)
    return total, size


@inner
def clear(counters):  # type: ignore[no-untyped-def]
    """All numbers are zero again."""
    for kind in range(len(counters.fill)):
        for index in range(counters.fill[kind]):
            counters.numbers[kind, counters.reached[kind, index]] = 0
        counters.fill[kind] = 0


@inlined
def next_chain(steps, chain):  # type: ignore[no-untyped-def]
    """The next chain that has to be matched, -1 for none: those that are like others are not."""
    chain = steps[chain, SIBLING]
    while chain >= 0 and steps[chain, LIKE] >= 0:
        chain = steps[chain, SIBLING]
    return chain


@inner
def push_chains(tables, walk, counters, level, entering, budget, pause):  # type: ignore[no-untyped-def]
    """Goes on with the chains of a root, at a level of one of them, until what is left of the budget is `pause`, or all
    are pushed. Returns the level, -1 when they are, whether it is entered, and what is left of the budget."""
    steps = tables.steps
    while level > 0 and budget > pause:
        if entering == 1:
            budget -= 1
            open_level(tables, walk, level)
            entering = np.int64(0)
        # Candidates of an open level of a chain, until one has another level of the chain below it.
        chain, below = level, steps[level, CHILD]
        inner_level = steps[below, CHILD] >= 0
        while budget > pause:
            budget -= 1
            position = next_common(tables, walk, level)
            if position < 0:
                level = steps[level, PARENT]
                break
            if accepts(tables, walk, level, position, np.int32(position)):
                walk.found[level] += 1
                if inner_level:
                    level = below
                    entering = np.int64(1)
                    break
                budget -= push_end(tables, walk, counters, below) >> 1
        if level < 1:
            level = next_chain(steps, chain)
            entering = np.int64(1)
    return level, entering, budget


@kernel
def sum_push(plan, work, marked, counters, given, sums, sizes, budget):  # type: ignore[no-untyped-def]
    """One slice, as `total` does it: adds to `sums` uint64[] and `sizes` float64[], for each row of `given` int32[1,
    rows] or for all."""
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    choices = choices_of(plan, work, tables)
    steps = tables.steps
    state = work[:STATE_SLOTS]
    modulus = np.uint64(state[MODULUS])
    level, entering = state[DEPTH], state[ENTERING]
    status = MORE
    restore(tables, walk, np.int64(len(steps) - 1) if level > 0 else np.int64(-1))
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if level < 1:
            if state[ROW] >= state[ROW_END] and not takes_more(state):
                status = DONE
                break
            budget -= 1
            load_row(tables, walk, given, state[ROW], np.int64(1))
            level = next_chain(steps, FAR)
            entering = np.int64(1)
        level, entering, budget = push_chains(tables, walk, counters, level, entering, budget, pause)
        if level < 1:
            total, size = harvest(tables, counters, modulus)
            product, about, looks = given_matches(tables, walk, choices, np.int64(1), modulus)
            budget -= looks
            place = state[ROW] * state[EACH]
            sums[place] = reduced(sums[place] + reduced(product * total, modulus), modulus)
            sizes[place] += times(about, size)
            state[ROW] += 1
    state[DEPTH] = level if level > 0 else np.int64(-1)
    state[ENTERING] = entering
    state[STATUS] = status

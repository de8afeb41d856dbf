"""Sums matches out: how many ways there are to finish each partial match, without listing them.

The levels that are summed out form a tree. Matches below different children of a level do not depend on each other, so
their numbers multiply; the sum over a level's candidates is the number of ways to match its subtree. That number
depends only on the level's *context*, the vertices above that the subtree is tied to, and is remembered by it: a
search over an AND/OR tree with caching, so the work grows with the number of contexts and not with that of matches.
The memory of sums is a table that forgets: an entry gives way to the next with the same slot.

Numbers are kept modulo 2^64 or a given modulus, and beside that as floating-point numbers, which tell how large they
are and whether they are zero.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.caps import capped
from gquery.executor.cpu.kernels.edge_choices import count_choices
from gquery.executor.cpu.kernels.intersect import accepts, leaf_size, next_common, open_level
from gquery.executor.cpu.kernels.row_bitset import restore
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    ENTERING,
    MORE,
    ROW,
    ROW_END,
    STATE_SLOTS,
    STATUS,
    column_of,
    cursors_of,
    levels_of,
    scratch_of,
    table_of,
)
from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.machine.native import load_float, load_int32, load_word
from gquery.executor.cpu.search.packed import (
    ABSENT,
    ADJACENCY_COLUMNS,
    BACKWARD,
    BOTTOM,
    CAP,
    CHILD,
    CHOICE_COLUMNS,
    CHOICES,
    COLLIDES,
    COMPARE,
    CONTEXT,
    CONTEXT_BEGIN,
    CONTEXT_END,
    DIFFERENT,
    DIRECT,
    EXISTS,
    FACTOR,
    FACTOR_BASE,
    FACTOR_SIZES,
    FACTORS,
    KEY_LEVEL,
    PAIRS,
    PARENT,
    SET_COUNT,
    SIBLING,
    SLOTS,
    SLOTS_BEGIN,
    SMALLER,
    STEP_COLUMNS,
    STEPS,
    VERTICES,
    WEIGHTS_BEGIN,
    WEIGHTS_END,
)

# Columns of the memory, int64[slots, 3], and of the same bytes as float64.
KEY, SUM, APPROXIMATE = 0, 1, 2  # KEY is one more than the context's, 0 in an empty entry


@inlined
def key_of(steps, context, level, positions):  # type: ignore[no-untyped-def]
    """The number of the level's context: different contexts have different numbers."""
    key = np.int64(0)
    for index in range(steps[level, CONTEXT_BEGIN], steps[level, CONTEXT_END]):
        key += np.int64(positions[context[index, KEY_LEVEL]]) * context[index, FACTOR]
    return key


@inlined
def slot_of(steps, level, key):  # type: ignore[no-untyped-def]
    """Where the memory keeps the sum of a context."""
    slot = key
    if steps[level, DIRECT] == 0:
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64((mixed >> np.uint64(32)) & np.uint64(steps[level, SLOTS] - 1))
    return steps[level, SLOTS_BEGIN] + slot


@inlined
def factor_at(steps, level, position):  # type: ignore[no-untyped-def]
    """The product of the folded branches at a candidate, modulo and about; the level must have factors."""
    place = np.int64(position) - steps[level, FACTOR_BASE]
    return load_word(steps[level, FACTORS], place), load_float(steps[level, FACTOR_SIZES], place)


@inlined
def load_row(steps, given, input_row, stop, positions, vertices):  # type: ignore[no-untyped-def]
    """Positions and vertices of a partial match of `stop` levels."""
    for column in range(stop):
        position = given[column, input_row]
        positions[column] = position
        address = steps[column, VERTICES]
        vertices[column] = load_int32(address, np.int64(position)) if address != 0 else position


@inlined
def own_matches(steps, choices, collides, start, modulus, positions, scratch):  # type: ignore[no-untyped-def]
    """What a given row of `start` levels stands for by itself: its choices of edges and what is folded into it."""
    product, size = np.uint64(1), 1.0
    for level in range(start):
        begin, end = steps[level, WEIGHTS_BEGIN], steps[level, WEIGHTS_END]
        if begin < end:
            weight, weight_size = count_choices(choices, begin, end, collides, modulus, positions, scratch)
            product *= weight
            size *= weight_size
            if modulus != 0:
                product %= modulus
        if steps[level, FACTORS] != 0:
            factor, factor_size = factor_at(steps, level, positions[level])
            product *= factor
            size *= factor_size
            if modulus != 0:
                product %= modulus
    return product, size


@kernel
def total(  # type: ignore[no-untyped-def]
    plan,
    work,
    matched,
    exact,
    approximate,
    given,
    sums,
    sizes,
    memory,
    memory_sizes,
    marks,
    marked,
    start,
    modulus,
    budget,
):
    """One slice: fills `sums` uint64[] and `sizes` float64[] for the rows of `given` int32[start, rows].

    exact uint64[2, width], approximate float64[2, width]: the sum so far at each level, the product so far of its
    candidate. memory int64[slots, 3], memory_sizes: the same as float64. marks:
    address of uint64[]; marked int64[*, 3]: see `row_bitset.py`.
    """
    steps = table_of(plan, STEPS, STEP_COLUMNS)
    backward = table_of(plan, BACKWARD, ADJACENCY_COLUMNS)
    different = column_of(plan, DIFFERENT)
    smaller = column_of(plan, SMALLER)
    pairs = table_of(plan, PAIRS, 4)
    compare = table_of(plan, COMPARE, 5)
    absent = table_of(plan, ABSENT, ADJACENCY_COLUMNS)
    context = table_of(plan, CONTEXT, 2)
    choices = table_of(plan, CHOICES, CHOICE_COLUMNS)
    collides = column_of(plan, COLLIDES)
    positions, vertices = matched[0], matched[1]
    width, rows = len(steps), len(backward)
    state = work[: STATE_SLOTS + width]
    pivots, last = levels_of(work, width, 0), levels_of(work, width, 1)
    begins, cursors = cursors_of(work, width, rows, 0), cursors_of(work, width, rows, 1)
    ends, bitsets = cursors_of(work, width, rows, 2), cursors_of(work, width, rows, 3)
    scratch = scratch_of(work, width, rows, len(choices))
    level_sums, products = exact[0], exact[1]
    level_sizes, product_sizes = approximate[0], approximate[1]
    top = start - 1
    level = state[DEPTH]
    entering = state[ENTERING]
    status = MORE
    restore(steps, backward, level, positions, bitsets, marks, marked)
    while budget > 0:
        if level < start:
            if state[ROW] >= state[ROW_END]:
                status = DONE
                break
            load_row(steps, given, state[ROW], start, positions, vertices)
            budget -= 1
            products[top], product_sizes[top] = own_matches(
                steps, choices, collides, start, modulus, positions, scratch
            )
            level = steps[top, CHILD]
            entering = np.int64(1)
            if level < 0 or product_sizes[top] == 0.0:
                sums[state[ROW]] = products[top]
                sizes[state[ROW]] = product_sizes[top]
                state[ROW] += 1
                level = np.int64(-1)
                continue
        value, size = np.uint64(0), 0.0
        recalled = False
        slot = np.int64(-1)
        key = np.int64(0)
        if steps[level, SLOTS] > 0:
            key = key_of(steps, context, level, positions) + 1
            slot = slot_of(steps, level, key - 1)
        if entering == 1:
            budget -= 1
            entering = np.int64(0)
            if slot >= 0 and memory[slot, KEY] == key:
                value = np.uint64(memory[slot, SUM])
                size = memory_sizes[slot, APPROXIMATE]
                slot = np.int64(-1)
                recalled = True
            else:
                if steps[level, SET_COUNT] == 0:
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
                    level_sums[level] = np.uint64(0)
                    level_sizes[level] = 0.0
                    continue
                found, looks = leaf_size(
                    steps,
                    backward,
                    smaller,
                    different,
                    absent,
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
                budget -= looks
                value = np.uint64(found)
                size = float(found)
        else:
            position = np.int64(-1)
            down = False
            while budget > 0:
                budget -= 1
                position = np.int64(-1)
                if level_sizes[level] == 0.0 or steps[level, CAP] < EXISTS:
                    position = next_common(steps, backward, level, cursors, ends, bitsets, pivots, last)
                if position < 0:
                    break
                address = steps[level, VERTICES]
                vertex = load_int32(address, position) if address != 0 else np.int32(position)
                if not accepts(
                    steps,
                    different,
                    pairs,
                    compare,
                    absent,
                    level,
                    position,
                    vertex,
                    positions,
                    vertices,
                    marks,
                    marked,
                ):
                    continue
                state[STATE_SLOTS + level] += 1
                product, product_size = np.uint64(1), 1.0
                if steps[level, WEIGHTS_BEGIN] < steps[level, WEIGHTS_END]:
                    product, product_size = count_choices(
                        choices,
                        steps[level, WEIGHTS_BEGIN],
                        steps[level, WEIGHTS_END],
                        collides,
                        modulus,
                        positions,
                        scratch,
                    )
                    if product_size == 0.0:
                        continue
                if steps[level, FACTORS] != 0:
                    factor, factor_size = factor_at(steps, level, position)
                    product *= factor
                    product_size *= factor_size
                    if modulus != 0:
                        product %= modulus
                    if product_size == 0.0:
                        continue
                child = steps[level, CHILD]
                if steps[level, BOTTOM] == 1:
                    while child >= 0 and product_size != 0.0:
                        found, looks = leaf_size(
                            steps,
                            backward,
                            smaller,
                            different,
                            absent,
                            child,
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
                        budget -= looks
                        value, size = capped(steps[child, CAP], np.uint64(found), float(found))
                        product *= value
                        product_size *= size
                        if modulus != 0:
                            product %= modulus
                        child = steps[child, SIBLING]
                elif child >= 0:
                    products[level] = product
                    product_sizes[level] = product_size
                    level = child
                    entering = np.int64(1)
                    down = True
                    break
                level_sums[level] += product
                level_sizes[level] += product_size
                if modulus != 0:
                    level_sums[level] %= modulus
            if down or position >= 0:
                continue
            value = level_sums[level]
            if modulus != 0:
                value %= modulus
            size = level_sizes[level]
        # The sum of `level` is known: it is remembered, and is a factor of the parent's candidate.
        if not recalled:
            value, size = capped(steps[level, CAP], value, size)
        if slot >= 0:
            memory[slot, KEY] = key
            memory[slot, SUM] = np.int64(value)
            memory_sizes[slot, APPROXIMATE] = size
        sibling = steps[level, SIBLING]
        level = steps[level, PARENT]
        products[level] *= value
        if modulus != 0:
            products[level] %= modulus
        product_sizes[level] *= size
        if size > 0.0 and sibling >= 0:
            level = sibling
            entering = np.int64(1)
        elif level == top:
            sums[state[ROW]] = products[top]
            sizes[state[ROW]] = product_sizes[top]
            state[ROW] += 1
            level = np.int64(-1)
        elif size > 0.0:
            level_sums[level] += products[level]
            level_sizes[level] += product_sizes[level]
    state[DEPTH] = level
    state[ENTERING] = entering
    state[STATUS] = status

"""Sums matches out: how many ways there are to finish each partial match, without listing them.

The levels that are summed out form a tree. Matches below different children of a level do not depend on each other, so
their numbers multiply; the sum over a level's candidates is the number of ways to match its subtree. That number
depends only on the level's *context*, the vertices above that the subtree is tied to, and is remembered by it: a
search over an AND/OR tree with caching, so the work grows with the number of contexts and not with that of matches.
The memory of sums is a table that forgets: an entry gives way to the next with the same slot. All workers share it.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.intersect import accepts, next_common, open_level, vertex_at
from gquery.executor.cpu.kernels.leaf_sizes import leaf_size
from gquery.executor.cpu.kernels.row_bitset import restore
from gquery.executor.cpu.kernels.sums.numbers import (
    add_row,
    capped,
    close_level,
    given_matches,
    load_row,
    own_matches,
    reduced,
    tree_of,
)
from gquery.executor.cpu.kernels.sums.remembered import recall, remember
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    ENTERING,
    MORE,
    QUANTUM,
    ROW,
    ROW_END,
    SPLIT,
    START,
    STATE_SLOTS,
    STATUS,
    choices_of,
    ends_early,
    tables_of,
    takes_more,
    times,
    walk_of,
)
from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.search.packed import (
    BOTTOM,
    CAP,
    CHILD,
    CONTEXT_BEGIN,
    CONTEXT_END,
    DIRECT,
    EXISTS,
    FACTOR,
    KEY_LEVEL,
    MINUS,
    SET_COUNT,
    SIBLING,
    SLOTS,
    SLOTS_BEGIN,
)

_USED_UP, _PAUSED = -1, -2  # instead of a level to go down to: no candidate is left; the budget is used


@inlined
def entry_of(tables, walk, tree, level):  # type: ignore[no-untyped-def]
    """Where the memory keeps the sum of the level's context, -1 when it is not remembered, and the context's key:
    different contexts have different keys, none of them 0."""
    steps, context = tables.steps, tree.context
    slot, key = np.int64(-1), np.int64(0)
    if steps[level, SLOTS] > 0:
        for index in range(steps[level, CONTEXT_BEGIN], steps[level, CONTEXT_END]):
            key += np.int64(walk.positions[context[index, KEY_LEVEL]]) * context[index, FACTOR]
        slot = key
        if steps[level, DIRECT] == 0:
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64((mixed >> np.uint64(32)) & np.uint64(steps[level, SLOTS] - 1))
        slot += steps[level, SLOTS_BEGIN]
    return slot, key + 1


@inlined
def times_leaves(tables, walk, level, product, size, modulus):  # type: ignore[no-untyped-def]
    """The product times the sizes of the leaves below a level whose children are all leaves, and the looks."""
    steps = tables.steps
    looks = np.int64(0)
    child = steps[level, CHILD]
    while child >= 0 and size != 0.0:
        found, more = leaf_size(tables, walk, child)
        looks += more
        factor, factor_size = capped(steps[child, CAP], np.uint64(found), float(found))
        product = reduced(product * factor, modulus)
        size = times(size, factor_size)
        child = steps[child, SIBLING]
    return product, size, looks


@inlined
def sum_candidates(tables, walk, choices, tree, level, left):  # type: ignore[no-untyped-def]
    """Adds candidates of an open level to its sum, until one has levels below it that are no leaves: returns the first
    of them, else _USED_UP or _PAUSED, and the looks."""
    steps = tables.steps
    looks = np.int64(0)
    below = np.int64(_PAUSED)
    while looks < left:
        looks += 1
        position = np.int64(-1)
        if tree.sizes[level] == 0.0 or steps[level, CAP] < EXISTS:
            position = next_common(tables, walk, level)
        if position < 0:
            below = np.int64(_USED_UP)
            break
        if not accepts(tables, walk, level, position, vertex_at(steps, level, position)):
            continue
        walk.found[level] += 1
        product, size, more = own_matches(tables, walk, choices, level, tree.modulus)
        looks += more
        if size == 0.0:
            continue
        if steps[level, BOTTOM] == 1:
            product, size, more = times_leaves(tables, walk, level, product, size, tree.modulus)
            looks += more
        elif steps[level, CHILD] >= 0:
            tree.products[level], tree.product_sizes[level] = product, size
            below = steps[level, CHILD]
            break
        tree.sums[level] = reduced(tree.sums[level] + product, tree.modulus)
        tree.sizes[level] += size
    return below, looks


@kernel
def total(plan, work, marked, memory, given, sums, sizes, budget):  # type: ignore[no-untyped-def]
    """One slice: adds to `sums` uint64[] and `sizes` float64[], for each row of `given` int32[start, rows] or for all.

    memory: address of the remembered sums. marked int64[*, 3]: see `row_bitset.py`.
    """
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    choices = choices_of(plan, work, tables)
    tree = tree_of(plan, work, len(tables.steps))
    steps = tables.steps
    state = work[:STATE_SLOTS]
    start = state[START]
    top = start - 1
    level, entering = state[DEPTH], state[ENTERING]
    status = MORE
    restore(tables, walk, level)
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if level < start:
            if state[ROW] >= state[ROW_END] and not takes_more(state):
                status = DONE
                break
            load_row(tables, walk, given, state[ROW], start)
            product, product_size, looks = given_matches(tables, walk, choices, start, tree.modulus)
            tree.products[top], tree.product_sizes[top] = product, product_size
            budget -= looks + 1
            level = steps[top, CHILD]
            entering = np.int64(1)
            if level < 0 or tree.product_sizes[top] == 0.0:
                add_row(tree, state, sums, sizes)
                level = np.int64(-1)
                continue
        value, size = np.uint64(0), 0.0
        slot, key = entry_of(tables, walk, tree, level)
        recalled = False
        if entering == 1:
            budget -= 1
            entering = np.int64(0)
            if slot >= 0:
                recalled, value, size = recall(memory, slot, key)
            if recalled:
                if steps[level, SET_COUNT] == 1:  # as `leaf_size` would leave it
                    walk.last[level] = np.int64(value) + steps[level, MINUS]
            elif steps[level, SET_COUNT] == 0:
                open_level(tables, walk, level)
                tree.sums[level], tree.sizes[level] = np.uint64(0), 0.0
                continue
            else:
                found, looks = leaf_size(tables, walk, level)
                budget -= looks
                value, size = np.uint64(found), float(found)
        else:
            below, looks = sum_candidates(tables, walk, choices, tree, level, min(budget, QUANTUM))
            budget -= looks
            if below >= 0:
                level = below
                entering = np.int64(1)
            if below != _USED_UP:
                continue
            value, size = reduced(tree.sums[level], tree.modulus), tree.sizes[level]
        # The sum of `level` is known: it is remembered, and goes up.
        if not recalled:
            value, size = capped(steps[level, CAP], value, size)
            if slot >= 0 and level > state[SPLIT]:
                remember(memory, slot, key, value, size)
        level, entering = close_level(steps, tree, level, value, size, top)
        if level == top:
            add_row(tree, state, sums, sizes)
            level = np.int64(-1)
    state[DEPTH] = level
    state[ENTERING] = entering
    state[STATUS] = status

"""Sums matches out inside the neighbourhood of each root: what else there is to match are all neighbours of it.

The neighbourhood is written once for each root, as bitsets of few words (`neighbourhood.py`): what several rows have in
common is their AND. All levels below work on it, depth first.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sums.members import is_leaf, next_inside, open_inside, size_inside
from gquery.executor.cpu.kernels.sums.neighbourhood import Inside, enter, leave, row_inside
from gquery.executor.cpu.kernels.sums.numbers import (
    Tree,
    add_row,
    close_level,
    factor_at,
    given_matches,
    load_row,
    reduced,
    tree_of,
)
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    ENTERING,
    HEAVY,
    MEMBERS,
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
from gquery.executor.cpu.machine.native import count_bits, pointer
from gquery.executor.cpu.search.packed import (
    AMONG,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTORS,
    LEAF,
    LEVEL,
    MINUS,
    PREPARED,
    SIBLING,
    SMALLER_BEGIN,
    SMALLER_END,
    TALLIED,
)

_ONE = np.uint64(1)


@inlined
def sum_members(tables, walk, inside, tree, level, left):  # type: ignore[no-untyped-def]
    """Adds candidates of an open level to its sum until one has a level below it that is no leaf: returns that level,
    -1 when all are used up, -2 when the budget is, and the looks."""
    steps = tables.steps
    looks = np.int64(0)
    below = np.int64(-2)
    while looks < left:
        looks += 1
        member = next_inside(walk, inside, level)
        if member < 0:
            below = np.int64(-1)
            break
        walk.positions[level] = member
        walk.found[level] += 1
        product, size = np.uint64(1), 1.0
        if steps[level, FACTORS] != 0:
            product, size = factor_at(steps, level, inside.members[member])
        child = steps[level, CHILD]
        while child >= 0 and size != 0.0 and is_leaf(steps, child):
            looks += 1 + (inside.words >> 2)
            found = size_inside(tables, walk, inside, child)
            product = reduced(product * np.uint64(found), tree.modulus)
            size = times(size, found)
            child = steps[child, SIBLING]
        if size == 0.0:
            continue
        if child >= 0:
            tree.products[level], tree.product_sizes[level] = product, size
            below = child
            break
        tree.sums[level] = reduced(tree.sums[level] + product, tree.modulus)
        tree.sizes[level] += size
    return below, looks


@inlined
def leads_to(tables, leaf, level):  # type: ignore[no-untyped-def]
    """The kind of rows that lead from a leaf to a level, and whether the two must differ."""
    steps, backward = tables.steps, tables.backward
    kind, apart = np.int64(0), False
    for index in range(steps[leaf, BACKWARD_BEGIN], steps[leaf, BACKWARD_END]):
        if backward[index, LEVEL] == level:
            kind = backward[index, AMONG]
    for index in range(steps[leaf, DIFFERENT_BEGIN], steps[leaf, DIFFERENT_END]):
        apart |= tables.different[index] == level
    return kind, apart


@inner
def sum_tallied(tables, walk, inside, tree, level):  # type: ignore[no-untyped-def]
    """The sum over a level whose leaf is counted for all of its candidates at once, modulo and about, and the looks.
    The rows of all that the leaf can be are added up bit by bit: plane p has the bits p of the candidates' numbers."""
    steps, bits, words = tables.steps, inside.bits, inside.words
    leaf = np.int64(steps[level, CHILD])
    kind, apart = leads_to(tables, leaf, level)
    open_inside(tables, walk, inside, level, np.int64(-1))
    open_inside(tables, walk, inside, leaf, level)
    first, own, planes = walk.pivots[level], level * words, 2 * inside.width * words
    used = np.int64(0)
    looks = words - first
    while True:
        member = next_inside(walk, inside, leaf)
        if member < 0:
            break
        begin = row_inside(inside, kind, member)
        looks += (words - first) >> 2
        for word in range(first, words):
            carry = bits[begin + word] & bits[own + word]
            if apart and member >> 6 == word:
                carry &= ~(_ONE << np.uint64(member & 63))
            plane = np.int64(0)
            while carry != 0:
                place = planes + plane * words + word
                if plane == used:
                    for other in range(planes + plane * words + first, planes + (plane + 1) * words):
                        bits[other] = 0
                    used += 1
                both = bits[place] & carry
                bits[place] ^= carry
                carry = both
                plane += 1
    value, size = np.uint64(0), 0.0
    for word in range(first, words):
        walk.found[level] += count_bits(bits[own + word])  # type: ignore[call-arg]
        left = np.uint64(0)
        for plane in range(used):
            left |= bits[planes + plane * words + word]
        while left != 0:
            bit = np.uint64(count_bits((left & (~left + _ONE)) - _ONE))
            left &= left - _ONE
            number = np.int64(0)
            for plane in range(used):
                number |= np.int64(bits[planes + plane * words + word] >> bit & _ONE) << plane
            product, about = product_tallied(steps, leaf, number, tree.modulus)
            value = reduced(value + product, tree.modulus)
            size += about
            looks += 1
    return value, size, looks


@inner
def sum_prepared(tables, walk, inside, tree, level):  # type: ignore[no-untyped-def]
    """The sum over a level whose leaf one row leads to from there, modulo and about, and the looks. All else that the
    leaf must be in is intersected once for all candidates of the level."""
    steps, bits, words = tables.steps, inside.bits, inside.words
    leaf = np.int64(steps[level, CHILD])
    kind, _ = leads_to(tables, leaf, level)
    larger = False
    for index in range(steps[leaf, SMALLER_BEGIN], steps[leaf, SMALLER_END]):
        larger |= tables.smaller[index] == level
    open_inside(tables, walk, inside, level, np.int64(-1))
    walk.positions[level] = -1  # any leaf is larger
    open_inside(tables, walk, inside, leaf, level)
    own, whole = level * words, leaf * words
    begin, end = np.int64(walk.pivots[leaf]), words
    while begin < end and bits[whole + begin] == 0:
        begin += 1
    while begin < end and bits[whole + end - 1] == 0:
        end -= 1
    value, size, candidates = np.uint64(0), 0.0, np.int64(0)
    alone = steps[leaf, SIBLING] < 0
    minus = np.int64(steps[leaf, MINUS])
    for word in range(walk.pivots[level], words):
        left = bits[own + word]
        while left != 0:
            lowest = left & (~left + _ONE)
            left ^= lowest
            candidates += 1
            member = (word << 6) + count_bits(lowest - _ONE)  # type: ignore[call-arg]
            row = row_inside(inside, kind, member)
            number = np.int64(0)
            first = begin
            if larger:
                first = max(begin, word)
                if first == word and word < end:
                    below = lowest | (lowest - _ONE)
                    number -= count_bits(bits[whole + word] & bits[row + word] & below)
            for place in range(first, end):
                number += count_bits(bits[whole + place] & bits[row + place])
            if alone:
                number = max(number - minus, np.int64(0))
                value = reduced(value + np.uint64(number), tree.modulus)
                size += number
            else:
                product, about = product_tallied(steps, leaf, number, tree.modulus)
                value = reduced(value + product, tree.modulus)
                size += about
    walk.found[level] += candidates
    return value, size, words - begin + candidates * (1 + (end - begin >> 2))


@inlined
def product_tallied(steps, leaf, number, modulus):  # type: ignore[no-untyped-def]
    """What a candidate stands for that a leaf, and those like it, have so many members for."""
    product, size = np.uint64(1), 1.0
    while leaf >= 0:
        left = max(number - steps[leaf, MINUS], np.int64(0))
        product = reduced(product * np.uint64(left), modulus)
        size = times(size, left)
        leaf = np.int64(steps[leaf, SIBLING])
    return product, size


@kernel
def sum_inside(plan, work, marked, room, given, sums, sizes, budget):  # type: ignore[no-untyped-def]
    """One slice, as `total` does it: adds to `sums` uint64[] and `sizes` float64[], for each row of `given` int32[1,
    rows] or for all; the status is HEAVY when the next row has more neighbours than there is room for.
    """
    tables = tables_of(plan)
    walk = walk_of(work, marked, tables)
    choices = choices_of(plan, work, tables)
    steps = tables.steps
    width = len(steps)
    tree: Tree = tree_of(plan, work, width)
    state = work[:STATE_SLOTS]
    members, place, bits = pointer(room.members), pointer(room.place), pointer(room.bits)
    level, entering = state[DEPTH], state[ENTERING]
    status = MORE
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
            load_row(tables, walk, given, state[ROW], np.int64(1))
            product, product_size, looks = given_matches(tables, walk, choices, np.int64(1), tree.modulus)
            tree.products[0], tree.product_sizes[0] = product, product_size
            budget -= looks + 1
            root = np.int64(walk.vertices[0])
            count = np.int64(0)
            if tree.product_sizes[0] != 0.0:
                count, looks = enter(tables, walk, members, place, bits, root, len(room.members), len(room.bits))
                budget -= looks >> 2
            if count < 0:
                status = HEAVY
                break
            if count == 0:
                state[ROW] += 1
                continue
            walk.positions[0] = place[root]
            state[MEMBERS] = count
            level = steps[0, CHILD]
            entering = np.int64(1)
        count = state[MEMBERS]
        inside = Inside(members, place, bits, count, (count + 63) >> 6, width)
        value, size = np.uint64(0), 0.0
        if entering == 1:
            entering = np.int64(0)
            budget -= 1 + (inside.words >> 2)
            if steps[level, LEAF] == TALLIED:
                value, size, looks = sum_tallied(tables, walk, inside, tree, level)
                budget -= looks
            elif steps[level, LEAF] == PREPARED and steps[level, FACTORS] == 0:
                value, size, looks = sum_prepared(tables, walk, inside, tree, level)
                budget -= looks
            elif is_leaf(steps, level):
                found = size_inside(tables, walk, inside, level)
                value, size = np.uint64(found), float(found)
            else:
                open_inside(tables, walk, inside, level, np.int64(-1))
                tree.sums[level], tree.sizes[level] = np.uint64(0), 0.0
                continue
        else:
            below, looks = sum_members(tables, walk, inside, tree, level, min(budget, QUANTUM))
            budget -= looks
            if below >= 0:
                level = below
                entering = np.int64(1)
            if below != -1:
                continue
            value, size = tree.sums[level], tree.sizes[level]
        level, entering = close_level(steps, tree, level, value, size, np.int64(0))
        if level == 0:
            add_row(tree, state, sums, sizes)
            leave(members, place, count)
    state[DEPTH] = level if level > 0 else np.int64(-1)
    state[ENTERING] = entering
    state[STATUS] = status

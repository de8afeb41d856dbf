"""Sums matches out inside the neighbourhood of each root: what else there is to match are all neighbours of it.

The neighbours of one root are few. They are numbered anew, in their order, and the edges among them written as bitsets
of these numbers: a row is a few words, and what several rows have in common is their AND. That is done once for each
root; all levels below work on it, depth first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.intersect import position_of
from gquery.executor.cpu.kernels.sorted_rows import contains, lower_bound, row
from gquery.executor.cpu.kernels.sums.tree import (
    Tree,
    add_row,
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
    is_wanted,
    tables_of,
    takes_more,
    walk_of,
)
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import count_bits, load_int32, pointer
from gquery.executor.cpu.search.packed import (
    AMONG,
    BACKWARD_BEGIN,
    BACKWARD_END,
    CHILD,
    CUT_BEGIN,
    CUT_END,
    DIFFERENT_BEGIN,
    DIFFERENT_END,
    FACTORS,
    FIRST,
    FROM_ROOT,
    LEVEL,
    LIKE,
    MINUS,
    NEIGHBOURS,
    OFFSETS,
    PARENT,
    ROWS,
    SIBLING,
    SMALLER_BEGIN,
    SMALLER_END,
    InsideRoom,
)

_ONE, _ALL = np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_LONG = 16  # times as long as there are members: the members are looked for in such a row


class Room(NamedTuple):
    """Where the neighbourhood of one root after the other is written, by one worker: members int32[*]; place
    int32[universe], -1 between two roots; bits uint64[*]."""

    members: NDArray[np.int32]
    place: NDArray[np.int32]
    bits: NDArray[np.uint64]


def new_room(room: InsideRoom) -> Room:
    """Room for so many."""
    place = np.full(room.universe, -1, np.int32)
    return Room(np.zeros(room.members, np.int32), place, np.zeros(room.words, np.uint64))


class Inside(NamedTuple):
    """The neighbourhood of one root. members: its vertices, ascending; place: the number of each, -1 for all others;
    bits: for each level the candidates that are left, then all that it can have, then the rows of each kind of edges by
    member, `words` words each. size: members; width: levels."""

    members: NDArray[np.int32]
    place: NDArray[np.int32]
    bits: NDArray[np.uint64]
    size: int
    words: int
    width: int


@inlined
def row_at(tables, walk, inside, index):  # type: ignore[no-untyped-def]
    """Where the bits of a row of `backward` begin."""
    adjacency = tables.backward[index]
    member = np.int64(walk.positions[adjacency[LEVEL]])
    return (2 * inside.width + adjacency[AMONG] * inside.size + member) * inside.words


@inner
def gather(tables, walk, members, place, root, lowest, room):  # type: ignore[no-untyped-def]
    """Numbers the neighbours of a root from `lowest` on; returns how many there are, -1 for more than `room`."""
    backward, cursors, ends = tables.backward, walk.cursors, walk.ends
    for index in range(len(backward)):
        if backward[index, AMONG] == FROM_ROOT:
            low, high = row(backward[index, OFFSETS], backward[index, FIRST], backward[index, ROWS], root)
            cursors[index] = lower_bound(backward[index, NEIGHBOURS], low, high, lowest)
            ends[index] = high
    count = np.int64(0)
    while True:
        least = np.int64(-1)
        for index in range(len(backward)):
            if backward[index, AMONG] == FROM_ROOT and cursors[index] < ends[index]:
                neighbour = np.int64(load_int32(backward[index, NEIGHBOURS], cursors[index]))
                if least < 0 or neighbour < least:
                    least = neighbour
        if least < 0:
            return count
        for index in range(len(backward)):
            if backward[index, AMONG] == FROM_ROOT:
                while cursors[index] < ends[index] and load_int32(backward[index, NEIGHBOURS], cursors[index]) == least:
                    cursors[index] += 1
        if count == room:
            leave(members, place, count)
            return np.int64(-1)
        members[count] = least
        place[least] = count
        count += 1


@inner
def leave(members, place, count):  # type: ignore[no-untyped-def]
    """Forgets the numbers."""
    for index in range(count):
        place[members[index]] = -1


@inner
def write_masks(tables, inside, root):  # type: ignore[no-untyped-def]
    """What each level can have: the members that are candidates, larger than the root if they must be, and in all of
    its rows of the root."""
    steps, backward = tables.steps, tables.backward
    for level in range(1, inside.width):
        begin = (inside.width + level) * inside.words
        for word in range(inside.words):
            inside.bits[begin + word] = 0
        above = np.int64(-1)
        for index in range(steps[level, SMALLER_BEGIN], steps[level, SMALLER_END]):
            if tables.smaller[index] == 0:
                above = root
        for member in range(inside.size if steps[level, BACKWARD_BEGIN] < steps[level, BACKWARD_END] else 0):
            vertex = inside.members[member]
            passes = vertex > above and position_of(steps, level, vertex) >= 0
            if steps[level, CUT_END] > 0:
                passes &= vertex >= steps[level, CUT_BEGIN] and vertex < steps[level, CUT_END]
            for index in range(steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]):
                if passes and backward[index, AMONG] < 0:
                    low, high = row(backward[index, OFFSETS], backward[index, FIRST], backward[index, ROWS], root)
                    passes = contains(backward[index, NEIGHBOURS], low, high, vertex)
            inside.bits[begin + (member >> 6)] |= np.uint64(passes) << np.uint64(member & 63)


@inner
def write_rows(adjacency, inside, number, lowest):  # type: ignore[no-untyped-def]
    """The rows of one kind of edges among the members; returns the looks."""
    members, place, bits, words = inside.members, inside.place, inside.bits, inside.words
    values = adjacency[NEIGHBOURS]
    looks = np.int64(0)
    for member in range(inside.size):
        begin = (2 * inside.width + number * inside.size + member) * words
        for word in range(words):
            bits[begin + word] = 0
        low, high = row(adjacency[OFFSETS], adjacency[FIRST], adjacency[ROWS], members[member])
        if lowest > 0:
            low = lower_bound(values, low, high, lowest)
        if high - low > _LONG * inside.size:
            looks += inside.size
            for other in range(inside.size):
                low = lower_bound(values, low, high, members[other])
                if low == high:
                    break
                inside_row = load_int32(values, low) == members[other]
                bits[begin + (other >> 6)] |= np.uint64(inside_row) << np.uint64(other & 63)
        else:
            looks += high - low
            for index in range(low, high):
                found = np.int64(place[load_int32(values, index)])
                if found >= 0:
                    bits[begin + (found >> 6)] |= _ONE << np.uint64(found & 63)
    return looks


@inlined
def floor_inside(tables, walk, level):  # type: ignore[no-untyped-def]
    """The first member that a level may take. That all are above the root, if they must be, the masks know."""
    floor = np.int64(0)
    for index in range(tables.steps[level, SMALLER_BEGIN], tables.steps[level, SMALLER_END]):
        if tables.smaller[index] > 0:
            floor = max(floor, np.int64(walk.positions[tables.smaller[index]]) + 1)
    return floor


@inlined
def is_leaf(steps, level):  # type: ignore[no-untyped-def]
    """Whether the sum of a level is the size of a set: there is nothing below, and nothing folded into it."""
    return steps[level, CHILD] < 0 and steps[level, FACTORS] == 0


@inner
def size_inside(tables, walk, inside, level):  # type: ignore[no-untyped-def]
    """Matches of a leaf."""
    steps, backward, bits = tables.steps, tables.backward, inside.bits
    if steps[level, LIKE] >= 0:
        return max(walk.last[steps[level, LIKE]] - steps[level, MINUS], np.int64(0))
    begin, end = steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]
    mask = (inside.width + level) * inside.words
    floor = floor_inside(tables, walk, level)
    first = floor >> 6
    one = other = mask
    rows = 0
    for index in range(begin, end):
        if backward[index, AMONG] >= 0:
            rows += 1
            other = row_at(tables, walk, inside, index)
            if rows == 1:
                one = other
    count = np.int64(0)
    if first < inside.words:
        below = (_ONE << np.uint64(floor & 63)) - _ONE
        if rows <= 2:
            for word in range(first, inside.words):
                count += count_bits(bits[mask + word] & bits[one + word] & bits[other + word])  # type: ignore[call-arg]
            count -= count_bits(bits[mask + first] & bits[one + first] & bits[other + first] & below)  # type: ignore[call-arg]
        else:
            for word in range(first, inside.words):
                common = bits[mask + word]
                for index in range(begin, end):
                    if backward[index, AMONG] >= 0:
                        common &= bits[row_at(tables, walk, inside, index) + word]
                if word == first:
                    common &= ~below
                count += count_bits(common)  # type: ignore[call-arg]
    for place in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        member = np.int64(walk.positions[tables.different[place]])
        taken = member >= floor and bit_at(inside, mask, member)
        for earlier in range(steps[level, DIFFERENT_BEGIN], place):
            taken &= walk.positions[tables.different[earlier]] != member
        for index in range(begin, end):
            if taken and backward[index, AMONG] >= 0:
                taken = bit_at(inside, row_at(tables, walk, inside, index), member)
        count -= taken
    walk.last[level] = count
    return max(count - steps[level, MINUS], np.int64(0))


@inlined
def bit_at(inside, begin, member):  # type: ignore[no-untyped-def]
    return (inside.bits[begin + (member >> 6)] >> np.uint64(member & 63)) & _ONE != 0


@inner
def open_inside(tables, walk, inside, level):  # type: ignore[no-untyped-def]
    """Writes the candidates of a level that is gone through."""
    steps, backward, bits = tables.steps, tables.backward, inside.bits
    begin, mask = level * inside.words, (inside.width + level) * inside.words
    floor = floor_inside(tables, walk, level)
    first = floor >> 6
    for word in range(first, inside.words):
        bits[begin + word] = bits[mask + word]
    for index in range(steps[level, BACKWARD_BEGIN], steps[level, BACKWARD_END]):
        if backward[index, AMONG] >= 0:
            other = row_at(tables, walk, inside, index)
            for word in range(first, inside.words):
                bits[begin + word] &= bits[other + word]
    if first < inside.words:
        bits[begin + first] &= _ALL << np.uint64(floor & 63)
    for index in range(steps[level, DIFFERENT_BEGIN], steps[level, DIFFERENT_END]):
        member = np.int64(walk.positions[tables.different[index]])
        if member >= 0:
            bits[begin + (member >> 6)] &= ~(_ONE << np.uint64(member & 63))
    walk.pivots[level] = first


@inlined
def next_inside(walk, inside, level):  # type: ignore[no-untyped-def]
    """Takes the next candidate of a level that is gone through; -1 when there is none."""
    begin, word = level * inside.words, walk.pivots[level]
    while word < inside.words and inside.bits[begin + word] == 0:
        word += 1
    walk.pivots[level] = word
    member = np.int64(-1)
    if word < inside.words:
        left = inside.bits[begin + word]
        inside.bits[begin + word] = left & (left - _ONE)
        member = (word << 6) + count_bits((left & (~left + _ONE)) - _ONE)  # type: ignore[call-arg]
    return member


@inlined
def is_above_root(tables):  # type: ignore[no-untyped-def]
    """Whether all levels must be larger than the root, be it by way of others."""
    steps = tables.steps
    above = np.int64(1)  # a bit for each such level
    every = True
    for level in range(1, len(steps)):
        if steps[level, BACKWARD_BEGIN] < steps[level, BACKWARD_END]:
            own = np.int64(0)
            for index in range(steps[level, SMALLER_BEGIN], steps[level, SMALLER_END]):
                own |= above >> tables.smaller[index] & 1
            above |= own << level
            every &= own != 0
    return every


@inner
def enter(tables, walk, members, place, bits, root, most, room):  # type: ignore[no-untyped-def]
    """Writes the neighbourhood of a root. Returns how many members it has, -1 when there is no room, and the looks.
    most: members; room: words of `bits`."""
    lowest = np.int64(root) + 1 if is_above_root(tables) else np.int64(0)
    width = len(tables.steps)
    count = gather(tables, walk, members, place, root, lowest, most)
    looks = count + 1
    if count > 0:
        kinds = np.int64(0)
        for index in range(len(tables.backward)):
            kinds = max(kinds, tables.backward[index, AMONG] + 1)
        words = (count + 63) >> 6
        if (2 * width + kinds * count) * words > room:
            leave(members, place, count)
            return np.int64(-1), looks
        inside = Inside(members, place, bits, count, words, width)
        write_masks(tables, inside, root)
        for number in range(kinds):
            for index in range(len(tables.backward)):
                if tables.backward[index, AMONG] == number:
                    looks += write_rows(tables.backward[index], inside, number, lowest)
                    break
    return count, looks


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
            size *= found
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
    tree: Tree = tree_of(plan, work, marked, width)
    state = work[:STATE_SLOTS]
    members, place, bits = pointer(room.members), pointer(room.place), pointer(room.bits)
    level, entering = state[DEPTH], state[ENTERING]
    status = MORE
    pause = budget - QUANTUM
    while budget > 0:
        if budget <= pause:
            if is_wanted(state):
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
            if not is_leaf(steps, level):
                open_inside(tables, walk, inside, level)
                tree.sums[level], tree.sizes[level] = np.uint64(0), 0.0
                continue
            found = size_inside(tables, walk, inside, level)
            value, size = np.uint64(found), float(found)
        else:
            below, looks = sum_members(tables, walk, inside, tree, level, min(budget, QUANTUM))
            budget -= looks
            if below >= 0:
                level = below
                entering = np.int64(1)
            if below != -1:
                continue
            value, size = tree.sums[level], tree.sizes[level]
        # The sum of `level` is known: it is a factor of the parent's candidate.
        sibling = steps[level, SIBLING]
        level = steps[level, PARENT]
        tree.products[level] = reduced(tree.products[level] * value, tree.modulus)
        tree.product_sizes[level] *= size
        if size > 0.0 and sibling >= 0:
            level = sibling
            entering = np.int64(1)
        elif level == 0:
            add_row(tree, state, sums, sizes)
            leave(members, place, count)
        elif size > 0.0:
            tree.sums[level] = reduced(tree.sums[level] + tree.products[level], tree.modulus)
            tree.sizes[level] += tree.product_sizes[level]
    state[DEPTH] = level if level > 0 else np.int64(-1)
    state[ENTERING] = entering
    state[STATUS] = status

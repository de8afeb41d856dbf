"""Sums matches out in an order of its own for each partial match: next comes the vertex with the smallest set at hand.

EGSM (section 5.2) chooses the next vertex so inside a group when it lists. Here the sum splits wherever what is left
falls apart, which depends on the data, too: of vertices that must differ only those tie two parts together that still
have a candidate in common. A sum is remembered by what is left of the candidates, not by what was matched above: what
led there does not matter. So few of all matches are visited that planning need not look for a good order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.sorted_rows import lowest
from gquery.executor.cpu.kernels.sums.left import (
    component,
    count_nested,
    count_pair,
    is_nested,
    key_of,
    match,
    next_vertex,
    place_of,
    pointed,
)
from gquery.executor.cpu.kernels.sums.numbers import reduced
from gquery.executor.cpu.kernels.sums.remembered import recall_long, remember_long
from gquery.executor.cpu.kernels.workspace import (
    DEPTH,
    DONE,
    EACH,
    MODULUS,
    MORE,
    QUANTUM,
    ROW,
    ROW_END,
    SPLIT,
    STATE_SLOTS,
    STATUS,
    ends_early,
    takes_more,
    times,
)
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import count_bits, pointer

_ONE = np.uint64(1)

# Columns of `nodes`, uint64, one row a depth: the vertices of the sum, those of them that are not counted yet below the
# candidate, the candidates of the word that are left, its key, the sum so far, the candidate's product.
JOINED, REST, CANDIDATES, KEY, MORE_KEY, SUM, PRODUCT, NODE_COLUMNS = 0, 1, 2, 3, 4, 5, 6, 7
# Of `places`, int64: what is matched at this depth, the word where its bitset goes on, and the one where it ends.
VERTEX, WORD, WORD_END, PLACE_COLUMNS = 0, 1, 2, 3
ABOUT_SUM, ABOUT_PRODUCT, SIZE_COLUMNS = 0, 1, 2  # of `sizes`, float64: about the same
KEPT, LOOKS, ROOTS, DONE_SLOTS = 0, 1, 2, 3  # of `done`


class Stack(NamedTuple):
    """The sums in progress, and the address of the memory of those that are done, a power of two of slots. done
    int64[DONE_SLOTS]: how many were remembered, the looks so far, and the roots that are done."""

    nodes: NDArray[np.uint64]
    places: NDArray[np.int64]
    sizes: NDArray[np.float64]
    memory: int
    slots: int
    done: NDArray[np.int64]


@inner
def begin_sum(pattern, left, stack, depth, joined, key, more):  # type: ignore[no-untyped-def]
    """Begins the sum over some vertices."""
    vertex = next_vertex(pattern, left, depth, joined)
    nodes = stack.nodes
    nodes[depth * NODE_COLUMNS + JOINED], nodes[depth * NODE_COLUMNS + KEY], nodes[depth * NODE_COLUMNS + MORE_KEY] = (
        joined,
        key,
        more,
    )
    nodes[depth * NODE_COLUMNS + CANDIDATES] = left.bits[place_of(pattern, left, depth, vertex)]
    nodes[depth * NODE_COLUMNS + SUM] = nodes[depth * NODE_COLUMNS + PRODUCT] = nodes[depth * NODE_COLUMNS + REST] = (
        np.uint64(0)
    )
    stack.sizes[depth * SIZE_COLUMNS + ABOUT_SUM] = stack.sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT] = 0.0
    stack.places[depth * PLACE_COLUMNS + VERTEX], stack.places[depth * PLACE_COLUMNS + WORD] = vertex, 0
    stack.places[depth * PLACE_COLUMNS + WORD_END] = pattern.words[vertex]


@inlined
def next_candidate(pattern, left, stack, depth):  # type: ignore[no-untyped-def]
    """Takes the next candidate of the vertex that is matched at a depth; -1 when there is none."""
    vertex, word = stack.places[depth * PLACE_COLUMNS + VERTEX], stack.places[depth * PLACE_COLUMNS + WORD]
    bits, begin = stack.nodes[depth * NODE_COLUMNS + CANDIDATES], place_of(pattern, left, depth, vertex)
    while bits == 0 and word + 1 < stack.places[depth * PLACE_COLUMNS + WORD_END]:
        word += 1
        bits = left.bits[begin + word]
    candidate = np.int64(-1)
    if bits != 0:
        candidate = np.int64(word << 6) + lowest(bits)
        bits &= bits - _ONE
    stack.nodes[depth * NODE_COLUMNS + CANDIDATES], stack.places[depth * PLACE_COLUMNS + WORD] = bits, word
    return candidate


@inlined
def take(pattern, left, stack, depth, candidate, modulus):  # type: ignore[no-untyped-def]
    """Adds what the last candidate stands for and goes on with another; returns the looks."""
    nodes, sizes = stack.nodes, stack.sizes
    nodes[depth * NODE_COLUMNS + SUM] = reduced(
        nodes[depth * NODE_COLUMNS + SUM] + nodes[depth * NODE_COLUMNS + PRODUCT], modulus
    )
    sizes[depth * SIZE_COLUMNS + ABOUT_SUM] += sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT]
    vertex = stack.places[depth * PLACE_COLUMNS + VERTEX]
    rest = nodes[depth * NODE_COLUMNS + JOINED] & ~(_ONE << np.uint64(vertex))
    dead, looks = match(pattern, left, depth, rest, vertex, candidate)
    nodes[depth * NODE_COLUMNS + PRODUCT], sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT] = (
        (np.uint64(0), 0.0) if dead else (_ONE, 1.0)
    )
    nodes[depth * NODE_COLUMNS + REST] = np.uint64(0) if dead else rest
    return looks


@inlined
def multiply(stack, depth, value, size, modulus):  # type: ignore[no-untyped-def]
    """A part of what is below a candidate is counted."""
    stack.nodes[depth * NODE_COLUMNS + PRODUCT] = reduced(stack.nodes[depth * NODE_COLUMNS + PRODUCT] * value, modulus)
    stack.sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT] = times(stack.sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT], size)
    if size == 0.0:
        stack.nodes[depth * NODE_COLUMNS + REST] = np.uint64(0)


@inner
def count_part(pattern, left, stack, depth, modulus):  # type: ignore[no-untyped-def]
    """Splits what is below a candidate, and counts the first part if that is known or soon done; else begins its sum, a
    level deeper. Returns the depth where the search goes on, and the looks."""
    below, nodes = depth + 1, stack.nodes
    joined = component(pattern, left, below, nodes[depth * NODE_COLUMNS + REST])
    nodes[depth * NODE_COLUMNS + REST] &= ~joined
    first = lowest(joined)
    others = joined & (joined - _ONE)
    if others == 0:
        count = left.counts[below * left.width + first]
        multiply(stack, depth, reduced(np.uint64(count), modulus), float(count), modulus)
        return depth, np.int64(1)
    if others & (others - _ONE) == 0:
        count, looks = count_pair(pattern, left, below, first, lowest(others))
        multiply(stack, depth, reduced(np.uint64(count), modulus), float(count), modulus)
        return depth, looks
    if is_nested(pattern, left, below, joined):
        value, size = count_nested(left, below, joined, modulus)
        multiply(stack, depth, value, size, modulus)
        return depth, np.int64(8)
    key, more = key_of(pattern, left, below, joined)
    slot = np.int64(key >> np.uint64(1)) & (stack.slots - 1)
    recalled, value, size = recall_long(stack.memory, slot, np.int64(key), np.int64(more))
    if recalled:
        multiply(stack, depth, value, size, modulus)
        return depth, np.int64(2)
    begin_sum(pattern, left, stack, below, joined, key, more)
    return below, np.int64(4)


@inlined
def end_sum(stack, depth, modulus, is_whole):  # type: ignore[no-untyped-def]
    """All candidates are used up: the sum is a factor above, and remembered unless a part of it is another worker's."""
    nodes = stack.nodes
    value = reduced(nodes[depth * NODE_COLUMNS + SUM] + nodes[depth * NODE_COLUMNS + PRODUCT], modulus)
    size = stack.sizes[depth * SIZE_COLUMNS + ABOUT_SUM] + stack.sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT]
    if is_whole:
        key, more = nodes[depth * NODE_COLUMNS + KEY], nodes[depth * NODE_COLUMNS + MORE_KEY]
        slot = np.int64(key >> np.uint64(1)) & (stack.slots - 1)
        remember_long(stack.memory, slot, np.int64(key), np.int64(more), value, size)
        stack.done[KEPT] += 1
    multiply(stack, depth - 1, value, size, modulus)


@inner
def left_at(pattern, left, stack, depth):  # type: ignore[no-untyped-def]
    """How many candidates are left at a depth, of the word in progress and of those behind it."""
    begin = place_of(pattern, left, depth, stack.places[depth * PLACE_COLUMNS + VERTEX])
    first, end = stack.places[depth * PLACE_COLUMNS + WORD] + 1, stack.places[depth * PLACE_COLUMNS + WORD_END]
    count = np.int64(count_bits(stack.nodes[depth * NODE_COLUMNS + CANDIDATES]))  # type: ignore[call-arg]
    for word in range(first, end):
        count += count_bits(left.bits[begin + word])
    return count


@inner
def cut_at(pattern, left, stack, depth, count, wanted, is_busy):  # type: ignore[no-untyped-def]
    """The word from which on about so many of the candidates that are left at a depth are, but not all that a giver
    needs who is not busy; -1 where all are in one word. And that word, or the first behind the one in progress."""
    begin = place_of(pattern, left, depth, stack.places[depth * PLACE_COLUMNS + VERTEX])
    first, end = stack.places[depth * PLACE_COLUMNS + WORD] + 1, stack.places[depth * PLACE_COLUMNS + WORD_END]
    cut, only, behind, least = -1, first - 1, np.int64(0), count
    for word in range(end - 1, first - 1, -1):
        here = np.int64(count_bits(left.bits[begin + word]))  # type: ignore[call-arg]
        behind += here
        if here != 0:
            only = word
        if 0 < behind < count + is_busy and abs(behind - wanted) < least:
            cut, least = word, abs(behind - wanted)
    return cut, only


@inner
def copy_down_to(pattern, left, stack, other_left, other, depth):  # type: ignore[no-untyped-def]
    """Copies where a sum stands, from the root down to a depth, without what it has found and has left."""
    width, depths = pattern.width, depth + 1
    for place in range(depths * NODE_COLUMNS):
        other.nodes[place] = stack.nodes[place]
    for place in range(depths * PLACE_COLUMNS):
        other.places[place] = stack.places[place]
    for place in range(depths * SIZE_COLUMNS):
        other.sizes[place] = stack.sizes[place]
    for place in range(depths * pattern.begins[width]):
        other_left.bits[place] = left.bits[place]
    for place in range(depths * width):
        other_left.written[place], other_left.counts[place] = left.written[place], left.counts[place]
    for each in range(1, depths):
        other.nodes[each * NODE_COLUMNS + SUM] = other.nodes[each * NODE_COLUMNS + CANDIDATES] = np.uint64(0)
        other.sizes[each * SIZE_COLUMNS + ABOUT_SUM] = 0.0
        other.places[each * PLACE_COLUMNS + WORD_END] = 0
    other.nodes[depth * NODE_COLUMNS + REST] = other.nodes[depth * NODE_COLUMNS + PRODUCT] = np.uint64(0)
    other.sizes[depth * SIZE_COLUMNS + ABOUT_PRODUCT] = 0.0


@kernel
def split(pattern, left, stack, other_left, other, deepest):  # type: ignore[no-untyped-def]
    """Leaves about half of the candidates at the shallowest depth that has any, down to the deepest, to another worker,
    whose sum goes on with these and has no others: whole words as far as that goes. Returns that depth, -1 where there
    is nothing to give. A giver that is not busy has something to go on with."""
    pattern, left = pointed(pattern, left)
    for depth in range(1, deepest + 1):
        is_busy = depth < deepest or stack.nodes[depth * NODE_COLUMNS + REST] != 0
        count = left_at(pattern, left, stack, depth)
        wanted = (count + is_busy) >> 1
        if wanted < 1:
            continue
        copy_down_to(pattern, left, stack, other_left, other, depth)
        node, place = depth * NODE_COLUMNS + CANDIDATES, depth * PLACE_COLUMNS
        begin = place_of(pattern, left, depth, stack.places[place + VERTEX])
        cut, only = cut_at(pattern, left, stack, depth, count, wanted, is_busy)
        if cut >= 0:
            other.nodes[node] = left.bits[begin + cut]
            other.places[place + WORD], other.places[place + WORD_END] = cut, stack.places[place + WORD_END]
            stack.places[place + WORD_END] = cut
        else:
            bits = stack.nodes[node] if only == stack.places[place + WORD] else left.bits[begin + only]
            higher = bits
            for _ in range(count - wanted):
                higher &= higher - _ONE
            stack.nodes[node], other.nodes[node] = bits ^ higher, higher
            stack.places[place + WORD] = other.places[place + WORD] = only
            stack.places[place + WORD_END] = other.places[place + WORD_END] = only + 1
        return depth
    return np.int64(-1)


@kernel
def sum_adaptively(pattern, left, stack, work, given, roots, sums, about, budget):  # type: ignore[no-untyped-def]
    """One slice, as `total` does it: adds to `sums` uint64[] and `about` float64[], for each row of `given` int32[1,
    rows] or for all. roots int32[]: by position of the first vertex, its number."""
    state, width = work[:STATE_SLOTS], pattern.width
    pattern, left = pointed(pattern, left)
    stack = Stack(
        pointer(stack.nodes),
        pointer(stack.places),
        pointer(stack.sizes),
        stack.memory,
        stack.slots,
        pointer(stack.done),
    )
    found = work[STATE_SLOTS : STATE_SLOTS + width]
    modulus = np.uint64(state[MODULUS])
    depth, status = state[DEPTH], MORE
    everyone = ~np.uint64(0) >> np.uint64(64 - width)
    pause = budget - QUANTUM
    whole = budget
    while budget > 0:
        if budget <= pause:
            stack.done[LOOKS] += whole - budget
            whole = budget
            if ends_early(state):
                break
            pause = budget - QUANTUM
        if depth < 0:
            if state[ROW] >= state[ROW_END] and not takes_more(state):
                status = DONE
                break
            stack.nodes[0 * NODE_COLUMNS + JOINED], stack.places[0 * PLACE_COLUMNS + VERTEX] = everyone, 0
            stack.nodes[0 * NODE_COLUMNS + SUM] = stack.nodes[0 * NODE_COLUMNS + PRODUCT] = np.uint64(0)
            stack.sizes[0 * SIZE_COLUMNS + ABOUT_SUM] = stack.sizes[0 * SIZE_COLUMNS + ABOUT_PRODUCT] = 0.0
            depth = np.int64(0)
            candidate = np.int64(roots[given[0, state[ROW]]])
            budget -= 1 + (take(pattern, left, stack, depth, candidate, modulus) >> 2)
        elif stack.nodes[depth * NODE_COLUMNS + REST] != 0:
            depth, looks = count_part(pattern, left, stack, depth, modulus)
            budget -= 1 + (looks >> 2)
        elif depth == 0:
            place = state[ROW] * state[EACH]
            sums[place] = reduced(sums[place] + stack.nodes[0 * NODE_COLUMNS + PRODUCT], modulus)
            about[place] += stack.sizes[0 * SIZE_COLUMNS + ABOUT_PRODUCT]
            state[ROW] += 1
            stack.done[ROOTS] += 1
            depth = np.int64(-1)
        else:
            candidate = next_candidate(pattern, left, stack, depth)
            if candidate < 0:
                end_sum(stack, depth, modulus, depth > state[SPLIT])
                depth -= 1
                state[SPLIT] = min(state[SPLIT], depth)
            else:
                found[stack.places[depth * PLACE_COLUMNS + VERTEX]] += 1
                budget -= 1 + (take(pattern, left, stack, depth, candidate, modulus) >> 2)
    stack.done[LOOKS] += whole - budget
    state[DEPTH] = depth
    state[STATUS] = status

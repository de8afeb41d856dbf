"""Breadth first: which vertices are reached from some others, each once.

Sources come in groups, one after the other, and what is reached from a group stands in the queue by which it is found.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import row
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import load_int32, prefetch

# Slots of the state. GROUP: which is under way. In its part of the queue: where that begins, the vertex whose row is
# looked at (-1 before the group is begun), the place in that row, the end, the end of the vertices that are as far
# away, and how far that is. What is asked: at most so many hops, -1 for any number; 1 where sources count as reached;
# how many edges are looked at in a slice.
GROUP, BEGIN, HEAD, PLACE, TAIL, LEVEL_END, DISTANCE, MOST, OWN, SLICE, STATE_SLOTS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
DONE, MORE, FULL = 0, 1, 2  # what comes back: all groups are done; slice over; the queue may be too short for a group

_NEAR, _FAR = 4, 8  # vertices of the queue between the one that is looked at and those whose rows are asked for


@kernel
def reach(state, adjacency, met, queue, sources, begins, ends):  # type: ignore[no-untyped-def]
    """Writes what is reached from each group of sources to the queue, near vertices first, and where that ends. Sources
    that do not count as reached are reached when an edge leads to them.

    adjacency: (first, rows, addresses of the offsets, the neighbours and the edges); met: uint64[], a bit for each
    vertex, all clear before and after each group; queue: int32[]; sources: int32[], those of group i between begins[i]
    and begins[i + 1]; ends: int64[groups].
    """
    left = state[SLICE]
    for group in range(state[GROUP], len(ends)):
        state[GROUP] = group
        if state[HEAD] < 0:
            count = begins[group + 1] - begins[group]
            if state[TAIL] + count + (len(met) << 6) > len(queue):
                return FULL
            _begin(state, met, queue, sources[begins[group] : begins[group + 1]])
        left = _spread(state, adjacency, met, queue, left)
        if left <= 0:
            return MORE
        _end(state, met, queue, 0 if state[OWN] else begins[group + 1] - begins[group])
        ends[group] = state[TAIL]
        state[HEAD] = -1
    state[GROUP] = len(ends)
    return DONE


@inlined
def _begin(state, met, queue, sources):  # type: ignore[no-untyped-def]
    state[BEGIN] = state[HEAD] = state[TAIL]
    for vertex in sources:
        queue[state[TAIL]] = vertex
        state[TAIL] += 1
        if state[OWN]:
            met[vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)
    state[PLACE] = state[DISTANCE] = 0
    state[LEVEL_END] = state[TAIL]


@inlined
def _end(state, met, queue, left_out):  # type: ignore[no-untyped-def]
    """Forgets what the group has met, and takes so many vertices from the beginning of its part of the queue."""
    for index in range(state[BEGIN], state[TAIL]):
        vertex = queue[index]
        met[vertex >> 6] = np.uint64(0)
        if index >= state[BEGIN] + left_out:
            queue[index - left_out] = vertex
    state[TAIL] -= left_out


@inner
def _spread(state, adjacency, met, queue, left):  # type: ignore[no-untyped-def]
    """Goes on until nothing new is reached, or `left` edges have been looked at; returns how many are left then."""
    first, rows, offsets, neighbours, _ = adjacency
    head, place, tail = state[HEAD], state[PLACE], state[TAIL]
    while head < tail and left > 0:
        if head == state[LEVEL_END]:
            state[LEVEL_END] = tail
            state[DISTANCE] += 1
        if state[DISTANCE] == state[MOST]:
            head = tail
            break
        if head + _FAR < tail:
            prefetch(offsets + 8 * (queue[head + _FAR] - first))  # type: ignore[call-arg]
            near, _ = row(offsets, first, rows, queue[head + _NEAR])
            prefetch(neighbours + 4 * near)
        low, high = row(offsets, first, rows, queue[head])
        low += place
        stop = min(high, low + left)
        left -= stop - low + 1
        for entry in range(low, stop):
            vertex = load_int32(neighbours, entry)
            word, bit = vertex >> 6, np.uint64(1) << np.uint64(vertex & 63)
            if met[word] & bit == np.uint64(0):
                met[word] |= bit
                queue[tail] = vertex
                tail += 1
        if stop < high:
            place += stop - low
        else:
            place = 0
            head += 1
    state[HEAD], state[PLACE], state[TAIL] = head, place, tail
    return left

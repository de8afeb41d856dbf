"""Shortest paths from one vertex to another: breadth first from both, the smaller frontier first, until they meet.

Side 0 begins at the source and goes along edges, side 1 begins at the target and goes against them.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import row
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import load_int32, load_int64, prefetch

# Columns of the state of a side: in its queue, the vertex whose row is looked at, the place in that row, the end of the
# frontier, the end; how far away the frontier is.
HEAD, PLACE, FRONTIER_END, TAIL, LENGTH = 0, 1, 2, 3, 4
SIDE_COLUMNS = 5
# Slots of what a search has: the pair and how far it is; the side whose turn it is or -1; a vertex that both have
# met or -1; where paths are written next; at most so many hops, -1 for any; what is asked; how many edges a slice has.
PAIR, STAGE, TURN, MET, VERTICES_END, EDGES_END, MOST, ASKED, SLICE, SLOTS = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
NOT_BEGUN, UNDER_WAY, OVER = 0, 1, 2  # values of STAGE
HOW_FAR, ONE_PATH, HOW_MANY, EVERY_PATH = 0, 1, 2, 3  # values of ASKED; the last is for `hop`, and not for `meet`
DONE, MORE, FULL = 0, 1, 2  # what comes back: all pairs are done; slice over; no room for a path
_NEAR, _FAR = 4, 8  # vertices of the queue between the one that is looked at and those whose rows are asked for
TOO_MANY, _MOST = -1, 2**63 - 1  # paths


@kernel
def meet(search, sides, along, tables, pairs, found, paths):  # type: ignore[no-untyped-def]
    """For pairs, from search[PAIR] on: how long their shortest paths are, -1 where there is none; as ASKED says one of
    them, or how many there are, TOO_MANY beyond 2^63.

    sides: int64[2, SIDE_COLUMNS]; along: for each side (first, rows, addresses of the offsets, the neighbours and the
    edges); tables: (met uint64[2, words], a bit for each vertex that a side has come to, all clear
    between two searches; distance int32[2, vertices], for these alone; queue int32[2, vertices]; ways int64[2,
    vertices], or [2, 0] where paths are not counted); pairs: int32[2, n], no source its own target; found:
    int64[2, n], for lengths and numbers; paths: (vertices int32[], edges int64[]), one path after the other.
    """
    met, _, queue, _ = tables
    left = search[SLICE]
    while search[PAIR] < pairs.shape[1]:
        pair = search[PAIR]
        if search[STAGE] == NOT_BEGUN:
            _begin(search, sides, tables, 0, pairs[0, pair])
            _begin(search, sides, tables, 1, pairs[1, pair])
            search[STAGE], search[TURN], search[MET] = UNDER_WAY, -1, -1
        if search[STAGE] == UNDER_WAY:
            left = _approach(search, sides, along, tables, left)
        if search[STAGE] == UNDER_WAY:
            return MORE
        length = sides[0, LENGTH] + sides[1, LENGTH] if search[MET] >= 0 else -1
        if search[ASKED] == ONE_PATH and length >= 0:
            if search[VERTICES_END] + length + 1 > len(paths[0]) or search[EDGES_END] + length > len(paths[1]):
                return FULL
            _write(search, along, tables, paths, length)
        elif search[ASKED] == HOW_MANY:
            found[1, pair] = _number(sides, tables)
        found[0, pair] = length
        for side in range(2):
            for index in range(sides[side, TAIL]):
                met[side, queue[side, index] >> 6] = np.uint64(0)
        search[STAGE] = NOT_BEGUN
        search[PAIR] += 1
    return DONE


@kernel
def hop(search, sides, adjacency, tables, side):  # type: ignore[no-untyped-def]
    """One side goes one hop on, whatever it meets; search[TURN] is -1 once it is through."""
    _hop(search, sides, adjacency, tables, side, search[SLICE])
    return DONE if search[TURN] < 0 else MORE


@inner
def _begin(search, sides, tables, side, vertex):  # type: ignore[no-untyped-def]
    met, distance, queue, ways = tables
    sides[side, HEAD] = sides[side, PLACE] = sides[side, LENGTH] = 0
    sides[side, FRONTIER_END] = sides[side, TAIL] = 1
    queue[side, 0], distance[side, vertex] = vertex, 0
    met[side, vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)
    if search[ASKED] == HOW_MANY:
        ways[side, vertex] = 1


@inner
def _approach(search, sides, along, tables, left):  # type: ignore[no-untyped-def]
    """Goes on from both sides until the search is over or `left` edges have been looked at; returns how many are left
    then."""
    while left > 0:
        if search[TURN] < 0:
            one, other = sides[0, TAIL] - sides[0, HEAD], sides[1, TAIL] - sides[1, HEAD]
            far = sides[0, LENGTH] + sides[1, LENGTH]
            if search[MET] >= 0 or one == 0 or other == 0 or far == search[MOST]:
                search[STAGE] = OVER
                return left
            search[TURN] = 1 if other < one else 0
        if search[TURN] == 0:
            left = _hop(search, sides, along[0], tables, 0, left)
        else:
            left = _hop(search, sides, along[1], tables, 1, left)
    return left


@inner
def _hop(search, sides, adjacency, tables, side, left):  # type: ignore[no-untyped-def]
    """One side goes on with its frontier, until it is through or, where one path is enough, comes upon a vertex of the
    other; returns how many edges are left to be looked at."""
    met, distance, queue, ways = tables
    first, rows, offsets, neighbours, _ = adjacency
    counting, stopping = search[ASKED] == HOW_MANY, search[ASKED] <= ONE_PATH
    noting = search[ASKED] != HOW_FAR  # how far away vertices are: nobody goes back along them
    head, place, tail = sides[side, HEAD], sides[side, PLACE], sides[side, TAIL]
    end, far = sides[side, FRONTIER_END], sides[side, LENGTH] + 1
    meeting = np.int64(-1)
    while head < end and left > 0 and (meeting < 0 or not stopping):
        here = queue[side, head]
        if head + _FAR < tail:
            prefetch(offsets + 8 * (queue[side, head + _FAR] - first))  # type: ignore[call-arg]
            near, _ = row(offsets, first, rows, queue[side, head + _NEAR])
            prefetch(neighbours + 4 * near)
        low, high = row(offsets, first, rows, here)
        low += place
        stop = min(high, low + left)
        left -= stop - low + 1
        for entry in range(low, stop):
            vertex = load_int32(neighbours, entry)
            word, bit = vertex >> 6, np.uint64(1) << np.uint64(vertex & 63)
            if met[side, word] & bit == np.uint64(0):
                met[side, word] |= bit
                if noting:
                    distance[side, vertex] = far
                queue[side, tail] = vertex
                tail += 1
                if counting:
                    ways[side, vertex] = ways[side, here]
                if met[1 - side, word] & bit != np.uint64(0):
                    meeting = np.int64(vertex)
                    if stopping:
                        break
            elif counting and distance[side, vertex] == far:
                ways[side, vertex] = _sum(ways[side, vertex], ways[side, here])
        place = place + stop - low if stop < high else 0
        head += stop == high
    sides[side, HEAD], sides[side, PLACE], sides[side, TAIL] = head, place, tail
    if meeting >= 0:
        search[MET] = meeting
    if head == end or (meeting >= 0 and stopping):
        sides[side, HEAD], sides[side, FRONTIER_END], sides[side, LENGTH] = end, tail, far
        search[TURN] = -1
    return left


@inner
def _write(search, along, tables, paths, length):  # type: ignore[no-untyped-def]
    """A path through the vertex that both have met: from there to the source, then to the target."""
    vertices, edges = paths
    begin, first_edge = search[VERTICES_END], search[EDGES_END]
    here, place = search[MET], tables[1][0, search[MET]]
    vertices[begin + place] = here
    for left in range(place - 1, -1, -1):
        entry = _nearer(along[1], tables, 0, here, left)
        here = np.int64(load_int32(along[1][3], entry))
        vertices[begin + left], edges[first_edge + left] = here, load_int64(along[1][4], entry)
    here = search[MET]
    for step in range(place, length):
        entry = _nearer(along[0], tables, 1, here, length - step - 1)
        here = np.int64(load_int32(along[0][3], entry))
        vertices[begin + step + 1], edges[first_edge + step] = here, load_int64(along[0][4], entry)
    search[VERTICES_END] = begin + length + 1
    search[EDGES_END] = first_edge + length


@inner
def _nearer(adjacency, tables, side, vertex, far):  # type: ignore[no-untyped-def]
    """The first entry of a vertex's row that leads to what is so far from where a side began; there is one."""
    met, distance, _, _ = tables
    first, rows, offsets, neighbours, _ = adjacency
    entry, _ = row(offsets, first, rows, vertex)
    while True:
        other = load_int32(neighbours, entry)
        if distance[side, other] == far and _is_met(met, side, other):
            return entry
        entry += 1


@inlined
def _is_met(met, side, vertex):  # type: ignore[no-untyped-def]
    return (met[side, vertex >> 6] >> np.uint64(vertex & 63)) & np.uint64(1) != np.uint64(0)


@inner
def _number(sides, tables):  # type: ignore[no-untyped-def]
    """How many shortest paths there are, once both sides are through: each leads through one vertex of both."""
    met, _, queue, ways = tables
    total = np.int64(0)
    for index in range(sides[0, HEAD], sides[0, TAIL]):
        vertex = queue[0, index]
        if _is_met(met, 1, vertex):
            total = _sum(total, _product(ways[0, vertex], ways[1, vertex]))
    return total


@inner
def _sum(one, other):  # type: ignore[no-untyped-def]
    if one < 0 or other < 0 or one > _MOST - other:
        return np.int64(TOO_MANY)
    return one + other


@inner
def _product(one, other):  # type: ignore[no-untyped-def]
    if one < 0 or other < 0 or one > _MOST // other:
        return np.int64(TOO_MANY)
    return one * other

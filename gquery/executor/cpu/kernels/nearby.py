"""Which of some data edges have around them what query edges ask for.

Edges are looked at class by class: those of a table between vertices of two tables. What is around one is a sign: bits
for the vertex tables of some neighbours. It is worked out when it is first asked for, and stays for whatever asks next.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import lower_bound, row
from gquery.executor.cpu.machine.compile import inner, kernel, pasted
from gquery.executor.cpu.machine.native import load_int32, load_word, store_word

# Columns of `signs`. Words and what is known of them have an entry for each edge as it is, then one for each turned.
WORDS, KNOWN = 0, 1  # addresses: of uint64[2 * edges], and of the same for whether it is worked out
KIND = 2  # how that is done: by one row of neighbours, or by those that two have in common
FIRST = 3  # `lists_of` the adjacency from the end that is asked of: of the source of edges as they are
SECOND = 7  # `lists_of` the one from the other end
SIGN_COLUMNS = 11
ONE, COMMON = 0, 1  # kinds

# Columns of `asks`: the sign, whether it is that of the turned edge, and bits of which it has one.
SIGN, TURNED, BITS = 0, 1, 2
ASK_COLUMNS = 3

# Columns of `places`: which ways edges are looked at, the bits of edge tables and of those of either end, and the rows
# of `asks`.
WAYS, TYPES, SOURCES, TARGETS, ASKS_BEGIN, ASKS_END = 0, 1, 2, 3, 4, 5
PLACE_COLUMNS = 6
AHEAD, BACK, LOOPS = 1, 2, 4  # ways: as they are, turned, only those from a vertex to itself

# Rows of `classes`: where the edges of each begin, and at the end of all; the bit of its edge table, and of those of
# sources and targets.
BEGIN, OF_TYPE, OF_SOURCE, OF_TARGET = 0, 1, 2, 3


@kernel
def sift(places, asks, signs, ends, classes, segments, begin, end, kept):  # type: ignore[no-untyped-def]
    """Of the edges `begin .. end - 1` the ways in which each fits each place: uint8[places, edges], AHEAD and BACK.
    ends: int32[2, edges], sources and targets, class after class. segments: the first vertex of each, and one behind
    the last; the bits of their tables: int64[2, segments + 1]."""
    for number in range(classes.shape[1] - 1):
        first, last = max(begin, classes[BEGIN, number]), min(end, classes[BEGIN, number + 1])
        if first >= last:
            continue
        for place in range(len(places)):
            ways = places[place, WAYS] & _ways(places[place], classes[:, number])
            if ways == 0:
                continue
            for edge in range(first, last):
                if places[place, WAYS] & LOOPS and ends[0, edge] != ends[1, edge]:
                    continue
                if ways & AHEAD and _fits(asks, places[place], signs, ends, segments, edge, 0):
                    kept[place, edge] |= AHEAD
                if ways & BACK and _fits(asks, places[place], signs, ends, segments, edge, 1):
                    kept[place, edge] |= BACK


@kernel
def fits_any(places, classes):  # type: ignore[no-untyped-def]
    """Whether the edges of any class may be at any place, whatever is around them."""
    for number in range(classes.shape[1] - 1):
        for place in range(len(places)):
            if places[place, WAYS] & _ways(places[place], classes[:, number]):
                return True
    return False


@pasted
def _ways(place, of):  # type: ignore[no-untyped-def]
    """The ways in which the edges of a class may be at a place."""
    found = 0
    if place[TYPES] & of[OF_TYPE]:
        if place[SOURCES] & of[OF_SOURCE] and place[TARGETS] & of[OF_TARGET]:
            found |= AHEAD
        if place[SOURCES] & of[OF_TARGET] and place[TARGETS] & of[OF_SOURCE]:
            found |= BACK
    return found


@inner
def _fits(asks, place, signs, ends, segments, edge, turned):  # type: ignore[no-untyped-def]
    for ask in range(place[ASKS_BEGIN], place[ASKS_END]):
        sign, side = asks[ask, SIGN], asks[ask, TURNED] ^ turned
        index = side * ends.shape[1] + edge
        if load_word(signs[sign, KNOWN], index) == np.uint64(0):
            found = _worked_out(signs, sign, ends[side, edge], ends[1 - side, edge], segments)
            store_word(signs[sign, WORDS], index, found)
            store_word(signs[sign, KNOWN], index, np.uint64(1))
        if load_word(signs[sign, WORDS], index) & np.uint64(asks[ask, BITS]) == np.uint64(0):
            return False
    return True


@inner
def _worked_out(signs, sign, vertex, other, segments):  # type: ignore[no-untyped-def]
    """The bits of the tables of a vertex's neighbours, or of those that it has in common with another. What is found in
    a segment says all of it: the rest is galloped over."""
    found = np.uint64(0)
    neighbours, others = signs[sign, FIRST + 3], signs[sign, SECOND + 3]
    begin, end = row(signs[sign, FIRST + 2], signs[sign, FIRST], signs[sign, FIRST + 1], vertex)
    low, high = np.int64(0), np.int64(1)
    if signs[sign, KIND] == COMMON:
        low, high = row(signs[sign, SECOND + 2], signs[sign, SECOND], signs[sign, SECOND + 1], other)
    while begin < end and low < high:
        neighbour = load_int32(neighbours, begin)
        if signs[sign, KIND] == COMMON:
            common = load_int32(others, low)
            if neighbour < common:
                begin = lower_bound(neighbours, begin + 1, end, common)
                continue
            if common < neighbour:
                low = lower_bound(others, low + 1, high, neighbour)
                continue
        segment = _segment_of(segments, neighbour)
        found |= np.uint64(segments[1, segment])
        begin = lower_bound(neighbours, begin + 1, end, segments[0, segment + 1])
        if signs[sign, KIND] == COMMON:
            low = lower_bound(others, low + 1, high, segments[0, segment + 1])
    return found


@inner
def _segment_of(segments, vertex):  # type: ignore[no-untyped-def]
    begin, end = np.int64(0), np.int64(segments.shape[1] - 1)
    while begin + 1 < end:
        middle = (begin + end) >> 1
        if segments[0, middle] <= vertex:
            begin = middle
        else:
            end = middle
    return begin

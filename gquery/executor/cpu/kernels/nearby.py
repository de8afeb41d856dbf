"""Which of some data edges have around them what query edges ask for.

What is there is a sign of an edge: bits for the vertex tables of some neighbours. It is worked out when it is first
asked for, and stays for whatever asks next.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import lower_bound, row
from gquery.executor.cpu.machine.compile import inner, kernel
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

# Columns of `places`: the rows of `asks`, and which ways edges are looked at.
ASKS_BEGIN, ASKS_END, WAYS = 0, 1, 2
PLACE_COLUMNS = 3
AHEAD, BACK, LOOPS = 1, 2, 4  # ways: as they are, turned, only those from a vertex to itself


@kernel
def sift(places, asks, signs, ends, segments, begin, end, kept):  # type: ignore[no-untyped-def]
    """Of the edges `begin .. end - 1` the ways in which each fits each place: uint8[places, edges], AHEAD and BACK.
    ends: int32[2, edges], sources and targets. segments: the first vertex of each, and one behind the last; the bits of
    their tables: int64[2, segments + 1]."""
    for place in range(len(places)):
        first, last, ways = places[place, ASKS_BEGIN], places[place, ASKS_END], places[place, WAYS]
        for edge in range(begin, end):
            if ways & LOOPS and ends[0, edge] != ends[1, edge]:
                continue
            found = 0
            if ways & AHEAD and _fits(asks, first, last, signs, ends, segments, edge, 0):
                found |= AHEAD
            if ways & BACK and _fits(asks, first, last, signs, ends, segments, edge, 1):
                found |= BACK
            kept[place, edge] = found


@inner
def _fits(asks, first, last, signs, ends, segments, edge, turned):  # type: ignore[no-untyped-def]
    for ask in range(first, last):
        sign, side = asks[ask, SIGN], asks[ask, TURNED] ^ turned
        index = side * ends.shape[1] + edge
        if load_word(signs[sign, KNOWN], index) == np.uint64(0):
            found = _worked_out(signs, sign, ends[side, edge], ends[1 - side, edge], segments)
            store_word(signs[sign, WORDS], index, found)  # type: ignore[call-arg]
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

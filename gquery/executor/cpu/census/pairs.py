"""A simple graph as the census reads it: who is beside whom, and how."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.machine.compile import inlined, inner, kernel


class Pairs(NamedTuple):
    """Rows of pairs, seen from both ends.

    offsets int32[n + 1]; neighbours int32[m], ascending in a row; states int32[m]: see `layout.py`, the row's vertex
    as the earlier place; colours int32[n]. kinds int32[*]: colour and state (above it) of a neighbour, those that there
    are, kinds_met int64[1] of them; kind_of int32[2^bits]: their place, -1 for none. degree_offsets int32[n + 1],
    degree_kinds, degrees int32[m]: how many neighbours of each kind a vertex has.
    """

    offsets: NDArray[np.int32]
    neighbours: NDArray[np.int32]
    states: NDArray[np.int32]
    colours: NDArray[np.int32]
    kinds: NDArray[np.int32]
    kinds_met: NDArray[np.int64]
    kind_of: NDArray[np.int32]
    degree_offsets: NDArray[np.int32]
    degree_kinds: NDArray[np.int32]
    degrees: NDArray[np.int32]


def room_for(vertices: int, arcs: int, colours: NDArray[np.int32], kind_bits: int) -> Pairs:
    """Pairs of a graph of so many vertices and arcs, to be filled."""
    entries, kinds = 2 * arcs, min(1 << kind_bits, 2 * arcs)
    return Pairs(
        np.zeros(vertices + 1, np.int32),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.int32),
        colours,
        np.zeros(kinds, np.int32),
        np.zeros(1, np.int64),
        np.full(1 << kind_bits, -1, np.int32),
        np.zeros(vertices + 1, np.int32),
        np.zeros(entries, np.int32),
        np.zeros(entries, np.int32),
    )


@inlined
def turned(layout, state):  # type: ignore[no-untyped-def]
    """The state of a pair as seen from its other end."""
    if layout.directed == 0:
        return state
    return (state >> layout.types) | ((state & ((1 << layout.types) - 1)) << layout.types)


class Sorting(NamedTuple):
    """To work in while pairs are filled: ends int32[n + 1], order int32[2 * arcs], last
    int32[max(n, kinds)]."""

    ends: NDArray[np.int32]
    order: NDArray[np.int32]
    last: NDArray[np.int32]


def room_for_sorting(pairs: Pairs) -> Sorting:
    """For pairs of that size."""
    vertices = len(pairs.colours)
    last = np.zeros(max(vertices, len(pairs.kinds)), np.int32)
    return Sorting(np.zeros(vertices + 1, np.int32), np.zeros(len(pairs.neighbours), np.int32), last)


@kernel
def fill_pairs(arcs, layout, pairs, sorting):  # type: ignore[no-untyped-def]
    """Makes the pairs of some arcs. Kinds that were met before keep their places."""
    sort_entries(arcs, sorting.ends, sorting.order, pairs.offsets)
    if deal(arcs, layout, pairs, sorting):
        close_up(pairs, sorting.ends)
    count_kinds(layout, pairs, sorting.last)


@inner
def sort_entries(arcs, ends, order, offsets):  # type: ignore[no-untyped-def]
    """Each arc is an entry as seen from its tail, 2 * arc, and from its head, the odd number. Sorts entries by
    neighbour, and fills in where each row begins."""
    ends[:] = 0
    for arc in range(len(arcs.tails)):
        ends[arcs.tails[arc] + 1] += 1
        ends[arcs.heads[arc] + 1] += 1
    for vertex in range(len(offsets) - 1):
        ends[vertex + 1] += ends[vertex]
    for vertex in range(len(offsets)):
        offsets[vertex] = ends[vertex]
    for arc in range(len(arcs.tails)):
        tail, head = arcs.tails[arc], arcs.heads[arc]
        order[ends[head]] = 2 * arc
        ends[head] += 1
        order[ends[tail]] = 2 * arc + 1
        ends[tail] += 1
    for vertex in range(len(offsets)):
        ends[vertex] = offsets[vertex]


@inner
def deal(arcs, layout, pairs, sorting):  # type: ignore[no-untyped-def]
    """Writes sorted entries to their rows, those of one pair as one. Returns how many became part of another."""
    ends, merged = sorting.ends, 0
    sorting.last[:] = -1
    for index in range(2 * len(arcs.tails)):
        entry = sorting.order[index]
        arc, back = entry >> 1, entry & 1
        own, other = arcs.tails[arc], arcs.heads[arc]
        if back:
            own, other = other, own
        bit = np.int32(1) << (arcs.types[arc] + back * layout.types * layout.directed)
        if sorting.last[own] == other:
            pairs.states[ends[own] - 1] |= bit
            merged += 1
        else:
            pairs.neighbours[ends[own]], pairs.states[ends[own]] = other, bit
            ends[own] += 1
            sorting.last[own] = other
    return merged


@inner
def close_up(pairs, ends):  # type: ignore[no-untyped-def]
    """Moves the rows together: where entries became one, they are shorter than dealt."""
    written, begin = np.int32(0), np.int32(0)
    for vertex in range(len(ends) - 1):
        pairs_end = pairs.offsets[vertex + 1]
        pairs.offsets[vertex] = written
        for index in range(begin, ends[vertex]):
            pairs.neighbours[written], pairs.states[written] = pairs.neighbours[index], pairs.states[index]
            written += 1
        begin = pairs_end
    pairs.offsets[len(ends) - 1] = written


@inner
def count_kinds(layout, pairs, last):  # type: ignore[no-untyped-def]
    """Counts the neighbours of each kind, vertex by vertex."""
    last[:] = -1
    written = np.int32(0)
    for vertex in range(len(pairs.offsets) - 1):
        begin = written
        pairs.degree_offsets[vertex] = begin
        for index in range(pairs.offsets[vertex], pairs.offsets[vertex + 1]):
            word = pairs.colours[pairs.neighbours[index]] | (pairs.states[index] << layout.colour_bits)
            kind = pairs.kind_of[word]
            if kind < 0:
                kind = np.int32(pairs.kinds_met[0])
                pairs.kind_of[word], pairs.kinds[kind] = kind, word
                pairs.kinds_met[0] += 1
            if last[kind] >= begin:
                pairs.degrees[last[kind]] += 1
            else:
                pairs.degree_kinds[written], pairs.degrees[written] = kind, 1
                last[kind] = written
                written += 1
    pairs.degree_offsets[len(pairs.offsets) - 1] = written

"""Kernels that narrow candidate sets and build the candidate graph. Each works on a range, so callers can slice.

adjacency: (first, rows, address of the offsets, address of the neighbours), see `lists_of` in `candidates/sets.py`.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import contains, has_bit, rank, row
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import load_int32, load_int64


@kernel
def set_bits(vertices, words):  # type: ignore[no-untyped-def]
    """Sets the bit of every vertex in `words`, uint64[]."""
    for index in range(len(vertices)):
        vertex = vertices[index]
        words[vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)


@kernel
def with_neighbours(vertices, begin, end, adjacency, words, required, kept):  # type: ignore[no-untyped-def]
    """Copies the vertices that have `required` entries of their row in the bitset (address 0: all vertices) to
    kept[begin:] and returns how many they are."""
    first, rows, offsets, neighbours = adjacency
    cursor = begin
    for index in range(begin, end):
        vertex = vertices[index]
        low, high = row(offsets, first, rows, vertex)
        kept[cursor] = vertex
        if words == 0:
            cursor += high - low >= required
        elif high - low >= required:
            missing = required
            while low < high and missing > 0:
                missing -= has_bit(words, load_int32(neighbours, low))
                low += 1
            cursor += missing == 0
    return cursor - begin


@kernel
def with_signature(vertices, begin, end, signatures, wanted, kept):  # type: ignore[no-untyped-def]
    """Copies the vertices whose signatures have one of the wanted bits to kept[begin:] and returns how many they are.
    Without a branch: which vertices stay is anybody's guess."""
    cursor = begin
    for index in range(begin, end):
        vertex = vertices[index]
        kept[cursor] = vertex
        cursor += signatures[vertex] & wanted != np.uint64(0)
    return cursor - begin


@kernel
def with_loop(vertices, begin, end, adjacency, present, keep):  # type: ignore[no-untyped-def]
    """keep[i] = 0 unless vertices[i] is (`present`) or is not its own neighbour."""
    first, rows, offsets, neighbours = adjacency
    for index in range(begin, end):
        low, high = row(offsets, first, rows, vertices[index])
        if contains(neighbours, low, high, vertices[index]) != present:
            keep[index] = False


@kernel
def count_edges(vertices, begin, end, adjacency, words, counts):  # type: ignore[no-untyped-def]
    """counts[i] = entries of the row of vertices[i] that lead into the bitset (address 0: all vertices)."""
    first, rows, offsets, neighbours = adjacency
    for index in range(begin, end):
        low, high = row(offsets, first, rows, vertices[index])
        if words == 0:
            counts[index] = high - low
        else:
            found = 0
            for entry in range(low, high):
                found += has_bit(words, load_int32(neighbours, entry))
            counts[index] = found


@kernel
def fill_edges(vertices, begin, end, adjacency, edges, among, new_offsets, new_neighbours, new_edges):  # type: ignore[no-untyped-def]
    """Writes the entries that `count_edges` counted: positions instead of vertices, and the edges when asked for.
    among: addresses of the bitset and of its ranks."""
    first, rows, offsets, neighbours = adjacency
    words, ranks = among
    for index in range(begin, end):
        low, high = row(offsets, first, rows, vertices[index])
        cursor = new_offsets[index]
        for entry in range(low, high):
            neighbour = load_int32(neighbours, entry)
            if words == 0:
                new_neighbours[cursor] = neighbour
            elif has_bit(words, neighbour):
                new_neighbours[cursor] = rank(words, ranks, neighbour)
            else:
                continue
            if len(new_edges) > 0:
                new_edges[cursor] = load_int64(edges, entry)
            cursor += 1

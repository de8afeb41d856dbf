"""Kernels that narrow candidate sets and build the candidate graph. Each works on a range, so callers can slice.

adjacency: (first, rows, address of the offsets, address of the neighbours), see `lists_of` in `candidates/sets.py`.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import contains, has_bit, rank, row
from gquery.executor.cpu.machine.compile import inner, kernel
from gquery.executor.cpu.machine.native import count_bits, load_int32, load_int64, load_word, store_word


@kernel
def set_bits(vertices, words):  # type: ignore[no-untyped-def]
    """Sets the bit of every vertex in `words`, uint64[]."""
    for index in range(len(vertices)):
        vertex = vertices[index]
        words[vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)


@kernel
def read_bits(words, vertices, ranks):  # type: ignore[no-untyped-def]
    """Writes the vertices whose bits are set, ascending, and for each word how many are set before it; returns how many
    there are. vertices: int32[], with room for all; ranks: int32[len(words)]."""
    count = np.int64(0)
    for index in range(len(words)):
        ranks[index] = count
        left = words[index]
        while left != np.uint64(0):
            lowest = left & (~left + np.uint64(1))
            left ^= lowest
            vertices[count] = (index << 6) + count_bits(lowest - np.uint64(1))  # type: ignore[call-arg]
            count += 1
    return count


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
def with_ends(count, sources, targets, ahead, behind, apart, kept):  # type: ignore[no-untyped-def]
    """Writes the places of those of some edges to `kept` whose sources and targets have a bit in `ahead` and `behind`
    (address 0: all vertices), and differ where they have to be `apart`; returns how many they are. Without a branch,
    too. sources, targets: addresses of int32[count]."""
    cursor = np.int64(0)
    for index in range(count):
        source, target = load_int32(sources, index), load_int32(targets, index)
        fits = source != target or not apart
        if ahead != 0:
            fits &= has_bit(ahead, source) != 0
        if behind != 0:
            fits &= has_bit(behind, target) != 0
        kept[cursor] = index
        cursor += fits
    return cursor


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


# Columns of `sets`, one row for each query vertex; its candidates are the bits of a bitset.
WORDS = 0  # address of the bitset over all vertices
FIRST_WORD, END_WORD = 1, 2  # the words that have a bit
LOOKS_BEGIN, LOOKS_END = 3, 4  # its rows of `looks`
PENDING = 5  # 1 when candidates at the other end of an edge went since it was looked at
NARROWED = 6  # 1 when candidates of its own went

# Columns of `looks`: an edge that every candidate of vertex OWN must have, to a candidate of vertex OTHER.
OWN, OTHER = 0, 1
IMPLIED = 2  # 1 when all that the edge leads to were candidates before any went
FIRST, ROWS, OFFSETS, NEIGHBOURS = 3, 4, 5, 6
LOOK_COLUMNS = 7


@kernel
def sweep(sets, looks, order, begin, end):  # type: ignore[no-untyped-def]
    """Takes away the candidates that lack an edge, vertex by vertex along an order, and returns how many they are. Only
    words `begin .. end - 1` are gone through; a vertex for which nothing has changed is left out if these are all of
    its words."""
    gone = np.int64(0)
    for vertex in order:
        first, last = sets[vertex, FIRST_WORD], sets[vertex, END_WORD]
        if begin <= first and last <= end and not sets[vertex, PENDING]:
            continue
        sets[vertex, PENDING] = 0
        lost = _sift(sets, looks, vertex, max(first, begin), min(last, end))
        if lost > 0:
            gone += lost
            sets[vertex, NARROWED] = 1
            for look in range(len(looks)):
                if looks[look, OTHER] == vertex:
                    sets[looks[look, OWN], PENDING] = 1
    return gone


@inner
def _sift(sets, looks, vertex, begin, end):  # type: ignore[no-untyped-def]
    """Clears the bits of those of a vertex's candidates that lack an edge; returns how many they are."""
    words, lost = sets[vertex, WORDS], np.int64(0)
    for index in range(begin, end):
        left = kept = load_word(words, index)
        while left != np.uint64(0):
            lowest = left & (~left + np.uint64(1))
            left ^= lowest
            candidate = (index << 6) + count_bits(lowest - np.uint64(1))  # type: ignore[call-arg]
            for look in range(sets[vertex, LOOKS_BEGIN], sets[vertex, LOOKS_END]):
                if not _leads(sets, looks, look, candidate):
                    kept ^= lowest
                    lost += 1
                    break
        store_word(words, index, kept)
    return lost


@inner
def _leads(sets, looks, look, candidate):  # type: ignore[no-untyped-def]
    """Whether an edge leads from a vertex to a candidate of its other end."""
    other = looks[look, OTHER]
    low, high = row(looks[look, OFFSETS], looks[look, FIRST], looks[look, ROWS], candidate)
    if looks[look, IMPLIED] and not sets[other, NARROWED]:
        return low < high
    words, neighbours = sets[other, WORDS], looks[look, NEIGHBOURS]
    while low < high and not has_bit(words, load_int32(neighbours, low)):
        low += 1
    return low < high


# Columns of `jobs`: the rows of some vertices in one adjacency.
VERTICES, SIZE = 0, 1  # address of int32[SIZE]
JOB_FIRST, JOB_ROWS, JOB_OFFSETS, JOB_NEIGHBOURS, JOB_EDGES = 2, 3, 4, 5, 6
JOB_MASK = 7  # address of the bitset of the candidates at the other end, 0 when the rows lead to no others
JOB_WORDS, JOB_RANKS = 8, 9  # the same, and set bits before each word; 0 when every vertex is a candidate
OFFSETS_BEGIN = 10  # where its SIZE + 1 offsets begin
NEIGHBOURS_BEGIN = 11  # where its neighbours begin
EDGES_BEGIN = 12  # where its edges begin, -1 when they are not asked for


@kernel
def count_edges(jobs, begin, end, counts):  # type: ignore[no-untyped-def]
    """For the vertices `begin .. end - 1` of every job: counts[OFFSETS_BEGIN + i + 1] = entries of the row of vertex i
    that lead to a candidate."""
    for job in range(len(jobs)):
        words, neighbours = jobs[job, JOB_MASK], jobs[job, JOB_NEIGHBOURS]
        for index in range(begin, min(end, jobs[job, SIZE])):
            vertex = load_int32(jobs[job, VERTICES], index)
            low, high = row(jobs[job, JOB_OFFSETS], jobs[job, JOB_FIRST], jobs[job, JOB_ROWS], vertex)
            found = high - low
            if words != 0:
                found = np.int64(0)
                for entry in range(low, high):
                    found += has_bit(words, load_int32(neighbours, entry))
            counts[jobs[job, OFFSETS_BEGIN] + index + 1] = found


@kernel
def fill_edges(jobs, begin, end, offsets, new_neighbours, new_edges):  # type: ignore[no-untyped-def]
    """Writes the entries that `count_edges` counted: positions instead of vertices, and the edges when asked for.
    offsets: of each job, beginning with 0."""
    for job in range(len(jobs)):
        words, neighbours = jobs[job, JOB_WORDS], jobs[job, JOB_NEIGHBOURS]
        with_edges = jobs[job, EDGES_BEGIN] >= 0
        for index in range(begin, min(end, jobs[job, SIZE])):
            vertex = load_int32(jobs[job, VERTICES], index)
            low, high = row(jobs[job, JOB_OFFSETS], jobs[job, JOB_FIRST], jobs[job, JOB_ROWS], vertex)
            cursor = offsets[jobs[job, OFFSETS_BEGIN] + index]
            for entry in range(low, high):
                neighbour = np.int64(load_int32(neighbours, entry))
                if words != 0:
                    if not has_bit(words, neighbour):
                        continue
                    neighbour = rank(words, jobs[job, JOB_RANKS], neighbour)
                new_neighbours[jobs[job, NEIGHBOURS_BEGIN] + cursor] = neighbour
                if with_edges:
                    new_edges[jobs[job, EDGES_BEGIN] + cursor] = load_int64(jobs[job, JOB_EDGES], entry)
                cursor += 1


@kernel
def rank_entries(vertices, begin, end, adjacency, ranks, oriented, counting, cursors, found):  # type: ignore[no-untyped-def]
    """Writes each rank of begin .. end - 1 to the rows of its vertex's neighbours, by their ranks, where `cursors`
    int64[] say, which move on; or only counts with these. vertices: int64[] by rank; ranks: int32[] by vertex;
    oriented: whether rows lead to larger ranks alone."""
    first, rows, offsets, neighbours = adjacency
    for place in range(begin, end):
        low, high = row(offsets, first, rows, vertices[place])
        for index in range(low, high):
            other = ranks[load_int32(neighbours, index)]
            if oriented and other >= place:
                continue
            if not counting:
                found[cursors[other]] = place
            cursors[other] += 1

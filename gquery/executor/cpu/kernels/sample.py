"""Partial matches level by level, a sample of them at each: about how many there are.

Of the partial matches at a level all extensions are looked for; a systematic sample of them goes on, each with the
weight of those that it stands for. So walks go where the matches are, however skewed the degrees (a particle filter),
and where the sample holds all of them the numbers are exact.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import contains
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import load_int32, load_int64

# Columns of `levels`.
PARENT, SAME, SIZE, VERTICES, LEAF = 0, 1, 2, 3, 4
ROWS_BEGIN, ROWS_END = 5, 6  # its rows of `rows`
DIFFERENT_BEGIN, DIFFERENT_END, SMALLER_BEGIN, SMALLER_END = 7, 8, 9, 10  # its entries of `others`
LEVEL_COLUMNS = 11

# Columns of `rows`: the rows of a candidate graph, looked up by the position at LEVEL.
LEVEL, OFFSETS, NEIGHBOURS = 0, 1, 2
ROW_COLUMNS = 3

LOOKED = 32  # entries of a row that are looked at; of longer rows every so manieth
SEED = 0x9E3779B97F4A7C15


@inlined
def share(state):  # type: ignore[no-untyped-def]
    """The next random number in [0, 1), from the state uint64[1]."""
    word = state[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    state[0] = word
    return float(word >> np.uint64(11)) / 9007199254740992.0


@inlined
def data_vertex(levels, level, position):  # type: ignore[no-untyped-def]
    return load_int32(levels[level, VERTICES], np.int64(position))


@inner
def fits(levels, rows, others, path, level, position, walked):  # type: ignore[no-untyped-def]
    """Whether a position is in all rows but the one that is walked, and passes the tests."""
    for index in range(levels[level, ROWS_BEGIN], levels[level, ROWS_END]):
        if index != walked:
            own = np.int64(path[rows[index, LEVEL]])
            low, high = load_int64(rows[index, OFFSETS], own), load_int64(rows[index, OFFSETS], own + 1)
            if not contains(rows[index, NEIGHBOURS], low, high, position):
                return False
    vertex = data_vertex(levels, level, position)
    for index in range(levels[level, DIFFERENT_BEGIN], levels[level, DIFFERENT_END]):
        if data_vertex(levels, others[index], path[others[index]]) == vertex:
            return False
    for index in range(levels[level, SMALLER_BEGIN], levels[level, SMALLER_END]):
        if data_vertex(levels, others[index], path[others[index]]) >= vertex:
            return False
    return True


@inner
def shortest(levels, rows, path, level):  # type: ignore[no-untyped-def]
    """The shortest of a level's rows, -1 where it has none, and where that begins and ends."""
    found, begin, end = -1, np.int64(0), levels[level, SIZE]
    for index in range(levels[level, ROWS_BEGIN], levels[level, ROWS_END]):
        own = np.int64(path[rows[index, LEVEL]])
        low, high = load_int64(rows[index, OFFSETS], own), load_int64(rows[index, OFFSETS], own + 1)
        if found < 0 or high - low < end - begin:
            found, begin, end = index, low, high
    return found, begin, end


@inner
def position_of(levels, level, vertex):  # type: ignore[no-untyped-def]
    """The position of a data vertex at a level, -1 when it is no candidate."""
    low, high = np.int64(0), levels[level, SIZE]
    while low < high:
        middle = (low + high) >> 1
        if data_vertex(levels, level, middle) < vertex:
            low = middle + 1
        else:
            high = middle
    inside = low < levels[level, SIZE] and data_vertex(levels, level, low) == vertex
    return low if inside else np.int64(-1)


@inner
def fits_also(levels, rows, others, path, level, position):  # type: ignore[no-untyped-def]
    """Whether a position fits the levels behind that must be the same data vertex, too."""
    vertex = data_vertex(levels, level, position)
    also = level + 1
    while also < len(levels) and levels[also, SAME] == level:
        place = position_of(levels, also, vertex)
        if place < 0 or not fits(levels, rows, others, path, also, place, np.int64(-1)):
            return False
        also += 1
    return True


@inner
def extend(levels, rows, others, path, level, state, extensions, begun):  # type: ignore[no-untyped-def]
    """Writes the extensions of one partial match to extensions[1:, begun:], each with the number that it stands for.
    Returns how many were written, how many there are, and the neighbours that a search looks at."""
    written, found = 0, 0.0
    same = levels[level, SAME]
    if same >= 0:  # seen to when that level was matched
        extensions[1, begun] = position_of(levels, level, data_vertex(levels, same, path[same]))
        extensions[2, begun] = 1
        return 1, 1.0, 0.0
    walked, begin, end = shortest(levels, rows, path, level)
    step = (end - begin + LOOKED - 1) // LOOKED
    first = np.int64(share(state) * step) if step > 1 else np.int64(0)
    for entry in range(begin + first, end, max(1, step)):
        position = entry if walked < 0 else np.int64(load_int32(rows[walked, NEIGHBOURS], entry))
        if not fits(levels, rows, others, path, level, position, walked):
            continue
        if fits_also(levels, rows, others, path, level, position):
            extensions[1, begun + written], extensions[2, begun + written] = position, step
            written += 1
            found += step
    return written, found, float(end - begin)


@inlined
def take(population, extensions, written, total, level, parent, state):  # type: ignore[no-untyped-def]
    """Writes a sample of the extensions to the population of a level: all of them if there is room, else one out of
    each of as many equal shares, not always the same one: extensions come in rounds that may be as long. Returns how
    many were taken."""
    width, taken, passed = population.shape[1], 0, 0.0
    stride = max(1.0, total / width)
    wanted = share(state) * stride if stride > 1 else 0.5
    for index in range(written):
        passed += extensions[2, index]
        while wanted < passed and taken < width:
            for above in range(level):  # not as a slice: that would be a copy, and kernels allocate nothing
                population[level, taken, above] = population[parent, extensions[0, index], above]
            population[level, taken, level] = extensions[1, index]
            taken += 1
            wanted = (taken + (share(state) if stride > 1 else 0.5)) * stride
    return taken


@kernel
def sample(levels, rows, others, population, extensions, state, outcome):  # type: ignore[no-untyped-def]
    """Fills outcome float64[4, levels]: about how many partial matches there are at each level, the neighbours that
    are looked at for them, how many are in the sample, and how many each of those stands for.

    levels int64[*, LEVEL_COLUMNS], rows int64[*, ROW_COLUMNS], others int64[*]: the walk. population int32[levels,
    width, levels]: the sample, positions by level. extensions int32[3, width * LOOKED]: whom it extends, by which
    position, and how many it stands for. state uint64[1]: of the random numbers.
    """
    found, looks, counts, weights = outcome[0], outcome[1], outcome[2], outcome[3]
    width = population.shape[1]
    for level in range(len(levels)):
        parent = levels[level, PARENT]
        if parent < 0:
            size = levels[level, SIZE]
            count, taken = min(size, width), 0
            for index in range(count):
                position = (2 * index + 1) * size // (2 * count)
                if fits_also(levels, rows, others, population[level, 0], level, position):
                    population[level, taken, level] = position
                    taken += 1
            found[level], looks[level], counts[level] = taken * size / max(1, count), size, taken
            weights[level] = size / max(1, count)
            continue
        tested = levels[level, DIFFERENT_BEGIN] < levels[level, SMALLER_END] or levels[level, SAME] >= 0
        alone = levels[level, ROWS_END] - levels[level, ROWS_BEGIN] == 1 and not tested
        written, total, looked = 0, 0.0, 0.0
        for index in range(np.int64(counts[parent])):
            path = population[parent, index]
            if levels[level, LEAF] == 1 and alone:
                _, begin, end = shortest(levels, rows, path, level)
                total += end - begin
                looked += 1
                continue
            more, extended, seen = extend(levels, rows, others, path, level, state, extensions, written)
            for place in range(written, written + more):
                extensions[0, place] = index
            written += more
            total += extended
            looked += seen
        found[level], looks[level] = weights[parent] * total, weights[parent] * looked
        if levels[level, LEAF] == 0 and written > 0:
            taken = take(population, extensions, written, total, level, parent, state)
            counts[level], weights[level] = taken, found[level] / max(1, taken)

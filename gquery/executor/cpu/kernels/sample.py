"""Partial matches level by level, a sample of them at each: about how many there are.

Of the partial matches at a level all extensions are looked for; a systematic sample of them goes on, each with the
weight of those that it stands for. So walks go where the matches are, however skewed the degrees (a particle filter),
and where the sample holds all of them the numbers are exact. Where rows are bitsets as well, all extensions are found a
word at a time; else some entries of a long row are looked at.
"""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.kernels.sorted_rows import contains, first_from, has_bit
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import count_bits, load_int32, load_int64, load_word

# Columns of `levels`.
PARENT, SAME, SIZE, VERTICES, LEAF = 0, 1, 2, 3, 4
ROWS_BEGIN, ROWS_END = 5, 6  # its rows of `rows`
DIFFERENT_BEGIN, DIFFERENT_END, SMALLER_BEGIN, SMALLER_END = 7, 8, 9, 10  # its entries of `others`
WORDS = 11  # of each of its rows as a bitset, 0 where not all are
LEVEL_COLUMNS = 12

# Columns of `rows`: the rows of a candidate graph, looked up by the position at LEVEL, and as bitsets, 0 for none.
LEVEL, OFFSETS, NEIGHBOURS, BITS = 0, 1, 2, 3
ROW_COLUMNS = 4

LOOKED = 32  # entries of a row that are looked at, or extensions that are told apart; of more every so manieth
MOST_WORDS = 128  # of a row as a bitset; where it takes more, looking at some entries is cheaper
SEED = 0x9E3779B97F4A7C15
_ONE = np.uint64(1)


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


@inlined
def bits_at(levels, rows, level, index, own):  # type: ignore[no-untyped-def]
    """The address of a row of a level as a bitset."""
    return rows[index, BITS] + own * (((levels[level, SIZE] + 63) >> 6) << 3)


@inner
def fits(levels, rows, others, path, level, position, walked):  # type: ignore[no-untyped-def]
    """Whether a position is in all rows but the one that is walked, and passes the tests."""
    for index in range(levels[level, ROWS_BEGIN], levels[level, ROWS_END]):
        if index != walked:
            own = np.int64(path[rows[index, LEVEL]])
            if rows[index, BITS] != 0:
                if not has_bit(bits_at(levels, rows, level, index, own), position):
                    return False
                continue
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
def first_place(levels, level, vertex):  # type: ignore[no-untyped-def]
    """The first position at a level whose data vertex is not smaller."""
    return first_from(levels[level, VERTICES], np.int64(0), levels[level, SIZE], vertex)


@inner
def position_of(levels, level, vertex):  # type: ignore[no-untyped-def]
    """The position of a data vertex at a level, -1 when it is no candidate."""
    place = first_place(levels, level, vertex)
    inside = place < levels[level, SIZE] and data_vertex(levels, level, place) == vertex
    return place if inside else np.int64(-1)


@inner
def fits_also(levels, rows, others, path, level, position):  # type: ignore[no-untyped-def]
    """Whether a position fits the levels behind that must be the same data vertex, too. They may be neighbours of each
    other, so that each is written to the path before the next is asked."""
    vertex = data_vertex(levels, level, position)
    path[level] = position
    also = level + 1
    while also < len(levels) and levels[also, SAME] == level:
        place = position_of(levels, also, vertex)
        if place < 0 or not fits(levels, rows, others, path, also, place, np.int64(-1)):
            return False
        path[also] = place
        also += 1
    return True


@inner
def meet(levels, rows, others, path, level, common):  # type: ignore[no-untyped-def]
    """Writes the positions that are in all rows of a level and pass the tests to the bitset `common`; returns how many
    they are."""
    count, words = np.int64(0), levels[level, WORDS]
    begin, end = levels[level, ROWS_BEGIN], levels[level, ROWS_END]
    row = bits_at(levels, rows, level, begin, np.int64(path[rows[begin, LEVEL]]))
    for word in range(words):
        common[word] = load_word(row, word)
    for index in range(begin + 1, end):
        row = bits_at(levels, rows, level, index, np.int64(path[rows[index, LEVEL]]))
        for word in range(words):
            common[word] &= load_word(row, word)
    for index in range(levels[level, DIFFERENT_BEGIN], levels[level, DIFFERENT_END]):
        place = position_of(levels, level, data_vertex(levels, others[index], path[others[index]]))
        if place >= 0:
            common[place >> 6] &= ~(_ONE << np.uint64(place & 63))
    for index in range(levels[level, SMALLER_BEGIN], levels[level, SMALLER_END]):
        place = first_place(levels, level, data_vertex(levels, others[index], path[others[index]]) + 1)
        for word in range(min(words, place >> 6)):
            common[word] = np.uint64(0)
        if place >> 6 < words:
            common[place >> 6] &= ~((_ONE << np.uint64(place & 63)) - _ONE)
    for word in range(words):
        count += count_bits(common[word])  # type: ignore[call-arg]
    return count


@inner
def extend_by_bits(levels, rows, others, path, level, state, extensions, begun, common):  # type: ignore[no-untyped-def]
    """What `extend` writes, and how many: of all positions in all rows."""
    count = meet(levels, rows, others, path, level, common)
    step = (count + LOOKED - 1) // LOOKED
    passed = np.int64(share(state) * step) if step > 1 else np.int64(0)  # until the next is written
    written = 0
    for word in range(levels[level, WORDS]):
        bits = common[word]
        inside = np.int64(count_bits(bits))  # type: ignore[call-arg]
        if inside <= passed:
            passed -= inside
            continue
        while bits != 0:
            if passed == 0:
                position = np.int64(word << 6) + np.int64(count_bits((bits & (~bits + _ONE)) - _ONE))
                if fits_also(levels, rows, others, path, level, position):
                    extensions[1, begun + written], extensions[2, begun + written] = position, step
                    written += 1
                passed = step
            bits &= bits - _ONE
            passed -= 1
    return written, float(written * step)


@inner
def extend(levels, rows, others, path, level, state, extensions, begun, common):  # type: ignore[no-untyped-def]
    """Writes the extensions of one partial match to extensions[1:, begun:], each with the number that it stands for.
    Returns how many were written, how many there are, and the neighbours that a search looks at."""
    written, found = 0, 0.0
    same = levels[level, SAME]
    if same >= 0:  # seen to when that level was matched
        extensions[1, begun] = position_of(levels, level, data_vertex(levels, same, path[same]))
        extensions[2, begun] = 1
        return 1, 1.0, 0.0
    walked, begin, end = shortest(levels, rows, path, level)
    if 0 < levels[level, WORDS] <= 2 * (end - begin):
        written, found = extend_by_bits(levels, rows, others, path, level, state, extensions, begun, common)
        return written, found, float(end - begin)
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
def sample(levels, rows, others, population, extensions, common, state, outcome):  # type: ignore[no-untyped-def]
    """Fills outcome float64[4, levels]: about how many partial matches there are at each level, the neighbours that
    are looked at for them, how many are in the sample, and how many each of those stands for.

    levels int64[*, LEVEL_COLUMNS], rows int64[*, ROW_COLUMNS], others int64[*]: the walk. population int32[levels,
    width, levels]: the sample, positions by level. extensions int32[3, width * LOOKED]: whom it extends, by which
    position, and how many it stands for. common uint64[MOST_WORDS]: room for a bitset. state uint64[1]: of the random
    numbers.
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
                taken += fits_also(levels, rows, others, population[level, taken], level, position)
            found[level], looks[level], counts[level] = taken * size / max(1, count), size, taken
            weights[level] = size / max(1, count)
            continue
        tested = levels[level, DIFFERENT_BEGIN] < levels[level, SMALLER_END] or levels[level, SAME] >= 0
        counted = levels[level, LEAF] == 1 and levels[level, SAME] < 0
        alone = not tested and levels[level, ROWS_END] - levels[level, ROWS_BEGIN] == 1
        written, total, looked = 0, 0.0, 0.0
        for index in range(np.int64(counts[parent])):
            path = population[parent, index]
            if counted and (alone or levels[level, WORDS] > 0):
                _, begin, end = shortest(levels, rows, path, level)
                total += end - begin if alone else meet(levels, rows, others, path, level, common)
                looked += 1 if alone else end - begin
                continue
            more, extended, seen = extend(levels, rows, others, path, level, state, extensions, written, common)
            for place in range(written, written + more):
                extensions[0, place] = index
            written += more
            total += extended
            looked += seen
        found[level], looks[level] = weights[parent] * total, weights[parent] * looked
        if levels[level, LEAF] == 0 and written > 0:
            taken = take(population, extensions, written, total, level, parent, state)
            counts[level], weights[level] = taken, found[level] / max(1, taken)

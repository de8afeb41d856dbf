"""Device functions that find things: in a sorted row, in a bitset. Shared by the filters and by the enumeration."""

from __future__ import annotations

import numpy as np

from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import count_bits, load_int32, load_int64, load_word

PAGE_BITS = 7  # as in `storage.adjacency`: what kernels are made of is all here
PAGE_ROWS = 1 << PAGE_BITS
FEW_PAIRS = 8  # of entries of two rows, which are looked at sooner than rows are merged


@inner
def lower_bound(values, begin, end, wanted):  # type: ignore[no-untyped-def]
    """First index in [begin, end) whose int32 value is >= wanted, else end. Gallops: near answers are cheap."""
    step = 1
    probe = begin
    while probe < end and load_int32(values, probe) < wanted:
        begin = probe + 1
        probe += step
        step <<= 1
    if probe < end:
        end = probe
    while begin < end:
        middle = (begin + end) >> 1
        if load_int32(values, middle) < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def first_from(values, begin, end, wanted):  # type: ignore[no-untyped-def]
    """The same where the answer may be anywhere: halves the row without a branch that nobody could predict."""
    length = end - begin
    while length > 1:
        half = length >> 1
        begin += half * np.int64(load_int32(values, begin + half - 1) < wanted)
        length -= half
    if length == 1:
        begin += np.int64(load_int32(values, begin) < wanted)
    return begin


@inner
def row(offsets, first, rows, vertex):  # type: ignore[no-untyped-def]
    """Begin and end of a vertex's row in an adjacency; (0, 0) when it has none. An odd address of offsets is one more
    than that of a directory of pages."""
    index = np.int64(vertex) - first
    if index < 0 or index >= rows:
        return np.int64(0), np.int64(0)
    return bounds(offsets, index)


@inner
def bounds(offsets, index):  # type: ignore[no-untyped-def]
    """Begin and end of a row that there is. An odd address of a page is one more than that of offsets, from those of
    its first row on; at another, the two numbers of each row are side by side."""
    if offsets & 1:
        page, place = load_int64(offsets - 1, index >> PAGE_BITS), index & (PAGE_ROWS - 1)
        if page & 1:
            return load_int64(page - 1, place), load_int64(page - 1, place + 1)
        return load_int64(page, 2 * place), load_int64(page, 2 * place + 1)
    return load_int64(offsets, index), load_int64(offsets, index + 1)


@inner
def contains(values, begin, end, wanted):  # type: ignore[no-untyped-def]
    """Whether the sorted row holds `wanted`."""
    found = first_from(values, begin, end, wanted)
    return found < end and load_int32(values, found) == wanted


@inner
def has_bit(words, vertex):  # type: ignore[no-untyped-def]
    """Whether a vertex is in the bitset at address `words`."""
    return (load_word(words, np.int64(vertex) >> 6) >> np.uint64(vertex & 63)) & np.uint64(1) != np.uint64(0)


@inlined
def lowest(word):  # type: ignore[no-untyped-def]
    """The number of the lowest bit that is set."""
    return count_bits((word & (~word + np.uint64(1))) - np.uint64(1))  # type: ignore[call-arg]


@inner
def next_bit(words, vertex, end):  # type: ignore[no-untyped-def]
    """The first vertex from this one on that is in the bitset at address `words`; `end` or more where none is before
    that."""
    while vertex < end:
        rest = load_word(words, vertex >> 6) >> np.uint64(vertex & 63)
        if rest != 0:
            return vertex + np.int64(lowest(rest))
        vertex = ((vertex >> 6) + 1) << 6
    return vertex


@inner
def rank(words, ranks, vertex):  # type: ignore[no-untyped-def]
    """Set bits before `vertex`: its position in the candidate set, when it is in it."""
    word = np.int64(vertex) >> 6
    below = (np.uint64(1) << np.uint64(vertex & 63)) - np.uint64(1)
    return np.int64(load_int32(ranks, word)) + count_bits(load_word(words, word) & below)  # type: ignore[call-arg]


@inner
def count_both(bits, others, words, begin, end):  # type: ignore[no-untyped-def]
    """Vertices of `begin .. end - 1` in two bitsets and in that at `words` (0: all vertices)."""
    count = np.int64(0)
    if begin >= end:
        return count
    if words == 0:
        words = bits
    first, last = begin >> 6, (end - 1) >> 6
    for word in range(first, last + 1):
        count += count_bits(load_word(bits, word) & load_word(others, word) & load_word(words, word))  # type: ignore[call-arg]
    before = (np.uint64(1) << np.uint64(begin & 63)) - np.uint64(1)
    count -= count_bits(load_word(bits, first) & load_word(others, first) & load_word(words, first) & before)  # type: ignore[call-arg]
    after = ~(np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(63 - ((end - 1) & 63)))
    count -= count_bits(load_word(bits, last) & load_word(others, last) & load_word(words, last) & after)
    return count


@inner
def count_common(short, begin, end, long, other_begin, other_end, words):  # type: ignore[no-untyped-def]
    """Size of the intersection of two sorted rows without repeats and of the bitset at `words` (0: all vertices).

    The rows are merged when they are alike in length, else the longer is galloped through. All of the shortest are
    compared with each other, which takes no branch that nobody could predict but the ends of the rows.
    """
    count = np.int64(0)
    if words == 0 and (end - begin) * (other_end - other_begin) <= FEW_PAIRS:
        for index in range(begin, end):
            value = load_int32(short, index)
            for place in range(other_begin, other_end):
                count += load_int32(long, place) == value
        return count
    if (end - begin) * 16 < other_end - other_begin:
        for index in range(begin, end):
            value = load_int32(short, index)
            other_begin = lower_bound(long, other_begin, other_end, value)
            if other_begin == other_end:
                break
            if load_int32(long, other_begin) == value and (words == 0 or has_bit(words, value)):
                count += 1
        return count
    while begin < end and other_begin < other_end:
        one, other = load_int32(short, begin), load_int32(long, other_begin)
        if one == other and (words == 0 or has_bit(words, one)):
            count += 1
        begin += one <= other
        other_begin += other <= one
    return count

"""What is left of the candidate sets while query vertices are matched one after the other, as bitsets.

Matching a vertex leaves of each neighbour's candidates those in its row, and takes the vertex away from all that must
be others. Query vertices that may be the same data vertex have their candidates numbered together, so that both is an
AND of a few words. Vertices of which nothing joins what is left can be summed apart: by then a test that two of them
differ is only a tie where they have a candidate in common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.sorted_rows import lowest
from gquery.executor.cpu.kernels.sums.numbers import reduced
from gquery.executor.cpu.machine.compile import inlined, inner, kernel
from gquery.executor.cpu.machine.native import count_bits, load_word, pointer

_ONE = np.uint64(1)
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd: multiplying by them loses nothing


class Pattern(NamedTuple):
    """A query graph of at most 64 vertices, `width`, numbered by level. By vertex: near, different uint64[width], the
    masks of its neighbours and of those that it must differ from; words int64[width] of its bitsets, begins where they
    begin among those of all vertices together, of which there are begins[width]; weights float64[width]: the less, the
    sooner it is matched. rows int64[width * width]: addresses of the rows that lead from one to the other, as bitsets
    by number of candidate; 0 for none."""

    width: int
    near: NDArray[np.uint64]
    different: NDArray[np.uint64]
    words: NDArray[np.int64]
    begins: NDArray[np.int64]
    weights: NDArray[np.float64]
    rows: NDArray[np.int64]


class Left(NamedTuple):
    """What is left at each depth, int64[(width + 1) * width] but for the bits. bits uint64[(width + 1) * words]: by
    depth the bitsets of all vertices. written: the depth at which the bitset that is valid there was written. counts:
    its candidates."""

    width: int
    bits: NDArray[np.uint64]
    written: NDArray[np.int64]
    counts: NDArray[np.int64]


@inner
def pointed(pattern, left):  # type: ignore[no-untyped-def]
    """The same as pointers, since small kernels are handed them often."""
    return (
        Pattern(
            pattern.width,
            pointer(pattern.near),
            pointer(pattern.different),
            pointer(pattern.words),
            pointer(pattern.begins),
            pointer(pattern.weights),
            pointer(pattern.rows),
        ),
        Left(
            left.width,
            pointer(left.bits),
            pointer(left.written),
            pointer(left.counts),
        ),
    )


@inlined
def place_of(pattern, left, depth, vertex):  # type: ignore[no-untyped-def]
    """Where the bitset of a vertex begins that is valid at a depth."""
    return left.written[depth * left.width + vertex] * pattern.begins[pattern.width] + pattern.begins[vertex]


@inlined
def mixed(key, word, factor):  # type: ignore[no-untyped-def]
    """A key and a word as one. For a given key different words have different results."""
    key = (key ^ word) * factor
    return key ^ (key >> np.uint64(29))


@inner
def measure(pattern, left, depth, vertex):  # type: ignore[no-untyped-def]
    """Counts a bitset that was just written; returns the count."""
    begin = place_of(pattern, left, depth, vertex)
    count = np.int64(0)
    for word in range(begin, begin + pattern.words[vertex]):
        count += count_bits(left.bits[word])  # type: ignore[call-arg]
    left.counts[depth * left.width + vertex] = count
    return count


@kernel
def measure_all(pattern, left):  # type: ignore[no-untyped-def]
    """Measures the candidate sets that everything begins with, of which the bits are written."""
    pattern, left = pointed(pattern, left)
    for vertex in range(pattern.width):
        measure(pattern, left, 0, vertex)


@inner
def match(pattern, left, depth, rest, vertex, candidate):  # type: ignore[no-untyped-def]
    """Writes to the next depth what a candidate of a vertex leaves of the vertices `rest`; returns whether any of them
    has nothing left, and the words looked at."""
    begins, words, bits = pattern.begins, pattern.words, left.bits
    below, looks = depth + 1, np.int64(0)
    own, bit = candidate >> 6, _ONE << np.uint64(candidate & 63)
    near, different = pattern.near[vertex], pattern.different[vertex]
    pending = rest
    while pending != 0:
        other = lowest(pending)
        pending &= pending - _ONE
        mask = _ONE << np.uint64(other)
        source = place_of(pattern, left, depth, other)
        is_near = near & mask != 0
        taken = different & mask != 0 and bits[source + own] & bit != 0
        if not is_near and not taken:
            left.written[below * left.width + other] = left.written[depth * left.width + other]
            left.counts[below * left.width + other] = left.counts[depth * left.width + other]
            continue
        left.written[below * left.width + other] = below
        target, size = below * begins[pattern.width] + begins[other], words[other]
        looks += size
        if is_near:
            row = pattern.rows[vertex * pattern.width + other]
            for word in range(size):
                bits[target + word] = bits[source + word] & load_word(row, candidate * size + word)
        else:
            for word in range(size):
                bits[target + word] = bits[source + word]
        if taken:
            bits[target + own] &= ~bit
        if measure(pattern, left, below, other) == 0:
            return True, looks
    return False, looks


@inlined
def share(pattern, left, depth, one, other):  # type: ignore[no-untyped-def]
    """How many candidates two vertices have in common."""
    begin, second = place_of(pattern, left, depth, one), place_of(pattern, left, depth, other)
    common = np.int64(0)
    for word in range(pattern.words[one]):
        common += count_bits(left.bits[begin + word] & left.bits[second + word])  # type: ignore[call-arg]
    return common


@inner
def component(pattern, left, depth, rest):  # type: ignore[no-untyped-def]
    """Those of the vertices `rest` that the first of them is joined to, with it: by edges, or because they must differ
    and might not, which is looked at where edges lead no further."""
    found = rest & (~rest + _ONE)
    pending = apart = found
    while found != rest:
        if pending != 0:
            joined = pattern.near[lowest(pending)] & rest & ~found
            pending = (pending & (pending - _ONE)) | joined
            apart |= joined
            found |= joined
        elif apart != 0:
            vertex = lowest(apart)
            apart &= apart - _ONE
            others = pattern.different[vertex] & rest & ~found
            while others != 0:
                other = lowest(others)
                if share(pattern, left, depth, vertex, other) > 0:
                    pending |= _ONE << np.uint64(other)
                others &= others - _ONE
            apart |= pending
            found |= pending
        else:
            break
    return found


@inner
def count_pair(pattern, left, depth, one, other):  # type: ignore[no-untyped-def]
    """The matches of two vertices that are joined, and the words looked at."""
    differ = (pattern.different[one] >> np.uint64(other)) & _ONE != 0
    if (pattern.near[one] >> np.uint64(other)) & _ONE == 0:
        both = left.counts[depth * left.width + one] * left.counts[depth * left.width + other]
        return both - share(pattern, left, depth, one, other), pattern.words[one]
    if left.counts[depth * left.width + other] < left.counts[depth * left.width + one]:
        one, other = other, one
    begin, second = place_of(pattern, left, depth, one), place_of(pattern, left, depth, other)
    size, rows = pattern.words[other], pattern.rows[one * pattern.width + other]
    count = np.int64(0)
    for word in range(pattern.words[one]):
        pending = left.bits[begin + word]
        while pending != 0:
            candidate = np.int64(word << 6) + lowest(pending)
            pending &= pending - _ONE
            for place in range(size):
                row = load_word(rows, candidate * size + place) & left.bits[second + place]
                if differ and place == candidate >> 6:
                    row &= ~(_ONE << np.uint64(candidate & 63))
                count += count_bits(row)  # type: ignore[call-arg]
    return count, left.counts[depth * left.width + one] * size


@inner
def is_nested(pattern, left, depth, joined):  # type: ignore[no-untyped-def]
    """Whether no edges join the vertices, and of any two the candidates of one are all candidates of the other."""
    pending = joined
    while pending != 0:
        vertex = lowest(pending)
        pending &= pending - _ONE
        if pattern.near[vertex] & joined != 0:
            return False
        others = pending
        while others != 0:
            other = lowest(others)
            others &= others - _ONE
            fewer = min(left.counts[depth * left.width + vertex], left.counts[depth * left.width + other])
            if (pattern.different[vertex] >> np.uint64(other)) & _ONE == 0 or (
                share(pattern, left, depth, vertex, other) != fewer
            ):
                return False
    return True


@inner
def count_nested(left, depth, joined, modulus):  # type: ignore[no-untyped-def]
    """The matches of vertices that all differ and have nested candidates, modulo and about: each has those that are
    left by all with fewer."""
    value, size = _ONE, 1.0
    pending = joined
    while pending != 0:
        vertex = lowest(pending)
        pending &= pending - _ONE
        count, others = left.counts[depth * left.width + vertex], joined
        while others != 0:
            other = lowest(others)
            others &= others - _ONE
            taken = left.counts[depth * left.width + other]
            own = left.counts[depth * left.width + vertex]
            count -= np.int64(taken < own or (taken == own and other < vertex))
        count = max(count, np.int64(0))
        value = reduced(value * np.uint64(count), modulus)
        size *= count
    return value, size


@inner
def next_vertex(pattern, left, depth, joined):  # type: ignore[no-untyped-def]
    """The vertex that is matched next: one with few candidates left and many neighbours that it leaves few of."""
    best, least = np.int64(-1), np.inf
    pending = joined
    while pending != 0:
        vertex = lowest(pending)
        pending &= pending - _ONE
        degree = 0.5 + count_bits(pattern.near[vertex] & joined)  # type: ignore[call-arg]
        weight = left.counts[depth * left.width + vertex] * pattern.weights[vertex] / (degree * degree)
        if weight < least:
            best, least = vertex, weight
    return best


@inner
def key_of(pattern, left, depth, joined):  # type: ignore[no-untyped-def]
    """What tells the sum over some vertices from others: which they are, and what is left of their candidates. Of
    128 bits: that two of 10^9 sums are taken for one has a chance of 10^-20."""
    key = more = joined
    pending = joined
    while pending != 0:
        vertex = lowest(pending)
        pending &= pending - _ONE
        begin = place_of(pattern, left, depth, vertex)
        own = other = np.uint64(vertex + 1)  # of each vertex apart, so that a core is at work on several
        for word in range(begin, begin + pattern.words[vertex]):
            own, other = mixed(own, left.bits[word], _FIRST), mixed(other, left.bits[word], _SECOND)
        key = mixed(key, mixed(own, own >> np.uint64(32), _FIRST), _FIRST)
        more = mixed(more, other, _SECOND)
    return key | _ONE, more  # an empty entry of the memory is 0


@kernel
def write_rows(offsets, neighbours, bits):  # type: ignore[no-untyped-def]
    """Writes rows as bitsets. offsets int64[n + 1], neighbours int32[m], bits uint64[n, words], of zeros."""
    for row in range(len(offsets) - 1):
        for place in range(offsets[row], offsets[row + 1]):
            neighbour = neighbours[place]
            bits[row, neighbour >> 6] |= _ONE << np.uint64(neighbour & 63)

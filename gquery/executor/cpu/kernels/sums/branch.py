"""Folds a branch of the query tree: its sums are computed for all candidates of its parent at once, bottom-up.

A vertex that is tied to nothing but its parent by one edge has a sum that depends on the parent's vertex alone. One
pass over the parent's rows gives it for all of them, and multiplies it into the parent's factors; the search then finds
the branch as a number at each candidate. When everything folds, there is nothing left to search.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.addresses import lists_of
from gquery.executor.cpu.kernels.sorted_rows import has_bit, row
from gquery.executor.cpu.kernels.sums.numbers import capped
from gquery.executor.cpu.kernels.workspace import times
from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.cpu.machine.native import address, load_float, load_int32, load_int64, load_word
from gquery.executor.cpu.search.packed import EXISTS, NONE, OPTIONAL
from gquery.records import record
from gquery.storage.adjacency import Adjacency
from gquery.storage.changes.paged import ChangedAdjacency
from gquery.storage.parted.few_rows import FewRows
from gquery.storage.sorting import among

Sums = NDArray[np.uint64]
Sizes = NDArray[np.float64]


# Slots of a packed branch: the adjacency, from the parent; addresses of the bitset of the child's candidates, 0 when
# every neighbour is one, and of the child's factors, 0 when it has none; the positions that the factors of child and
# parent begin with; what a sum counts as; neighbours that are not counted.
FIRST, ROWS, OFFSETS, NEIGHBOURS, WORDS, CHILD_SUMS, CHILD_SIZES, CHILD_BASE, BASE, CAP = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
MINUS = 10

SIDE_BY_SIDE = -1  # as a base

_SHORT = 4  # entries of a row on the mean, below which its end is hard to predict
_GAPS = 8  # between the vertices of a slice, up to which each part is worth calls of its own
_SLICE = 1 << 14  # positions: their sums stay in the cache while all branches are multiplied in


@record(frozen=True, slots=True)
class Factors:
    """For the positions `base .. base + len(sums) - 1` of a query vertex, the product of the sums of its folded
    branches: modulo 2^64 or the run's modulus, and about; 0 at positions that are not candidates. No `sizes`: the sums
    are known to be exact. base: SIDE_BY_SIDE where they are those of the fold's vertices, one after the other."""

    base: int
    sums: Sums
    sizes: Sizes


NO_FACTORS = Factors(0, np.zeros(0, np.uint64), np.zeros(0, np.float64))


@inlined
def begin_product(sums, place, fresh):  # type: ignore[no-untyped-def]
    """What a factor is multiplied by."""
    return np.uint64(1) if fresh else sums[place]


@inlined
def begin_size(sizes, place, fresh):  # type: ignore[no-untyped-def]
    """About the same."""
    return 1.0 if fresh else sizes[place]


@inlined
def multiply_all(sums, factor, fresh):  # type: ignore[no-untyped-def]
    """Multiplies one factor into all sums."""
    for place in range(len(sums)):
        sums[place] = factor * begin_product(sums, place, fresh)


@inlined
def scale_all(sizes, factor, fresh):  # type: ignore[no-untyped-def]
    """The same with about the sums."""
    for place in range(len(sizes)):
        sizes[place] = times(float(factor), begin_size(sizes, place, fresh))


@inlined
def length_factor(branch, length):  # type: ignore[no-untyped-def]
    """What a row counts as of which each entry counts once."""
    cap = branch[CAP]
    least, most = np.int64(cap == OPTIONAL), np.int64(1) if cap >= EXISTS else np.int64(0x7FFFFFFFFFFFFFFF)
    counted = min(max(length - branch[MINUS], least), most)
    return np.uint64(np.int64(1) - counted if cap == NONE else counted)


@kernel
def multiply_lengths(branch, begin, end, sums, sizes, fresh):  # type: ignore[no-untyped-def]
    """Does what `multiply` does for the vertices begin..end - 1 where all neighbours count, once each. Its loops have
    no branch and count from zero, so that LLVM does several sums at once."""
    offsets, first, rows, base = branch[OFFSETS], branch[FIRST], branch[ROWS], branch[BASE]
    low = min(max(begin, first), end)
    high = max(low, min(end, first + rows))
    before, nothing = low - first, length_factor(branch, np.int64(0))  # of those that have no rows
    inside = sums[low - base : high - base]
    for place in range(len(inside)):
        length = load_int64(offsets, before + place + 1) - load_int64(offsets, before + place)
        inside[place] = length_factor(branch, length) * begin_product(inside, place, fresh)
    about = sizes[low - base : high - base]  # of none, where they are not wanted
    for place in range(len(about)):
        length = load_int64(offsets, before + place + 1) - load_int64(offsets, before + place)
        about[place] = times(float(length_factor(branch, length)), begin_size(about, place, fresh))
    for start, stop in ((begin, low), (high, end)):
        multiply_all(sums[start - base : stop - base], nothing, fresh)
        scale_all(sizes[start - base : stop - base], nothing, fresh)


@kernel
def multiply_differences(branch, begin, end, sums, fresh, running):  # type: ignore[no-untyped-def]
    """Does what `multiply` does for the vertices begin..end - 1 where all neighbours count, the factors are exact and
    rows are short. A loop over two or three entries is mispredicted each time; so the entries of all rows are added up
    in `running`, uint64[entries + 1], and a row's sum is the difference of two."""
    offsets, first, rows, base, cap = branch[OFFSETS], branch[FIRST], branch[ROWS], branch[BASE], branch[CAP]
    neighbours, child_sums, child_base = branch[NEIGHBOURS], branch[CHILD_SUMS], branch[CHILD_BASE]
    low = min(max(begin, first), end)
    high = max(low, min(end, first + rows))
    start = load_int64(offsets, low - first) if low < high else np.int64(0)
    total = np.uint64(0)
    running[0] = total
    for place in range(len(running) - 1):
        total += load_word(child_sums, load_int32(neighbours, start + place) - child_base)
        running[place + 1] = total
    inside, before = sums[low - base : high - base], np.uint64(0)
    for place in range(len(inside)):
        after = running[load_int64(offsets, low - first + place + 1) - start]
        found, _ = capped(cap, after - before, float(after - before))
        inside[place] = found * begin_product(inside, place, fresh)
        before = after
    nothing, _ = capped(cap, np.uint64(0), 0.0)
    multiply_all(sums[begin - base : low - base], nothing, fresh)
    multiply_all(sums[high - base : end - base], nothing, fresh)


@kernel
def multiply(branch, vertices, begin, end, sums, sizes, modulus, fresh):  # type: ignore[no-untyped-def]
    """Multiplies the sums over the rows of `vertices[begin:end]` into their factors.

    branch int64[11]: see above; vertices: int32[] positions of the parent. sums, sizes: the factors, `sizes` of length
    0 when they are not wanted. fresh: whether the factors are one so far.
    """
    offsets, first, rows, base, cap = branch[OFFSETS], branch[FIRST], branch[ROWS], branch[BASE], branch[CAP]
    neighbours, words = branch[NEIGHBOURS], branch[WORDS]
    child_sums, child_sizes, child_base = branch[CHILD_SUMS], branch[CHILD_SIZES], branch[CHILD_BASE]
    sized = len(sizes) > 0
    for index in range(begin, end):
        position = vertices[index]
        low, high = row(offsets, first, rows, position)
        total = np.uint64(0)
        size = 0.0
        if child_sums == 0:
            count = high - low
            if words != 0:
                count = np.int64(0)
                for entry in range(low, high):
                    count += has_bit(words, load_int32(neighbours, entry))
            count = max(count - branch[MINUS], np.int64(0))
            total, size = np.uint64(count), float(count)
        else:
            for entry in range(low, high):
                neighbour = load_int32(neighbours, entry)
                if words == 0 or has_bit(words, neighbour):
                    total += load_word(child_sums, neighbour - child_base)
                    if sized:
                        size += load_float(child_sizes, neighbour - child_base)
            if not sized:
                size = float(total)
        total, size = capped(cap, total, size)
        if modulus != 0:
            total %= modulus
        place = index if base == SIDE_BY_SIDE else np.int64(position) - base
        if not fresh:
            total *= sums[place]
            if modulus != 0:
                total %= modulus
            if sized:
                size = times(size, sizes[place])
        sums[place] = total
        if sized:
            sizes[place] = size


@record(frozen=True, slots=True)
class Branch:
    """One folded level: the sums over its vertex go into the factors of its parent. words: address of the bitset of the
    child's candidates, or 0; minus: so many of them are not counted, when there is nothing below."""

    adjacency: Adjacency
    words: int
    child: Factors
    minus: int
    cap: int

    def summed(self, positions: NDArray[np.int32]) -> NDArray[np.int32]:
        """Those of the parent's positions, ascending, whose sum may be another than 0."""
        return positions if self.cap in (OPTIONAL, NONE) else self.adjacency.among(positions)


@record(frozen=True, slots=True)
class Fold:
    """The folded branches of one query vertex. vertices: its positions; factors: their products."""

    vertices: NDArray[np.int32]
    factors: Factors
    branches: tuple[Branch, ...]

    def at(self, positions: NDArray[np.int32]) -> Fold:
        """The same at some positions, any of them several times: those that are not its own have a sum of 0."""
        own = positions[among(positions, self.vertices)] if len(self.vertices) else positions[:0]
        base = self.factors.base
        places = self.vertices.searchsorted(own) if base == SIDE_BY_SIDE else own - base
        sizes = self.factors.sizes[places] if len(self.factors.sizes) else self.factors.sizes
        return replace(self, factors=Factors(0, self.factors.sums[places], sizes))


def run(folds: Sequence[Fold], modulus: int, sliced: Callable[[int, Callable[[int, int], object], int], None]) -> None:
    """Runs the folds, each after those below it. `sliced` runs work over slices of a range."""
    for fold in folds:
        sliced(len(fold.vertices), _multiplying(fold, modulus), _SLICE)


def _multiplying(fold: Fold, modulus: int) -> Callable[[int, int], None]:
    """What multiplies the sums of all branches into the factors of `fold.vertices[begin:end]`."""
    branches = [(branch, _packed(fold, branch)) for branch in fold.branches]

    def work(begin: int, end: int) -> None:
        for first, last in _runs(fold.vertices, begin, end):
            for number, (branch, packed) in enumerate(branches):
                _multiply(fold, branch, packed, first, last, modulus, number == 0)

    return work


def _runs(vertices: NDArray[np.int32], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The range in parts without gaps, where it has few: several labels whole; else as it is."""
    cuts = [begin]
    while cuts[-1] < end and len(cuts) <= _GAPS:  # looked for by halves: most have none, or at once too many
        low = cuts[-1]
        ahead = vertices[low] - low
        cuts.append(bisect_right(range(end), ahead, low, end, key=lambda place: vertices[place] - place))
    return pairwise(cuts if cuts[-1] == end else (begin, end))


def _multiply(
    fold: Fold, branch: Branch, packed: NDArray[np.int64], begin: int, end: int, modulus: int, fresh: bool
) -> None:
    """Multiplies the sums of one branch into the factors of `fold.vertices[begin:end]`, by the loop that suits them."""
    vertices, sums, sizes = fold.vertices, fold.factors.sums, fold.factors.sizes
    low, high = int(vertices[begin]), int(vertices[end - 1]) + 1
    has_offsets = not isinstance(branch.adjacency, ChangedAdjacency | FewRows)
    has_places = fold.factors.base != SIDE_BY_SIDE
    if has_places and has_offsets and modulus == 0 and branch.words == 0 and high - low == end - begin:
        if len(branch.child.sums) == 0:
            multiply_lengths(packed, low, high, sums, sizes, fresh)
            return
        entries = _entries(branch.adjacency, low, high)
        if len(sizes) == 0 and entries < _SHORT * (end - begin):
            multiply_differences(packed, low, high, sums, fresh, np.empty(entries + 1, np.uint64))
            return
    multiply(packed, vertices, begin, end, sums, sizes, np.uint64(modulus), fresh)


def _packed(fold: Fold, branch: Branch) -> NDArray[np.int64]:
    """A branch as the kernels read it."""
    adjacency, child = branch.adjacency, branch.child
    return np.array(
        (
            *lists_of(adjacency),
            branch.words,
            address(child.sums),
            address(child.sizes),
            child.base,
            fold.factors.base,
            branch.cap,
            branch.minus,
        ),
        np.int64,
    )


def _entries(adjacency: Adjacency, begin: int, end: int) -> int:
    """Entries in the rows of the vertices begin..end - 1."""
    low, high = (min(max(vertex - adjacency.first, 0), adjacency.rows) for vertex in (begin, end))
    return int(adjacency.offsets[high] - adjacency.offsets[low])


def total(fold: Fold, modulus: int) -> tuple[int, float]:
    """The sum of the factors, modulo 2^64 or the modulus, and about."""
    exact = int(fold.factors.sums.sum()) % (modulus or 2**64)
    return exact, float(fold.factors.sizes.sum()) if len(fold.factors.sizes) else float(exact)

"""Folds a branch of the query tree: its sums are computed for all candidates of its parent at once, bottom-up.

A vertex that is tied to nothing but its parent by one edge has a sum that depends on the parent's vertex alone. One
pass over the parent's rows gives it for all of them, and multiplies it into the parent's factors; the search then finds
the branch as a number at each candidate. When everything folds, there is nothing left to search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.sets import rows_of
from gquery.executor.cpu.kernels.caps import capped
from gquery.executor.cpu.kernels.sorted_rows import has_bit, row
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import address, load_int32, load_int64
from gquery.storage.adjacency import Adjacency

Sums = NDArray[np.uint64]
Sizes = NDArray[np.float64]


_SHORT = 4  # entries of a row on the mean, below which its end is hard to predict
_SLICE = 1 << 15  # positions: their sums stay in the cache while all branches are multiplied in


@dataclass(frozen=True, slots=True)
class Factors:
    """For the positions `base .. base + len(sums) - 1` of a query vertex, the product of the sums of its folded
    branches: modulo 2^64 or the run's modulus, and about; 0 at positions that are not candidates. No `sizes`: the sums
    are known to be exact."""

    base: int
    sums: Sums
    sizes: Sizes


NO_FACTORS = Factors(0, np.zeros(0, np.uint64), np.zeros(0, np.float64))


@kernel
def multiply_lengths(vertices, begin, end, first, rows, offsets, base, sums, cap, fresh):  # type: ignore[no-untyped-def]
    """Does what `multiply` does where all neighbours count, once each, and the factors are exact."""
    for index in range(begin, end):
        position = vertices[index]
        low, high = row(offsets, first, rows, position)
        total, _ = capped(cap, np.uint64(high - low), float(high - low))
        if fresh:
            sums[position - base] = total
        else:
            sums[position - base] *= total


@kernel
def multiply_differences(  # type: ignore[no-untyped-def]
    begin, end, first, rows, offsets, neighbours, child_base, child_sums, base, sums, cap, fresh, running
):
    """Does what `multiply` does for the vertices begin..end - 1 where all neighbours count, the factors are exact and
    rows are short. A loop over two or three entries is mispredicted each time; so the entries of all rows are added up
    in `running`, uint64[entries + 1], and a row's sum is the difference of two."""
    start = load_int64(offsets, min(max(begin - first, 0), rows))
    total = np.uint64(0)
    running[0] = total
    for place in range(len(running) - 1):
        total += child_sums[load_int32(neighbours, start + place) - child_base]
        running[place + 1] = total
    for vertex in range(begin, end):
        low = load_int64(offsets, min(max(vertex - first, 0), rows))
        high = load_int64(offsets, min(max(vertex + 1 - first, 0), rows))
        found = running[high - start] - running[low - start]
        found, _ = capped(cap, found, float(found))
        if fresh:
            sums[vertex - base] = found
        else:
            sums[vertex - base] *= found


@kernel
def multiply(  # type: ignore[no-untyped-def]
    vertices,
    begin,
    end,
    first,
    rows,
    offsets,
    neighbours,
    words,
    child_base,
    child_sums,
    child_sizes,
    base,
    sums,
    sizes,
    cap,
    modulus,
    fresh,
):
    """Multiplies the sums over the rows of `vertices[begin:end]` into their factors.

    vertices: int32[] positions of the parent. words: bitset of the child's candidates, 0 when every neighbour is one.
    child_sums: factors of the child, of length 0 when it has none. sizes: of length 0 when they are not wanted. fresh:
    whether the factors are one so far.
    """
    plain = len(child_sums) == 0
    sized = len(sizes) > 0
    for index in range(begin, end):
        position = vertices[index]
        low, high = row(offsets, first, rows, position)
        total = np.uint64(0)
        size = 0.0
        if plain:
            count = high - low
            if words != 0:
                count = np.int64(0)
                for entry in range(low, high):
                    count += has_bit(words, load_int32(neighbours, entry))
            total, size = np.uint64(count), float(count)
        else:
            for entry in range(low, high):
                neighbour = load_int32(neighbours, entry)
                if words == 0 or has_bit(words, neighbour):
                    total += child_sums[neighbour - child_base]
                    if sized:
                        size += child_sizes[neighbour - child_base]
            if not sized:
                size = float(total)
        total, size = capped(cap, total, size)
        if modulus != 0:
            total %= modulus
        place = position - base
        if not fresh:
            total *= sums[place]
            if modulus != 0:
                total %= modulus
            if sized:
                size *= sizes[place]
        sums[place] = total
        if sized:
            sizes[place] = size


@dataclass(frozen=True, slots=True)
class Branch:
    """One folded level: the sums over its vertex go into the factors of its parent. words: address of the bitset of the
    child's candidates, or 0."""

    adjacency: Adjacency
    words: int
    child: Factors
    cap: int


@dataclass(frozen=True, slots=True)
class Fold:
    """The folded branches of one query vertex. vertices: its positions; factors: their products."""

    vertices: NDArray[np.int32]
    factors: Factors
    branches: tuple[Branch, ...]

    def at(self, positions: NDArray[np.int32]) -> Fold:
        """The same at some of its positions, any of them several times."""
        places = positions - self.factors.base
        sizes = self.factors.sizes[places] if len(self.factors.sizes) else self.factors.sizes
        return replace(self, factors=Factors(0, self.factors.sums[places], sizes))


def run(folds: Sequence[Fold], modulus: int, sliced: Callable[[int, Callable[[int, int], object], int], None]) -> None:
    """Runs the folds, each after those below it. `sliced` runs work over slices of a range."""
    for each in folds:

        def work(begin: int, end: int, each: Fold = each) -> None:
            for number, branch in enumerate(each.branches):
                _multiply(each, branch, begin, end, modulus, number == 0)

        sliced(len(each.vertices), work, _SLICE)


def _multiply(fold: Fold, branch: Branch, begin: int, end: int, modulus: int, fresh: bool) -> None:
    """Multiplies the sums of one branch into the factors of `fold.vertices[begin:end]`, by the loop that suits them."""
    factors, child, rows = fold.factors, branch.child, rows_of(branch.adjacency)
    neighbours = address(branch.adjacency.neighbours)
    if modulus == 0 and len(factors.sizes) == 0 and branch.words == 0:
        into = (factors.base, factors.sums, branch.cap, fresh)
        if len(child.sums) == 0:
            multiply_lengths(fold.vertices, begin, end, *rows, *into)
            return
        low, high = int(fold.vertices[begin]), int(fold.vertices[end - 1]) + 1
        entries = _entries(branch.adjacency, low, high)
        if high - low == end - begin and entries < _SHORT * (end - begin):
            running = np.empty(entries + 1, np.uint64)
            multiply_differences(low, high, *rows, neighbours, child.base, child.sums, *into, running)
            return
    multiply(
        fold.vertices,
        begin,
        end,
        *rows,
        neighbours,
        branch.words,
        child.base,
        child.sums,
        child.sizes,
        factors.base,
        factors.sums,
        factors.sizes,
        branch.cap,
        np.uint64(modulus),
        fresh,
    )


def _entries(adjacency: Adjacency, begin: int, end: int) -> int:
    """Entries in the rows of the vertices begin..end - 1."""
    low, high = np.clip([begin - adjacency.first, end - adjacency.first], 0, adjacency.rows)
    return int(adjacency.offsets[high] - adjacency.offsets[low])


def total(fold: Fold, modulus: int) -> tuple[int, float]:
    """The sum of the factors, modulo 2^64 or the modulus, and about."""
    exact = int(fold.factors.sums.sum()) % (modulus or 2**64)
    return exact, float(fold.factors.sizes.sum()) if len(fold.factors.sizes) else float(exact)

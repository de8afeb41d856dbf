"""Folds a branch of the query tree: its sums are computed for all candidates of its parent at once, bottom-up.

A vertex that is tied to nothing but its parent by one edge has a sum that depends on the parent's vertex alone. One
pass over the parent's rows gives it for all of them, and multiplies it into the parent's factors; the search then finds
the branch as a number at each candidate. When everything folds, there is nothing left to search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.candidates import rows_of
from gquery.executor.cpu.capped import capped
from gquery.executor.cpu.compile import kernel
from gquery.executor.cpu.lookup import has_bit, row
from gquery.executor.cpu.native import address, load_int32
from gquery.storage.adjacency import Adjacency

Sums = NDArray[np.uint64]
Sizes = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factors:
    """For the positions `base .. base + len(sums) - 1` of a query vertex, the product of the sums of its folded
    branches: modulo 2^64 or the run's modulus, and about."""

    base: int
    sums: Sums
    sizes: Sizes


NO_FACTORS = Factors(0, np.zeros(0, np.uint64), np.zeros(0, np.float64))


@kernel
def fold(  # type: ignore[no-untyped-def]
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
):
    """Multiplies the sums over the rows of `vertices[begin:end]` into their factors.

    vertices: int32[] positions of the parent. words: bitset of the child's candidates, 0 when every neighbour is one.
    child_sums: factors of the child, of length 0 when it has none.
    """
    plain = len(child_sums) == 0
    for index in range(begin, end):
        position = vertices[index]
        low, high = row(offsets, first, rows, position)
        total = np.uint64(0)
        size = 0.0
        if plain and words == 0:
            total = np.uint64(high - low)
            size = float(high - low)
        else:
            for entry in range(low, high):
                neighbour = load_int32(neighbours, entry)
                if words != 0 and not has_bit(words, neighbour):
                    continue
                if plain:
                    total += np.uint64(1)
                    size += 1.0
                else:
                    total += child_sums[neighbour - child_base]
                    size += child_sizes[neighbour - child_base]
        total, size = capped(cap, total, size)
        place = position - base
        if modulus == 0:
            sums[place] *= total
        else:
            sums[place] = sums[place] * (total % modulus) % modulus
        sizes[place] *= size


@dataclass(frozen=True, slots=True)
class Fold:
    """One folded level: the sums over its vertex go into the factors of its parent. vertices: positions of the parent;
    words: address of the bitset of the child's candidates, or 0."""

    vertices: NDArray[np.int32]
    adjacency: Adjacency
    words: int
    child: Factors
    parent: Factors
    cap: int


def run(folds: Sequence[Fold], modulus: int, sliced: Callable[[int, Callable[[int, int], object]], None]) -> None:
    """Runs the folds, each after those of its child's branches. `sliced` runs work over slices of a range."""
    for each in folds:
        each.parent.sums.fill(1)
        each.parent.sizes.fill(1.0)
    for each in folds:

        def work(begin: int, end: int, each: Fold = each) -> None:
            fold(
                each.vertices,
                begin,
                end,
                *rows_of(each.adjacency),
                address(each.adjacency.neighbours),
                each.words,
                each.child.base,
                each.child.sums,
                each.child.sizes,
                each.parent.base,
                each.parent.sums,
                each.parent.sizes,
                each.cap,
                np.uint64(modulus),
            )

        sliced(len(each.vertices), work)


def total(factors: Factors, roots: NDArray[np.int32], modulus: int) -> tuple[int, float]:
    """The sum of the factors at some positions, modulo 2^64 or the modulus, and about."""
    places = roots - factors.base
    return int(factors.sums[places].sum()) % (modulus or 2**64), float(factors.sizes[places].sum())

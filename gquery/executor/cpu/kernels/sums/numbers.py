"""Numbers of matches, as all sums keep them: modulo 2^64 or a given modulus, and beside that as floating-point numbers,
which tell how large they are and whether they are zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.cpu.kernels.edge_choices import count_choices
from gquery.executor.cpu.kernels.intersect import vertex_at
from gquery.executor.cpu.kernels.workspace import (
    EACH,
    MODULUS,
    PRODUCT_SIZES,
    PRODUCTS,
    ROW,
    SPLIT,
    START,
    SUM_SIZES,
    SUMS,
    levels_of,
    table_of,
    times,
)
from gquery.executor.cpu.machine.compile import inlined, inner
from gquery.executor.cpu.machine.native import load_float, load_word
from gquery.executor.cpu.search.packed import (
    CONTEXT,
    CONTEXT_COLUMNS,
    EXISTS,
    FACTOR_BASE,
    FACTOR_SIZES,
    FACTORS,
    OPTIONAL,
    PARENT,
    PLAIN,
    SIBLING,
    WEIGHTS_BEGIN,
    WEIGHTS_END,
)


class Tree(NamedTuple):
    """What is known of the levels of a tree. By level: the sum so far, the product so far of its candidate, uint64 and
    modulo `modulus`; about the same numbers, float64. context: a table of the packed plan."""

    sums: NDArray[np.uint64]
    sizes: NDArray[np.float64]
    products: NDArray[np.uint64]
    product_sizes: NDArray[np.float64]
    context: NDArray[np.int64]
    modulus: np.uint64


@inner
def tree_of(plan, work, width):  # type: ignore[no-untyped-def]
    """The tree that the work is about."""
    return Tree(
        levels_of(work, width, SUMS).view(np.uint64),
        levels_of(work, width, SUM_SIZES).view(np.float64),
        levels_of(work, width, PRODUCTS).view(np.uint64),
        levels_of(work, width, PRODUCT_SIZES).view(np.float64),
        table_of(plan, CONTEXT, CONTEXT_COLUMNS),
        np.uint64(work[MODULUS]),
    )


@inlined
def reduced(value, modulus):  # type: ignore[no-untyped-def]
    """A number modulo 2^64 or the modulus."""
    if modulus != 0:
        value %= modulus
    return value


@inlined
def capped(cap, value, size):  # type: ignore[no-untyped-def]
    """What the sum over a part of the query graph counts as: the sum itself, at least one, one if there is any, or one
    if there is none."""
    if cap == PLAIN:
        return value, size
    # Whether there is any changes from vertex to vertex: arithmetic, since a branch would be mispredicted.
    some = np.uint64(size > 0.0)
    if cap == OPTIONAL:
        return value + (np.uint64(1) - some), size + (1.0 - some)
    if cap == EXISTS:
        return some, float(some)
    return np.uint64(1) - some, 1.0 - some


@inlined
def factor_at(steps, level, position):  # type: ignore[no-untyped-def]
    """The product of the folded branches at a candidate, modulo and about; the level must have factors."""
    place = np.int64(position) - steps[level, FACTOR_BASE]
    return load_word(steps[level, FACTORS], place), load_float(steps[level, FACTOR_SIZES], place)


@inlined
def load_row(tables, walk, given, input_row, stop):  # type: ignore[no-untyped-def]
    """Positions and vertices of a partial match of `stop` levels."""
    for column in range(stop):
        position = given[column, input_row]
        walk.positions[column] = position
        walk.vertices[column] = vertex_at(tables.steps, column, position)


@inlined
def own_matches(tables, walk, choices, level, modulus):  # type: ignore[no-untyped-def]
    """What the vertex matched at a level stands for by itself, modulo and about: the choices of edges that are known
    there, and what is folded into it. And the looks at edges."""
    steps = tables.steps
    product, size, looks = np.uint64(1), 1.0, np.int64(0)
    begin, end = steps[level, WEIGHTS_BEGIN], steps[level, WEIGHTS_END]
    if begin < end:
        product, size, looks = count_choices(
            choices.table,
            begin,
            end,
            choices.collides,
            modulus,
            walk.positions,
            choices.scratch,
            choices.signals,
        )
    if steps[level, FACTORS] != 0 and size != 0.0:
        factor, factor_size = factor_at(steps, level, walk.positions[level])
        product = reduced(product * factor, modulus)
        size = times(size, factor_size)
    return product, size, looks


@inlined
def given_matches(tables, walk, choices, start, modulus):  # type: ignore[no-untyped-def]
    """What a given row of `start` levels stands for by itself, and the looks at edges."""
    product, size, looks = np.uint64(1), 1.0, np.int64(0)
    for level in range(start):
        factor, factor_size, more = own_matches(tables, walk, choices, level, modulus)
        looks += more
        product = reduced(product * factor, modulus)
        size = times(size, factor_size)
    return product, size, looks


@inlined
def close_level(steps, tree, level, value, size, top):  # type: ignore[no-untyped-def]
    """The sum of a level is known: it is a factor of the parent's candidate. Returns the level where the walk goes on,
    a sibling or the parent, and whether it begins there."""
    sibling, level = steps[level, SIBLING], steps[level, PARENT]
    tree.products[level] = reduced(tree.products[level] * value, tree.modulus)
    tree.product_sizes[level] = times(tree.product_sizes[level], size)
    entering = np.int64(0)
    if size > 0.0 and sibling >= 0:
        level = sibling
        entering = np.int64(1)
    elif size > 0.0 and level != top:
        tree.sums[level] = reduced(tree.sums[level] + tree.products[level], tree.modulus)
        tree.sizes[level] += tree.product_sizes[level]
    return level, entering


@inlined
def add_row(tree, state, sums, sizes):  # type: ignore[no-untyped-def]
    """The matches of a given row are known, as the product above all levels."""
    top, place = state[START] - 1, state[ROW] * state[EACH]
    sums[place] = reduced(sums[place] + tree.products[top], tree.modulus)
    sizes[place] += tree.product_sizes[top]
    state[ROW] += 1
    state[SPLIT] = -1

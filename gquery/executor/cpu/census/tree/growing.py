"""The tree of some classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.canonical import new_search
from gquery.executor.cpu.census.tally import ODD, new_tally, slot_of
from gquery.executor.cpu.census.tree.orders import condition_at, find_orders
from gquery.executor.cpu.machine.compile import inlined, kernel
from gquery.executor.memory import PartOfBudget
from gquery.stopping import Check

_AT_ONCE = 1 << 10  # classes between two looks at the clock
_NODE_BITS = 32
_BYTES = 80  # of a place of a class, at most


class Tree(NamedTuple):
    """A node stands for what some classes begin with, the first for nothing. Each has a little table of its children,
    so that all who look for one look at the same place: begins int32[nodes + 1]; table int32[*, 2], words and nodes, a
    power of two for each node that has children, -1 for none. By node: conditions int64[nodes], those of all classes
    that begin so, as far as they begin so; classes int32[nodes], the place of the one that ends here, or -1."""

    begins: NDArray[np.int32]
    table: NDArray[np.int32]
    conditions: NDArray[np.int64]
    classes: NDArray[np.int32]


def grown(codes: NDArray[np.int64], layout: Layout, check: Check, memory: PartOfBudget) -> Tree:
    """The tree of classes, int64[classes], canonical. Its memory is reserved, as much as it takes to make it; raises
    MemoryLimitError."""
    memory.reserve(_BYTES * layout.size * len(codes), "counting motifs")
    search = new_search(layout.size)
    orders, asked = np.empty_like(codes), np.empty_like(codes)
    for begin in range(0, len(codes), _AT_ONCE):
        check()
        some = slice(begin, begin + _AT_ONCE)
        find_orders(codes[some], layout, search, orders[some], asked[some])
    most = len(codes) * layout.size + 1
    met = new_tally(1 << (most - 1).bit_length())
    conditions, classes = np.full(most, -1, np.int64), np.full(most, -1, np.int32)
    plant(orders, asked, layout, met, conditions, classes)
    nodes = int(met.used[0]) + 1
    parents = met.codes[: nodes - 1] & (1 << _NODE_BITS) - 1
    children = np.bincount(parents, minlength=nodes)
    sizes = np.where(children, 2 << np.ceil(np.log2(np.maximum(children, 1))).astype(np.int64), 0)
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    tree = Tree(begins, np.full((int(begins[-1]), 2), -1, np.int32), conditions[:nodes].copy(), classes[:nodes].copy())
    hang(tree, met)
    return tree


@kernel
def plant(orders, asked, layout, met, conditions, classes):  # type: ignore[no-untyped-def]
    """Gives a node to all that classes begin with: its number is the place of parent and word in the table `met`, and
    one more."""
    for index in range(len(orders)):
        node = np.int64(0)
        for place in range(layout.size):
            begin = layout.positions[place]
            word = orders[index] >> begin & (1 << layout.positions[place + 1] - begin) - 1
            node = slot_of(met, word << _NODE_BITS | node) + 1
            conditions[node] &= asked[index] & (1 << condition_at(place + 1)) - 1
        classes[node] = index


@kernel
def hang(tree, met):  # type: ignore[no-untyped-def]
    """Writes the tables of all nodes."""
    for slot in range(met.used[0]):
        parent, word = met.codes[slot] & (1 << _NODE_BITS) - 1, met.codes[slot] >> _NODE_BITS
        begin = tree.begins[parent]
        size = tree.begins[parent + 1] - begin
        at = first_place(word, size)
        while tree.table[begin + at, 1] >= 0:
            at = at + 1 & size - 1
        tree.table[begin + at, 0], tree.table[begin + at, 1] = word, slot + 1


@inlined
def first_place(word, size):  # type: ignore[no-untyped-def]
    """Where a word is looked for first in a table of a size."""
    return (word * ODD >> 40) & size - 1


@inlined
def child_of(tree, node, word):  # type: ignore[no-untyped-def]
    """The child of a node by a word, -1 where there is none."""
    begin = np.int64(tree.begins[node])
    size = tree.begins[node + 1] - begin
    if size == 0:
        return np.int64(-1)
    at = first_place(np.int64(word), size)
    while tree.table[begin + at, 1] >= 0:
        if tree.table[begin + at, 0] == word:
            return np.int64(tree.table[begin + at, 1])
        at = at + 1 & size - 1
    return np.int64(-1)

"""Finds all subgraphs of the classes of a tree: partial matches are extended vertex by vertex, and go down the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gquery.executor.census.layout import Layout
from gquery.executor.cpu.census.tree.growing import child_of
from gquery.executor.cpu.census.tree.orders import condition_at
from gquery.executor.cpu.census.walk import (
    DEPTH,
    DONE,
    LOOKS,
    MEMBER,
    MORE,
    ROOT,
    ROOT_END,
    enter,
    leave,
    step,
)
from gquery.executor.cpu.machine.compile import inlined, inner, kernel


class Match(NamedTuple):
    """Where a search is, and what it has found. marks, beside, ends, cursors, members, bases, state: as of a `Walk`, of
    up to `size` - 1 vertices. By depth: nodes int64[size], of the tree; below int64[size]: which vertices are lower
    than others, a bit for each two places (`condition_at`). counts int64[classes]; sets int64[1]: all that are
    connected."""

    marks: NDArray[np.int32]
    beside: NDArray[np.int32]
    ends: NDArray[np.int64]
    cursors: NDArray[np.int64]
    members: NDArray[np.int32]
    bases: NDArray[np.int64]
    state: NDArray[np.int64]
    nodes: NDArray[np.int64]
    below: NDArray[np.int64]
    counts: NDArray[np.int64]
    sets: NDArray[np.int64]


def new_match(layout: Layout, vertices: int, classes: int) -> Match:
    """The memory of searches in graphs of so many vertices."""
    marks, beside = np.zeros((2, vertices), np.int32)
    ends, cursors, bases, nodes, below = np.zeros((5, layout.size), np.int64)
    members, state = np.zeros(layout.size, np.int32), np.zeros(LOOKS + 1, np.int64)
    counts, sets = np.zeros(classes, np.int64), np.zeros(1, np.int64)
    return Match(marks, beside, ends, cursors, members, bases, state, nodes, below, counts, sets)


@kernel
def match_classes(pairs, layout, tree, match, budget):  # type: ignore[no-untyped-def]
    """Counts the subgraphs of each class that begin with the roots that `match.state` names, for about so many looks.
    Returns how it ended."""
    last, state = layout.size - 1, match.state
    left = budget
    while left > 0 and (state[DEPTH] > 0 or state[ROOT] < state[ROOT_END]):
        depth = state[DEPTH]
        if depth == 0:
            left -= begin_with(pairs, layout, tree, match)
        elif depth == last:
            left -= count_last(pairs, layout, tree, match) + leave(pairs, layout, match)
        else:
            left -= go_on(pairs, layout, tree, match)
    state[LOOKS] += budget - left
    return MORE if left <= 0 else DONE


@inlined
def begin_with(pairs, layout, tree, match):  # type: ignore[no-untyped-def]
    """Begins with the next root. Returns how many looks that took."""
    vertex = np.int32(match.state[ROOT])
    match.state[ROOT] += 1
    node = child_of(tree, 0, pairs.colours[vertex])
    if node < 0:
        return 1
    match.nodes[1], match.cursors[1] = node, 0
    return enter(pairs, layout, match, vertex) + 1


@inlined
def go_on(pairs, layout, tree, match):  # type: ignore[no-untyped-def]
    """Adds the next vertex that leads on, or takes the last one from the match. Returns how many looks that took."""
    depth, node = match.state[DEPTH], np.int64(-1)
    begin = at = match.cursors[depth]
    while at < match.ends[depth] and node < 0:
        node = child_by(pairs, layout, tree, match, at)
        at += 1
    match.cursors[depth] = at
    if node < 0:
        return leave(pairs, layout, match) + at - begin + 1
    match.nodes[depth + 1], match.cursors[depth + 1] = node, 0
    return enter(pairs, layout, match, match.beside[at - 1]) + at - begin


@inlined
def child_by(pairs, layout, tree, match, at):  # type: ignore[no-untyped-def]
    """The node that a vertex beside the match leads to, -1 where there is none or its conditions do not hold."""
    depth, vertex = match.state[DEPTH], match.beside[at]
    mark = np.int64(match.marks[vertex])
    if mark >= MEMBER:
        return np.int64(-1)
    node = child_of(tree, match.nodes[depth], np.int64(pairs.colours[vertex]) | (mark << layout.colour_bits))
    if node >= 0:
        below = np.int64(0)
        for place in range(depth):
            below |= np.int64(match.members[place] < vertex) << place
        below = match.below[depth] | below << condition_at(depth)
        asked = tree.conditions[node]
        if below & asked != asked:
            return np.int64(-1)
        if depth + 1 < layout.size:
            match.below[depth + 1] = below
    return node


@inner
def count_last(pairs, layout, tree, match):  # type: ignore[no-untyped-def]
    """Counts what the last vertex can be. Returns how many looks that took."""
    end = match.ends[match.state[DEPTH]]
    for at in range(end):
        node = child_by(pairs, layout, tree, match, at)
        if node >= 0:
            match.counts[tree.classes[node]] += 1
    return end


@kernel
def count_sets(pairs, layout, match, budget):  # type: ignore[no-untyped-def]
    """Counts all connected sets, enumerated as in `walk.py`: for those of one vertex less only who else can come."""
    places, left = layout.size - 2, budget
    while left > 0:
        if match.state[DEPTH] < places:
            looks = step(pairs, layout, match)
            if looks == 0:
                break
            left -= looks
            continue
        root, later = match.members[0], 0
        for at in range(match.ends[places] - 1, match.cursors[places] - 1, -1):
            vertex = match.beside[at]
            if vertex > root:
                match.sets[0] += later
                later += 1
                begin, end = pairs.offsets[vertex], pairs.offsets[vertex + 1]
                for entry in range(begin, end):
                    other = pairs.neighbours[entry]
                    match.sets[0] += match.marks[other] == 0 and other > root
                left -= end - begin + 1
        left -= leave(pairs, layout, match)
    match.state[LOOKS] += budget - left
    return MORE if left <= 0 else DONE

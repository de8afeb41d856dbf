"""How packed levels hang together: the tree of a sum, its last levels, and the rows worth fetching early."""

from __future__ import annotations

import itertools

from gquery.executor import packed
from gquery.planner.physical import ExtendStep, MatchPlan

_UNCACHED = 1 << 15  # rows of an adjacency from which on it is worth fetching them early


def link(steps: list[list[int]], plan: MatchPlan, adjacencies: list[tuple[int, ...]]) -> None:
    """Writes into the packed steps what they have to know of each other. adjacencies: rows of `backward`, `absent`."""
    _look_ahead(steps, adjacencies)
    _join(steps, plan)


def _join(steps: list[list[int]], plan: MatchPlan) -> None:
    """The tree of the summed levels, and where its last levels can be taken together."""
    for row, step in zip(steps, plan.steps, strict=True):
        row[packed.PARENT], row[packed.CHILD], row[packed.SIBLING] = step.parent, -1, -1
    for level, row in enumerate(steps):
        children = [
            child
            for child in range(max(1, plan.kept), len(steps))
            if plan.steps[child].parent == level and not plan.steps[child].folded
        ]
        row[packed.CHILD] = children[0] if children else -1
        row[packed.BOTTOM] = all(
            steps[child][packed.SET_COUNT] and not steps[child][packed.SLOTS] for child in children
        )
        for child, sibling in itertools.pairwise(children):
            steps[child][packed.SIBLING] = sibling
        if len(children) == 1:
            row[packed.CLOSES] = _closes(row, plan.steps[level], steps[children[0]], plan.steps[children[0]], plan)


def _look_ahead(steps: list[list[int]], adjacencies: list[tuple[int, ...]]) -> None:
    """Names for each level the rows that its candidates are asked for first, when the caches do not hold them."""
    for level, row in enumerate(steps):
        for adjacency in adjacencies:
            if adjacency[packed.LEVEL] == level and adjacency[packed.ROWS] > _UNCACHED:
                row[packed.AHEAD_FIRST] = adjacency[packed.FIRST]
                row[packed.AHEAD_ROWS] = adjacency[packed.ROWS]
                row[packed.AHEAD_OFFSETS] = adjacency[packed.OFFSETS]
                row[packed.AHEAD_NEIGHBOURS] = adjacency[packed.NEIGHBOURS]
                break


def _closes(row: list[int], step: ExtendStep, leaf_row: list[int], leaf: ExtendStep, plan: MatchPlan) -> bool:
    """Whether a level and the one leaf below it can be summed in one loop."""
    plain = row[packed.BACKWARD_END] - row[packed.BACKWARD_BEGIN] == 1 and row[packed.SIMPLE] and not row[packed.TESTED]
    plain = plain and row[packed.WEIGHTS_BEGIN] == row[packed.WEIGHTS_END] and row[packed.CAP] < packed.EXISTS
    ends = [plan.graph.edges[edge].other(leaf.vertex) for edge in leaf.backward] + [other for other, *_ in leaf.absent]
    counted = leaf_row[packed.SET_COUNT] and leaf_row[packed.SIMPLE] and not leaf_row[packed.SLOTS]
    counted = counted and leaf_row[packed.CAP] == packed.PLAIN and not (leaf.absent and leaf_row[packed.WORDS])
    two = len(ends) == 2 and ends.count(step.vertex) == 1 and len(leaf.different_from) <= 1
    return bool(plain and counted and two)

"""How packed levels hang together: the tree of a sum, its last levels, and the rows worth fetching early."""

from __future__ import annotations

import itertools

from gquery.executor import packed
from gquery.planner.physical import ExtendStep, MatchPlan

_MOST_LEVELS = 62  # levels that a set of levels in one number can hold
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


def chain(steps: list[list[int]], plan: MatchPlan) -> bool:
    """Whether every summed level has at most one below it and no rare way to count, so that the sum can go breadth
    first; prepares the steps for that."""
    below = [level for level in range(max(1, plan.kept), len(steps)) if not plan.steps[level].folded]
    if not below or len(steps) > _MOST_LEVELS:
        return False
    for level in below:
        row = steps[level]
        weighed = row[packed.WEIGHTS_BEGIN] < row[packed.WEIGHTS_END]
        if row[packed.SIBLING] >= 0 or row[packed.SLOTS] or row[packed.CAP] != packed.PLAIN or weighed:
            return False
    needed: set[int] = set()
    for level in reversed([max(1, plan.kept) - 1, *below]):
        steps[level][packed.LIVE] = sum(1 << plan.order.index(vertex) for vertex in needed)
        if level in below:
            steps[level][packed.SPANS] = _spans(steps[level], plan.steps[level])
            needed = (needed | _asks(plan, plan.steps[level])) - {plan.order[level]}
    return True


def _spans(row: list[int], step: ExtendStep) -> int:
    """How many rows of a level can be looked up for a whole block of partial matches."""
    rows = row[packed.BACKWARD_END] - row[packed.BACKWARD_BEGIN]
    if not row[packed.SIMPLE]:
        return 0
    if not row[packed.SET_COUNT]:
        return int(rows == 1 and row[packed.TESTED] < 2 and not step.above)
    if row[packed.LENGTH]:
        return 1
    pair = rows + len(step.absent) == 2 and len(step.different_from) <= 1
    return 2 if pair and not (step.absent and row[packed.WORDS]) else 0


def _asks(plan: MatchPlan, step: ExtendStep) -> set[int]:
    """The other vertices that a step looks at."""
    asked = {plan.graph.edges[edge].other(step.vertex) for edge in step.backward}
    asked.update(step.different_from, step.above, *step.different_pairs, (other for other, *_ in step.absent))
    for index in step.comparisons:
        asked.update((plan.comparisons[index].left, plan.comparisons[index].right))
    return asked - {step.vertex}


def _closes(row: list[int], step: ExtendStep, leaf_row: list[int], leaf: ExtendStep, plan: MatchPlan) -> bool:
    """Whether a level and the one leaf below it can be summed in one loop."""
    plain = row[packed.BACKWARD_END] - row[packed.BACKWARD_BEGIN] == 1 and row[packed.SIMPLE] and not row[packed.TESTED]
    plain = plain and row[packed.WEIGHTS_BEGIN] == row[packed.WEIGHTS_END] and row[packed.CAP] < packed.EXISTS
    ends = [plan.graph.edges[edge].other(leaf.vertex) for edge in leaf.backward] + [other for other, *_ in leaf.absent]
    counted = leaf_row[packed.SET_COUNT] and leaf_row[packed.SIMPLE] and not leaf_row[packed.SLOTS]
    counted = counted and leaf_row[packed.CAP] == packed.PLAIN and not (leaf.absent and leaf_row[packed.WORDS])
    two = len(ends) == 2 and ends.count(step.vertex) == 1 and len(leaf.different_from) <= 1
    return bool(plain and counted and two)

"""How packed levels hang together: the tree of a sum, and whether it is a chain that can be summed breadth first."""

from __future__ import annotations

import itertools

from gquery.executor.cpu.search import packed
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan

_MOST_LEVELS = 62  # levels that a set of levels in one number can hold
_EVERY_LEVEL = -1  # the set of all levels


def link(steps: list[list[int]], plan: MatchPlan) -> None:
    """Writes the tree of the summed levels into the packed steps, and how each level is extended."""
    for level, (row, step) in enumerate(zip(steps, plan.steps, strict=True)):
        row[packed.PARENT], row[packed.CHILD], row[packed.SIBLING] = step.parent, -1, -1
        row[packed.SPANS] = _spans(row, step) if level else 0
        row[packed.LIVE] = _EVERY_LEVEL
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


def chain(steps: list[list[int]], plan: MatchPlan) -> bool:
    """Whether every summed level has at most one below it and no rare way to count, so that the sum can go breadth
    first; prepares the steps for that. Where a leaf has three rows there is no gain: those of cliques stay in the
    caches, and depth first looks into them sooner."""
    below = [level for level in range(max(1, plan.kept), len(steps)) if not plan.steps[level].folded]
    if not below or len(steps) > _MOST_LEVELS:
        return False
    for level in below:
        row = steps[level]
        weighed = row[packed.WEIGHTS_BEGIN] < row[packed.WEIGHTS_END]
        if row[packed.SIBLING] >= 0 or row[packed.SLOTS] or row[packed.CAP] != packed.PLAIN or weighed:
            return False
    leaf = steps[below[-1]]
    if leaf[packed.BACKWARD_END] - leaf[packed.BACKWARD_BEGIN] > 2:
        return False
    needed: set[int] = set()
    for level in reversed(below):
        steps[level][packed.LIVE] = sum(1 << plan.order.index(vertex) for vertex in needed)
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

"""How a sum goes: folded, as a chain block by block, or as a tree depth first."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.planner.ir.match_plan import ExtendStep, Strategy
from gquery.planner.ir.problem import Problem

_MOST_LEVELS = 62  # levels of which one number can say which are needed
_MOST_ROWS = 2  # of the leaf of a chain: those of cliques stay in the caches, and depth first looks into them sooner


def strategy_of(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> Strategy | None:
    """The strategy of the sum over all but the first `kept` steps, None when nothing is below what is listed or
    scanned."""
    if len(steps) <= max(1, kept):
        return None
    if can_fold(problem, steps, kept):
        return "fold"
    return "chain" if can_chain(problem, steps, kept) else "tree"


def can_fold(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether every sum is computed for all candidates of its parent at once."""
    folded = all(step.folded for step in steps[max(1, kept) :])
    return folded and (kept > 0 or steps[0].vertex not in _weighed_at(problem, steps))


def can_chain(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether every level that is summed by a search has at most one below it and no rare way to count."""
    below = [step for step in steps[max(1, kept) :] if not step.folded]
    if not below or len(steps) > _MOST_LEVELS or len(below[-1].backward) > _MOST_ROWS:
        return False
    if any(step.cap is not None or step.contexts for step in below):
        return False
    weighed = _weighed_at(problem, steps)
    return len({step.parent for step in below}) == len(below) and not any(step.vertex in weighed for step in below)


def _weighed_at(problem: Problem, steps: Sequence[ExtendStep]) -> set[int]:
    """The vertices at whose levels numbers of edges become known."""
    choices = [choice for choice in problem.constraints.choices if not choice.listed]
    if not choices:
        return set()
    level = {step.vertex: number for number, step in enumerate(steps)}
    return {max(choice.vertices, key=level.__getitem__) for choice in choices}

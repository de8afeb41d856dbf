"""How a sum goes: folded, as a chain block by block, or as a tree depth first, maybe inside of neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.planner.ir.match_plan import ExtendStep, Strategy, chains_of
from gquery.planner.ir.problem import Problem
from gquery.planner.search.sums.inside import has_plain_tests

_MOST_LEVELS = 62  # levels of which one number can say which are needed
_MOST_ADAPTED = 64  # vertices that one number can be a set of
_MOST_ROWS = 2  # of the leaf of a chain: those of cliques stay in the caches, and depth first looks into them sooner


def strategy_of(
    problem: Problem, steps: Sequence[ExtendStep], kept: int, wanted: Strategy | None = None
) -> Strategy | None:
    """The strategy of the sum over all but the first `kept` steps, None when nothing is below what is listed or
    scanned. wanted: what it is to be if it can."""
    if len(steps) <= max(1, kept):
        return None
    if wanted == "inside" and can_go_inside(problem, steps, kept):
        return "inside"
    if wanted == "adaptive" and can_adapt(problem, steps, kept):
        return "adaptive"
    if wanted == "push" and can_push(problem, steps, kept):
        return "push"
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


def can_go_inside(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether all that is searched below the first step are its neighbours, and needs no rare test."""
    if kept > 1 or not has_plain_tests(problem) or any(step.cap is not None for step in steps):
        return False
    root, edges = steps[0].vertex, problem.graph.edges
    below = [step for step in steps[1:] if not step.folded]
    near = all(any(root == edges[edge].other(step.vertex) for edge in step.backward) for step in below)
    return bool(below) and near and len(steps) <= _MOST_LEVELS


def can_adapt(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether vertices may be matched in any order after the first: all are counted, nothing is asked of them but edges
    and that they differ, and the steps say so of every pair."""
    rare = any(step.cap is not None or step.constants or step.above for step in steps)
    return not kept and not rare and adapts(problem)


def adapts(problem: Problem) -> bool:
    """Whether the vertices of a problem may be matched in any order."""
    return len(problem.graph.vertices) <= _MOST_ADAPTED and has_plain_tests(problem)


def can_push(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether chains of vertices lead from the first to the second, which has no other tie to the first than that it
    differs, and no test is a rare one."""
    if kept or not has_plain_tests(problem) or len(steps) < 3 or len(steps) > _MOST_LEVELS or steps[1].backward:
        return False
    if any(step.cap is not None or steps[1].vertex in step.above for step in steps):
        return False
    chains = chains_of([(step.parent, step.folded) for step in steps])
    if steps[1].folded or chains is None:
        return False
    constant = any(len(chain) > 1 and steps[chain[-1]].constants for chain in chains)  # they go off each inner sum
    return not constant and all(_leads(problem, steps, chain) for chain in chains)


def _leads(problem: Problem, steps: Sequence[ExtendStep], chain: Sequence[int]) -> bool:
    """Whether a chain leads from the first step to the second."""
    matched, arrives = {steps[0].vertex}, False
    for number in chain:
        vertex = steps[number].vertex
        near = {problem.graph.edges[edge].other(vertex) for edge in steps[number].backward}
        if not near & matched:
            return False
        matched.add(vertex)
        arrives |= steps[1].vertex in near
    return arrives


def _weighed_at(problem: Problem, steps: Sequence[ExtendStep]) -> set[int]:
    """The vertices at whose levels numbers of edges become known."""
    choices = [choice for choice in problem.constraints.choices if not choice.listed]
    if not choices:
        return set()
    level = {step.vertex: number for number, step in enumerate(steps)}
    return {max(choice.vertices, key=level.__getitem__) for choice in choices}

"""How a sum goes: folded, as a chain block by block, or as a tree depth first, maybe inside of neighbourhoods."""

from __future__ import annotations

from collections.abc import Sequence

from gquery.planner.ir.match_plan import ExtendStep, Strategy, chains_of
from gquery.planner.ir.problem import EdgeChoice, Problem
from gquery.planner.ir.relations import Types
from gquery.planner.search.sums.inside import has_plain_tests
from gquery.records import replace

MOST_LEVELS = 62  # levels of which one number can say which are needed
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
    return folded and (kept > 0 or steps[0].vertex not in _weighed_at(problem, steps, kept))


def can_chain(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether every level that is summed by a search has at most one below it and no rare way to count."""
    below = [step for step in steps[max(1, kept) :] if not step.folded]
    if not below or len(steps) > MOST_LEVELS or len(below[-1].backward) > _MOST_ROWS:
        return False
    if any(step.cap is not None or step.contexts for step in below):
        return False
    weighed = _weighed_at(problem, steps, kept)
    return len({step.parent for step in below}) == len(below) and not any(step.vertex in weighed for step in below)


def can_go_inside(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> bool:
    """Whether all that is searched below the first step are its neighbours, and needs no rare test."""
    if kept > 1 or not has_plain_tests(problem) or any(step.cap is not None for step in steps):
        return False
    root, edges = steps[0].vertex, problem.graph.edges
    below = [step for step in steps[1:] if not step.folded]
    near = all(any(root == edges[edge].other(step.vertex) for edge in step.backward) for step in below)
    return bool(below) and near and len(steps) <= MOST_LEVELS


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
    differs, and no test is a rare one. What is asked of both where both are listed is asked of those that are reached,
    and so is whether there is any way between them."""
    listed = frozenset(step.vertex for step in steps[:2]) if kept == 2 else frozenset()
    if kept > 2 or not has_pushed_tests(problem, listed) or len(steps) < 3 or len(steps) > MOST_LEVELS:
        return False
    if steps[1].backward or any(steps[1].vertex in step.above for step in steps):
        return False
    chains = chains_of([(step.parent, step.folded) for step in steps])
    if steps[1].folded or chains is None:
        return False
    asked = {steps[chain[0]].vertex for chain in chains} if listed else set()
    summed = steps[max(1, kept) :]
    if any(step.cap is not None and not (step.cap == "exists" and step.vertex in asked) for step in summed):
        return False
    constant = any(len(chain) > 1 and steps[chain[-1]].constants for chain in chains)  # they go off each inner sum
    root, far = steps[0].vertex, steps[1].vertex
    return not constant and all(leads(problem, root, [steps[each].vertex for each in chain], far) for chain in chains)


def has_pushed_tests(problem: Problem, listed: frozenset[int] = frozenset()) -> bool:
    """Whether no more is asked of several vertices than pushed sums can mind: what `has_plain_tests` says, but that
    several data edges may fit an edge, and whatever is asked of those that are listed."""
    constraints = problem.constraints
    if listed:
        comparisons = tuple(each for each in problem.comparisons if not {each.left, each.right} <= listed)
        absent = tuple(each for each in constraints.absent if not set(each[:2]) <= listed)
        problem = replace(problem, constraints=replace(constraints, absent=absent), comparisons=comparisons)
    return all(can_repeat(problem, each) for each in constraints.choices) and has_plain_tests(problem.without_choices())


def leads(problem: Problem, root: int, chain: Sequence[int], far: int) -> bool:
    """Whether a chain of vertices leads from a root to a far one. An edge that several data edges fit must lead alone
    where it does: then each of them is taken for one that leads elsewhere."""
    counted = {choice.edge for choice in problem.constraints.choices}
    matched, ends = {root}, list[int]()
    for vertex in chain:
        edges = problem.graph.incident[vertex]
        inner = [edge.index for edge in edges if edge.other(vertex) in matched]
        if not inner or (len(inner) > 1 and not counted.isdisjoint(inner)):
            return False
        matched.add(vertex)
        ends += [edge.index for edge in edges if edge.other(vertex) == far]
    return bool(ends) and (len(ends) == 1 or counted.isdisjoint(ends))


def repeated_edges(
    problem: Problem, steps: Sequence[ExtendStep], kept: int, pushed: bool, weighted: bool = True
) -> frozenset[int]:
    """Of the edges that several data edges fit those that nobody has to count: they alone lead to a vertex that is
    summed out, which is matched once for each of them. Unless the sum is pushed, nothing is searched below that vertex:
    it would be searched as often. So is what is listed once for each of them, and not `weighted`."""
    counted = {choice.edge for choice in problem.constraints.choices if can_repeat(problem, choice)}
    if pushed:
        return frozenset(counted)
    inner = {step.parent for step in steps if not step.folded}
    leaves = (step for number, step in enumerate(steps) if number >= max(1, kept) and number not in inner)
    below = (step for step in leaves if len(step.backward) == 1 and not step.folded)
    alone = [step for step in below if not (_is_apart(step) or step.cap or step.constants or step.like is not None)]
    alone += [step for step in steps[:kept] if len(step.backward) == 1 and not weighted]
    return frozenset(step.backward[0] for step in alone if step.backward[0] in counted)


def repeats_all(problem: Problem, order: Sequence[int]) -> bool:
    """Whether all edges that several data edges fit lead alone along an order, so that nobody has to count these."""
    place = {vertex: number for number, vertex in enumerate(order)}
    for choice in problem.constraints.choices:
        edge = problem.graph.edges[choice.edge]
        last = max(edge.source, edge.target, key=place.__getitem__)
        inner = sum(place[each.other(last)] < place[last] for each in problem.graph.incident[last])
        if inner > 1 or not can_repeat(problem, choice):
            return False
    return True


def can_repeat(problem: Problem, choice: EdgeChoice) -> bool:
    """Whether the data edges of a choice may be matched as often as they are, if its edge leads alone."""
    edge = problem.graph.edges[choice.edge]
    plain = isinstance(edge.relation, Types) and not edge.predicates and edge.source != edge.target
    return plain and not choice.collides and not choice.listed


def _is_apart(step: ExtendStep) -> bool:
    """Whether a vertex must be another than some: each of these is taken away once."""
    return bool(step.different_from or step.different_pairs or step.absent)


def _weighed_at(problem: Problem, steps: Sequence[ExtendStep], kept: int) -> set[int]:
    """The vertices at whose levels numbers of edges become known."""
    repeated = repeated_edges(problem, steps, kept, pushed=False)
    choices = [each for each in problem.constraints.choices if not (each.listed or each.edge in repeated)]
    if not choices:
        return set()
    level = {step.vertex: number for number, step in enumerate(steps)}
    return {max(choice.vertices, key=level.__getitem__) for choice in choices}

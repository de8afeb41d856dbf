"""Checks that a plan keeps its promises. Tests call it on every plan that they see; a query does not pay for it.

After every pass, what a draft says must be said of vertices and edges that it has. In a match plan every test that the
constraints ask for must be made by one step, and by the first one that can: not before all its vertices are matched,
and not twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from gquery.errors import PlanError
from gquery.planner.ir.filters import (
    EdgePredicateFilter,
    EdgesFilter,
    LabelFilter,
    LookupFilter,
    LoopFilter,
    PredicateFilter,
    SeedFilter,
    ValueFilter,
)
from gquery.planner.ir.match_plan import ExtendStep, MatchPlan
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.passes.draft import Draft
from gquery.planner.search.alike.asked import Asked, asked_by
from gquery.planner.search.matching import can_scan
from gquery.planner.search.sums.implied import alike_in, certainly_apart, implied_in
from gquery.planner.search.sums.strategy import can_adapt, can_chain, can_fold, can_go_inside, can_push
from gquery.storage.schema import TURNED, Direction


def verify_draft(draft: Draft) -> None:
    """Raises PlanError, naming the first thing that a pass left behind or numbered wrong."""
    graph, constraints = draft.graph, draft.problem.constraints
    for name, indices, spoken_of in (
        ("vertex", [vertex.index for vertex in graph.vertices], _vertices_of(draft)),
        ("edge", [edge.index for edge in graph.edges], _edges_of(draft)),
    ):
        if indices != list(range(len(indices))):
            raise PlanError(f"the indices of {name} after {name} are {indices}")
        for who, number in spoken_of:
            if not 0 <= number < len(indices):
                raise PlanError(f"{who} speaks of {name} {number}, which there is not")
    quads = (pair for quad in constraints.different_pairs for pair in (quad[:2], quad[2:]))
    for low, high in (*constraints.different, *constraints.apart, *quads):
        if low >= high:
            raise PlanError(f"vertices {low} and {high} are not ascending")


def _vertices_of(draft: Draft) -> Iterator[tuple[str, int]]:
    graph, constraints = draft.graph, draft.problem.constraints
    yield from (("an edge", end) for edge in graph.edges for end in (edge.source, edge.target))
    tests = (*constraints.different, *constraints.apart, *constraints.different_pairs, constraints.loopless)
    yield from (("a test", vertex) for test in tests for vertex in test)
    yield from (("a test", vertex) for absence in constraints.absent for vertex in absence[:2])
    yield from (("a comparison", vertex) for each in draft.problem.comparisons for vertex in (each.left, each.right))
    yield from (("a choice", vertex) for choice in constraints.choices for vertex in choice.vertices)
    yield from (("a clause", vertex) for scope in graph.scopes for vertex in scope.vertices)
    yield from (("a part", vertex) for part in graph.parts for vertex in part.vertices)
    yield from (("the answer", vertex) for vertex in draft.kept)
    yield from (("a filter", each.vertex) for each in draft.filters if not isinstance(each, EdgePredicateFilter))


def _edges_of(draft: Draft) -> Iterator[tuple[str, int]]:
    graph, constraints = draft.graph, draft.problem.constraints
    yield from (("a choice", edge) for each in constraints.choices for edge in (each.edge, *each.collides))
    yield from (("a clause", edge) for scope in graph.scopes for edge in scope.edges)
    yield from (("a part", edge) for part in graph.parts for edge in part.edges)
    for each in draft.filters:
        if isinstance(each, LabelFilter | SeedFilter | ValueFilter | EdgesFilter | LookupFilter | PredicateFilter):
            continue
        if each.edge is not None:
            yield "a filter", each.edge


def verify(plan: QueryPlan, matching: MatchPlan) -> None:
    """Raises PlanError, naming the first broken promise."""
    _check_order(matching)
    _check_edges(plan, matching)
    _check_places(matching)
    _check_constraints(matching)
    _check_choices(matching)
    _check_tree(matching)
    asked = asked_by(plan.filters, plan.graph, matching.cardinalities.vain)
    _check_constants(matching, asked)
    _check_alike(matching, asked)
    _check_strategy(matching)
    if matching.problem.of(plan.kept) != frozenset(matching.order[: matching.kept]):
        raise PlanError("other vertices are listed than the answer asks for")
    if matching.scanned and not can_scan(plan, matching.problem):
        raise PlanError("a data edge by itself is no match")


def _check_order(matching: MatchPlan) -> None:
    if sorted(matching.order) != list(range(len(matching.graph.vertices))):
        raise PlanError(f"the matching order {matching.order} is not a permutation of the query vertices")
    if any(size < 1 for size in matching.groups) or sum(matching.groups) != len(matching.steps):
        raise PlanError(f"vertex groups {matching.groups} do not add up to {len(matching.steps)} steps")


def _check_edges(plan: QueryPlan, matching: MatchPlan) -> None:
    level = _levels(matching)
    for step in matching.steps:
        for index in step.backward:
            edge = matching.graph.edges[index]
            ends = (edge.source, edge.target)
            if step.vertex not in ends or level[edge.other(step.vertex)] >= level[step.vertex]:
                raise PlanError(f"edge {index} does not lead from vertex {step.vertex} to one matched before")
    links = [edge.index for edge in matching.graph.edges if edge.source != edge.target]
    _expect_once("query edge", links, (edge for step in matching.steps for edge in step.backward))
    filtered = {f.edge for f in plan.filters if isinstance(f, LoopFilter) and f.present}
    for edge in matching.graph.edges:
        if edge.source == edge.target and matching.problem.edges[edge.index] not in filtered:
            raise PlanError(f"self-loop {edge.index} is checked in no step")


def _check_places(matching: MatchPlan) -> None:
    """Every test stands where its last vertex is matched."""
    level = _levels(matching)
    for step in matching.steps:
        tests: list[tuple[str, tuple[int, ...]]] = [("difference", (step.vertex, v)) for v in step.different_from]
        tests += [("difference of pairs", pair) for pair in step.different_pairs]
        tests += [("absence", (step.vertex, other)) for other, *_ in step.absent]
        compared = [matching.comparisons[index] for index in step.comparisons]
        tests += [("comparison", (comparison.left, comparison.right)) for comparison in compared]
        for name, vertices in tests:
            if max(vertices, key=level.__getitem__) != step.vertex:
                raise PlanError(f"{name} of vertices {vertices} is checked at vertex {step.vertex}, not at their last")


def _check_constraints(matching: MatchPlan) -> None:
    steps, constraints = matching.steps, matching.problem.constraints
    different = [pair for step in steps for pair in _different(step, (*step.different_from, *step.constants))]
    absent = [
        (*_ascending(other, step.vertex, direction), types) for step in steps for other, direction, types in step.absent
    ]
    compared = [index for step in steps for index in step.comparisons]
    pairs = [pair for step in steps for pair in step.different_pairs]
    _expect_once("difference", matching.problem.different, different)
    _expect_once("difference of pairs", constraints.different_pairs, pairs)
    _expect_once("absence", [(*_ascending(*each[:3]), each[3]) for each in constraints.absent], absent)
    _expect_once("comparison", range(len(matching.comparisons)), compared)


def _check_choices(matching: MatchPlan) -> None:
    """Collisions go both ways, and edges that may collide are told apart together or not at all."""
    choices = {choice.edge: choice for choice in matching.choices}
    if len(choices) < len(matching.choices):
        raise PlanError("an edge is chosen twice")
    for choice in matching.choices:
        for other in choice.collides:
            partner = choices.get(other)
            if partner is None or choice.edge not in partner.collides:
                raise PlanError(f"edge {choice.edge} may be edge {other}, which is not told apart from it")
            if (partner.vertices, partner.listed) != (choice.vertices, choice.listed):
                raise PlanError(f"edges {choice.edge} and {other} may be one, but are chosen in different places")


def _check_tree(matching: MatchPlan) -> None:
    """What a summed vertex is tied to is matched above it or below it, and a sum's context holds all that is above."""
    level = _levels(matching)
    above: list[set[int]] = []
    if not matching.kept and matching.graph.part_of(matching.steps[0].vertex) is not None:
        raise PlanError(f"vertex {matching.steps[0].vertex} is of a part, and nothing is matched before it")
    for number, step in enumerate(matching.steps):
        if not (step.parent == number - 1 if number <= max(0, matching.kept - 1) else 0 <= step.parent < number):
            raise PlanError(f"vertex {step.vertex} is searched under level {step.parent}")
        above.append(above[step.parent] | {matching.steps[step.parent].vertex} if number else set())
    smaller = ((step.vertex, other) for step in matching.steps for other in step.above)
    edges = ((edge.source, edge.target) for edge in matching.graph.edges)
    constant = {pair for step in matching.steps for pair in _different(step, step.constants)}
    tests = (tie for tie in matching.problem.tests() if tie not in constant)
    for tie in (*edges, *tests, *smaller):
        deepest = max(tie, key=level.__getitem__)
        if level[deepest] >= max(1, matching.kept) and not set(tie) - {deepest} <= above[level[deepest]]:
            raise PlanError(f"vertices {tie} are tied, but are summed out apart")
        for vertex in tie:
            _check_context(matching, above, level[deepest], set(tie) - {vertex})


def _check_context(matching: MatchPlan, above: list[set[int]], deepest: int, tie: set[int]) -> None:
    """Every sum that `deepest` is part of depends on the tied vertices above it."""
    number = deepest
    while number >= max(1, matching.kept):
        step = matching.steps[number]
        if missing := (tie & above[number]) - set(step.context):
            raise PlanError(f"the sum over vertex {step.vertex} depends on vertices {missing}")
        number = step.parent


def _check_strategy(matching: MatchPlan) -> None:
    """A sum goes in a way that it can go."""
    steps, kept = matching.steps, matching.kept
    possible: set[str | None] = {"tree"} if len(steps) > max(1, kept) else {None}
    if None not in possible:
        possible |= {"fold"} if can_fold(matching.problem, steps, kept) else set()
        raw = matching.space == "vertices"
        possible |= {"inside"} if raw and can_go_inside(matching.problem, steps, kept) else set()
        possible |= {"push"} if raw and can_push(matching.problem, steps, kept) else set()
        possible |= {"adaptive"} if not raw and can_adapt(matching.problem, steps, kept) else set()
        possible |= {"chain"} if can_chain(matching.problem, steps, kept) else set()
    if matching.strategy not in possible:
        raise PlanError(f"the sum cannot go as a {matching.strategy}")


def _check_constants(matching: MatchPlan, asked: Asked) -> None:
    """What is taken away as a constant is one candidate of a leaf, and no two take the same away."""
    if not any(step.constants for step in matching.steps):
        return
    parents = {step.parent for step in matching.steps[max(1, matching.kept) :]}
    smaller = {step.vertex: set(step.above) for step in matching.steps}
    needs: dict[int, tuple[int, ...]] = {}
    implied, apart = implied_in(matching.problem, asked), certainly_apart(matching.problem)
    for number, step in enumerate(matching.steps):
        needs[step.vertex] = step.constants
        if step.constants and (number < max(1, matching.kept) or number in parents):
            raise PlanError(f"vertex {step.vertex} is no leaf of a sum, but vertices {step.constants} are constants")
        for constant in step.constants:
            others = {*step.constants, *step.different_from} - {constant}
            if not implied[step.vertex] >> constant & 1:
                raise PlanError(f"vertex {constant} need not be among the candidates of vertex {step.vertex}")
            if any(not apart[constant] >> other & 1 for other in others):
                raise PlanError(f"vertex {constant} may be another that vertex {step.vertex} must not be")
            if not set(step.above) <= _below(smaller, constant):
                raise PlanError(f"vertex {constant} may be too small for a candidate of vertex {step.vertex}")
    try:
        TopologicalSorter(needs).prepare()
    except CycleError:
        raise PlanError("vertices are constants for each other") from None


def _check_alike(matching: MatchPlan, asked: Asked) -> None:
    """Leaves of which only one is looked at have the same candidates."""
    if all(step.like is None for step in matching.steps):
        return
    pushed = matching.strategy == "push"  # along all data edges
    alike = alike_in(matching.problem.without_choices() if pushed else matching.problem, asked)
    parents = {step.parent for step in matching.steps[max(1, matching.kept) :]}
    step_of = {step.vertex: (number, step) for number, step in enumerate(matching.steps)}
    for number, step in enumerate(matching.steps):
        if step.like is None:
            continue
        before, other = step_of[step.like]
        if not before < number or {number, before} & parents or step.parent != other.parent or other.like is not None:
            raise PlanError(f"vertices {step.vertex} and {step.like} are no leaves under the same parent")
        same = (set(step.above), step.cap, step.folded) == (set(other.above), other.cap, other.folded)
        if not same or not alike[step.vertex] >> step.like & 1 or set(step.different_from) != set(other.different_from):
            raise PlanError(f"vertex {step.vertex} has other candidates than vertex {step.like}")


def _below(smaller: Mapping[int, set[int]], vertex: int) -> set[int]:
    """All vertices that must be smaller."""
    found = set(smaller[vertex])
    return found.union(*(_below(smaller, other) for other in found))


def _different(step: ExtendStep, others: Iterable[int]) -> Iterator[tuple[int, int]]:
    return ((min(step.vertex, other), max(step.vertex, other)) for other in others)


def _levels(matching: MatchPlan) -> dict[int, int]:
    return {vertex: level for level, vertex in enumerate(matching.order)}


def _ascending(one: int, other: int, direction: Direction) -> tuple[int, int, Direction]:
    """An absence as seen from the lower vertex."""
    return (one, other, direction) if one < other else (other, one, TURNED[direction])


def _expect_once(name: str, wanted: Iterable[Hashable], found: Iterable[Hashable]) -> None:
    expected, checked = Counter(wanted), Counter(found)
    if missing := expected - checked:
        raise PlanError(f"{name} {next(iter(missing))} is checked in no step")
    if surplus := checked - expected:
        raise PlanError(f"{name} {next(iter(surplus))} is checked twice, or was not asked for")

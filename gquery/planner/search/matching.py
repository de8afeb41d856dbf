"""The second half of planning: order, tree, groups and space, from cardinalities.

A count may be planned as a sum of several problems, some of them negative (inclusion and exclusion), each of them may
be searched for one match of every symmetric class only, and each sums its vertices out in the order that is cheapest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from gquery.planner.ir.match_plan import Cardinalities, ExtendStep, MatchPlan, Space
from gquery.planner.ir.problem import Problem, ascending
from gquery.planner.ir.query_graph import PartKind, QueryGraph
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.relations import Types
from gquery.planner.search.context import Context
from gquery.planner.search.costs import CostModel
from gquery.planner.search.counting import cheapest_sum
from gquery.planner.search.grouping import group_sizes, regions_of
from gquery.planner.search.orders import Solution
from gquery.planner.search.solving import Solver
from gquery.planner.search.sums.factorise import Level, Tree
from gquery.planner.search.sums.strategy import repeated_edges, strategy_of
from gquery.storage.schema import TURNED

Item = TypeVar("Item")

_DOUBT = "estimates for so many vertices are not to be trusted"
_SCANNED = 4  # data edges that are gone through in the time in which vertices are extended to a match
_SCANNED_INSTEAD = 12  # the same for a match whose data edges have to be looked for then
_LEFT = 0.9  # of the work that a candidate graph may leave: sums are pushed on the raw adjacency alone


def pick_space(plan: QueryPlan, known: Callable[[], Cardinalities], context: Context) -> tuple[Space, str]:
    """Candidate graph or raw adjacency, by estimated work, and why. A LIMIT shortens the enumeration, not the
    building."""
    graph, costs = plan.graph, context.costs
    if plan.limit is None and is_doubted(plan.problem, costs):
        return "candidates", _DOUBT
    cardinalities = known()
    believed = plan.limit is not None or len(graph.vertices) <= costs.effort.trusted
    raw = Solver(plan.problem, plan.kept, cardinalities, "vertices", context, lead=_lead(plan)).best(plan.listed).tree
    if raw.is_folded:
        return "vertices", f"{round(raw.cost):,.15g} looks at neighbours, every vertex in one pass"
    if plan.cases:
        return "vertices", f"{round(raw.cost):,.15g} looks at neighbours, from one end to the other"
    if not believed:
        return "candidates", _DOUBT
    raw_work, building = _work(raw, plan.limit), _building(graph, cardinalities, costs)
    most, least = raw_work * _LEFT, raw_work * _shrunk(graph, cardinalities)
    with_graph = building + least
    if with_graph + costs.weighing(len(graph.vertices)) < most:  # else looking closer costs more than it can save
        solver = Solver(plan.problem, plan.kept, cardinalities, "candidates", context, lead=_lead(plan))
        with_graph = building + max(least, _work(solver.best(plan.problem).tree, plan.limit))
    if with_graph < most:
        return "candidates", f"{round(with_graph):,.15g} looks at neighbours, {round(raw_work):,.15g} without it"
    return "vertices", f"{round(raw_work):,.15g} looks at neighbours, a candidate graph takes {round(with_graph):,.15g}"


def _shrunk(graph: QueryGraph, cardinalities: Cardinalities) -> float:
    """The share that candidate edges leave of the rows of the raw adjacency, at the edge where that is least: no tree
    costs less than that share of what it costs there."""
    sizes, least = cardinalities.vertices, 1.0
    for edge in graph.edges:
        for end, raw in zip((edge.source, edge.target), cardinalities.degrees[edge.index], strict=True):
            least = min(least, cardinalities.edges[edge.index] / (sizes[end] * max(raw, 1e-9)))
    return least


def _work(tree: Tree, limit: int | None) -> float:
    return tree.cost * (1.0 if limit is None else min(1.0, limit / tree.levels[-1].rows))


def estimated_tree(
    problem: Problem,
    kept: frozenset[int],
    limit: int | None,
    cardinalities: Cardinalities,
    context: Context,
    lead: tuple[int, ...] = (),
) -> Tree | None:
    """A tree of the query, not always the best, if it will walk the raw adjacency, as far as one can tell; else
    None. lead: the vertices that the order is told to begin with."""
    if limit is None and is_doubted(problem, context.costs):
        return None
    believed = limit is not None or len(problem.graph.vertices) <= context.costs.effort.trusted
    tree = Solver(problem, kept, cardinalities, "vertices", context, lead=lead).rough(problem)
    if tree.is_folded:
        return tree
    if not believed:
        return None
    work, building = _work(tree, limit), _building(problem.graph, cardinalities, context.costs)
    if work <= building:
        return tree
    with_graph = _work(Solver(problem, kept, cardinalities, "candidates", context, lead=lead).rough(problem), limit)
    return tree if work * _LEFT <= building + with_graph else None


def is_doubted(problem: Problem, costs: CostModel) -> bool:
    """Whether a candidate graph is built whatever estimates say: of many vertices that depend on each other."""
    if len(problem.graph.vertices) <= costs.effort.trusted:
        return False
    return len(problem.graph.edges) >= len(problem.graph.vertices) or any(problem.tests())


def _building(graph: QueryGraph, cardinalities: Cardinalities, costs: CostModel) -> float:
    """What building the candidate graph takes: for each edge its beginning, and no less than looking for the rows of
    both ends, and into the longer ones, where most neighbours are no candidates."""
    sizes, work = cardinalities.vertices, costs.build_begin * len(graph.edges)
    for edge in graph.edges:
        ends = sizes[edge.source], sizes[edge.target]
        entries, others = (size * degree for size, degree in zip(ends, cardinalities.degrees[edge.index], strict=True))
        work += max(costs.build * entries, costs.filter_look * others, costs.filter_row * sum(ends))
    return work


def plan_matching(
    plan: QueryPlan, cardinalities: Cardinalities, space: Space, reason: str, context: Context
) -> tuple[MatchPlan, ...]:
    """The plans whose matches, each times its coefficient, are those of the query. There is one unless the query only
    counts."""
    solutions = cheapest_sum(plan, cardinalities, space, _lead(plan), context)
    return tuple(_match_plan(plan, solution, space, reason, context) for solution in solutions)


def _lead(plan: QueryPlan) -> tuple[int, ...]:
    return led_by(plan.graph, plan.segment.lead)


def led_by(graph: QueryGraph, variables: Iterable[str]) -> tuple[int, ...]:
    """The vertices that the order is told to begin with, as far as they are there."""
    number = {vertex.variable: vertex.index for vertex in graph.vertices}
    return tuple(number[variable] for variable in variables if variable in number)


def _match_plan(plan: QueryPlan, solution: Solution, space: Space, reason: str, context: Context) -> MatchPlan:
    problem, tree = solution.problem, solution.tree
    kept = len(problem.of(plan.kept)) if plan.cases else len(plan.kept)
    groups = group_sizes(tree.order[:kept], regions_of(problem.graph)) if kept else ()
    if kept < len(tree.order):
        groups = (*groups, len(tree.order) - kept)
    steps = _steps(plan, solution)
    strategy = strategy_of(problem, steps, kept, tree.strategy)
    return MatchPlan(
        problem,
        space,
        steps,
        kept,
        groups,
        strategy,
        len(solution.permutations) or 1 if plan.existence else solution.factor,
        solution.permutations,
        plan.weighted,
        None if plan.residual else plan.limit,
        solution.cardinalities,
        tree.cost,
        reason,
        solution.tried,
        repeated_edges(problem, steps, kept, strategy == "push", plan.weighted),
        space == "vertices" and _pays_to_scan(plan, solution, context),
    )


def can_scan(plan: QueryPlan, problem: Problem) -> bool:
    """Whether each data edge that fits the only query edge is a match of its own: both ends are listed, and nothing is
    asked of them together but that they differ."""
    graph, tests = problem.graph, problem.constraints
    if len(graph.edges) != 1 or len(graph.vertices) != 2 or len(plan.kept) != 2 or graph.parts:
        return False
    (edge,), rare = graph.edges, problem.comparisons or tests.absent or tests.loopless or tests.different_pairs
    joins = edge.source != edge.target
    return joins and not rare and isinstance(edge.relation, Types) and edge.relation == Types(edge.types)


def _pays_to_scan(plan: QueryPlan, solution: Solution, context: Context) -> bool:
    """Whether going through the data edges takes no longer than extending vertices and looking for the edges then.
    Those that have passed predicates are at hand."""
    if plan.segment.lead or len(solution.permutations) > 1 or not can_scan(plan, solution.problem):
        return False
    (edge,), choices = solution.problem.graph.edges, solution.problem.constraints.choices
    if not choices and not edge.relation.is_simple(context.invariants, edge.direction(edge.source)):
        return False  # one of several data edges is enough, and no two rows are to be alike
    most = solution.tree.levels[-1].rows * (_SCANNED_INSTEAD if choices else _SCANNED)
    return bool(edge.predicates) or context.statistics.edges(edge.types) <= most


def _steps(plan: QueryPlan, solution: Solution) -> tuple[ExtendStep, ...]:
    problem, constraints = solution.problem, solution.problem.constraints
    caps = _caps(plan, solution)
    place = {vertex: level for level, vertex in enumerate(solution.tree.order)}
    edges = _by_level(place, ((edge, (edge.source, edge.target)) for edge in problem.graph.edges))
    constant = {ascending(level.vertex, other) for level in solution.tree.levels for other in level.constants}
    different = _by_level(place, ((pair, pair) for pair in problem.different if pair not in constant))
    pairs = _by_level(place, ((quad, quad) for quad in constraints.different_pairs))
    compared = _by_level(place, ((index, (each.left, each.right)) for index, each in enumerate(problem.comparisons)))
    absent = _by_level(place, ((absence, absence[:2]) for absence in constraints.absent))
    return tuple(
        ExtendStep(
            level.vertex,
            tuple(edge.index for edge in edges[number] if edge.source != edge.target),
            tuple(sorted(_partner(pair, level.vertex) for pair in different[number])),
            tuple(pairs[number]),
            tuple(compared[number]),
            tuple(
                (one, direction, types) if other == level.vertex else (other, TURNED[direction], types)
                for one, other, direction, types in absent[number]
            ),
            solution.above.get(level.vertex, ()),
            level.rows,
            level.parent,
            level.context,
            level.contexts,
            caps.get(level.vertex),
            level.folded,
            level.constants,
            _like(solution.tree, level, caps),
        )
        for number, level in enumerate(solution.tree.levels)
    )


def _like(tree: Tree, level: Level, caps: Mapping[int, PartKind]) -> int | None:
    """The leaf whose candidates are those of a level's, too; none for what counts as something else than its number."""
    like = tree.levels[level.like].vertex if level.like >= 0 else None
    return None if level.vertex in caps or like in caps else like


def _by_level(place: Mapping[int, int], spoken_of: Iterable[tuple[Item, tuple[int, ...]]]) -> list[list[Item]]:
    """What speaks of vertices, by the level at which the last of them is matched."""
    found: list[list[Item]] = [[] for _ in place]
    for item, vertices in spoken_of:
        found[max([place[vertex] for vertex in vertices])].append(item)
    return found


def _caps(plan: QueryPlan, solution: Solution) -> dict[int, PartKind]:
    """What sums count as: those over the first vertex of a part; and when the answer does not ask how often something
    matches, those right under what is listed."""
    caps: dict[int, PartKind] = {}
    if plan.existence:
        kept = solution.problem.of(plan.kept)
        caps = {level.vertex: "exists" for level in solution.tree.levels if level.parent < len(kept)}
    for part in solution.problem.graph.parts:
        root = next((vertex for vertex in solution.tree.order if vertex in part.vertices), None)
        if root is not None:
            caps[root] = part.kind
    return caps


def _partner(pair: tuple[int, int], vertex: int) -> int:
    return pair[1] if pair[0] == vertex else pair[0]

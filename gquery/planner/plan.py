"""The passes from a bound query to a plan, in order.

Planning has two halves. `plan_query` decides what does not depend on the data: which filters narrow the candidates,
which predicates the enumeration checks, whether counting is enough. `plan_matching` picks order, groups and space from
cardinalities: estimated ones for EXPLAIN, those that the filters left for a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gquery.planner.candidates import pick_filters
from gquery.planner.cardinality import PrefixModel
from gquery.planner.comparisons import split_predicates
from gquery.planner.constraints import Constraints, constraints_of
from gquery.planner.expr import (
    Aggregate,
    Attribute,
    Column,
    Constant,
    Expression,
    Parameter,
    children,
    columns,
    is_aggregated,
)
from gquery.planner.factorise import Factoriser, Tree
from gquery.planner.grouping import Part, group_sizes, parts_of
from gquery.planner.logical import BoundQuery, Projection
from gquery.planner.ordering import pick_order
from gquery.planner.physical import Cardinalities, Comparison, Direction, ExtendStep, Filter, MatchPlan, Space
from gquery.planner.query_graph import QueryGraph
from gquery.storage.statistics import Statistics


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The first half. `residual`: predicates that the relational tail checks. `counting`: the projection needs no row,
    only the number of matches."""

    bound: BoundQuery
    filters: tuple[Filter, ...]
    constraints: Constraints
    comparisons: tuple[Comparison, ...]
    residual: tuple[Expression, ...]
    counting: bool

    @property
    def graph(self) -> QueryGraph:
        return self.bound.query_graph


def plan_query(bound: BoundQuery, statistics: Statistics, all_types: tuple[str, ...]) -> QueryPlan:
    """Everything that can be decided before the data is looked at."""
    graph = bound.query_graph
    comparisons, different, residual = split_predicates(graph)
    counting = not residual and is_counted(bound.projection)
    needed = frozenset() if counting else _needed_edges(bound, residual)
    constraints = constraints_of(graph, statistics, needed, different)
    return QueryPlan(bound, pick_filters(graph, constraints, all_types), constraints, comparisons, residual, counting)


def plan_matching(plan: QueryPlan, cardinalities: Cardinalities, limit: int | None, refined: bool = False) -> MatchPlan:
    """Order, groups and space. `refined`: the cardinalities are those of refined candidate sets, so the space is
    settled."""
    graph = plan.graph
    parts = parts_of(graph)
    raw = _pick_tree(plan, PrefixModel(graph, cardinalities, raw=True), parts)
    tree = _pick_tree(plan, PrefixModel(graph, cardinalities, raw=False), parts)
    space, reason = _pick_space(graph, cardinalities, raw, tree, limit)
    if refined:
        space, reason = "candidates", "candidate sets were refined"
    if space == "vertices":
        tree = raw
    kept = 0 if plan.counting else len(graph.vertices)
    return MatchPlan(
        graph,
        space,
        _steps(plan, tree),
        kept,
        group_sizes(tree.order[:kept], parts) or (len(tree.order),),
        plan.comparisons,
        plan.constraints.choices,
        1,
        None if plan.residual else limit,
        cardinalities,
        reason,
    )


def _pick_tree(plan: QueryPlan, model: PrefixModel, parts: tuple[Part, ...]) -> Tree:
    """The cheapest of several matching orders. When nothing is listed, elimination makes one more."""
    listed = pick_order(model, parts, plan.counting)
    if not plan.counting:
        return Factoriser(model, ties(plan), frozenset(listed)).tree(listed, len(listed))
    factoriser = Factoriser(model, ties(plan), frozenset())
    orders = {listed, factoriser.eliminated()}
    return min((factoriser.tree(order, 0) for order in sorted(orders)), key=lambda tree: tree.cost)


def ties(plan: QueryPlan) -> Iterator[tuple[int, ...]]:
    """Sets of query vertices that some edge or test speaks of together."""
    yield from ((edge.source, edge.target) for edge in plan.graph.edges)
    yield from plan.constraints.different
    yield from plan.constraints.different_pairs
    yield from ((comparison.left, comparison.right) for comparison in plan.comparisons)
    yield from ((one, other) for one, other, _ in plan.constraints.absent)
    yield from (choice.vertices for choice in plan.constraints.choices)


def pushed_limit(projection: Projection, parameters: Mapping[str, object]) -> int | None:
    """How many matches are enough for the answer, when SKIP and LIMIT stand alone and are plain numbers."""
    aggregated = any(is_aggregated(item.expression) for item in projection.items)
    if projection.limit is None or projection.distinct or projection.order_by or aggregated:
        return None
    bounds = [_number(bound, parameters) for bound in (projection.skip, projection.limit) if bound is not None]
    return None if None in bounds else sum(bound for bound in bounds if bound is not None)


def _number(expression: Expression, parameters: Mapping[str, object]) -> int | None:
    value = expression.value if isinstance(expression, Constant) else None
    if isinstance(expression, Parameter):
        value = parameters.get(expression.name)  # type: ignore[assignment]
    return value if isinstance(value, int) and value >= 0 else None


def is_counted(projection: Projection) -> bool:
    """Whether every item is made of `count(*)` or of counts of elements, which are never null, and of constants."""
    plain = not projection.distinct and not projection.order_by and projection.skip is None and projection.limit is None
    counts = any(is_aggregated(item.expression) for item in projection.items)
    return plain and counts and all(_is_count(item.expression) for item in projection.items)


def _is_count(expression: Expression) -> bool:
    if isinstance(expression, Aggregate):
        argument = expression.argument
        never_null = isinstance(argument, Column) and argument.attribute is Attribute.ELEMENT
        return expression.function == "count" and not expression.distinct and (argument is None or never_null)
    return not isinstance(expression, Column) and all(_is_count(child) for child in children(expression))


def _needed_edges(bound: BoundQuery, residual: tuple[Expression, ...]) -> frozenset[int]:
    """Query edges whose data edges the answer or a residual predicate speaks of, directly or through a path."""
    projection = bound.projection
    expressions = [item.expression for item in projection.items] + [item.expression for item in projection.order_by]
    spoken_of = {column.variable for expression in (*expressions, *residual) for column in columns(expression)}
    for path in bound.query_graph.paths:
        if path.name in spoken_of:
            spoken_of.update(path.edges)
    return frozenset(edge.index for edge in bound.query_graph.edges if edge.variable in spoken_of)


_TRUSTED = 7  # query vertices up to which estimates without a candidate graph are believed
_BUILD = 3.0  # cost of building a candidate edge, in neighbours looked at: two sweeps and one copy


def _pick_space(
    graph: QueryGraph,
    cardinalities: Cardinalities,
    raw: Tree,
    candidate: Tree,
    limit: int | None,
) -> tuple[Space, str]:
    """Candidate graph or raw adjacency, by estimated work. A LIMIT shortens the enumeration, not the building."""
    scanned = sum(cardinalities.vertices[edge.source] * cardinalities.degrees[edge.index][0] for edge in graph.edges)
    raw_work, candidate_work = raw.cost, candidate.cost
    if limit is not None:
        raw_work *= min(1.0, limit / raw.levels[-1].rows)
        candidate_work *= min(1.0, limit / candidate.levels[-1].rows)
    with_graph = _BUILD * scanned + candidate_work
    if limit is None and len(graph.vertices) > _TRUSTED:
        return "candidates", "estimates for so many vertices are not to be trusted"
    if with_graph < raw_work:
        return "candidates", f"{with_graph:,.0f} looks at neighbours, {raw_work:,.0f} without it"
    return "vertices", f"{raw_work:,.0f} looks at neighbours, {with_graph:,.0f} with a candidate graph"


_TURNED: dict[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


def _steps(plan: QueryPlan, tree: Tree) -> tuple[ExtendStep, ...]:
    constraints = plan.constraints
    matched: set[int] = set()
    steps = []
    for level in tree.levels:
        vertex = level.vertex
        backward = tuple(
            edge.index
            for edge in plan.graph.edges
            if edge.source != edge.target and vertex in (edge.source, edge.target) and edge.other(vertex) in matched
        )
        different = tuple(
            sorted(_partner(pair, vertex) for pair in constraints.different if _closes(pair, vertex, matched))
        )
        pairs = tuple(pair for pair in constraints.different_pairs if _closes(pair, vertex, matched))
        comparisons = tuple(
            index
            for index, comparison in enumerate(plan.comparisons)
            if _closes((comparison.left, comparison.right), vertex, matched)
        )
        absent = tuple(
            (one, direction) if other == vertex else (other, _TURNED[direction])
            for one, other, direction in constraints.absent
            if _closes((one, other), vertex, matched)
        )
        steps.append(
            ExtendStep(
                vertex,
                backward,
                different,
                pairs,
                comparisons,
                absent,
                (),
                level.rows,
                level.parent,
                level.context,
                level.contexts,
            )
        )
        matched.add(vertex)
    return tuple(steps)


def _closes(vertices: tuple[int, ...], vertex: int, matched: set[int]) -> bool:
    """Whether matching `vertex` completes the set."""
    return vertex in vertices and all(other == vertex or other in matched for other in vertices)


def _partner(pair: tuple[int, int], vertex: int) -> int:
    return pair[1] if pair[0] == vertex else pair[0]

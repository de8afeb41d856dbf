"""DISTINCT and groups that the rows before fulfil anyway: where none are alike, nobody looks for those that are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gquery.executor.relational.gather import tells_apart
from gquery.executor.relational.selection import WEIGHTS
from gquery.planner.ir.expr import Aggregate, Attribute, Column, Expression, is_aggregated, with_children
from gquery.planner.ir.query_graph import QueryVertex
from gquery.planner.ir.query_plan import PathsPlan, QueryPlan
from gquery.planner.ir.segments import Project
from gquery.storage.graph import Snapshot


def taken_once(plan: QueryPlan | PathsPlan, project: Project, snapshot: Snapshot) -> Project:
    """The projection without DISTINCT where the rows are different that it makes of those of a step that begins a
    chain, or of what paths lead to from anywhere. Where each row is a group of its own count(*) is its weight; and
    count(DISTINCT v) counts rows where each has another v."""
    vertices = _told_apart(plan)
    if not vertices or project.per is not None:
        return project
    expressions = [item.expression for item in project.projection.items]
    keys = [each for each in expressions if not is_aggregated(each)]
    different = all(any(_names(each, vertex, snapshot) for each in keys) for vertex in vertices)
    if not any(map(is_aggregated, expressions)):
        return replace(project, projection=replace(project.projection, distinct=False)) if different else project
    if isinstance(plan, QueryPlan) and not plan.existence:
        if not different or not all(map(_counts_rows, project.aggregates)):
            return project
        project = project.changed(_weight)
        return replace(project, projection=replace(project.projection, distinct=False))
    return project if len(vertices) > 1 else project.changed(partial(_counting_rows, vertices[0]))


def _told_apart(plan: QueryPlan | PathsPlan) -> tuple[QueryVertex, ...]:
    """The vertices of which no two rows have the same: those that are listed, where what is summed out only has to
    exist, pairs come once, or the numbers of a vertex are put together. None where rows may be alike."""
    if isinstance(plan, PathsPlan):
        return (plan.graph.vertices[plan.segment.target],) if plan.together else ()
    if not (plan.cases or (plan.is_sum and plan.holds)):
        several = plan.problem.constraints.choices or any(part.kind == "optional" for part in plan.graph.parts)
        if not plan.existence or plan.limit is not None or several:
            return ()
    return tuple(plan.graph.vertices[vertex] for vertex in sorted(plan.kept))


def _names(expression: Expression, vertex: QueryVertex, snapshot: Snapshot) -> bool:
    """Whether an expression tells the data vertices apart that a query vertex is matched to."""
    if not isinstance(expression, Column) or expression.variable != vertex.variable:
        return False
    return tells_apart(expression, vertex.tables, snapshot)


def _counts_rows(aggregate: Aggregate) -> bool:
    """Whether it is the number of rows, none of which lacks a vertex."""
    return aggregate.function == "count" and aggregate.argument is None and not aggregate.distinct


def _weight(expression: Expression) -> Expression:
    """With the row's weight in place of count(*)."""
    return WEIGHTS if isinstance(expression, Aggregate) else with_children(expression, _weight)


def _counting_rows(vertex: QueryVertex, expression: Expression) -> Expression:
    """With count(*) in place of count(DISTINCT v)."""
    match expression:
        case Aggregate(function="count", argument=Column(variable=name, attribute=Attribute.ELEMENT), distinct=True):
            return replace(expression, argument=None, distinct=False) if name == vertex.variable else expression
    return with_children(expression, partial(_counting_rows, vertex))

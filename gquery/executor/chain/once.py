"""DISTINCT that the rows before it fulfil anyway: where no two can be alike, nobody has to look for those that are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gquery.planner.ir.expr import Aggregate, Attribute, Column, Expression, is_aggregated, with_children
from gquery.planner.ir.query_graph import QueryVertex
from gquery.planner.ir.query_plan import PathsPlan, QueryPlan
from gquery.planner.ir.segments import Project
from gquery.storage.graph import Snapshot


def taken_once(plan: QueryPlan | PathsPlan, project: Project, snapshot: Snapshot) -> Project:
    """The projection without DISTINCT where the rows are different that it makes of those of a step that begins a
    chain, or of what paths lead to from anywhere; count(DISTINCT v) counts rows there where each has another v."""
    vertices = _told_apart(plan)
    if not vertices or project.per is not None:
        return project
    projection = project.projection
    if any(is_aggregated(item.expression) for item in projection.items):
        if len(vertices) > 1:
            return project
        counting = partial(_counting_rows, vertices[0])
        items = tuple(replace(item, expression=counting(item.expression)) for item in projection.items)
        order_by = tuple(replace(item, expression=counting(item.expression)) for item in projection.order_by)
        where = tuple(map(counting, project.where))
        return replace(project, projection=replace(projection, items=items, order_by=order_by), where=where)
    expressions = [item.expression for item in projection.items]
    different = all(any(_names(each, vertex, snapshot) for each in expressions) for vertex in vertices)
    return replace(project, projection=replace(projection, distinct=False)) if different else project


def _told_apart(plan: QueryPlan | PathsPlan) -> tuple[QueryVertex, ...]:
    """The vertices of which no two rows have the same: those that are listed, since of what is summed out and of
    parallel edges nothing counts but that there is one. None where rows may be alike."""
    if isinstance(plan, PathsPlan):
        return (plan.graph.vertices[plan.segment.target],) if plan.together else ()
    several = plan.problem.constraints.choices or any(part.kind == "optional" for part in plan.graph.parts)
    if not plan.existence or plan.limit is not None or several:
        return ()
    return tuple(plan.graph.vertices[vertex] for vertex in sorted(plan.kept))


def _names(expression: Expression, vertex: QueryVertex, snapshot: Snapshot) -> bool:
    """Whether an expression tells the data vertices apart that a query vertex is matched to."""
    if not isinstance(expression, Column) or expression.variable != vertex.variable:
        return False
    if expression.attribute is Attribute.ELEMENT:
        return True
    if len(vertex.tables) != 1:  # an id is one of a table's
        return False
    own = snapshot.vertex_tables[vertex.tables[0]].id_name
    return expression.attribute is Attribute.ID or (own is not None and expression.key == own)


def _counting_rows(vertex: QueryVertex, expression: Expression) -> Expression:
    """With count(*) in place of count(DISTINCT v)."""
    match expression:
        case Aggregate(function="count", argument=Column(variable=name, attribute=Attribute.ELEMENT), distinct=True):
            return replace(expression, argument=None, distinct=False) if name == vertex.variable else expression
    return with_children(expression, partial(_counting_rows, vertex))

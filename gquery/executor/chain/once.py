"""DISTINCT that the matches fulfil anyway: where no two rows can be alike, nobody has to look for those that are."""

from __future__ import annotations

from gquery.planner.ir.expr import Attribute, Column, Expression, is_aggregated
from gquery.planner.ir.query_plan import QueryPlan
from gquery.planner.ir.segments import Project
from gquery.storage.graph import Snapshot


def comes_once(plan: QueryPlan, project: Project, snapshot: Snapshot) -> bool:
    """Whether all rows of a DISTINCT over matches that begin a chain are different: each names all vertices that are
    listed, and these come once, since of what is summed out and of parallel edges nothing counts but that there is
    one."""
    if not (project.projection.distinct and plan.existence) or project.per is not None or plan.limit is not None:
        return False
    expressions = [item.expression for item in project.projection.items]
    if plan.problem.constraints.choices or any(map(is_aggregated, expressions)):
        return False
    return all(any(_names(each, plan, vertex, snapshot) for each in expressions) for vertex in plan.kept)


def _names(expression: Expression, plan: QueryPlan, vertex: int, snapshot: Snapshot) -> bool:
    """Whether an expression tells the data vertices apart that a query vertex is matched to."""
    listed = plan.graph.vertices[vertex]
    if not isinstance(expression, Column) or expression.variable != listed.variable:
        return False
    if expression.attribute is Attribute.ELEMENT:
        return True
    if len(listed.tables) != 1:  # an id is one of a table's
        return False
    own = snapshot.vertex_tables[listed.tables[0]].id_name
    return expression.attribute is Attribute.ID or (own is not None and expression.key == own)

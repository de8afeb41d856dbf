"""Steps that need not be: a subquery that begins a chain is its beginning, and nobody has to hand on what is there, or
that there is something. What is looked up for a search alone is a part of it."""

from __future__ import annotations

from gquery.planner.ir.expr import Attribute, Column
from gquery.planner.ir.query_plan import ApplyPlan, PathsPlan, QueryPlan, Step
from gquery.planner.ir.segments import Match, Project, ProjectionItem, Unwind
from gquery.planner.passes.demand import ROW
from gquery.records import replace


def spliced(steps: tuple[Step, ...], whole: bool) -> tuple[Step, ...]:
    """The steps of a chain without those. whole: it is a query, and no branch of another's."""
    first, *others = steps
    if isinstance(first, ApplyPlan) and others and _runs_once(first):
        steps = (*first.branches[0].steps, *others)
    kept = [steps[0]]
    for number, step in enumerate(steps[1:], 1):
        last = whole and number == len(steps) - 1
        if last or not _is_idle(step, kept[-1]):
            kept.append(step)
    if len(kept) > 1 and (begun := _begun(kept[0], kept[1])) is not None:
        kept[:2] = [begun]
    return tuple(kept)


def _begun(first: Step, search: Step) -> PathsPlan | None:
    """A search from the vertices that the first step looks up, where its rows are the different bindings of the ends
    and nothing is asked of paths afterwards."""
    if not isinstance(first, QueryPlan) or not isinstance(search, PathsPlan) or search.segment.predicates:
        return None
    plain = type(first.segment) is Match and not (first.segment.input or first.residual)
    ends = {vertex.variable for vertex in first.graph.vertices}
    alone = plain and first.looks_up and ends == set(search.segment.bound)
    return replace(search, begins=first) if alone else None


def _runs_once(plan: ApplyPlan) -> bool:
    """Whether there is one row before a subquery, of which it reads nothing, and its rows are those that go out."""
    apply = plan.segment
    return apply.asked == "rows" and not (apply.input or apply.row or apply.optional) and len(plan.branches) == 1


def _is_idle(step: Step, before: Step) -> bool:
    """Whether a projection does nothing for the rows of a search or a subquery, or for how many matches there are."""
    if isinstance(before, QueryPlan):
        return before.counting and not before.residual and _hands_on(step)
    if isinstance(before, PathsPlan) and before.together and isinstance(step, Project):
        step = _of_different(step, before)
    return isinstance(before, PathsPlan | ApplyPlan) and _hands_on(step)


def _of_different(project: Project, before: PathsPlan) -> Project:
    """Without DISTINCT, where the ends of paths are told apart that come once each."""
    end = before.graph.vertices[before.segment.target].variable
    items = (item.expression for item in project.projection.items)
    told = any(isinstance(item, Column) and item.variable == end for item in items)
    return replace(project, projection=replace(project.projection, distinct=False)) if told else project


def _hands_on(step: Step) -> bool:
    """Whether a projection does nothing but name elements as they are named already."""
    if not isinstance(step, Project) or isinstance(step, Unwind) or step.where or step.per is not None:
        return False
    projection = step.projection
    changes = projection.is_grouped or projection.order_by or projection.skip is not None
    return not changes and projection.limit is None and all(map(_is_there, projection.items))


def _is_there(item: ProjectionItem) -> bool:
    expression = item.expression
    if isinstance(expression, Column):
        return expression.attribute is Attribute.ELEMENT and expression.variable == item.name
    return item is ROW

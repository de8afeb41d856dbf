"""Paths of which only the length is asked are not written out: their rows have a number where others have the path."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from gquery.planner.ir.expr import INTEGER, Attribute, Call, Column, Expression, walk, with_children
from gquery.planner.ir.query_plan import PathsPlan, Step
from gquery.planner.ir.segments import Project, Variable
from gquery.records import replace


def measured(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps of a chain, where a projection that asks for nothing but lengths follows on a search."""
    kept = list(steps)
    for number, (search, project) in enumerate(pairwise(steps)):
        if isinstance(search, PathsPlan) and isinstance(project, Project) and _asks_length(search, project):
            way = Variable(search.segment.way, INTEGER)
            output = tuple(way if each.name == way.name else each for each in search.segment.output)
            kept[number] = replace(search, segment=replace(search.segment, output=output), measured=True)
            kept[number + 1] = _of_length(project, way)
    return tuple(kept)


def _asks_length(search: PathsPlan, project: Project) -> bool:
    way = search.segment.way
    asked = [part for each in (*project.projection.expressions, *project.where) for part in walk(each)]
    spoken_of = sum(isinstance(part, Column) and part.variable == way for part in asked)
    lengths = sum(_is_length(way, part) for part in asked)
    return way in search.rows and not search.segment.predicates and spoken_of == lengths


def _is_length(way: str, expression: Expression) -> bool:
    match expression:
        case Call(function="length", arguments=(Column(variable=name, attribute=Attribute.ELEMENT),)):
            return name == way
    return False


def _of_length(project: Project, way: Variable) -> Project:
    """The projection of rows that have a number in place of the path."""
    number = partial(_with_number, way)
    projection = project.projection
    items = tuple(replace(item, expression=number(item.expression)) for item in projection.items)
    order_by = tuple(replace(item, expression=number(item.expression)) for item in projection.order_by)
    return replace(
        project,
        projection=replace(projection, items=items, order_by=order_by),
        where=tuple(map(number, project.where)),
        input=tuple(way if each.name == way.name else each for each in project.input),
    )


def _with_number(way: Variable, expression: Expression) -> Expression:
    if _is_length(way.name, expression):
        return Column(INTEGER, expression.span, way.name, Attribute.VALUE)
    return with_children(expression, partial(_with_number, way))

"""Groupings whose groups have numbers: by vertices, or by properties of few values; and what is asked of numbers there.

Who reads groups in place of rows is told by the same projection, with columns in place of its aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping

from gquery.executor.relational.codes.property_codes import may_have_codes
from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Column,
    Expression,
    Kind,
    Type,
    is_aggregated,
    walk,
    with_children,
)
from gquery.planner.ir.segments import Project, Variable
from gquery.records import record, replace
from gquery.storage.graph import Snapshot

_MADE = " of group "  # begins the names of what stands for aggregates
_FUNCTIONS = ("count", "sum", "avg", "min", "max")


@record(frozen=True, slots=True)
class Groups:
    """A grouping whose groups have numbers. project: the same of rows which are groups, with columns of these in place
    of the aggregates. measures: the aggregates, by the names of these columns. vertices: the keys' variables that are
    told apart themselves, whatever else of them is read. types: of the variables of the rows."""

    project: Project
    measures: Mapping[str, Aggregate]
    vertices: frozenset[str]
    types: Mapping[str, Type]

    def read(self, expression: Expression) -> Expression:
        """The expression as who reads groups has it."""
        if isinstance(expression, Aggregate):
            name = next(name for name, each in self.measures.items() if each == expression)
            return Column(expression.type, expression.span, name, Attribute.VALUE)
        return with_children(expression, self.read)


def groups_of(project: Project, residual: tuple[Expression, ...], snapshot: Snapshot, weighted: bool) -> Groups | None:
    """None where groups have no numbers, or more is asked of the rows. weighted: these stand for several each, and
    nobody knows how far whole numbers come then."""
    projection = project.projection
    keys = [item.expression for item in projection.items if not is_aggregated(item.expression)]
    if projection.distinct or residual or project.per is not None or not keys:
        return None
    known = {variable.name: variable.type for variable in project.input}
    vertices = frozenset(key.variable for key in keys if isinstance(key, Column) and _names(key, known, snapshot))
    if not all(isinstance(key, Column) and (key.variable in vertices or may_have_codes(key)) for key in keys):
        return None
    made: dict[Aggregate, Column] = {}
    expressions = (*projection.expressions, *project.where)
    for part in (part for each in expressions for part in walk(each) if isinstance(part, Aggregate)):
        if part not in made:
            if not _is_measured(part) or (weighted and _adds_whole_numbers(part)):
                return None
            made[part] = Column(part.type, part.span, f"{_MADE}{len(made)}", Attribute.VALUE)
    if not made:
        return None

    def of_groups(expression: Expression) -> Expression:
        return made[expression] if isinstance(expression, Aggregate) else with_children(expression, of_groups)

    items = tuple(replace(item, expression=of_groups(item.expression)) for item in projection.items)
    order_by = tuple(replace(item, expression=of_groups(item.expression)) for item in projection.order_by)
    changed = replace(
        project,
        projection=replace(projection, items=items, order_by=order_by),
        where=tuple(map(of_groups, project.where)),
        input=(*project.input, *(Variable(column.variable, column.type) for column in made.values())),
    )
    measures = {column.variable: aggregate for aggregate, column in made.items()}
    return Groups(changed, measures, vertices, known)


def _names(key: Column, known: Mapping[str, Type], snapshot: Snapshot) -> bool:
    """Whether a key tells vertices apart."""
    type_ = known.get(key.variable)
    if type_ is None or type_.kind is not Kind.NODE or len(type_.tables) != 1:
        return False
    own = snapshot.vertex_tables[type_.tables[0]].id_name
    return key.attribute in (Attribute.ELEMENT, Attribute.ID) or (own is not None and key.key == own)


def _is_measured(aggregate: Aggregate) -> bool:
    """Whether an aggregate asks of rows what is kept for groups."""
    of = aggregate.argument
    if aggregate.distinct or aggregate.function not in _FUNCTIONS:
        return False
    if of is None or not isinstance(of, Column):
        return of is None
    if of.attribute is Attribute.ELEMENT:
        return aggregate.function == "count" and of.type.kind in (Kind.NODE, Kind.RELATIONSHIP)
    whole = of.type.kind is Kind.INTEGER
    return of.attribute is Attribute.PROPERTY and (
        whole or (of.type.kind is Kind.FLOAT and aggregate.function[0] != "m")
    )


def _adds_whole_numbers(aggregate: Aggregate) -> bool:
    of = aggregate.argument
    return of is not None and of.type.kind is Kind.INTEGER and aggregate.function in ("sum", "avg")

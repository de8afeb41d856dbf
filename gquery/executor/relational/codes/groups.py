"""Groupings whose groups have numbers: by vertices, or by properties of few values; and what is asked of numbers there.

Who reads groups in place of rows is told by the same projection, with columns in place of its aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from gquery.executor.relational.codes.property_codes import may_have_codes
from gquery.executor.relational.gather import tells_apart
from gquery.planner.ir.expr import (
    Aggregate,
    Attribute,
    Column,
    Expression,
    Kind,
    Type,
    is_aggregated,
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
    of the aggregates. made: these columns. vertices: the keys' variables that are told apart themselves, whatever else
    of them is read. types: of the variables of the rows."""

    project: Project
    made: Mapping[Aggregate, Column]
    vertices: frozenset[str]
    types: Mapping[str, Type]

    @property
    def measures(self) -> dict[str, Aggregate]:
        """The aggregates, by the names of their columns."""
        return {column.variable: aggregate for aggregate, column in self.made.items()}

    def read(self, expression: Expression) -> Expression:
        """An expression as who reads groups has it."""
        return _of_groups(self.made, expression)


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
    asked = tuple(dict.fromkeys(project.aggregates))
    if not asked or not all(_is_measured(each) and not (weighted and _adds_whole_numbers(each)) for each in asked):
        return None
    made = {each: Column(each.type, each.span, f"{_MADE}{n}", Attribute.VALUE) for n, each in enumerate(asked)}
    changed = project.changed(partial(_of_groups, made))
    columns = (Variable(column.variable, column.type) for column in made.values())
    return Groups(replace(changed, input=(*project.input, *columns)), made, vertices, known)


def _of_groups(made: Mapping[Aggregate, Column], expression: Expression) -> Expression:
    """An expression as who reads groups has it."""
    if isinstance(expression, Aggregate):
        return made[expression]
    return with_children(expression, partial(_of_groups, made))


def _names(key: Column, known: Mapping[str, Type], snapshot: Snapshot) -> bool:
    """Whether a key tells vertices of one table apart."""
    type_ = known.get(key.variable)
    is_one = type_ is not None and type_.kind is Kind.NODE and len(type_.tables) == 1
    return is_one and tells_apart(key, known[key.variable].tables, snapshot)


def _is_measured(aggregate: Aggregate) -> bool:
    """Whether an aggregate asks of rows what is kept for groups."""
    of = aggregate.argument
    if aggregate.distinct or aggregate.function not in _FUNCTIONS:
        return False
    if of is None or not isinstance(of, Column):
        return of is None
    if of.attribute is Attribute.ELEMENT:
        return aggregate.function == "count" and of.type.kind in (Kind.NODE, Kind.RELATIONSHIP)
    return of.attribute is Attribute.PROPERTY and of.type.kind in (Kind.INTEGER, Kind.FLOAT)


def _adds_whole_numbers(aggregate: Aggregate) -> bool:
    of = aggregate.argument
    return of is not None and of.type.kind is Kind.INTEGER and aggregate.function in ("sum", "avg")

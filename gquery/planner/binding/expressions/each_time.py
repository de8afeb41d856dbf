"""What is calculated of times of one kind whose tables store them in several units, or in several zones.

Every value keeps the unit and the zone of its table, so it is calculated for each of these, and of a value it is what
its own gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gquery.errors import Span
from gquery.planner.binding.expressions.elements import once
from gquery.planner.ir.expr import Call, Column, Expression
from gquery.planner.ir.types.common_type import any_of, common_time

if TYPE_CHECKING:
    from gquery.planner.binding.expressions.binder import ExpressionBinder

Arguments = tuple[Expression, ...]


def has_several_times(arguments: Arguments) -> bool:
    return any(each.type.members and common_time(each.type) is not None for each in arguments)


def of_each_time(
    binder: ExpressionBinder, arguments: Arguments, span: Span, make: Callable[[Arguments], Expression]
) -> Expression:
    """What `make` gives of the arguments, each of which has the type of one table's values at a time."""
    place = next((place for place, each in enumerate(arguments) if has_several_times((each,))), None)
    if place is None:
        return make(arguments)

    def of(value: Expression) -> Expression:
        held = [Call(member, span, "member", (value,)) for member in value.type.members]
        made = [of_each_time(binder, (*arguments[:place], each, *arguments[place + 1 :]), span, make) for each in held]
        return Call(any_of(each.type for each in made), span, "coalesce", tuple(made))

    several = arguments[place]
    return of(several) if isinstance(several, Column) else once(binder, several, span, of)

"""Binds dates, times and durations. What is written is calculated here, exactly; what is computed is left to SQL, or to
the same functions while the query runs.

A moment or a duration that is known is the call `moment` of its text, and its type says its kind and its zone. A WITH
hands it on as such, so that what is made of it later is known too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gquery.errors import BindError, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.expressions.calculated import type_of_calculated
from gquery.planner.binding.expressions.comparisons import read_datetime
from gquery.planner.ir.expr import BOOLEAN, INTEGER, NULL, STRING, Call, Constant, Expression, Kind, Type
from gquery.planner.ir.types.common_type import DATE, DURATION, TIME, temporal_family
from gquery.planner.ir.types.temporal import known_moment
from gquery.values.durations import TOO_LONG, Duration, duration_of, plus
from gquery.values.moments import Moment, offset_text
from gquery.values.time_arithmetic import in_seconds, later
from gquery.values.time_functions import EPOCHS, FUNCTIONS, SCALINGS

if TYPE_CHECKING:
    from gquery.planner.binding.expressions.binder import ExpressionBinder

_UNKNOWN = object()
_CONVERTED = ("date", "localtime", "localdatetime", "datetime")  # by SQL, from other moments
_CLOCKS = ("hour", "minute", "second")
COMPUTED_UNITS = ("decade", "year", "quarter", "month", "week", "day", *_CLOCKS)
_FINE_YEARS = range(-(2**63), 2**63)  # nanoseconds around 1970 of points in time that know nanoseconds
_DATES, _POINTS = 2_100_000_000, 105_000_000  # days around 1970 that DuckDB has for dates, and for points in time


def is_written(expression: Expression) -> bool:
    """Whether it is a moment or a duration that is known."""
    return isinstance(expression, Call) and expression.function == "moment"


def bind_function(binder: ExpressionBinder, tree: ast.FunctionCall, arguments: tuple[Expression, ...]) -> Expression:
    """A call of one of FUNCTIONS."""
    known = [_known(argument) for argument in arguments]
    if arguments and _UNKNOWN not in known:
        fits = 2 <= len(known) <= 3 if tree.name.endswith(".truncate") else len(known) == FUNCTIONS[tree.name][0]
        if not fits:
            raise BindError(f"`{tree.name}` cannot take {len(known)} arguments", span=tree.name_span)
        if None in known:
            return Constant(NULL, tree.span, None)
        try:
            found = FUNCTIONS[tree.name][1](*known)
            return Constant(NULL, tree.span, None) if found is None else written(found, tree.span)
        except (ValueError, OverflowError) as error:
            raise BindError(str(error), span=tree.arguments[0].span) from None
    computed = _computed(binder, tree.name, arguments, tree.span)
    if computed is not None:
        return computed
    if not arguments and FUNCTIONS[tree.name][0] == 1 and tree.name not in EPOCHS:  # now, by whatever clock
        family = tree.name.partition(".")[0]
        if family != "time":
            return binder.call(family, arguments, tree.span, tree.name_span)
        arguments = (binder.call("localtime", (), tree.span, tree.name_span),)
    if tree.name in _CONVERTED and len(arguments) == 1 and arguments[0].type.kind not in (Kind.STRING, Kind.MAP):
        return binder.call(tree.name, arguments, tree.span, tree.name_span)
    name = Constant(STRING, tree.name_span, tree.name)
    return Call(type_of_calculated(tree, arguments), tree.span, "calculate", (name, *arguments))


def _computed(binder: ExpressionBinder, name: str, arguments: tuple[Expression, ...], span: Span) -> Expression | None:
    """What SQL can say of computed values in other words."""
    family = name.partition(".")[0]
    match name, arguments:
        case "datetime", (text,):
            return read_datetime(text, binder.parameters)
        case "duration.inseconds", (one, other) if _differ_in_seconds(one.type, other.type):
            return binder.call("-", (other, one), span)
        case (
            ("date.truncate" | "localdatetime.truncate" | "datetime.truncate"),
            (Constant(value=str() as unit), value),
        ) if value.type.kind is Kind.TEMPORAL and temporal_family(value.type.arrow) in ("date", "datetime"):
            dated = temporal_family(value.type.arrow) == "date"
            if unit not in COMPUTED_UNITS or (dated and unit in _CLOCKS):
                return None
            subject = binder.call(family, (value,), span)
            return Call(subject.type, span, "truncate", (Constant(STRING, span, unit), subject))
        case "duration", (Call(function="map", arguments=parts),) if parts:
            return _of_parts(binder, parts, span)
    return None


def _differ_in_seconds(one: Type, other: Type) -> bool:
    """Whether the time between two is their difference in SQL: of two dates, or two points in time that both have
    zones or have none."""
    if not one.kind is other.kind is Kind.TEMPORAL:
        return False
    families = {temporal_family(one.arrow), temporal_family(other.arrow)}
    zoned = {getattr(each.arrow, "tz", None) is None for each in (one, other)}
    return families in ({"date"}, {"datetime"}) and len(zoned) == 1


def _of_parts(binder: ExpressionBinder, parts: tuple[Expression, ...], span: Span) -> Expression:
    """A duration of computed numbers: each times one of its unit, of null none."""
    terms: list[Expression] = []
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        assert isinstance(key, Constant)
        try:
            unit = written(duration_of({str(key.value): 1}), key.span)
        except ValueError as error:
            raise BindError(str(error), span=key.span) from None
        terms.append(binder.call("*", (unit, binder.call("coalesce", (value, Constant(INTEGER, span, 0)), span)), span))
    total = terms[0]
    for term in terms[1:]:
        total = binder.call("+", (total, term), span)
    return total


def folded(function: str, arguments: tuple[Expression, ...], span: Span) -> Expression | None:
    """What an operator gives of moments and durations that are known; None where there are none."""
    if not any(map(is_written, arguments)) or function not in (*_ARITHMETIC, *_COMPARISONS):
        return None
    known = [_known(argument) for argument in arguments]
    if _UNKNOWN in known or None in known:
        return None
    try:
        if function in _COMPARISONS:
            return _compared(function, known[0], known[1], span)
        found = _ARITHMETIC[function](*known)
    except (ValueError, OverflowError) as error:
        raise BindError(str(error), span=span) from None
    return None if found is None else written(found, span)


def written(value: Moment | Duration, span: Span) -> Call:
    """A known value as an expression."""
    if isinstance(value, Duration) and not value.can_be_stored:
        raise BindError(TOO_LONG, span=span)
    type_ = DURATION if isinstance(value, Duration) else _type_of(value, span)
    return Call(type_, span, "moment", (Constant(STRING, span, str(value)),))


def _type_of(moment: Moment, span: Span) -> Type:
    fine = (moment.time or 0) % 1000 != 0
    unit = "ns" if fine else "us"
    most = _DATES if moment.family == "date" else _POINTS
    if moment.date is not None and abs(moment.date) > most:
        years = round(most / 365.2425, -4)
        raise BindError(f"gquery has such values of the years -{years:,.0f} to {years:,.0f} only", span=span)
    if fine and moment.date is not None and moment.instant not in _FINE_YEARS:
        raise UnsupportedError("gquery has nanoseconds of the years 1678 to 2261 only", span=span)
    match moment.family:
        case "date":
            return DATE
        case "localtime":
            return Type(Kind.TEMPORAL, pa.time64(unit))
        case "time":
            return TIME
        case "localdatetime":
            return Type(Kind.TEMPORAL, pa.timestamp(unit))
    offset = moment.offset or 0
    if offset % 60 and not moment.zone:
        raise UnsupportedError("gquery has no points in time at an offset from UTC with seconds", span=span)
    return Type(Kind.TEMPORAL, pa.timestamp(unit, moment.zone or (offset_text(offset) if offset else "UTC")))


def _known(expression: Expression) -> Any:
    match expression:
        case Constant(value=value):
            return value
        case Call(function="moment"):
            return known_moment(expression)
        case Call(function="map", arguments=parts):
            values = [_known(part) for part in parts[1::2]]
            keys = (str(key.value) for key in parts[::2] if isinstance(key, Constant))
            return _UNKNOWN if _UNKNOWN in values else dict(zip(keys, values, strict=True))
        case Call(function="negate", arguments=(part,)):
            value = _known(part)
            return -value if isinstance(value, int | float | Decimal) else _UNKNOWN
    return _UNKNOWN


# --- operators ---------------------------------------------------------------------------------------------------


def _sum(one: Any, other: Any, sign: int = 1) -> Moment | Duration | None:
    match one, other:
        case Duration(), Duration():
            return plus(one, other, sign)
        case Moment(), Duration():
            return later(one, other, sign)
        case Duration(), Moment() if sign == 1:
            return later(other, one)
        case Moment(), Moment() if sign == -1 and one.family == other.family and one.date is not None:
            return in_seconds(other, one)
    return None


def _scaled(function: str, one: Any, other: Any) -> Duration | None:
    duration, number = (one, other) if isinstance(one, Duration) or function == "/" else (other, one)
    is_number = isinstance(number, int | float | Decimal) and not isinstance(number, bool)
    return SCALINGS[function](one, other) if isinstance(duration, Duration) and is_number else None


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Moment | Duration | None]] = {
    "+": _sum, "-": lambda one, other: _sum(one, other, -1),
    **{function: partial(_scaled, function) for function in SCALINGS},
}  # fmt: skip
_COMPARISONS = ("=", "<>")


def _compared(function: str, one: Any, other: Any, span: Span) -> Expression | None:
    """Durations are equal when their parts are. Everything else is SQL's."""
    if isinstance(one, Duration) and isinstance(other, Duration):
        return Constant(BOOLEAN, span, (one == other) == (function == "="))
    return None

"""What functions of times give for values that are computed: their types, which say the zone of points in time."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from gquery.errors import BindError, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.ir.expr import NULL, Call, Constant, Expression, Kind, Type
from gquery.planner.ir.types.common_type import DATE, DURATION, TIME, temporal_family
from gquery.values.durations import PARTS
from gquery.values.moments import DATE_PARTS, TIME_PARTS, Moment, offset_text, placed
from gquery.values.time_functions import EPOCHS, FUNCTIONS

_BASES = ("date", "time", "datetime", "timezone", "epochSeconds", "epochMillis")
_TAKEN = frozenset({Kind.STRING, Kind.MAP, Kind.TEMPORAL, Kind.NULL})


def type_of_calculated(tree: ast.FunctionCall, arguments: tuple[Expression, ...]) -> Type:
    """The type of a call of FUNCTIONS of which not all arguments are known. Raises BindError for those that it cannot
    take."""
    most = FUNCTIONS[tree.name][0]
    if not min(most, 2) <= len(arguments) <= most:
        raise BindError(f"`{tree.name}` cannot take {len(arguments)} arguments", span=tree.name_span)
    for argument, wanted in zip(arguments, _taken(tree.name), strict=False):
        if argument.type.kind not in (*wanted, Kind.NULL):
            raise BindError(f"`{tree.name}` cannot take {argument.type}", span=argument.span)
    family, _, _ = tree.name.partition(".")
    for argument in arguments:
        _expect_parts(argument, family)
    moments = arguments[1:] if tree.name.endswith(".truncate") else arguments
    unit = "ns" if any(map(_is_fine, moments)) or tree.name == "datetime.fromepoch" else "us"
    match family:
        case "duration":
            return DURATION
        case "date":
            return DATE
        case "time":
            return TIME
        case "localtime":
            return Type(Kind.TEMPORAL, pa.time64(unit))
        case "localdatetime":
            return Type(Kind.TEMPORAL, pa.timestamp(unit))
    zone = next(filter(None, map(_zone_of, reversed(moments))), "UTC")
    return Type(Kind.TEMPORAL, pa.timestamp(unit, zone))


def _taken(name: str) -> tuple[tuple[Kind, ...], ...]:
    """The kinds of the arguments."""
    if name.endswith(".truncate"):
        return (Kind.STRING,), (Kind.TEMPORAL,), (Kind.MAP,)
    if name.startswith("duration."):
        return ((Kind.TEMPORAL,),) * 2
    return ((Kind.INTEGER,),) * 2 if name in EPOCHS else ((Kind.STRING, Kind.MAP, Kind.TEMPORAL),)


def _expect_parts(argument: Expression, family: str) -> None:
    """Raises BindError for a map with other parts than the family has."""
    known = PARTS if family == "duration" else (*DATE_PARTS, *TIME_PARTS, *_BASES)
    for key, _ in argument.type.fields if argument.type.kind is Kind.MAP else ():
        if key not in known:
            span = _span_of(argument, key)
            raise BindError(f"a {family} has no `{key}`", span=span, hint=did_you_mean(key, known) or ", ".join(known))


def _span_of(argument: Expression, key: str) -> Span:
    value = _part(argument, key)
    return argument.span if value is None else value.span


def _part(argument: Expression, key: str) -> Expression | None:
    """A value of a map that is written."""
    if not isinstance(argument, Call) or argument.function != "map":
        return None
    pairs = zip(argument.arguments[::2], argument.arguments[1::2], strict=True)
    return next((value for name, value in pairs if isinstance(name, Constant) and name.value == key), None)


def _is_fine(argument: Expression) -> bool:
    """Whether it may have nanoseconds."""
    fields: Mapping[str, Type] = dict(argument.type.fields)
    types = fields.values() if argument.type.kind is Kind.MAP else (argument.type,)
    return "nanosecond" in fields or any(each.kind is Kind.STRING or _knows_nanoseconds(each) for each in types)


def _knows_nanoseconds(type_: Type) -> bool:
    if type_.members:
        return any(map(_knows_nanoseconds, type_.members))
    family = temporal_family(type_.arrow) if type_.kind is Kind.TEMPORAL else None
    return family == "zoned time" or (family in ("time", "datetime") and getattr(type_.arrow, "unit", "us") == "ns")


def _zone_of(argument: Expression) -> str | None:
    """The zone of a point in time that is made of the argument, as Arrow writes it; None where it says none."""
    match _part(argument, "timezone"):
        case Constant(value=str() as zone):
            try:
                offset = placed(Moment(0, 0), zone)
            except ValueError as error:
                raise BindError(str(error), span=argument.span) from None
            return offset.zone or offset_text(offset.offset or 0).replace("Z", "UTC")
    type_ = argument.type
    if type_.kind is Kind.MAP:  # what gives the date gives no zone
        known = {name: field for name, field in type_.fields if field.kind is not Kind.NULL}
        type_ = known.get("time", known.get("datetime", NULL))
    return getattr(type_.arrow, "tz", None) if type_.kind is Kind.TEMPORAL else None

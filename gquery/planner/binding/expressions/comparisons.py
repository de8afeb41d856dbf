"""What is compared with what: texts beside dates and times are read as such, and what can never match is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from gquery.errors import BindError, Notice, Span
from gquery.planner.binding.scope import spoken
from gquery.planner.ir.expr import Attribute, Call, Column, Constant, Expression, Kind, Parameter, Type
from gquery.planner.ir.functions.calls import comparable, has_order
from gquery.planner.ir.types.common_type import common_time, list_of, temporal_family, unify
from gquery.planner.ir.types.temporal import Reading, plain, reading
from gquery.records import replace

COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_EXAMPLES = {"date": "2024-01-15", "datetime": "2024-01-15T10:00:00", "time": "10:00:00"}
_NOT_READ = {"zoned time": "time('10:00+01:00')", "duration": "duration('P1D')"}


def read_texts(
    function: str, arguments: tuple[Expression, ...], parameters: Mapping[str, object]
) -> tuple[Expression, ...]:
    """The operands of a comparison or of IN, constant texts among them as the dates and times that they meet.

    Raises BindError for a text that is none.
    """
    left, right = arguments
    if function == "in":
        item = right.type.item or Type(Kind.NULL)
        return _beside(left, item, parameters), _beside(right, list_of(left.type), parameters)
    return _beside(left, right.type, parameters), _beside(right, left.type, parameters)


def _beside(value: Expression, other: Type, parameters: Mapping[str, object]) -> Expression:
    """The value as what it is compared with, when that is a time, or a list of times."""
    one = value.type
    if one.kind is Kind.LIST and other.kind is Kind.LIST:
        one, other = one.item or Type(Kind.NULL), other.item or Type(Kind.NULL)
    time = other if other.kind is Kind.TEMPORAL else common_time(other)
    return value if one.kind is not Kind.STRING or time is None else _read(value, time, parameters)


def read_datetime(argument: Expression, parameters: Mapping[str, object]) -> Expression | None:
    """datetime() of a constant text that says its offset from UTC, which stays with the value."""
    if argument.type.kind is not Kind.STRING:
        return None
    (text,) = _texts(argument, parameters) or (None,)
    found = reading(text) if isinstance(text, str) else None
    if found is None or found.zone is None:
        return None
    return Call(Type(Kind.TEMPORAL, pa.timestamp("us", found.zone)), argument.span, "read", (argument,))


def _read(value: Expression, wanted: Type, parameters: Mapping[str, object]) -> Expression:
    """The value, as `wanted` when it is a constant text or a list of some."""
    many = value.type.kind is Kind.LIST
    texts = _texts(value, parameters)
    if texts is None:
        return value
    if many and isinstance(value, Call):
        items = tuple(_beside(item, wanted, parameters) for item in value.arguments)
        return replace(value, type=list_of(unify(item.type for item in items)), arguments=items)
    family = temporal_family(wanted.arrow)
    found = [_reading(text, family, value.span) for text in texts if text is not None]
    zones = {each.zone for each in found}
    there = zones == {None} and family == "datetime" and wanted.arrow is not None and wanted.arrow.tz is not None
    if len(zones) > 1 and None in zones:
        raise BindError("some of these texts have an offset from UTC and some have none", span=value.span,
                        hint="give all of them an offset, such as `Z`")  # fmt: skip
    if family == "datetime" and zones - {None}:
        zone = zones.pop() if len(zones) == 1 else "UTC"
        wanted = Type(Kind.TEMPORAL, pa.timestamp(wanted.arrow.unit if wanted.arrow is not None else "us", zone))
    units = [each.unit for each in found if each.unit is not None]
    if units and family != "date":  # columns of other units are compared with it exactly
        unit, zone = min(units), getattr(wanted.arrow, "tz", None)  # nanoseconds before microseconds
        wanted = Type(Kind.TEMPORAL, pa.time64(unit) if family == "time" else pa.timestamp(unit, zone))
    return Call(list_of(wanted) if many else wanted, value.span, "read there" if there else "read", (value,))


def _reading(text: object, family: str, span: Span) -> Reading:
    if family in _NOT_READ:
        raise BindError(f"a text is not read as a {family}", span=span, hint=f"write it as {_NOT_READ[family]}")
    found = reading(text) if isinstance(text, str) else None
    fits = found is not None and (found.family == family or (family == "datetime" and found.family == "date"))
    if found is None or not fits:
        kind = {"date": "date", "datetime": "point in time", "time": "time of the day"}[family]
        raise BindError(f"{text!r} is no {kind}", span=span, hint=f"write it as '{_EXAMPLES[family]}'")
    return found


def _texts(value: Expression, parameters: Mapping[str, object]) -> tuple[object, ...] | None:
    """What a constant, a parameter or a field of one holds, its items when it is a list; None when that is computed."""
    match value:
        case Constant(value=text):
            return (text,)
        case Call(function="list", arguments=items) if items and all(_texts(item, parameters) for item in items):
            return tuple(text for item in items for text in _texts(item, parameters) or ())
    if _is_given(value):
        held = plain(_given(value, parameters))
        return tuple(held) if isinstance(held, list | tuple | set | frozenset) else (held,)
    return None


def _is_given(value: Expression) -> bool:
    match value:
        case Parameter():
            return True
        case Call(function="field", arguments=(subject, Constant())):
            return _is_given(subject)
    return False


def _given(value: Expression, parameters: Mapping[str, object]) -> object:
    match value:
        case Parameter(name=name):
            return parameters[name]
        case Call(arguments=(subject, Constant(value=key))):
            return _given(subject, parameters)[key]  # type: ignore[index]
    raise AssertionError(value)


# --- what can never match ----------------------------------------------------------------------------------------


def notices(function: str, arguments: tuple[Expression, ...], span: Span) -> Iterator[Notice]:
    """A word where a column of the graph is compared with what its values can never be equal to, or in order with."""
    for this, that in (arguments, arguments[::-1]):
        if not (isinstance(this, Column) and this.attribute in (Attribute.PROPERTY, Attribute.ID)):
            continue
        other = that.type.item if function == "in" and that is arguments[1] else that.type
        own = this.type.item if function == "in" and that is arguments[0] else this.type
        name = _named(this)
        if isinstance(that, Constant) and that.value is None and function in _TESTS_OF_NULL:
            yield Notice(f"{name} is compared with null: never true", span, f"write {_TESTS_OF_NULL[function]}")
            return
        if other is None or own is None or _may_match(function, own, other):
            continue
        answer = {"<>": "always true", "=": "never true", "in": "never true"}.get(function, "never true or false")
        hint = None
        if own.kind is Kind.STRING and this.key:
            hint = "where a few words such as n/a made it text, load it with null=['n/a'] (--null n/a)"
        yield Notice(f"{name} is {_described(own)} and is compared with {_described(other)}: {answer}", span, hint)
        return


_TESTS_OF_NULL = {"=": "IS NULL", "<>": "IS NOT NULL"}


def _named(column: Column) -> str:
    known = spoken(column.variable)
    element = known.strip("`")
    if column.key and known == element:
        return f"`{column.key}` of {known}"
    return f"`{element}.{column.key}`" if column.key else f"id({element})"


def _may_match(function: str, own: Type, other: Type) -> bool:
    if Kind.NULL in (own.kind, other.kind):
        return True
    return comparable(own, other) and (function in ("=", "<>", "in") or has_order(own))


def _described(type_: Type) -> str:
    if type_.kind is Kind.TEMPORAL:
        family = temporal_family(type_.arrow)
        return {"date": "a date", "datetime": "a point in time", "time": "a time of the day"}.get(family, f"a {family}")
    if type_.kind is Kind.ANY:
        return " or ".join(dict.fromkeys(map(_described, type_.members)))
    return {
        Kind.STRING: "text", Kind.INTEGER: "a number", Kind.FLOAT: "a number", Kind.DECIMAL: "a number",
        Kind.BOOLEAN: "true or false",
        Kind.LIST: "a list", Kind.MAP: "a map", Kind.BYTES: "bytes",
    }.get(type_.kind, f"a {type_.kind.value.lower()}")  # fmt: skip

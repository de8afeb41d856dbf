"""The SQL of every operator and function in `planner.functions`, given the SQL of its arguments.

DuckDB is told apart from Cypher here: comparisons between families of values, NaN, list positions from 0, and what some
functions do at the edges. Integer division truncates and divides by zero with an error in both.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from gquery.errors import BindError, UnsupportedError
from gquery.executor.relational.growth import write_range, write_replace
from gquery.planner.expr import Call, Constant, Expression, Kind, Type

_NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT})
_ORDERED = _NUMBERS | {Kind.STRING, Kind.BOOLEAN, Kind.TEMPORAL, Kind.LIST}


def write_call(call: Call, arguments: list[str]) -> str:
    """The call as SQL, safe to stand anywhere in an expression."""
    template = _TEMPLATES.get(call.function)
    return template.format(*arguments) if template else _WRITERS[call.function](call, arguments)


def _comparable(left: Type, right: Type) -> bool:
    """Whether values of the two types can be equal at all."""
    kinds = {left.kind, right.kind}
    if Kind.NULL in kinds or kinds <= _NUMBERS:
        return True
    if len(kinds) > 1:
        return False
    if left.kind is Kind.LIST:
        return left.item is None or right.item is None or _comparable(left.item, right.item)
    if left.kind is Kind.MAP:
        return [key for key, _ in left.fields] == [key for key, _ in right.fields] and all(
            _comparable(one, other) for (_, one), (_, other) in zip(left.fields, right.fields, strict=True)
        )
    return left.kind is not Kind.TEMPORAL or _is_day(left) == _is_day(right)


def _is_day(type_: Type) -> bool:
    return type_.arrow is not None and (pa.types.is_date(type_.arrow) or pa.types.is_timestamp(type_.arrow))


def _comparison(call: Call, arguments: list[str]) -> str:
    """Different families: `=` is false, `<>` true, an order null. NaN is equal to nothing and in no order."""
    (left, right), (one, other) = arguments, (argument.type for argument in call.arguments)
    operator, kinds = call.function, {one.kind, other.kind}
    if operator not in ("=", "<>") and not kinds <= _ORDERED | {Kind.NULL}:
        return "NULL::BOOLEAN"
    if not _comparable(one, other):
        answer = {"=": "FALSE", "<>": "TRUE"}.get(operator)
        return f"CASE WHEN {left} IS NOT NULL AND {right} IS NOT NULL THEN {answer} END" if answer else "NULL::BOOLEAN"
    compared = f"{left} {operator} {right}"
    # DuckDB takes NaN for the greatest number and equal to itself: the side that would be the greater must not be NaN.
    greater = 1 if operator in ("<", "<=") else 0
    if kinds == {Kind.FLOAT} or (operator not in ("=", "<>") and kinds <= _NUMBERS):
        side = call.arguments[greater]
        if side.type.kind is Kind.FLOAT and not isinstance(side, Constant):
            return f"({compared} {'OR' if operator == '<>' else 'AND NOT'} isnan({arguments[greater]}))"
    return f"({compared})"


def _in(call: Call, arguments: list[str]) -> str:
    value, items = arguments
    one, many = call.arguments
    if many.type.kind is Kind.NULL:
        return "NULL::BOOLEAN"
    if isinstance(many, Call) and many.function == "list" and not many.arguments:
        return "FALSE"
    if many.type.item is not None and not _comparable(one.type, many.type.item):
        return f"CASE WHEN {value} IS NOT NULL AND {items} IS NOT NULL THEN FALSE END"
    if isinstance(many, Call) and many.function == "list":
        return f"({value} IN ({items[1:-1]}))"
    return (
        f"CASE WHEN {items} IS NULL THEN NULL WHEN len({items}) = 0 THEN FALSE WHEN {value} IS NULL THEN NULL "
        f"WHEN list_contains({items}, {value}) THEN TRUE WHEN list_count({items}) = len({items}) THEN FALSE END"
    )


def _plus(call: Call, arguments: list[str]) -> str:
    left, right = arguments
    one, other = (argument.type.kind for argument in call.arguments)
    if call.type.kind is Kind.STRING:
        return f"({left} || {right})" if one is other else f"({left}::VARCHAR || {right}::VARCHAR)"
    if call.type.kind is not Kind.LIST:
        return f"({left} + {right})"
    if Kind.NULL in (one, other):
        return "NULL"
    lists = [side for side, kind in ((left, one), (right, other)) if kind is Kind.LIST]
    joined = f"list_concat({left}, {right})"
    if len(lists) == 1:
        joined = f"list_append({left}, {right})" if one is Kind.LIST else f"list_prepend({left}, {right})"
    return f"CASE WHEN {' AND '.join(f'{side} IS NOT NULL' for side in lists)} THEN {joined} END"


def _divide(call: Call, arguments: list[str]) -> str:
    return f"({arguments[0]} {'/' if call.type.kind is Kind.FLOAT else '//'} {arguments[1]})"


def _index(call: Call, arguments: list[str]) -> str:
    """Positions count from 0, negative ones from the end; DuckDB's count from 1 and from the end."""
    subject, index = arguments
    match call.arguments[1]:
        case Constant(value=int() as position):
            return f"{subject}[{position + 1 if position >= 0 else position}]"
    return f"{subject}[CASE WHEN {index} >= 0 THEN {index} + 1 ELSE {index} END]"


def _slice(call: Call, arguments: list[str]) -> str:
    """`[start..end]` without the end; DuckDB's slice counts from 1 and has its end. A bound left out is a null."""
    subject, start, end = arguments
    first = "1" if _is_null(call.arguments[1]) else f"CASE WHEN {start} >= 0 THEN {start} + 1 ELSE {start} END"
    last = f"len({subject})" if _is_null(call.arguments[2]) else f"CASE WHEN {end} >= 0 THEN {end} ELSE {end} - 1 END"
    return f"{subject}[{first}:{last}]"


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Constant) and expression.value is None


def _map(call: Call, arguments: list[str]) -> str:
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


_TEMPORAL_FIELDS = {
    "year": "year", "quarter": "quarter", "month": "month", "week": "week", "day": "day", "hour": "hour",
    "minute": "minute", "second": "second", "dayOfWeek": "isodow", "ordinalDay": "doy",
}  # fmt: skip


def _field(call: Call, arguments: list[str]) -> str:
    key = call.arguments[1]
    if not isinstance(key, Constant):
        raise UnsupportedError("gquery has no computed keys", span=key.span)
    if call.arguments[0].type.kind is Kind.MAP:
        return f"struct_extract({arguments[0]}, {arguments[1]})"
    if key.value not in _TEMPORAL_FIELDS:
        raise BindError(f"a point in time has no `{key.value}`", span=key.span,
                        hint="it has " + ", ".join(_TEMPORAL_FIELDS))  # fmt: skip
    return f"date_part('{_TEMPORAL_FIELDS[str(key.value)]}', {arguments[0]})"


def _by_kind(**texts: str) -> Callable[[Call, list[str]], str]:
    """A text for each kind of the first argument, `other` for the rest."""

    def write(call: Call, arguments: list[str]) -> str:
        kind = call.arguments[0].type.kind.name.lower()
        return texts.get(kind, texts.get("other", "")).format(*arguments)

    return write


def _joined(template: str) -> Callable[[Call, list[str]], str]:
    return lambda call, arguments: template.format(", ".join(arguments))


def _round(call: Call, arguments: list[str]) -> str:
    """Halves go up; with a precision, away from zero."""
    if len(arguments) == 1:
        return f"floor({arguments[0]} + 0.5)"
    return f"round({arguments[0]}::DOUBLE, {arguments[1]}::INTEGER)"


def _substring(call: Call, arguments: list[str]) -> str:
    subject, start, *length = arguments
    return f"substring({', '.join([subject, f'{start} + 1', *length])})"


def _computed_end(call: Call, arguments: list[str]) -> str:
    raise UnsupportedError(f"gquery has no {call.function}() of a computed relationship", span=call.span)


_TEXT_TO_INTEGER = (
    r"CASE WHEN regexp_full_match({0}, '\s*[-+]?\d+\s*') THEN TRY_CAST({0} AS BIGINT) "
    "ELSE TRY_CAST(trunc(TRY_CAST({0} AS DOUBLE)) AS BIGINT) END"
)
_TEXT_TO_BOOLEAN = "CASE lower(trim({0})) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
_TO_TIMESTAMP = "make_timestamp(epoch_us({0}::TIMESTAMPTZ))"  # an offset in the text is taken into account

_TEMPLATES = {
    "or": "({0} OR {1})", "and": "({0} AND {1})", "xor": "({0}::BOOLEAN <> {1}::BOOLEAN)", "not": "(NOT {0})",
    "is null": "({0} IS NULL)", "is not null": "({0} IS NOT NULL)",
    "=~": "regexp_full_match({0}, {1})", "starts with": "starts_with({0}, {1})",
    "ends with": "ends_with({0}, {1})", "contains": "contains({0}::VARCHAR, {1}::VARCHAR)",
    "-": "({0} - {1})", "*": "({0} * {1})", "%": "({0} % {1})", "^": "pow({0}, {1})", "negate": "(-{0})",
    "abs": "abs({0})", "sign": "sign({0})::BIGINT", "ceil": "ceil({0}::DOUBLE)", "floor": "floor({0}::DOUBLE)",
    "sqrt": "sqrt({0})", "exp": "exp({0})", "log": "ln({0})", "log10": "log10({0})", "sin": "sin({0})",
    "cos": "cos({0})", "tan": "tan({0})", "asin": "asin({0})", "acos": "acos({0})", "atan": "atan({0})",
    "atan2": "atan2({0}, {1})", "pi": "pi()", "e": "exp(1)", "rand": "random()",
    "tolower": "lower({0})", "lower": "lower({0})", "toupper": "upper({0})", "upper": "upper({0})",
    "trim": "trim({0})", "ltrim": "ltrim({0})", "rtrim": "rtrim({0})", 
    "left": "left({0}, {1})", "right": "right({0}, {1})", "split": "string_split({0}, {1})",
    "head": "{0}[1]", "last": "{0}[-1]", "tail": "{0}[2:]", "date": "{0}::DATE",
    "nodes": "struct_extract({0}, 'nodes')", "relationships": "struct_extract({0}, 'relationships')",
    "tofloat": "TRY_CAST({0} AS DOUBLE)",
}  # fmt: skip

_WRITERS: dict[str, Callable[[Call, list[str]], str]] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _comparison),
    "in": _in, "+": _plus, "/": _divide, "index": _index, "slice": _slice, "map": _map, "field": _field,
    "list": _joined("[{}]"), "coalesce": _joined("coalesce({})"), "range": write_range, "replace": write_replace,
    "round": _round, "substring": _substring, "startnode": _computed_end, "endnode": _computed_end,
    "size": _by_kind(string="length({0})", other="len({0})"),
    "length": _by_kind(path="len(struct_extract({0}, 'relationships'))", string="length({0})", other="len({0})"),
    "reverse": _by_kind(string="reverse({0})", other="list_reverse({0})"),
    "tointeger": _by_kind(
        string=_TEXT_TO_INTEGER, float="TRY_CAST(trunc({0}) AS BIGINT)", other="{0}::BIGINT"
    ),
    "toboolean": _by_kind(string=_TEXT_TO_BOOLEAN, other="{0}::BOOLEAN"),
    "tostring": _by_kind(temporal="replace({0}::VARCHAR, ' ', 'T')", other="{0}::VARCHAR"),
    "datetime": _by_kind(string=_TO_TIMESTAMP, other="{0}::TIMESTAMP"),
}  # fmt: skip

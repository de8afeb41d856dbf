"""Bound expressions as DuckDB SQL. Three-valued logic is SQL's own; what differs from Cypher is said here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from gquery.planner.expr import (
    Aggregate,
    Call,
    Case,
    Column,
    Constant,
    Expression,
    Kind,
    Parameter,
    Type,
)  # fmt: skip

_NUMBERS = (Kind.INTEGER, Kind.FLOAT)


@dataclass(slots=True)
class SqlWriter:
    """Writes expressions over an input relation.

    column: the SQL of a graph column. values: the statement's parameters, filled while expressions are written.
    """

    column: Callable[[Column], str]
    parameters: Mapping[str, object]
    values: dict[str, object] = field(default_factory=dict)

    def write(self, expression: Expression) -> str:
        match expression:
            case Constant():
                return literal(expression.value)
            case Parameter():
                return self._parameter(expression)
            case Column():
                return _widened(self.column(expression), expression.type)
            case Case(branches=branches, default=default):
                whens = " ".join(f"WHEN {self.write(test)} THEN {self.write(value)}" for test, value in branches)
                return f"CASE {whens} ELSE {self.write(default)} END"
            case Aggregate():
                return self._aggregate(expression)
            case Call():
                return self._call(expression)
        raise AssertionError(expression)

    def _parameter(self, parameter: Parameter) -> str:
        names = list(self.values)
        slot = f"p{len(names)}"
        for name in names:
            if self.values[name] is self.parameters[parameter.name]:
                slot = name
        self.values[slot] = self.parameters[parameter.name]
        sql_type = _sql_type(parameter.type)
        return f"CAST(${slot} AS {sql_type})" if sql_type else f"${slot}"

    def _aggregate(self, aggregate: Aggregate) -> str:
        if aggregate.argument is None:
            return "count(*)"
        distinct = "DISTINCT " if aggregate.distinct else ""
        value = self.write(aggregate.argument)
        match aggregate.function:
            case "collect":
                return f"coalesce(list({distinct}{value}) FILTER ({value} IS NOT NULL), [])"
            case "sum" if aggregate.type.kind is Kind.FLOAT:
                return f"coalesce(sum({distinct}{value}), CAST(0 AS DOUBLE))"
            case "sum":
                return f"CAST(coalesce(sum({distinct}{value}), 0) AS BIGINT)"
            case "avg":
                return f"avg({distinct}CAST({value} AS DOUBLE))"
            case "stdev":
                return f"coalesce(stddev_samp({distinct}CAST({value} AS DOUBLE)), CAST(0 AS DOUBLE))"
        return f"{aggregate.function}({distinct}{value})"

    def _call(self, call: Call) -> str:
        arguments = [self.write(argument) for argument in call.arguments]
        if call.function in _TEMPLATES:
            return _TEMPLATES[call.function].format(*arguments)
        return _SPECIAL[call.function](call, arguments)


def literal(value: object) -> str:
    """A constant as SQL; integers are 64 bits wide."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"CAST({value} AS BIGINT)" if -(2**63) <= value < 2**63 else f"CAST({value} AS HUGEINT)"
        case float():
            return f"CAST('{value!r}' AS DOUBLE)" if not math.isfinite(value) else f"CAST({value!r} AS DOUBLE)"
    return "'" + str(value).replace("'", "''") + "'"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sql_type(type_: Type) -> str | None:
    plain = {Kind.BOOLEAN: "BOOLEAN", Kind.INTEGER: "BIGINT", Kind.FLOAT: "DOUBLE", Kind.STRING: "VARCHAR"}
    if type_.kind in plain:
        return plain[type_.kind]
    if type_.kind is Kind.LIST and type_.item is not None:
        item = _sql_type(type_.item)
        return f"{item}[]" if item else None
    return None


def _widened(column: str, type_: Type) -> str:
    """Cypher has one integer and one float type; narrower columns would overflow where Cypher does not."""
    if type_.kind is Kind.INTEGER and type_.arrow is not None and not pa.types.is_int64(type_.arrow):
        return f"CAST({column} AS BIGINT)"
    if type_.kind is Kind.FLOAT and type_.arrow is not None and not pa.types.is_float64(type_.arrow):
        return f"CAST({column} AS DOUBLE)"
    if type_.kind is Kind.STRING and type_.arrow is not None and pa.types.is_dictionary(type_.arrow):
        return f"CAST({column} AS VARCHAR)"
    return column


def _comparable(left: Type, right: Type) -> bool:
    kinds = {left.kind, right.kind}
    return len(kinds) == 1 or kinds <= set(_NUMBERS) or Kind.NULL in kinds


def _compare(call: Call, arguments: list[str]) -> str:
    """Values of different families: `=` is false, `<>` true, an order null. NaN equals nothing, not even itself."""
    left, right = arguments
    one, other = (argument.type for argument in call.arguments)
    operator = call.function
    if not _comparable(one, other):
        answer = {"=": "FALSE", "<>": "TRUE"}.get(operator, "NULL")
        return f"CASE WHEN {left} IS NULL OR {right} IS NULL THEN NULL ELSE {answer} END"
    if {one.kind, other.kind} <= set(_NUMBERS) and Kind.FLOAT in (one.kind, other.kind):
        greater = {"=": left, "<>": left, "<": right, "<=": right}.get(operator, left)
        is_nan = f"isnan(CAST({greater} AS DOUBLE))"
        joint = f"OR {is_nan}" if operator == "<>" else f"AND NOT {is_nan}"
        return f"({left} {operator} {right} {joint})"
    return f"({left} {operator} {right})"


def _text_test(call: Call, arguments: list[str]) -> str:
    if not all(argument.type.kind in (Kind.STRING, Kind.NULL) for argument in call.arguments):
        return "CAST(NULL AS BOOLEAN)"
    function = {"starts with": "starts_with", "ends with": "ends_with", "contains": "contains"}[call.function]
    return f"{function}(CAST({arguments[0]} AS VARCHAR), CAST({arguments[1]} AS VARCHAR))"


def _in(call: Call, arguments: list[str]) -> str:
    value, items = call.arguments
    text, list_text = arguments
    if items.type.kind is Kind.NULL:
        return "CAST(NULL AS BOOLEAN)"
    if isinstance(items, Call) and items.function == "list" and not items.arguments:
        return "FALSE"
    if items.type.item is not None and not _comparable(value.type, items.type.item):
        return f"CASE WHEN {text} IS NULL OR {list_text} IS NULL THEN NULL ELSE FALSE END"
    if isinstance(items, Call) and items.function == "list":
        return f"({text} IN ({list_text.removeprefix('[').removesuffix(']')}))"
    return (
        f"CASE WHEN {list_text} IS NULL THEN NULL WHEN len({list_text}) = 0 THEN FALSE WHEN {text} IS NULL THEN NULL "
        f"WHEN list_contains({list_text}, {text}) THEN TRUE "
        f"WHEN list_count({list_text}) < len({list_text}) THEN NULL ELSE FALSE END"
    )


def _plus(call: Call, arguments: list[str]) -> str:
    left, right = arguments
    one, other = (argument.type for argument in call.arguments)
    if call.type.kind is Kind.LIST:
        joined = f"list_concat({left}, {right})"
        if one.kind is not Kind.LIST:
            joined = f"list_prepend({left}, {right})"
        elif other.kind is not Kind.LIST:
            joined = f"list_append({left}, {right})"
        lists = [text for text, side in ((left, one), (right, other)) if side.kind in (Kind.LIST, Kind.NULL)]
        return f"CASE WHEN {' OR '.join(f'{text} IS NULL' for text in lists)} THEN NULL ELSE {joined} END"
    if call.type.kind is Kind.STRING:
        return f"(CAST({left} AS VARCHAR) || CAST({right} AS VARCHAR))"
    return f"({left} + {right})"


def _divide(call: Call, arguments: list[str]) -> str:
    left, right = arguments
    if call.type.kind is not Kind.INTEGER:
        operator = call.function
        return f"(CAST({left} AS DOUBLE) {operator} CAST({right} AS DOUBLE))"
    operator = "//" if call.function == "/" else "%"
    return f"CASE WHEN {right} = 0 THEN error('division by zero') ELSE {left} {operator} {right} END"


def _index(call: Call, arguments: list[str]) -> str:
    subject, index = arguments
    return f"CASE WHEN {index} >= 0 THEN {subject}[{index} + 1] ELSE {subject}[{index}] END"


def _slice(call: Call, arguments: list[str]) -> str:
    subject, start, end = arguments
    first = (
        "1"
        if start == "NULL"
        else f"CASE WHEN {start} >= 0 THEN {start} + 1 ELSE greatest(len({subject}) + {start}, 0) + 1 END"
    )
    last = f"len({subject})" if end == "NULL" else f"CASE WHEN {end} >= 0 THEN {end} ELSE len({subject}) + {end} END"
    return f"list_slice({subject}, {first}, {last})"


def _map(call: Call, arguments: list[str]) -> str:
    pairs = [f"{key}: {value}" for key, value in zip(arguments[::2], arguments[1::2], strict=True)]
    return "{" + ", ".join(pairs) + "}"


def _length(call: Call, arguments: list[str]) -> str:
    kind = call.arguments[0].type.kind
    if kind is Kind.PATH:
        return f"len({arguments[0]}.edges)"
    return f"length({arguments[0]})" if kind is Kind.STRING else f"len({arguments[0]})"


def _to_integer(call: Call, arguments: list[str]) -> str:
    if call.arguments[0].type.kind is Kind.STRING:
        return f"CAST(trunc(TRY_CAST({arguments[0]} AS DOUBLE)) AS BIGINT)"
    if call.arguments[0].type.kind is Kind.FLOAT:
        return f"TRY_CAST(trunc({arguments[0]}) AS BIGINT)"
    return f"TRY_CAST({arguments[0]} AS BIGINT)"


def _reverse(call: Call, arguments: list[str]) -> str:
    return f"{'list_reverse' if call.arguments[0].type.kind is Kind.LIST else 'reverse'}({arguments[0]})"


def _substring(call: Call, arguments: list[str]) -> str:
    length = f", {arguments[2]}" if len(arguments) == 3 else ""
    return f"substring({arguments[0]}, {arguments[1]} + 1{length})"


def _joined(call: Call, arguments: list[str]) -> str:
    return {"list": "[{}]", "coalesce": "coalesce({})", "range": "generate_series({})", "round": "round({})"}[
        call.function
    ].format(", ".join(arguments))


_TEMPLATES = {
    "or": "({0} OR {1})", "and": "({0} AND {1})", "xor": "(CAST({0} AS BOOLEAN) <> CAST({1} AS BOOLEAN))",
    "not": "(NOT {0})", "is null": "({0} IS NULL)", "is not null": "({0} IS NOT NULL)",
    "-": "({0} - {1})", "*": "({0} * {1})", "negate": "(-{0})",
    "^": "pow(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))", "=~": "regexp_full_match({0}, {1})",
    "field": "struct_extract({0}, {1})",
    "abs": "abs({0})", "sign": "CAST(sign({0}) AS BIGINT)", "ceil": "ceil(CAST({0} AS DOUBLE))",
    "floor": "floor(CAST({0} AS DOUBLE))", "sqrt": "sqrt({0})", "exp": "exp({0})", "log": "ln({0})",
    "log10": "log10({0})", "sin": "sin({0})", "cos": "cos({0})", "tan": "tan({0})", "asin": "asin({0})",
    "acos": "acos({0})", "atan": "atan({0})", "atan2": "atan2({0}, {1})", "pi": "pi()", "e": "exp(1)",
    "rand": "random()", "tofloat": "TRY_CAST({0} AS DOUBLE)", "tostring": "CAST({0} AS VARCHAR)",
    "toboolean": "TRY_CAST({0} AS BOOLEAN)", "date": "CAST({0} AS DATE)", "datetime": "CAST({0} AS TIMESTAMP)",
    "tolower": "lower({0})", "lower": "lower({0})", "toupper": "upper({0})", "upper": "upper({0})",
    "trim": "trim({0})", "ltrim": "ltrim({0})", "rtrim": "rtrim({0})", "replace": "replace({0}, {1}, {2})",
    "left": "left({0}, {1})", "right": "right({0}, {1})", "split": "string_split({0}, {1})", "head": "{0}[1]",
    "last": "{0}[-1]", "tail": "{0}[2:]", "nodes": "{0}.vertices", "relationships": "{0}.edges",
}  # fmt: skip

_SPECIAL: dict[str, Callable[[Call, list[str]], str]] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _compare),
    **dict.fromkeys(("starts with", "ends with", "contains"), _text_test),
    **dict.fromkeys(("/", "%"), _divide),
    **dict.fromkeys(("list", "coalesce", "range", "round"), _joined),
    **dict.fromkeys(("size", "length"), _length),
    "in": _in, "+": _plus, "index": _index, "slice": _slice, "map": _map, "tointeger": _to_integer,
    "reverse": _reverse, "substring": _substring,
}  # fmt: skip

"""The SQL of every operator and function in `planner.functions`, given the SQL of its arguments.

Most are a template; where DuckDB has to be told apart from Cypher there is a writer, in the file of its subject. Both
may speak of an argument as often as they like, `once.py` sees to it that it stands once. Integer division truncates
and divides by zero with an error in both.
"""

from __future__ import annotations

from collections.abc import Callable

from gquery.errors import UnsupportedError
from gquery.executor.relational.growth import write_range, write_replace
from gquery.executor.relational.sql import lists, temporal, texts
from gquery.executor.relational.sql.comparison import comparison
from gquery.executor.relational.sql.numbers import TRUNCATED, arithmetic
from gquery.planner.ir.expr import Call, Kind

Writer = Callable[[Call, list[str]], str]


def write_call(call: Call, arguments: list[str]) -> str:
    """The call as SQL, safe to stand anywhere in an expression."""
    template = _TEMPLATES.get(call.function)
    return template.format(*arguments) if template else _WRITERS[call.function](call, arguments)


def _divide(call: Call, arguments: list[str]) -> str:
    return f"({arguments[0]} {'/' if call.type.kind is Kind.FLOAT else '//'} {arguments[1]})"


def _round(call: Call, arguments: list[str]) -> str:
    """Halves go up; with a precision, away from zero."""
    if len(arguments) == 1:
        below = f"floor({arguments[0]}::DOUBLE)"  # adding a half first would round the sum
        return f"({below} + ({arguments[0]} - {below} >= 0.5)::INTEGER)"
    return f"round({arguments[0]}::DOUBLE, {arguments[1]}::INTEGER)"


def _computed_end(call: Call, arguments: list[str]) -> str:
    raise UnsupportedError(f"gquery has no {call.function}() of a computed relationship", span=call.span)


def _by_kind(**templates: str) -> Writer:
    """A text for each kind of the first argument, `other` for the rest."""

    def write(call: Call, arguments: list[str]) -> str:
        kind = call.arguments[0].type.kind.name.lower()
        return templates.get(kind, templates.get("other", "")).format(*arguments)

    return write


def _joined(template: str) -> Writer:
    return lambda call, arguments: template.format(", ".join(arguments))


_TEMPLATES = {
    "or": "({0} OR {1})", "and": "({0} AND {1})", "xor": "({0}::BOOLEAN <> {1}::BOOLEAN)", "not": "(NOT {0})",
    "is null": "({0} IS NULL)", "is not null": "({0} IS NOT NULL)",
    "=~": "regexp_full_match({0}, {1})", "starts with": "starts_with({0}, {1})",
    "ends with": "ends_with({0}, {1})", "contains": "contains({0}::VARCHAR, {1}::VARCHAR)",
    "^": "pow({0}, {1})", "negate": "(-{0})",
    "abs": "abs({0})", "sign": "sign({0})::BIGINT", "ceil": "ceil({0}::DOUBLE)", "floor": "floor({0}::DOUBLE)",
    "sqrt": "sqrt({0})", "exp": "exp({0})", "log": "ln({0})", "log10": "log10({0})", "sin": "sin({0})",
    "cos": "cos({0})", "tan": "tan({0})", "asin": "asin({0})", "acos": "acos({0})", "atan": "atan({0})",
    "atan2": "atan2({0}, {1})", "pi": "pi()", "e": "exp(1)", "rand": "random()",
    "tolower": "lower({0})", "lower": "lower({0})", "toupper": "upper({0})", "upper": "upper({0})",
    # DuckDB's own trim takes away spaces alone.
    "trim": rf"regexp_replace({{0}}, '^{texts.BLANKS}+|{texts.BLANKS}+$', '', 'g')",
    "ltrim": rf"regexp_replace({{0}}, '^{texts.BLANKS}+', '')",
    "rtrim": rf"regexp_replace({{0}}, '{texts.BLANKS}+$', '')",
    "split": "string_split({0}, {1})", "head": "{0}[1]", "last": "{0}[-1]", "tail": "{0}[2:]",
    "nodes": "struct_extract({0}, 'nodes')", "relationships": "struct_extract({0}, 'relationships')",
    "tofloat": "TRY_CAST({0} AS DOUBLE)",
}  # fmt: skip

_WRITERS: dict[str, Writer] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), comparison),
    **dict.fromkeys("-*%", arithmetic), "in": lists.member, "+": lists.plus, "/": _divide,
    "index": lists.index, "slice": lists.slice_of,
    "map": lists.map_of, "field": lists.field, "range": write_range, "replace": write_replace,
    "list": _joined("[{}]"), "coalesce": _joined("coalesce({})"),
    "round": _round, "startnode": _computed_end, "endnode": _computed_end,
    "left": texts.side, "right": texts.side, "substring": texts.substring,
    "size": _by_kind(string="length({0})", other="len({0})"),
    "length": _by_kind(path="len(struct_extract({0}, 'relationships'))", string="length({0})", other="len({0})"),
    "reverse": _by_kind(string="reverse({0})", other="list_reverse({0})"),
    "tointeger": _by_kind(
        string=texts.TEXT_TO_INTEGER, float=TRUNCATED, decimal=TRUNCATED, other="{0}::BIGINT"
    ),
    "toboolean": _by_kind(string=texts.TEXT_TO_BOOLEAN, other="{0}::BOOLEAN"),
    "tostring": texts.to_string,
    "date": temporal.date_of, "datetime": temporal.datetime_of,
    "read": temporal.read, "read there": temporal.read_there,
}  # fmt: skip

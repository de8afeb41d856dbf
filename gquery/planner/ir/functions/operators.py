"""Operators and aggregates."""

from __future__ import annotations

from gquery.planner.ir.expr import BOOLEAN, FLOAT, INTEGER, Kind
from gquery.planner.ir.functions.rules import (
    ANY,
    LIST,
    NUMBER,
    SCALAR,
    TEMPORAL,
    TEXT,
    TRUTH,
    Function,
    Signature,
    arithmetic,
    fixed,
    interpolated,
    item,
    less,
    list_type,
    membership,
    over,
    path_type,
    percentile,
    plus,
    same,
    slice_type,
    sum_type,
    times,
)
from gquery.planner.ir.types.common_type import list_of

_COMPARISON = Function(fixed(BOOLEAN, ANY, ANY), None)
_TEXT_TEST = fixed(BOOLEAN, TEXT, TEXT)
_LOGIC = fixed(BOOLEAN, TRUTH, TRUTH)
_ARITHMETIC = Signature(2, 2, arithmetic)

TEXT_TESTS = frozenset({"=~", "starts with", "ends with", "contains"})

_JOINED_PATHS = (
    "struct_pack(nodes := list_concat({0}.nodes, {1}.nodes[2:]), "
    "relationships := list_concat({0}.relationships, {1}.relationships))"
)

PERCENTILES = ("percentilecont", "percentiledisc")
"""Calls over what is collected: DuckDB's own aggregates want the share to be a constant."""

OPERATORS: dict[str, Function] = {
    "or": Function(_LOGIC, "({0} OR {1})"), "and": Function(_LOGIC, "({0} AND {1})"),
    "xor": Function(_LOGIC, "({0}::BOOLEAN <> {1}::BOOLEAN)"), "not": Function(fixed(BOOLEAN, TRUTH), "(NOT {0})"),
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), _COMPARISON),
    "is null": Function(fixed(BOOLEAN, ANY), "({0} IS NULL)"),
    "is not null": Function(fixed(BOOLEAN, ANY), "({0} IS NOT NULL)"),
    "in": Function(Signature(2, 2, membership), None),
    "=~": Function(_TEXT_TEST, "regexp_full_match({0}, {1})"),
    "starts with": Function(_TEXT_TEST, "starts_with({0}, {1})"),
    "ends with": Function(_TEXT_TEST, "ends_with({0}, {1})"),
    "contains": Function(_TEXT_TEST, "contains({0}::VARCHAR, {1}::VARCHAR)"),
    "+": Function(Signature(2, 2, plus), None), "-": Function(Signature(2, 2, less), None),
    "*": Function(Signature(2, 2, times), None), "/": Function(Signature(2, 2, over), None),
    "%": Function(_ARITHMETIC, None),
    "^": Function(fixed(FLOAT, NUMBER, NUMBER), "pow({0}, {1})"),
    "negate": Function(Signature(1, 1, arithmetic), {"integer": "(-{0})::BIGINT", "other": "(-{0})"}),
    "list": Function(Signature(0, None, list_type), None), "index": Function(Signature(2, 2, item), None),
    "slice": Function(Signature(3, 3, slice_type), None), "field": Function(fixed(INTEGER, TEMPORAL, TEXT), None),
    "join paths": Function(Signature(2, 2, path_type), _JOINED_PATHS),  # the binder makes it, as it makes this:
    "unwind": Function(Signature(1, 1, item), "unnest({0})"),  # as the item of a projection only: it makes rows
    "moment": Function(Signature(1, 1, lambda _: None), None),  # the binder makes it, with its type
    "calculate": Function(Signature(2, 4, lambda _: None), None),  # likewise: the function of time that comes first
    "truncate": Function(Signature(2, 2, lambda arguments: arguments[1]), None),  # behind date.truncate()
    "look up": Function(Signature(2, 2, item), None),
    "percentiledisc": Function(Signature(2, 2, percentile), None),
    "percentilecont": Function(Signature(2, 2, interpolated), None),
}  # fmt: skip

_TO_FLOAT = fixed(FLOAT, NUMBER)
_ORDERED = SCALAR | TEMPORAL | LIST | {Kind.ANY}

AGGREGATES: dict[str, Signature] = {
    "count": fixed(INTEGER, ANY),
    "sum": Signature(1, 1, sum_type),
    "avg": _TO_FLOAT, "stdev": _TO_FLOAT, "stdevp": _TO_FLOAT,
    "min": same(_ORDERED), "max": same(_ORDERED),
    "collect": Signature(1, 1, lambda arguments: list_of(arguments[0])),
}  # fmt: skip

"""The SQL of every operator and function in `planner/ir/functions`, given the SQL of its arguments.

Most are a template, which stands there; where DuckDB has to be told apart from Cypher there is a writer, in the file of
its subject. Both may speak of an argument as often as they like, `once.py` sees to it that it stands once. Integer
division truncates and divides by zero with an error in both.
"""

from __future__ import annotations

from collections.abc import Callable

from gquery.executor.relational.growth import write_range, write_replace
from gquery.executor.relational.sql import texts
from gquery.executor.relational.sql.comparison import comparison
from gquery.executor.relational.sql.lists import calls as lists
from gquery.executor.relational.sql.numbers import arithmetic, percentile, rounded
from gquery.executor.relational.sql.time import moments
from gquery.executor.relational.sql.time.arithmetic import calculated, truncated
from gquery.executor.relational.sql.values import member
from gquery.executor.relational.sql.words import failing
from gquery.planner.ir.expr import BOOLEAN, Call, Kind
from gquery.planner.ir.functions.calls import find
from gquery.planner.ir.functions.operators import PERCENTILES

Writer = Callable[[Call, list[str]], str]


def write_call(call: Call, arguments: list[str]) -> str:
    """The call as SQL, safe to stand anywhere in an expression."""
    function = find(call.function)
    template = function.sql if function else None
    if template is None:
        return _WRITERS[call.function](call, arguments)
    if not isinstance(template, str):
        kind = call.arguments[0].type.kind.name.lower()
        template = template.get(kind, template["other"])
    return template.format(*arguments)


def _divide(call: Call, arguments: list[str]) -> str:
    if call.type.kind is Kind.TEMPORAL:  # by null
        return calculated(call, arguments)
    return f"({arguments[0]} {'/' if call.type.kind is Kind.FLOAT else '//'} {arguments[1]})"


def _no_element(call: Call, arguments: list[str]) -> str:
    """One of several types that a value may have, which the function does not take."""
    return failing(arguments[0], f"{call.function}() cannot take {call.arguments[0].type}")


def _null_if(call: Call, arguments: list[str]) -> str:
    test = comparison(Call(BOOLEAN, call.span, "=", call.arguments), arguments)
    return f"CASE WHEN {test} THEN NULL ELSE {arguments[0]} END"


def _text(call: Call, arguments: list[str]) -> str:
    """A value that may be a text, null where it is none."""
    return arguments[0] if call.arguments[0].type.kind is Kind.STRING else "NULL"


def _joined(template: str) -> Writer:
    return lambda call, arguments: template.format(", ".join(arguments))


_WRITERS: dict[str, Writer] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">="), comparison),
    **dict.fromkeys("-*%", arithmetic), "in": lists.member, "+": lists.plus, "/": _divide,
    **dict.fromkeys(PERCENTILES, percentile), "look up": lists.look_up,
    "index": lists.index, "slice": lists.slice_of,
    "map": lists.map_of, "field": lists.field, "range": write_range, "replace": write_replace,
    "list": _joined("[{}]"), "coalesce": _joined("coalesce({})"), "nullif": _null_if,
    "round": rounded, **dict.fromkeys(("id", "labels", "type", "keys", "properties"), _no_element), "text": _text,
    "member": member,
    "left": texts.side, "right": texts.side, "substring": texts.substring,
    "tostring": texts.to_string,
    "moment": moments.moment, "truncate": truncated,
    "localtime": moments.clock_of, "localdatetime": moments.local_datetime_of,
    "date": moments.date_of, "datetime": moments.datetime_of,
    "read": moments.read, "read there": moments.read_there,
}  # fmt: skip

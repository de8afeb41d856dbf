"""Functions of times that DuckDB does not have, as functions of our own: exact, a value at a time. Texts in the form in
which most are written are left to DuckDB, which reads them far faster."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from gquery.errors import ExecutionError
from gquery.executor.relational.database.functions import Function
from gquery.executor.relational.gather import plain_type
from gquery.executor.relational.sql.values import sql_type
from gquery.executor.relational.sql.words import literal
from gquery.planner.ir.expr import Call, Constant, Expression, Kind
from gquery.values.time_columns import column_of, exact_values
from gquery.values.time_functions import SCALINGS, calculated

_DAY = r"(1[7-9]\d\d|2[01]\d\d|22[0-5]\d)-\d\d-\d\d"  # of the years that nanoseconds reach
_CLOCK = r"\d\d:\d\d(:\d\d(\.\d{1,9})?)?"
_PLAIN = {
    "date": (r"\d{4}-\d\d-\d\d", "DATE"), "localtime": (_CLOCK, "TIME_NS"),
    "localdatetime": (f"{_DAY}[T ]{_CLOCK}", "TIMESTAMP_NS"), "datetime": (f"{_DAY}[T ]{_CLOCK}Z?", "TIMESTAMPTZ_NS"),
}  # fmt: skip
"""By function: texts that DuckDB reads as we do, and the type that it reads them as."""


def is_calculated(call: Call) -> bool:
    """Whether it is one of our own functions that gives the value: what is left of a month or a day, where a duration
    is multiplied or divided, has more digits than SQL's floats."""
    if call.function not in SCALINGS:
        return call.function == "calculate"
    kinds = {each.type.kind for each in call.arguments}
    whole = call.function == "*" and Kind.INTEGER in kinds
    return call.type.kind is Kind.TEMPORAL and Kind.NULL not in kinds and not whole


def asked(call: Call) -> tuple[str, tuple[Expression, ...]]:
    """The name of the function, and its arguments."""
    if call.function in SCALINGS:
        return call.function, call.arguments
    name, *arguments = call.arguments
    assert isinstance(name, Constant)
    return str(name.value), tuple(arguments)


def calculation(call: Call) -> Function:
    """The function of a struct of the arguments that gives what a call asks for."""
    name, arguments = asked(call)
    takes = ", ".join(f"a{place} {sql_type(each.type)}" for place, each in enumerate(arguments))
    types = [plain_type(each.type) for each in arguments]
    calculate = partial(_calculated, name, types, plain_type(call.type))
    return Function(f" {name}", f"STRUCT({takes})", sql_type(call.type), calculate)


def with_plain_texts(call: Call, arguments: list[str], function: str) -> str:
    """A call of the function, but for texts that DuckDB reads."""
    name, given = asked(call)
    calculated = f"{function}({{{', '.join(f'a{place}: {text}' for place, text in enumerate(arguments))}}})"
    plain = _PLAIN.get(name)
    if plain is None or given[0].type.kind is not Kind.STRING:
        return calculated
    (text,), (form, read) = arguments, plain
    return f"CASE WHEN regexp_full_match({text}, {literal(form)}) THEN {text}::{read} ELSE {calculated} END"


def _calculated(name: str, types: list[pa.DataType], wanted: pa.DataType, rows: pa.StructArray) -> pa.Array:
    columns = [exact_values(rows.field(index), type_) for index, type_ in enumerate(types)]
    try:
        return column_of([calculated(name, list(row)) for row in zip(*columns, strict=True)], wanted)
    except (ValueError, OverflowError) as error:
        raise ExecutionError(str(error)) from None

"""One query with parameters as a table macro, for lateral calls: `FROM people p, friends_of(p.name)`."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.relational.sql.words import quoted
from gquery.integrations.duckdb import shadow
from gquery.integrations.duckdb.portable import conform, portable_schema
from gquery.integrations.duckdb.registry import Graph

Answer = Callable[[Mapping[str, Any]], Iterable[pa.RecordBatch]]

# Python type of a parameter: DuckDB's type, and a value to bind the query with
_TYPES: dict[type, tuple[str, Any]] = {
    str: ("VARCHAR", ""),
    int: ("BIGINT", 0),
    float: ("DOUBLE", 0.0),
    bool: ("BOOLEAN", False),
    datetime.date: ("DATE", datetime.date(1970, 1, 1)),
    datetime.datetime: ("TIMESTAMP", datetime.datetime(1970, 1, 1)),
}


def table_macro(
    con: duckdb.DuckDBPyConnection, graph: Graph, name: str, query: str, parameters: Mapping[str, type]
) -> None:
    """Defines the table macro `name(...)` that answers `query`; it takes the query's parameters in the order given.

    parameters: the Python type of each `$name` (str, int, float, bool, date or datetime). The columns are settled here,
    once; every row of a lateral call runs the query again. The macro belongs to this connection, not to the database.
    Raises what `graph.query` raises, and BindError for another type or a name that cannot be used.
    """
    check_macro(con, name, parameters)
    sample = {parameter: _known(parameter, kind)[1] for parameter, kind in parameters.items()}
    schema = portable_schema(graph.query(query, sample).schema)

    def answer(given: Mapping[str, Any]) -> Iterable[pa.RecordBatch]:
        return (conform(batch, schema) for batch in graph.query(query, given).reader())

    types = {parameter: _known(parameter, kind)[0] for parameter, kind in parameters.items()}
    define_macro(con, name, Signature(types, {}, schema), answer)


class Signature(NamedTuple):
    """What a macro takes and gives. types: DuckDB's, by parameter; defaults: as SQL, of those that may be left out."""

    types: Mapping[str, str]
    defaults: Mapping[str, str]
    schema: pa.Schema


def define_macro(con: duckdb.DuckDBPyConnection, name: str, signature: Signature, answer: Answer) -> None:
    """Defines the table macro `name(...)` over a function that gives the rows of one call, from its arguments."""
    function = f"_{name}_rows"
    _forget(con, function)
    answer_type = pa.list_(pa.struct(list(signature.schema)))
    define: Any = con.create_function
    define(
        function,
        _rows_function(answer, list(signature.types), answer_type),
        ["BOOLEAN", *signature.types.values()],  # the first for calls without any, which have as many rows
        shadow.sql_type(answer_type),
        type="arrow",
        null_handling="special",
        side_effects=True,  # otherwise EXPLAIN runs it
    )
    names = [quoted(parameter) for parameter in signature.types]
    taken = [
        f"{name} := {signature.defaults[parameter]}" if parameter in signature.defaults else name
        for name, parameter in zip(names, signature.types, strict=True)
    ]
    rows = f"unnest({quoted(function)}({', '.join(['true', *names])}), max_depth := 2)"
    con.execute(f"CREATE OR REPLACE TEMP MACRO {quoted(name)}({', '.join(taken)}) AS TABLE SELECT {rows}")


def check_macro(con: object, name: object, parameters: object) -> None:
    """Raises BindError for what is no connection, no name or no parameters."""
    if not isinstance(con, duckdb.DuckDBPyConnection):
        raise BindError(f"a macro is made on a DuckDB connection, not on a {type(con).__name__}")
    if not isinstance(parameters, Mapping):
        raise BindError("the parameters of a macro are types by name", hint="write {'who': int}")
    for given in (name, *parameters):
        if not isinstance(given, str) or not given.isidentifier():
            raise BindError(f"{given!r} is no name for a macro or its parameter", hint="use letters, digits and _")


def _known(parameter: str, kind: type) -> tuple[str, Any]:
    if kind not in _TYPES:
        raise BindError(
            f"parameter `{parameter}` cannot be of type {getattr(kind, '__name__', kind)}",
            hint="the types are " + ", ".join(known.__name__ for known in _TYPES),
        )
    return _TYPES[kind]


def _forget(con: duckdb.DuckDBPyConnection, function: str) -> None:
    known = con.execute("SELECT count(*) FROM duckdb_functions() WHERE function_name = ?", [function]).fetchall()
    if known[0][0]:
        con.remove_function(function)


def _rows_function(answer: Answer, names: list[str], answer_type: pa.ListType) -> Callable[..., pa.Array]:
    def rows(*columns: Any) -> pa.Array:
        """A list of answer rows for every row of arguments."""
        offsets, answers = [0], [pa.nulls(0, answer_type.value_type)]
        for _, *values in zip(*(column.to_pylist() for column in columns), strict=True):
            batches = [batch.to_struct_array() for batch in answer(dict(zip(names, values, strict=True)))]
            answers.extend(batches)
            offsets.append(offsets[-1] + sum(map(len, batches)))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.concat_arrays(answers), type=answer_type)

    # DuckDB counts the parameters: `*columns` would be one.
    columns = [Parameter(f"_{place}", Parameter.POSITIONAL_ONLY) for place, _ in enumerate(["", *names])]
    rows.__signature__ = inspect.Signature(columns)  # type: ignore[attr-defined]
    return rows

"""A private DuckDB that says how it would name Arrow types, read type names, and write rows as text.

It sees nothing but the rows it is given: no file, no network, no variable of Python's. No text of a user's is a
statement here; the name of a type is read by DuckDB's type parser, which runs nothing.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import duckdb
import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.relational.database.private import private_duckdb


@functools.cache
def _database(process: int) -> duckdb.DuckDBPyConnection:
    return private_duckdb("", threads=1)


def _cursor() -> duckdb.DuckDBPyConnection:
    return _database(os.getpid()).cursor()  # a forked process has one of its own


def sql_type(data_type: pa.DataType) -> str:
    """The DuckDB type of an Arrow type, as SQL."""
    with _cursor() as cursor:
        empty = pa.Table.from_batches([], pa.schema([("value", data_type)]))
        return str(cursor.from_arrow(empty).types[0])


def type_named(name: str) -> Any:
    """The type (a DuckDBPyType) that DuckDB's `typeof` gave this name. Raises BindError when there is none."""
    try:
        with _cursor() as cursor:
            return cursor.sqltype(name)
    except duckdb.Error as error:
        raise BindError("`params` has a type that gquery does not know") from error


def json_rows(batch: pa.RecordBatch, row_type: str) -> list[str]:
    """Every row as the text of a JSON object. row_type: a struct of the columns, by `sql_type`."""
    with _cursor() as cursor:
        answer: Any = cursor.from_arrow(pa.Table.from_batches([batch]))
        rows = answer.query("answer", f"SELECT to_json(CAST(answer AS {row_type}))::VARCHAR FROM answer")
        texts: list[str] = rows.to_arrow_table().column(0).to_pylist()
        return texts

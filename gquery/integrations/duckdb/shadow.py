"""A private DuckDB that says how it would name and write Arrow types and rows."""

from __future__ import annotations

import functools
from typing import Any

import duckdb
import pyarrow as pa


@functools.cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def sql_type(data_type: pa.DataType) -> str:
    """The DuckDB type of an Arrow type, as SQL."""
    table = pa.table({"value": pa.array([], data_type)})
    return str(_database().cursor().from_arrow(table).types[0])


def json_rows(reader: pa.RecordBatchReader) -> pa.ChunkedArray:
    """Every row as the text of a JSON object."""
    rows = _database().cursor().from_arrow(reader)
    answer: Any = rows.query("answer", "SELECT to_json(answer)::VARCHAR AS row FROM answer")
    return answer.to_arrow_table()["row"]


def from_json(text: str, type_name: str) -> object:
    """The Python value of JSON text that DuckDB made of a value of the type."""
    rows = _database().cursor().execute(f"SELECT CAST(?::JSON AS {type_name})", [text]).fetchall()
    return rows[0][0]

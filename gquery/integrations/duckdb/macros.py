"""`gquery(...)` without the extension: a table macro for connections that someone else opened.

DuckDB's table function `query(text)` runs SQL that is known when the statement is bound. The macro lets a Python
function write it: a SELECT whose columns and types are those of the graph query, over a function that runs the query
and returns its rows as JSON. It takes the same calls as the native function; the whole answer is held in memory, and
DuckDB hands nothing down into it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from gquery.integrations.duckdb import shadow
from gquery.integrations.duckdb.parameters import parameters_of
from gquery.integrations.duckdb.portable import conform, portable_schema
from gquery.integrations.duckdb.registry import Registry, Result, accept

_MACROS = """
CREATE OR REPLACE TEMP MACRO gquery_attach(name, token) AS TABLE SELECT _gquery_attach(name, token) AS graph;
CREATE OR REPLACE TEMP MACRO gquery(graph, query, params := NULL) AS TABLE
    SELECT * FROM query(_gquery_sql(graph, query, to_json(params)::VARCHAR, typeof(params)));
"""


def define(con: duckdb.DuckDBPyConnection) -> None:
    """Defines the macros on this connection; the functions under them are the database's, as are the graphs."""
    known = con.execute("SELECT count(*) FROM duckdb_functions() WHERE function_name = '_gquery_attach'").fetchall()
    if not known[0][0]:
        _Functions().register(con)
    con.execute(_MACROS)


class _Functions:
    """What the macros call, over the graphs of one database."""

    def __init__(self) -> None:
        self._registry = Registry()

    def register(self, con: duckdb.DuckDBPyConnection) -> None:
        four: Any = ["VARCHAR"] * 4
        define: Any = partial(con.create_function, null_handling="special")
        define("_gquery_attach", self.attach, ["VARCHAR", "BIGINT"], "VARCHAR", side_effects=True)
        define("_gquery_sql", self.sql, four, "VARCHAR")  # pure: its call is folded into text
        define("_gquery_rows", self.rows, four, "VARCHAR[]", type="arrow", side_effects=True)

    def attach(self, name: str, token: int) -> str:
        self._registry.add(name, accept(token))
        return name

    def sql(self, graph: str, query: str, params: str | None, params_type: str) -> str:
        schema = portable_schema(self._answer(graph, query, params, params_type).schema)
        call = ", ".join(_literal(value) for value in (graph, query, params, params_type))
        row_type = shadow.sql_type(pa.struct(list(schema)))
        columns = ", ".join(f"row.{_quoted(name)}" for name in schema.names)
        return f"SELECT {columns} FROM (SELECT CAST(unnest(_gquery_rows({call}))::JSON AS {row_type}) AS row)"

    def rows(self, graphs: Any, queries: Any, params: Any, types: Any) -> pa.Array:
        """One list of rows a call; called with constants, so with one call."""
        calls = zip(*(column.to_pylist() for column in (graphs, queries, params, types)), strict=True)
        return pa.array([self._rows(*call) for call in calls], pa.list_(pa.string()))

    def _rows(self, graph: str, query: str, params: str | None, params_type: str) -> list[str]:
        answer = self._answer(graph, query, params, params_type)
        schema = portable_schema(answer.schema)
        batches = (conform(batch, schema) for batch in answer.reader())
        rows: list[str] = shadow.json_rows(pa.RecordBatchReader.from_batches(schema, batches)).to_pylist()
        return rows

    def _answer(self, graph: str, query: str, params: str | None, params_type: str) -> Result:
        given = params if params is None else shadow.from_json(params, params_type)
        return self._registry.find(graph).query(query, parameters_of(given))


def _literal(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

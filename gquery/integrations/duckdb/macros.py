"""`gquery(...)` without the extension: a table macro for connections that someone else opened.

DuckDB's table function `query(text)` runs SQL that is known when the statement is bound. The macro lets a Python
function write it: a SELECT whose columns and types are those of the graph query, over a function that runs the query
and returns its rows as JSON. It takes the same calls as the native function; the whole answer is held in memory, and
DuckDB hands nothing down into it.

Of the user's own texts only the names of columns and fields get into that SQL, quoted. The graph's name, the query and
the parameters travel through it in base64.
"""

from __future__ import annotations

import base64
import json
import threading
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from gquery.errors import BindError
from gquery.executor.relational.sql.words import quoted
from gquery.integrations.duckdb import ctrl_c, shadow
from gquery.integrations.duckdb.interruption import watcher
from gquery.integrations.duckdb.parameters import from_json, parameters_of
from gquery.integrations.duckdb.portable import conform, portable_schema, written_schema
from gquery.integrations.duckdb.registry import Registry, Result, accept

_MACROS = """
CREATE OR REPLACE TEMP MACRO gquery_attach(name, token) AS TABLE SELECT _gquery_attach(name, token) AS graph;
CREATE OR REPLACE TEMP MACRO gquery(graph, query, params := NULL) AS TABLE
    SELECT * FROM query(_gquery_sql(graph, query, to_json(params)::VARCHAR, typeof(params)));
"""


def define(con: duckdb.DuckDBPyConnection) -> None:
    """Defines the macros on this connection; the functions under them are the database's, as are the graphs."""
    watcher.install()
    watcher.interrupts(con)
    known = con.execute("SELECT count(*) FROM duckdb_functions() WHERE function_name = '_gquery_attach'").fetchall()
    if not known[0][0]:
        _Functions().register(con)
    con.execute(_MACROS)


class _Functions:
    """What the macros call, over the graphs of one database. Anyone can call them in SQL, with any text."""

    def __init__(self) -> None:
        self._registry = Registry()

    def register(self, con: duckdb.DuckDBPyConnection) -> None:
        define: Any = partial(con.create_function, null_handling="special")
        define("_gquery_attach", self.attach, ["VARCHAR", "BIGINT"], "VARCHAR", side_effects=True)
        define("_gquery_sql", self.sql, ["VARCHAR"] * 4, "VARCHAR")  # pure: its call is folded into text
        define("_gquery_rows", self.rows, ["VARCHAR"], "VARCHAR[]", side_effects=True)

    @ctrl_c.entry
    def attach(self, name: str, token: int) -> str:
        self._registry.add(name, accept(token))
        return name

    @ctrl_c.entry
    def sql(self, graph: str | None, query: str | None, params: str | None, params_type: str | None) -> str:
        on_main = threading.current_thread() is threading.main_thread()
        schema = portable_schema(self._answer(graph, query, params, params_type).schema)
        row_type, written = (shadow.sql_type(_row(given)) for given in (schema, written_schema(schema)))
        if "\0" in row_type:
            raise BindError("a column or a field has the character NUL in its name", hint="give it another one with AS")
        columns = ", ".join(f"row.{quoted(name)}" for name in schema.names)
        call = json.dumps([graph, query, params, params_type, on_main])
        rows = f"unnest(_gquery_rows('{base64.b64encode(call.encode()).decode()}'))"
        return f"SELECT {columns} FROM (SELECT CAST(CAST({rows}::JSON AS {written}) AS {row_type}) AS row)"

    @ctrl_c.entry
    def rows(self, call: str) -> list[str]:
        try:
            *asked, on_main = json.loads(base64.b64decode(call))
            answer = self._answer(*asked)
        except (ValueError, TypeError) as error:
            raise BindError("_gquery_rows is called by gquery(...) alone") from error
        schema = portable_schema(answer.schema)
        row_type = shadow.sql_type(_row(written_schema(schema)))
        rows: list[str] = []
        with watcher.stopping(answer.cancel, on_main is True):
            for batch in answer.reader():  # not as one stream: Arrow would put our errors into tracebacks
                rows += shadow.json_rows(conform(batch, schema), row_type)
        return rows

    def _answer(self, graph: str | None, query: str | None, params: str | None, params_type: str | None) -> Result:
        if graph is None or query is None:
            raise BindError("gquery() needs the name of a graph and the text of a query, not NULL")
        given: object = None
        if params is not None and params_type is not None:
            given = params if params_type == "JSON" else from_json(params, shadow.type_named(params_type))
        return self._registry.find(graph).query(query, parameters_of(given))


def _row(schema: pa.Schema) -> pa.DataType:
    return pa.struct(list(schema))

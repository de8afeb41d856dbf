"""Vertices and edges from tables and queries of a DuckDB connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gquery.errors import LoadError

if TYPE_CHECKING:
    import duckdb

_QUERY = re.compile(r"\s*(select|with|from|values|table|pivot|unpivot|summarize|\()\b", re.IGNORECASE)


def check_connection(connection: Any) -> None:
    """Raises LoadError unless this is a connection of DuckDB."""
    if not (hasattr(connection, "sql") and hasattr(connection, "interrupt")):
        hint = "give what duckdb.connect() gives"
        raise LoadError(f"a {type(connection).__name__} is no DuckDB connection", hint=hint)


def fetch_all(connection: duckdb.DuckDBPyConnection, sources: Any, what: str) -> dict[Any, Any]:
    """Arrow tables for names of tables and for queries; what is no text (a relation, say) stays as it is."""
    if not isinstance(sources, Mapping):
        raise LoadError(f"`{what}` is a {type(sources).__name__}, not a dict of tables and queries")
    return {key: _fetch(connection, source) if isinstance(source, str) else source for key, source in sources.items()}


def _fetch(connection: duckdb.DuckDBPyConnection, source: str) -> pa.Table:
    """Raises LoadError with DuckDB's own words when it refuses."""
    import duckdb

    text = source.strip().rstrip(";")
    query = text if _QUERY.match(text) else f"SELECT * FROM {_quoted(text)}"
    try:
        return connection.sql(query).to_arrow_table()
    except (duckdb.Error, UnicodeError, RuntimeError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise LoadError(
            f"DuckDB cannot read `{source}`: {lines[0]}",
            hint=next((line.strip() for line in lines if "did you mean" in line.lower()), None),
        ) from None
    except AttributeError:  # a statement without an answer has no relation
        raise LoadError(f"DuckDB gives no table for `{source}`", hint="name a table or write a SELECT") from None


def _quoted(name: str) -> str:
    """A table name, perhaps with its schema, as an identifier; what is quoted already stays."""
    if '"' in name:
        return name
    return ".".join(f'"{part}"' for part in name.split("."))

"""Vertices and edges from tables and queries of a DuckDB connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from gquery.errors import LoadError

if TYPE_CHECKING:
    import duckdb

Key = TypeVar("Key")

_QUERY = re.compile(r"\s*(select|with|from|values|table|pivot|unpivot|summarize|\()\b", re.IGNORECASE)


def fetch_all(connection: duckdb.DuckDBPyConnection, sources: Mapping[Key, Any]) -> dict[Key, Any]:
    """Arrow tables for names of tables and for queries; what is no text (a relation, say) stays as it is."""
    return {key: _fetch(connection, source) if isinstance(source, str) else source for key, source in sources.items()}


def _fetch(connection: duckdb.DuckDBPyConnection, source: str) -> pa.Table:
    """Raises LoadError with DuckDB's own words when it refuses."""
    import duckdb

    text = source.strip().rstrip(";")
    query = text if _QUERY.match(text) else f"SELECT * FROM {_quoted(text)}"
    try:
        return connection.sql(query).to_arrow_table()
    except duckdb.Error as error:
        lines = str(error).splitlines()
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

"""Vertices and edges from tables and queries of a DuckDB connection."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gquery.errors import LoadError

if TYPE_CHECKING:
    import duckdb

_WRITTEN = {
    "bit": "{0}::VARCHAR",
    "time with time zone": "CASE WHEN {0} IS NOT NULL THEN "
    "{{'time': {0}::TIME, 'offset_seconds': extract('timezone' FROM {0})::INTEGER}} END",
}
"""Types of which DuckDB hands something else to Arrow, padded bytes and times without their offset, and what keeps them
whole."""

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
        return whole(connection.sql(query)).to_arrow_table()
    except (duckdb.Error, UnicodeError, RuntimeError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        raise LoadError(
            f"DuckDB cannot read `{source}`: {lines[0]}",
            hint=next((line.strip() for line in lines if "did you mean" in line.lower()), None),
        ) from None
    except AttributeError:  # a statement without an answer has no relation
        raise LoadError(f"DuckDB gives no table for `{source}`", hint="name a table or write a SELECT") from None


def whole(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation, with nothing that gets lost on its way to Arrow. Raises LoadError for what no Arrow type holds."""
    replaced = []
    for name, type_ in zip(relation.columns, relation.types, strict=True):
        own = '"' + name.replace('"', '""') + '"'
        if type_.id in _WRITTEN:
            replaced.append(f"{_WRITTEN[type_.id].format(own)} AS {own}")
        elif _is_lost(type_):
            raise LoadError(f"a column of type {type_} of DuckDB cannot be a property", column=name)
    return relation.project(f"* REPLACE ({', '.join(replaced)})") if replaced else relation


def _is_lost(type_: Any) -> bool:
    """Whether values of a type hold some that Arrow has no type for."""
    if type_.id in ("variant", *_WRITTEN):
        return True
    if type_.id not in ("list", "array", "struct", "map", "union"):
        return False
    return any(_is_lost(child) for _, child in type_.children if hasattr(child, "id"))


def _quoted(name: str) -> str:
    """A table name, perhaps with its schema, as an identifier; what is quoted already stays."""
    if '"' in name:
        return name
    return ".".join(f'"{part}"' for part in name.split("."))

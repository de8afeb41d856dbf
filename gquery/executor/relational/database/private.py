"""Instances of DuckDB of our own: locked, and without a way to files, to the network or to variables of Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

_DIRECT_BITS = 18  # of keys that are codes: their groups are an array, of some MB for each thread
_DEEPEST = 2_000  # levels of an expression; one of 200, the deepest that is parsed, becomes many times as many


def private_duckdb(folder: str, **config: Any) -> duckdb.DuckDBPyConnection:
    """An instance that reads and writes nothing but its folder, for what does not fit into memory; without one where
    the folder is an empty text."""
    import duckdb

    config |= {
        "temp_directory": folder,
        "python_enable_replacements": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "max_expression_depth": _DEEPEST,
        "perfect_ht_threshold": _DIRECT_BITS,
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET GLOBAL TimeZone = 'UTC'")  # not this session's alone: its cursors are sessions too
    if "memory_limit" in config:
        connection.execute("SET streaming_buffer_size = '1MB'")  # of the answer, ready for who reads it
    connection.execute("SET enable_external_access = false")  # as an option it would forbid the folder too
    connection.execute("SET lock_configuration = true")
    return connection

"""Network motifs as a table macro: `SELECT pattern, z FROM motifs(4, random := 100) WHERE p_adjusted < 0.05`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from gquery.integrations.duckdb.lateral import Signature, check_macro, define_macro

if TYPE_CHECKING:
    from gquery.session import Graph

_TYPES = {
    "k": "BIGINT", "directed": "BOOLEAN", "random": "BIGINT", "model": "VARCHAR", "switches": "BIGINT",
    "seed": "BIGINT", "labels": "VARCHAR[]", "types": "VARCHAR[]", "by_label": "BOOLEAN", "by_type": "BOOLEAN",
}  # fmt: skip
_COLUMNS = pa.schema([
    ("class", pa.string()), ("labels", pa.list_(pa.string())), ("igraph", pa.int64()), ("mfinder", pa.int64()),
    ("pattern", pa.string()), ("count", pa.int64()), ("concentration", pa.float64()), ("mean", pa.float64()),
    ("deviation", pa.float64()), ("z", pa.float64()), ("p", pa.float64()), ("p_adjusted", pa.float64()),
])  # fmt: skip


def motif_macro(con: duckdb.DuckDBPyConnection, graph: Graph, name: str) -> None:
    """Defines the table macro `name(k, random := 1000, ...)` that gives the motifs of a graph; its arguments are those
    of `gquery.motifs`, and NULL is what these are by default.

    The columns are those of `Motifs.table`, all of them; what does not apply is NULL. The macro belongs to this
    connection, not to the database. Raises BindError for a name that cannot be used.
    """
    check_macro(con, name, _TYPES)

    def answer(given: Mapping[str, Any]) -> Iterable[pa.RecordBatch]:
        from gquery.motif.discovery import motifs

        options = {option: value for option, value in given.items() if value is not None and option != "k"}
        table = motifs(graph, given["k"], **options).table
        known = dict(zip(table.column_names, table.columns, strict=True))
        columns = [known.get(each.name, pa.nulls(len(table), each.type)) for each in _COLUMNS]
        yield from pa.table(columns, schema=_COLUMNS).to_batches()

    define_macro(con, name, Signature(_TYPES, dict.fromkeys(list(_TYPES)[1:], "NULL"), _COLUMNS), answer)

"""gquery inside DuckDB: `SELECT ... FROM gquery('social', 'MATCH ... RETURN ...')`.

`connect` opens a connection with the native table function, `attach` puts a graph under a name on any connection,
`dataset` gives one query as a table with filter and projection pushdown, `table_macro` as a function for lateral calls;
`motif_macro` gives the motifs of a graph.
"""

from gquery.integrations.duckdb.connection import attach, connect
from gquery.integrations.duckdb.dataset import dataset
from gquery.integrations.duckdb.lateral import table_macro
from gquery.integrations.duckdb.motif_macro import motif_macro

__all__ = ["attach", "connect", "dataset", "motif_macro", "table_macro"]

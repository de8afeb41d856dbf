"""gquery against an oracle and against DuckDB, over random labelled property multigraphs."""

"""Statements inside DuckDB: private instances, streams under a control, errors as ours."""

"""Bound expressions as SQL of DuckDB."""

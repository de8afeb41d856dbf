"""What a projection makes of few rows, computed by Arrow where a DuckDB statement would take longer to begin with."""

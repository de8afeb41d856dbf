"""Rewrites the query graph: fewer vertices, or others than the user wrote."""

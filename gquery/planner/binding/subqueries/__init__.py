"""Queries and patterns inside of clauses: what is asked of them, and procedures, which are written out as such."""

"""Relationships of variable length: MATCH clauses that have some, as clauses that have none."""

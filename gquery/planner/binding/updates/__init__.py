"""Clauses that change the graph: statements cut into stages, each of which reads first and changes then."""

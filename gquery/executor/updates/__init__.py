"""Clauses that change the graph: from rows, all of which are read, to one batch of changes."""

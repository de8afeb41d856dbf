"""Random graphs of mixed types and random queries, gquery against `tests.evaluator`."""

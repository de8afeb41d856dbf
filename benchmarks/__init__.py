"""Benchmarks of gquery, and what they share with its tests."""

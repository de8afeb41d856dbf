"""Patterns that stand while a graph changes: what each change adds to their matches, and what it takes away."""

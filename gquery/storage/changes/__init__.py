"""Snapshots that are made of others: a batch of changes, and what a graph is after it."""

"""Graphs that change: a store, and what it tells of each version."""

from gquery.store.store import Commit, Store

__all__ = ["Commit", "Store"]

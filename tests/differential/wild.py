"""A graph of which everything that is estimated is wrong."""

from __future__ import annotations

from random import Random

from gquery.storage.counted.counts import Between, Counts, DegreeSums, TypeCounts
from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction
from gquery.storage.statistics import Statistics

_DIRECTIONS: tuple[Direction, ...] = ("out", "in", "both")


def with_wild_estimates(snapshot: Snapshot, random: Random) -> Snapshot:
    """The same graph, whose statistics are random numbers that do not even fit together."""
    tables, types = range(len(snapshot.vertex_tables)), snapshot.schema.types
    counts = Counts(tuple(_number(random) for _ in tables), {name: _edges(tables, random) for name in types})
    wild = Snapshot(snapshot.vertex_tables, snapshot.edges, snapshot.vertex_numbers)
    wild.__dict__["statistics"] = Statistics(counts)
    return wild


def _edges(tables: range, random: Random) -> TypeCounts:
    between = [Between(a, b, _number(random), _number(random)) for a in tables for b in tables if random.random() < 0.6]
    degrees = [
        DegreeSums(table, direction, *(_number(random) for _ in range(4)))
        for table in tables
        for direction in _DIRECTIONS
        if random.random() < 0.8
    ]
    return TypeCounts(tuple(between), tuple(degrees), random.random() < 0.5, random.random() < 0.5)


def _number(random: Random) -> int:
    return random.choice([0, 1, 2, random.randrange(100), random.randrange(10**6), random.randrange(2**62)])

"""Statistics against plain counting, and statistics written down as literals."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from gquery.storage.graph import Snapshot
from gquery.storage.schema import Direction
from gquery.storage.statistics import (
    Between,
    Degree,
    DegreeSums,
    Statistics,
    TypeStatistics,
    from_json,
    statistics_of,
    to_json,
)
from gquery.storage.tables import EdgeTable, VertexTable
from tests.storage.snapshots import DIRECTIONS, rich_snapshot

TYPES = ("X", "Y")


def random_snapshot(seed: int) -> Snapshot:
    """Up to 4 small vertex tables, some empty; edges anywhere, with loops and parallels in most."""
    chance = random.Random(seed)
    counts = [chance.choice([0, 1, 3, 6]) for _ in range(chance.randint(1, 4))]
    tables = [
        VertexTable.from_arrow((f"L{number}",), pa.chunked_array([range(count)], pa.int64()), pa.table({}), None)
        for number, count in enumerate(counts)
    ]
    edges = []
    for type in chance.choices(TYPES, k=chance.randint(1, 3)):
        size = chance.choice([0, 1, 4, 15]) if sum(counts) else 0
        ends = np.array([chance.choices(range(sum(counts) or 1), k=size) for _ in range(2)], np.int32)
        edges.append(EdgeTable.from_arrow(type, ends[0], ends[1], pa.table({})))
    return Snapshot(tables, edges)


class Counted:
    """The same numbers, one edge at a time."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.counts = [table.count for table in snapshot.vertex_tables]
        self.table = [number for number, count in enumerate(self.counts) for _ in range(count)]
        self.edges = [
            (table.type, source, target)
            for table in snapshot.edge_tables
            for source, target in zip(*(end.tolist() for end in table.ends), strict=True)
        ]

    def degrees(self, types: tuple[str, ...], direction: Direction, tables: tuple[int, ...]) -> list[int]:
        degrees: Counter[int] = Counter()
        for type, source, target in self.edges:
            if type in types:
                degrees.update({"out": [source], "in": [target], "both": {source, target}}[direction])
        return [degrees[vertex] for vertex, table in enumerate(self.table) if table in tables]

    def rows_repeat(self, types: tuple[str, ...], direction: Direction) -> bool:
        pairs = [
            (source, target) if direction != "both" else (min(source, target), max(source, target))
            for type, source, target in self.edges
            if type in types
        ]
        return len(set(pairs)) < len(pairs)


@pytest.mark.parametrize("seed", range(60))
def test_against_counting(seed: int) -> None:
    snapshot = random_snapshot(seed)
    counted, statistics = Counted(snapshot), statistics_of(snapshot)
    tables = range(len(counted.counts))
    for types in (("X",), ("Y",), TYPES, ()):
        for source, target in product(tables, tables):
            expected = sum(
                type in types and (counted.table[a], counted.table[b]) == (source, target)
                for type, a, b in counted.edges
            )
            assert statistics.edges_between(types, (source,), (target,)) == expected
        assert statistics.loops(types) == sum(type in types and a == b for type, a, b in counted.edges)
        for direction, chosen in product(DIRECTIONS, [(0,), tuple(tables), tuple(tables)[1:]]):
            degrees = counted.degrees(types, direction, chosen)
            found = statistics.degree(types, direction, chosen)
            assert statistics.vertex_count(chosen) == len(degrees)
            assert found.mean == pytest.approx(sum(degrees) / max(1, len(degrees)))
            assert found.maximum >= max(degrees, default=0)
            if len(types) == 1:
                squares = sum(degree**2 for degree in degrees)
                assert found.biased == pytest.approx(squares / max(1, sum(degrees)))
                assert found.maximum == max(degrees, default=0)
                assert found.with_any == sum(degree > 0 for degree in degrees)
        for direction in DIRECTIONS:
            simple, repeats = statistics.simple(types, direction), counted.rows_repeat(types, direction)
            assert simple != repeats if len(types) < 2 else not (simple and repeats)
            assert simple <= snapshot.adjacency(types, direction).simple


def test_several_types_are_taken_as_independent() -> None:
    x = TypeStatistics((Between(0, 0, 10),), (DegreeSums(0, "out", 5, 10, 20, 2),))
    y = TypeStatistics((Between(0, 1, 30),), (DegreeSums(0, "out", 10, 30, 90, 3),))
    statistics = Statistics((10, 4), {"X": x, "Y": y})
    assert statistics.degree(("X",), "out", (0,)) == Degree(mean=1.0, biased=2.0, maximum=2, with_any=5)
    assert statistics.degree(("X", "Y"), "out", (0,)) == Degree(mean=4.0, biased=170 / 40, maximum=5, with_any=10)
    assert statistics.degree(("X", "Y"), "out", (1,)) == Degree()
    assert statistics.simple(("X", "Y"), "out")
    assert not Statistics((10,), {"X": x, "Z": x}).simple(("X", "Z"), "out")


def test_unknown_types_have_no_edges() -> None:
    statistics = Statistics((3,), {})
    assert statistics.edges_between(("NO",), (0,), (0,)) == 0
    assert statistics.degree(("NO",), "both", (0,)) == Degree()
    assert statistics.simple(("NO",), "both")


def test_counted_once() -> None:
    snapshot = rich_snapshot()
    assert statistics_of(snapshot) is statistics_of(snapshot) is snapshot.statistics


def test_there_and_back_through_json() -> None:
    statistics = statistics_of(rich_snapshot())
    assert from_json(json.loads(json.dumps(to_json(statistics)))) == statistics


def test_repeats_among_many_edges() -> None:
    """Enough edges for hash slots to be shared."""
    source, target = (end.ravel().astype(np.int32) for end in np.meshgrid(np.arange(300), np.arange(300, 600)))
    vertices = VertexTable.from_arrow(("A",), pa.chunked_array([np.arange(600)]), pa.table({}), None)

    def simple(source: np.ndarray, target: np.ndarray) -> tuple[bool, bool]:
        graph = Snapshot([vertices], [EdgeTable.from_arrow("X", source, target, pa.table({}))])
        return graph.statistics.simple(("X",), "out"), graph.statistics.simple(("X",), "both")

    assert simple(source, target) == (True, True)
    assert simple(np.append(source, target[-1]), np.append(target, source[-1])) == (True, False)
    assert simple(np.append(source, source[0]), np.append(target, target[0])) == (False, False)

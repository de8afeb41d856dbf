"""Invariants and statistics against plain counting, and counts that are written down as literals."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.storage.counted.counts import Between, Counts, DegreeSums, TypeCounts, from_json, to_json
from gquery.storage.graph import Snapshot
from gquery.storage.invariants import Invariants
from gquery.storage.schema import Direction
from gquery.storage.statistics import Degree, Statistics
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
    counted, statistics, invariants = Counted(snapshot), snapshot.statistics, snapshot.invariants
    tables = range(len(counted.counts))
    for types in (("X",), ("Y",), TYPES, ()):
        for source, target in product(tables, tables):
            expected = sum(
                type in types and (counted.table[a], counted.table[b]) == (source, target)
                for type, a, b in counted.edges
            )
            assert statistics.edges_between(types, (source,), (target,)) == expected
        loops = {counted.table[a] for type, a, b in counted.edges if type in types and a == b}
        assert [table for table in tables if invariants.has_loop(types, {table})] == sorted(loops)
        assert invariants.has_loop(types) == bool(loops)
        for direction, chosen in product(DIRECTIONS, [(0,), tuple(tables), tuple(tables)[1:]]):
            degrees = counted.degrees(types, direction, chosen)
            found = statistics.degree(types, direction, chosen)
            assert statistics.vertex_count(chosen) == len(degrees)
            assert found.mean == pytest.approx(sum(degrees) / max(1, len(degrees)))
            assert invariants.largest_degree(types, direction, chosen) >= max(degrees, default=0)
            assert invariants.everybody_has(types, direction, chosen) <= all(degrees)
            if len(types) == 1:
                squares = sum(degree**2 for degree in degrees)
                assert found.biased == pytest.approx(squares / max(1, sum(degrees)))
                assert invariants.largest_degree(types, direction, chosen) == max(degrees, default=0)
                if types[0] in invariants.types:
                    assert invariants.everybody_has(types, direction, chosen) == all(degrees)
                assert found.with_any == sum(degree > 0 for degree in degrees)
        for direction in DIRECTIONS:
            simple, repeats = invariants.simple(types, direction), counted.rows_repeat(types, direction)
            assert simple != repeats if len(types) < 2 else not (simple and repeats)
            assert simple <= snapshot.adjacency(types, direction).simple


@pytest.mark.parametrize("seed", range(20))
def test_what_edges_lead_to(seed: int) -> None:
    snapshot = random_snapshot(seed)
    counted, invariants = Counted(snapshot), snapshot.invariants
    tables = tuple(range(len(counted.counts)))
    for types, direction, chosen in product([("X",), TYPES], DIRECTIONS, [(0,), tables]):
        ways = [(a, b, seen) for type, a, b in counted.edges if type in types for seen in ("out", "in")]
        ends = [(a, b) if seen == "out" else (b, a) for a, b, seen in ways if direction in (seen, "both")]
        reached = {counted.table[there] for here, there in ends if counted.table[here] in chosen}
        assert invariants.reached(types, direction, chosen) == reached
        for others in ((), (0,), tables):
            assert invariants.leads_only_to(types, direction, chosen, others) == (reached <= set(others))


def test_several_types_are_taken_as_independent() -> None:
    x = TypeCounts((Between(0, 0, 10),), (DegreeSums(0, "out", 5, 10, 20, 2),))
    y = TypeCounts((Between(0, 1, 30),), (DegreeSums(0, "out", 10, 30, 90, 3),))
    counts = Counts((10, 4), {"X": x, "Y": y})
    statistics, invariants = Statistics(counts), Invariants(counts)
    assert statistics.degree(("X",), "out", (0,)) == Degree(mean=1.0, biased=2.0, with_any=5)
    assert statistics.degree(("X", "Y"), "out", (0,)) == Degree(mean=4.0, biased=170 / 40, with_any=10)
    assert statistics.degree(("X", "Y"), "out", (1,)) == Degree()
    assert invariants.largest_degree(("X",), "out", (0, 1)) == 2
    assert invariants.largest_degree(("X", "Y"), "out", (0,)) == 5
    assert not invariants.everybody_has(("X",), "out", (0,))
    assert invariants.everybody_has(("X", "Y"), "out", (0,))
    assert invariants.simple(("X", "Y"), "out")
    assert not Invariants(Counts((10,), {"X": x, "Z": x})).simple(("X", "Z"), "out")


def test_who_is_led_to_leads_to_many() -> None:
    pairs = np.unique(np.random.default_rng(3).geometric(0.1, (300, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    vertices = {"A": {"id": np.arange(pairs.max() + 1)}, "B": {"id": np.arange(1000, 1003)}}
    ends = {"source": pairs[:, 0], "target": pairs[:, 1]}
    statistics = gquery.from_arrow(vertices=vertices, edges={("A", "X", "A"): ends}).snapshot.statistics
    out, into = (np.bincount(side, minlength=pairs.max() + 1) for side in pairs.T)
    expected = (out * into).mean() / (out.mean() * into.mean())
    assert expected > 2
    assert statistics.skew_across(("X",), (0,)) == pytest.approx(expected)
    assert statistics.skew_across(("X",), (1,)) == statistics.skew_across(("Y",), (0,)) == 1.0


def test_unknown_types_have_no_edges() -> None:
    counts = Counts((3,), {})
    assert Statistics(counts).edges_between(("NO",), (0,), (0,)) == 0
    assert Statistics(counts).degree(("NO",), "both", (0,)) == Degree()
    assert Invariants(counts).simple(("NO",), "both")
    assert not Invariants(counts).everybody_has(("NO",), "both", (0,))


def test_counted_once() -> None:
    snapshot = rich_snapshot()
    assert snapshot.counts is snapshot.counts
    assert snapshot.invariants is snapshot.invariants


def test_there_and_back_through_json() -> None:
    counts = rich_snapshot().counts
    assert from_json(json.loads(json.dumps(to_json(counts)))) == counts


def test_repeats_among_many_edges() -> None:
    """Enough edges for hash slots to be shared."""
    source, target = (end.ravel().astype(np.int32) for end in np.meshgrid(np.arange(300), np.arange(300, 600)))
    vertices = VertexTable.from_arrow(("A",), pa.chunked_array([np.arange(600)]), pa.table({}), None)

    def simple(source: np.ndarray, target: np.ndarray) -> tuple[bool, bool]:
        graph = Snapshot([vertices], [EdgeTable.from_arrow("X", source, target, pa.table({}))])
        return graph.invariants.simple(("X",), "out"), graph.invariants.simple(("X",), "both")

    assert simple(source, target) == (True, True)
    assert simple(np.append(source, target[-1]), np.append(target, source[-1])) == (True, False)
    assert simple(np.append(source, source[0]), np.append(target, target[0])) == (False, False)

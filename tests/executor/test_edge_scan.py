"""Patterns of one edge whose ends are both listed: the edges are gone through as they are stored."""

from __future__ import annotations

import re
import time
from collections import Counter
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.executor.expansion import edge_scan
from gquery.planner.search import matching
from tests.conftest import patience
from tests.helpers import no_helper_left

SEEDS = range(4)
SCAN = "Scan the edges"
MODES = {"": lambda one, other: True, "DIFFERENT NODES": lambda one, other: one != other}


class Written:
    """A graph of two vertex tables, in three edge tables of two types, with loops and parallel edges, and its edges."""

    def __init__(self, random: Random) -> None:
        self.x = {number: random.choice([None, 0, 1, 2]) for number in range(12)}
        self.label = {number: "A" if number < 8 else "B" for number in self.x}
        self.edges: list[tuple[str, int, int, int | None]] = []
        tables: dict[Any, pa.Table] = {}
        for type_, source, target, count in (("P", "A", "A", 40), ("P", "A", "B", 15), ("Q", "B", "A", 20)):
            ends = [[random.choice(self._of(label)) for label in (source, target)] for _ in range(count)]
            values = [random.choice([None, *range(8)]) for _ in ends]
            self.edges += [(type_, *pair, value) for pair, value in zip(ends, values, strict=True)]
            sources, targets = zip(*ends, strict=True)
            tables[source, type_, target] = pa.table(
                {"source": sources, "target": targets, "m": pa.array(values, pa.int64())}
            )
        vertices = {
            label: pa.table({"id": self._of(label), "x": pa.array([self.x[each] for each in self._of(label)])})
            for label in "AB"
        }
        self.graph = gquery.from_arrow(vertices, tables)

    def _of(self, label: str) -> list[int]:
        return [number for number, own in self.label.items() if own == label]


def expected(written: Written, way: str, mode: str, fits: Any) -> Counter[tuple[Any, ...]]:
    """The rows (source, target, m) of edges that fit."""
    rows: Counter[tuple[Any, ...]] = Counter()
    for type_, source, target, value in written.edges:
        turns = {(source, target), (target, source)} if way == "either" else {(source, target)}
        for one, other in turns:
            if MODES[mode](one, other) and fits(type_, one, other, value):
                rows[one, other, value] += 1
    return rows


@pytest.fixture(params=[None, 1, 3], ids=["large pieces", "of one edge", "of three"])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param is not None:
        monkeypatch.setattr(edge_scan, "_FIRST", request.param)
        monkeypatch.setattr(edge_scan, "_LARGEST", request.param)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", ["ahead", "either"])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_those_of_the_tables(seed: int, way: str, mode: str, device: str, pieces: None) -> None:
    random = Random(seed)
    written, arrow = Written(random), "->" if way == "ahead" else "-"
    label, x = written.label, written.x
    asked = {
        f"(a)-[p]{arrow}(b)": lambda type_, one, other, value: True,
        f"(a:A)-[p:P]{arrow}(b)": lambda type_, one, other, value: type_ == "P" and label[one] == "A",
        f"(a:A)-[p:P|Q]{arrow}(b:B)": lambda type_, one, other, value: (label[one], label[other]) == ("A", "B"),
        f"(a)-[p:P]{arrow}(b) WHERE p.m > 5": lambda type_, one, other, value: type_ == "P" and (value or 0) > 5,
        f"(a)-[p]{arrow}(b) WHERE p.m = 7 AND b.x > 0": lambda type_, one, other, value: (
            value == 7 and (x[other] or 0) > 0
        ),
        f"(a)-[p]{arrow}(b) WHERE a.x = 1": lambda type_, one, other, value: x[one] == 1,
        f"(a)-[p]{arrow}(b) WHERE a.x IS NULL AND p.m IS NULL": lambda type_, one, other, value: (
            x[one] is None and value is None
        ),
    }
    for pattern, fits in asked.items():
        text = f"MATCH {mode} {pattern} RETURN a.id, b.id, p.m"
        found = Counter(written.graph.query(text, device=device).rows())
        assert found == expected(written, way, mode, fits), (seed, text)
        found = Counter(written.graph.query(text.removesuffix("p.m") + "startNode(p).id", device=device).rows())
        assert found.total() == expected(written, way, mode, fits).total(), (seed, text)


@pytest.mark.parametrize("seed", SEEDS)
def test_edges_that_nobody_names_count_each(seed: int, device: str, pieces: None) -> None:
    written = Written(Random(seed))
    groups: Counter[tuple[Any, ...]] = Counter()
    for type_, source, target, _ in written.edges:
        groups[written.x[source], written.x[target]] += type_ == "P"
    text = "MATCH (a)-[:P]->(b) RETURN a.x, b.x, count(*), sum(b.x)"
    assert SCAN in written.graph.explain(text)
    rows = written.graph.query(text, device=device).rows()
    assert {row[:2]: row[2:] for row in rows} == {
        (one, other): (count, count * (other or 0)) for (one, other), count in groups.items() if count
    }
    pairs = Counter((source, target) for type_, source, target, _ in written.edges if type_ == "P")
    listed = written.graph.query("MATCH (a)-[:P]->(b) RETURN a.id, b.id", device=device)
    assert Counter(listed.rows()) == pairs
    either = pairs + Counter({pair[::-1]: count for pair, count in pairs.items() if pair[0] != pair[1]})
    listed = written.graph.query("MATCH (a)-[:P]-(b) RETURN a.id, b.id", device=device)
    assert Counter(listed.rows()) == either
    each = written.graph.query("MATCH (a)-[:P]->(b) RETURN DISTINCT a.id, b.id", device=device)
    assert sorted(each.rows()) == sorted(pairs)


def test_plans_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_SCANNED_INSTEAD", 2)
    graph = Written(Random(0)).graph
    for text, scans in {
        "MATCH (a)-[p:P]->(b) RETURN p.m": True,
        "MATCH (a)-[p:P]-(b) RETURN a.x, p.m": True,
        "MATCH (a)-[:P]->(b) RETURN a.x, b.x": True,
        "MATCH (a)-[:P]-(b) RETURN a.x, b.x": True,
        "MATCH (a {id: 3})-[p:P]->(b) RETURN p.m": False,
        "MATCH (a)-[p:P]->(b) WHERE a.x < b.x RETURN p.m": False,
        "MATCH (a)-[p:P]->(a) RETURN p.m": False,
        "MATCH (a)-[p:P]->(a), (b) RETURN p.m, b.x": False,
        "MATCH (a)-[p:P]->(b)-[q:P]->(c) RETURN p.m": False,
        "MATCH (a)-[:P]->(b) RETURN a.x, count(*)": False,
        "MATCH (a)-[p:P]->(b) RETURN count(p)": False,
    }.items():
        assert (SCAN in graph.explain(text)) == scans, text
    profile = graph.query("PROFILE MATCH DIFFERENT NODES (a)-[p:P]->(b) RETURN p.m").rows()
    assert any(re.search(r"\(a\) <> \(b\)  \[estimated \d+, found \d+", line) for (line,) in profile)


def test_some_of_the_rows(device: str) -> None:
    graph = Written(Random(1)).graph
    every = Counter(graph.query("MATCH (a)-[p:P]->(b) RETURN a.id, b.id, p.m").rows())
    for limit in (0, 1, 7, 54, 55, 56):
        found = Counter(graph.query(f"MATCH (a)-[p:P]->(b) RETURN a.id, b.id, p.m LIMIT {limit}", device=device).rows())
        assert found.total() == min(limit, every.total())
        assert found <= every


@pytest.fixture(scope="module")
def many() -> gquery.Graph:
    count = 400_000
    ends = {"source": [at % 1000 for at in range(count)], "target": [at * 7 % 1000 for at in range(count)]}
    table = pa.table({**ends, "m": range(count)})
    return gquery.from_arrow({"A": pa.table({"id": range(1000)})}, {("A", "P", "A"): table})


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_edges_on_all_threads(threads: int, many: gquery.Graph) -> None:
    with no_helper_left():
        table = many.with_settings(threads=threads).query("MATCH (a)-[p:P]->(b) RETURN a.id, b.id, p.m").to_arrow()
        ordered = table.sort_by("p.m")
        assert ordered["p.m"].to_pylist() == list(range(400_000))
        assert ordered["a.id"].to_pylist() == [at % 1000 for at in range(400_000)]
        assert ordered["b.id"].to_pylist() == [at * 7 % 1000 for at in range(400_000)]


@pytest.mark.parametrize("threads", [1, 3])
def test_who_reads_may_stop(threads: int, many: gquery.Graph) -> None:
    graph = many.with_settings(threads=threads)
    with no_helper_left():
        batches = graph.query("MATCH (a)-[p:P]->(b) RETURN a.id, p.m").batches()
        next(batches)
        batches.close()
        result = graph.query("MATCH (a)-[p:P]->(b) RETURN a.id, p.m")
        batches = result.batches()
        next(batches)
        began = time.monotonic()
        result.cancel()
        with pytest.raises(gquery.QueryCancelled):
            for _ in batches:
                pass
        assert time.monotonic() - began < 0.1 * patience()


def test_within_a_limit(many: gquery.Graph) -> None:
    found = many.query("MATCH (a)-[p:P]->(b) WHERE p.m % 2 = 0 RETURN a.id, p.m", memory_limit="8MB")
    assert sum(row[1] for row in found.rows()) == sum(range(0, 400_000, 2))


def test_edges_that_are_gone_and_new_ones(device: str, pieces: None) -> None:
    random = Random(5)
    written = Written(random)
    store = gquery.Store(written.graph)
    store.execute("MATCH ()-[p:P]->() WHERE p.m < 4 DELETE p")
    store.execute("MATCH (a {id: 1}), (b {id: 9}) CREATE (a)-[:P {m: 6}]->(b), (b)-[:P {m: 3}]->(a)")
    kept = [(*ends, m) for type_, *ends, m in written.edges if type_ == "P" and (m is None or m >= 4)]
    expected = Counter([*kept, (1, 9, 6), (9, 1, 3)])
    text = "MATCH (a)-[p:P]->(b) RETURN a.id, b.id, p.m"
    assert SCAN in store.graph.explain(text)
    assert Counter(store.graph.query(text, device=device).rows()) == expected
    above = Counter(store.graph.query(text.replace("RETURN", "WHERE p.m >= 6 RETURN"), device=device).rows())
    assert above == Counter({row: count for row, count in expected.items() if (row[2] or 0) >= 6})


def test_edges_that_have_got_another_type_one_by_one() -> None:
    """They lie among the others by id, in a table of their own, and are no batches of their own."""
    count = 3000
    ends = {"source": list(range(count)), "target": [(at + 1) % count for at in range(count)]}
    table = {**ends, "m": [0.5] * count}
    store = gquery.Store(gquery.from_arrow({"A": {"id": list(range(count))}}, {("A", "P", "A"): table}))
    store.execute("MATCH (a)-[p]->() WHERE a.id % 2 = 0 SET p.m = 1")
    store.execute("MATCH (a)-[p]->() WHERE a.id % 10 < 2 DELETE p")
    for condition, fits in (("true", lambda m: True), ("p.m > 0.7", lambda m: m > 0.7)):
        result = store.graph.query(f"MATCH (a)-[p:P]->(b) WHERE {condition} RETURN a.id, b.id, p.m")
        batches = list(result.batches())
        expected = [(at, (at + 1) % count, (1, 0.5)[at % 2]) for at in range(count) if at % 10 >= 2]
        assert sorted(result.rows()) == [row for row in expected if fits(row[2])]
        assert len(batches) < 4

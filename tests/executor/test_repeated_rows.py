"""Rows over parallel edges that nobody names come once for each way to choose them, as if these were named."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pyarrow as pa
import pytest

import gquery
from tests.differential.test_counting import WAYS

SIZE = 7
PATTERNS = {
    "one hop": "(a)-[{}]->(b)",
    "two hops": "(a)-[{}]->(b)-[{}]->(c)",
    "two hops, either way": "(a)-[{}]-(b)-[{}]-(c)",
    "three hops": "(a)-[{}:E]->(b)-[{}:E]->(c)-[{}:F]->(d)",
    "a star": "(a)-[{}]->(b), (a)-[{}]->(c), (a)-[{}:F]->(d)",
    "a triangle": "(a)-[{}:E]->(b)-[{}]->(c), (a)-[{}]-(c)",
    "a triangle with a tail": "(a)-[{}:E]->(b)-[{}:E]->(c), (a)-[{}:E]->(c), (c)-[{}]->(d)",
    "with a condition": "(a)-[{}]->(b)-[{}]->(c) WHERE a.x < c.x",
    "with a condition on a vertex": "(a)-[{}]->(b)-[{}]->(c) WHERE b.x = 1",
}


def multigraph(random: Random, loops: bool) -> gquery.Graph:
    def ends(count: int) -> pa.Table:
        pairs = [pair for pair in product(range(SIZE), repeat=2) if loops or pair[0] != pair[1]]
        chosen = random.choices(random.sample(pairs, count // 2), k=count)
        return pa.table({"source": [source for source, _ in chosen], "target": [target for _, target in chosen]})

    table = pa.table({"id": range(SIZE), "x": [each % 3 for each in range(SIZE)]})
    return gquery.from_arrow({"V": table}, {("V", "E", "V"): ends(16), ("V", "F", "V"): ends(8)})


@pytest.mark.parametrize("way", ["as planned", "raw adjacency", "candidate graph", "nothing folded", "edges by number"])
@pytest.mark.parametrize("name", PATTERNS)
def test_rows_are_those_of_named_edges(name: str, way: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = PATTERNS[name]
    vertices = sorted({each for each in pattern.split("WHERE")[0] if each in "abcd"})
    named = [f"e{place}" for place in range(pattern.count("{}"))]
    for loops, mode in product((False, True), ("", "DIFFERENT NODES", "REPEATABLE ELEMENTS")):
        graph = multigraph(Random(f"{name} {way} {loops}"), loops)
        items = ", ".join(f"{each}.id" for each in vertices)
        text = f"MATCH {mode} {pattern.format(*named)} RETURN {items}, {', '.join(f'id({each})' for each in named)}"
        expected = Counter(row[: len(vertices)] for row in graph.query(text).rows())
        with monkeypatch.context() as patched:
            for patch in WAYS[way]:
                patched.setattr(*patch)
            text = f"MATCH {mode} {pattern.format(*([''] * len(named)))} RETURN {items}"
            assert Counter(graph.query(text, device=device).rows()) == expected, (loops, text)
            few = Counter(graph.query(f"{text} LIMIT 5", device=device).rows())
            assert few <= expected
            assert few.total() == min(5, expected.total())


def test_nobody_counts_what_is_repeated() -> None:
    graph = multigraph(Random(0), loops=False)
    plan = graph.explain("MATCH REPEATABLE ELEMENTS (a)-->(b)-->(c) RETURN a.id, b.id, c.id")
    assert "Match once for each data edge: (a)-[]->(b), (b)-[]->(c)" in plan
    assert "Multiply" not in plan

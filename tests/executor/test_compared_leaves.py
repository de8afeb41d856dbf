"""Comparisons at the last vertex of a sum are counted without looking at each candidate by itself."""

from __future__ import annotations

from collections import Counter
from itertools import product
from operator import eq, le, lt, ne
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import gquery
from tests.differential.test_counting import WAYS

SIZE = 12
EXTREMES = [None, 0, 1, 2, 2**63 - 1, -(2**63) + 1, -(2**63)]
OPERATORS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": lambda one, other: other < one}
PATTERNS = {
    "two hops": "(a)-[]->(b)-[]->(c)",
    "two hops, either way": "(a)-[]-(b)-[]-(c)",
    "one hop": "(a)-[]->(c)",
    "triangle": "(a)-[]->(b)-[]->(c), (a)-[]-(c)",
    "three leaves": "(b)-[]->(a), (b)-[]->(c), (b)-[]->(d)",
}


def multigraph(random: Random) -> gquery.Graph:
    pairs = [pair for pair in product(range(SIZE), repeat=2) if random.random() < 0.25]
    pairs += random.choices(pairs, k=8)
    sources, targets = zip(*pairs, strict=True)
    values = [random.choice(EXTREMES) for _ in range(SIZE)]
    table = pa.table(
        {"id": range(SIZE), "at": pa.array(values, pa.int64()), "kind": [each % 4 for each in range(SIZE)]}
    )
    return gquery.from_arrow({"V": table}, {("V", "E", "V"): pa.table({"source": sources, "target": targets})})


def holds(operator: str, one: Any, other: Any) -> bool:
    return one is not None and other is not None and bool(OPERATORS[operator](one, other))


@pytest.mark.parametrize("way", ["as planned", "raw adjacency", "candidate graph", "nothing folded", "edges by number"])
@pytest.mark.parametrize("name", PATTERNS)
def test_counts_are_those_of_the_list(name: str, way: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"{name} {way}")
    graph, pattern = multigraph(random), PATTERNS[name]
    values = dict(graph.query("MATCH (v) RETURN v.id, v.at").rows())
    names = sorted({each for each in pattern if each.isalpha()})
    for mode, operator in product(("", "DIFFERENT NODES", "REPEATABLE ELEMENTS"), OPERATORS):
        asked = f"a.at {operator} c.at"
        rows = list(graph.query(f"MATCH {mode} {pattern} RETURN {', '.join(f'{each}.id' for each in names)}").rows())
        kept = [row for row in rows if holds(operator, values[row[0]], values[row[names.index("c")]])]
        both = [row for row in kept if row[0] % 4 <= row[names.index("c")] % 4]
        with monkeypatch.context() as patched:
            for patch in WAYS[way]:
                patched.setattr(*patch)
            text = f"MATCH {mode} {pattern} WHERE {asked}"
            assert graph.query(f"{text} RETURN count(*)", device=device).scalar() == len(kept), text
            found = Counter(dict(graph.query(f"{text} RETURN a.id, count(*)", device=device).rows()))
            assert found == Counter(row[0] for row in kept), text
            found = Counter(dict(graph.query(f"{text} RETURN c.id, count(*)", device=device).rows()))
            assert found == Counter(row[names.index("c")] for row in kept), text
            twice = f"{text} AND a.kind <= c.kind RETURN count(*)"
            assert graph.query(twice, device=device).scalar() == len(both), twice


def test_a_smaller_value_is_another_vertex() -> None:
    """Then no two edges of the way can be one, and nobody tests that."""
    graph = multigraph(Random(4))
    for asked in ("a.at < c.at", "c.at <> a.at", "a.id < c.id"):
        plan = graph.explain(f"MATCH DIFFERENT NODES (a)-[]->(b)-[]->(c) WHERE {asked} RETURN count(*)")
        assert "<> (a)" not in plan, plan
        assert "<> (c)" not in plan, plan
    plan = graph.explain("MATCH DIFFERENT NODES (a)-[]->(b)-[]->(c) WHERE a.at <= c.at RETURN count(*)")
    assert "<> (a)" in plan or "<> (c)" in plan or "(a) = (c)" in plan, plan

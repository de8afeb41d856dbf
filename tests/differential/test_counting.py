"""Counts do not depend on how they are made: each technique is forced or switched off, and DuckDB knows the count.

Whatever the planner would choose by cost is decided here instead, so that the rarer ways are taken as often as the
others: products and sums over a tree, folded branches, remembered sums, inclusion and exclusion, symmetry, exact
arithmetic for numbers beyond 64 bits. What is the CPU's alone is in `tests/executor/test_cpu_ways.py`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import gquery
from gquery import session
from gquery.planner.memo import shape
from gquery.planner.passes import candidates as filters
from gquery.planner.search import counting, matching, second_half
from gquery.planner.search.alike import symmetry
from gquery.planner.search.costs import CPU
from gquery.planner.search.sums import strategy
from gquery.storage import invariants
from tests.differential.build import to_gquery
from tests.differential.forms import DataGraph, Query
from tests.differential.generate import random_graph, random_query
from tests.differential.judged import counted, written

FUZZ = int(os.environ.get("GQUERY_FUZZ", "1"))
GRAPHS, QUERIES = 6 * FUZZ, 4


def _space(name: str) -> Any:
    return lambda *_: (name, "the test wants it so")


def costs(effort: dict[str, Any] | None = None, **changes: float) -> tuple[Any, str, Any]:
    """Other costs, and how far planning goes."""
    changed = replace(CPU, **changes, effort=replace(CPU.effort, **effort or {}))
    return session, "CPU", changed


def _no(*_: object) -> bool:
    return False


WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "as planned": [],
    "inclusion and exclusion": [costs({"gain": 1e9, "least_problems": 60, "numbered": 0.0}, worth_improving=-1.0)],
    "edges by number": [costs({"gain": 1e9, "numbered": 1e9}, worth_improving=-1.0)],
    "no self-loops": [costs(select=0.0)],
    "every root": [costs({"roots": 9}, worth_improving=-1.0), (counting._CountPlanner, "_ways", lambda *_: [])],
    "everything remembered": [costs(reuse=0.0, folds=-1.0)],
    "nothing remembered": [costs(reuse=math.inf)],
    "everything folded": [costs(folds=math.inf)],
    "nothing folded": [costs(folds=-1.0)],
    "candidate graph": [(module, "pick_space", _space("candidates")) for module in (matching, second_half)],
    "changed orders": [
        *((module, "pick_space", _space("candidates")) for module in (matching, second_half)),
        costs(dear=-1.0, change=1e-6),
    ],
    "raw adjacency": [(module, "pick_space", _space("vertices")) for module in (matching, second_half)],
    "no filters": [(filters, "_neighbour_counts", lambda _: [])],
    "all filters by rows": [costs(filters_weighed=math.inf), (filters, "_signature", lambda *_: None)],
    "all filters, by signature where they can": [costs(filters_weighed=math.inf)],
    "signatures of four bits": [costs(filters_weighed=math.inf), (invariants, "SIGNATURE_BITS", 4)],
    "predicates where edges lead": [costs(filters_weighed=-1.0, filter_reached=1e-3)],
    "no symmetry": [(symmetry.Symmetry, "is_trivial", True)],
    "depth first": [(strategy, "can_chain", _no)],
}


@pytest.mark.parametrize("seed", range(GRAPHS))
@pytest.mark.parametrize("way", WAYS)
def test_the_way_does_not_matter(way: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    compare_counts(way, device, [seed])


def small_graph(random: Random) -> DataGraph:
    return random_graph(random, 30)


def joined_query(random: Random, data: DataGraph) -> Query:
    return random_query(random, data, connected=True)


def compare_counts(way: str, device: str, seeds: Iterable[int] = range(GRAPHS)) -> None:
    """Counts of random queries in a way that is set already."""
    for seed in seeds:
        data, queries = counted(f"counting {seed}", small_graph, joined_query, QUERIES)
        graph = to_gquery(data)
        for query in queries:
            query.compare_count(graph, device, f"{way}, seed {seed}, {data}")


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_what_is_remembered_does_not_matter(seed: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text twice, and once more with a comment: with the plan, then with the order of the first."""
    monkeypatch.setattr(shape, "_STEPS", 0)  # sizes never tell two queries apart
    random = Random(f"remembered {seed}")
    data = random_graph(random, 30)
    graph = to_gquery(data)
    for _ in range(QUERIES):
        query = random_query(random, data, connected=True)
        renderer, body, mode = written(query, random)
        text, given = f"{body} RETURN count(*)", {"mode": mode, "device": device}
        expected = to_gquery(data).query(text, renderer.parameters, **given).scalar()
        for again in (text, text, f"{text} // {random.random()}"):
            told = f"seed {seed}: {again} {renderer.parameters} {mode}\n{data}"
            assert graph.query(again, renderer.parameters, **given).scalar() == expected, told


@pytest.mark.parametrize("arms", [pytest.param(1, marks=pytest.mark.large), 5, 12])
@pytest.mark.parametrize("way", ["as planned", "inclusion and exclusion", "nothing folded", "candidate graph"])
def test_counts_of_any_size(arms: int, way: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel of hubs with `leaves` leaves each: the number of stars is known in closed form, however large."""
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    hubs, leaves = 3, 1000
    ends = [(hub, hubs + hub * leaves + leaf) for hub in range(hubs) for leaf in range(leaves)]
    source, target = ([pair[side] for pair in ends] for side in (0, 1))
    graph = gquery.from_arrow(
        vertices={"V": {"id": list(range(hubs + hubs * leaves))}},
        edges={("V", "E", "V"): {"source": source, "target": target}},
    )
    star = ", ".join(f"(hub)-[:E]->(v{arm})" for arm in range(arms))
    walk = "MATCH {} (hub)-[:E]->(first), " + star + " RETURN count(*)"
    every = graph.query(walk.format("REPEATABLE ELEMENTS"), device=device).scalar()
    assert every == hubs * leaves ** (arms + 1)
    different = graph.query(walk.format("DIFFERENT EDGES"), device=device).scalar()
    assert different == hubs * math.perm(leaves, arms + 1)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("limit", ["100kB", "1MB", None])
def test_neither_memory_nor_threads_matter(limit: str | None, threads: int, device: str) -> None:
    """A small budget may end in an error of ours, never in another count."""
    answered = 0
    for seed in range(GRAPHS):
        data, queries = counted(f"memory {seed}", small_graph, joined_query, QUERIES)
        graph = to_gquery(data).with_settings(memory_limit=limit, threads=threads)
        for query in queries:
            text = f"{query.body} RETURN count(*)"
            try:
                count = graph.query(text, query.parameters, mode=query.mode, device=device).scalar()
            except gquery.ExecutionError:
                continue
            answered += 1
            assert count == query.count, f"seed {seed}: {text} {query.parameters} {query.mode}\n{data}"
    assert answered > GRAPHS * QUERIES / 2


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_a_missing_edge_may_be_missing_several_times(copies: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parallel edges between two vertices rule their pair out once, on the way that takes the sizes of sets."""
    for owner, name, value in WAYS["raw adjacency"]:
        monkeypatch.setattr(owner, name, value)
    tagged = [(message, tag) for message in range(4) for tag in range(100) if (message + tag) % 5]
    replies = [(comment, message) for message in range(4) for comment in range(30) if (comment + message) % 2]
    own = [(comment, comment * 7 % 100) for comment in range(30)] * copies
    graph = gquery.from_arrow(
        vertices={label: {"id": list(range(count))} for label, count in (("M", 4), ("T", 100), ("C", 30))},
        edges={
            key: {"source": [pair[0] for pair in pairs], "target": [pair[1] for pair in pairs]}
            for key, pairs in {("M", "A", "T"): tagged, ("C", "B", "M"): replies, ("C", "D", "T"): own}.items()
        },
    )
    text = "MATCH (t:T)<-[:A]-(m:M)<-[:B]-(c:C) WHERE NOT (c)-[:D]->(t) RETURN count(*)"
    expected = sum((c, t) not in set(own) for m, t in tagged for c, other in replies if other == m)
    assert graph.query(text, device=device).scalar() == expected

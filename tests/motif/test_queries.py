"""Counts by queries for each class: the same as those of a census."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gquery
from gquery.errors import QueryTimeout, UnsupportedError
from gquery.executor.census.counts import Census
from gquery.executor.census.graph import Coloured
from gquery.executor.census.layout import layout_of
from gquery.executor.census.null import Null
from gquery.executor.cpu.census.counting import census
from gquery.executor.cpu.census.looks import looks_of_census
from gquery.executor.progress import Control
from gquery.motif import queries
from gquery.motif.queries import choose, counted_by_queries
from gquery.motif.spanning import spanning
from gquery.settings import Settings
from tests.motif.naive import matrix_of
from tests.motif.networks import NAMES, arcs_of, network, small

NULL = Null("degrees", 10, 11)


def same(one: Census, other: Census) -> bool:
    return (
        np.array_equal(one.codes, other.codes)
        and np.array_equal(one.counts, other.counts)
        and np.array_equal(one.random.counts, other.random.counts)
        and np.array_equal(one.random.totals, other.random.totals)
        and one.random[2:] == other.random[2:]
    )


def both(graph: Coloured, null: Null = NULL, graphs: int = 0) -> tuple[Census, Census]:
    """By queries, and by sets of vertices."""
    by_sets = census(graph, null, graphs, 2, Control())
    return counted_by_queries(graph, null, graphs, Settings(threads=2), Control()), by_sets


@pytest.mark.parametrize("name", NAMES)
def test_counts_of_real_networks(shared_data: Path, name: str) -> None:
    """Those of the census are compared with the reference elsewhere."""
    for size in (3, 4, 5):
        assert same(*both(network(shared_data, name, size, False))), size


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("model", ["degrees", "stubs", "erdos-renyi"])
def test_counts_of_random_graphs(size: int, model: Any) -> None:
    graph = small(size, size, False, 14)
    assert same(*both(graph, Null(model, 10, 3), 4))


def test_classes_within_each_other() -> None:
    assert [len(spanning(size).codes) for size in (3, 4, 5)] == [2, 6, 21]
    clique, diamond, *_ = spanning(4).parts
    assert clique == (1, 0, 0, 0, 0, 0)
    assert diamond[:2] == (6, 1)
    assert spanning(4).ways == (24, 4, 8, 2, 2, 6)
    assert spanning(3).induced([6 * 5, 2 * 100]) == [5, 85]
    assert spanning(3).induced([0, 2 * 10**30]) == [0, 10**30]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_looks_of_a_census(size: int) -> None:
    """Each set once, a triangle from each of its paths."""
    graph = small(4, size, False, 9)
    matrix = np.array(matrix_of(graph)) > 0
    looks = 0
    for chosen in combinations(range(9), size - 2):
        links = int(matrix[np.ix_(chosen, chosen)].sum()) // 2
        if links >= size - 3:  # the set is connected
            looks += (3 if links == 3 else 1) * int((matrix[list(chosen)] @ matrix.sum(axis=1)).sum())
    assert looks_of_census(graph.arcs, 9, size) == looks


def crowd() -> gquery.Graph:
    """Twenty hubs that all of some hundreds know."""
    random = np.random.default_rng(8)
    pairs = {(int(a), int(b)) for a, b in random.integers((20, 300), size=(2500, 2))}
    tails, heads = zip(*sorted((a, b + 20) for a, b in pairs), strict=True)
    people = {"Person": {"id": list(range(320))}}
    return gquery.from_arrow(people, {("Person", "KNOWS", "Person"): {"source": tails, "target": heads}})


def test_what_is_cheaper_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = crowd()
    by_sets = gquery.motifs(graph, 4, directed=False, random=2, seed=1)
    assert any("connected sets of 2" in note for note in by_sets.notes)
    monkeypatch.setattr(queries, "_WORTH", 0.0)
    monkeypatch.setattr(queries, "_PLANNED", 0.0)
    monkeypatch.setattr(queries, "_DOUBT", 0.001)
    by_queries = gquery.motifs(graph, 4, directed=False, random=2, seed=1)
    assert any("counted by a query for each class" in note and "looks" in note for note in by_queries.notes)
    assert by_queries.table.equals(by_sets.table)
    monkeypatch.setattr(queries, "_DOUBT", 1e9)
    doubted = gquery.motifs(graph, 4, directed=False, random=2, seed=1)
    assert any("connected sets of 2" in note and "looks" in note for note in doubted.notes)


def test_where_there_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "_WORTH", 0.0)
    control, settings = Control(), Settings()
    assert choose(small(1, 4, False), settings, control) is not None
    for graph in (small(1, 4, True), small(1, 4, False, colours=2), small(1, 4, False, types=2), small(1, 6, False)):
        assert choose(graph, settings, control) is None


def test_limits() -> None:
    star = arcs_of(np.array([[0, leaf] for leaf in range(1, 60)]))
    graph = Coloured(star, np.zeros(60, np.int32), layout_of(5, 1, 1, False))
    with pytest.raises(QueryTimeout):
        counted_by_queries(graph, NULL, 10**6, Settings(), Control(timeout=0.3))
    many = arcs_of(np.array([[0, leaf] for leaf in range(1, 200_000)]))
    graph = Coloured(many, np.zeros(200_000, np.int32), layout_of(5, 1, 1, False))
    with pytest.raises(UnsupportedError, match="64 bits"):
        counted_by_queries(graph, NULL, 0, Settings(), Control())

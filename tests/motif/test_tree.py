"""Random graphs counted along a tree of the classes that the graph itself has: the same counts as by sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gquery
from gquery.errors import MemoryLimitError, QueryTimeout
from gquery.executor.census.graph import Coloured
from gquery.executor.census.layout import Layout, layout_of
from gquery.executor.census.null import Null
from gquery.executor.cpu.census import counting
from gquery.executor.cpu.census.canonical import make_canonical, new_search
from gquery.executor.cpu.census.counting import Crew, census, counted_along_tree
from gquery.executor.cpu.census.tree import choosing
from gquery.executor.progress import Control
from gquery.motif.matrices import matrix_of
from tests.motif.naive import connected_sets, naive_census
from tests.motif.networks import NAMES, network, small
from tests.motif.test_census import known_counts, large, reference

NULL = Null("degrees", 10, 4)


def along_tree(graph: Coloured, codes: np.ndarray | None = None) -> tuple[dict[int, int], int]:
    """Of the graph itself: by canonical code, and all. codes: of the tree, those of the graph where there are none."""
    crew = Crew(graph, 1, Control())
    with crew.one() as worker:
        if codes is None:
            pairs = worker.read(graph.arcs)
            worker.count(pairs, 0, len(graph.colours))
            shown = np.flatnonzero(worker.settle())
        else:
            pairs = worker.read(graph.arcs)
            crew.classes.find(codes.copy(), new_search(graph.layout.size), np.empty(len(codes), np.int32))
            shown = np.arange(len(crew.classes))
        counts, sets = crew.matcher(crew.tree(shown)).count(pairs)
    return dict(zip(crew.classes.codes[shown].tolist(), counts.tolist(), strict=True)), sets


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5, 6])
@pytest.mark.parametrize("name", NAMES)
def test_counts_of_real_networks(shared_data: Path, name: str, size: int, directed: bool) -> None:
    """GQUERY_SLOW=1: of all that the reference has, in some minutes."""
    known = known_counts(shared_data, (name, directed, size), 2e7)
    graph = network(shared_data, name, size, directed)
    counts, sets = along_tree(graph)
    found = {matrix_of(graph.layout, code).text: count for code, count in counts.items()}
    assert found == {text: count for text, (count, _) in known.items()}
    assert sets == sum(found.values())


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [3, 4])
def test_all_classes_at_once(shared_data: Path, size: int, directed: bool) -> None:
    """Those that the graph does not have are 0."""
    graph = network(shared_data, "elec", size, directed)
    counts, _ = along_tree(graph, every_class(graph.layout))
    found = {matrix_of(graph.layout, code).text: count for code, count in counts.items() if count}
    assert found == {text: count for text, (count, _) in reference(shared_data)["elec", directed, size].items()}
    assert len(counts) > len(found)


def every_class(layout: Layout) -> np.ndarray:
    codes = np.arange(1 << int(layout.positions[-1]))
    make_canonical(codes, layout, new_search(layout.size))
    return np.unique(codes)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5])
def test_counts_with_labels_and_types(size: int, directed: bool, seed: int) -> None:
    colours, types = ((1, 1), (3, 1), (1, 2), (2, 2), (2, 1), (4, 1))[seed]
    compare(small(seed, size, directed, colours=colours, types=types))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("size", "vertices", "colours"), [(6, 8, 2), (7, 8, 1), (8, 8, 1)])
def test_counts_of_large_sets(size: int, vertices: int, colours: int, directed: bool) -> None:
    compare(small(1, size, directed, vertices, colours=colours))


def compare(graph: Coloured) -> None:
    """With the naive census."""
    counts, sets = along_tree(graph)
    matrices = {code: matrix_of(graph.layout, code) for code in counts}
    assert {(matrix.colours, matrix.arcs): counts[code] for code, matrix in matrices.items()} == naive_census(graph)
    assert sets == connected_sets(graph)


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_random_graphs_are_counted_the_same(threads: int) -> None:
    graph = large()
    wanted = census(graph, NULL, 30, 1, Control())
    found = counted_along_tree(graph, NULL, 30, threads, Control())
    assert np.array_equal(found.codes, wanted.codes)
    for one, other in zip(found.random, wanted.random, strict=True):
        assert np.array_equal(one, other)


def test_what_takes_less_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    tails, heads = random.integers(30, size=(2, 110))
    graph = gquery.from_arrow({"V": {"id": list(range(30))}}, {("V", "E", "V"): {"source": tails, "target": heads}})
    monkeypatch.setattr(counting, "_VISIT", 1000)
    by_sets = gquery.motifs(graph, 5, random=30, threads=1)
    assert not any("tree" in note for note in gquery.motifs(graph, 5, random=3, threads=1).notes), "too few graphs"
    assert any("as the graph itself" in note and "more than" in note for note in by_sets.notes)
    monkeypatch.setattr(counting, "_VISIT", 0.001)
    along = gquery.motifs(graph, 5, random=30, threads=1)
    assert any("along a tree" in note and "nodes" in note for note in along.notes)
    assert along.table.equals(by_sets.table)
    monkeypatch.setattr(choosing, "_CLASSES", 10**6)
    assert not any("tree" in note for note in gquery.motifs(graph, 5, random=30, threads=1).notes)


def test_limits() -> None:
    graph = large(7)
    with pytest.raises(QueryTimeout):
        counted_along_tree(graph, NULL, 1000, 2, Control(timeout=1.0))
    crew = Crew(large(), 1, Control(memory_limit=10_000_000))
    codes = every_class(layout_of(4, 1, 1, True))
    crew.classes.find(codes, new_search(5), np.empty(len(codes), np.int32))
    with pytest.raises(MemoryLimitError, match="counting motifs"):
        crew.tree(np.arange(10**5) % len(crew.classes))


def test_without_memory_for_a_tree_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_VISIT", 0.001)
    little = census(large(), NULL, 30, 1, Control(memory_limit=1_400_000))
    assert little.trial is None
    assert np.array_equal(little.random.counts, census(large(), NULL, 30, 1, Control()).random.counts)

"""Counts of connected induced subgraphs by class."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gquery.errors import MemoryLimitError, QueryCancelled, QueryTimeout, UnsupportedError
from gquery.executor.census.graph import Coloured
from gquery.executor.census.layout import layout_of
from gquery.executor.census.null import Null
from gquery.executor.cpu.census import counting
from gquery.executor.cpu.census.canonical import make_canonical, new_search
from gquery.executor.cpu.census.counting import Crew, census
from gquery.executor.cpu.census.refinement import make_refined
from gquery.executor.progress import Control
from gquery.motif.matrices import igraph_ids, matrix_of, mfinder_id
from tests.motif.naive import connected_sets, least_form, naive_census
from tests.motif.networks import NAMES, arcs_of, folder, network, rows, small


def count(graph: Coloured, threads: int = 1, control: Control | None = None) -> dict[int, int]:
    """By canonical code, those that occur."""
    codes, counts = Crew(graph, threads, control or Control()).of_graph()
    return {code: number for code, number in zip(codes.tolist(), counts.tolist(), strict=True) if number}


@cache
def reference(shared: Path) -> dict[tuple[str, bool, int], dict[str, tuple[int, str]]]:
    """By network, whether directed, and size: count and number of igraph by class."""
    found: dict[tuple[str, bool, int], dict[str, tuple[int, str]]] = defaultdict(dict)
    for row in rows(folder(shared) / "census.csv"):
        key = (row["network"], row["directed"] == "yes", int(row["k"]))
        found[key][row["class"]] = int(row["count"]), row["igraph_class"]
    return found


def known_counts(shared: Path, key: tuple[str, bool, int], most: float) -> dict[str, tuple[int, str]]:
    """What the reference has for a network, of so many subgraphs at most unless GQUERY_SLOW is set."""
    known = reference(shared).get(key)
    if known is None:
        pytest.skip("the reference does not have it")
    if sum(number for number, _ in known.values()) > most and not os.environ.get("GQUERY_SLOW"):
        pytest.skip("takes long")
    return known


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5, 6])
@pytest.mark.parametrize("name", NAMES)
def test_counts_of_real_networks(shared_data: Path, name: str, size: int, directed: bool) -> None:
    known = known_counts(shared_data, (name, directed, size), 3e8)
    graph = network(shared_data, name, size, directed)
    numbers = igraph_ids(size, directed)
    counts = count(graph, threads=2)
    found = {
        matrix_of(graph.layout, code).text: (number, str(numbers.get(code, ""))) for code, number in counts.items()
    }
    assert found == known


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5])
def test_counts_of_small_graphs(size: int, directed: bool, seed: int) -> None:
    colours, types = ((1, 1), (3, 1), (1, 2), (2, 2), (2, 1), (4, 1))[seed]
    compare(small(seed, size, directed, colours=colours, types=types))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("size", "vertices", "colours"), [(6, 8, 1), (6, 8, 2), (7, 8, 2), (8, 8, 1)])
def test_counts_of_large_sets(size: int, vertices: int, colours: int, directed: bool) -> None:
    compare(small(1, size, directed, vertices, colours=colours))


@pytest.mark.parametrize("size", [6, 7, 8])
def test_all_connected_sets_are_counted(size: int) -> None:
    graph = small(2, size, True, 12)
    assert sum(count(graph).values()) == connected_sets(graph)


def compare(graph: Coloured) -> None:
    """With the naive census."""
    found = Counter[object]()
    for code, number in count(graph).items():
        matrix = matrix_of(graph.layout, code)
        form = matrix.colours, matrix.arcs
        assert form == least_form([list(row) for row in matrix.arcs], list(matrix.colours)), "not canonical"
        found[form] += number
    assert found == naive_census(graph)


def test_names_of_other_tools() -> None:
    layout = layout_of(3, 1, 1, True)
    known = {matrix_of(layout, code).text: (number, code) for code, number in igraph_ids(3, True).items()}
    assert known["000100110"][0] == 7  # the feed-forward loop
    assert mfinder_id(matrix_of(layout, known["000100110"][1])) == 38
    assert len(igraph_ids(4, True)) == 218
    assert len(igraph_ids(6, False)) == 156
    assert igraph_ids(5, True) == {}


@pytest.mark.parametrize("threads", [1, 2, 16])
def test_any_number_of_threads_counts_the_same(threads: int) -> None:
    graph = large()
    assert count(graph, threads) == count(graph)


def test_tables_grow() -> None:
    """What is beside a large set has many forms, and the table of codes begins small."""
    graph = large()
    counts = count(graph)
    assert len(counts) > 1000
    assert sum(counts.values()) == connected_sets(graph)


@pytest.mark.parametrize("threads", [1, 2])
def test_little_memory_takes_longer(threads: int) -> None:
    """What no longer fits is settled, and begins anew; random graphs' counts go to a file."""
    graph, null = large(), Null("degrees", 10, 4)
    plenty, little = Control(), Control(memory_limit=1_400_000 * threads)
    wanted, found = (census(graph, null, 300, threads, control) for control in (plenty, little))
    assert threads * plenty.memory.peak > 2 * little.memory.peak  # on a busy machine one thread may do all
    assert isinstance(found.random.counts, np.memmap)
    assert np.array_equal(found.codes, wanted.codes)
    assert np.array_equal(found.counts, wanted.counts)
    assert np.array_equal(found.random.counts, wanted.random.counts)
    assert np.array_equal(found.random.totals, wanted.random.totals)
    with pytest.raises(MemoryLimitError, match="counting motifs"):
        census(graph, null, 300, threads, Control(memory_limit=20_000))
    with pytest.raises(MemoryLimitError, match="random graphs"):  # nor has the disk room
        census(graph, null, 10**15, threads, little)


def test_time_and_cancel() -> None:
    graph = large(8)
    with pytest.raises(QueryTimeout):
        count(graph, 1, Control(timeout=0.05))
    control = Control()
    control.cancel()
    with pytest.raises(QueryCancelled):
        count(graph, 2, control)


def large(size: int = 5) -> Coloured:
    """A dense one."""
    random = np.random.default_rng(5)
    pairs = np.unique(random.integers(30, size=(130, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]

    return Coloured(arcs_of(pairs), np.zeros(30, np.int32), layout_of(size, 1, 1, True))


def test_what_has_no_code() -> None:
    with pytest.raises(UnsupportedError, match="3 to 8 vertices"):
        layout_of(9, 1, 1, True)
    with pytest.raises(UnsupportedError, match="too many"):
        layout_of(8, 2, 1, True)


def test_too_many_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_MOST", 1000.0)
    with pytest.raises(UnsupportedError, match="64 bits"):
        count(large())


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("size", "types", "colours"), [(3, 1, 1), (5, 1, 1), (6, 1, 2), (4, 2, 4), (8, 1, 1)])
def test_refined_codes_are_of_the_same_graphs(size: int, types: int, colours: int, directed: bool) -> None:
    layout, search, seed = layout_of(size, types, colours, directed), new_search(size), size + 10 * types
    codes = np.random.default_rng(seed).integers(1 << int(layout.positions[-1]), size=2000)
    refined, classes = codes.copy(), codes.copy()
    make_refined(refined, layout, search)
    assert len(np.unique(refined)) <= len(np.unique(codes)), f"seed {seed}"
    make_canonical(classes, layout, search)
    make_canonical(refined, layout, search)
    assert np.array_equal(refined, classes), f"seed {seed}"

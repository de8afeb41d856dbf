"""Random graphs: what they keep, and that all that keep it are equally likely."""

from __future__ import annotations

import re
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gquery.executor.census.graph import Arcs, Coloured
from gquery.executor.census.layout import layout_of
from gquery.executor.census.null import Model, Null
from gquery.executor.cpu.census.counting import census
from gquery.executor.cpu.random_graphs.shuffled import Shuffler
from gquery.executor.progress import Control
from gquery.motif.matrices import matrix_of
from gquery.stopping import unchecked
from tests.motif.naive import connected_sets
from tests.motif.networks import arcs_of, folder, network, rows, small

COPIES, SAMPLES = 200, 500  # graphs that are shuffled at once, and how often
SWITCHES = 60  # attempts for each link: with 40 it still shows where a chain began

LISTS: list[tuple[str, bool, Model]] = [
    ("tiny_directed_inout", True, "degrees"),
    ("tiny_directed2_inout", True, "degrees"),
    ("tiny_directed_mutual", True, "mutual"),
    ("tiny_directed2_mutual", True, "mutual"),
    ("tiny_undirected", False, "degrees"),
    ("tiny_cycle", True, "degrees"),
    ("tiny_cycle", True, "mutual"),
    ("tiny_directed_inout", True, "stubs"),
    ("tiny_undirected", False, "stubs"),
]


@pytest.mark.parametrize(("name", "directed", "model"), LISTS)
def test_all_graphs_are_equally_likely(shared_data: Path, name: str, directed: bool, model: Model) -> None:
    """Chi-square over the complete list. Copies of the graph with a colour each are shuffled together: a link is
    exchanged with those of its own copy only. Of joined stubs those graphs count that lost no link."""
    given, graphs = read_list(folder(shared_data) / f"{name}.txt")
    counts = sampled(given, graphs, directed, Null(model, SWITCHES, 2024))
    assert counts.sum() == COPIES * SAMPLES or model == "stubs"
    assert counts.sum() > 20 * len(graphs)
    expected = counts.sum() / len(graphs)
    assert is_plausible(float(((counts - expected) ** 2).sum() / expected), len(graphs) - 1)


def is_plausible(chi_square: float, freedom: int) -> bool:
    """Whether p is above 0.01 (Wilson and Hilferty's approximation)."""
    spread = 2 / (9 * freedom)
    return ((chi_square / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread) < 2.326


def read_list(path: Path) -> tuple[list[list[int]], list[list[list[int]]]]:
    """The graph itself, and all that keep the same."""
    lines = path.read_text(encoding="utf-8").splitlines()
    named = re.search(r"(?:arcs|edges):? ((?:\d+-\d+ ?)+)", lines[0])
    assert named

    def arcs(words: list[str]) -> list[list[int]]:
        return [[int(end) for end in word.split("-")] for word in words]

    return arcs(named[1].split()), [arcs(line.split()[1:]) for line in lines if not line.startswith("#")]


def sampled(given: list[list[int]], graphs: list[list[list[int]]], directed: bool, null: Null) -> NDArray[np.int64]:
    """How often each of the graphs came."""
    base = np.array(given)
    vertices = int(base.max()) + 1
    arcs = arcs_of((base + vertices * np.arange(COPIES)[:, None, None]).reshape(-1, 2))
    shuffler = Shuffler(arcs, np.repeat(np.arange(COPIES), vertices).astype(np.int32), directed, null)

    def bits(ends: NDArray[np.int64]) -> NDArray[np.float64]:
        low, high = (ends if directed else np.sort(ends, axis=1)).T
        return 2.0 ** (low * vertices + high)

    places = {int(bits(np.array(graph)).sum()): place for place, graph in enumerate(graphs)}
    counts = np.zeros(len(graphs), np.int64)
    for number in range(SAMPLES):
        made = shuffler.make(number, unchecked)
        ends = np.stack([made.tails, made.heads], axis=1)
        copies = ends[:, 0] // vertices
        codes = np.bincount(copies, bits(ends % vertices), COPIES)[np.bincount(copies, minlength=COPIES) == len(base)]
        for code in codes.tolist():
            counts[places[int(code)]] += 1
    return counts


@pytest.mark.parametrize("model", ["degrees", "mutual"])
@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("name", ["yeast", "ecoli_alon", "ecoli"])
def test_means_of_real_networks(shared_data: Path, name: str, size: int, model: Model) -> None:
    """Those that the reference does not doubt: within five standard errors and the two per cent that tools differ."""
    graph = network(shared_data, name, size, True)
    found = census(graph, Null(model, 10, 17), 1000, 2, Control())
    texts = [matrix_of(graph.layout, code).text for code in found.codes.tolist()]
    means, spreads = found.random.counts.mean(0), found.random.counts.std(0, ddof=1)
    compared = 0
    kept = f"switching; in/out{'/mutual' if model == 'mutual' else ''} degrees kept"
    for row in rows(folder(shared_data) / "zscores.csv"):
        asked = (row["network"], int(row["k"])) == (name, size) and row["null_model"].startswith(kept)
        if asked and row["trusted"] != "no" and row["class"] in texts:
            place = texts.index(row["class"])
            error = np.hypot(spreads[place], float(row["sd"])) / np.sqrt(1000)
            assert abs(means[place] - float(row["mean"])) <= 5 * error + 0.02 * means[place] + 0.005, row
            compared += 1
    assert compared > 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("model", ["degrees", "mutual"])
def test_degrees_are_kept_by_type_and_colour(model: Model, directed: bool, seed: int) -> None:
    graph = small(seed, 3, directed, 20, colours=2, types=2)
    shuffler = Shuffler(graph.arcs, graph.colours, directed, Null(model, 30, seed))
    before = neighbours(graph.arcs, graph.colours, directed, model == "mutual")
    graphs = set()
    for number in range(20):
        made = shuffler.make(number, unchecked)
        assert neighbours(made, graph.colours, directed, model == "mutual") == before
        graphs.add(tuple(sorted(zip(*(side.tolist() for side in made), strict=True))))
    assert len(graphs) > 1


def neighbours(arcs: Arcs, colours: NDArray[np.int32], directed: bool, mutual: bool) -> list[tuple[int, ...]]:
    """Of every arc what is kept, sorted. Fails for loops and arcs that are there twice."""
    rows = list(zip(*(side.tolist() for side in arcs), strict=True))
    if not directed:
        rows = [(head, tail, type) for tail, head, type in rows] + rows
    present = set(rows)
    assert len(present) == len(rows)
    assert all(tail != head for tail, head, _ in rows)
    both = {(tail, head, type): mutual and (head, tail, type) in present for tail, head, type in rows}
    out = [(0, tail, type, int(colours[head]), both[tail, head, type]) for tail, head, type in rows]
    return sorted(out + [(1, head, type, int(colours[tail]), both[tail, head, type]) for tail, head, type in rows])


def test_totals_are_of_all_classes() -> None:
    """Also of those that only random graphs have."""
    graph = small(5, 3, True, 12)
    found, counted = (census(graph, Null("erdos-renyi", 10, 9), 30, threads, Control()) for threads in (2, 1))
    shuffler = Shuffler(graph.arcs, graph.colours, True, Null("erdos-renyi", 10, 9))
    totals = [connected_sets(Coloured(shuffler.make(number, unchecked), graph.colours, graph.layout))
              for number in range(30)]  # fmt: skip
    assert found.random.totals.tolist() == counted.random.totals.tolist() == totals
    assert (found.random.counts.sum(axis=1) < totals).any()


@pytest.mark.parametrize("directed", [True, False])
def test_erdos_renyi_puts_as_many_links_anywhere(directed: bool) -> None:
    graph = small(2, 3, directed, 6, colours=2)
    shuffler = Shuffler(graph.arcs, graph.colours, directed, Null("erdos-renyi", 0, 3))
    met: set[tuple[int, int]] = set()
    colours = graph.colours.tolist()
    for number in range(300):
        made = shuffler.make(number, unchecked)
        ends = [
            (a, b) if directed else (min(a, b), max(a, b))
            for a, b in zip(made.tails.tolist(), made.heads.tolist(), strict=True)
        ]
        assert len(set(ends)) == len(ends) == len(graph.arcs.tails)
        met |= set(ends)
    joined = {
        tuple(sorted((colours[a], colours[b])))
        for a, b in zip(*(side.tolist() for side in graph.arcs[:2]), strict=True)
    }
    assert len(joined) == 3, "the seed gives links between all colours"
    assert len(met) == (30 if directed else 15)


def test_any_number_of_threads_makes_the_same_graphs() -> None:
    graph = small(3, 4, True, 30)
    null = Null("degrees", 10, 5)
    one, two, many = (census(graph, null, 40, threads, Control()) for threads in (1, 2, 16))
    for other in (two, many):
        assert np.array_equal(one.codes, other.codes)
        assert np.array_equal(one.counts, other.counts)
        assert np.array_equal(one.random.counts, other.random.counts)
        assert one.random.changed == other.random.changed
    assert not np.array_equal(one.random.counts, census(graph, Null("degrees", 10, 6), 40, 1, Control()).random.counts)


def test_stubs_that_find_no_place_are_told() -> None:
    star = np.array([[0, leaf] for leaf in range(1, 6)] + [[1, 2], [2, 1]])
    graph = Coloured(arcs_of(star), np.zeros(6, np.int32), layout_of(3, 1, 1, True))
    assert census(graph, Null("stubs", 0, 1), 50, 1, Control()).random.left_out > 0
    assert census(graph, Null("degrees", 10, 1), 50, 1, Control()).random.left_out == 0


def test_random_graphs_without_any_motif() -> None:
    """A path among edges that have no end in common: random graphs may have none."""
    pairs = np.array([[0, 1], [1, 2], *([end, end + 1] for end in range(3, 60, 2))])
    for size in (3, 4):
        graph = Coloured(arcs_of(pairs), np.zeros(61, np.int32), layout_of(size, 1, 1, True))
        path = Coloured(arcs_of(np.array([[0, 1], [1, 2], [2, 3]])), np.zeros(4, np.int32), graph.layout)
        for given in (graph, path):
            found = census(given, Null("stubs", 10, 1), 50, 1, Control())
            assert (found.random.counts.sum(axis=1) <= found.random.totals).all()
            assert (found.random.totals == 0).any()

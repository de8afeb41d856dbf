"""`gquery.motifs`: the table, and what goes into it."""

from __future__ import annotations

import threading
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.motif.discovery import Discovery
from gquery.motif.matrices import Matrix
from gquery.motif.significance import adjusted, significance


def town(seed: int, *, loops: bool = False, both: bool = True) -> gquery.Graph:
    """Two kinds of vertices, one of them with a label more, and two types of edges."""
    random = np.random.default_rng(seed)

    def edges(count: int, tails: int, heads: int, same: bool) -> dict[str, Any]:
        pairs = np.unique(random.integers((tails, heads), size=(count, 2)), axis=0)
        if same and not loops:
            pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        if same and not both:
            pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        return {"source": pairs[:, 0], "target": pairs[:, 1] + (0 if same else 20)}

    return gquery.from_arrow(
        vertices={"A": {"id": list(range(5))}, ("A", "odd one"): {"id": [5, 6, 7]}, "B": {"id": list(range(20, 26))}},
        edges={
            ("A", "X", "A"): edges(26, 8, 8, True),
            ("A", "Y", "B"): edges(16, 8, 6, False),
            ("A", "X", "B"): edges(8, 8, 6, False),
        },
    )  # fmt: skip


def ways_onto_itself(matrix: Matrix) -> int:
    size = len(matrix.arcs)
    return sum(
        all(matrix.colours[order[a]] == matrix.colours[a] for a in range(size))
        and all(matrix.arcs[order[a]][order[b]] == matrix.arcs[a][b] for a in range(size) for b in range(size))
        for order in permutations(range(size))
    )


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by_label": True},
        {"by_type": True},
        {"by_label": True, "by_type": True, "labels": ["A"]},
        {"types": "X"},
        {"types": ["X"], "labels": ["A", "odd one"], "directed": False},
        {"directed": False, "by_label": True, "by_type": True},
    ],
)
@pytest.mark.parametrize("loops", [False, True])
def test_patterns_find_what_was_counted(options: Any, size: int, loops: bool) -> None:
    """The matches of a motif's pattern are its count times the ways to map it onto itself."""
    directed = options.get("directed", True)
    if not directed and options.get("by_type"):
        loops = False
    graph = town(3, loops=loops, both=directed)
    found = gquery.motifs(graph, size, random=0, **options)
    assert len(found) > 1
    repeated = any("beside another" in note for note in found.notes)
    step = 1 if size == 3 else 4
    for row, matrix in list(zip(found.rows(), found.matrices, strict=True))[::step]:
        listed = ", ".join(f"id({vertex})" for vertex in "abcdefgh"[:size])
        matches = graph.query(f"{row['pattern']} RETURN {'DISTINCT ' if repeated else ''}{listed}").to_arrow().num_rows
        assert matches == row["count"] * ways_onto_itself(matrix), row


def test_table() -> None:
    found = gquery.motifs(town(1), 3, random=200, seed=4)
    table = found.to_arrow()
    assert table.schema.names == [
        "class", "igraph", "mfinder", "pattern", "count", "concentration", "mean", "deviation", "z", "p", "p_adjusted",
    ]  # fmt: skip
    assert pa.table(found).equals(table)
    assert sum(table["concentration"].to_pylist()) == pytest.approx(1)
    z = [value for value in table["z"].to_pylist() if value is not None]
    assert z == sorted(z, reverse=True)
    for place, row in enumerate(found.rows()):
        chance = found.distribution(place)
        assert row["mean"] == pytest.approx(chance.mean())
        assert row["p"] == pytest.approx((np.sum(chance >= row["count"]) + 1) / 201)
    assert table.equals(gquery.motifs(town(1), 3, random=200, seed=4, threads=3).to_arrow())
    assert not table.equals(gquery.motifs(town(1), 3, random=200, seed=5).to_arrow())


def test_selection() -> None:
    found = gquery.motifs(town(1), 4, random=100)
    chosen = found.select(z=0.5, p=0.9, count=2)
    assert 0 < len(chosen) < len(found)
    assert all(row["count"] >= 2 and row["p_adjusted"] <= 0.9 for row in chosen.rows())
    assert all((row["z"] or 1) >= 0.5 for row in chosen.rows())
    assert [matrix.text for matrix in chosen.matrices] == chosen.table["class"].to_pylist()
    assert chosen.distribution(0).mean() == pytest.approx(chosen.rows()[0]["mean"])


def test_what_is_left_out_is_said() -> None:
    edges = {"source": [1, 1, 2, 2, 3], "target": [2, 2, 1, 3, 3]}
    graph = gquery.from_arrow({"A": {"id": [1, 2, 3, 4]}}, {("A", "X", "A"): edges})
    assert gquery.motifs(graph, 3).notes[:3] == (
        "self-loops, left out: 1",
        "edges beside another of the same direction, left out: 1",
        "vertices without an edge, in no motif: 1",
    )
    undirected = gquery.motifs(graph, 3, directed=False)
    assert "edges back, taken as one with those there: 1" in undirected.notes
    assert undirected.table["count"].to_pylist() == [1]


def test_nothing_there() -> None:
    graph = gquery.from_arrow({"A": {"id": [1, 2]}}, {("A", "X", "A"): {"source": [1], "target": [2]}})
    for model in ("degrees", "mutual", "stubs", "erdos-renyi"):
        for size in (3, 8):
            assert len(gquery.motifs(graph, size, model=model, random=3)) == 0
    empty = gquery.from_arrow({"A": {"id": pa.array([], pa.int64())}}, {})
    assert len(gquery.motifs(empty, 3, random=3, by_label=True)) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 2}, "3 to 8 vertices"),
        ({"k": 3.0}, "`k` is a whole number"),
        ({"random": -1}, "cannot be below 0"),
        ({"switches": 0}, "cannot be below 1"),
        ({"seed": True}, "`seed` is a whole number"),
        ({"model": "switching"}, "`model` is one of degrees"),
        ({"directed": 1}, "`directed` is True or False"),
        ({"labels": 5}, "`labels` is a name"),
        ({"labels": "Bb"}, "no label `Bb`"),
        ({"types": ["Z"]}, "no type `Z`"),
        ({"treads": 2}, "no option `treads`"),
        ({"threads": 0}, "not a number of threads"),
    ],
)
def test_odd_questions(options: dict[str, Any], message: str) -> None:
    with pytest.raises(gquery.BindError, match=message):
        gquery.motifs(town(1), options.pop("k", 3), **options)


def test_attempts_are_told_as_they_are_made() -> None:
    """Tiny graphs have some thousand, whatever is asked for: few are allowed."""
    ring = pa.table({"source": range(5), "target": [1, 2, 3, 4, 0]})
    few, many = (gquery.motifs(ring, 3, random=2, switches=switches) for switches in (10, 1000))
    assert any(note.startswith("400 attempts to switch an edge each") for note in few.notes)
    assert any(note.startswith("1,000 attempts to switch an edge each") for note in many.notes)


def test_a_label_of_a_graph_without_any() -> None:
    """Edges that come as a table have none to choose from."""
    with pytest.raises(gquery.BindError, match="no label `Gene`") as raised:
        gquery.motifs(pa.table({"source": [1, 2], "target": [2, 3]}), 3, labels="Gene")
    assert raised.value.hint == "it has no labels at all"


def test_limits() -> None:
    with pytest.raises(gquery.QueryTimeout):
        gquery.motifs(town(1), 4, random=10**6, timeout=0.2)
    with pytest.raises(gquery.MemoryLimitError):
        gquery.motifs(town(1), 4, random=10**6, memory_limit="20kB")
    with pytest.raises(gquery.UnsupportedError, match="too many"):
        gquery.motifs(town(1), 8, by_label=True, by_type=True)


def test_a_search_can_be_watched_and_stopped() -> None:
    search = Discovery(town(1), 3, random=50)
    search.run()
    assert search.progress.fraction == pytest.approx(1)
    assert search.progress.stage == "counting motifs"
    stopped = Discovery(town(1), 4, random=10**6)
    threading.Timer(0.2, stopped.cancel).start()
    with pytest.raises(gquery.QueryCancelled):
        stopped.run()


def test_significance() -> None:
    counts = np.array([5, 2, 0])
    random = np.array([[1, 2, 0], [3, 2, 1], [5, 2, 2]])
    told = significance(counts, random)
    assert told.mean.tolist() == [3, 2, 1]
    assert told.deviation.tolist() == [2, 0, 1]
    assert told.z[0] == 1
    assert np.isnan(told.z[1])
    assert told.p.tolist() == [0.5, 1, 1]
    assert np.isnan(significance(counts, random[:0]).p).all()
    assert np.isnan(significance(counts, random[:1]).deviation).all()
    p = np.array([0.01, 0.04, 0.03, 0.5])
    assert adjusted(p).tolist() == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])  # as R's p.adjust(p, "BH")


def test_edges_have_motifs() -> None:
    """Of a query's result, or of any table."""
    graph = town(2)
    known = gquery.motifs(graph, 3, types="X", labels="A", seed=3, random=20)
    chosen = graph.query("MATCH (a:A)-[:X]->(b:A) RETURN id(a), id(b)")
    assert gquery.motifs(chosen, 3, seed=3, random=20).table["count"].equals(known.table["count"])
    table = pa.table({"weight": [1, 2, 3], "target": ["y", "z", "z"], "source": ["x", "y", "x"]})
    assert gquery.motifs(table, 3, random=0).table["class"].to_pylist() == ["000100110"]
    with pytest.raises(gquery.LoadError, match="two columns"):
        gquery.motifs(graph.query("MATCH (a:A) RETURN id(a)"), 3)


def test_what_is_no_graph_has_no_motifs() -> None:
    with pytest.raises(gquery.BindError, match="not of a int"):
        gquery.motifs(5, 3)  # type: ignore[arg-type]

"""Real data: counts that are known, speed that a user feels is measured elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gquery.storage.load import LoadedGraph, load

MERGED = Path(__file__).resolve().parents[2] / "examples" / "lsqb_merged_fk.toml"


def counts(graph: LoadedGraph) -> tuple[int, int]:
    return graph.report.vertices, graph.report.edges


@pytest.mark.parametrize(
    ("name", "undirected", "expected"),
    [
        ("email-Enron", False, (36_692, 367_662)),
        ("email-Enron", True, (36_692, 183_831)),
        ("soc-Slashdot0902", False, (82_168, 948_464)),
        ("facebook_combined", True, (4_039, 88_234)),
        ("ca-AstroPh", False, (18_772, 198_110)),
    ],
)
def test_snap(shared_data: Path, name: str, undirected: bool, expected: tuple[int, int]) -> None:
    assert counts(load(shared_data / "snap" / f"{name}.txt.gz", undirected=undirected)) == expected


def test_slashdot_undirected(shared_data: Path) -> None:
    report = load(shared_data / "snap" / "soc-Slashdot0902.txt.gz", undirected=True).report
    assert (report.vertices, report.edges - report.self_loops) == (82_168, 504_230)


@pytest.mark.parametrize(
    ("name", "expected", "labels"),
    [("yeast", (3_112, 12_519), 71), ("hprd", (9_460, 34_998), 307), ("wordnet", (76_853, 120_399), 5)],
)
def test_labelled(shared_data: Path, name: str, expected: tuple[int, int], labels: int) -> None:
    graph = load(shared_data / "labelled" / f"{name}.graph.gz")
    assert counts(graph) == expected
    assert len(graph.snapshot.schema.labels) == labels


def test_property_graph_of_two_files(shared_data: Path) -> None:
    mapping = {
        "vertices": {"Developer": {"file": "musae_git_target.csv.gz", "properties": ["name", "ml_target"]}},
        "edges": [{"type": "FOLLOWS", "source": "Developer", "target": "Developer", "file": "musae_git_edges.csv.gz"}],
    }
    graph = load(shared_data / "snap", mapping=mapping)
    assert counts(graph) == (37_700, 289_003)
    assert list(graph.snapshot.vertex_tables[0].columns) == ["id", "name", "ml_target"]


def shape(graph: LoadedGraph) -> tuple[Counter[str], dict[frozenset[str], int]]:
    """Edges by type, vertices by label set."""
    types: Counter[str] = Counter()
    for table in graph.snapshot.edge_tables:
        types[table.type] += table.count
    return types, {frozenset(table.labels): table.count for table in graph.snapshot.vertex_tables}


@pytest.mark.parametrize("scale", ["sfexample", "sf0.003"])
def test_lsqb_layouts_agree(shared_data: Path, scale: str) -> None:
    folder = shared_data / "lsqb" / f"social-network-{scale}"
    projected = load(f"{folder}-projected-fk", super_labels={"Message": ["Post", "Comment"]})
    merged = load(f"{folder}-merged-fk", mapping=MERGED)
    assert shape(projected) == shape(merged)
    if scale == "sfexample":
        assert counts(projected) == (28, 72)
        assert shape(projected)[1][frozenset({"Post", "Message"})] == 2

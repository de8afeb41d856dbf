"""Single files: edge lists, edge tables, `.graph` texts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from gquery.errors import LoadError
from gquery.storage.load import load
from tests.storage.loaded import edges, ids, vertices, write

SNAP = "# Nodes: 3 Edges: 4\n# FromNodeId\tToNodeId\n7\t100\n100\t7\n\n7\t7\n7\t100\n"


def one(folder: Path, name: str, text: str) -> Path:
    return write(folder, {name: text}) / name


@pytest.mark.parametrize("name", ["g.txt", "g.txt.gz", "g.csv", "g"])
def test_snap_is_kept_as_written(tmp_path: Path, name: str) -> None:
    graph = load(one(tmp_path, name, SNAP))
    assert ids(graph) == {"": [7, 100]}
    assert edges(graph) == [(7, "EDGE", 100), (100, "EDGE", 7), (7, "EDGE", 7), (7, "EDGE", 100)]
    assert (graph.report.self_loops, graph.report.parallel_edges, graph.report.created_vertices) == (1, 1, 0)


def test_undirected(tmp_path: Path) -> None:
    graph = load(one(tmp_path, "g.txt", SNAP), undirected=True)
    assert edges(graph) == [(7, "EDGE", 100), (7, "EDGE", 7)]
    assert graph.report.merged_edges == 2


@pytest.mark.parametrize("mark", [" ", "\t", ",", ", ", ";", "|", "  \t "])
def test_separators(tmp_path: Path, mark: str) -> None:
    text = "".join(f"{a}{mark}{b}\r\n" for a, b in ((1, 2), (2, 3)))
    assert edges(load(one(tmp_path, "g.txt", text))) == [(1, "EDGE", 2), (2, "EDGE", 3)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(tmp_path: Path, end: str) -> None:
    graph = load(one(tmp_path, "g.txt", end.join(("1 2", "", "2 3", ""))))
    assert edges(graph) == [(1, "EDGE", 2), (2, "EDGE", 3)]


def test_ends_of_lines_of_several_kinds(tmp_path: Path) -> None:
    for text in ("1 2\r\n2 3\r3 4\n", "1,2\r\n2,3\r3,4", "1 2\r\n2 3\r\n3 4\r"):
        graph = load(one(tmp_path, "g.txt", text))
        assert edges(graph) == [(1, "EDGE", 2), (2, "EDGE", 3), (3, "EDGE", 4)]


def test_blanks_after_commas(tmp_path: Path) -> None:
    """`2` and ` 2` are one vertex, with a header and without, as integers and as text."""
    rows = "1, 2, 0.5, x\n2, 3, 1, y\n"
    for text in (f"source, target, w, name\n{rows}", rows):
        graph = load(one(tmp_path, "g.csv", text))
        assert ids(graph) == {"": [1, 2, 3]}
        assert [set(row[3].values()) - {"x", "y", " x", " y"} for row in edges(graph)] == [{0.5}, {1.0}]  # type: ignore[attr-defined]
    graph = load(one(tmp_path, "g.csv", "source, target\na, b\nb, c\n"))
    assert sorted(map(str, ids(graph)[""])) == ["a", "b", "c"]


def test_string_ids_and_missing_last_newline(tmp_path: Path) -> None:
    assert edges(load(one(tmp_path, "g.txt", "b a\na é\n1 b"))) == [
        ("b", "EDGE", "a"),
        ("a", "EDGE", "é"),
        ("1", "EDGE", "b"),
    ]


def test_ids_beyond_64_bits_and_with_leading_zeros_are_text(tmp_path: Path) -> None:
    assert ids(load(one(tmp_path, "g.txt", "1 99999999999999999999\n"))) == {"": ["1", "99999999999999999999"]}
    assert ids(load(one(tmp_path, "h.txt", "01 1\n"))) == {"": ["01", "1"]}


def test_sparse_and_negative_ids(tmp_path: Path) -> None:
    graph = load(one(tmp_path, "g.txt", "-5 9223372036854775807\n-9223372036854775808 -5\n"))
    assert ids(graph) == {"": [-(2**63), -5, 2**63 - 1]}


def test_further_columns_are_properties(tmp_path: Path) -> None:
    assert edges(load(one(tmp_path, "g.txt", "1 2 0.5\n2 3 1\n"))) == [
        (1, "EDGE", 2, {"column3": 0.5}),
        (2, "EDGE", 3, {"column3": 1.0}),
    ]
    named = "# FromNodeId ToNodeId Sign\n1 2 -1\n"
    assert edges(load(one(tmp_path, "h.txt", named))) == [(1, "EDGE", 2, {"Sign": -1})]


def test_tabs_with_empty_fields(tmp_path: Path) -> None:
    text = "a\tb c\tx\t\nb c\td\t\t1\n"
    assert edges(load(one(tmp_path, "g.txt", text))) == [
        ("a", "EDGE", "b c", {"column3": "x", "column4": None}),
        ("b c", "EDGE", "d", {"column3": None, "column4": 1}),
    ]


@pytest.mark.parametrize("counts", ["3\n", "3 2\n"])
def test_leading_counts_are_no_edge(tmp_path: Path, counts: str) -> None:
    graph = load(one(tmp_path, "g.txt", counts + "1 2\n2 3\n"))
    assert edges(graph) == [(1, "EDGE", 2), (2, "EDGE", 3)]
    assert any("if it is an edge, load with header=False" in note for note in graph.report.notes) == (" " in counts)


def test_leading_counts_are_an_edge_where_that_is_said(tmp_path: Path) -> None:
    """It was left out without a word."""
    graph = load(one(tmp_path, "g.txt", "3 2\n1 2\n2 3\n"), header=False)
    assert edges(graph) == [(3, "EDGE", 2), (1, "EDGE", 2), (2, "EDGE", 3)]


@pytest.mark.parametrize("vertices", ["1", "²", "9" * 5000])
def test_counts_of_lines_that_lack_an_end_are_no_reason_to_fail_otherwise(tmp_path: Path, vertices: str) -> None:
    with pytest.raises(LoadError):
        load(write(tmp_path, {"g.txt": f"{vertices}\t2\n\t1\n1\t1\n"}) / "g.txt")


def test_a_first_edge_that_looks_like_counts_stays(tmp_path: Path) -> None:
    assert len(edges(load(one(tmp_path, "g.txt", "1 3\n1 2\n2 3\n3 1\n")))) == 4


@pytest.mark.parametrize(
    "header",
    ["source,target", "src,dst", "from,to", "id_1,id_2", "Source,Target", ":START_ID,:END_ID", '"source","target"'],
)
def test_known_headers(tmp_path: Path, header: str) -> None:
    assert edges(load(one(tmp_path, "g.csv", f"{header}\n1,2\n"))) == [(1, "EDGE", 2)]


def test_ends_need_not_come_first(tmp_path: Path) -> None:
    assert edges(load(one(tmp_path, "g.csv", "w,to,from,type:TYPE\n5,2,1,KNOWS\n".replace("type:TYPE", "kind")))) == [
        (1, "EDGE", 2, {"w": 5, "kind": "KNOWS"})
    ]
    typed = ":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n"
    assert edges(load(one(tmp_path, "h.csv", typed))) == [(1, "KNOWS", 2)]


def test_words_before_integers_are_a_header(tmp_path: Path) -> None:
    for text in ("person,friend,w\n1,2,3\n", "person friend w\n1 2 3\n"):
        assert edges(load(one(tmp_path, "g.csv", text))) == [(1, "EDGE", 2, {"w": 3})]
    assert len(edges(load(one(tmp_path, "g.csv", "ann,bob\nbob,cid\n")))) == 2
    assert len(edges(load(tmp_path / "g.csv", header=True))) == 1
    assert len(edges(load(one(tmp_path, "h.txt", "source target\n1 2\n"), header=False))) == 2


def test_quoted_edge_list(tmp_path: Path) -> None:
    assert edges(load(one(tmp_path, "g.csv", '"a b","c,d"\n'))) == [("a b", "EDGE", "c,d")]


def test_single_parquet_file(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"w": [1.5], "src": ["a"], "dst": ["b"]}), tmp_path / "g.parquet")
    assert edges(load(tmp_path / "g.parquet")) == [("a", "EDGE", "b", {"w": 1.5})]


def test_single_vertex_file(tmp_path: Path) -> None:
    assert ids(load(one(tmp_path, "Person.csv", "id:ID,name\n1,a\n"))) == {"Person": [1]}


GRAPH = "t 3 3\nv 0 3 2\nv 1 0 2\nv 2 3 2\ne 0 1\ne 1 2\ne 0 2\n"


@pytest.mark.parametrize("name", ["g.graph", "g.graph.gz", "g.txt"])
def test_graph_text(tmp_path: Path, name: str) -> None:
    graph = load(one(tmp_path, name, GRAPH))
    assert ids(graph) == {"3": [0, 2], "0": [1]}
    assert edges(graph) == [(0, "EDGE", 1), (1, "EDGE", 2), (0, "EDGE", 2)]
    assert vertices(graph, "3") == [{"id": 0}, {"id": 2}]


def test_graph_text_with_edge_labels_and_without_degrees(tmp_path: Path) -> None:
    graph = load(one(tmp_path, "g.graph", "t 2 2\nv 0 3\nv 1 3\ne 0 1 7\ne 1 0\n"))
    assert edges(graph) == [(0, "7", 1), (1, "EDGE", 0)]

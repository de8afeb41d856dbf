"""Bad input: the message names file, line, column and value; the policies leave rows out or mend them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from gquery.errors import LoadError
from gquery.storage.load import load
from tests.storage.loaded import edges, ids, write

PEOPLE = "id:ID(P),name,age:int\n1,a,30\n"
KNOWS = ":START_ID(P),:END_ID(P)\n1,1\n"

# files, then what the error must say: file, line, column, value, words of the message
BAD: dict[str, tuple[dict[str, str | bytes], str, int | None, str | None, str | None, str]] = {
    "number": ({"P.csv": PEOPLE + "2,b,x\n"}, "P.csv", 3, "age", "x", "not a 64-bit integer"),
    "fraction": ({"P.csv": PEOPLE + "2,b,1.5\n"}, "P.csv", 3, "age", "1.5", "not a 64-bit integer"),
    "huge": ({"P.csv": PEOPLE + "2,b,9223372036854775808\n"}, "P.csv", 3, "age", "9223372036854775808", "64-bit"),
    "float": ({"P.csv": "id:ID,x:double\n1,1,\n".replace("1,1,", "1,one")}, "P.csv", 2, "x", "one", "not a number"),
    "boolean": ({"P.csv": "id:ID,x:boolean\n1,yes\n"}, "P.csv", 2, "x", "yes", "not true or false"),
    "date": ({"P.csv": "id:ID,x:date\n1,2020-02-30\n"}, "P.csv", 2, "x", "2020-02-30", "not a date"),
    "datetime": ({"P.csv": "id:ID,x:datetime\n1,noon\n"}, "P.csv", 2, "x", "noon", "not a date and time"),
    "list": ({"P.csv": "id:ID,x:int[]\n1,1;2\n2,1;z\n"}, "P.csv", 3, "x", "1;z", "not a list of a 64-bit"),
    "few fields": ({"P.csv": PEOPLE + "\n2,b\n"}, "P.csv", 4, None, "2,b", "expected 3 fields, found 2"),
    "many fields": ({"P.csv": PEOPLE + "2,b,3,4\n"}, "P.csv", 3, None, "2,b,3,4", "expected 3 fields, found 4"),
    "after newline in quotes": (
        {"P.csv": PEOPLE + '2,"b\nc",3\n3,d,x\n'}, "P.csv", 5, "age", "x", "not a 64-bit integer"),
    "encoding": ({"P.csv": PEOPLE.encode() + b"2,\xe9,3\n"}, "P.csv", 3, "name", "\\xe9", "not UTF-8"),
    "encoding of header": ({"P.csv": b"id:ID,n\xe9\n1,2\n"}, "P.csv", 1, None, "id:ID,n\\xe9", "not UTF-8"),
    "cut UTF-16": ({"P.csv": PEOPLE.encode("utf-16")[:-1]}, "P.csv", 2, None, None, "not utf-16"),
    "NUL": ({"P.csv": PEOPLE + "2,b\0,3\n"}, "P.csv", 3, "name", "b\0", "NUL"),
    "NUL in header": ({"P.csv": "id:ID,\0\n"}, "P.csv", 1, None, None, "NUL"),
    "duplicate id": ({"P.csv": PEOPLE + "2,b,3\n1,c,4\n"}, "P.csv", 4, "id", "1", "occurs twice in P"),
    "duplicate id in two files": (
        {"P.csv": PEOPLE, "Q.csv": "id:ID(P)\n2\n1\n"}, "Q.csv", 3, "id", "1", "occurs twice in P"),
    "missing id": ({"P.csv": PEOPLE + ",b,3\n"}, "P.csv", 3, "id", None, "id is missing"),
    "missing end": ({"P.csv": PEOPLE, "K.csv": KNOWS + "1,\n"}, "K.csv", 3, ":END_ID", None, "edge is missing"),
    "missing type": (
        {"P.csv": PEOPLE, "K.csv": ":START_ID,:END_ID,:TYPE\n1,1,\n"}, "K.csv", 2, ":TYPE", None, "type is missing"),
    "dangling": ({"P.csv": PEOPLE, "K.csv": KNOWS + "1,7\n"}, "K.csv", 3, ":END_ID", "7", "no `P` has this id"),
    "unknown space": (
        {"P.csv": PEOPLE, "K.csv": ":START_ID(PP),:END_ID(P)\n1,1\n"}, "K.csv", None, ":START_ID", None, "`PP`"),
    "ambiguous end": (
        {"A.csv": "id\n1\n", "B.csv": "id\n1\n", "K.csv": "from,to\n1,1\n"}, "K.csv", 2, "from", "1", "several"),
    "unclosed quote": ({"P.csv": PEOPLE + '2,"b,3\n3,c,4\n'}, "P.csv", 3, None, '2,"b,3', "never closed"),
    "unclosed quote in last field": ({"P.csv": PEOPLE + '2,b,"3\n'}, "P.csv", 3, None, '2,b,"3', "never closed"),
    "text after quote": ({"P.csv": PEOPLE + '2,"b"x,3\n'}, "P.csv", 3, None, '2,"b"x,3', "follows a closing quote"),
    "text after quote in header": ({"P.csv": '"id":ID,x\n'}, "P.csv", 1, None, '"id":ID,x', "follows a closing"),
    "quote in header": ({"P.csv": '"id:ID,x\n1,2\n'}, "P.csv", 1, None, '"id:ID,x', "never closed"),
    "unknown type": ({"P.csv": "id:ID,x:itn\n"}, "P.csv", 1, "x", "x:itn", "unknown column type"),
    "open id space": ({"P.csv": "id:ID(P,x\n1,2\n"}, "P.csv", 1, None, "id:ID(P", "`(` is not closed"),
    "open options": ({"P.csv": "id:ID(P){label:P,x\n1,2\n"}, "P.csv", 1, None, "id:ID(P){label:P", "`{` is not closed"),
    "open list": ({"P.csv": "id:ID,x:int[\n1,2\n"}, "P.csv", 1, None, "x:int[", "`[` is not closed"),
    "one end": ({"P.csv": PEOPLE, "K.csv": ":START_ID,x\n1,1\n"}, "K.csv", 1, None, None, "only one of"),
    "two ids": ({"P.csv": "a:ID,b:ID\n"}, "P.csv", 1, None, None, "more than once"),
    "same name": ({"P.csv": "id:ID,x,x\n1,2,3\n"}, "P.csv", 1, "x", None, "same name"),
    "cut gzip": ({"P.csv.gz": gzip.compress(PEOPLE.encode() * 99)[:-9]}, "P.csv.gz", None, None, None, "cut short"),
    "damaged gzip": (
        {"P.csv.gz": gzip.compress(PEOPLE.encode())[:-8] + b"12345678"}, "P.csv.gz", None, None, None, "damaged"),
    "no Parquet": ({"P.parquet": b"PAR1 nothing PAR1"}, "P.parquet", None, None, None, "Parquet file cannot be read"),
    "no Arrow": ({"P.arrow": b"ARROW1 nothing"}, "P.arrow", None, None, None, "Arrow file cannot be read"),
    "only blank lines": ({"P.csv": "\n\n"}, "P.csv", None, None, None, "empty"),
    "no bytes": ({"P.csv": ""}, "P.csv", None, None, None, "empty"),
    "no tables": ({"README.md": "hello"}, "", None, None, None, "no tables; it has README.md"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_folders(tmp_path: Path, case: str) -> None:
    files, file, line, column, value, words = BAD[case]
    with pytest.raises(LoadError) as caught:
        load(write(tmp_path, files))
    error = caught.value
    assert words in error.message
    assert Path(error.file or "").name == (file or tmp_path.name)
    assert (error.line, error.column, error.value) == (line, column, value)
    assert words in str(error)


SINGLE: dict[str, tuple[str, str | bytes, int | None, str | None, str]] = {
    "word too few": ("g.txt", "# x\n1 2\n3\n", 3, "3", "expected 2 fields"),
    "word too many": ("g.txt", "1 2\n\n3 4 5\n", 3, "3 4 5", "expected 2 fields"),
    "one word": ("g.txt", "hello\n", 1, "hello", "one word"),
    "NUL": ("g.txt", "1 2\n3 \0\n", 2, "3 \0", "NUL"),
    "encoding": ("g.txt", b"1 2\n3 \xff\n", 2, "3 \\xff", "UTF-8"),
    "empty": ("g.txt", "", None, None, "empty"),
    "comments only": ("g.txt", "# a\n# b\n", None, None, "no edges"),
    "open id space": ("g.csv", "id:ID(P,x\n1,2\n", 1, "id:ID(P", "`(` is not closed"),
    "missing end": ("g.txt", "a,b\nc,\n", 2, None, "end of the edge is missing"),
    "cut gzip": ("g.txt.gz", gzip.compress(b"1 2\n" * 999)[:-9], None, None, "cut short"),
    "short e": ("g.graph", "t 2 1\nv 0 1 1\nv 1 1 1\ne 0\n", 4, "e 0", "not `e SOURCE"),
    "long v": ("g.graph", "t 1 0\nv 0 1 1 1\n".replace("1 1 1", "1 1 1 1"), 2, "v 0 1 1 1 1", "not `v ID"),
    "other line": ("g.graph", "t 1 0\nv 0 1 1\nx\n", 3, "x", "none of t, v, e"),
    "bad id": ("g.graph", "t 1 0\nv zero 1 1\n", 2, "zero", "64-bit integer"),
    "huge id": ("g.graph", "t 1 0\nv 99999999999999999999 1 1\n", 2, "99999999999999999999", "64-bit integer"),
    "dangling": ("g.graph", "t 1 1\nv 0 1 1\ne 0 5\n", 3, "5", "no vertex has this id"),
    "duplicate": ("g.graph", "t 2 0\nv 0 1 1\nv 0 2 1\n", 3, "0", "occurs twice"),
    "no t": ("g.graph", "v 0 1 1\n", 1, None, "no `t"),
    "two t": ("g.graph", "t 1 0\nv 0 1 1\nt 1 0\n", 3, "t 1 0", "several graphs"),
    "cut short": ("g.graph", "t 2 2\nv 0 1 1\nv 1 1 1\ne 0 1\n", 1, "t 2 2", "announces"),
    "bad t": ("g.graph", "t one 2\n", 1, "t one 2", "not `t"),
}


@pytest.mark.parametrize("case", SINGLE)
def test_bad_files(tmp_path: Path, case: str) -> None:
    name, content, line, value, words = SINGLE[case]
    with pytest.raises(LoadError) as caught:
        load(write(tmp_path, {name: content}) / name)
    error = caught.value
    assert words in error.message
    assert (Path(error.file or "").name, error.line, error.value) == (name, line, value)


def test_missing_sources(tmp_path: Path) -> None:
    write(tmp_path, {"people.csv": PEOPLE})
    with pytest.raises(LoadError, match="did you mean `people"):
        load(tmp_path / "peple.csv")
    with pytest.raises(LoadError, match="int is no path"):
        load(3)  # type: ignore[arg-type]
    (tmp_path / "empty").mkdir()
    with pytest.raises(LoadError, match="it is empty"):
        load(tmp_path / "empty")


@pytest.mark.parametrize(
    "options",
    [
        {"on_bad_row": "ignore"},
        {"on_dangling": "skp"},
        {"delimiter": "::"},
        {"quote": "''"},
        {"super_labels": {"M": ["Z"]}},
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(LoadError):
        load(write(tmp_path, {"P.csv": PEOPLE}), **options)


def rows(graph: Any) -> list[tuple[Any, ...]]:
    return [(Path(r["file"]).name, r["line"], r["column"], r["value"]) for r in graph.report.rejects.to_pylist()]


def test_skip_lists_every_bad_row_once(tmp_path: Path) -> None:
    text = PEOPLE + '2,b,x\n3,c\n4,d,4\n,e,5\n1,f,6\n7,"g"h,7\n8,i\0,8\n9,j,9\n'
    graph = load(write(tmp_path, {"P.csv": text, "K.csv": KNOWS + "1,9\n4\n"}), on_bad_row="skip")
    assert ids(graph) == {"P": [1, 4, 9]}
    assert edges(graph) == [(1, "K", 1), (1, "K", 9)]
    assert sorted(rows(graph)) == [
        ("K.csv", 4, None, "4"),
        ("P.csv", 3, "age", "x"),
        ("P.csv", 4, None, "3,c"),
        ("P.csv", 6, "id", None),
        ("P.csv", 7, "id", "1"),
        ("P.csv", 8, None, '7,"g"h,7'),
        ("P.csv", 9, "name", "i\0"),
    ]
    assert (graph.report.bad_rows, graph.report.duplicate_ids) == (7, 1)


def test_dangling_edges_skipped(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"P.csv": PEOPLE, "K.csv": KNOWS + "1,7\n8,9\n"}), on_dangling="skip")
    assert edges(graph) == [(1, "K", 1)]
    assert graph.report.dangling_edges == 2
    assert rows(graph) == [("K.csv", 4, ":START_ID", "8"), ("K.csv", 3, ":END_ID", "7")]


def test_dangling_edges_create_vertices(tmp_path: Path) -> None:
    files = {"P.csv": PEOPLE, "K.csv": KNOWS + "1,7\n8,9\n7,8\n", "L.csv": ":START_ID(New),:END_ID(P)\na,1\n"}
    graph = load(write(tmp_path, files), on_dangling="create")
    assert ids(graph) == {"P": [1, 7, 8, 9], "New": ["a"]}
    assert len(edges(graph)) == 5
    assert (graph.report.created_vertices, graph.report.dangling_edges) == (4, 4)
    assert graph.snapshot.vertex_tables[0].columns["name"].to_pylist() == ["a", None, None, None]


def test_created_ids_must_fit(tmp_path: Path) -> None:
    files = {"P.csv": PEOPLE, "K.csv": KNOWS + "1,x7\n"}
    with pytest.raises(LoadError, match="the id is no integer"):
        load(write(tmp_path, files), on_dangling="create")


def test_created_vertices_of_a_union_carry_its_label(tmp_path: Path) -> None:
    files = {"A.csv": "id\n1\n", "B.csv": "id\n2\n", "A_x_M.csv": "a,b\n1,2\n1,5\n"}
    graph = load(write(tmp_path, files), super_labels={"M": ["A", "B"]}, on_dangling="create")
    assert ids(graph) == {"A:M": [1], "B:M": [2], "M": [5]}

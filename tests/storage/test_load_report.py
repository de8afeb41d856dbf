"""What the report of a load tells: the cell that kept a column from its type, and what a user may not have meant."""

from __future__ import annotations

import datetime
import math
from pathlib import Path

import pyarrow as pa
import pytest

import gquery
from gquery.storage.load import from_arrow, load
from gquery.storage.load.report import KeptAsText
from tests.storage.loaded import write


def balances(odd: str, count: int = 2000) -> str:
    rows = [f"{i},{i}.25" for i in range(count)]
    rows.insert(count // 2, f"{count},{odd}")
    return "id,balance\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("odd", ["n/a", "unknown", "1,5", "12 EUR", "1e400", "-1e999"])
def test_one_cell_keeps_a_column_text(tmp_path: Path, odd: str) -> None:
    text = balances(f'"{odd}"' if "," in odd else odd)
    report = load(write(tmp_path, {"Account.csv": text})).report
    file = str(tmp_path / "Account.csv")
    assert report.kept_as_text == {("Account", "balance"): KeptAsText(file, 1002, odd, pa.float64(), 1)}
    (note,) = [note for note in report.notes if "balance" in note]
    told, hint = note.split("; null=")
    assert told == f"Account.balance is text because of {odd!r} in {file}, line 1002; the rest are numbers"
    assert hint == f"{odd!r} would take it for a missing value"
    assert odd in repr(report)
    assert bool(load(tmp_path, null=odd).report.kept_as_text) == ("," in odd)  # what is quoted is meant as text


def test_a_number_that_no_float_holds_is_none(tmp_path: Path) -> None:
    """It was taken for an infinite one without a word; what is written as infinite is."""
    with pytest.raises(gquery.LoadError, match=r"not a number\n.*line 3, column x, value '1e400'"):
        load(write(tmp_path, {"A.csv": "id,x:double\n1,inf\n2,1e400\n"}))
    graph = gquery.load(write(tmp_path, {"A.csv": "id,x:double\n1,-Infinity\n2,1e-400\n"}))
    assert graph.query("MATCH (a) RETURN a.x ORDER BY a.x").rows() == [(-math.inf,), (0.0,)]


@pytest.mark.parametrize("number", [1.5, 1.0, 1e300])
def test_no_numbers_beside_numbers_are_floats(tmp_path: Path, number: float) -> None:
    """As gquery writes them: they made the column text. Words that may mean something else stay words."""
    values = [math.nan, number, None, math.inf, -math.inf]
    graph = gquery.from_arrow({"A": {"id": range(5), "x": values}}, {})
    graph.query("MATCH (a) RETURN a.id AS id, a.x AS x").write(tmp_path / "A.csv")
    again = gquery.load(tmp_path)
    assert str(again.query("MATCH (a) RETURN a.x ORDER BY a.id").rows()) == str([(value,) for value in values])


def test_no_numbers_beside_words_are_words(tmp_path: Path) -> None:
    for name, column in {"words": "nan inf nan", "zip": "007 nan 2", "named": "1.5 nan Ann"}.items():
        rows = "".join(f"{row},{value}\n" for row, value in enumerate(column.split()))
        graph = gquery.load(write(tmp_path / name, {"A.csv": f"id,x\n{rows}"}))
        assert graph.query("MATCH (a) RETURN a.x ORDER BY a.id").rows() == [(value,) for value in column.split()]
    rows = "".join(f"{row},{value}\n" for row, value in enumerate(("nan", "1.5", "?", "2.5")))
    kept = load(write(tmp_path / "odd", {"A.csv": f"id,x\n{rows}"})).report.kept_as_text
    assert [(entry.value, entry.count) for entry in kept.values()] == [("?", 1)]


@pytest.mark.parametrize(
    ("value", "odd", "type"),
    [
        ("2020-01-01T00:00:00Z", "2020-01-02T00:00:00", pa.timestamp("us", "UTC")),
        ("2020-01-01", "2020-01-02 ", pa.date32()),
        ("2020-01-01T00:00:00", " 2020-01-02T00:00:00", pa.timestamp("us")),
    ],
)
def test_what_would_be_a_value_where_that_is_declared(tmp_path: Path, value: str, odd: str, type: pa.DataType) -> None:
    """A point in time without an offset among others, or a blank far down: the load ended in a ValueError."""
    rows = "".join(f"{i},{value}\n" for i in range(1500))
    report = load(write(tmp_path, {"A.csv": f"id,at\n{rows}-1,{odd}\n"})).report
    file = str(tmp_path / "A.csv")
    assert report.kept_as_text == {("A", "at"): KeptAsText(file, 1502, odd, type, 1)}


def test_types_that_the_rest_has(tmp_path: Path) -> None:
    header = "id,whole,number,day,at,flag,zip,name,mixed\n"
    rows = [
        f"{i},{i},{i}.5,2020-01-0{i},2020-01-0{i}T10:00:00,true,{9000 + i},n{i},{'x' if i % 3 else i}"
        for i in range(1, 9)
    ]
    odd = "9,x,x,x,x,x,01234,x,x"
    graph = gquery.load(write(tmp_path, {"A.csv": header + "\n".join([*rows, odd]) + "\n"}))
    assert graph.report is not None
    kept = graph.report.kept_as_text
    assert {name: entry.type for (_, name), entry in kept.items()} == {
        "whole": pa.int64(), "number": pa.float64(), "day": pa.date32(), "at": pa.timestamp("us"), "flag": pa.bool_(),
        "zip": pa.int64(),
    }  # fmt: skip
    assert {entry.line for entry in kept.values()} == {10}
    assert graph.query("MATCH (a:A) WHERE a.name = 'n1' RETURN a.day").scalar() == "2020-01-01"


def test_owners(tmp_path: Path) -> None:
    """Every label that carries the property, the type of edges, the empty label."""
    files = {
        "nodes.csv": "id:ID,:LABEL,x\n1,A;B,1\n2,A,2\n3,,3\n4,C,?\n",
        "links.csv": ":START_ID,:END_ID,:TYPE,w\n1,2,K,1\n1,2,L,2\n1,2,K,-\n",
    }
    report = load(write(tmp_path, files), super_labels={"S": ["C"]}).report
    owners = {("A", "x"), ("B", "x"), ("", "x"), ("C", "x"), ("S", "x"), ("K", "w"), ("L", "w")}
    assert set(report.kept_as_text) == owners
    assert {entry.value for entry in report.kept_as_text.values()} == {"?", "-"}


def test_edge_lists_and_several_files(tmp_path: Path) -> None:
    report = load(write(tmp_path, {"g.txt": "1 2 5\n2 3 6\n# x\n3 1 none\n"}) / "g.txt").report
    assert (report.kept_as_text["EDGE", "column3"].line, report.kept_as_text["EDGE", "column3"].value) == (4, "none")
    files = {"P_0_0.csv": "id,x\n1,1\n2,2\n", "P_1_0.csv": "id,x\n3,?\n4,??\n5,5\n6,6\n"}
    (entry,) = load(write(tmp_path / "p", files)).report.kept_as_text.values()
    assert (Path(entry.file).name, entry.line, entry.value, entry.count) == ("P_1_0.csv", 2, "?", 2)


def test_text_stays_text_without_a_word(tmp_path: Path) -> None:
    text = "id,name,code,half\n" + "".join(f"{i},name {i},{'a' * i},{i if i % 3 == 0 else 'x'}\n" for i in range(1, 20))
    assert not load(write(tmp_path, {"A.csv": text})).report.kept_as_text


def test_no_edges_is_said() -> None:
    assert from_arrow({"A": {"id": [1]}}, {}).report.notes == (
        "the graph has no edges: no file or table was taken for edges",
    )
    assert from_arrow({"A": {"id": [1]}}, {("A", "R", "A"): {"a": [1], "b": [1]}}).report.notes == ()


def test_dates_are_dates(tmp_path: Path) -> None:
    graph = gquery.load(write(tmp_path, {"A.csv": "id,day\n1,2020-01-01\n"}))
    assert graph.query("MATCH (a:A) RETURN a.day").scalar() == datetime.date(2020, 1, 1)

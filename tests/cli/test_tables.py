"""Answers on a screen."""

from __future__ import annotations

import datetime
from io import StringIO

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import gquery
from gquery.terminal.output.tables import Head, answer, cell, fit, head, type_name


def drawn(table: pa.Table, width: int = 80, shown: int = 100) -> list[str]:
    console = Console(file=StringIO(), width=width)
    console.print(answer(Head(table, False), shown, console))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_types_and_alignment() -> None:
    lines = drawn(pa.table({"name": ["Ann", None], "age": [7, 30]}))
    assert lines[1:3] == ["│ name   │     age │", "│ string │ integer │"]
    assert lines[4:6] == ["│ Ann    │       7 │", "│ null   │      30 │"]


def test_markup_and_controls_are_only_text() -> None:
    text = "\n".join(drawn(pa.table({"a[b]": ["[red]x[/red]", "\x1b[2J\n\t"]})))
    assert "[red]x[/red]" in text
    assert "a[b]" in text
    assert "\\u001b[2J↵⇥" in text


def test_narrow_screens_cut_text_then_columns_but_never_numbers() -> None:
    table = pa.table({"text": ["x" * 500], "number": [1234567890123456789], **{f"c{i}": ["y" * 50] for i in range(9)}})
    lines = drawn(table, 60)
    assert all(len(line) <= 60 for line in lines)
    assert "1234567890123456789" in lines[4]
    assert "… 9 more" in lines[2]
    assert "x…" in lines[4]


def test_years_beyond_pythons_are_shown() -> None:
    far = pa.array([5_000_000, 0, None], pa.date32())
    lines = drawn(
        pa.table(
            {
                "d": far,
                "at": far.cast(pa.timestamp("s")),
                "l": pa.array([[-1_000_000], [], None], pa.list_(pa.date32())),
            }
        )
    )
    assert lines[4:7] == [
        "│ +15659-07-15 │ +15659-07-15T00:00  │ [-0768-02-04] │",
        "│ 1970-01-01   │ 1970-01-01 00:00:00 │ []            │",
        "│ null         │ null                │ null          │",
    ]


@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.integers(10, 200))
def test_fit(wanted: list[int], width: int) -> None:
    least = [min(want, 14) for want in wanted]
    widths = fit(wanted, least, width)
    assert 1 <= len(widths) <= len(wanted)
    assert all(1 <= have <= want for have, want in zip(widths, wanted, strict=False))
    if len(widths) > 1:
        assert sum(widths) + 3 * len(widths) + 1 <= width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        (float("nan"), "nan"),
        ("plain", "plain"),
        (["a", 1, None], "['a', 1, null]"),
        ({"k": "v"}, "{k: 'v'}"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
        (b"\x01\xff", "0x01ff"),
        (gquery.Node(1, ("Person",), {"name": "Ann"}), "(:Person {name: 'Ann'})"),
        (gquery.Node(1, ("P",), {"on": datetime.date(2024, 1, 2), "ok": True}), "(:P {on: 2024-01-02, ok: true})"),
        ([gquery.Relationship("R", 1, 2, {"name": "O'Neil", "raw": b"\x01"})], "[[:R {name: 'O'Neil', raw: 0x01}]]"),
    ],
)
def test_cells(value: object, text: str) -> None:
    assert cell(value) == text


@pytest.mark.parametrize(
    ("arrow", "name"),
    [
        (pa.int32(), "integer"),
        (pa.float64(), "float"),
        (pa.large_string(), "string"),
        (pa.list_(pa.string()), "list of string"),
        (pa.dictionary(pa.int8(), pa.string()), "string"),
        (pa.timestamp("us"), "datetime"),
        (pa.struct([("a", pa.int8())]), "map"),
    ],
)
def test_type_names(arrow: pa.DataType, name: str) -> None:
    assert type_name(arrow) == name


def test_elements_have_their_own_types(graph: gquery.Graph) -> None:
    schema = graph.query("MATCH p = (a)-[k]->() RETURN a, k, p, collect(a) AS c").schema
    assert [type_name(field.type) for field in schema] == ["node", "relationship", "path", "list of node"]


def test_head_knows_whether_there_is_more(graph: gquery.Graph) -> None:
    query = "MATCH (a:Person) RETURN a.id"
    assert (head(graph.query(query), 3).row_count, head(graph.query(query), 2).row_count) == ("3 rows", "2+ rows")
    assert head(graph.query(query + " LIMIT 1")).row_count == "1 row"


def test_head_stops_an_endless_query(graph: gquery.Graph) -> None:
    hops = "-->".join(f"(v{i}:Person)" for i in range(30))
    found = head(graph.query(f"MATCH REPEATABLE ELEMENTS {hops}, (x), (y), (z), (u), (v), (w), (s), (t) RETURN id(x)"))
    assert found.row_count == "1,000+ rows"

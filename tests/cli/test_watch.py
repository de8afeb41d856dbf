"""`gquery watch`: changes of an answer, from a feed of updates."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from pyarrow import feather

import gquery

Cli = Callable[..., tuple[int, bytes, str]]
RINGS = "MATCH (a)-->(b)-->(c)-->(a) RETURN a.id AS a, b.id AS b ORDER BY a"


@pytest.fixture
def chain(tmp_path: Path) -> str:
    path = tmp_path / "chain.csv"
    path.write_text("source,target,since\n1,2,1999\n2,3,1999\n3,4,1999\n")
    return str(path)


def _feed(tmp_path: Path, text: str) -> str:
    path = tmp_path / "feed.csv"
    path.write_text(text)
    return str(path)


def test_changes_by_version(cli: Cli, chain: str, tmp_path: Path) -> None:
    feed = _feed(tmp_path, "op,source,target\n+,3,1\n+,4,1\n-,1,2\n")
    code, out, err = cli("watch", chain, RINGS, "--updates", feed)
    assert code == 0, err
    header, *rows = out.decode().splitlines()
    assert header == '"version","diff","a","b"'
    assert sorted(rows) == ["1,1,1,2", "1,1,2,3", "1,1,3,1", "3,-1,1,2", "3,-1,2,3", "3,-1,3,1"]
    assert "6 rows of 3 versions" in err


def test_counts_in_batches(cli: Cli, chain: str, tmp_path: Path) -> None:
    """A batch ends before a line that takes back what it has inserted."""
    feed = _feed(tmp_path, "op,u,v\n+,3,1\n+,4,2\n-,3,1\n+,3,1\n")
    code, out, _ = cli("watch", chain, RINGS, "--updates", feed, "--emit", "counts", "--batch", "9", "--format", "json")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    found = {(row["version"], row["diff"]): row["count"] for row in rows}
    assert found == {(1, 1): 6, (1, -1): 0, (2, 1): 3, (2, -1): 3}


def test_an_update_is_told_before_the_next_one_comes(cli: Cli, chain: str, tmp_path: Path) -> None:
    """It waited for the line behind it, and was lost where that one was wrong."""
    feed = _feed(tmp_path, "op,source,target\n+,3,1\n*,4,1\n")
    code, out, err = cli("watch", chain, RINGS, "--updates", feed)
    assert (code, len(out.splitlines())) == (1, 4), err
    assert "line 3: op is" in err


@pytest.mark.parametrize(
    "feed",
    [
        "op,source,target,since\n-,1,2,\n-,2,3,1999\n",
        "op,source,target,note\n+,1,3,12\n+,1,4,abc\n-,1,3,12\n",
    ],
)
def test_what_a_line_says_is_the_same_in_any_batch(cli: Cli, chain: str, tmp_path: Path, feed: str) -> None:
    """An empty field was a property that must not be there, and a number a text, where another line had a value."""
    query, found = "MATCH (a)-->(b) RETURN a.id AS a, b.id AS b", []
    for size in ("1", "9"):
        code, out, err = cli("watch", chain, query, "--updates", _feed(tmp_path, feed), "--batch", size)
        assert code == 0, err
        found.append(sorted(line.split(b",", 1)[1] for line in out.splitlines()))
    assert found[0] == found[1]


def test_to_a_file(cli: Cli, chain: str, tmp_path: Path) -> None:
    feed = _feed(tmp_path, "op,source,target,since\n+,3,1,2020\n")
    target = tmp_path / "changes.csv"
    query = "MATCH (a)-[e]->(b) WHERE e.since > 2000 RETURN e.since AS since"
    code, out, _ = cli("watch", chain, query, "--updates", feed, "-o", str(target))
    assert (code, out) == (0, b"")
    assert target.read_text().splitlines()[1:] == ["1,1,2020"]


@pytest.mark.parametrize("ending", ["arrow", "feather"])
def test_to_an_arrow_file(cli: Cli, chain: str, tmp_path: Path, ending: str) -> None:
    """As `run` writes it: it was a stream."""
    target = tmp_path / f"changes.{ending}"
    code, _, err = cli("watch", chain, RINGS, "--updates", _feed(tmp_path, "op,u,v\n+,3,1\n"), "-o", target)
    assert code == 0, err
    assert feather.read_table(target)["a"].to_pylist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("feed", "told"),
    [
        ("op,source,target\n*,1,2\n", "line 2: op is `+` or `-`"),
        ("op,from,target\n+,1,2\n", "there is no column `source`"),
        ("op,source,target\n+,1,3\n+,1,77\n", "line 3: no vertex has this id"),
        ("op,source,target\n+,1,3\n-,3,2\n", "line 3: "),
        ("op,source,target\n+,1\n", "line 2: there are not as many fields"),
        ("op,source,target\n+,1,77\n", "no vertex has this id"),
        ("op,source,target\n+,1,77\n", "'77'"),
        ("op,source,target,source\n+,1,2,3\n", "there are two columns `source`"),
        ("op,u,v,target\n+,1,2,3\n", "`target` is a column beside `u`"),
        ('op,source,target\n+,1,3\n+,1,"4"x\n', "line 3: ',' expected after"),
        ('op,source,target\n+,1,"4\n', "line 2: unexpected end of data"),
        ("op,source,target,since\n+,1,2,lately\n", "line 2: `lately` cannot be a value of `since`"),
        ("op,source,target,since\n+,1,3,2001.5\n", "line 2: `2001.5` cannot be a value of `since`, of type int64"),
        ("op,source,target,since\n+,1,3,99999999999999999999\n", "line 2: `99999999999999999999` cannot be a value"),
        ("op,source,target\n-,1,4\n", "1"),
    ],
)
def test_wrong_feeds(cli: Cli, chain: str, tmp_path: Path, feed: str, told: str) -> None:
    code, _, err = cli("watch", chain, RINGS, "--updates", _feed(tmp_path, feed))
    assert code == 1
    assert told in err


def test_a_column_that_the_stream_has_itself(cli: Cli, chain: str, tmp_path: Path) -> None:
    feed = _feed(tmp_path, "op,source,target\n+,3,1\n")
    code, out, err = cli("watch", chain, "MATCH (a)-->(b) RETURN a.id AS version", "--updates", feed)
    assert (code, out, "a column `version` of its own" in err) == (1, b"", True), err


def test_names_that_the_graph_does_not_have(cli: Cli, chain: str, tmp_path: Path) -> None:
    feed = _feed(tmp_path, "op,source,target\n+,3,1\n")
    code, _, err = cli("watch", chain, "MATCH (a:Nobody) RETURN a.id", "--no-strict", "--updates", feed)
    assert (code, err.count("the graph has no label `Nobody`")) == (0, 1), err


def test_a_wrong_batch_is_told_by_its_lines(cli: Cli, chain: str, tmp_path: Path) -> None:
    feed = _feed(tmp_path, "op,source,target\n+,1,3\n+,1,4\n+,2,4\n+,1,77\n")
    code, _, err = cli("watch", chain, RINGS, "--updates", feed, "--batch", "2")
    assert code == 1
    assert "feed.csv, lines 4 to 5: no vertex has this id" in err


def test_values_are_of_the_types_that_they_have_in_the_graph(cli: Cli, tmp_path: Path) -> None:
    """Texts of digits were numbers, beside which the texts that were there could not be told."""
    graph = tmp_path / "codes.csv"
    graph.write_text("source,target,code:string,on:date\n1,2,01,2020-01-01\n")
    feed = _feed(tmp_path, "op,source,target,code,on,size\n+,2,1,02,2021-01-01,5\n-,1,2,01,,\n")
    query = "MATCH ()-[e]->() RETURN e.code AS code, e.on AS on"
    code, out, err = cli("watch", str(graph), query, "--updates", feed, "--format", "json")
    assert code == 0, err
    come, gone = map(json.loads, out.splitlines())
    assert (come["diff"], come["code"], come["on"]) == (1, "02", "2021-01-01")
    assert (gone["diff"], gone["code"], gone["on"]) == (-1, "01", "2020-01-01")


def test_points_in_time_as_files_have_them(cli: Cli, tmp_path: Path) -> None:
    """Those without an offset are UTC's where a graph is loaded, and were refused."""
    graph = tmp_path / "calls.csv"
    graph.write_text("source,target,at:datetime\n1,2,2020-01-01T00:00:00\n")
    feed = _feed(tmp_path,
                 "op,source,target,at,\n+,2,1,2020-01-01T05:00:00,x\n+,2,1,2020-01-01T07:00Z,\n"
                 "-,1,2,2020-01-01T02:00:00+02:00,y\n")  # fmt: skip
    query = "MATCH ()-[e]->() RETURN e.at AS at, keys(e) AS keys"
    code, out, err = cli("watch", str(graph), query, "--updates", feed, "--format", "json", "--batch", "3")
    assert code == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    told = {(row["diff"], row["at"][:16], *row["keys"]) for row in rows}
    assert told == {(1, "2020-01-01T05:00", "at"), (1, "2020-01-01T07:00", "at"), (-1, "2020-01-01T00:00", "at")}


def test_whole_numbers_where_the_graph_has_others(cli: Cli, tmp_path: Path) -> None:
    graph = tmp_path / "weights.gq"
    edges = {"source": [1], "target": [2], "weight": [1.5]}
    gquery.from_arrow({"P": {"id": [1, 2]}}, {("P", "K", "P"): edges}).save(graph)
    feed = _feed(tmp_path, "op,source,target,weight\n+,2,1,2\n")
    code, out, err = cli("watch", str(graph), "MATCH (a)-[k]->(b) RETURN k.weight AS weight", "--updates", feed)
    assert (code, out.splitlines()[1]) == (0, b"1,1,2"), err


def test_a_property_named_as_an_end_may_be(cli: Cli, tmp_path: Path) -> None:
    """`u` and `v` are ends only where there is no `source`."""
    graph = tmp_path / "u.gq"
    edges = {"source": [1, 1], "target": [2, 2], "u": [5, 6]}
    gquery.from_arrow({"P": {"id": [1, 2]}}, {("P", "K", "P"): edges}).save(graph)
    feed = _feed(tmp_path, "op,source,target,u\n-,1,2,6\n+,2,1,7\n")
    query = "MATCH (a)-[k]->(b) RETURN a.id AS a, k.u AS u"
    code, out, err = cli("watch", str(graph), query, "--updates", feed)
    assert (code, out.splitlines()[1:]) == (0, [b"1,-1,1,6", b"2,1,2,7"]), err


def test_a_feed_that_is_no_text(cli: Cli, chain: str, tmp_path: Path) -> None:
    (tmp_path / "feed.csv").write_bytes(b"op,source,target\n+,\xff,1\n")
    code, _, err = cli("watch", chain, RINGS, "--updates", str(tmp_path / "feed.csv"))
    assert (code, "not UTF-8" in err) == (1, True)


def _from_stdin(monkeypatch: pytest.MonkeyPatch, feed: bytes) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(feed), "utf-8", errors="surrogateescape"))


def test_long_fields(cli: Cli, chain: str, tmp_path: Path) -> None:
    """As in the files of a graph, where they may have 16 MiB: those of 131,073 characters were refused."""
    before = csv.field_size_limit()
    text = "x" * 2_000_000
    feed = _feed(tmp_path, f"op,source,target,note\n+,3,1,{text}\n")
    code, out, err = cli("watch", chain, "MATCH (a)-[e]->({id: 1}) RETURN a.id AS a", "--updates", feed)
    assert (code, out.splitlines()[1:]) == (0, [b"1,1,3"]), err
    assert csv.field_size_limit() == before
    code, _, err = cli(
        "watch", chain, RINGS, "--updates", _feed(tmp_path, f"op,source,target,note\n+,3,1,{9 * text}\n")
    )
    assert (code, "feed.csv, line 2: field larger than field limit (16777216)" in err) == (1, True), err


def test_a_property_that_the_feed_brings(cli: Cli, chain: str, tmp_path: Path) -> None:
    """Its column has a type that the stream did not begin with; which line brings it was not told."""
    feed = _feed(tmp_path, "op,source,target,w\n+,3,1,\n+,1,3,5\n")
    query = "MATCH (a)-[e]->(b) RETURN a.id AS a, e.w AS w"
    code, out, err = cli("watch", chain, query, "--no-strict", "--updates", feed)
    assert (code, out.splitlines()[1:]) == (1, [b"1,1,3,"]), err
    assert "feed.csv, line 3: `w` is int64 now, and was null when the stream began" in err


def test_from_standard_input(cli: Cli, chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a file: the mark at the beginning of a text that comes from Windows was part of a column's name."""
    _from_stdin(monkeypatch, b"\xef\xbb\xbfop,source,target\r\n+,3,1\r\n*,3,1\r\n")
    code, out, err = cli("watch", chain, RINGS, "--updates", "-")
    assert (code, len(out.splitlines())) == (1, 4), err
    assert "standard input, line 3: op is" in err


def test_standard_input_that_is_no_text(cli: Cli, chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _from_stdin(monkeypatch, b"op,source,target,note\n+,3,1,\xe9\n")
    code, _, err = cli("watch", chain, RINGS, "--updates", "-")
    assert (code, "standard input: the text is not UTF-8" in err) == (1, True), err


def test_query_and_feed_from_standard_input(cli: Cli, chain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _from_stdin(monkeypatch, b"op,source,target\n+,3,1\n")
    code, _, err = cli("watch", chain, "-", "--updates", "-")
    assert (code, "cannot both be read" in err) == (2, True), err


def test_no_feed(cli: Cli, chain: str) -> None:
    assert cli("watch", chain, RINGS, "--updates", "nowhere.csv")[0] == 2

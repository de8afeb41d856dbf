"""What Arrow makes of few rows is what a DuckDB statement makes of them: random projections, both ways."""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery import Graph
from gquery.executor.relational import computing
from gquery.executor.relational.codes import waiting
from gquery.executor.relational.computing import Computing
from gquery.executor.relational.direct import few

SEED = 4711
QUERIES = 3_000 if os.environ.get("GQUERY_SLOW") else 60
PEOPLE, KNOWS = 40, 300
NOON = datetime.datetime(2024, 2, 29, 12)
HOURS = [NOON + datetime.timedelta(hours=hour) for hour in range(5)]
DAYS = [datetime.date(year, 2, 28) for year in (1904, 1968, 2024)]

WHOLE = [
    "a.age", "b.age", "k.since", "$more", "3", "a.id", "length(p)", "a.born.month", "b.seen.minute", "a.seen.year",
    "duration.inSeconds(a.seen, b.seen).minutes", "duration.inSeconds(a.seen, $seen).seconds",
    "{one: a.age, other: 3}.one",
    "range(a.age, 2)[b.age]", "range(1, b.age)[-2]", "range($more, 9)[-1]", "range(1, $more)[a.age]",
    "(a.age % 7)", "a.id % b.age",
]  # fmt: skip
TEXT = ["a.name", "b.name", "a.coded", "'oslo'", "toString(b.age)", "a.name + b.name", "$text"]
TRUTH = ["a.glad", "b.glad", "a = b", "a <> b", "a.name IS NULL", "b.age IS NOT NULL"]
FRACTION = ["a.score", "b.score", "0.5", "0.0", "$part"]
TIME = ["a.born", "b.born"], ["a.seen", "b.seen", "$seen"]
PARAMETERS = {"more": 7, "part": float("nan"), "text": "Oslo", "seen": NOON + datetime.timedelta(hours=3)}


@pytest.fixture(scope="module")
def graph() -> Graph:
    chance = random.Random(SEED)

    def column(values: list[Any], count: int) -> list[Any]:
        return [chance.choice([None, *values]) for _ in range(count)]

    people = pa.table({
        "id": chance.sample(range(1000), PEOPLE),
        "age": pa.array(column([-3, 0, 20, 127], PEOPLE), pa.int8()),
        "name": column(["", "oslo", "Oslo", "Åbo"], PEOPLE),
        "coded": pa.array(column(["b", "a", ""], PEOPLE)).dictionary_encode(),
        "glad": column([True, False], PEOPLE),
        "born": column(DAYS, PEOPLE),
        "seen": pa.array(column(HOURS, PEOPLE), pa.timestamp("ms")),
        "score": column([0.5, float("nan"), -0.0, float("inf"), -1e300], PEOPLE),
        "tags": column([["x"], [], ["y", None]], PEOPLE),
    })  # fmt: skip
    knows = pa.table({
        "from": [chance.choice(people["id"].to_pylist()) for _ in range(KNOWS)],
        "to": [chance.choice(people["id"].to_pylist()) for _ in range(KNOWS)],
        "since": column([2000, 2010, 2**62], KNOWS),
    })  # fmt: skip
    return gquery.from_arrow(vertices={"Person": people}, edges={("Person", "KNOWS", "Person"): knows})


class Written:
    """Random expressions."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def value(self) -> str:
        return self.chance.choice([self.whole, self.text, self.time, self.truth])()

    def whole(self, depth: int = 2) -> str:
        one = self.chance.choice(WHOLE)
        if depth and self.chance.random() < 0.4:
            other = self.whole(depth - 1)
            return self.chance.choice([f"({one} {self.chance.choice('+-*')} {other})", f"coalesce({one}, {other})"])
        return one

    def text(self) -> str:
        one = self.chance.choice(TEXT)
        return f"coalesce({one}, {self.chance.choice(TEXT)})" if self.chance.random() < 0.2 else one

    def time(self) -> str:
        return self.chance.choice(self.chance.choice(TIME))

    def truth(self, depth: int = 2) -> str:
        kind = self.chance.randrange(5 if depth else 2)
        sides = self.chance.choice([WHOLE, TEXT, FRACTION, *TIME])
        if kind < 2:
            operator = self.chance.choice(["=", "<>", "<", "<=", ">", ">="])
            return f"({self.chance.choice(sides)} {operator} {self.chance.choice(sides)})"
        if kind == 2:
            return self.chance.choice(TRUTH)
        if kind == 3:
            return f"(NOT {self.truth(depth - 1)})"
        return f"({self.truth(depth - 1)} {self.chance.choice(['AND', 'OR'])} {self.truth(depth - 1)})"

    def chosen(self) -> str:
        kind = self.chance.choice([self.whole, self.text])
        return f"CASE WHEN {self.truth()} THEN {kind()} WHEN {self.truth()} THEN null ELSE {kind()} END"

    def measure(self) -> str:
        distinct = self.chance.choice(["", "DISTINCT "])
        return self.chance.choice([
            "count(*)", f"count({distinct}{self.value()})", f"count({distinct}a)", f"sum({self.whole()})",
            f"min({self.whole()})", f"max({self.time()})", f"collect(DISTINCT {self.text()})", "1 + count(*)",
            f"collect({self.value()})", "collect(a)", "collect(a.score)",
            f"head(collect({{one: {self.value()}, other: a, last: {self.chosen()}}}))",
            f"head(collect({{one: {self.value()}, other: {self.whole()}}})).other", "nodes(head(collect(p)))[1]",
        ])  # fmt: skip

    def query(self) -> str:
        """A projection with columns c0, c1..., all of which it is sorted by where it is cut."""
        grouped = self.chance.random() < 0.5
        plain = [self.chance.choice([self.value, self.chosen])() for _ in range(self.chance.randint(1, 3))]
        plain += [self.chance.choice(["a.tags", "a", "b", "k"] if grouped else ["a.score", "a.tags", "k", "a", "b"])]
        measures = [self.measure() for _ in range(self.chance.randint(1, 2))] if grouped else []
        columns = [*plain, *measures]
        items = ", ".join(f"{each} AS c{place}" for place, each in enumerate(columns))
        distinct = "DISTINCT " if grouped and self.chance.random() < 0.2 else ""
        sorted_by = [
            place for place, each in enumerate(columns) if "collect" not in each and each not in ("a.score", "a.tags")
        ]
        order = ", ".join(f"c{place}{self.chance.choice(['', ' DESC'])}" for place in sorted_by)
        cut = ""
        if len(sorted_by) == len(columns):
            cut = f" SKIP {self.chance.randint(0, 3)} LIMIT {self.chance.randint(0, 9)}" * self.chance.randint(0, 1)
        where = f" WHERE {self.truth()}" if self.chance.random() < 0.5 else ""
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        order = f" ORDER BY {order}{cut}" if order else ""
        after = " WHERE c0 IS NOT NULL" if self.chance.random() < 0.3 else ""
        return f"MATCH p = (a)-[k]->(b){where} WITH {distinct}{items}{order}{after} RETURN {names}"


def answer(graph: Graph, text: str) -> list[str] | str:
    """Rows without an order, or the error."""
    try:
        return sorted(map(repr, (_unordered(row) for row in graph.query(text, PARAMETERS).rows())))
    except gquery.GQueryError as error:
        return f"{type(error).__name__}: {error.message}"


def _unordered(row: tuple[Any, ...]) -> list[Any]:
    return [sorted(map(repr, value)) if isinstance(value, list) else value for value in row]


@pytest.mark.parametrize("seed", range(QUERIES))
def test_random_projections(graph: Graph, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Written(seed).query()
    directly = answer(graph, text)
    with monkeypatch.context() as patched:
        patched.setattr(Computing, "direct", None)
        assert directly == answer(graph, text), text
    with monkeypatch.context() as patched:
        patched.setattr(computing, "FEW", 7)
        assert directly == answer(graph, text), text
        patched.setattr(waiting, "_WORTH", 10**9)
        assert directly == answer(graph, text), text


UNWOUND = [
    "range(1, a.age)", "range(a.age, b.age)", "[n IN [1]]", "nodes(p)", "relationships(p)", "a.tags", "collected",
    "range(0, 100000 * b.id)", "range(a.id, 2)", "range(-9223372036854775807, k.since)",
]  # fmt: skip


@pytest.mark.parametrize("items", UNWOUND)
def test_items_of_lists(graph: Graph, items: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = "WITH a, b, k, p, collect(b.name) AS collected " if items == "collected" else "WITH a, b, k, p "
    text = f"MATCH p = (a)-[k]->(b) {before} UNWIND {items} AS item WITH * WHERE k.since > 0 RETURN a.id, b.id, item"
    directly = answer(graph, text)
    monkeypatch.setattr(Computing, "direct", None)
    assert directly == answer(graph, text)


def test_parts_of_times_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond Arrow's calendar, and before 1970."""
    moments = pa.array([-(2**60), -1, 0, 86_399_999, 2**59, None], pa.timestamp("us"))
    days = pa.array([-2_000_000, -1, 0, 11_000_001, 800_000, None], pa.date32())
    asked = gquery.from_arrow(vertices={"P": pa.table({"id": range(6), "at": moments, "on": days})}, edges={})
    parts = [f"a.{name}.{part}" for name, part in [("on", "year"), ("on", "month"), ("on", "day"), ("at", "year"),
             ("at", "hour"), ("at", "second")]]  # fmt: skip
    between = [f"duration.inSeconds(a.at, b.at).{part}" for part in ("hours", "minutes", "seconds", "milliseconds")]
    texts = [f"MATCH (a), (b) RETURN {part} AS part, a.on.day" for part in [*parts, *between]]
    texts += [f"MATCH (a) WHERE {part} > 10 RETURN a.on" for part in parts]
    texts += [f"MATCH (a) WHERE id(a) = {place} RETURN {part} AS part" for place in (1, 4) for part in parts]
    directly = [answer(asked, text) for text in texts]
    monkeypatch.setattr(Computing, "direct", None)
    monkeypatch.setattr(few, "FEW", -1)
    assert directly == [answer(asked, text) for text in texts]
    assert sum(isinstance(rows, list) for rows in directly) > 10


def test_what_is_said_without_a_statement(graph: Graph) -> None:
    plan = graph.explain("MATCH (a)-[k]->(b) WHERE a.age < k.since WITH a, count(*) AS n ORDER BY n RETURN a.name, n")
    assert "Arrow, from 131,072 rows on DuckDB" in plan
    assert "\nDuckDB" not in plan
    assert "DuckDB\n" in graph.explain("MATCH (a) RETURN a.score AS s, count(*) AS n")  # floats are grouped by DuckDB


def test_long_expressions_are_left_to_duckdb(graph: Graph) -> None:
    text = "MATCH (a) RETURN {} AS x"
    assert "DuckDB" not in graph.explain(text.format(" OR ".join(f"a.age + {n} > a.id" for n in range(20))))
    assert "DuckDB" in graph.explain(text.format(" OR ".join(f"a.age + {n} > a.id" for n in range(200))))


def test_an_overflow_is_an_error_in_the_same_words(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "MATCH ()-[k]->() RETURN k.since + $most AS c"
    found = []
    for patched in ({}, {"direct": None}):
        for name, value in patched.items():
            monkeypatch.setattr(Computing, name, value)
        with pytest.raises(gquery.ExecutionError) as raised:
            graph.query(text, {"most": 2**63 - 1}).rows()
        found.append(raised.value.message)
    assert found[0] == found[1]


def test_sums_beyond_64_bits(graph: Graph) -> None:
    with pytest.raises(gquery.ExecutionError, match="out of range"):
        graph.query("MATCH ()-[k]->() WITH 1 AS one, sum(k.since) AS c RETURN c").rows()


def test_lists_of_values_that_all_rows_share(graph: Graph) -> None:
    rows = graph.query(
        "MATCH (a) RETURN a.id, range($more, 9) AS l, range(3, 1) AS e, range(5, 6)[0]", PARAMETERS
    ).rows()
    assert [tuple(row)[1:] for row in rows] == [([7, 8, 9], [], 5)] * PEOPLE


@pytest.mark.parametrize(
    "items",
    [
        "range(1, 100000) AS l",
        "{l: range(1, 100000)} AS m",
        "$long AS t",
        "a.id + size(toString(a.id) + $long) AS n",
        "coalesce(a.tag, $long) AS t",
        "a.text + a.text + a.text AS t",
    ],
)
def test_what_all_rows_share_is_not_written_for_each_of_them(items: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten thousand rows these were gigabytes."""
    made: list[int] = []
    of = few.Direct.of

    def watched(self: few.Direct, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        for found in of(self, batch):
            made.append(found.nbytes)
            yield found

    monkeypatch.setattr(few.Direct, "of", watched)
    rows = 10_000
    table = {"id": range(rows), "tag": pa.nulls(rows, pa.string()), "text": ["x" * 400] * rows}
    shared = gquery.from_arrow(vertices={"P": table}, edges={})
    stream = shared.query(f"MATCH (a:P) RETURN {items}", {"long": "y" * 100_000}, memory_limit="200MB").reader()
    assert stream.read_next_batch().num_rows
    stream.close()
    assert max(made, default=0) < 2**24


def test_a_long_list_for_each_row_is_unwound_part_by_part() -> None:
    wide = gquery.from_arrow(vertices={"P": {"id": range(3000)}}, edges={})
    text = "MATCH (a), (b) UNWIND range(1, 100000) AS i RETURN a.id, b.id, i"
    with pytest.raises(gquery.QueryTimeout):
        wide.query(text, timeout=1.0, memory_limit="100MB").to_arrow()


@pytest.mark.parametrize(
    "text",
    [
        "WITH range(1, 8000) AS l UNWIND l AS x RETURN x, l",
        "WITH range(1, 8000) AS l UNWIND l AS x RETURN toString(x) AS x, l[0..8000 - x % 2] AS l",
        "WITH range(1, 8000) AS l UNWIND l AS x UNWIND l AS y WITH x, y, l WHERE l[x - 1] = x RETURN x, y, l",
        "WITH range(1, 8000) AS l MATCH (a) UNWIND range(a.id, 500000) AS x RETURN x, l, a.id",
    ],
)
def test_what_goes_with_the_items_is_not_copied_for_many_of_them(text: str) -> None:
    """Each row holds the list of all: half a gigabyte in a batch, and 260 of them with a million items."""
    few_rows = gquery.from_arrow(vertices={"P": {"id": range(3)}}, edges={})
    stream = few_rows.query(text, memory_limit="100MB").reader()
    widths = [stream.read_next_batch().nbytes for _ in range(3)]
    stream.close()
    assert max(widths) < 2**25


def test_items_beside_values_of_every_width() -> None:
    """Rows are cut where they are wide, and items where their row is: none is lost, and their order is kept."""
    lengths, widths = [0, 3, 400_000, 1, 0, 20], [5, 9_000_000, 3, 70_000, 2, 1_000_000]
    table = {"id": range(6), "n": lengths, "t": ["x" * width for width in widths]}
    mixed = gquery.from_arrow(vertices={"P": table}, edges={})
    found = mixed.query(
        "MATCH (a) WITH a.id AS i, a.n AS n, a.t AS t UNWIND range(1, n) AS x RETURN i, x, size(t) AS s"
    )
    rows = found.to_arrow().to_pydict()
    assert rows["i"] == [row for row, length in enumerate(lengths) for _ in range(length)]
    assert rows["x"] == [item for length in lengths for item in range(1, length + 1)]
    assert rows["s"] == [widths[row] for row in rows["i"]]

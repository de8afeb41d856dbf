"""What stands by for the next run: who may have it, what it counts as, and that answers do not change."""

from __future__ import annotations

import gc
import math
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow.acero  # noqa: F401 - else groups are DuckDB's until it has been imported
import pytest

import gquery
from gquery.executor.standby import frozen
from gquery.storage import idle
from gquery.storage.idle import Idle

COUNT = 60
FILTERED = "MATCH (a:P)-[:K]->(b:P)-[:K]->(c:P) WHERE a.n > $least AND c.n < 30 RETURN a.id, b.id, c.id"
TRIANGLE = "MATCH (a:P)-[:K]-(b:P)-[:K]-(c:P)-[:K]-(a) WHERE a.n < b.n RETURN count(*)"
FOLDED = "MATCH (a:P)-[:K]->(b:P), (a)-[:L]->(q:Q), (b)-[:L]->(r:Q) RETURN count(*)"
TEXTS = [
    FILTERED.replace("$least", "10"),
    TRIANGLE,
    FOLDED,
    "MATCH (a:P)-[x:K]->(b:P)<-[y:K]-(c:P) WHERE x.w > y.w AND a.n + c.n > b.n RETURN a.id, x.w, y.w",
    "MATCH (a:P)-[:K]-(b)-[:K]-(c)-[:K]-(d)-[:K]-(a) RETURN count(*)",
    "MATCH (a:P) WHERE a.n > 5 RETURN a.id",
    "MATCH (a:P) OPTIONAL MATCH (a)-[:L]->(q:Q) RETURN a.id, count(q)",
    "MATCH (a:P)-[:K]->(b:P) WHERE a.n > 5 AND b.n > 5 WITH a, b LIMIT 3 RETURN count(*)",
    "MATCH (a:P) WHERE EXISTS { (a)-[:K]->(b:P) WHERE b.n > 50 } RETURN a.id, a.n",
]


def random_graph(seed: int = 0, count: int = COUNT) -> gquery.Graph:
    random = Random(seed)
    numbers = list(range(count))

    def edges(size: int) -> dict[str, list[int]]:
        ends = [(random.choice(numbers), random.choice(numbers)) for _ in range(size)]
        return {"source": [one for one, _ in ends], "target": [other for _, other in ends], "w": list(range(size))}

    properties = {"id": numbers, "n": numbers}
    return gquery.from_arrow(
        vertices={"P": properties, "Q": properties},
        edges={("P", "K", "P"): edges(4 * count), ("P", "L", "Q"): edges(2 * count)},
    )


def asked(graph: gquery.Graph, text: str, parameters: dict[str, Any] | None = None, **settings: Any) -> list[Any]:
    return sorted(graph.query(text, parameters, device="cpu", **settings).rows(), key=repr)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each question whether something stood by."""
    found: list[bool] = []
    take = Idle.take

    def watched(self: Idle, key: Any) -> Any:
        value = take(self, key)
        found.append(value is not None)
        return value

    monkeypatch.setattr(Idle, "take", watched)
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_the_third_run_takes_what_the_second_has_made(text: str, taken: list[bool]) -> None:
    graph, expected = random_graph(), asked(random_graph(), text)
    taken.clear()
    runs = []
    for _ in range(5):
        assert asked(graph, text) == expected
        runs.append(any(taken))
        taken.clear()
    assert runs == [False, False, True, True, True]


@pytest.mark.parametrize("seed", range(4))
def test_in_any_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts, modes, threads and limits by turns on one graph, as if each were asked of a new one; at times there is no
    room for all."""
    random = Random(seed)
    if seed % 2:
        monkeypatch.setattr(idle, "DEFAULT_MOST", 200_000)
    settings: list[dict[str, Any]] = [
        {"mode": mode, "memory_limit": limit}
        for mode in (None, "repeatable elements", "different nodes")
        for limit in (None, "40MB", "1GB")
    ]
    questions = [(text, each) for text in TEXTS for each in settings]
    chosen = random.sample(questions, 24)
    expected = [asked(random_graph(seed), text, **each) for text, each in chosen]
    graphs = [random_graph(seed).with_settings(threads=threads) for threads in (1, 2)]
    graphs.append(graphs[0].with_settings(threads=3))
    order = [(number, graph) for number in range(len(chosen)) for graph in graphs] * 4
    random.shuffle(order)
    for number, graph in order:
        text, each = chosen[number]
        assert asked(graph, text, **each) == expected[number], (seed, text, each)


VALUES: list[Any] = [
    1, 1.0, True, 0, 0.0, -0.0, False, None, "1", "", b"1", math.nan, math.inf, 2**53, float(2**53), Decimal(1),
    Decimal("1.0"), date(2020, 1, 1), datetime(2020, 1, 1), datetime(2020, 1, 1, fold=1),
    datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), time(1),
    [], [1], [1.0], [True], [None], ["1"], [1, 2], [2, 1], [0.0], [-0.0], {}, {"a": 1}, {"a": 1.0}, {"b": 1},
    {"a": 1, "b": 2}, {"a": None}, ["a", 1],
]  # fmt: skip


def test_no_two_values_are_taken_for_one_another() -> None:
    keys = [frozen(value) for value in VALUES]
    assert None not in keys
    assert len(set(keys)) == len(VALUES)
    assert [frozen(value) for value in VALUES] == keys


def test_what_cannot_be_told_apart_has_no_key() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 0

    class Number(int):
        pass

    for value in (Odd(), [Odd()], {"a": Odd()}, Number(1), [[1]], [1] * 1000, {"a": [1]}, "x" * 10_000, 1 + 1j):
        assert frozen(value) is None


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:P)-[:K]->(b:P) WHERE a.n = $value RETURN a.id, b.id",
        "MATCH (a:P)-[:K]->(b:P) WHERE a.n IN [$value, 3] RETURN a.id, b.id",
        "MATCH (a:P)-[:K]->(b:P) WHERE toString($value) STARTS WITH '1' RETURN count(*)",
        "MATCH (a:P)-[:K]->(b:P) WHERE toString($value) = '-0.0' OR a.n = 2 RETURN a.id, b.id",
        "MATCH (a:P)-[x:K]->(b:P) WHERE x.w > $value RETURN a.id, b.id",
        "MATCH (a:P)-[:K]->(b:P) WHERE a.n + $value < b.n RETURN a.id, b.id",
    ],
)
@pytest.mark.filterwarnings("ignore::gquery.QueryWarning")
def test_values_of_parameters(text: str) -> None:
    values = [1, 2, 1.0, 2.5, 0.0, -0.0, math.nan, None, True, False, 59]
    graph, order = random_graph(), list(range(len(values))) * 4
    expected: list[Any] = []
    for value in values:
        try:
            expected.append(asked(random_graph(), text, {"value": value}))
        except gquery.GQueryError as error:
            expected.append(str(error))
    Random(0).shuffle(order)
    for number in order:
        try:
            found: Any = asked(graph, text, {"value": values[number]})
        except gquery.GQueryError as error:
            found = str(error)
        assert found == expected[number], values[number]


def test_a_list_that_changes(taken: list[bool]) -> None:
    graph, chosen = random_graph(), [1, 2]
    text = "MATCH (a:P)-[:K]->(b:P) WHERE a.n IN $chosen AND b.n > 3 RETURN a.id, b.id"
    for _ in range(4):
        asked(graph, text, {"chosen": chosen})
    assert taken[-1]
    result = graph.query(text, {"chosen": chosen}, device="cpu")
    before = asked(random_graph(), text, {"chosen": [1, 2]})
    chosen[:] = [5, 6, 7]
    assert sorted(result.rows(), key=repr) == before
    for _ in range(4):
        assert asked(graph, text, {"chosen": chosen}) == asked(random_graph(), text, {"chosen": [5, 6, 7]})


def test_a_parameter_that_is_not_asked_by_the_match(taken: list[bool]) -> None:
    graph = random_graph()
    text = "MATCH (a:P)-[:K]->(b:P) WHERE a.n > 40 RETURN a.id + $more AS n"
    for more in range(6):
        expected = sorted(value - 100 for (value,) in random_graph().query(text, {"more": 100}).rows())
        taken.clear()
        assert sorted(value - more for (value,) in graph.query(text, {"more": more}, device="cpu").rows()) == expected
        assert any(taken) == (more > 1)


@pytest.mark.parametrize("condition", ["rand() < 0.5", "a.n * rand() < b.n * rand()", "a.n * rand() > 20"])
def test_what_is_random_is_random_each_time(condition: str) -> None:
    graph, text = random_graph(), f"MATCH (a:P)-[:K]->(b:P) WHERE {condition} RETURN a.id, b.id"
    assert len({str(asked(graph, text)) for _ in range(6)}) > 3


@pytest.mark.parametrize("now", ["timestamp()", "date().year", "datetime().epochMillis", "localtime().hour"])
def test_what_asks_the_clock_asks_it_each_time(now: str, taken: list[bool]) -> None:
    graph = random_graph()
    for _ in range(4):
        assert asked(graph, f"MATCH (a:P)-[:K]->(b:P) WHERE a.n < {now} RETURN count(*)")
    assert not any(taken)


def test_versions_of_a_store_have_their_own() -> None:
    """A new handle knows no plans, and finds nothing that stands by."""
    store, random = gquery.Store(random_graph()), Random(1)
    versions = [store.graph]
    for number in range(4):
        order = [(graph, text) for graph in versions for text in TEXTS] * 3
        random.shuffle(order)
        for graph, text in order:
            assert asked(graph, text) == asked(gquery.Graph(graph.snapshot), text), (number, text)
        store.apply(insert={("P", "K", "P"): {"source": [number, 5], "target": [50, number], "w": [900, 901]}})
        store.execute(f"MATCH (a:P {{id: {number + 7}}}) SET a.n = 3")
        store.execute(f"MATCH (a:P {{id: {number + 20}}}) DETACH DELETE a")
        versions.append(store.graph)
    answers = [str([asked(graph, text) for text in TEXTS]) for graph in versions]
    assert len(set(answers)) == len(versions)


@pytest.mark.parametrize("text", TEXTS)
def test_in_several_threads(text: str) -> None:
    graph, expected = random_graph(), asked(random_graph(), text)
    graph = graph.with_settings(threads=2)
    with ThreadPoolExecutor(6) as pool:
        assert all(found == expected for found in pool.map(lambda _: asked(graph, text), range(60)))
    result = graph.query(text, device="cpu")
    barrier = threading.Barrier(4)

    def read(_: int) -> list[Any]:
        barrier.wait()
        rows = [tuple(row.values()) for batch in result.batches() for row in batch.to_pylist()]
        return sorted(rows, key=repr)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(4)))
    assert all(rows == found[0] for rows in found)
    assert len(found[0]) == len(expected)


def test_large_counts_in_several_threads() -> None:
    """Sums are kept modulo one number and then another: no two runs may write to the same."""
    ends = {"source": [1] * 3000, "target": list(range(2, 3002))}
    graph = gquery.from_arrow({"V": {"id": list(range(1, 3002))}}, {("V", "E", "V"): ends})
    text = "MATCH " + ", ".join(f"(a)-[:E]->({name})" for name in "bcdefghi") + " RETURN count(*)"
    text = "MATCH REPEATABLE ELEMENTS" + text[len("MATCH") :]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: graph.query(text, device="cpu").scalar(), range(60)))
    assert found == [3000**8] * 60


@pytest.mark.parametrize("limit", [None, "40MB", "1GB"])
@pytest.mark.parametrize("text", TEXTS)
def test_memory_counts_as_if_all_were_made_anew(text: str, limit: str | None) -> None:
    graph = random_graph()
    peaks = []
    for _ in range(6):
        result = graph.query(text, device="cpu", memory_limit=limit)
        result.to_arrow()
        peaks.append(result.progress.memory.peak)
        assert result.progress.memory.used == 0
    assert peaks[1:] == [peaks[1]] * 5


@pytest.mark.parametrize("text", TEXTS[:5])
def test_each_limit_has_its_own(text: str) -> None:
    """What is made under one limit is not as what is made under another."""
    limits = [None, "40MB", "600kB"]

    def peak(graph: gquery.Graph, limit: str | None) -> int:
        result = graph.query(text, device="cpu", memory_limit=limit)
        result.to_arrow()
        return result.progress.memory.peak

    expected = []
    for limit in limits:
        alone = random_graph(count=500)
        expected.append([peak(alone, limit) for _ in range(2)][1])
    graph = random_graph(count=500)
    for limit in limits:
        peak(graph, limit)
    for _ in range(4):
        assert [peak(graph, limit) for limit in limits] == expected


@pytest.mark.parametrize("text", TEXTS[:5])
def test_what_stands_by_counts_against_a_limit(text: str) -> None:
    graph = random_graph(count=2000)
    for _ in range(4):
        asked(graph, text)
    for _ in range(4):
        with pytest.raises(gquery.MemoryLimitError):
            graph.query(text, device="cpu", memory_limit=2_000).to_arrow()


def test_timeouts_and_cancels_hold(taken: list[bool]) -> None:
    graph = random_graph()
    for text in TEXTS:
        expected, *_ = [asked(graph, text) for _ in range(4)]
        with pytest.raises(gquery.QueryTimeout):
            graph.query(text, device="cpu", timeout=1e-9).to_arrow()
        result = graph.query(text, device="cpu")
        result.cancel()
        with pytest.raises(gquery.QueryCancelled):
            result.to_arrow()
        taken.clear()
        assert asked(graph, text) == expected


def test_readers_that_stop_early() -> None:
    count = 2000
    graph = random_graph(count=count)
    text = "MATCH (a:P)-[:K]->(b:P)-[:K]->(c:P)-[:K]->(d:P) WHERE a.n < 1900 RETURN a.id, b.id, c.id, d.id"
    expected = graph.query(text, device="cpu").to_arrow().num_rows
    for stop in (True, False, False, True, False, True, False):
        batches = graph.query(text, device="cpu").batches()
        if stop:
            next(batches)
            batches.close()
        else:
            assert sum(batch.num_rows for batch in batches) == expected


def test_interleaved_readers() -> None:
    """Two runs of one text go on by turns."""
    graph = random_graph(count=1000)
    text = "MATCH (a:P)-[:K]->(b:P)-[:K]->(c:P)-[:K]->(d:P) WHERE a.n < 900 RETURN a.id, b.id, c.id, d.id"
    expected = graph.query(text, device="cpu").to_arrow().num_rows
    for _ in range(3):
        readers = [graph.query(text, device="cpu").batches() for _ in range(3)]
        rows = [0, 0, 0]
        for turns in _by_turns(readers):
            for number, batch in turns:
                rows[number] += batch.num_rows
        assert rows == [expected] * 3


def _by_turns(readers: list[Any]) -> Iterator[list[tuple[int, Any]]]:
    while True:
        turns = [(number, batch) for number, each in enumerate(readers) if (batch := next(each, None)) is not None]
        if not turns:
            return
        yield turns


def test_profile_runs_all_of_it(taken: list[bool]) -> None:
    graph, text = random_graph(), FILTERED.replace("$least", "10")
    fresh = figures(random_graph().profile(text))
    assert len(fresh) > 8
    for _ in range(4):
        asked(graph, text)
        taken.clear()
        assert figures(graph.profile(text)) == fresh
        assert not any(taken)


def figures(profile: str) -> list[str]:
    """The lines with what filters and levels have left."""
    return [line for line in profile.splitlines() if "->" in line and line.endswith("]") and " ms]" not in line]


def test_it_goes_with_the_snapshot() -> None:
    graph = random_graph()
    for text in TEXTS:
        for _ in range(3):
            asked(graph, text)
    assert graph.snapshot.idle.nbytes > 100_000
    gone = weakref.ref(graph.snapshot)
    gc.collect()
    gc.disable()
    try:
        del graph
        assert gone() is None
    finally:
        gc.enable()


def test_it_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "DEFAULT_MOST", 1 << 20)
    graph = random_graph()
    for least in (*range(40), *range(40), *range(40)):
        rows = asked(graph, FILTERED, {"least": least})
        assert graph.snapshot.idle.nbytes <= 1 << 20
    assert rows == asked(random_graph(), FILTERED, {"least": 39})


def test_a_cache_that_forgets_makes_all_of_it_go() -> None:
    graph, text = random_graph(), TRIANGLE.replace("[:K]", "[:K|L]")
    expected = asked(random_graph(), text)
    for _ in range(3):
        assert asked(graph, text) == expected
    snapshot = graph.snapshot
    assert snapshot.idle.nbytes > 0
    snapshot.cache.limit = 1
    for _ in range(4):
        assert asked(graph, text) == expected
        assert asked(graph, text.replace("]-", "]->", 1)) == asked(random_graph(), text.replace("]-", "]->", 1))

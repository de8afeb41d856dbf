"""How changes come: in order, each once, joined for who is slow, by every way of reading them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.continuous.between import Touched
from gquery.continuous.change import Change
from gquery.errors import BindError, QueryTimeout
from gquery.store import Store

RINGS = "MATCH (a:Account)-[:PAID]->(b)-[:PAID]->(c)-[:PAID]->(a) RETURN a.id AS a, b.id AS b, c.id AS c"
PAID = ("Account", "PAID", "Account")


def _store(edges: list[tuple[int, int]] = []) -> Store:  # noqa: B006 - nobody changes it
    accounts = {"id": list(range(6)), "name": list("abcdef")}
    return Store(gquery.from_arrow(vertices={"Account": accounts}, edges={PAID: _paid(*edges)}))


def _paid(*edges: tuple[int, int]) -> pa.Table:
    source, target = ([edge[side] for edge in edges] for side in (0, 1))
    return pa.table({"source": pa.array(source, pa.int64()), "target": pa.array(target, pa.int64())})


def _insert(store: Store, *edges: tuple[int, int]) -> None:
    store.apply(insert={PAID: _paid(*edges)})


def _told(change: Change | None) -> Any:
    assert change is not None
    return change.version, change.added.to_pylist(), change.removed.to_pylist()


RING = [{"a": 0, "b": 1, "c": 2}, {"a": 1, "b": 2, "c": 0}, {"a": 2, "b": 0, "c": 1}]


def test_a_ring_closes_and_opens() -> None:
    store = _store([(0, 1), (1, 2)])
    with store.watch(f"{RINGS} ORDER BY a") as watch:
        assert watch.next() is None
        _insert(store, (3, 4))
        assert _told(watch.next()) == (1, [], [])
        _insert(store, (2, 0))
        version, added, removed = _told(watch.next())
        assert (version, sorted(added, key=str), removed) == (2, RING, [])
        store.apply(delete={PAID: _paid((0, 1))})
        version, added, removed = _told(watch.next())
        assert (version, added, sorted(removed, key=str)) == (3, [], RING)


def test_what_is_gone_and_there_again_has_not_changed() -> None:
    store = _store([(0, 1), (1, 2), (2, 0)])
    watch = store.watch(RINGS)
    store.apply(delete={PAID: _paid((0, 1))}, insert={PAID: _paid((0, 1))})
    assert _told(watch.next()) == (1, [], [])
    assert watch.version == 1


def test_values_that_nobody_reads_change_nothing() -> None:
    store = _store([(0, 1), (1, 2), (2, 0)])
    named = store.watch("MATCH (a:Account)-[:PAID]->(b) RETURN a.name AS a, b.name AS b")
    rings = store.watch(RINGS)
    store.apply(set={"Account": {"id": [0], "name": ["z"]}})
    assert _told(rings.next()) == (1, [], [])
    _, added, removed = _told(named.next())
    assert sorted(each["a"] + each["b"] for each in added) == ["cz", "zb"]
    assert sorted(each["a"] + each["b"] for each in removed) == ["ab", "ca"]


def test_counts() -> None:
    store = _store([(0, 1), (1, 2)])
    counts = store.watch("MATCH (a)-[:PAID]->(b) RETURN a.name AS name, count(*) AS paid", emit="counts")
    number = store.watch(RINGS, emit="counts")
    store.apply(insert={PAID: _paid((0, 2), (0, 3), (2, 0))}, delete={PAID: _paid((0, 1))})
    _, added, removed = _told(counts.next())
    assert sorted(map(str, added)) == ["{'name': 'a', 'paid': 2}", "{'name': 'c', 'paid': 1}"]
    assert removed == [{"name": "a", "paid": 1}]
    assert _told(number.next()) == (1, [{"count": 0}], [{"count": 0}])
    _insert(store, (0, 1))
    assert _told(number.next()) == (2, [{"count": 3}], [{"count": 0}])


def test_who_is_slow_gets_one_change_of_the_rest() -> None:
    store = _store([(0, 1), (1, 2)])
    slow = store.watch(RINGS, pending=3)
    for edges in ([(2, 0)], [(3, 4)], [(4, 5)], [(5, 3)], [(0, 3)]):
        _insert(store, *edges)
    store.apply(delete={PAID: _paid((2, 0))})
    changes = list(slow.waiting())
    assert [(each.since, each.version) for each in changes] == [(0, 1), (1, 2), (2, 6)]
    assert [(each.added.num_rows, each.removed.num_rows) for each in changes] == [(3, 0), (0, 0), (3, 3)]
    assert slow.version == 6


def test_a_version_costs_the_same_however_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a writer puts together for who is slow is a few times what changes, not all of it for every version."""
    together: list[int] = []
    whole = Touched.by_all.__func__  # type: ignore[attr-defined]

    def by_all(cls: type[Touched], several: list[Touched]) -> Touched:
        together.append(sum(each.size for each in several) if len(several) > 1 else 0)
        return whole(cls, several)  # type: ignore[no-any-return]

    monkeypatch.setattr(Touched, "by_all", classmethod(by_all))
    store = _store()
    slow = store.watch("MATCH (a)-[:PAID]->(b) RETURN a.id AS a", pending=2)
    for place in range(64):
        _insert(store, (place % 6, (place + 1) % 6))
    assert sum(together) < 64 * 10
    assert [each.added.num_rows for each in slow.waiting()] == [1, 63]


def test_a_watch_goes_on_from_a_version() -> None:
    store = _store([(0, 1), (1, 2)])
    first = store.watch(RINGS)
    _insert(store, (2, 0))
    _insert(store, (3, 4))
    again = store.watch(RINGS, after=0)
    assert [_told(each) for each in again.waiting()] == [_told(each) for each in first.waiting()]
    assert [each.version for each in store.watch(RINGS, after=1).waiting()] == [2]
    with pytest.raises(BindError, match="no way from version 7") as caught:
        store.watch(RINGS, after=7)
    assert "from 0 to 2" in str(caught.value)


def test_compacting_changes_nothing() -> None:
    store = _store([(0, 1), (1, 2), (2, 0), (3, 4)])
    watch = store.watch(RINGS, pending=2)
    store.apply(delete={"Account": {"id": [3]}})
    _insert(store, (4, 5))
    store.compact()
    store.apply(delete={PAID: _paid((1, 2))})
    _insert(store, (1, 2))
    changes = list(watch.waiting())
    assert (changes[0].since, changes[0].version) == (0, 1)
    assert changes[-1].version == 4
    assert sum(each.added.num_rows - each.removed.num_rows for each in changes) == 0


def test_an_iterator_ends_with_its_watch() -> None:
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS)
    found: list[Change] = []
    thread = threading.Thread(target=lambda: found.extend(watch))
    thread.start()
    _insert(store, (2, 0))
    watch.close()
    thread.join(20)
    assert not thread.is_alive()
    assert [each.version for each in found] == [1]


def test_callbacks() -> None:
    store = _store([(0, 1), (1, 2)])
    found: list[Change] = []
    with store.watch(RINGS, callback=found.append):
        _insert(store, (3, 4))
        _insert(store, (2, 0))
    assert [(each.version, each.added.num_rows) for each in found] == [(2, 3)]


def test_what_a_callback_raises() -> None:
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS, callback=lambda change: change.missing)
    _insert(store, (2, 0))
    with pytest.raises(AttributeError, match="missing"):
        watch.close()


def test_what_a_callback_raises_whose_watch_nobody_closes() -> None:
    """Nobody was told that it was called back no more."""
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS, callback=lambda change: change.missing)
    _insert(store, (2, 0))
    watch._thread.join(10)
    del watch
    with pytest.raises(AttributeError, match="missing"):
        store.close()
    store.close()


def test_async() -> None:
    async def run() -> list[int]:
        store = _store([(0, 1), (1, 2)])
        watch = store.watch(RINGS)
        _insert(store, (2, 0))
        _insert(store, (2, 3))
        watch.close()
        return [change.version async for change in watch]

    assert asyncio.run(run()) == [1, 2]


def test_who_is_cancelled_leaves_the_change_to_the_next_one() -> None:
    """A thread waited on, took the next change and told nobody; without one the event loop never came to its end."""
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS)

    async def wait() -> Change:
        return await anext(aiter(watch))

    async def run() -> list[int]:
        for _ in range(2):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(wait(), 0.1)
        _insert(store, (2, 0))
        _insert(store, (2, 3))
        return [(await wait()).version, (await wait()).version]

    async def cancelled() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), 0.1)

    assert asyncio.run(run()) == [1, 2]
    thread = threading.Thread(target=asyncio.run, args=(cancelled(),), daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert watch.version == 2


def test_who_awaits_a_change_keeps_no_thread_from_others() -> None:
    """Each that waited had one of the few threads of the event loop: further watches were told nothing, and who wrote
    in a thread waited for ever."""

    async def run() -> list[int]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        store = _store([(0, 1), (1, 2)])
        each = [aiter(store.watch(RINGS)) for _ in range(3)]
        waiting = [asyncio.ensure_future(anext(changes)) for changes in each]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(_insert, store, (2, 0))
        return [change.version for change in await asyncio.gather(*waiting)]

    found: list[int] = []
    thread = threading.Thread(target=lambda: found.extend(asyncio.run(run())), daemon=True)
    thread.start()
    thread.join(10)
    assert found == [1, 1, 1]


def test_a_stream_of_columns_that_it_adds_itself() -> None:
    """That was an error of Arrow's; the tables of a change have such columns."""
    store = _store([(0, 1)])
    watch = store.watch("MATCH (a)-[:PAID]->(b) RETURN a.id AS version, b.id AS b")
    _insert(store, (1, 2))
    with pytest.raises(BindError, match="a column `version` of its own"):
        watch.reader()
    change = watch.next()
    assert _told(change) == (1, [{"version": 1, "b": 2}], [])
    assert change is not None
    with pytest.raises(BindError, match="a column `version` of its own"):
        change.to_arrow()
    with pytest.raises(BindError, match="a column `diff` of its own"):
        store.changes("MATCH (a)-[:PAID]->(b) RETURN a.id AS diff")


def test_a_warning_as_of_a_query() -> None:
    """Of a label that the graph does not have nothing was said."""
    with pytest.warns(gquery.QueryWarning, match="no label `Nobody`"):
        _store([(0, 1)]).watch("MATCH (a:Nobody) RETURN a.id AS a", strict=False)


def test_versions_are_kept_for_nobody_who_is_gone() -> None:
    """A watch that was dropped without being closed went on to hold the graphs of all versions that waited for it."""
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS)
    _insert(store, (2, 0))
    waiting = weakref.ref(watch._follower)
    del watch
    gc.collect()
    assert waiting() is None


def test_little_of_python_s_stack_is_left() -> None:
    """A watch and its changes are there or an error of ours, as answers of queries are."""

    def below(frames: int, ask: Callable[[], object]) -> object:
        return below(frames - 1, ask) if frames else ask()

    store = _store([(0, 1), (1, 2)])
    nested = f"MATCH (a)-[:PAID]->(b) RETURN {'abs(' * 190}a.id{')' * 190} AS x"
    for frames in range(500, sys.getrecursionlimit() - 100, 25):
        watch = store.watch(nested)
        _insert(store, (2, 0))
        with contextlib.suppress(gquery.ParseError, gquery.ExecutionError):
            below(frames, lambda: store.watch(nested).close())
        change = None
        with contextlib.suppress(gquery.ExecutionError):
            change = below(frames, watch.next)
        assert isinstance(change or watch.next(), Change)
        watch.close()


def test_one_stream() -> None:
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS)
    _insert(store, (2, 0))
    store.apply(delete={PAID: _paid((2, 0))})
    table = watch.reader().read_all()
    assert table.column_names == ["version", "diff", "a", "b", "c"]
    assert sorted(zip(table["version"].to_pylist(), table["diff"].to_pylist(), strict=True)) == [
        *[(1, 1)] * 3,
        *[(2, -1)] * 3,
    ]


def test_wrong_queries_are_refused_at_once() -> None:
    store = _store()
    with pytest.raises(BindError, match="Acount"):
        store.watch("MATCH (a:Acount) RETURN a")
    with pytest.raises(BindError, match="`emit` is 'rows' or 'counts', not 'count'"):
        store.watch(RINGS, emit="count")  # type: ignore[arg-type]
    with pytest.raises(BindError, match="EXPLAIN does not stand"):
        store.watch(f"EXPLAIN {RINGS}")
    with pytest.raises(BindError, match=r"rand\(\) does not stand"):
        store.watch("MATCH (a)-->() WHERE rand() < 0.5 RETURN a.id")
    with pytest.raises(BindError, match="`after` is a number of versions, not '0'"):
        store.watch(RINGS, after="0")  # type: ignore[arg-type]
    with pytest.raises(BindError, match="`callback` is a function of a change, not 7"):
        store.watch(RINGS, callback=7)  # type: ignore[arg-type]
    with pytest.raises(BindError, match="`pending` is a number of versions, not True"):
        store.watch(RINGS, pending=True)
    for pending in (None, 0, -1):
        with pytest.raises(BindError, match="`pending` is a number of versions"):
            store.watch(RINGS, pending=pending)  # type: ignore[arg-type]
    for wait in ("1", float("nan")):
        with pytest.raises(BindError, match="`wait` is a number of seconds or None"):
            store.watch(RINGS).next(wait)  # type: ignore[arg-type]


def test_a_version_that_failed_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = _store([(0, 1), (1, 2)])
    watch = store.watch(RINGS)
    _insert(store, (2, 0))

    def late(*_: object) -> None:
        raise QueryTimeout("late")

    with monkeypatch.context() as patch:
        patch.setattr("gquery.continuous.standing.Standing.change", late)
        with pytest.raises(QueryTimeout):
            watch.next()
    assert len(_told(watch.next())[1]) == 3


def test_what_statements_write() -> None:
    """A statement is one version, whatever clauses it has."""
    store = _store([(0, 1), (1, 2)])
    rings = store.watch(RINGS)
    store.execute("MATCH (a:Account {id: 2}), (b:Account {id: 0}) CREATE (a)-[:PAID]->(b) SET a.name = 'x'")
    change = rings.next()
    assert change is not None
    assert (change.version, change.added.num_rows, change.removed.num_rows) == (1, 3, 0)
    store.execute("MATCH (a:Account {id: 1}) DETACH DELETE a")
    change = rings.next()
    assert change is not None
    assert (change.version, change.added.num_rows, change.removed.num_rows) == (2, 0, 3)
    store.execute("MATCH (a {id: 0}) CREATE (a)-[:PAID]->(:Account {id: 9})-[:PAID]->(:Account {id: 8})-[:PAID]->(a)")
    change = rings.next()
    assert change is not None
    assert (change.added.num_rows, change.removed.num_rows) == (3, 0)


@pytest.mark.parametrize(
    ("query", "statement", "added", "removed"),
    [
        ("MATCH (a) RETURN a.x AS x", "CREATE (:P {x: 5})", [5], []),
        ("MATCH (a) RETURN DISTINCT a.x AS x", "CREATE (:P {x: 5})", [5], []),
        ("MATCH (a:P) RETURN DISTINCT a.x AS x", "CREATE (:P {x: 2.5})", [2.5], []),
        ("MATCH (a:P) RETURN a.x AS x", "MATCH (a {id: 1}) SET a.x = 's'", ["s"], [1]),
        ("MATCH (a:P)-[:K]->(b) RETURN a.x AS x", "MATCH (a {id: 1}) SET a.x = 's'", ["s"], [1]),
        ("MATCH (a) RETURN a.x AS x", "MATCH (a {id: 1}) SET a.x = true", [True], [1]),
        ("MATCH (a) RETURN DISTINCT a.x AS x", "MATCH (a {id: 3}) SET a.x = 2", [], [1.5]),
        ("MATCH (a:P {id: 1}) RETURN collect(a.x) AS x", "MATCH (a {id: 1}) SET a.x = 's'", [["s"]], [[1]]),
    ],
)
def test_values_of_several_types(query: str, statement: str, added: list[Any], removed: list[Any]) -> None:
    """A property that gets values of another type changes the type of its column."""
    vertices = {"P": {"id": [1, 2], "x": [1, 2]}, "Q": {"id": [3], "x": [1.5]}}
    store = Store(gquery.from_arrow(vertices, {("P", "K", "P"): {"source": [1], "target": [2]}}))
    watch = store.watch(query)
    store.execute(statement)
    change = watch.next()
    assert change is not None
    told = [[(type(row["x"]), row["x"]) for row in table.to_pylist()] for table in (change.added, change.removed)]
    assert told == [[(type(value), value) for value in values] for values in (added, removed)]


def test_lists_of_several_types() -> None:
    """Lists of other types come to a column that has lists of some, and other values."""
    store = Store(gquery.from_arrow({"P": {"id": [1], "x": [["a"]]}}, {}))
    watch = store.watch("MATCH (a) RETURN DISTINCT a.x AS x")
    for added in ([1], "b", [True], [None, 2.5]):
        store.execute("CREATE (a:P) SET a.x = $x", {"x": added})
        change = watch.next()
        assert change is not None
        assert change.to_arrow().to_pylist() == [{"version": change.version, "diff": 1, "x": added}]


@pytest.mark.parametrize(
    ("shown", "statements", "told"),
    [
        ("a", ["MATCH (a:P {id: 1}) SET a.x = 'one'"], [("one", 1), (1, -1)]),  # a type more of a property
        (
            "a",
            ["MATCH (a:P {id: 1}) SET a.x = 'one'", "MATCH (a:P {id: 1}) SET a.x = 3"],
            [("one", 1), (1, -1), (3, 1), ("one", -1)],
        ),
        ("a", ["MATCH (a:P {id: 2}) SET a.y = 'more'", "MATCH (q:Q) SET q.x = true, q.z = 1.5"], []),  # of others
        ("relationships(p)[0]", ["MATCH ()-[e:K]->() SET e.x = 'one', e.y = 2"], [("one", 1), (1, -1)]),
        ("[a]", ["MATCH (a:P {id: 1}) SET a.x = 'one', a.y = 2"], [("one", 1), (1, -1)]),
        (
            "{a: a, x: 5}",
            ["MATCH (q:Q) SET q.x = 'one', q.y = 2", "MATCH (a:P {id: 1}) SET a.x = 7"],
            [(5, 1), (5, -1)],
        ),
    ],
)
def test_elements_with_other_properties(shown: str, statements: list[str], told: list[Any]) -> None:
    """Elements have columns for the properties of all, and who follows gets them as one table."""
    vertices = {"P": {"id": [1, 2], "x": [1, 2]}, "Q": {"id": [3], "x": [1.5]}}
    store = Store(gquery.from_arrow(vertices, {("P", "K", "P"): {"source": [1], "target": [2], "x": [1]}}))
    watch = store.watch(f"MATCH p = (a)-[e:K]->(b) RETURN {shown} AS a")
    found = []
    for statement in statements:
        store.execute(statement, strict=False)
        change = watch.next()
        assert change is not None
        found += [(_x(row["a"]), row["diff"]) for row in reversed(change.to_arrow().to_pylist())]
    assert found == told


def _x(shown: Any) -> Any:
    """The property of what is shown."""
    (element,) = shown if isinstance(shown, list) else [shown]
    return element.get("properties", element)["x"]


def test_explain() -> None:
    """What is done for a change is told with its plan, and why, where the query is answered anew."""
    store = _store([(0, 1), (1, 2)])
    told = store.watch(RINGS).explain()
    assert told.startswith(
        "For each relationship that edges of the change fit by what is around them, the matches with one there"
    )
    assert told.count("Begin the order with") == 3
    assert "USING" not in told
    told = store.watch("MATCH (a:Account) WHERE NOT (a)-[:PAID]->() RETURN a.id AS a").explain()
    assert told.startswith("Find what edges of the change are near, as a:\n")
    assert "\nAnswer for these before the change and after it, and compare\n" in told
    for query, why in (
        ("MATCH (a)-[:PAID]->(b) RETURN a.id AS a, count(*) AS n", "rows are made of several matches, or cut off"),
        ("MATCH (a:Account), (b:Account) RETURN a.id AS a", "nothing joins all nodes of a pattern"),
        ("MATCH (a)-[:PAID*]->(b) RETURN a.id AS a", "a relationship is none of the graph's edges"),
    ):
        lines = store.watch(query).explain().splitlines()
        assert lines[0] == f"Answer the query anew and compare, since {why}"
        assert len(lines) > 1


def test_who_does_not_wait_is_not_kept_by_one_who_does() -> None:
    """A thread that waits for a version has the watch no more than any other."""
    ends = {"source": [1], "target": [2]}
    store = gquery.Store(gquery.from_arrow({"A": {"id": [1, 2]}}, {("A", "R", "A"): ends}))
    watch = store.watch("MATCH (a)-[:R]->(b) RETURN a.id")
    waiting = threading.Thread(target=watch.next, args=(None,), daemon=True)
    waiting.start()
    time.sleep(0.1)
    asking = threading.Thread(target=lambda: [watch.next(), watch.next(0.05)], daemon=True)
    asking.start()
    asking.join(20)
    assert not asking.is_alive()
    store.close()
    waiting.join(20)
    assert not waiting.is_alive()


def test_what_is_optional_is_counted_match_by_match() -> None:
    """Where the query does not stand it is a number for each row: a row that has one more would be another row."""
    edges = {("V", "E", "V"): {"source": [1, 2], "target": [2, 3]}}
    store = gquery.Store(gquery.from_arrow({"V": {"id": [1, 2, 3]}}, edges))
    watch = store.watch("MATCH (a) OPTIONAL MATCH (a)-[:E]->(b) RETURN a.id AS a, count(b) AS n", emit="counts")
    store.apply(insert={("V", "E", "V"): {"source": [1, 1], "target": [1, 3]}})
    change = watch.next()
    assert change is not None
    assert (change.added.to_pylist(), change.removed.to_pylist()) == ([{"a": 1, "n": 2}], [])

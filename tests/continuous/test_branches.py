"""Patterns that fall apart: the numbers of their branches are followed, and multiplied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.continuous import standing
from gquery.continuous.answers import Answering
from gquery.continuous.between import schema_key
from gquery.continuous.numbers import kept
from gquery.continuous.numbers.branches import branches_of
from gquery.continuous.numbers.counting import Counting
from gquery.continuous.numbers.kept import Kept, Worth
from gquery.continuous.numbers.sums import NONE_MET, Met, Sums, met_in
from gquery.continuous.standing import Standing
from gquery.continuous.watch import Watch
from gquery.executor.relational.selection import WEIGHT
from gquery.settings import Settings
from gquery.storage.graph import Snapshot
from tests.continuous.batches import random_batch, random_edges, random_graph, random_steps
from tests.continuous.making import are_there, waited_for
from tests.continuous.queries import FALLING_APART, MODES, NUMBER
from tests.continuous.rerun import Rerun

pytestmark = pytest.mark.filterwarnings("ignore::gquery.QueryWarning")


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are made after the first change, which waits for them."""
    monkeypatch.setattr(Kept, "answered_without", waited_for(Kept.answered_without))
    for name, value in (("_CHANGES", 1), ("_LEAST", 0.0), ("_CALL", -60.0), ("_PATIENCE", 1e9)):
        monkeypatch.setattr(kept, name, value)
    monkeypatch.setattr(standing, "_FEW", 1 << 10)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("mode", MODES[:3])
@pytest.mark.parametrize("seed", range(8))
def test_old_and_change_is_new(seed: int, mode: Any, device: Any) -> None:
    """And what comes and goes is what terms find, not only the difference."""
    random = np.random.default_rng([seed, 6, MODES.index(mode)])
    settings = Settings(mode=mode, device=device, strict=False)
    snapshot = random_graph(random).snapshot
    chosen = [f"MATCH {pattern} {NUMBER}" for pattern in random.choice(FALLING_APART, 3, replace=False).tolist()]
    watched = [Rerun(text, "counts", settings, snapshot) for text in chosen]
    pairs = [[Standing(text, {}, settings, "counts") for _ in range(2)] for text in chosen]
    for each, _ in pairs:
        each._kept.answered_without = lambda *_: None  # type: ignore[method-assign]
    for between in random_steps(random, snapshot, 4, random_edges if seed % 2 else random_batch):
        for rerun, (terms, sums) in zip(watched, pairs, strict=True):
            rerun.follow(between)
            assert terms.change(between) == sums.change(between), f"{terms.text}, {mode}, seed {seed}"


def test_all_kinds_of_branches_are_there() -> None:
    falling = [_fallen(f"MATCH {pattern} {NUMBER}", MODES[1]) for pattern in FALLING_APART]
    assert [len(each.queries) if each else 0 for each in falling] == [2, 2, 2, 2, 3, 2, 4]


@pytest.mark.parametrize(
    ("pattern", "modes"),
    [
        ("(a:A&!B)-[:X]-(b:B&!A)-[:X]-(c:A&B)", MODES[:3]),
        ("(a:A)-[:X]-(b)-[:X]-(c:B)", MODES[1:2]),  # a vertex has both labels
        ("(a:A&!B)-[:X]->(b)-[:X]->(c:B&!A)", MODES[1:3]),  # a to a, and on to b: one edge, but no label of both
        ("(a)-[:X]->(b)-[:Y]->(c)", MODES[:2]),
        ("(a)-[:X]->(b:A&!B)<-[:X]-(c:!A)", MODES[1:2]),  # an edge may be at both
        ("(a:B&!A)-[:X]->(b:A&!B)-[:X]->(c)", MODES[:2]),
        ("(a)-[:X]->(b)-[:X]->(c)-[:X]->(a)", ()),
        ("(a)-[:X]->(b)-[:Y]->(c) WHERE a.p < c.p", ()),
        ("(a)-[:X]->(b) MATCH (b)-[:Y]->(c)", ()),
        ("(a)-[:X]->(a)-[:X]->(b)", MODES[1:3]),  # where b may be a, an edge may be at both
        ("(a:A&!B)-[:X]->(a)-[:X]->(b:B&!A)", MODES[:3]),
        ("(a)-[:X]->(a)-[:X]-(b)-[:Z]->(c:A)", MODES[:3]),
    ],
)
def test_where_nothing_can_be_in_two_branches(pattern: str, modes: tuple[str, ...]) -> None:
    found = tuple(mode for mode in MODES[:3] if _fallen(f"MATCH {pattern} {NUMBER}", mode))
    assert found == modes


@pytest.mark.parametrize("end", ["count(DISTINCT a) AS n", "a.p AS p, count(*) AS n", "count(*) + 1 AS n"])
def test_only_matches_are_multiplied(end: str) -> None:
    assert _fallen(f"MATCH (a)-[:X]->(b)-[:Y]->(c) RETURN {end}", MODES[0]) is None


def _fallen(text: str, mode: Any) -> Any:
    store = gquery.Store(gquery.from_arrow({"A": {"id": [1], "p": [1]}, "B": {"id": [2], "p": [2]}}, {}))
    store.execute("CREATE (:A:B {p: 1})-[:X {w: 1}]->()-[:Y {w: 1}]->({p: 1})-[:Z]->()")
    snapshot = store.graph.snapshot
    asked = Standing(text, {}, Settings(mode=mode, strict=False), "counts")
    return branches_of(asked._bound_on(snapshot, schema_key(snapshot)).query)


def _are_there(watch: Watch, store: gquery.Store) -> bool:
    return are_there(watch._standing, store.graph.snapshot)


WEDGE = "MATCH (a:A)-[:X]->(b:B)-[:Y]->(c:C) RETURN count(*) AS n"


def _wedges() -> gquery.Graph:
    vertices = {label: {"id": [1, 2, 3]} for label in "ABC"}
    edges = {("A", "X", "B"): {"source": [1], "target": [1]}, ("B", "Y", "C"): {"source": [1], "target": [1]}}
    return gquery.from_arrow(vertices, edges)


@pytest.mark.usefixtures("at_once")
def test_compacted_graphs_and_new_vertices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ids have changed sums are made anew, and vertices that come later have some, too."""
    made = []
    whole = Counting.of
    monkeypatch.setattr(Counting, "of", lambda self, *given: made.append(given) or whole(self, *given))
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")

    def told() -> tuple[int, int]:
        change = watch.next()
        assert change is not None
        return tuple(int(each["n"][0].as_py()) for each in (change.added, change.removed))  # type: ignore[return-value]

    store.apply(insert={("A", "X", "B"): {"source": [2], "target": [1]}})
    assert told() == (1, 0)
    store.apply(insert={"B": {"id": [4]}, ("A", "X", "B"): {"source": [1, 2], "target": [4, 4]}})
    assert told() == (0, 0)
    store.apply(insert={("B", "Y", "C"): {"source": [4, 1], "target": [1, 2]}})
    assert told() == (4, 0)
    assert len(made) == 1
    store.compact()
    store.apply(delete={("B", "Y", "C"): {"source": [1], "target": [1]}})
    assert told() == (0, 2)
    store.apply(insert={("A", "X", "B"): {"source": [3], "target": [1]}}, delete={"B": {"id": [4]}})
    assert told() == (1, 2)
    assert len(made) == 2


@pytest.mark.usefixtures("at_once")
def test_sums_are_made_without_signatures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which are counted for all vertices."""
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")
    monkeypatch.setattr(Snapshot, "signatures", lambda *_: pytest.fail("signatures are read"))
    store.apply(insert={("A", "X", "B"): {"source": [2], "target": [1]}})
    assert watch.next() is not None
    assert _are_there(watch, store)


@pytest.mark.usefixtures("at_once")
def test_large_changes_are_told_by_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_FEW", 2)
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")
    followed = []
    for count in (1, 2, 3, 1, 1):
        followed.append(_are_there(watch, store))
        store.apply(insert={("A", "X", "B"): {"source": [2] * count, "target": [1] * count}})
        change = watch.next()
        assert change is not None
        assert change.added["n"].to_pylist() == [count]
    assert followed == [False, True, True, False, True]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("mode", MODES[:3])
def test_several_branches_change_at_once(mode: Any) -> None:
    """And the cut vertex itself."""
    vertices = {label: {"id": [1, 2, 3], "p": [1, 1, 2]} for label in "ABC"}
    ends = {"source": [1, 1, 2, 3], "target": [1, 2, 2, 3]}
    edges = {("A", "X", "B"): ends, ("B", "Y", "C"): ends}
    store = gquery.Store(gquery.from_arrow(vertices, edges))
    query = "MATCH (a:A)-[:X]->(b:B&!D {p: 1})-[:Y]->(c:C) RETURN count(*) AS n"
    watch = store.watch(query, emit="counts", mode=mode, strict=False)
    count = store.graph.query(query, mode=mode, strict=False).scalar()
    for statement in (
        "MATCH (a:A {id: 1}), (b:B {id: 2}), (c:C {id: 3}) CREATE (a)-[:X]->(b)-[:Y]->(c)",
        "MATCH (a:A {id: 1}), (b:B {id: 2}), (c:C {id: 3}) CREATE (a)-[:X]->(b)-[:Y]->(c)",
        "MATCH (a:A {id: 1})-[e:X]->(b:B {id: 2})-[f:Y]->(c:C {id: 3}) DELETE e, f CREATE (a)-[:X]->(b)-[:Y]->(c)",
        "MATCH (b:B {id: 3}) SET b.p = 1",
        "MATCH (a:A {id: 2}), (b:B {id: 3}), (c:C {id: 1}) SET b.p = 3 CREATE (a)-[:X]->(b)-[:Y]->(c)",
        "MATCH (b:B) SET b.p = 1, b:D",
        "MATCH (b:B) REMOVE b:D",
        "MATCH (a:A {id: 3}), (b:B {id: 2}), (c:C {id: 1}) CREATE (a)-[:X]->(b)-[:Y]->(c) SET b.p = 1, c.p = 7",
        "MATCH (a:A {id: 1}), (c:C {id: 1}), (b:B {id: 2}) DETACH DELETE b CREATE (a)-[:X]->(:B {p: 1})-[:Y]->(c)",
    ):
        store.execute(statement, strict=False)
        change = watch.next()
        assert change is not None
        before, count = count, store.graph.query(query, mode=mode, strict=False).scalar()
        told = [sum(each["n"].to_pylist()) for each in (change.added, change.removed)]
        assert told[0] - told[1] == count - before, statement
        assert _are_there(watch, store), statement


@pytest.mark.usefixtures("at_once")
def test_a_change_that_breaks_off_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Amid the sums, when some of them are those of the new version."""
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")
    store.apply(insert={("A", "X", "B"): {"source": [2], "target": [1]}})
    assert watch.next() is not None
    told: list[int] = []
    whole = Sums._add

    def add(sums: Sums, tables: Any, sign: int) -> int:
        told.append(sign)
        if len(told) == 2:
            raise MemoryError
        return whole(sums, tables, sign)

    monkeypatch.setattr(Sums, "_add", add)
    ends = {("A", "X", "B"): {"source": [2], "target": [1]}}
    store.apply(insert={("A", "X", "B"): {"source": [3, 3], "target": [1, 1]}}, delete=ends)
    with pytest.raises(MemoryError):
        watch.next()
    change = watch.next()
    assert change is not None
    assert [each["n"].to_pylist() for each in (change.added, change.removed)] == [[2], [1]]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("when", ["made", "followed"])
def test_what_fails_with_sums_is_left_to_terms(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as numbers of a branch that are larger than those of all."""
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")
    failed = []

    def fail(asked: object, what: Any, *_: Any) -> Any:
        failed.append(what)
        raise gquery.ExecutionError("the number is too large")

    if when == "made":
        monkeypatch.setattr(Answering, "answer_once", fail)
    for number in range(3):
        if when == "followed" and number == 1:
            monkeypatch.setattr(Counting, "_met", fail)
        store.apply(insert={("A", "X", "B"): {"source": [2], "target": [1]}})
        change = watch.next()
        assert change is not None
        assert change.added["n"].to_pylist() == [1]
    assert failed


@pytest.mark.usefixtures("at_once")
def test_sums_that_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then terms tell what changes, as before, and the next try comes later."""
    monkeypatch.setattr(kept, "_CALL", 0.0)
    monkeypatch.setattr(kept, "_LONGER", 4)
    worth = []
    whole = Worth.answered_without
    monkeypatch.setattr(Worth, "answered_without", lambda self, _: worth.append(whole(self, 1e-9)) or worth[-1])
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")
    for number in range(5):
        store.apply(insert={("A", "X", "B"): {"source": [2], "target": [1]}})
        change = watch.next()
        assert change is not None
        assert change.added["n"].to_pylist() == [1], number
    assert worth == [4e-9, None, None, pytest.approx(16e-9), None]


def test_sums_that_do_not_pay() -> None:
    worth = Worth()
    for _ in range(16):
        seconds = worth.answered_without(0.01)
    assert seconds == pytest.approx(64 * 16 * 0.008)
    worth.made()
    assert worth.answered_with(0.5)
    assert not worth.answered_with(0.05)
    assert all(worth.answered_without(1.0) is None for _ in range(32))


def test_numbers_of_any_size() -> None:
    snapshot = _wedges().snapshot
    sums = Sums([_met(1, 2**40), _met(1, 2**40)], snapshot)
    assert sums.follow([_met(1, 1), NONE_MET], [NONE_MET, NONE_MET], snapshot) == (2**40, 0)
    assert sums.follow([NONE_MET, _met(0, 5)], [_met(1, 1), _met(1, 2**40)], snapshot) == (0, 2**80 + 2**40)


def _met(vertex: int, matches: int) -> Met:
    return np.array([vertex]), np.array([matches])


def test_a_vertex_may_be_met_several_times() -> None:
    snapshot = _wedges().snapshot
    sums = Sums([(np.array([1, 2, 1]), np.array([3, 4, 5])), _met(1, 10)], snapshot)
    rows = [_rows([1, 1]), _rows([1, 2], [2, 7])]
    assert sums.follow([met_in(rows), NONE_MET], [NONE_MET, _met(1, 1)], snapshot) == (4 * 9, 8)


def test_too_many_are_met() -> None:
    with pytest.raises(gquery.ExecutionError):
        met_in([_rows([1, 2], [2**61, 2**61])])


def _rows(vertices: list[int], weights: list[int] | None = None) -> pa.RecordBatch:
    """As a branch's chain gives them."""
    columns = {"b": pa.array(vertices, pa.int32())} | ({WEIGHT: pa.array(weights, pa.int64())} if weights else {})
    return pa.record_batch(list(columns.values()), names=list(columns))


def test_too_large_a_number_is_left_to_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(Kept, "told", lambda _, *what: asked.append(what) or (2**63, 0))
    store = gquery.Store(_wedges())
    watch = store.watch(WEDGE, emit="counts")
    store.apply(insert={("A", "X", "B"): {"source": [2], "target": [1]}})
    change = watch.next()
    assert change is not None
    assert change.added["n"].to_pylist() == [1]
    assert len(asked) == 1

"""Adjacencies that change, against those that are built of all edges."""

from __future__ import annotations

import gc
from random import Random
from threading import Event, Timer
from weakref import ReferenceType, ref

import numpy as np
import pytest

import gquery
from gquery.executor.cpu.kernels import sorted_rows
from gquery.storage import adjacency
from gquery.storage.adjacency import Adjacency, build_adjacency, merge_directions
from gquery.storage.changes import ahead, paged, rows
from gquery.storage.changes.paged import ChangedAdjacency
from gquery.storage.changes.rows import Delta, changed


def test_kernels_have_pages_of_the_same_size() -> None:
    assert (sorted_rows.PAGE_BITS, sorted_rows.PAGE_ROWS) == (adjacency.PAGE_BITS, adjacency.PAGE_ROWS)


@pytest.fixture(params=["in pages", "anew", "as it comes"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "as it comes":
        monkeypatch.setattr(rows, "_SMALL", 0 if request.param == "in pages" else 1 << 30)
        monkeypatch.setattr(rows, "_WHOLE", 0)
    return str(request.param)


@pytest.mark.parametrize("direction", ["out", "both"])
@pytest.mark.parametrize("seed", range(6))
def test_against_a_new_one(way: str, direction: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(f"rows {seed}")
    low, vertices = random.choice([0, 700, 1024]), random.choice([40, 3000])
    monkeypatch.setattr(paged, "_LEAST", random.choice([1 << 10, 1 << 16]))  # room ends now and then
    edges: dict[int, tuple[int, int]] = {}
    rows_now, count, in_pages = _built(edges, direction), 0, False
    for step in range(25):
        new = {}
        for _ in range(random.choice([0, 1, 1, 2, 60, 400]) if step else 1500):
            source, target = (random.randrange(low, low + vertices) for _ in range(2))
            new[count] = (source, source if random.random() < 0.1 else target)
            count += 1
        if random.random() < 0.3:
            new |= {count: (0, 1), count + 1: (0, 1)}
            count += 2
        share = random.choice([0, 0.001, 0.1])
        gone = [edge for edge in edges if random.random() < share]
        rows_now = changed(rows_now, _delta(new, {edge: edges[edge] for edge in gone}, direction))
        edges = {edge: ends for edge, ends in (edges | new).items() if edge not in gone}
        _check(rows_now, _built(edges, direction), direction)
        in_pages |= isinstance(rows_now, ChangedAdjacency)
    assert in_pages == (way != "anew") or way == "as it comes"


def test_what_was_before_stays() -> None:
    edges = {number: (number % 7, number % 11) for number in range(20_000)}
    before = changed(_built(edges, "out"), _delta({20_000: (3, 9)}, {}, "out"))
    told = [side.tolist() for side in _rows(before)]
    afters = [changed(before, _delta({20_001: (3, place)}, {5: edges[5]}, "out")) for place in range(5)]
    assert [side.tolist() for side in _rows(before)] == told
    for place, after in enumerate(afters):  # none of them sees what another has written
        wanted = {**edges, 20_000: (3, 9), 20_001: (3, place)}
        del wanted[5]
        _check(after, _built(wanted, "out"))


def _built(edges: dict[int, tuple[int, int]], direction: str) -> Adjacency:
    return build_adjacency(*_sides(edges, direction))


def _sides(edges: dict[int, tuple[int, int]], direction: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    source, target = np.array([*edges.values()], np.int32).reshape(-1, 2).T
    ids = np.array([*edges], np.int64)
    return merge_directions(source, target, ids) if direction == "both" else (source, target, ids)


def _delta(new: dict[int, tuple[int, int]], gone: dict[int, tuple[int, int]], direction: str) -> Delta:
    gone_own, _, gone_edges = _sides(gone, direction)
    return Delta(*_sides(new, direction), gone_own, gone_edges)


def _rows(adjacency: Adjacency) -> tuple[np.ndarray, ...]:
    """The length of each row from vertex 0 on, neighbours, edges."""
    whole = adjacency.compact()
    lengths = np.concatenate([np.zeros(whole.first, np.int64), np.diff(whole.offsets)])
    return np.trim_zeros(lengths, "b"), whole.neighbours, whole.edges


def _check(found: Adjacency, wanted: Adjacency, direction: str = "out") -> None:
    (lengths, neighbours, edges), whole = _rows(found), _rows(wanted)
    if direction == "both":  # edges beside each other are in no order then
        rows = np.repeat(np.arange(len(lengths)), lengths)
        edges = edges[np.lexsort((edges, neighbours, rows))]
        whole = (*whole[:2], whole[2][np.lexsort((whole[2], neighbours, rows))])
    assert [side.tolist() for side in (lengths, neighbours, edges)] == [side.tolist() for side in whole]
    assert found.entries == wanted.entries
    assert found.longest >= wanted.longest
    assert not found.simple or wanted.simple
    asked = np.arange(-3, wanted.first + wanted.rows + 600)
    lengths = [np.subtract(*each.bounds(asked)[::-1]).tolist() for each in (found, wanted)]
    assert lengths[0] == lengths[1]


def test_room_is_made_ahead_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For all stores of a graph, whose changes are each their own; the first one waits for it."""
    monkeypatch.setattr(ahead, "_LEAST", 1)
    monkeypatch.setattr(rows, "_SMALL", 0)
    made, begin = list[Adjacency](), Event()

    def with_room(adjacency: Adjacency) -> Adjacency:
        assert begin.wait(20)
        made.append(adjacency)
        return paged.with_room(adjacency)

    monkeypatch.setattr(ahead, "with_room", with_room)
    edges = {"source": [*range(99)], "target": [*range(1, 100)]}
    graph = gquery.from_arrow({"A": {"id": [*range(100)]}}, {("A", "T", "A"): edges})
    for direction in ("out", "in"):
        graph.snapshot.adjacency(["T"], direction)
    stores = [gquery.Store(graph), gquery.Store(graph)]
    Timer(0.05, begin.set).start()
    for place, store in enumerate(stores):
        store.apply(insert={("A", "T", "A"): {"source": [7], "target": [20 + place]}})
    assert len(made) == 2
    for place, store in enumerate(stores):
        found = store.graph.snapshot.adjacency(["T"], "out")
        assert isinstance(found, ChangedAdjacency)
        assert store.graph.query("MATCH ({id: 7})-->(b) RETURN b.id AS b ORDER BY b").rows() == [(8,), (20 + place,)]
        store.close()


@pytest.mark.parametrize("seed", range(4))
def test_room_is_made_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """While rows change, some in the room that is being left, nothing is written anew by who changes them."""
    monkeypatch.setattr(ahead, "_LEAST", 1)
    monkeypatch.setattr(rows, "_SMALL", 0)
    monkeypatch.setattr(rows, "_WHOLE", 0)
    monkeypatch.setattr(rows, "_anew", None)
    monkeypatch.setattr(paged, "_LEAST", 1 << 10)
    monkeypatch.setattr(paged, "_MOVED", 8)
    random, count = np.random.default_rng(seed), 400
    source, target = random.integers(0, 300, (2, count)).astype(np.int32)
    nothing = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64)
    found, rooms = build_adjacency(source, target, np.arange(count)), set[int]()
    for _ in range(150):
        more = random.integers(0, 300 + len(source) // 8, (2, 3)).astype(np.int32)
        new = more[0], more[1], np.arange(len(source), len(source) + 3)
        found = changed(found, Delta.of(new, nothing, "out"))
        assert isinstance(found, ChangedAdjacency)
        rooms.add(id(found.room))
        source, target = np.concatenate([source, more[0]]), np.concatenate([target, more[1]])
    wanted = build_adjacency(source, target, np.arange(len(source)))
    whole = found.compact()
    assert whole.entries == found.entries == wanted.entries
    assert np.array_equal(np.diff(whole.offsets)[wanted.first :], np.diff(wanted.offsets))
    assert np.array_equal(whole.neighbours, wanted.neighbours)
    assert np.array_equal(whole.edges, wanted.edges)
    assert found.longest == wanted.longest
    assert found.simple == wanted.simple
    assert len(rooms) > 1


def test_who_reads_an_old_version_holds_no_later_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does one wait for the garbage collector: each may be of hundreds of megabytes."""
    monkeypatch.setattr(ahead, "_LEAST", 1)
    monkeypatch.setattr(rows, "_SMALL", 0)
    monkeypatch.setattr(rows, "_WHOLE", 0)
    monkeypatch.setattr(paged, "_LEAST", 1 << 10)
    edges = {number: (number % 70, number % 110) for number in range(2_000)}
    first = found = changed(_built(edges, "out"), _delta({2_000: (3, 9)}, {}, "out"))
    rooms, last = list[ReferenceType[paged.Room]](), None
    gc.disable()
    try:
        for number in range(2_001, 2_400):
            found = changed(found, _delta({number: (number % 70, 9)}, {}, "out"))
            assert isinstance(found, ChangedAdjacency)
            if found.room is not last:
                last = found.room
                rooms.append(ref(last))
        assert len(rooms) > 5
        assert sum(room() is not None for room in rooms) <= 3  # that of the first, of the last, and what comes next
    finally:
        gc.enable()
    assert first.entries == 2_001

"""An order for each partial match: sums that choose the next vertex by what is left of candidates count the same."""

from __future__ import annotations

import math
import threading
import time
from random import Random
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

import gquery
from gquery.executor import race
from gquery.executor.cpu.kernels.sums import adaptive
from gquery.executor.cpu.search import adapting, pack
from gquery.executor.cpu.search.frames import memory
from gquery.executor.cpu.search.giving import Begun
from gquery.executor.cpu.search.packed import PackedPlan
from gquery.executor.lowering import exact
from gquery.executor.progress import Control, OrdersGivenUp
from gquery.planner.search import orders
from tests.differential.test_counting import WAYS, compare_counts, costs
from tests.executor.test_cpu_ways import GIVEN

ALWAYS = [
    *WAYS["candidate graph"],
    costs({"trusted": 1}, dear=0.0, worth_trying=0.0, worth_walking=0.0, build=0.0, tried=1e12),
    (orders.Orders, "easy", lambda _: None),
]
DOUBTED = [(adapting.Trial, "is_hopeless", True), (adapting, "_PLANNED", -1), (memory, "_SLICE", 300)]
INSTEAD = race.Doubted.instead


def _as_soon_as_planned(control: race.Doubted[object]) -> float:
    while (looks := INSTEAD(control)) is None:
        time.sleep(0.001)
    return looks


CHEAPER = [*DOUBTED, (adapting, "_DEARER", -1.0), (race.Doubted, "instead", _as_soon_as_planned)]


def _given_up(_trial: adapting.Trial, _done: NDArray[np.int64]) -> NoReturn:
    raise OrdersGivenUp


CPU_WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "as they are": [],
    "short slices": [(memory, "_SLICE", 3)],
    "memory that grows": [(adapting, "_SLOTS", 1), (memory, "_SLICE", 20)],
    "memory of one": [(adapting, "_SLOTS", 1), (adapting, "_MOST_SLOTS", 1)],
    "everything is given away": [(memory, "_SLICE", 20), *GIVEN],
    "everything is given away at once": [(memory, "_SLICE", 2), *GIVEN, (adapting, "_SLOTS", 1)],
    "given up at once": [(adapting.Trial, "goes_on", _given_up)],
    "given up for a cheaper way": CHEAPER,
    "doubted": [*DOUBTED, (adapting, "_DEARER", math.inf)],
    "no room": [(adapting, "_MOST", 0)],
}


def _patch(monkeypatch: pytest.MonkeyPatch, patches: list[tuple[Any, str, Any]]) -> None:
    for owner, name, value in patches:
        monkeypatch.setattr(owner, name, value)


@pytest.mark.parametrize("way", CPU_WAYS)
def test_random_queries(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _patch(monkeypatch, [*ALWAYS, *CPU_WAYS[way]])
    compare_counts(f"adaptive, {way}", "cpu")


def coloured(seed: int) -> gquery.Graph:
    """300 vertices of four labels, some with two of them, the edges of many among few."""
    random = np.random.default_rng(seed)
    ends = (300 * random.random((2400, 2)) ** 2).astype(np.int64)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    labels = [("A",), ("B",), ("A", "B"), ("C",)]
    bounds = [0, 90, 170, 200, 300]
    vertices = {
        ":".join(names): {"id": np.arange(begin, end)}
        for names, begin, end in zip(labels, bounds, bounds[1:], strict=False)
    }
    edges = {}
    for one, low, high in zip(vertices, bounds, bounds[1:], strict=False):
        for other, begin, end in zip(vertices, bounds, bounds[1:], strict=False):
            inside = (ends[:, 0] >= low) & (ends[:, 0] < high) & (ends[:, 1] >= begin) & (ends[:, 1] < end)
            edges[one, "X", other] = {"source": ends[inside, 0].copy(), "target": ends[inside, 1].copy()}
    return gquery.from_arrow(vertices, edges)


def pattern(random: Random) -> str:
    """Eight or nine vertices with labels that overlap, joined, and two edges more."""
    size = random.choice((8, 9))
    labels = [random.choice((":A", ":A", ":B", ":C", ":A&B", "")) for _ in range(size)]
    pairs = [(random.randrange(vertex), vertex) for vertex in range(1, size)]
    pairs += [(low, high) for low, high in (sorted(random.sample(range(size), 2)) for _ in range(2))]
    arrows = {pair: random.choice(("-[:X]->", "<-[:X]-")) for pair in pairs}
    nodes = ", ".join(f"(v{vertex}{label})" for vertex, label in enumerate(labels))
    edges = ", ".join(f"(v{one}){arrow}(v{other})" for (one, other), arrow in arrows.items())
    return f"MATCH DIFFERENT NODES {nodes}, {edges} RETURN count(*)"


@pytest.mark.parametrize("threads", [1, 3])
def test_vertices_that_may_collide(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Candidates of labels that overlap are numbered together, others apart."""
    graph = coloured(threads).with_settings(threads=threads)
    random = Random(threads)
    texts = [pattern(random) for _ in range(8)]
    known = [graph.query(text, timeout=60).scalar() for text in texts]
    _patch(monkeypatch, ALWAYS)
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    found = [again.query(text).scalar() for text in texts]
    assert found == known
    assert any(count > 0 for count in known)
    assert all("smallest set at hand" in again.profile(text) for text in texts[:2])


@pytest.mark.parametrize("slice_", [6, 40, 300])
def test_halves_of_roots_add_up(slice_: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A root that is given away amid its sum, again and again, of both halves too; where sums are remembered, and where
    they are reduced by a modulus."""
    graph = coloured(7).with_settings(threads=3)
    random = Random(300)
    texts = [pattern(random) for _ in range(5)]
    known = [graph.query(text, timeout=60).scalar() for text in texts]
    given: list[int] = []
    half = adapting.Room.half

    def counted(room: adapting.Room, plan: PackedPlan, work: NDArray[np.int64]) -> Begun | None:
        begun = half(room, plan, work)
        given.append(begun is not None)
        return begun

    monkeypatch.setattr(adapting.Room, "half", counted)
    _patch(monkeypatch, [*ALWAYS, (memory, "_SLICE", slice_), *GIVEN])
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    assert [again.query(text).scalar() for text in texts] == known
    assert sum(given) > 100
    _patch(monkeypatch, [(exact, "SAFE", 0.0), (exact, "_WORD", 2)])  # every sum is made again by primes
    assert [again.query(f"{text} //").scalar() for text in texts[:3]] == known[:3]


def test_leaves_that_look_alike_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond 64 bits, too: a hub's leaves in pairs, of which some are sources of the edge in between."""
    _patch(monkeypatch, ALWAYS)
    edges = {"source": [0] * 900 + [1], "target": [*range(1, 901), 2]}
    graph = gquery.from_arrow({"V": {"id": range(901)}}, {("V", "E", "V"): edges})
    for arms in (5, 9):
        star = "".join(f", (hub)-[:E]->(v{arm})" for arm in range(arms))
        text = f"MATCH DIFFERENT NODES (hub)-[:E]->(a)-[:E]->(b)<-[:E]-(hub){star} RETURN count(*)"
        assert "smallest set at hand" in graph.profile(text)
        assert graph.query(text).scalar() == math.perm(898, arms)


def test_asked_again_it_grows_in_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in that of the run which has made the plan."""
    _patch(monkeypatch, [*ALWAYS, *CPU_WAYS["memory that grows"]])
    graph, text = coloured(3).with_settings(threads=1), pattern(Random(7))
    results = [graph.query(text) for _ in range(5)]
    assert len({result.scalar() for result in results}) == 1
    peaks = [result.progress.memory.peak for result in results]
    assert peaks[1:] == [peaks[1]] * 4


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("way", ["given up at once", "given up for a cheaper way"])
def test_what_is_given_up_is_planned_anew(way: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan that was given up is not that of the profile, and its memory is given back."""
    graph, text = coloured(3).with_settings(threads=threads), pattern(Random(7))
    expected = graph.query(text).scalar()
    _patch(monkeypatch, [*ALWAYS, *CPU_WAYS[way]])
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    result = again.query(text)
    assert result.scalar() == expected
    assert result.progress.memory.used == 0
    monkeypatch.setattr(pack, "adapting", lambda *_: pytest.fail("tried again"))
    assert "smallest set" not in again.profile(text)
    assert again.query(f"{text} //").scalar() == expected


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_what_is_doubted_goes_on_while_another_way_takes_more(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, text = coloured(3).with_settings(threads=threads), pattern(Random(7))
    expected = graph.query(text).scalar()
    _patch(monkeypatch, [*ALWAYS, *CPU_WAYS["doubted"]])
    asked: list[float | None] = []

    def noted(control: race.Doubted[object]) -> float | None:
        asked.append(INSTEAD(control))
        return asked[-1]

    monkeypatch.setattr(race.Doubted, "instead", noted)
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    for _ in range(2):  # that the other way was planned changes nothing
        assert again.query(text).scalar() == expected
        assert asked
        assert threads > 1 or asked[-1] is not None  # others may be done before that is planned
        asked.clear()
    assert "smallest set" in again.profile(text)


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_who_stands_still_gives_what_it_has(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the other way takes to plan: all others get its work, and it ends with what nobody can take."""
    graph = coloured(3).with_settings(threads=threads)
    random = Random(threads)
    texts = [pattern(random) for _ in range(6)]
    known = [graph.query(text, timeout=60).scalar() for text in texts]
    still: list[NDArray[np.int64]] = []

    def all_but_one_go_on(_: adapting.Trial, done: NDArray[np.int64]) -> bool:
        if not still:
            still.append(done)
        return done is not still[0]

    _patch(monkeypatch, [*ALWAYS, (memory, "_SLICE", 300), (adapting.Trial, "goes_on", all_but_one_go_on)])
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    for text, count in zip(texts, known, strict=True):
        still.clear()
        assert again.query(text, timeout=60).scalar() == count
    assert still


def test_a_sum_beyond_64_bits_is_doubted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been made is made again by primes, whatever the other way would take."""
    graph, text = coloured(3).with_settings(threads=2), pattern(Random(7))
    expected = graph.query(text).scalar()
    _patch(monkeypatch, [*ALWAYS, (exact, "SAFE", 0.0), (exact, "_WORD", 2), (memory, "_SLICE", 300)])
    passed, made = adapting.Trial.passed, []

    def hopeless_from_now_on(trial: adapting.Trial) -> None:
        monkeypatch.setattr(adapting, "_BEHIND", 0.0)
        monkeypatch.setattr(race.Doubted, "instead", lambda _: pytest.fail("doubted again"))
        made.append(trial)
        passed(trial)

    monkeypatch.setattr(adapting.Trial, "passed", hopeless_from_now_on)
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    assert again.query(text).scalar() == expected
    assert made


def test_where_memory_is_limited_only_one_way_is_planned_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, text = coloured(3), pattern(Random(7))
    expected = graph.query(text).scalar()
    _patch(monkeypatch, [*ALWAYS, *CHEAPER])
    monkeypatch.setattr(race.Doubted, "instead", lambda _: pytest.fail("planned beside"))
    again = gquery.Graph(graph.snapshot, settings=graph.settings)
    assert again.query(text, memory_limit="1GB").scalar() == expected


@pytest.mark.parametrize("way", ["given up for a cheaper way", "doubted"])
def test_no_thread_is_left(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, text = coloured(3).with_settings(threads=3), pattern(Random(7))
    _patch(monkeypatch, [*ALWAYS, *CPU_WAYS[way]])
    before = threading.enumerate()
    graph.query(text).scalar()
    assert threading.enumerate() == before


def test_a_timeout_holds_while_another_way_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, text = coloured(3), pattern(Random(7))
    _patch(monkeypatch, [*ALWAYS, *DOUBTED])
    monkeypatch.setattr(race.Planned, "planned", lambda control, _: _until_it_has_to_stop(control))
    again = gquery.Graph(graph.snapshot, settings=graph.settings.changed(threads=1))
    with pytest.raises(gquery.QueryTimeout):
        again.query(text, timeout=1.0).scalar()


def _until_it_has_to_stop(control: Control) -> NoReturn:
    while True:
        control.check()
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("looks", "roots", "hopeless"),
    [
        (10, 0, False),  # nothing is known yet
        (30, 0, True),
        (30, 5, False),  # a twentieth of the roots by a third of the looks: the first ones take most
        (90, 20, True),
        (110, 60, False),  # it will not take twice as much
        (210, 100, True),
    ],
)
def test_a_sum_is_given_up_by_the_roots_that_are_done(looks: int, roots: int, hopeless: bool) -> None:
    """By all workers together, however they share them: one that has heavy roots alone does not end it, nor do many
    take many times the looks."""
    for workers in (1, 2, 16):
        trial = adapting.Trial(50_500_000, 100, Control().instead)  # 10^8 in all
        for worker in range(workers):
            done = trial.joined()
            done[adaptive.LOOKS] = looks * 1_000_000 // workers
            done[adaptive.ROOTS] = roots if worker == workers - 1 else 0
        assert trial.is_hopeless is hopeless, workers

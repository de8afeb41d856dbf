"""Counts go to a card where that pays, and come back to the CPU where the card has no room."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any, ClassVar

import pytest

import gquery
from gquery.errors import MemoryLimitError
from gquery.executor import devices, matching, race
from gquery.executor.backend import Backend, Masks
from gquery.executor.gpu.engine import GpuBackend
from gquery.executor.progress import Control
from gquery.planner.ir.match_plan import MatchPlan
from gquery.planner.search import costs, second_half, settled
from gquery.session import Graph
from gquery.settings import Settings
from gquery.stopping import Check
from gquery.storage.graph import Snapshot
from tests.differential import test_random
from tests.differential.build import to_gquery
from tests.differential.generate import random_graph, random_query
from tests.emulated.device import COMPILER, EmulatedDevice, emulated, emulated_device

TEXT = "MATCH DIFFERENT NODES (a)-[:E]-(b)-[:E]-(c)-[:E]-(a) RETURN count(*)"

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


class FullDevice(EmulatedDevice):
    """Has no room at all."""

    @contextmanager
    def guarded(self) -> Iterator[None]:  # type: ignore[override]
        raise MemoryLimitError("no room for 1,024 bytes")
        yield


class Beside:
    def __init__(self, card: Backend, has_graph: bool = True) -> None:
        self.card = card
        self.has_graph = has_graph
        self.asked = 0

    def begun(self, snapshot: Snapshot) -> tuple[bool, bool]:
        return True, self.has_graph

    def backend(self, check: Check) -> Backend:
        self.asked += 1
        return self.card


def graph() -> Graph:
    ids = list(range(60))
    pairs = [(one, other) for one in ids for other in ids if one < other and (one * other) % 7 < 3]
    return gquery.from_arrow(
        vertices={"V": {"id": ids}},
        edges={("V", "E", "V"): {"source": [one for one, _ in pairs], "target": [other for _, other in pairs]}},
    )


def of_device(kind: type[EmulatedDevice]) -> Backend:
    return GpuBackend(kind(emulated_device().library))


def full() -> Backend:
    return of_device(FullDevice)


@pytest.mark.parametrize(("has_room", "dear"), [(True, True), (True, False), (False, True)])
def test_auto_counts_the_same(has_room: bool, dear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(emulated(Settings()) if has_room else full(), has_graph=False)
    expected = graph().query(TEXT, device="cpu").scalar()
    monkeypatch.setattr("gquery.session.card_beside", lambda _: beside)
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(query=-1e9 if dear else 1e9, look=0.0))
    assert graph().query(TEXT).scalar() == expected
    assert beside.asked == dear
    said = graph().profile(TEXT)
    assert ("On the card" in said) == (has_room and dear)
    assert ("no room for 1,024 bytes" in said) == (not has_room)
    assert ("On the card" in graph().explain(TEXT)) == dear


@pytest.mark.parametrize("has_room", [True, False])
def test_a_card_that_is_ready_counts_what_is_little_too(has_room: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = Beside(emulated(Settings()) if has_room else full())
    expected = graph().query(TEXT, device="cpu").scalar()
    monkeypatch.setattr("gquery.session.card_beside", lambda _: beside)
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(query=1e9))
    said = graph().profile(TEXT)
    assert ("On the card: it is ready" in said) == has_room
    assert ("no room for 1,024 bytes" in said) == (not has_room)
    assert graph().query(TEXT).scalar() == expected
    assert beside.asked == 2


@pytest.mark.parametrize(("changed", "on_card"), [({}, 1), ({"little": 0.0}, 6), ({"begins": -1.0}, 5)])
def test_what_is_little_goes_to_the_cpu_when_it_is_asked_again(
    changed: dict[str, float], on_card: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside, asked = Beside(emulated(Settings())), graph()
    expected = asked.query(TEXT, device="cpu").scalar()
    monkeypatch.setattr("gquery.session.card_beside", lambda _: beside)
    for module in (costs, settled):
        monkeypatch.setattr(module, "CARD", replace(costs.CardCosts(), **{"little": 1e9, "begins": 60.0, **changed}))
    for _ in range(6):
        assert asked.query(TEXT).scalar() == expected
    assert beside.asked == on_card


@pytest.mark.parametrize("has_graph", [True, False])
def test_plans_of_the_cpu_are_right_on_the_card(has_graph: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(query=-1e9, look=0.0))
    beside, asked = Beside(emulated(Settings()), has_graph), 0
    for seed in range(3):
        random = Random(f"card beside {seed}")
        data = random_graph(random, 30)
        graph = to_gquery(data)
        for _ in range(3):
            renderer, body, mode = test_random.written(random_query(random, data, connected=True), random)
            text, told = f"{body} RETURN count(*)", f"seed {seed}: {body} {renderer.parameters} {mode}"
            with monkeypatch.context() as patch:
                patch.setattr("gquery.session.card_beside", lambda _: beside)
                found = graph.query(text, renderer.parameters, mode=mode).scalar()
            assert found == graph.query(text, renderer.parameters, mode=mode, device="cpu").scalar(), told
            asked += 1
    assert 0 < beside.asked <= asked


RING = (
    "MATCH DIFFERENT NODES (a)-[:E]-(b)-[:E]-(c)-[:E]-(d)-[:E]-(e)-[:E]-(f)-[:E]-(g)-[:E]-(h)-[:E]-(a) "
    "WHERE a.id < 2 RETURN count(*)"
)


def rings() -> Graph:
    """Two rings of eight, which share an edge."""
    pairs = [*zip(range(7), range(1, 8), strict=True), (0, 7), *zip(range(7, 13), range(8, 14), strict=True), (0, 13)]
    sources, targets = zip(*pairs, strict=True)
    return gquery.from_arrow(
        vertices={"V": {"id": list(range(14))}}, edges={("V", "E", "V"): {"source": sources, "target": targets}}
    )


def test_a_card_may_be_done_before_walks_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_ALONE", 10**9)
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(query=1e9, look=0.0))  # but for that it stays on the CPU
    expected = rings().query(RING, device="cpu").scalar()
    beside = Beside(emulated(Settings()))
    monkeypatch.setattr("gquery.session.card_beside", lambda _: beside)
    assert rings().query(RING).scalar() == expected > 0
    assert "done before the CPU" in rings().profile(RING)
    assert beside.asked == 2


class Noting(ThreadPoolExecutor):
    """Knows of all that runs beside others."""

    begun: ClassVar[list[Future[Any]]] = []

    def submit(self, *work: Any) -> Future[Any]:  # type: ignore[override]
        self.begun.append(super().submit(*work))
        return self.begun[-1]


class LateDevice(EmulatedDevice):
    """Waits for what runs beside it."""

    def run(self, machine: int, modulus: int, short: bool) -> None:
        wait(Noting.begun, 20)
        super().run(machine, modulus, short)


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The CPU begins to count beside the card's first launch."""
    monkeypatch.setattr(matching, "_BESIDE", -1)
    monkeypatch.setattr(race, "ThreadPoolExecutor", Noting)
    yield
    wait(Noting.begun)
    Noting.begun.clear()


@pytest.mark.usefixtures("raced")
def test_the_cpu_may_be_done_before_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(query=1e9, look=0.0))
    expected = rings().query(RING, device="cpu").scalar()
    beside = Beside(of_device(LateDevice))
    monkeypatch.setattr("gquery.session.card_beside", lambda _: beside)
    assert "On the CPU" in rings().profile(RING)
    assert rings().query(RING).scalar() == expected


@pytest.mark.usefixtures("raced")
def test_a_card_may_be_done_before_the_cpu_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = rings().query(RING, device="cpu").scalar()
    counted, ended = matching.Matching._counted_where_it_pays, threading.Event()

    def count(this: matching.Matching) -> int:
        if this.engine.beside is None:  # on the card
            return counted(this)
        try:
            while True:
                this.control.check()
        except race.Overtaken:
            ended.set()
            raise

    monkeypatch.setattr(matching.Matching, "_counted_where_it_pays", count)
    monkeypatch.setattr("gquery.session.card_beside", lambda _: Beside(emulated(Settings())))
    assert rings().query(RING).scalar() == expected
    assert ended.wait(20)


@pytest.mark.usefixtures("raced")
@pytest.mark.parametrize("first", ["card", "CPU"])
def test_both_go_on_by_the_order_that_the_cpu_has_found(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(query=-1e9, look=0.0))
    expected = rings().query(RING, device="cpu").scalar()
    come, go_on_alone = threading.Event(), race.Follower.go_on_alone
    counted, done = matching.Matching._again_on, threading.Event()

    class Held(EmulatedDevice):
        """Is stuck until the CPU comes to it, and then may be so until that has counted."""

        def run(self, machine: int, modulus: int, short: bool) -> None:
            if len(Noting.begun) % 2:
                come.wait(20)
            elif Noting.begun and told == "CPU":
                done.wait(20)
            super().run(machine, modulus, short)

    def noted(follower: race.Follower) -> None:
        follower.goes_on_alone = True
        come.set()
        go_on_alone(follower)

    def count(this: matching.Matching, backend: Backend, masks: Masks) -> int:
        on_card = isinstance(backend, GpuBackend)
        if not on_card and told == "card":
            assert done.wait(20)
        found = counted(this, backend, masks)
        if on_card == (told == "card"):
            done.set()
        return found

    told, placed, take = first, list[str](), matching.Matching._take
    monkeypatch.setattr(matching.Matching, "_take", lambda *given: (placed.append(given[-1]), take(*given)))
    monkeypatch.setattr(race.Follower, "go_on_alone", noted)
    monkeypatch.setattr(matching.Matching, "_again_on", count)
    beside = Beside(of_device(Held))
    monkeypatch.setattr("gquery.session.card_beside", lambda _: beside)
    assert rings().query(RING).scalar() == expected
    assert placed[0].startswith(f"On the {first}")
    assert beside.asked == 2


@pytest.mark.parametrize("steps", [10**9, -1])
def test_a_card_alone_counts_by_what_walks_have_found(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_ALONE", "_TRIED"):
        monkeypatch.setattr(matching, name, steps)
    monkeypatch.setitem(devices.BACKENDS, "gpu", emulated)
    expected = rings().query(RING, device="cpu").scalar()
    assert rings().query(RING, device="gpu").scalar() == expected > 0
    said = rings().with_settings(device="gpu").profile(RING)
    assert ("by an order that the CPU has found" in said) == (steps < 0)
    assert ("done before the CPU" in said) == (steps > 0)


def test_plans_for_a_card_are_made_with_less_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float]] = []
    made = second_half.plan_matching

    def plan_matching(*arguments: Any) -> tuple[MatchPlan, ...]:
        model = arguments[-1].costs
        seen.append((model.worth_improving, model.worth_excluding))
        return made(*arguments)

    monkeypatch.setattr(second_half, "plan_matching", plan_matching)
    monkeypatch.setattr(matching, "_TRIED", 10**9)
    monkeypatch.setitem(devices.BACKENDS, "gpu", emulated)
    usual = costs.CPU.worth_improving
    for device, worth in (("gpu", (usual * costs.CARD.patience, costs.CARD.excluding)), ("cpu", (usual, 1.0))):
        rings().query(RING, device=device).scalar()
        assert set(seen) == {worth}
        seen.clear()


def test_a_timeout_is_heard_while_a_card_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_TRIED", 10**9)
    monkeypatch.setattr("gquery.session.card_beside", lambda _: Beside(emulated(Settings())))
    answer = rings().query(RING, timeout=1.0)
    monkeypatch.setattr(Control, "elapsed", 2.0)
    with pytest.raises(gquery.QueryTimeout):
        answer.scalar()


def test_the_card_alone_says_that_it_has_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(devices.BACKENDS, "gpu", lambda _: full())
    with pytest.raises(MemoryLimitError, match="no room"):
        graph().query(TEXT, device="gpu").scalar()


def test_without_a_choice_nothing_is_said() -> None:
    assert "On the" not in graph().explain(TEXT, mode=None)


@pytest.mark.parametrize(("saved", "left_out"), [(0.0, False), (1e9, True)])
def test_filters_that_save_less_than_a_launch_are_left_out(
    saved: float, left_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "CARD", costs.CardCosts(filters=saved))
    monkeypatch.setattr("gquery.session.CPU", replace(costs.CPU, filters_weighed=-1.0, filter_begin=-1e6))
    said = {device: graph().with_settings(device=device).explain(TEXT) for device in ("cpu", "gpu")}
    assert "at least 2" in said["cpu"]
    assert ("at least 2" not in said["gpu"]) == left_out

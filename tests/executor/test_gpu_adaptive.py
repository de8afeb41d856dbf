"""An order for each partial match on a card: warps count the same however they share the work, and give up in time."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import gquery
from gquery.errors import MemoryLimitError
from gquery.executor import matching
from gquery.executor.backend import Backend
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu import adaptive
from gquery.executor.gpu.adaptive import AdaptiveSlices
from gquery.executor.gpu.device import source
from gquery.executor.gpu.engine import GpuBackend
from gquery.executor.gpu.program import adapting
from gquery.executor.lowering import exact
from gquery.executor.progress import OrdersGivenUp
from gquery.planner.search import costs, orders
from gquery.settings import Settings
from tests.differential import test_counting as counting
from tests.emulated import device as emulation
from tests.emulated.device import COMPILER, EmulatedDevice, LaneDevice, emulated
from tests.executor.test_adaptive_orders import coloured, pattern

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Cards try an order for each partial match at once; what these have counted."""
    found: list[int] = []
    total = AdaptiveSlices.total

    def noted(slices: AdaptiveSlices, modulus: int) -> tuple[int, float]:
        value = total(slices, modulus)
        found.append(value[0])
        return value

    monkeypatch.setattr(AdaptiveSlices, "total", noted)
    monkeypatch.setattr(matching, "_ALONE", -1)
    monkeypatch.setattr(orders.Orders, "easy", lambda _: None)
    monkeypatch.setattr(adapting, "_SLOTS", 1 << 8)
    monkeypatch.setitem(BACKENDS, "gpu", emulated)
    return found


def on_card(graph: gquery.Graph, text: str) -> Any:
    """By a graph that has planned nothing yet."""
    return gquery.Graph(graph.snapshot).query(text, device="gpu").scalar()


WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "as they are": [],
    "one sum is remembered": [(adapting, "_SLOTS", 1)],
    "short launches": [(EmulatedDevice, "apart", 2)],
    "made again by primes": [(exact, "SAFE", 0.0), (exact, "_WORD", 2)],
}


@pytest.mark.parametrize("way", WAYS)
def test_patterns_count_the_same(way: str, counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for patch in WAYS[way]:
        monkeypatch.setattr(*patch)
    random = Random(f"on a card, {way}")
    for seed in range(6):
        graph = coloured(seed)
        text = pattern(random)
        expected = graph.query(text, device="cpu").scalar()
        assert on_card(graph, text) == expected, text
    assert len(counted) >= 6


def test_random_queries(counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for patch in [*counting.WAYS["candidate graph"], counting.costs({"trusted": 1})]:
        monkeypatch.setattr(*patch)
    counting.compare_counts("adaptive on a card", "gpu")
    assert counted


@pytest.mark.parametrize("seed", range(3))
def test_warps_that_give_what_they_have(seed: int, counted: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """All lanes of two warps, which look after each step whether the other has nothing to do."""
    text = source().replace("const int STEPS_ALONE = 64;", "const int STEPS_ALONE = 1;")
    assert text != source()
    monkeypatch.setattr(emulation, "source", lambda: text)
    monkeypatch.setattr(LaneDevice, "apart", 8)
    random = Random(f"lanes {seed}")
    for number in range(5):
        graph, asked = coloured(number), pattern(random)
        expected = graph.query(asked, device="cpu").scalar()
        if expected < 10**6:  # the others take long
            monkeypatch.setitem(BACKENDS, "gpu", lambda _, number=number: GpuBackend(LaneDevice(number)))
            assert on_card(graph, asked) == expected, asked
    assert counted


@pytest.mark.parametrize("limit", ["100kB", "1MB", "100MB"])
def test_a_limit_of_memory_changes_no_count(limit: str) -> None:
    for seed in range(3):
        graph, text = coloured(seed), pattern(Random(f"memory {seed}"))
        expected = graph.query(text, device="cpu").scalar()
        again = gquery.Graph(graph.snapshot).query(text, device="gpu", memory_limit=limit)
        assert again.scalar() == expected


def full(_: Settings) -> Backend:
    """A card that has no room for this way."""

    class Full(EmulatedDevice):
        def free_bytes(self) -> int:
            return 1 << 10

    return GpuBackend(Full(emulation.emulated_device().library))


def _no_room(*_: object) -> None:
    raise MemoryLimitError("no room")


@pytest.mark.parametrize(
    "patches",
    [
        [(costs, "CARD", costs.CardCosts(orders=0.0))],
        [(BACKENDS, "gpu", full)],
        [(adapting.Adapting, "_write", _no_room)],
        [(adaptive, "MOST_LEVELS", 7)],
    ],
    ids=["takes too long", "no room for rows", "no room", "too wide"],
)
def test_one_order_counts_what_is_given_up(
    patches: list[tuple[Any, str, Any]], counted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the next time it is not tried again."""
    graph, text = coloured(3), pattern(Random(7))
    expected = graph.query(text, device="cpu").scalar()
    monkeypatch.setattr(EmulatedDevice, "apart", 1)
    for owner, name, value in patches:
        (monkeypatch.setitem if owner is BACKENDS else monkeypatch.setattr)(owner, name, value)
    again = gquery.Graph(graph.snapshot)
    assert again.query(text, device="gpu").scalar() == expected
    assert not counted
    monkeypatch.setattr(AdaptiveSlices, "total", _not_again)
    for asked in (text, f"{text} //"):
        assert again.query(asked, device="gpu").scalar() == expected


def _not_again(*_: object) -> None:
    raise AssertionError("tried again")


def test_the_plan_says_so() -> None:
    graph, text = coloured(3), pattern(Random(7))
    assert "smallest set at hand" in gquery.Graph(graph.snapshot).with_settings(device="gpu").profile(text)


def test_what_was_given_up_on_a_card_is_tried_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither knows of the other's trials: the CPU asks walks first."""
    asked: list[float] = []
    planned = orders.Orders._adaptive

    def noted(own: orders.Orders, dear: orders.Solution) -> orders.Solution:
        asked.append(own.costs.tried)
        return planned(own, dear)

    monkeypatch.setattr(orders.Orders, "_adaptive", noted)
    monkeypatch.setattr(AdaptiveSlices, "total", _given_up)
    changed = costs.replace(costs.CPU, dear=0.0, worth_trying=0.0, worth_walking=0.0, build=0.0, tried=1e12)
    monkeypatch.setattr("gquery.session.CPU", changed)
    graph, text = coloured(3), pattern(Random(7))
    expected = graph.query(text, device="gpu").scalar()
    on_a_card = len(asked)
    assert graph.query(f"{text} //", device="cpu").scalar() == expected
    assert len(asked) > on_a_card


def _given_up(*_: object) -> None:
    raise OrdersGivenUp

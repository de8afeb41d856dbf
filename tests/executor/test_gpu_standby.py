"""What a run on a card has made ready stands by for the next: filtered candidates and their edges stay on the card."""

from __future__ import annotations

from typing import Any

import pytest

import gquery
from gquery.executor import devices
from gquery.executor.gpu.engine import GpuBackend
from tests.emulated.device import COMPILER, EmulatedDevice, emulated_device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

COUNTED = "MATCH (a:V)-[:E]->(b:V)-[:E]->(c:V)-[:E]->(a) WHERE a.id > $least RETURN count(*)"
CLIQUES = "MATCH (a)-[:E]-(b)-[:E]-(c)-[:E]-(d)-[:E]-(a)-[:E]-(c), (b)-[:E]-(d) RETURN count(*)"
LISTED = "MATCH (a:V)-[:E]->(b:V)-[:E]->(c:V) WHERE b.id < $least + 40 RETURN id(a), id(c)"
TEXTS = (COUNTED, CLIQUES, LISTED)


class CountingDevice(EmulatedDevice):
    """Knows how many launches there were, and the bytes that are held."""

    launches = 0

    def run(self, machine: int, modulus: int, short: bool) -> None:
        self.launches += 1
        super().run(machine, modulus, short)

    @property
    def held(self) -> int:
        return sum(array.nbytes for each in self._fenced if (array := each()) is not None)


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> CountingDevice:
    device = CountingDevice(emulated_device().library)
    monkeypatch.setitem(devices.BACKENDS, "gpu", lambda _: GpuBackend(device))
    return device


def ring(length: int = 90) -> gquery.Graph:
    """With chords: each vertex begins a triangle with the two that follow it."""
    source = [vertex for vertex in range(length) for _ in range(4)]
    target = [(vertex + step) % length for vertex in range(length) for step in (1, 2, 3, length - 2)]
    edges = {("V", "E", "V"): {"source": source, "target": target, "w": list(range(4 * length))}}
    return gquery.from_arrow({"V": {"id": list(range(length))}}, edges)


def asked(graph: gquery.Graph, text: str, on: str = "gpu", least: int = 10, **settings: Any) -> list[Any]:
    parameters = {"least": least} if "$" in text else None
    return sorted(graph.query(text, parameters, device=on, **settings).rows())


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_is_filtered_again(text: str, card: CountingDevice) -> None:
    graph = ring()
    expected = asked(graph, text, "cpu")
    launches, held = [], []
    for _ in range(6):
        before = card.launches
        assert asked(graph, text) == expected
        launches.append(card.launches - before)
        held.append(card.held)
    assert launches[2:] == [launches[2]] * 4
    assert launches[2] < launches[0]
    assert held[2:] == [held[2]] * 4
    assert 0 < graph.snapshot.idle.nbytes < 2**22


@pytest.mark.parametrize("text", [COUNTED, LISTED])
def test_by_values_of_parameters(text: str, card: CountingDevice) -> None:
    graph = ring()
    for least in (10, 80, 10, 10, 80, 0, 80):
        assert asked(graph, text, least=least) == asked(graph, text, "cpu", least)


@pytest.mark.parametrize("text", TEXTS)
def test_after_runs_that_did_not_end(text: str, card: CountingDevice) -> None:
    graph = ring()
    expected = asked(graph, text, "cpu")
    for turn in range(4):
        with pytest.raises(gquery.QueryTimeout):
            asked(graph, text, timeout=1e-9)
        batches = iter(graph.query(text, {"least": 10} if "$" in text else None, device="gpu"))
        if turn % 2:
            next(batches)
        del batches
        assert asked(graph, text) == expected


def test_graphs_leave_the_card_all_the_same(card: CountingDevice) -> None:
    """What stands by holds candidates, and not the graph."""
    graph, other = ring(3_000), ring(50)
    for _ in range(3):
        asked(graph, CLIQUES)
    held = card.held
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patched:
        patched.setattr(CountingDevice, "free_bytes", lambda self: 0 if self.held >= held else 8 << 20)
        asked(other, COUNTED)
        assert card.held < held
    assert asked(graph, CLIQUES) == asked(graph, CLIQUES, "cpu")

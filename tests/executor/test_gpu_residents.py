"""Graphs on a card make room for others, and come back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gquery
from gquery.executor import devices
from gquery.executor.gpu.engine import GpuBackend, is_resident
from gquery.session import Graph
from tests.emulated.device import COMPILER, EmulatedDevice, emulated_device

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")

TRIANGLES = "MATCH (a)-[:E]->(b)-[:E]->(c)-[:E]->(a) RETURN count(*)"
PAIRS = "MATCH (a)-[:E]->(b)-[:E]->(c) RETURN id(a), id(b), id(c)"


class SmallDevice(EmulatedDevice):
    """Has no room for more graphs than one."""

    graphs: tuple[Graph, ...] = ()

    def free_bytes(self) -> int:
        there = sum(is_resident(graph.snapshot) for graph in self.graphs)
        return super().free_bytes() if there < 2 else 0


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Graph, ...]]:
    device = SmallDevice(emulated_device().library)
    monkeypatch.setitem(devices.BACKENDS, "gpu", lambda _: GpuBackend(device))
    device.graphs = tuple(ring(length) for length in (30, 60, 90))
    yield device.graphs
    device.graphs = ()


def ring(length: int) -> Graph:
    """With chords: each vertex begins a triangle with the two that follow it."""
    source = [vertex for vertex in range(length) for _ in range(3)]
    target = [(vertex + step) % length for vertex in range(length) for step in (1, 2, length - 2)]
    edges = {("V", "E", "V"): {"source": source, "target": target}}
    return gquery.from_arrow({"V": {"id": list(range(length))}}, edges).with_settings(device="gpu")


def test_the_one_asked_for_longest_ago_goes(graphs: tuple[Graph, ...]) -> None:
    for turn in range(6):
        number = turn % 3
        graph = graphs[number]
        assert graph.query(f"{TRIANGLES} // {turn}").scalar() == graph.query(TRIANGLES, device="cpu").scalar() > 0
        assert [is_resident(each.snapshot) for each in graphs] == [number == each for each in range(3)]


def test_a_query_goes_on_with_what_it_has(graphs: tuple[Graph, ...]) -> None:
    first, second, _ = graphs
    expected = first.query(PAIRS, device="cpu").to_arrow().num_rows
    rows = iter(first.query(PAIRS))
    next(rows)
    second.query(TRIANGLES).scalar()
    assert not is_resident(first.snapshot)
    assert 1 + sum(1 for _ in rows) == expected

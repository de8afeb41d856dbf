"""Motifs counted on the card, by its kernels run on the CPU, and on a card where there is one: the same tables."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import gquery
from gquery.errors import MemoryLimitError, QueryCancelled, QueryTimeout, UnsupportedError
from gquery.executor.census.counts import Census, Tallies
from gquery.executor.census.graph import Coloured
from gquery.executor.census.layout import layout_of
from gquery.executor.census.null import Model, Null
from gquery.executor.cpu.census.counting import census
from gquery.executor.gpu.census import launching, tallying
from gquery.executor.gpu.census.handing import Handing
from gquery.executor.gpu.census.launching import Kernels
from gquery.executor.progress import Control
from gquery.motif import discovery, on_card, placing
from gquery.motif.on_card import counted_on_card
from tests.conftest import missing
from tests.emulated.census import EmulatedKernels, LaneKernels
from tests.emulated.device import COMPILER
from tests.executor.test_gpu_kernels import ARCHITECTURES, compiled, compiler
from tests.motif.networks import arcs_of, network, small

MODELS: list[Model] = ["degrees", "mutual", "stubs", "erdos-renyi"]


# Where there is no card, one skipped test says as much as a hundred: those of queries are.
PLACES = ["emulated"] if missing("gpu") and os.environ.get("GQUERY_REQUIRE_GPU") != "1" else ["emulated", "gpu"]


@pytest.fixture(params=PLACES, autouse=True)
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that motifs are counted by."""
    if request.param == "gpu":
        return
    if COMPILER is None:
        pytest.skip("there is no C++ compiler for the kernels of the GPU")
    monkeypatch.setattr(on_card, "kernels_of_card", EmulatedKernels)


def expect_the_same(graph: Coloured, null: Null, graphs: int = 6, threads: int = 2) -> Census:
    wanted = census(graph, null, graphs, 1, Control())
    found = counted_on_card(graph, null, graphs, threads, Control())
    assert np.array_equal(found.codes, wanted.codes)
    assert np.array_equal(found.counts, wanted.counts)
    for one, other in zip(found.random, wanted.random, strict=True):
        assert np.array_equal(one, other)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("model", MODELS)
def test_small_graphs(model: Model, size: int, directed: bool, seed: int) -> None:
    colours, types = ((1, 1), (3, 1), (1, 2), (2, 2))[seed]
    graph = small(seed, size, directed, 14, colours=colours, types=types)
    expect_the_same(graph, Null(model, 10, -seed))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("size", "vertices", "colours"), [(6, 12, 1), (6, 10, 2), (7, 10, 1), (8, 10, 1)])
def test_large_sets(size: int, vertices: int, colours: int, directed: bool) -> None:
    expect_the_same(small(1, size, directed, vertices, colours=colours), Null("degrees", 10, 3))


@pytest.mark.parametrize("size", [3, 4, 5])
def test_real_networks(shared_data: Path, size: int) -> None:
    expect_the_same(network(shared_data, "ecoli", size, True), Null("mutual", 10, 7))


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("size", "vertices"), [(3, 50), (4, 40), (5, 25), (6, 14)])
def test_lanes_wait_for_each_other(monkeypatch: pytest.MonkeyPatch, size: int, vertices: int, directed: bool) -> None:
    """Whichever runs first; a hub has up to half of all vertices beside it."""
    monkeypatch.setattr(on_card, "kernels_of_card", lambda: LaneKernels(size))
    graph = small(size, size, directed, vertices, types=1 + size % 2)
    hub = np.array([[0, other] for other in range(1, vertices, 2)])
    arcs = np.unique(np.concatenate([np.stack([graph.arcs.tails, graph.arcs.heads], axis=1), hub]), axis=0)
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    expect_the_same(Coloured(arcs_of(arcs), graph.colours, graph.layout), Null("degrees", 2, size), graphs=1)


def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some graphs each; the last is smaller."""
    monkeypatch.setattr(tallying, "_MOST_GRAPHS", 4)
    expect_the_same(small(3, 4, True, 20), Null("degrees", 10, 5), graphs=9)


class Watched(Control):
    """Keeps how far it was whenever it was looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def check(self) -> None:
        self.seen.append(self.fraction)
        super().check()


def test_progress_moves_within_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "_MOST_GRAPHS", 20)
    control = Watched()
    counted_on_card(dense(), Null("degrees", 10, 5), 39, 1, control)
    assert control.seen == sorted(control.seen)
    assert control.fraction == 1
    if on_card.kernels_of_card is EmulatedKernels:  # whose launches are short
        assert len(set(control.seen)) > 20


def test_tallies_wait_until_they_are_wanted() -> None:
    """Whoever counts goes on meanwhile."""

    def stop() -> None:
        raise QueryCancelled("nobody takes them")

    hand, some = Handing(stop), [Tallies(number, *np.zeros((3, 1), np.int64), True) for number in range(3)]
    left, taken = iter(some), hand.taken()
    hand.offer(left)
    hand.offer(left)  # the first has not been taken
    assert next(taken) is some[0]
    hand.offer(left)
    with pytest.raises(QueryCancelled):
        hand.give(left)
    assert next(taken) is some[1]
    hand.offer(left)
    hand.end()
    assert list(taken) == [some[2]]


def test_tallies_are_emptied_and_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sets have more codes than there is room for."""
    monkeypatch.setattr(tallying, "_FEWEST_SLOTS", 16)
    monkeypatch.setattr(tallying, "_SLOTS_FOR_WARP", 1)
    assert len(expect_the_same(dense(), Null("degrees", 10, 5)).codes) > 1000
    monkeypatch.setattr(tallying, "_MOST_SLOTS", 16)
    with pytest.raises(MemoryLimitError, match="no room"):
        counted_on_card(dense(), Null("degrees", 10, 5), 2, 1, Control())


def test_tallies_are_emptied_and_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is room for the codes of a set, not for those of all."""
    monkeypatch.setattr(tallying, "_FEWEST_SLOTS", 2048)
    monkeypatch.setattr(tallying, "_MOST_SLOTS", 2048)
    expect_the_same(dense(), Null("degrees", 10, 5))


@pytest.mark.parametrize("slots", [1 << 10, 1 << 16])
def test_little_memory_of_the_host(monkeypatch: pytest.MonkeyPatch, slots: int) -> None:
    """What is read at once is less, a part of a large tally, and what is known of codes is forgotten; counts go to a
    file."""
    monkeypatch.setattr(tallying, "_FEWEST_SLOTS", slots)
    graph, null = dense(), Null("degrees", 10, 4)
    plenty, little = Control(), Control(memory_limit=400_000)
    wanted, found = (counted_on_card(graph, null, 40, 1, control) for control in (plenty, little))
    assert plenty.memory.peak > little.memory.peak
    assert isinstance(found.random.counts, np.memmap)
    assert np.array_equal(found.codes, wanted.codes)
    assert np.array_equal(found.random.counts, wanted.random.counts)


def dense() -> Coloured:
    random = np.random.default_rng(5)
    pairs = np.unique(random.integers(30, size=(130, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return Coloured(arcs_of(pairs), np.zeros(30, np.int32), layout_of(5, 1, 1, True))


def test_too_many_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "_MOST", 1000.0)
    with pytest.raises(UnsupportedError, match="64 bits"):
        counted_on_card(dense(), Null("degrees", 10, 5), 0, 1, Control())


def test_too_many_labels() -> None:
    graph = small(1, 3, True, 600, colours=128)
    with pytest.raises(UnsupportedError, match="labels or types for the GPU"):
        counted_on_card(graph, Null("degrees", 10, 5), 0, 1, Control())


def test_time_and_cancel() -> None:
    with pytest.raises(QueryTimeout):
        counted_on_card(dense(), Null("degrees", 10, 5), 1000, 1, Control(timeout=0.001))
    control = Control()
    control.cancel()
    with pytest.raises(QueryCancelled):
        counted_on_card(dense(), Null("degrees", 10, 5), 1000, 1, control)


def test_device_is_an_option() -> None:
    random = np.random.default_rng(2)
    tails, heads = random.integers(40, size=(2, 100))
    graph = gquery.from_arrow({"V": {"id": list(range(40))}}, {("V", "E", "V"): {"source": tails, "target": heads}})
    found, wanted = (gquery.motifs(graph, 4, random=20, device=device) for device in ("gpu", "cpu"))
    assert found.to_arrow().equals(wanted.to_arrow())
    assert any("on the GPU" in note for note in found.notes)


class Beside:
    """A card that has begun, or that is not there."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def started(self) -> bool:
        return True

    def wait(self, check: object) -> None:
        if self.error is not None:
            raise self.error


def test_a_card_is_taken_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    tails, heads = random.integers(40, size=(2, 100))
    graph = gquery.from_arrow({"V": {"id": list(range(40))}}, {("V", "E", "V"): {"source": tails, "target": heads}})

    def found(beside: Beside | None) -> gquery.Motifs:
        monkeypatch.setattr(discovery, "card_beside", lambda settings: beside)
        return gquery.motifs(graph, 4, random=20, threads=1)

    alone, dear = found(None), found(Beside())
    assert not any("on a card" in note or "GPU" in note for note in alone.notes)
    assert any("on the CPU: about" in note and "on a card" in note for note in dear.notes)
    monkeypatch.setattr(placing, "_BEGIN", 0.0)
    cheap = found(Beside())
    assert any("on the GPU" in note for note in cheap.notes)
    assert any("on a card: about" in note and "on the CPU" in note for note in cheap.notes)
    error = UnsupportedError("the card is being made ready")
    waited = found(Beside(error))
    assert any(note == "on the CPU: the card is being made ready" for note in waited.notes)
    monkeypatch.setattr(tallying, "_SHARE", 1 << 60)
    full = found(Beside())
    assert any("on the CPU: the GPU has no room" in note for note in full.notes)
    for each in (dear, cheap, waited, full):
        assert each.to_arrow().equals(alone.to_arrow())


def test_without_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_card() -> Kernels:
        raise UnsupportedError("this machine has no GPU that CUDA can see", hint="use device='cpu'")

    monkeypatch.setattr(on_card, "kernels_of_card", no_card)
    with pytest.raises(UnsupportedError, match="no GPU"):
        counted_on_card(dense(), Null("degrees", 10, 5), 1, 1, Control())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kernels_compile(architecture: str) -> None:
    status, said = compiled(compiler(), launching.source(), architecture)
    assert status == 0, said

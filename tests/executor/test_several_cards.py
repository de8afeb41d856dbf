"""A long count on several cards: a share of the roots after the other. Here the cards are emulated ones."""

from __future__ import annotations

import time
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import Random
from threading import get_ident
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.executor.devices import BACKENDS
from gquery.executor.gpu.program import inside
from gquery.executor.gpu.several import SharingBackend
from gquery.executor.gpu.shares import Shares
from gquery.executor.progress import Control
from gquery.planner.search import costs as plan_costs
from tests.differential.build import to_gquery
from tests.differential.test_collisions import alike_graph
from tests.differential.test_counting import WAYS as COUNTED
from tests.differential.test_counting import costs
from tests.differential.test_far_tests import ALONE as FAR
from tests.differential.test_neighbourhoods import WAYS
from tests.emulated.device import COMPILER, EmulatedDevice, emulated_device
from tests.executor.test_gpu_orders import CLIQUES, PUSHED, skewed, written

CARDS = 3
PATTERNS = {
    "hops": "(a)-[]-(b)-[]-(c)-[]-(d)",
    "triangles": "(a)-[]-(b)-[]-(c)-[]-(a)",
    "cliques": "(a)-[]-(b)-[]-(c)-[]-(a), (a)-[]-(d)-[]-(b), (d)-[]-(c)",
    "wheels": "(h)-[]-(a)-[]-(b)-[]-(c)-[]-(d)-[]-(a), (h)-[]-(b), (h)-[]-(c), (h)-[]-(d)",
    "four-cycles": "(a)-[]-(b)-[]-(c)-[]-(d)-[]-(a)",
    "two kinds": "(a:A)-[]-(b:B)-[]-(c:A)-[]-(a)",
    "a condition": "(a)-[]->(b)-[]->(c) WHERE a.x < c.x",
}
MODES = ("DIFFERENT EDGES", "DIFFERENT NODES", "REPEATABLE ELEMENTS")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler for the kernels of the GPU")


def random_graph(seed: int) -> gquery.Graph:
    random = Random(seed)
    vertices = {name: pa.table({"id": range(first, first + 30), "x": [random.randrange(5) for _ in range(30)]})
                for name, first in (("A", 0), ("B", 30))}  # fmt: skip
    edges = {}
    for one, other, count in (("A", "A", 120), ("A", "B", 240), ("B", "B", 120)):
        begins = {"A": 0, "B": 30}
        ends = {(random.randrange(30) + begins[one], random.randrange(30) + begins[other]) for _ in range(count)}
        sources, targets = zip(*sorted(each for each in ends if each[0] < each[1]), strict=True)
        edges[one, "E", other] = pa.table({"source": sources, "target": targets})
    return gquery.from_arrow(vertices=vertices, edges=edges)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All counts are shared; how often each card was asked."""
    seen = [0] * CARDS

    class Counted(EmulatedDevice):
        def __init__(self, number: int) -> None:
            super().__init__(emulated_device().library)
            self.number = number

        def run(self, machine: int, modulus: int, short: bool) -> None:
            seen[self.number] += 1
            super().run(machine, modulus, short)
            time.sleep(0.001)  # what a card does takes a while, in which other threads run

    cards = [Counted(number) for number in range(CARDS)]
    backend = SharingBackend(cards[0], [lambda card=card: card for card in cards[1:]], worth=-1.0, after=0.0)  # type: ignore[misc]
    monkeypatch.setitem(BACKENDS, "gpu", lambda _: backend)
    return seen


@pytest.mark.parametrize("way", ["as planned", "inside", "pushed"])
@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_counts_are_those_of_one(pattern: str, way: str, launches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for patch in WAYS[way]:
        monkeypatch.setattr(*patch)
    graph = random_graph(3)
    for mode in MODES:
        text = f"MATCH {mode} {pattern} RETURN count(*) AS n"
        assert graph.query(text, device="gpu").scalar() == graph.query(text, device="cpu").scalar(), (mode, pattern)
    assert all(launches) or way == "pushed"  # of which the first card alone may do all


@pytest.mark.parametrize("apart", [4, 40])
@pytest.mark.parametrize("bitsets", [1 << 30, 1_000])
def test_tasks_below_roots_are_dealt_out(
    bitsets: int, apart: int, launches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Roots that are dear are not one card's: tasks are dealt out, of all roots at once or of some after others.
    Launches end amid tasks, and warps go on with them when others have been dealt out."""
    for patch in [*WAYS["inside"], (inside, "_BITSETS", bitsets), (EmulatedDevice, "apart", apart)]:
        monkeypatch.setattr(*patch)
    taken: list[tuple[int, Hashable]] = []
    asked = Shares.next

    def noted(self: Shares, count: int, piece: Hashable = None, *span: Any) -> tuple[int, int] | None:
        taken.append((get_ident(), piece))
        return asked(self, count, piece, *span)

    monkeypatch.setattr(Shares, "next", noted)
    for seed in range(4):
        graph = skewed(Random(f"tasks {seed}"))
        for name in ("cliques", "wheels"):
            text = f"MATCH DIFFERENT NODES {PATTERNS[name]} RETURN count(*)"
            assert graph.query(text, device="gpu").scalar() == graph.query(text, device="cpu").scalar(), (seed, name)
    pieces = {piece for _, piece in taken if piece is not None}
    assert pieces  # of tasks, where whole roots have none
    assert len(pieces) > 1 or bitsets > 1_000
    assert len({who for who, _ in taken}) > 1


@pytest.mark.parametrize("room", [8 << 20, 20_000])
@pytest.mark.parametrize("pattern", [*CLIQUES, *PUSHED])
def test_orders_by_numbers_of_neighbours(
    pattern: str, room: int, launches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cards count symmetric matches in an order of their own, for which some have no room."""
    backend = BACKENDS["gpu"](None)  # type: ignore[arg-type]
    monkeypatch.setattr(backend.others[0](), "free_bytes", lambda: room)  # type: ignore[attr-defined]
    monkeypatch.setattr(plan_costs, "CARD", plan_costs.CardCosts(patience=1.0, excluding=1.0))
    for way in ("pushed", "inside", "as planned"):
        for label in ("", ":A"):
            graph, text = skewed(Random(f"cards {label}")), written({**CLIQUES, **PUSHED}[pattern], label)
            with monkeypatch.context() as patched:
                for patch in WAYS[way]:
                    patched.setattr(*patch)
                found = graph.query(text, device="gpu").scalar()
            assert found == graph.query(text, device="cpu").scalar(), (way, label)


def test_lists_are_the_first_cards(launches: list[int]) -> None:
    graph = random_graph(3)
    text = f"MATCH {PATTERNS['triangles']} RETURN id(a), id(b), id(c)"
    rows, expected = (graph.query(text, device=device).rows() for device in ("gpu", "cpu"))
    assert sorted(rows) == sorted(expected)
    assert launches[0]
    assert not any(launches[1:])


def test_an_error_of_one_is_that_of_all(launches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: EmulatedDevice, machine: int, modulus: int, first: bool) -> None:
        raise gquery.ExecutionError("this card is broken")

    cards = BACKENDS["gpu"](None).others  # type: ignore[arg-type, attr-defined]
    monkeypatch.setattr(cards[-1](), "run", fails.__get__(cards[-1]()))
    with pytest.raises(gquery.ExecutionError, match="broken"):
        random_graph(3).query(f"MATCH {PATTERNS['hops']} RETURN count(*)", device="gpu").scalar()


def test_a_card_without_room_does_not_join(launches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: EmulatedDevice, size: int) -> None:
        raise gquery.MemoryLimitError("this card is full")

    card = BACKENDS["gpu"](None).others[-1]()  # type: ignore[arg-type, attr-defined]
    monkeypatch.setattr(card, "empty", full.__get__(card))
    graph, text = random_graph(3), f"MATCH {PATTERNS['hops']} RETURN count(*)"
    assert graph.query(text, device="gpu").scalar() == graph.query(text, device="cpu").scalar()
    assert launches[0]
    assert not launches[-1]


def test_a_timeout_stops_all(launches: list[int]) -> None:
    with pytest.raises(gquery.QueryTimeout):
        random_graph(3).query(f"MATCH {PATTERNS['hops']} RETURN count(*)", device="gpu", timeout=1e-9).scalar()


def test_a_short_count_stays_alone(launches: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    backend = BACKENDS["gpu"](None)  # type: ignore[arg-type]
    patient = SharingBackend(backend.first.device, backend.others, worth=-1.0, after=60.0)  # type: ignore[attr-defined]
    monkeypatch.setitem(BACKENDS, "gpu", lambda _: patient)
    graph = random_graph(3)
    text = f"MATCH {PATTERNS['hops']} RETURN count(*)"
    assert graph.query(text, device="gpu").scalar() == graph.query(text, device="cpu").scalar()
    assert launches[0]
    assert not any(launches[1:])


def test_shares_are_all_roots_once() -> None:
    for count, workers in ((0, 2), (1, 4), (1000, 2), (100_000, 3)):
        shares = Shares(workers, Control(), 0.1)
        found = list(iter(partial(shares.next, count), None))
        assert [begin for begin, _ in found] == [0, *(end for _, end in found)][: len(found)]
        assert (found[-1][1] if found else 0) == count
        assert all(begin < end for begin, end in found)
    shares.stop()
    assert shares.next(1_000_000) is None


def test_who_joins_early_takes_no_more_than_a_part() -> None:
    """Of four, two of which are still being made ready: a share of a third would last longer than all else."""
    shares = Shares(4, Control(), 0.0)
    shares.next(10_000)
    with ThreadPoolExecutor(1) as second:
        begin, end = second.submit(shares.next, 10_000).result() or (0, 0)
    assert 1_000 < end - begin < 2_000


def test_shares_of_several_end_small() -> None:
    shares = Shares(2, Control(), 0.1)
    take = partial(shares.next, 10_000)
    first = take()
    with ThreadPoolExecutor(1) as other:
        turns = [other.submit(take).result() if turn % 2 else take() for turn in range(1, 200)]
    sizes = [end - begin for begin, end in (first, *filter(None, turns))]  # type: ignore[misc]
    assert sum(sizes) == 10_000
    assert sizes[0] < 200 < sizes[1]
    assert max(sizes[-5:]) < 200


def test_one_alone_takes_what_is_done_until_others_join(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 5.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    for each, sizes in ((1e-6, [78, 9922]), (1e-4, [78, 922, 78]), (1.0, [78, 78, 78])):
        shares = Shares(2, Control(), 0.1)
        for size in sizes:
            share = shares.next(10_000)
            assert share is not None
            assert share[1] - share[0] == size, (each, share)
            now += size * each


def test_what_a_card_without_a_share_makes_for_later_counts(
    launches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query is made of several counts, which share candidate edges; here whoever asks first gets all of a count."""
    forced = costs({"gain": 1e9, "least_problems": 150}, worth_improving=-1.0, dear=-1.0, folds=1e9)
    for patch in [*FAR, *COUNTED["candidate graph"], forced]:
        monkeypatch.setattr(*patch)
    asked, first = Shares.next, {}  # which keeps them: the id of one that is gone would be another's

    def all_for_the_first(self: Shares, *given: Any) -> tuple[int, int] | None:
        _, taker = first.setdefault(id(self), (self, get_ident()))
        mine = taker == get_ident()
        time.sleep(0.001)
        return asked(self, *given) if mine else None

    monkeypatch.setattr(Shares, "next", all_for_the_first)
    for seed in range(3):
        graph = to_gquery(alike_graph(Random(seed)))
        text = "MATCH DIFFERENT NODES (a)--(b)--(c)--(d)--(e) RETURN count(*) AS n"
        assert graph.query(text, device="gpu").scalar() == graph.query(text, device="cpu").scalar()

"""What the CPU backend decides for itself does not change an answer: blocks, slices, buffers, bitsets, set sizes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import gquery
from gquery.executor import matcher
from gquery.executor.backend import PartialMatches
from gquery.executor.cpu.candidates import candidate_graph, row_signatures
from gquery.executor.cpu.candidates import row_bitmaps as bitsets
from gquery.executor.cpu.search import folding, pack, run, sharing
from gquery.executor.cpu.search.frames import frame, memory
from gquery.executor.cpu.search.frames.listing import GatheringFrame, ListingFrame
from gquery.planner.search.sums import strategy
from gquery.storage.adjacency import Adjacency
from tests.differential.test_collisions import WAYS as COLLISIONS
from tests.differential.test_counting import WAYS as PLANNED
from tests.differential.test_counting import compare_counts, costs
from tests.differential.test_random import FUZZ, compare


def _walked(self: bitsets.Bitsets, adjacency: Adjacency, begin: int, end: int, *_: object) -> bitsets.Columns:
    return self.walked(adjacency, begin, end)


def _no(*_: object) -> bool:
    return False


def _promises(self: sharing.Sharing[Any]) -> bool:
    """As if somebody always waited for work."""
    self._promised += 1
    return True


GIVEN = [
    (sharing.Sharing, "promises", _promises),
    (sharing.Sharing, "is_wanted", True),
    (ListingFrame, "patience", 1),
    (memory, "_LONGEST", 1),
    (frame, "_BESIDE", 1),
]

SIGNED: list[tuple[Any, str, Any]] = [(row_signatures, "_SAVED", 1e9), (bitsets, "LARGEST", 0)]
WAYS: dict[str, list[tuple[Any, str, Any]]] = {
    "no set sizes": [(pack._Packer, "_set_size", _no), *COLLISIONS["no constants"]],
    "small blocks": [(pack, "_ROOM", 3), (pack, "_SMALLEST_ROOM", 1)],
    "small blocks, short slices": [(pack, "_ROOM", 2), (pack, "_SMALLEST_ROOM", 1), (memory, "_SLICE", 3)],
    "small blocks, nothing folded": [(pack, "_ROOM", 2), (pack, "_SMALLEST_ROOM", 1), costs(folds=-1.0)],
    "no blocks": [(pack, "_SMALLEST_ROOM", math.inf)],
    "no bitsets": [(bitsets.Bitsets, "looked_into", _walked), (bitsets, "LARGEST", 0)],
    "bitsets of all rows": [(bitsets, "_LOOK", 1e9)],
    "bitsets of all rows, depth first": [(bitsets, "_LOOK", 1e9), (strategy, "can_chain", _no)],
    "bitsets of all rows, candidate graph": [(bitsets, "_LOOK", 1e9), *PLANNED["candidate graph"]],
    "candidate graph, short slices": [(candidate_graph, "SLICE", 3), *PLANNED["candidate graph"]],
    "signatures of rows": SIGNED,
    "signatures of rows, small blocks": [*SIGNED, (pack, "_ROOM", 3), (pack, "_SMALLEST_ROOM", 1)],
    "signatures of rows, nothing folded": [*SIGNED, costs(folds=-1.0)],
    "signatures of rows, candidate graph": [*SIGNED, *PLANNED["candidate graph"]],
    "no cut rows": [(pack._Packer, "_cut", _no)],
    "sums in pages of their own": [(folding, "_SCATTERED", 0)],
    "everything is given away": [(memory, "_SLICE", 5), *GIVEN],
    "everything is given away, depth first": [
        (memory, "_SLICE", 3),
        (pack, "_SMALLEST_ROOM", math.inf),
        *GIVEN,
    ],
    "everything is given away, nothing folded": [
        (memory, "_SLICE", 3),
        *GIVEN,
        costs(folds=-1.0),
    ],
    "everything is given away, small blocks": [
        (memory, "_SLICE", 3),
        (pack, "_ROOM", 3),
        (pack, "_SMALLEST_ROOM", 1),
        *GIVEN,
        costs(folds=-1.0),
    ],
    "problems side by side": [
        (matcher, "_FEWEST", 1),
        costs({"gain": 1e9, "least_problems": 60}, worth_improving=-1.0),
    ],
    "short slices": [(memory, "_SLICE", 7)],
    "short slices, nothing folded": [(memory, "_SLICE", 3), costs(folds=-1.0)],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_way_does_not_matter(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, value in WAYS[way]:
        monkeypatch.setattr(owner, name, value)
    compare_counts(way, "cpu")


@pytest.mark.parametrize("room", [1, 2, 5])
def test_blocks_of_any_size(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, slices and buffers end in the middle of everything."""
    monkeypatch.setattr(pack, "_ROOM", room)
    monkeypatch.setattr(pack, "_SMALLEST_ROOM", 1)
    monkeypatch.setattr(memory, "_SLICE", 2 * room + 1)
    monkeypatch.setattr(run, "_LARGEST_BUFFER", 3)
    monkeypatch.setattr(run, "_SMALLEST_BUFFER", 3)
    for seed in range(8 * FUZZ):
        compare(seed, "cpu")


@pytest.mark.parametrize("gathered", [True, False], ids=["columns", "positions"])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_drained_is_not_written_to_again(threads: int, gathered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Full outputs are handed on without a copy: who keeps them sees no later matches in them."""
    kept: list[tuple[NDArray[Any], NDArray[Any]]] = []
    kind = GatheringFrame if gathered else ListingFrame
    drain = kind.drain

    def keeping(self: ListingFrame) -> PartialMatches:
        made = drain(self)
        kept.extend((each, each.copy()) for each in made.columns or [made.positions])
        return made

    monkeypatch.setattr(kind, "drain", keeping)
    monkeypatch.setattr(run, "_LARGEST_BUFFER", 16)
    monkeypatch.setattr(run, "_SMALLEST_BUFFER", 16)
    ends = [(one, other) for one in range(12) for other in range(12) if (one + other) % 3]
    edges = {"source": [source for source, _ in ends], "target": [target for _, target in ends]}
    graph = gquery.from_arrow(vertices={"V": {"id": range(12)}}, edges={("V", "E", "V"): edges})
    answer = "id(a), id(b), id(c)" if gathered else "id(a), toInteger(toString(id(b))), id(c)"
    found = graph.with_settings(threads=threads).query(f"MATCH (a)-[]->(b)-[]->(c) RETURN {answer}").rows()
    known = [(a, b, d) for a, b in ends for c, d in ends if b == c and (a, b) != (c, d)]
    assert sorted(map(tuple, found)) == sorted(known)
    assert all(np.array_equal(seen, then) for seen, then in kept)
    assert sum(seen.base is not None for seen, _ in kept) > 10


@pytest.mark.parametrize("room", [3, pack._ROOM])
def test_whatever_is_in_progress_may_be_given_away(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of trees and blocks are split after every other look; grouped sums come in parts."""
    for owner, name, value in GIVEN:
        monkeypatch.setattr(owner, name, value)
    monkeypatch.setattr(memory, "_SLICE", 2)
    monkeypatch.setattr(pack, "_ROOM", room)
    monkeypatch.setattr(pack, "_SMALLEST_ROOM", 1 if room == 3 else math.inf)
    for seed in range(16 * FUZZ):
        compare(seed, "cpu")


@pytest.mark.parametrize("shortest", [1, math.inf], ids=["blocks", "depth first"])
def test_sums_beyond_64_bits_are_exact_in_parts(shortest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One heavy root among light ones, counted modulo several numbers."""
    ends = [(0, other) for other in range(1, 60)] + [(one, other) for one in range(60, 99) for other in range(60, one)]
    edges = {"source": [source for source, _ in ends], "target": [target for _, target in ends]}
    graph = gquery.from_arrow(vertices={"V": {"id": range(99)}}, edges={("V", "E", "V"): edges})
    paths = "-[]-".join("()" for _ in range(12))
    patterns = [f"(a)-[]-{paths}-[]-(b), (a)-[]-(c)-[]-(b)", f"(a)-[]-(b)-[]-{paths}, (a)-[]-(c)-[]-(b), (c)-[]-(d)"]
    texts = [f"MATCH REPEATABLE ELEMENTS {pattern} RETURN count(*)" for pattern in patterns]
    whole = [graph.query(text).scalar() for text in texts]
    assert min(whole) > 2**64
    for owner, name, value in GIVEN:
        monkeypatch.setattr(owner, name, value)
    monkeypatch.setattr(memory, "_SLICE", 200)
    monkeypatch.setattr(pack, "_SMALLEST_ROOM", shortest)
    assert [graph.query(text).scalar() for text in texts] == whole

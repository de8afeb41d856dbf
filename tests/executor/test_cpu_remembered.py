"""Sums that workers remember together: what is recalled is what was remembered, whoever writes meanwhile."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

import gquery
from gquery.executor.cpu.kernels.sums.remembered import (
    ENTRY,
    LONG_ENTRY,
    move,
    recall,
    recall_long,
    remember,
    remember_long,
)
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search import pack
from gquery.executor.cpu.search.frames import memory as frame_memory
from tests.differential.test_counting import costs
from tests.executor.test_cpu_ways import GIVEN


@kernel
def write_and_read(memory, slots, seed, rounds):  # type: ignore[no-untyped-def]
    """Remembers f(key) for one key after the other, all in few slots; returns how many it recalled, and how many of
    these were wrong. Sums of large keys are equal but for their last bits."""
    state, found, wrong = np.uint64(seed), 0, 0
    for _ in range(rounds):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        key = np.int64(state >> np.uint64(58)) + 1
        slot = key % slots
        recalled, value, size = recall(memory, slot, key)
        if recalled:
            found += 1
            wrong += value != np.uint64(key * key) or size != float(key // 4)
        else:
            remember(memory, slot, key, np.uint64(key * key), float(key // 4))
    return found, wrong


@kernel
def write_and_read_long(memory, slots, seed, rounds):  # type: ignore[no-untyped-def]
    """The same with keys of two words."""
    state, found, wrong = np.uint64(seed), 0, 0
    for _ in range(rounds):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        key, more = np.int64(state >> np.uint64(61)) + 1, np.int64(state >> np.uint64(58)) & 7
        slot = key % slots
        recalled, value, size = recall_long(memory, slot, key, more)
        if recalled:
            found += 1
            wrong += value != np.uint64(key * more) or size != float(more // 4)
        else:
            remember_long(memory, slot, key, more, np.uint64(key * more), float(more // 4))
    return found, wrong


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("slots", [1, 5, 16])
def test_what_two_have_written_is_nobodys(slots: int, long: bool) -> None:
    memory = np.zeros(slots * (LONG_ENTRY if long else ENTRY), np.int64)
    run = write_and_read_long if long else write_and_read
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(lambda seed: run(address(memory), slots, seed, 2_000_000), range(4)))
    assert sum(found for found, _ in told) > 10_000
    assert sum(wrong for _, wrong in told) == 0


def test_a_larger_table_has_what_the_smaller_one_had() -> None:
    small, large = np.zeros(16 * LONG_ENTRY, np.int64), np.zeros(64 * LONG_ENTRY, np.int64)
    write_and_read_long(address(small), 16, 5, 1000)
    move(small, large)
    assert np.count_nonzero(large.reshape(-1, LONG_ENTRY).any(1)) <= np.count_nonzero(
        small.reshape(-1, LONG_ENTRY).any(1)
    )
    entries = {tuple(entry) for entry in small.reshape(-1, LONG_ENTRY).tolist()}
    assert {tuple(entry) for entry in large.reshape(-1, LONG_ENTRY).tolist()} <= entries | {(0,) * LONG_ENTRY}
    assert large.any()


@pytest.mark.parametrize("memory", [1 << 28, 20_000])
def test_many_workers_share_a_memory(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree whose sums come again below many roots, with eight workers that give everything away; also where one
    entry takes the place of another all the time."""
    random = np.random.default_rng(11)
    ends = (400 * random.random((2, 6000)) ** 2).astype(np.int64)
    graph = gquery.from_arrow({"V": {"id": range(400)}}, {("V", "E", "V"): {"source": ends[0], "target": ends[1]}})
    pairs = ["(a)-->(b)", "(b)-->(c)", "(a)-->(c)", "(b)-->(d)", "(c)-->(d)", "(d)-->(e)", "(c)-->(e)"]
    texts = [f"MATCH DIFFERENT NODES {', '.join(Random(seed).sample(pairs, 6))} RETURN count(*)" for seed in range(6)]
    texts += [f"MATCH REPEATABLE ELEMENTS {', '.join(pairs)} RETURN count(*)"]
    known = [graph.with_settings(threads=1).query(text).scalar() for text in texts]
    for owner, name, value in (
        (pack, "_MEMORY", memory), (pack, "_SMALLEST_ROOM", math.inf), (frame_memory, "_SLICE", 200), *GIVEN,
        costs(reuse=0.1),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, value)
    again = gquery.Graph(graph.snapshot, settings=graph.settings.changed(threads=8))
    assert [again.query(text).scalar() for text in texts] == known
    assert any("once for each" in again.explain(text) for text in texts)

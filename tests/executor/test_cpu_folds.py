"""Folds: the loops for what is simple give what the loop for everything gives."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.executor.cpu.kernels.sums import branch as fold
from gquery.executor.cpu.machine.heap import dense_zeros, scattered_zeros
from gquery.executor.cpu.machine.native import address
from gquery.executor.cpu.search.packed import EXISTS, NONE, OPTIONAL, PLAIN

ROWS, FIRST, BASE, CHILDREN = 200, 7, 3, 50


@pytest.mark.parametrize("cap", [PLAIN, OPTIONAL, EXISTS, NONE])
@pytest.mark.parametrize("seed", range(3))
def test_simple_loops(seed: int, cap: int) -> None:
    """For ranges that begin before the rows or end behind them, on factors that are one so far or not."""
    random = Random(seed)
    offsets = np.zeros(ROWS + 1, np.int64)
    offsets[1:] = np.cumsum([random.choice((0, 0, 1, 2, 5)) for _ in range(ROWS)])
    neighbours = np.array([random.randrange(CHILDREN) for _ in range(int(offsets[-1]))], np.int32)
    children = np.array([random.randrange(4) for _ in range(CHILDREN)], np.uint64)
    rows = (FIRST, ROWS, address(offsets), address(neighbours))
    vertices = np.arange(FIRST + ROWS + 20, dtype=np.int32)
    for begin, end in ((3, 5), (3, 40), (FIRST, FIRST + ROWS), (50, 51), (180, 225), (FIRST + ROWS + 2, 225)):
        low, high = (min(max(each - FIRST, 0), ROWS) for each in (begin, end))
        running = np.empty(int(offsets[high] - offsets[low]) + 1, np.uint64)
        for fresh, child, sized in (
            (True, 0, True),
            (False, 0, True),
            *product((True, False), (0, address(children)), (False,)),
        ):
            packed = np.array((*rows, 0, child, 0, 0, BASE, cap, 0 if child else 1), np.int64)
            known = np.array([random.randrange(3) for _ in range(len(vertices) - BASE)], np.uint64)
            expected = known.copy()
            sizes = known.astype(np.float64) * 1e300 if sized else np.zeros(0)
            expected_sizes = sizes.copy()
            fold.multiply(packed, vertices, begin, end, expected, expected_sizes, np.uint64(0), fresh)
            if child:
                fold.multiply_differences(packed, begin, end, known, fresh, running)
            else:
                fold.multiply_lengths(packed, begin, end, known, sizes, fresh)
            assert known.tolist() == expected.tolist(), (seed, begin, end, fresh, child != 0)
            assert sizes.tolist() == expected_sizes.tolist(), (seed, begin, end, fresh)


def test_zeros_are_zeros_again_for_the_next_who_asks() -> None:
    """Also where a part of them is still looked at when the whole is gone, and where others ask for more or less."""
    random, held = Random(5), []
    for _ in range(50):
        size = random.choice((10_000, 12_000, 45_000))
        written = np.array(sorted(random.sample(range(size), 5)), np.int32)
        for dtype in (np.uint64, np.float64):
            zeros = scattered_zeros(size, dtype, written)
            assert len(zeros) == size
            assert not zeros.any()
            zeros[written] = 7
            held.append((zeros[: size // 2], written))
            if random.random() < 0.7:
                part, places = held.pop(random.randrange(len(held)))
                assert np.flatnonzero(part).tolist() == [place for place in places.tolist() if place < len(part)]
                del part
        del zeros


@pytest.mark.parametrize("size", [0, 1, 1_000, 524_289, 3_000_000])
def test_zeros_on_large_pages(size: int) -> None:
    """They may be written, are nobody else's, and stay for as long as a part of them is looked at."""
    for _ in range(2):
        zeros = dense_zeros(size, np.int64)
        assert len(zeros) == size
        assert not zeros.any()
        zeros[:] = 7
        part = zeros[size // 2 :]
        del zeros
        assert (part == 7).all()


@pytest.mark.parametrize("seed", range(4))
def test_roots_that_few_edges_leave(seed: int) -> None:
    """Few vertices of many have a loop, or an edge of a rare type: they alone are summed over, where sums are far from
    each other and where they are not; an optional edge leaves all."""
    random, vertices = np.random.default_rng(seed), 50_000
    span = vertices if seed % 2 else 200
    ends = random.integers(0, vertices, (2, 200_000))
    rare = np.stack([random.choice(span, 60), random.integers(0, vertices, 60)])
    loops = np.tile(random.choice(span, 40), (2, 1))
    often = np.concatenate([ends[:, ends[0] != ends[1]], loops, loops[:, :5]], axis=1)
    labelled = {"V": pa.table({"id": range(vertices)})}
    edges = {("V", kind, "V"): pa.table({"source": of[0], "target": of[1]}) for kind, of in (("D", often), ("R", rare))}
    graph = gquery.from_arrow(vertices=labelled, edges=edges)
    out, into, rarely = (np.bincount(side, minlength=vertices) for side in (often[0], often[1], rare[0]))
    looping = np.bincount(often[0][often[0] == often[1]], minlength=vertices)
    for pattern, expected in {
        "(a)-[:D]->(b)-[:D]->(c)": out @ into - looping.sum(),
        "(a)-[:R]->(b), (a)-[:D]->(c)": rarely @ out,
        "(a)-[:D]->(a), (a)-[:R]->(b)": looping @ rarely,
        "(a)-[:D]->(a)": looping.sum(),
        "(a) OPTIONAL MATCH (a)-[:R]->(b)": np.maximum(rarely, 1).sum(),
        "(a) WHERE EXISTS { (a)-[:D]->(a) } AND NOT EXISTS { (a)-[:R]->() }": ((looping > 0) & (rarely == 0)).sum(),
    }.items():
        assert graph.query(f"MATCH {pattern} RETURN count(*)").scalar() == expected, pattern


def test_sums_at_some_positions() -> None:
    """Whether they lie at their positions or side by side; there is none where the fold has no vertex."""
    vertices = np.array([4, 9, 1000], np.int32)
    asked = np.array([9, 4, 5, 9, 0, 2000], np.int32)
    sums = np.array([3, 5, 7], np.uint64)
    placed = np.zeros(997, np.uint64)
    placed[vertices - 4] = sums
    for base, own in ((4, placed), (fold.SIDE_BY_SIDE, sums)):
        whole = fold.Fold(vertices, fold.Factors(base, own, own.astype(np.float64)), ())
        assert fold.total(whole, 0) == (15, 15.0)
        assert fold.total(whole.at(asked), 0) == (13, 13.0)
        assert fold.total(whole.at(asked[:0]), 0) == (0, 0.0)
    nothing = fold.Fold(vertices[:0], fold.Factors(fold.SIDE_BY_SIDE, sums[:0], np.zeros(0)), ())
    assert fold.total(nothing.at(asked), 0) == (0, 0.0)

"""Folds: the loops for what is simple give what the loop for everything gives."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from gquery.executor.cpu.kernels.sums import branch as fold
from gquery.executor.cpu.machine.heap import scattered_zeros
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

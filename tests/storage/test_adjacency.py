"""Edges in the order of their ends, whichever way they were sorted."""

from __future__ import annotations

import numpy as np
import pytest

from gquery.storage.adjacency import PAGE_BITS, LoopAdjacency, build_adjacency, order_of_pairs
from gquery.storage.parted.few_rows import FewRows, adjacency_of_few

LARGEST = 2**31 - 2


@pytest.mark.parametrize("bits", [3, 20, 28, 31])  # together with the place in one number, in two, in none
@pytest.mark.parametrize("count", [0, 1, 2, 1000, 70_000])
def test_order_of_pairs(bits: int, count: int) -> None:
    random = np.random.default_rng(count + bits)
    first, second = random.integers(0, min(1 << bits, LARGEST), (2, count)).astype(np.int32)
    if count > 10:
        first[:10], second[:10] = first[-10:], second[-10:]  # pairs that come again
    assert np.array_equal(order_of_pairs(first, second), np.lexsort((second, first)))


def test_order_where_no_number_holds_value_and_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gquery.storage.adjacency._BITS", 10)
    first, second = np.random.default_rng(1).integers(0, 50, (2, 3000)).astype(np.int32)
    assert np.array_equal(order_of_pairs(first, second), np.lexsort((second, first)))


def test_extreme_ends() -> None:
    source = np.array([LARGEST, 0, LARGEST, 5], np.int32)
    target = np.array([0, LARGEST, 0, LARGEST], np.int32)
    assert np.array_equal(order_of_pairs(source, target), [1, 3, 0, 2])


@pytest.mark.parametrize(
    ("pairs", "simple"),
    [
        ([(4, 7), (4, 7)], False),
        ([(4, 7), (5, 7)], True),  # equal neighbours in two rows
        ([(4, 7), (9, 7)], True),  # and rows without any between them
        ([(4, 7), (9, 7), (9, 8), (9, 7)], False),
    ],
)
def test_parallel_edges_are_seen(pairs: list[tuple[int, int]], simple: bool) -> None:
    source, target = np.array(pairs, np.int32).T
    adjacency = build_adjacency(source, target, np.arange(10, 10 + len(pairs)))
    assert adjacency.simple is simple
    assert adjacency.first == source.min()
    rows = [(int(row), int(other)) for row in range(adjacency.first, adjacency.first + adjacency.rows)
            for other in adjacency.neighbours[slice(*adjacency.offsets[row - adjacency.first :][:2])]]  # fmt: skip
    assert rows == sorted(pairs)
    assert [pairs[edge - 10] for edge in adjacency.edges] == rows


@pytest.mark.parametrize("seed", range(20))
def test_few_edges_among_many_vertices(seed: int) -> None:
    """Their rows are where those of an adjacency are that has one for each vertex."""
    random = np.random.default_rng(seed)
    source, target = random.choice(random.integers(0, 1 << 20, 5), (2, 1 + seed // 2)).astype(np.int32)
    edges = np.arange(len(source))
    few, whole = adjacency_of_few(source, target, edges), build_adjacency(source, target, edges)
    asked = np.unique(source)
    assert few.first + few.rows == whole.first + whole.rows
    assert few.simple == whole.simple
    told, right = ((*each.bounds(asked), each.neighbours, each.edges) for each in (few, whole))
    assert [each.tolist() for each in told] == [each.tolist() for each in right]
    pages = {int(number) for number in asked >> PAGE_BITS}
    if isinstance(few, FewRows):
        empty = few.directory[[number for number in range(len(few.directory)) if number not in pages]]
        assert len({*empty.tolist()}) <= 1
        assert len({*few.directory[sorted(pages)].tolist()} - {*empty.tolist()}) == len(pages)


@pytest.mark.parametrize("seed", range(20))
def test_who_may_have_a_row(seed: int) -> None:
    """All that have one and that are asked for, ascending; of few edges, and of loops, nobody else."""
    random = np.random.default_rng(seed)
    source, target = random.choice(random.integers(0, 1 << 18, 5), (2, 1 + seed)).astype(np.int32)
    edges = np.arange(len(source))
    built = build_adjacency(source, source, edges)
    loops = LoopAdjacency(built.first, built.offsets, built.neighbours, built.edges, built.simple)
    begin = int(source.min()) + seed % 3 - 1
    asked = (np.arange(begin, begin + (1 << 17)), np.unique(random.integers(0, 1 << 18, 9)), source[:0])
    for vertices in (each.astype(np.int32) for each in (*asked, np.unique(source))):
        right = np.intersect1d(vertices, source)
        few = adjacency_of_few(source, target, edges)
        for adjacency in (loops, few, build_adjacency(source, target, edges)):
            found = adjacency.among(vertices)
            assert np.isin(right, found).all()
            assert np.isin(found, vertices).all()
            assert (np.diff(found) > 0).all()
            if isinstance(adjacency, LoopAdjacency | FewRows):
                assert found.tolist() == right.tolist()
    assert loops.longest == built.longest == np.bincount(source).max()

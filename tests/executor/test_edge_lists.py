"""Edges behind listed matches: where the data edges of each are, and pieces of what stands for many."""

from __future__ import annotations

import numpy as np
import pytest

import gquery
from gquery.executor.expansion.edge_lists import _runs, _taken
from gquery.executor.expansion.expand import _pieces
from gquery.storage.adjacency import build_adjacency

VERTICES, EDGES = 30, 400


@pytest.mark.parametrize("order", ["ascending", "any"])
@pytest.mark.parametrize("seed", range(5))
def test_runs_are_found(seed: int, order: str) -> None:
    random = np.random.default_rng(seed)
    ends = random.integers(5, VERTICES, (2, EDGES)).astype(np.int32)
    adjacency = build_adjacency(ends[0], ends[1], np.arange(EDGES))
    pairs = random.integers(0, VERTICES + 5, (1_000, 2)).astype(np.int32)
    if order == "ascending":
        pairs = pairs[np.lexsort(pairs.T[::-1])]
    begins, lengths = _runs(adjacency, pairs[:, 0], pairs[:, 1])
    for (source, target), begin, length in zip(pairs.tolist(), begins.tolist(), lengths.tolist(), strict=True):
        found = adjacency.edges[begin : begin + length].tolist()
        assert sorted(found) == np.flatnonzero((ends[0] == source) & (ends[1] == target)).tolist()
    rows = np.flatnonzero(random.random(len(pairs)) < 0.5)
    expected = [
        (place, edge)
        for place, row in enumerate(rows.tolist())
        for edge in adjacency.edges[begins[row] : begins[row] + lengths[row]].tolist()
    ]
    for size in (1, 7, 10_000):
        taken = [
            pair for at, edges in _taken(adjacency, rows, begins, lengths, size) for pair in zip(at, edges, strict=True)
        ]
        assert taken == expected


def test_what_stands_for_many_is_repeated_in_pieces() -> None:
    counts = np.array([0, 2, 0, 0, 5, 1, 0, 9, 0], np.uint64)
    expected = np.repeat(np.arange(len(counts)), counts.astype(np.int64)).tolist()
    for size in (1, 3, 4, 100):
        pieces = [piece.tolist() for piece in _pieces(counts, size)]
        assert [place for piece in pieces for place in piece] == expected
        assert max(map(len, pieces)) <= size
    endless = _pieces(np.array([3, 2**62, 4], np.uint64), 5)
    assert [next(endless).tolist() for _ in range(3)] == [[0, 0, 0, 1, 1], [1] * 5, [1] * 5]


def test_many_payments_between_two_accounts() -> None:
    """Each pair of them is looked at once, not every payment for every match."""
    few, many = 30, 20_000
    ends = np.concatenate([np.tile([[0, 1]], (many, 1)), [(1, other) for other in range(2, few)]])
    graph = gquery.from_arrow(
        vertices={"Account": {"id": np.arange(few)}},
        edges={("Account", "PAID", "Account"): {"source": ends[:, 0], "target": ends[:, 1], "n": np.arange(len(ends))}},
    )
    text = "MATCH (a)-[p:PAID]->(b)-[q:PAID]->(c) WHERE q.n < p.n + 20000 RETURN count(*), sum(p.n)"
    (row,) = graph.query(text).rows()
    paid = np.arange(many)[:, None] + 20_000 > np.arange(many, len(ends))
    assert row == (paid.sum(), (np.arange(many)[:, None] * paid).sum())

"""Bitsets of the CPU backend against Python's sets."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gquery.executor.cpu.candidates.candidate_set import CandidateSet
from gquery.executor.cpu.candidates.row_bitmaps import Bitsets
from gquery.executor.cpu.kernels.sorted_rows import count_both
from gquery.executor.cpu.machine.compile import kernel
from gquery.executor.cpu.machine.native import address
from gquery.executor.memory import Budget
from gquery.storage.adjacency import Adjacency, build_adjacency
from gquery.storage.cache import Cache


@kernel
def counted(bits, others, words, begin, end):  # type: ignore[no-untyped-def]
    return count_both(bits, others, words, begin, end)


UNIVERSE = 300
VERTICES = st.sets(st.integers(0, UNIVERSE - 1), max_size=60)


def bits(vertices: set[int]) -> NDArray[np.uint64]:
    return CandidateSet(np.array(sorted(vertices), np.int32), UNIVERSE).words


def adjacency(rows: list[set[int]]) -> Adjacency:
    pairs = [(row, neighbour) for row, neighbours in enumerate(rows) for neighbour in neighbours]
    source, target = (np.array([pair[side] for pair in pairs], np.int32) for side in (0, 1))
    return build_adjacency(source, target, np.arange(len(pairs)))


def bitsets_of(budget: Budget, cache: Cache | None = None) -> Bitsets:
    return Bitsets(budget, 1, lambda count, work: work(0, count), lambda _: cache)


@given(VERTICES, VERTICES, st.none() | VERTICES, st.integers(0, UNIVERSE), st.integers(0, UNIVERSE))
def test_what_bitsets_have_in_common(
    one: set[int], other: set[int], among: set[int] | None, begin: int, end: int
) -> None:
    first, second, third = bits(one), bits(other), bits(among or set())
    expected = {vertex for vertex in one & other if begin <= vertex < end and (among is None or vertex in among)}
    words = 0 if among is None else address(third)
    assert counted(address(first), address(second), words, begin, end) == len(expected)


@given(VERTICES, VERTICES)
def test_candidates_among_vertices(candidates: set[int], vertices: set[int]) -> None:
    found = CandidateSet(np.array(sorted(candidates), np.int32), UNIVERSE).among(np.array(sorted(vertices), np.int32))
    assert found.tolist() == sorted(candidates & vertices)


@given(VERTICES, VERTICES)
def test_candidates_within_a_bitset(candidates: set[int], gone: set[int]) -> None:
    left = candidates - gone
    found = CandidateSet(np.array(sorted(candidates), np.int32), UNIVERSE).within(bits(left))
    same = CandidateSet(np.array(sorted(left), np.int32), UNIVERSE)
    assert found.vertices.tolist() == sorted(left)
    assert found.ranks.tolist() == same.ranks.tolist()
    assert found.ranks.tolist() == [sum(vertex < 64 * word for vertex in left) for word in range(len(same.words))]


@given(st.lists(VERTICES, min_size=1, max_size=5), st.integers(0, UNIVERSE - 1), st.integers(1, UNIVERSE))
def test_all_rows_as_bitsets(rows: list[set[int]], begin: int, length: int) -> None:
    assume(any(rows))
    end = min(begin + length, UNIVERSE)
    edges = adjacency(rows)
    bitsets = bitsets_of(Budget())
    marks, _, matrix, stride, *covered = bitsets.looked_into(edges, begin, end, UNIVERSE, looks=1e9)
    assert (marks, covered) == (-1, [begin, end])
    full = np.full((UNIVERSE >> 6) + 1, 2**64 - 1, np.uint64)
    for row in range(edges.rows):
        found = counted(matrix + row * stride, address(full), 0, begin, end)
        assert found == sum(begin <= neighbour < end for neighbour in rows[edges.first + row])


def test_rows_that_are_hardly_looked_into_get_room_for_one() -> None:
    edges = adjacency([{1, 2}, {3}])
    bitsets = bitsets_of(Budget())
    assert bitsets.looked_into(edges, 0, UNIVERSE, UNIVERSE, looks=1.0)[0] == 0
    assert bitsets.marks == (UNIVERSE >> 6) + 1
    assert not bitsets.matrices


def test_no_room_is_taken_that_the_budget_does_not_have() -> None:
    edges = adjacency([{1, 2}, {3}])
    bitsets = bitsets_of(Budget(100))
    assert bitsets.looked_into(edges, 0, UNIVERSE, UNIVERSE, looks=1e9) == (-1, 0, 0, 0, 0, 0)


def test_rows_of_the_graph_are_written_once() -> None:
    """As long as the range is the same; the adjacency that they are known by stays as long as they do."""
    edges, cache = adjacency([{1, 2}, {3}]), Cache()
    found = []
    for begin in (0, 0, 64):
        bitsets = bitsets_of(Budget(), cache)
        bitsets.looked_into(edges, begin, UNIVERSE, UNIVERSE, looks=1e9)
        found += bitsets.matrices.values()
    assert found[0] is found[1]
    assert found[2].shape != found[0].shape
    assert cache.nbytes == found[0].nbytes + found[2].nbytes + 2 * edges.nbytes

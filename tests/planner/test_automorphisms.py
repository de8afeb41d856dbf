"""Automorphisms and how symmetry is broken along any order, against all permutations of small query graphs."""

from __future__ import annotations

import itertools
import random
from functools import cache

import pytest

import gquery
from gquery.planner.ir.problem import Problem
from gquery.planner.search.alike.symmetry import Symmetry
from gquery.planner.search.sums.inclusion import exclusions, told_apart
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import unchecked
from tests.planner.shapes import any_tree, pattern, shape
from tests.planner.town import town

SEED = 20_261


@cache
def graph() -> gquery.Graph:
    return town()


def problem(text: str) -> Problem:
    return Prepared(graph().snapshot, f"MATCH {text} RETURN count(*)", {}, Settings()).plan.matches[0].problem


def automorphisms(problem: Problem) -> set[tuple[int, ...]]:
    """By trying: the permutations that keep labels, edges and tests."""
    size, tests = len(problem.graph.vertices), problem.constraints

    def looks(order: tuple[int, ...]) -> object:
        edges = set()
        for edge in problem.graph.edges:
            ends = (order[edge.source], order[edge.target])
            edges.add((edge.types, ends if edge.directed else tuple(sorted(ends))))
        quads = {frozenset((frozenset((order[a], order[b])), frozenset((order[c], order[d]))))
                 for a, b, c, d in tests.different_pairs}  # fmt: skip
        different = {frozenset((order[one], order[other])) for one, other in tests.different}
        return edges, quads, different, [problem.graph.vertices[order[v]].tables for v in range(size)]

    same = looks(tuple(range(size)))
    tables = [vertex.tables for vertex in problem.graph.vertices]
    return {
        order
        for order in itertools.permutations(range(size))
        if [tables[vertex] for vertex in order] == tables and looks(order)[:3] == same[:3]  # type: ignore[index]
    }


PATTERNS = [
    *(f"DIFFERENT NODES {pattern(any_tree(6, seed % 4, seed), '', ':KNOWS', '>' if seed % 3 else '')}"
      for seed in range(SEED, SEED + 24)),
    *(pattern(any_tree(6, seed % 3, seed), ":Person", ":KNOWS", "") for seed in range(SEED, SEED + 8)),
    *(f"DIFFERENT NODES {pattern(shape(name, size)[1], ':Person', ':KNOWS', arrow)}"
      for name, size in (("star", 5), ("cycle", 6), ("clique", 5), ("pieces", 3), ("tree", 7), ("barbell", 3))
      for arrow in ("", ">")),
]  # fmt: skip


@pytest.mark.parametrize("text", PATTERNS)
def test_every_order_breaks_the_whole_symmetry(text: str) -> None:
    """What is left of a stabiliser chain whose orbits are all different vertices is the whole group."""
    asked = problem(text)
    size = len(asked.graph.vertices)
    expected = automorphisms(asked)
    symmetry = Symmetry(asked, unchecked)
    orders = [tuple(range(size)), *(tuple(random.Random(seed).sample(range(size), size)) for seed in range(4))]
    for order in orders:
        breaking = symmetry.break_along(order, unchecked)
        permutations = breaking.permutations()
        assert len(permutations) == len(set(permutations)) == breaking.factor
        assert set(permutations) <= expected
        if text.startswith("DIFFERENT NODES"):
            assert breaking.factor == len(expected)
            _expect_one_of_each_class(breaking.above, expected, size)


def _expect_one_of_each_class(above: object, group: set[tuple[int, ...]], size: int) -> None:
    """Of the ways to give the vertices the numbers 0 .. size - 1, one of each class passes."""
    passed = 0
    for match in itertools.permutations(range(size)):
        passed += all(match[low] < match[high] for high, lows in above.items() for low in lows)  # type: ignore
    total = 1
    for factor in range(2, size + 1):
        total *= factor
    assert passed == total // len(group)


def test_symmetry_of_large_patterns_is_found() -> None:
    for name, size, factor in (("star", 64, None), ("path", 200, 2), ("cycle", 200, 400), ("pieces", 50, None)):
        edges = shape(name, size)[1]
        asked = problem(f"DIFFERENT NODES {pattern(edges, '', ':KNOWS', '')}")
        found = Symmetry(asked, unchecked).break_along(tuple(range(len(asked.graph.vertices))), unchecked).factor
        assert found == factor if factor else found > 10**60


def test_collisions_that_were_left_out() -> None:
    """Two corners of a triangle look alike, until only one of their edges is told apart from a directed third."""
    ends = {"source": [0, 0, 1, 2, 2], "target": [1, 1, 2, 0, 3]}
    parallel = gquery.from_arrow(vertices={"V": {"id": [0, 1, 2, 3]}}, edges={("V", "E", "V"): ends})
    text = "MATCH (c)-[r0]-(l)-[r1]-(m)-[r2]-(c), (c)-[r3]-(d), (c)-[r4]->(e) RETURN count(*)"
    left = Prepared(parallel.snapshot, text, {}, Settings()).plan.matches[0].problem
    order, same = tuple(range(5)), [None] * 5
    assert Symmetry(left, unchecked).break_along(order, unchecked).factor == 2
    for pair in ((0, 3), (2, 4)):
        left = next(
            way[0]
            for way in exclusions(left, told_apart(left), parallel.snapshot.invariants)
            if not _collide(way[0], *pair)
        )
    assert _collide(left, 0, 4)
    assert _collide(left, 2, 3)
    assert Symmetry(left, unchecked, same).break_along(order, unchecked).factor == 1


def _collide(problem: Problem, one: int, other: int) -> bool:
    return any(choice.edge == one and other in choice.collides for choice in problem.constraints.choices)

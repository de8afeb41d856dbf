"""Which problems are counted once for all: against networkx."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import networkx as nx
import pytest

import gquery
from gquery.planner.ir.problem import Problem
from gquery.planner.search.alike.isomorphic import combined
from gquery.planner.search.sums.inclusion import exclusions, told_apart
from gquery.records import replace
from gquery.session import Prepared
from gquery.settings import Settings
from gquery.stopping import unchecked
from tests.planner.shapes import any_tree, pattern, shape
from tests.planner.town import town

SEED = 20_262


@cache
def graph() -> gquery.Graph:
    return town()


def problem(text: str) -> Problem:
    return (
        Prepared(graph().snapshot, f"MATCH DIFFERENT NODES {text} RETURN count(*)", {}, Settings())
        .plan.matches[0]
        .problem
    )


def made_of(asked: Problem) -> list[Problem]:
    """The problems that count it without one of its tests."""
    ways = exclusions(asked, told_apart(asked), graph().snapshot.invariants)
    return [problem for way in ways for problem in way]


def drawn(problem: Problem) -> nx.MultiDiGraph:
    """What a problem is, for networkx to compare: an edge of either direction is one each way."""
    graph = nx.MultiDiGraph()
    for vertex in problem.graph.vertices:
        graph.add_node(vertex.index, look=vertex.tables)
    for edge in problem.graph.edges:
        graph.add_edge(edge.source, edge.target, look=(edge.relation, edge.directed))
        if not edge.directed:
            graph.add_edge(edge.target, edge.source, look=(edge.relation, edge.directed))
    for one, other in problem.constraints.different:
        graph.add_edge(one, other, look="different")
        graph.add_edge(other, one, look="different")
    return graph


def are_alike(one: Problem, other: Problem) -> bool:
    node = nx.algorithms.isomorphism.categorical_node_match("look", None)
    edge = nx.algorithms.isomorphism.categorical_multiedge_match("look", None)
    return bool(nx.is_isomorphic(drawn(one), drawn(other), node, edge))


PATTERNS = [
    *(pattern(any_tree(5, seed % 3, seed), "", ":KNOWS", ">" if seed % 3 else "") for seed in range(SEED, SEED + 12)),
    *(pattern(any_tree(6, 1, seed), ":Person", ":KNOWS", "") for seed in range(SEED, SEED + 6)),
    *(pattern(shape(name, 5)[1], ":Person", ":KNOWS", "") for name in ("star", "cycle", "tree")),
]  # fmt: skip


@pytest.mark.parametrize("text", PATTERNS)
def test_problems_are_told_apart_by_what_they_are(text: str) -> None:
    problems = made_of(problem(text))
    found = combined(problems, (), frozenset(), unchecked)
    assert sum(each.coefficient for each in found) == sum(each.coefficient for each in problems)
    for one, other in combinations(found, 2):
        assert not are_alike(one, other)
    for each in found:
        alike = sum(other.coefficient for other in problems if are_alike(each, other))
        assert each.coefficient == alike


def test_what_cancels_is_left_out() -> None:
    asked = problem("(a:Person)-[:KNOWS]->(b)")
    assert combined([asked, replace(asked, coefficient=-1)], (), frozenset(), unchecked) == ()

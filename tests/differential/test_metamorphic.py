"""Answers that must not change, or must change in a known way, when the question or the graph is turned around."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gquery
from tests.differential.build import Rows, expected_rows, found_rows, to_gquery
from tests.differential.forms import DataGraph, Query
from tests.differential.generate import random_graph, random_query
from tests.differential.oracle import Oracle
from tests.differential.render import Renderer

FUZZ = int(os.environ.get("GQUERY_FUZZ", "1"))
CASES = 30 * FUZZ
MAX_MATCHES = 5_000


def cases(kind: str) -> Iterator[tuple[Random, DataGraph, Query, Rows]]:
    """Random cases that have matches, with the rows that the oracle expects."""
    for number in range(CASES):
        random = Random(f"{kind} {number}")
        for _ in range(20):
            data = random_graph(random, 10)
            query = random_query(random, data)
            matches = list(islice(Oracle(data, query).matches(), MAX_MATCHES + 1))
            if 0 < len(matches) <= MAX_MATCHES:
                yield random, data, query, expected_rows(query, matches)
                break


def text(query: Query, random: Random) -> tuple[str, dict[str, object]]:
    renderer = Renderer(query, random, with_modes=True)
    return f"{renderer.body()} RETURN {renderer.returned()}", dict(renderer.parameters)


def with_mode(query: Query, mode: str) -> Query:
    return replace(query, clauses=tuple(replace(clause, mode=mode) for clause in query.clauses))


def test_relabelled_vertices() -> None:
    """Other ids, and all rows in another order: the same rows under the renaming."""
    for random, data, query, _ in cases("relabelled"):
        ids = [vertex.id for vertex in data.vertices]
        new = dict(zip(ids, random.sample([f"n{number}" for number in range(len(ids))], len(ids)), strict=True))
        vertices = [replace(vertex, id=new[vertex.id]) for vertex in data.vertices]
        edges = [replace(edge, source=new[edge.source], target=new[edge.target]) for edge in data.edges]
        random.shuffle(vertices)
        random.shuffle(edges)
        turned = replace(data, vertices=tuple(vertices), edges=tuple(edges))
        question = text(query, random)
        width = len([vertex for vertex in query.vertices if vertex.name not in query.hidden])
        names = {str(old): name for old, name in new.items()}
        rows = Rows()
        for row, number in found_rows(to_gquery(data).query(*question)).items():
            rows[(*(names[value] for value in row[:width]), *row[width:])] += number
        assert found_rows(to_gquery(turned).query(*question)) == rows, (question, data)


@pytest.mark.parametrize("limit", ["1MB", "100kB"])
def test_small_memory(limit: str, device: str) -> None:
    for random, data, query, rows in cases(f"memory {limit}"):
        question = text(query, random)
        found = to_gquery(data).query(*question, memory_limit=limit, device=device)
        assert found_rows(found) == rows, (question, data)


def test_limit_gives_some_of_the_rows(device: str) -> None:
    for random, data, query, rows in cases("limit"):
        pattern, parameters = text(query, random)
        number = random.randint(0, rows.total() + 1)
        found = found_rows(to_gquery(data).query(f"{pattern} LIMIT {number}", parameters, device=device))
        assert found.total() == min(number, rows.total()), (pattern, parameters, data)
        assert found <= rows, (pattern, parameters, data)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads(threads: int) -> None:
    for random, data, query, rows in cases(f"threads {threads}"):
        question = text(query, random)
        graph = to_gquery(data).with_settings(threads=threads)
        assert found_rows(graph.query(*question)) == rows, (question, data)


def test_one_query_in_many_words(device: str) -> None:
    """Comma parts in any order, walks cut anywhere, arrows from either side."""
    for random, data, query, rows in cases("words"):
        graph = to_gquery(data)
        for _ in range(4):
            question = text(query, random)
            assert found_rows(graph.query(*question, device=device)) == rows, (question, data)


def test_modes_nest(device: str) -> None:
    """induced in different nodes, and that, as well as different edges, in repeatable elements."""
    for random, data, query, _ in cases("modes"):
        graph = to_gquery(data)
        modes = ["induced", "different nodes", "repeatable elements", "different edges"]
        found = {mode: found_rows(graph.query(*text(with_mode(query, mode), random), device=device)) for mode in modes}
        assert found["induced"] <= found["different nodes"] <= found["repeatable elements"], (query, data)
        assert found["different edges"] <= found["repeatable elements"], (query, data)


@given(seed=st.integers(0, 2**32), copies=st.integers(1, 3))
def test_disjoint_copies(seed: int, copies: int) -> None:
    """A connected pattern has as many matches in k disjoint copies of a graph as k times in one."""
    random = Random(seed)
    data = random_graph(random, 6)
    query = random_query(random, data, connected=True)
    vertices = [replace(v, id=f"{n} {v.id}") for n in range(copies) for v in data.vertices]
    edges = [replace(e, source=f"{n} {e.source}", target=f"{n} {e.target}") for n in range(copies) for e in data.edges]
    copied = replace(data, vertices=tuple(vertices), edges=tuple(edges))
    renderer = Renderer(query, random, with_modes=True)
    question = f"{renderer.body()} RETURN count(*) AS n"
    one, many = (to_gquery(graph).query(question, renderer.parameters).scalar() for graph in (data, copied))
    assert many == copies * one


def test_one_snapshot_many_questions() -> None:
    """A graph answers the same again after other queries: nothing that it keeps between queries leaks."""
    for random, data, query, rows in cases("again"):
        graph = to_gquery(data)
        question = text(query, random)
        other = text(random_query(random, data), random)
        answers = [found_rows(graph.query(*asked)) for asked in (question, other, question)]
        assert answers[0] == answers[2] == rows, (question, other, data)
        assert isinstance(graph, gquery.Graph)

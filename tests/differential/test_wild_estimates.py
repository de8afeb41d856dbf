"""No answer depends on an estimate: with random numbers for all of them plans are odd, and answers the same.

GQUERY_FUZZ=n multiplies the number of cases. A failure shows the seed, the graph and the text.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

import gquery
from gquery.session import Graph
from tests.differential import sql, test_compose, test_parts, test_random
from tests.differential.build import expected_rows, found_rows, to_gquery
from tests.differential.generate import random_graph, random_query
from tests.differential.judged import written
from tests.differential.wild import with_wild_estimates

SEEDS = 15 * test_random.FUZZ  # of each kind


@pytest.mark.parametrize("kind", [test_random, test_parts])
def test_rows_and_counts(kind: Any, device: str) -> None:
    """Small graphs against the oracle, in all modes; with parts too."""
    for seed in range(SEEDS):
        random = Random(f"wild {kind.__name__} {seed}")
        data = random_graph(random, 9)
        graph = Graph(with_wild_estimates(to_gquery(data).snapshot, random))
        for query, matches in kind.cases(random, data):
            renderer, body, mode = written(query, random)
            told = f"seed {seed}: {body} {renderer.parameters} {mode}\n{data}"
            asked = {"parameters": renderer.parameters, "mode": mode, "device": device}
            try:
                rows = found_rows(graph.query(f"{body} RETURN {renderer.returned()}", **asked))
                count = graph.query(f"{body} RETURN count(*) AS n", **asked).scalar()
            except gquery.UnsupportedError:
                continue
            except Exception as error:
                raise AssertionError(told) from error
            assert rows == expected_rows(query, matches), told
            assert count == len(matches), told


@pytest.mark.large
def test_counts_of_many(device: str) -> None:
    """Larger graphs against DuckDB: here plans differ most."""
    for seed in range(SEEDS):
        random = Random(f"wild counts {seed}")
        data = random_graph(random, 30)
        graph = Graph(with_wild_estimates(to_gquery(data).snapshot, random))
        with sql.open_graph(data) as connection:
            for _ in range(8):
                query = random_query(random, data, connected=True)
                renderer, body, mode = written(query, random)
                told = f"seed {seed}: {body} {renderer.parameters} {mode}\n{data}"
                found = graph.query(f"{body} RETURN count(*)", renderer.parameters, mode=mode, device=device)
                assert found.scalar() == sql.count(connection, query), told


@pytest.mark.parametrize("name", test_compose.PATTERNS)
def test_edges_that_lead_to_one(name: str, device: str) -> None:
    random = Random(f"wild compose {name}")
    graph = test_compose.random_graph(random)
    returned = ("count(*) AS n", "id(a) AS a, id(k) AS k" if "k" in name else "id(a) AS a")
    texts = [
        f"MATCH {mode} {test_compose.PATTERNS[name]} RETURN {each}" for mode in test_compose.MODES for each in returned
    ]
    expected = [_rows(graph, text, device) for text in texts]
    for _ in range(4):
        wild = Graph(with_wild_estimates(graph.snapshot, random))
        assert [_rows(wild, text, device) for text in texts] == expected


def _rows(graph: Graph, text: str, device: str) -> Counter[Any]:
    try:
        return Counter(graph.query(text, device=device).rows())
    except gquery.BindError:
        return Counter()


def test_plans_are_odd() -> None:
    """The numbers are used: with others, plans are others."""
    random = Random("wild plans")
    graph = test_compose.random_graph(random)
    text = f"MATCH {test_compose.PATTERNS['in one country']} RETURN count(*)"
    plans = {Graph(with_wild_estimates(graph.snapshot, random)).explain(text) for _ in range(20)}
    assert len(plans) > 5

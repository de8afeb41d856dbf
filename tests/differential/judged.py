"""Random queries with what the judges say of them. They are asked once, whatever is compared: backends, or ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from random import Random
from typing import Any

import gquery
from tests.differential import sql
from tests.differential.build import Rows, expected_rows
from tests.differential.forms import DataGraph, Match, Query
from tests.differential.generate import random_graph
from tests.differential.render import Renderer

KEPT = 256  # graphs with the rows of all their queries

Cases = Callable[[Random, DataGraph], Iterator[tuple[Query, list[Match]]]]


@dataclass(frozen=True)
class Judged:
    """A query: its clauses, items that show each match, and the number of matches."""

    query: Query
    body: str
    returned: str
    parameters: Mapping[str, Any]
    mode: str | None
    count: int

    def compare_count(self, graph: gquery.Graph, device: str, told: str) -> None:
        told = f"{told}: {self.body} {self.parameters} {self.mode}"
        try:
            found = graph.query(f"{self.body} RETURN count(*) AS n", self.parameters, mode=self.mode, device=device)
            count = found.scalar()
        except Exception as error:
            raise AssertionError(told) from error
        assert count == self.count, told


def written(query: Query, random: Random) -> tuple[Renderer, str, str | None]:
    """A renderer, the clauses and the session's mode, which is None when the text itself says the modes."""
    several = len({clause.mode for clause in query.all_clauses}) > 1
    renderer = Renderer(query, random, with_modes=several or random.random() < 0.5)
    return renderer, renderer.body(), None if renderer.with_modes else query.clauses[0].mode


@lru_cache(KEPT)
def matched(seed: int | str, cases: Cases) -> tuple[DataGraph, tuple[tuple[Judged, Rows], ...]]:
    """A small graph, and queries of which the oracle knows the rows."""
    random = Random(seed)
    data = random_graph(random, 8)
    found = []
    for query, matches in cases(random, data):
        found.append((_judged(query, random, len(matches)), expected_rows(query, matches)))
    return data, tuple(found)


@cache
def counted(
    seed: str, graph_of: Callable[[Random], DataGraph], query_of: Callable[[Random, DataGraph], Query], queries: int
) -> tuple[DataGraph, tuple[Judged, ...]]:
    """A graph, and queries that DuckDB counts."""
    random = Random(seed)
    data = graph_of(random)
    found = []
    with sql.open_graph(data) as connection:
        for _ in range(queries):
            query = query_of(random, data)
            found.append(_judged(query, random, sql.count(connection, query)))
    return data, tuple(found)


def _judged(query: Query, random: Random, count: int) -> Judged:
    renderer, body, mode = written(query, random)
    return Judged(query, body, renderer.returned(), renderer.parameters, mode, count)

"""The complex reads of LDBC's Social Network Benchmark give what SQL gives, on a small generated network."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from benchmarks.ldbc.engines import DuckDB, Engine, Gquery, comparable
from benchmarks.ldbc.network import network
from benchmarks.ldbc.parameters import parameters_of

QUERIES = [f"ic{number}" for number in range(1, 15)]


@cache
def loaded() -> tuple[list[Engine], list[dict[str, Any]]]:
    small = network(0.01)
    return [Gquery(small), DuckDB(small)], parameters_of(small, 2)


@pytest.mark.parametrize("query", QUERIES)
def test_complex_reads(query: str) -> None:
    engines, parameters = loaded()
    for given in parameters:
        found, expected = (comparable(engine.ask(query, given)) for engine in engines)
        assert found == expected, given
        assert found or query == "ic11", given

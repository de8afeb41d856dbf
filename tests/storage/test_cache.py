"""What a graph keeps of what queries need besides it has a bound, is counted as the query's own, and is made again."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import gquery
from gquery.errors import MemoryLimitError
from gquery.executor.memory import Budget
from gquery.session import Graph
from gquery.storage.cache import Cache
from gquery.storage.graph import Snapshot
from gquery.storage.tables import EdgeTable, VertexTable

TYPES = "ABCDEFGHI"
EDGES = 40_000


def test_the_least_recently_used_goes_first() -> None:
    cache = Cache(limit=240)
    made: list[str] = []

    def ask(name: str) -> None:
        cache.get(name, lambda: made.append(name) or np.zeros(10, np.int64), 80, name)  # type: ignore[func-returns-value]

    for name in ("a", "b", "c", "a", "d"):
        ask(name)
    assert (made, cache.nbytes) == (["a", "b", "c", "d"], 240)
    for name in ("a", "c", "d", "b"):
        ask(name)
    assert (made, cache.nbytes) == (["a", "b", "c", "d", "b"], 240)


def test_what_is_larger_than_the_bound_is_made_and_not_kept() -> None:
    cache = Cache(limit=100)
    assert len(cache.get("large", lambda: np.zeros(1000, np.int8), 1000, "it")) == 1000
    assert cache.nbytes == 0


def test_growth_counts_as_the_querys_own() -> None:
    cache, budget = Cache(), Budget(1000)
    for _ in range(2):
        cache.get("kept", lambda: np.zeros(100, np.int8), 600, "it", budget)
    assert (budget.used, budget.peak, cache.nbytes) == (100, 600, 100)
    with pytest.raises(MemoryLimitError, match="it needs 901 bytes"):
        cache.get("other", lambda: np.zeros(1, np.int8), 901, "it", budget)
    with pytest.raises(ZeroDivisionError):
        cache.get("broken", lambda: np.zeros(1 // 0), 500, "it", budget)
    assert (budget.used, cache.nbytes) == (100, 100)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Nine edge types; one adjacency over three of them takes 1.4 MB and a little."""
    random = np.random.default_rng(3)
    count = 1_000
    ids = pa.chunked_array([pa.array(range(count), pa.int64())])
    ends = (random.integers(0, count, (2, EDGES)).astype(np.int32) for _ in TYPES)
    edges = [EdgeTable.from_arrow(name, *pair, pa.table({})) for name, pair in zip(TYPES, ends, strict=True)]
    return Graph(Snapshot([VertexTable.from_arrow(("V",), ids, pa.table({}), None)], edges))


def test_many_combinations_of_types_stay_within_the_limit(graph: Graph) -> None:
    limit, most = 64 * 10**6, 0
    for types in combinations(TYPES, 3):
        text = f"MATCH (a)-[:{'|'.join(types)}]->(b) WHERE a <> b RETURN count(*) AS n"
        single = sum(
            int(np.count_nonzero(np.not_equal(*table.ends)))
            for table in graph.snapshot.edge_tables
            if table.type in types
        )
        assert graph.query(text, memory_limit=limit).scalar() == single
        most = max(most, graph.snapshot.cache.nbytes)
    assert 5 * 10**7 < most <= limit


def test_a_limit_that_holds_no_adjacency_refuses_it(graph: Graph) -> None:
    with pytest.raises(gquery.MemoryLimitError, match="an adjacency of 9 edge types needs"):
        graph.query("MATCH (a)-->(b) WHERE a <> b RETURN count(*) AS n", memory_limit="2MB").scalar()


def test_an_adjacency_is_held_while_a_query_needs_it(graph: Graph) -> None:
    """With no room at all the snapshot makes it once for each query, not each time that it is looked at."""
    snapshot = Snapshot(graph.snapshot.vertex_tables, graph.snapshot.edge_tables[:2])
    snapshot.cache.limit = 0
    built: list[object] = []
    edges, build = snapshot.edges, snapshot.edges.build
    edges.build = lambda key: built.append(key) or build(key)  # type: ignore[method-assign,func-returns-value]
    text = "MATCH REPEATABLE ELEMENTS (a)-[:A|B]->(b)-[:A|B]->(c)-[:A|B]->(a) RETURN count(*) AS n"
    assert Graph(snapshot).query(text).scalar() > 0
    assert len(built) == len(set(built)) > 0
    assert snapshot.cache.nbytes == 0

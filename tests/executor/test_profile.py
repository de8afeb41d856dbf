"""PROFILE puts numbers where they were measured."""

from __future__ import annotations

import re

import numpy as np

import gquery
from gquery.executor.expansion.expand import Matches


def chain_of_three_labels() -> gquery.Graph:
    random = np.random.default_rng(1)

    def edges() -> dict[str, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        return {"source": random.integers(0, 400, 4_000), "target": random.integers(0, 400, 4_000)}

    ids = {"id": np.arange(400)}
    return gquery.from_arrow(
        {"A": ids, "B": ids, "C": ids}, {("A", "X", "B"): edges(), ("B", "Y", "C"): edges(), ("C", "Z", "A"): edges()}
    )


def test_terms_of_a_count_keep_their_numbers() -> None:
    """The first term is summed without a search; what the second one found stands at the second one."""
    query = "MATCH DIFFERENT NODES (a:A)-[:X]->(b:B)-[:Y]->(c:C)-[:Z]->(d:A) RETURN count(*)"
    text = chain_of_three_labels().profile(query)
    terms = re.split(r"^(?=Add|Subtract)", text, flags=re.MULTILINE)[1:]
    assert [term.split()[0] for term in terms] == ["Add", "Subtract"], text
    assert "found" not in terms[0]
    assert "Scan (a:A) = (d:A)  [estimated 400, found 400]" in terms[1]


def test_the_first_matches_keep_their_weights() -> None:
    ids, weights = np.arange(3, dtype=np.int32), np.array([5, 6, 7])
    first = Matches(3, {0: ids}, {0: ids.astype(np.int64)}, weights).first(2)
    assert first.weights is not None
    assert first.weights.tolist() == [5, 6]


def test_terms_give_their_memory_back() -> None:
    """Each term of a count has the whole budget; the terms before it are done."""
    query = "MATCH DIFFERENT NODES (a:A)-[:X]->(b:B)-[:Y]->(c:C)-[:Z]->(d:A)-[:X]->(e:B) RETURN count(*)"
    graph = chain_of_three_labels()
    result = graph.query(query, memory_limit="2MB")
    assert result.scalar() == graph.query(query).scalar()
    memory = result.progress.memory
    assert memory.used < 50_000 < memory.peak, "only the candidates are left"

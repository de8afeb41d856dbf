"""What filters leave of whole labels is kept beside the snapshot; what only one query can tell is not."""

from __future__ import annotations

from random import Random

import pytest

import gquery
from gquery.executor.cpu.candidates import sets

NUMBERS = range(40)
QUERIES = [
    "MATCH (a:A)-[:X]->(b:B) {} RETURN count(*) AS n",
    "MATCH (a:A)-[:X]->(b:B), (a)-[:X]->(c:B) {} RETURN count(*) AS n",
    "MATCH (a:A)-[x:X]->(b:B), (a)-[:Y]-(c:A) {} RETURN count(*) AS n",
    "MATCH (a:A)-[:Y]-(b:A)-[:Y]-(c:A), (b)-[:X]->(d:B) {} RETURN count(*) AS n",
]
CONDITIONS = ["", "WHERE a.n < 20", "WHERE b.n < 10", "WHERE a.n > 30 AND b.n > 5"]


def random_graph(seed: int) -> gquery.Graph:
    random = Random(seed)

    def edges(count: int) -> dict[str, list[int]]:
        ends = [(random.choice(NUMBERS), random.choice(NUMBERS)) for _ in range(count)]
        return {"source": [one for one, _ in ends], "target": [other for _, other in ends]}

    vertices = {label: {"id": NUMBERS, "n": NUMBERS} for label in "AB"}
    return gquery.from_arrow(vertices=vertices, edges={("A", "X", "B"): edges(50), ("A", "Y", "A"): edges(30)})


@pytest.mark.parametrize("seed", range(3))
def test_answers_do_not_change(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, keeping = random_graph(seed), random_graph(seed)
    texts = [query.format(condition) for query in QUERIES for condition in CONDITIONS]
    expected = [plain.query(text, device="cpu").scalar() for text in texts]
    monkeypatch.setattr(sets, "_LASTING", 0)
    asked = list(zip(texts, expected, strict=True)) * 2
    Random(seed).shuffle(asked)
    for text, count in asked:
        assert keeping.query(text, device="cpu").scalar() == count, (seed, text)


def test_filters_of_whole_labels_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "_LASTING", 0)
    graph, ran = random_graph(0), []
    passing = sets.CandidateSets._passing

    def counted(self: sets.CandidateSets, step: sets.NeighbourFilter) -> object:
        ran.append(step)
        return passing(self, step)

    monkeypatch.setattr(sets.CandidateSets, "_passing", counted)
    again = []
    for condition in ("", "", "WHERE a.n < 20", "WHERE a.n < 20"):
        ran.clear()
        graph.query(QUERIES[1].format(condition), device="cpu").scalar()
        again.append(len(ran))
    assert again[0] > 0
    assert again[1] == 0
    assert again[2] == again[3] > 0

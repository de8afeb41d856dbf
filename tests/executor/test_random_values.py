"""What is random is drawn once for each row that it is asked of, however few of the rows differ."""

from __future__ import annotations

import pytest

import gquery

COUNT = 60
HUB = gquery.from_arrow(
    vertices={"Hub": {"id": [0]}, "Leaf": {"id": range(COUNT)}},
    edges={("Hub", "TO", "Leaf"): {"source": [0] * COUNT, "target": range(COUNT)}},
)
DRAWN = {
    # subqueries that ask nothing of the rows drew once for all of them
    "UNWIND range(1, 60) AS x CALL (x) { RETURN rand() AS r } RETURN r": COUNT,
    "UNWIND range(1, 60) AS x CALL { RETURN rand() AS r } RETURN r": COUNT,
    "UNWIND range(1, 60) AS x OPTIONAL CALL (x) { RETURN rand() AS r } RETURN r": COUNT,
    "UNWIND range(1, 60) AS x CALL (x) { CALL { RETURN rand() AS q } RETURN q AS r } RETURN r": COUNT,
    "UNWIND range(1, 30) AS x CALL { RETURN rand() AS r UNION ALL RETURN rand() AS r } RETURN r": COUNT,
    "UNWIND range(1, 60) AS x RETURN COLLECT { RETURN rand() } AS r": COUNT,
    "UNWIND range(1, 60) AS x CALL (x) { MATCH (n:Hub) RETURN rand() AS r } RETURN r": COUNT,
    "MATCH ()-->() CALL { RETURN rand() AS r } RETURN r": COUNT,
    "UNWIND range(1, 60) AS x CALL (x) { RETURN count(*) + rand() AS r } RETURN r": COUNT,
    "UNWIND range(1, 60) AS x CALL (x) { MATCH (n:Hub {id: 9}) RETURN count(*) + rand() AS r } RETURN r": COUNT,
    "CALL { MATCH (n:Leaf) RETURN n, rand() AS r ORDER BY rand() LIMIT 3 } RETURN r": 3,
    # rows that are alike were one row with a number
    "MATCH (h:Hub)-->(l:Leaf) RETURN DISTINCT h, rand() AS r": COUNT,
    "MATCH (h:Hub)-->(l:Leaf) WITH h, rand() AS r, count(*) AS n RETURN r": COUNT,
    "UNWIND [1, 2] AS x MATCH (l:Leaf) WITH DISTINCT rand() AS r RETURN r": 2 * COUNT,
    "UNWIND [1, 2] AS x CALL { MATCH (l:Leaf) RETURN DISTINCT rand() AS r } RETURN r": 2 * COUNT,
}


@pytest.mark.parametrize(("query", "count"), DRAWN.items(), ids=list(DRAWN))
def test_each_row_draws_its_own(query: str, count: int) -> None:
    rows = HUB.query(query).rows()
    assert len(rows) == count
    assert len({str(row[-1]) for row in rows}) == count


SOME = [
    "MATCH (:Hub)-[*]->(l) WHERE rand() < 0.5 RETURN count(*)",
    "MATCH (:Hub)-[*]->(l) WHERE l.id * 0 + rand() < 0.5 RETURN count(DISTINCT l)",
    "MATCH (h:Hub)-->(l:Leaf) WHERE rand() < 0.5 RETURN count(*)",
    "MATCH (h:Hub)-->(l:Leaf) WHERE h.id + rand() < 0.5 RETURN h.id, count(*)",
    "MATCH (h:Hub) RETURN COUNT { (h)-->() WHERE rand() < 0.5 }",
    "UNWIND range(1, 60) AS x WITH x WHERE EXISTS { WITH rand() AS r WHERE r < 0.5 RETURN r } RETURN count(*)",
    "UNWIND range(1, 60) AS x MATCH (h:Hub) WHERE rand() < 0.5 RETURN count(*)",
    "UNWIND range(1, 60) AS x OPTIONAL MATCH (h:Hub) WHERE rand() < 0.5 RETURN count(h)",
    "UNWIND range(1, 60) AS x WITH x, 0 AS i MATCH (h:Hub {id: i}) WHERE rand() < 0.5 RETURN count(*)",
    "UNWIND range(1, 60) AS x MATCH (:Hub)-[*]->(:Leaf {id: 1}) WHERE rand() < 0.5 RETURN count(*)",
    "UNWIND range(1, 60) AS x MATCH p = SHORTEST 1 (:Hub)-[*]->(:Leaf {id: 1}) WHERE rand() < 0.5 RETURN count(*)",
]


@pytest.mark.parametrize("query", SOME)
def test_each_match_is_let_through_by_itself(query: str) -> None:
    """All passed, or none did."""
    assert 0 < HUB.query(query).rows()[0][-1] < COUNT


def test_rows_that_are_alike_are_told_apart_by_what_they_draw() -> None:
    asked = "UNWIND range(1, 60) AS x CALL { RETURN rand() AS r } RETURN count(DISTINCT r)"
    assert HUB.query(asked).scalar() == COUNT


def test_one_of_many_is_enough() -> None:
    """A match of each hub was asked for, and it alone had to pass."""
    asked = "MATCH (h:Hub) WHERE EXISTS { (h)-->() WHERE rand() < 0.5 } RETURN h"
    assert len(HUB.query(f"UNWIND range(1, 40) AS x CALL (x) {{ {asked} }} RETURN x").rows()) == 40


def test_a_subquery_that_draws_is_explained_as_one_for_each_row() -> None:
    def heading(query: str) -> str:
        return next(line for line in HUB.explain(query).splitlines() if line.startswith("CALL"))

    assert heading("UNWIND [1, 2] AS x CALL (x) { RETURN rand() AS r } RETURN x, r") == "CALL for each row"
    assert heading("UNWIND [1, 2] AS x CALL (x) { RETURN 1 AS r } RETURN x, r") == "CALL once"
    assert heading("UNWIND [1, 2] AS x CALL (x) { RETURN x AS r } RETURN x, r") == "CALL for each row, with x"

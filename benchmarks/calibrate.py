"""What a look at a neighbour costs, by the kind of work: calibrates `planner/search/costs.py`.

    python -m benchmarks.calibrate

Each row is a count on one core whose cost is mostly one field of the cost model. The model is right where all rows say
the same nanoseconds a look; a field is wrong by as much as its row is off the first, which is what a look is.
"""

from __future__ import annotations

import time

import numpy as np

import gquery
from gquery.session import Prepared
from gquery.stopping import unchecked

VERTICES, EDGES, ROUNDS = 200_000, 2_000_000, 5
QUERIES = {
    "looks (intersection)": "(a)-[:E]->(b)-[:E]->(c)<-[:E]-(a)",
    "gallop": "(a {part: 3})-[:E]->(b)<-[:H]-(c)-[:H]->(a)",
    "fold_row": "(a)-[:E]->(b)",
    "fold_look": "(a)-[:E]->(b)-[:E]->(c)",
    "test": "(a)-[:E]->(b)-[:E]->(c)-[:E]->(d) WHERE a <> c AND b <> d AND a <> d",
    "enter, miss": "(a)-[:E]->(b), (a)-[:E]->(c)-[:E]->(d) WHERE b.part < c.part",
}


def graph() -> gquery.Graph:
    """E leads anywhere; the rows of the 100 hubs of H are long."""
    random = np.random.default_rng(7)
    ends = random.integers(0, VERTICES, (2, EDGES))
    hubs = {"source": random.integers(0, 100, EDGES // 4), "target": ends[1, : EDGES // 4]}
    vertices = {"id": np.arange(VERTICES), "part": np.arange(VERTICES) % 10}
    edges = {("V", "E", "V"): {"source": ends[0], "target": ends[1]}, ("V", "H", "V"): hubs}
    return gquery.from_arrow(vertices={"V": vertices}, edges=edges).with_settings(threads=1)


def looks(asked: gquery.Graph, text: str) -> float:
    """What the planner takes the work to be."""
    query = Prepared(asked.snapshot, text, {}, asked.settings)
    return sum(each.cost for each in query.matchings[0].estimated(unchecked))


def main() -> None:
    asked = graph()
    print(f"{'mostly':22} {'looks':>14} {'ms':>9} {'ns a look':>10}")
    for name, pattern in QUERIES.items():
        text, best = f"MATCH REPEATABLE ELEMENTS {pattern} RETURN count(*)", float("inf")
        for _ in range(ROUNDS):
            began = time.perf_counter()
            asked.query(text).scalar()
            best = min(best, time.perf_counter() - began)
        print(f"{name:22} {looks(asked, text):14,.0f} {best * 1e3:9.1f} {best * 1e9 / looks(asked, text):10.2f}")


if __name__ == "__main__":
    main()

"""A graph on which patterns have far more matches than anyone can wait for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import gquery

VERTICES = 1_000
DEGREE = 300

# Hundreds of times 10^12 matches; the second cannot be counted by multiplying parts.
MANY_ROWS = (
    "MATCH (a)-[:X]->(b)-[:X]->(c)-[:X]->(d)-[:X]->(e)"
    " RETURN id(a) AS a, id(b) AS b, id(c) AS c, id(d) AS d, id(e) AS e"
)
LONG_COUNT = (
    "MATCH DIFFERENT NODES (a)-[:X]->(b)-[:X]->(c)-[:X]->(d)-[:X]->(e)-[:X]->(f)-[:X]->(a),"
    " (a)-[:X]->(d), (b)-[:X]->(e), (c)-[:X]->(f) RETURN count(*) AS n"
)


def dense_graph() -> gquery.Graph:
    """1,000 vertices, each with 300 random successors."""
    random = np.random.default_rng(7)
    source = np.repeat(np.arange(VERTICES), DEGREE)
    target = np.concatenate([random.choice(VERTICES, DEGREE, replace=False) for _ in range(VERTICES)])
    vertices = pa.table({"id": np.arange(VERTICES)})
    return gquery.from_arrow(
        vertices={"V": vertices}, edges={("V", "X", "V"): pa.table({"source": source, "target": target})}
    )

"""Queries that stand over the random graphs of `batches`, of every way in which a change is told."""

from __future__ import annotations

MODES = ("different edges", "repeatable elements", "different nodes", "induced")

ROWS = (
    "MATCH (a:A)-[:X]-(b)-[:Y]->(c) RETURN a.p, c.p",
    "MATCH (a)-[e:X]->(b:A)-[f:X|Y]-(c) WHERE e.w > 2 AND a.p < c.p RETURN a.p, e.w, f.w, c.p",
    "MATCH (a)-[e]->(b)<-[f]-(c), (a)-[g]-(a) RETURN e.w, b.p, c.p",
    "MATCH (a:A)-[:X]->(b) RETURN a, b.p",
    "MATCH p = (a:A)-[:X]->(b)-[]->(c:B) RETURN p",
    "MATCH (a)-[e:X]->(b) WITH a, e.w + b.p AS s WHERE s > 2 RETURN a.p AS p, s ORDER BY s",
    "MATCH (a)-[e:X]->(b) UNWIND [a.p, b.p] AS p RETURN p, e.w",
    "MATCH (a)-[e:Z]->(b) RETURN a.p AS p",
    "MATCH (a:A) WHERE a.p > 1 RETURN a.p",
    "MATCH (a:A) OPTIONAL MATCH (a)-[:X]->(b) RETURN a.p, b.p",
    "MATCH (a:A)-[:X]->(b) WHERE NOT (b)-[:Y]->(a) RETURN a.p, b.p",
    "MATCH (a:A)-[:X*1..2]->(b) RETURN a.p, b.p",
    "MATCH (a:A)-[:X]->(b) RETURN DISTINCT b.p",
    "MATCH (a)-[:X]->(b) RETURN a.p AS p ORDER BY p LIMIT 3",
    "MATCH (a)-[:X]->(b) RETURN a.p AS p UNION MATCH (a)-[:Y]->(b) RETURN b.p AS p",
)
COUNTS = (
    "MATCH (a)-[:X]->(b)-[:X]->(c) RETURN count(*) AS n",
    "MATCH (a)-[]-(b)-[]-(c)-[]-(a) RETURN count(*) AS n",
    "MATCH (a)-[:X]-(b)-[:X]-(c)-[:X]-(d)-[:X]-(a) RETURN count(*) AS n",
    "MATCH (a)-[:X]-(b), (a)-[:X]-(c), (a)-[:Y]-(d) RETURN count(*) AS n",
    "MATCH (a)-[:X]->(b:B), (c:A)-[:Y]->(d) WHERE a.p = c.p RETURN count(*) AS n",
    "MATCH (a)-[:X]-(b)-[:X]-(c) RETURN a.p AS p, count(*) AS n",
    "MATCH (a:A)-[:X]->(b) WHERE NOT (b)-[:Y]->() RETURN a.p AS p, count(*) AS n",
    "MATCH (a:A) OPTIONAL MATCH (a)-[:X]->(b) RETURN a.p AS p, count(b) AS n",
)

JOINED = (
    "(a)-[:X]->(b)-[:X]->(c)",
    "(a)-[:X]-(b)-[:Y]-(c)-[:X]-(a)",
    "(a:A)-[:X]->(b)<-[:Y]-(c:A)-[:X|Y]-(d) WHERE a.p < d.p",
    "(a)-[:X]-(b), (a)-[:X]-(c), (a)-[:Y]-(d:B)",
    "(a:A {p: 1})-[:X]->(b)-[:Y]->(c)",
    "(a)-[:X|Y]-(b)-[:X|Y]-(c)-[:X|Y]-(a)",
    "(a)-[e:X]->(b)<-[f:X]-(c) WHERE e.w = 1",
)
"""Told by terms."""

ANCHORED = (
    "(a:A)-[:X]->(b) WHERE NOT (b)-[:Y]->(a)",
    "(a)-[:X]->(b) WHERE NOT (b)-[:Y]->() AND NOT (a)-[:X]->(:A)-[:Y]->(b)",
    "(a)-[:X]-(b) WHERE EXISTS { MATCH (b)-[:Y]->(c) WHERE c.p > a.p AND NOT (c)-[:X]-(a) }",
    "(a:A)-[e:X]->(b) WHERE (b)-[:Y]->() OR a.p > 1 OR e.w = 1",
    "(a) WHERE NOT (a)-[:X]->(:B) AND NOT (a)-[:Y]->(a)",
    "(a:A) WHERE NOT EXISTS { (a)-[:X]->(b) WHERE NOT EXISTS { (b)-[:Y]->(c) WHERE c.p = b.p } }",
    "(a)-[:X]->(b)-[:X]->(c) WHERE COUNT { (b)-[:Y]-(c) } + COUNT { (a)-[:Y]-() } > 1",
    "(a:A)-[:X]-(b) OPTIONAL MATCH (b)-[f:Y]->(c)-[:X]-(a)",
    "(a) OPTIONAL MATCH (a)-[:X]->(b) WHERE b.p > 0 OPTIONAL MATCH (b)-[:Y]-(c) WHERE c.p < a.p",
    "(a)-[:X]->(b) WITH b AS a OPTIONAL MATCH (a)-[:Y]->(b) WITH a, b WHERE b IS NULL OR b.p = a.p",
    "(a:A) WHERE a.p > 1",
    "(b)-[:X]->(a)-[:Y]-(c)-[:X]-(b) WHERE NOT (a)-[:X]->(c)",
    "INDUCED (a)-[:X]-(b)-[:X|Y]-(c)",
    "INDUCED (a)-[:X]->(b) MATCH (b)-[:Y]-(c) WHERE NOT (c)-[:X]->(a)",
    "INDUCED (a)-[:X]-(b), (b)-[:Y]-(c), (c)-[:X]-(d)",
    "(a) CALL (a) { MATCH (a)-[:X]->(b) RETURN b.p AS q } WITH a, q",
)
OF_A, GROUPS_OF_A, NUMBER = "RETURN a.p AS p", "RETURN a.p AS p, count(*) AS n", "RETURN count(*) AS n"

FALLING_APART = (
    "(a:A&!B)-[:X]-(b:B&!A)-[:X]-(c:A&B)",
    "(a)-[:X]->(b)-[:Y]->(c)",
    "(a)-[:X]->(b)-[:X]->(c)-[:X]->(a), (c)-[:Y]-(d)-[:Y]-(e)",
    "(a)-[:X]->(b)-[:X]->(c)-[:X]->(a), (c)-[:X]-(d)",
    "(a:A&!B)-[:X|Y]-(b:B&!A)-[:X]-(c:A&B), (b)-[e:Y]-(d:!A&!B) WHERE e.w > 1 AND b.p < 3 AND d.p > 0",
    "(a)-[:X]->(a)-[:Y]->(b)",
    "(a {p: 1})-[:X]->(b)-[:Y]->(c:A)-[:X]->(b), (b)-[:Z]->(d), (b)<-[:Z]-(e)",
)
"""Counted by their branches, in some modes."""

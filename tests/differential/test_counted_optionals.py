"""How many matches an OPTIONAL MATCH has for each row, counted without listing any, beside what lists them."""

from __future__ import annotations

from random import Random

import pytest

import gquery

BEFORE = {
    "MATCH (a:P)": "a",
    "MATCH (a:P)-[:K]->(d)": "ad",
    "UNWIND [1, 2, 2, null] AS q MATCH (a:P) WHERE a.x = q": "a",
    "MATCH (a:P) OPTIONAL MATCH (a)-[:L]->(d)": "ad",
    "MATCH (a)-[k]->(d) WITH a, d, count(k) AS q": "ad",
    "MATCH (a:P) WITH a ORDER BY a.id LIMIT 3": "a",
    "MATCH (a:P {id: 99})": "a",
    "OPTIONAL MATCH (a:P {id: 1})": "a",
}
OTHERS = [
    "",
    "a.id AS i, ",
    "a.x AS i, ",
    "a AS i, ",
    "a.x AS i, min(a.id) AS m, ",
    "a.x AS i, count(DISTINCT a.id) AS m, ",
]
CONDITIONS = {
    "b": ["b.x > 1", "b.x = a.x", "b.id < a.id", "NOT (b)-[:K]->()", "EXISTS { (b)-[:L]->() }"],
    "r": ["r.w > 1", "r.w = a.x"],
}


def small_graph(random: Random) -> gquery.Graph:
    """With loops, parallel edges and nulls."""
    ids = list(range(random.randint(2, 9)))
    vertices = {"P": {"id": ids, "x": [random.choice([None, 1, 2, 3]) for _ in ids]}}
    edges = {}
    for name in ("K", "L"):
        count = random.randint(0, 3 * len(ids))
        source, target = ([random.choice(ids) for _ in range(count)] for _ in range(2))
        weights = [random.choice([None, 1, 2, 5]) for _ in range(count)]
        edges["P", name, "P"] = {"source": source, "target": target, "w": weights}
    return gquery.from_arrow(vertices, edges)


def optional(random: Random, names: str) -> tuple[str, str]:
    """An OPTIONAL MATCH that hangs on one of these names, and one of those that it binds."""

    def link(name: str = "") -> str:
        left, right = random.choice([("-", "->"), ("<-", "-"), ("-", "-")])
        return f"{left}[{name}{random.choice([':K', ':L', ':K|L', ''])}]{right}"

    a = random.choice(names)
    pattern, new = random.choice(
        [
            (f"({a}){link('r')}(b)", "br"),
            (f"({a}){link()}(b){link()}(c)", "bc"),
            (f"p = ({a}){link('r')}(b)", "prb"),
            (f"({a}){link('r')}({random.choice(names)})", "r"),
            (f"(b:P), ({a}){link()}(c)", "bc"),
            (f"({a}){link()}(b){link('r')}({a})", "br"),
        ]
    )
    mode = random.choice(["", "DIFFERENT NODES ", "REPEATABLE ELEMENTS "])
    asked = [random.choice(CONDITIONS[name]) for name in new if name in CONDITIONS and random.random() < 0.4]
    where = f" WHERE {' AND '.join(asked)}" if asked else ""
    return f"OPTIONAL MATCH {mode}{pattern}{where}", random.choice(new)


@pytest.mark.parametrize("seed", range(12))
def test_optionals_are_counted_as_if_they_were_listed(seed: int, device: str) -> None:
    random = Random(f"counted optionals {seed}")
    graph = small_graph(random)
    for _ in range(10):
        before, names = random.choice(list(BEFORE.items()))
        clause, name = optional(random, names)
        least = random.randint(0, 2)
        after = random.choice(["RETURN {}", "WITH {} WHERE n >= " + str(least) + " RETURN *"])
        items = f"{random.choice(OTHERS)}{random.choice(['COUNTED', 'COUNTED + 1'])} AS n"
        text = f"{before} {clause} {after.format(items)}"
        counted, listed = (
            graph.query(text.replace("COUNTED", how), device=device).to_arrow()
            for how in (f"count({name})", f"sum(CASE WHEN {name} IS NULL THEN 0 ELSE 1 END)")
        )
        assert counted.schema == listed.schema, f"seed {seed}: {text}"
        assert sorted(map(str, counted.to_pylist())) == sorted(map(str, listed.to_pylist())), f"seed {seed}: {text}"

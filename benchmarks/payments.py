"""Payments, made from a seed: skewed, some repeated, some to oneself; and what one may ask of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import gquery

_SEED = 3
_ACCOUNTS, _PAYMENTS = 50_000, 500_000
_COUNTRIES = 100
_REPEATED = 20  # one of so many payments is made once more

QUESTIONS = {
    "who shares a phone": "MATCH (a), (b) WHERE a.phone = b.phone RETURN count(*)",
    "two hops within a country": "MATCH (a)-[]->(b)-[]->(c) WHERE a.country = c.country RETURN count(*)",
    "two hops to more risk": "MATCH (a)-[]->(b)-[]->(c) WHERE a.risk < c.risk RETURN count(*)",
    "two hops, undirected": "MATCH (a)-[]-(b)-[]-(c) RETURN count(*)",
    "paths of three": "MATCH (a)-[]->(b)-[]->(c)-[]->(d) RETURN count(*)",
    "circles of two": "MATCH (a)-[]->(b)-[]->(a) RETURN count(*)",
    "triangles": "MATCH (a)-[]->(b)-[]->(c)-[]->(a) RETURN count(*)",
    "triangles of others": "MATCH DIFFERENT NODES (a)-[]->(b)-[]->(c)-[]->(a) RETURN count(*)",
    "rows of payments": "MATCH (a)-[p]->(b) RETURN a.id, b.id, p.amount",
    "the largest": "MATCH (a)-[p]->(b) RETURN a.id, b.id, p.amount AS amount ORDER BY amount DESC, a.id, b.id LIMIT 10",
    "paid by country": "MATCH (a)-[p]->(b) RETURN a.country, b.country, sum(p.amount)",
    "paid by account": "MATCH (a)-[p]->(b) RETURN a.id, sum(p.amount)",
    "two hops by country": "MATCH (a)-[]->(b)-[]->(c) RETURN c.country, count(*)",
    "paths of three by country": "MATCH (a)-[]->(b)-[]->(c)-[]->(d) RETURN c.country, count(*)",
    "two to and one from": "MATCH (a)-[]->(b), (a)-[]->(c), (a)<-[]-(d) RETURN a.country, count(*)",
    "who pays the same": "MATCH (a)-[]->(b)<-[]-(c) WHERE a.country = 'country 70' RETURN a.id, c.id, count(*)",
    "paid on": "MATCH (a)-[p]->(b)-[q]->(c) WHERE p.amount = q.amount RETURN count(*)",
}


def payments() -> gquery.Graph:
    """Accounts with a country, a phone that few share and a risk; payments with an amount."""
    random = np.random.default_rng(_SEED)
    ids = np.arange(_ACCOUNTS)
    countries = (_COUNTRIES * random.random(_ACCOUNTS) ** 2).astype(int).tolist()
    phones = random.integers(0, 4 * _ACCOUNTS, _ACCOUNTS).tolist()
    accounts = {
        "id": ids,
        "country": pa.array([f"country {number}" for number in countries]),
        "phone": pa.array([f"+{number:012}" for number in phones]),
        "risk": random.random(_ACCOUNTS),
    }
    source, target = ((_ACCOUNTS * random.random(_PAYMENTS) ** 1.5).astype(np.int64) for _ in range(2))
    again = random.integers(0, _PAYMENTS, _PAYMENTS // _REPEATED)
    ends = {"source": np.append(source, source[again]), "target": np.append(target, target[again])}
    amounts = random.integers(0, 100_000, len(ends["source"]))
    return gquery.from_arrow({"Account": accounts}, {("Account", "PAYS", "Account"): {**ends, "amount": amounts}})

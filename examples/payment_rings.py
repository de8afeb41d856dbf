"""Payments come in one after the other, and rings are told as they close: money that is back where it began after three
payments. A table in DuckDB follows, and says which rings stand just now.

    python examples/payment_rings.py
"""

from __future__ import annotations

import random

import gquery

ACCOUNTS, BEFORE, PAYMENTS, SHOWN = 2_000, 4_000, 200, 8
PAID = ("Account", "PAID", "Account")
RINGS = """
    MATCH (a:Account)-[one:PAID]->(b:Account)-[two:PAID]->(c:Account)-[three:PAID]->(a)
    WHERE a.id < b.id AND a.id < c.id AND one.amount > 900 AND two.amount > 900 AND three.amount > 900
    RETURN a.id AS a, b.id AS b, c.id AS c
"""
Payments = dict[str, list[int]]


def payments(chance: random.Random, count: int) -> Payments:
    """Between any two accounts; some launderers pay each other more than others do."""
    found: Payments = {"source": [], "target": [], "amount": []}
    for _ in range(count):
        laundering = chance.random() < 0.09
        source, target = chance.sample(range(1, 40 if laundering else ACCOUNTS), 2)
        found["source"].append(source)
        found["target"].append(target)
        found["amount"].append(chance.randint(500, 2000) if laundering else chance.randint(1, 1000))
    return found


def main() -> None:
    chance = random.Random(7)
    graph = gquery.from_arrow(
        vertices={"Account": {"id": list(range(1, ACCOUNTS))}}, edges={PAID: payments(chance, BEFORE)}
    )
    store = gquery.Store(graph)
    rings = store.watch(RINGS)
    con = gquery.connect()
    gquery.attach(con, store.changes(RINGS), "rings")
    con.execute("CREATE TABLE standing (version BIGINT, diff TINYINT, a BIGINT, b BIGINT, c BIGINT)")

    closed, opened, followed = 0, 0, 0
    for number in range(PAYMENTS):
        payment = payments(chance, 1)
        store.apply(insert={PAID: payment})
        if number % 4 == 3:  # and now and then one is charged back
            store.apply(delete={PAID: payment})
        for change in rings.waiting():
            closed += change.added.num_rows
            opened += change.removed.num_rows
            for ring in change.added.to_pylist() if closed <= SHOWN else ():
                print(f"version {change.version}: {ring['a']} -> {ring['b']} -> {ring['c']} -> {ring['a']}")
        if number % 20 == 19:  # the table follows now and then
            con.execute("INSERT INTO standing FROM gquery_changes('rings', ?)", [followed])
            followed = store.version

    print(f"{closed} rings have closed, {opened} of them were opened by a charge back")
    new = con.execute("SELECT sum(diff) FROM standing").fetchall()[0][0]
    before, now = (each.query(f"{RINGS.split('RETURN')[0]} RETURN count(*)").scalar() for each in (graph, store.graph))
    print(f"the table knows of {new} new rings; there were {before}, and there are {now}")


if __name__ == "__main__":
    main()

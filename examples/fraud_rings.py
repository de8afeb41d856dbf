"""Find money that goes round in a circle between accounts, and the devices that give the circles away.

The bank below is made up: 3,000 accounts with ordinary transfers between them, and 12 rings whose members pass a large
amount round within days. The members of a ring log in from devices that they share.
"""

import duckdb
import numpy as np
import pyarrow as pa

import gquery

ACCOUNTS, TRANSFERS, DEVICES, RINGS = 3_000, 15_000, 2_500, 12
random = np.random.default_rng(2024)

# --- the bank: ordinary customers -----------------------------------------------------------------
account_ids = np.array([f"ACC-{number:04}" for number in range(ACCOUNTS)])
accounts = pa.table({"id": account_ids, "country": random.choice(["NL", "DE", "PL", "PT"], ACCOUNTS)})
devices = pa.table({"id": [f"DEV-{number:04}" for number in range(DEVICES)]})

payer, payee = random.integers(0, ACCOUNTS, (2, TRANSFERS))
amount = random.lognormal(5, 1.2, TRANSFERS).astype(int)
day = random.integers(0, 365, TRANSFERS)
user, device = np.arange(ACCOUNTS), random.integers(0, DEVICES, ACCOUNTS)

# --- and the rings: 3 or 4 accounts, one amount that shrinks a little at every hop ----------------
for ring in range(RINGS):
    members = random.choice(ACCOUNTS, 3 + ring % 2, replace=False)
    payer = np.append(payer, members)
    payee = np.append(payee, np.roll(members, -1))
    amount = np.append(amount, (random.integers(8_000, 20_000) * 0.97 ** np.arange(len(members))).astype(int))
    day = np.append(day, random.integers(0, 350) + np.arange(len(members)) * 2)
    user = np.append(user, members)
    device = np.append(device, np.full(len(members), random.integers(0, DEVICES)))

graph = gquery.from_arrow(
    vertices={"Account": accounts, "Device": devices},
    edges={
        ("Account", "TRANSFER", "Account"): pa.table(
            {"source": account_ids[payer], "target": account_ids[payee], "amount": amount, "day": day}
        ),
        ("Account", "USES", "Device"): pa.table(
            {"source": account_ids[user], "target": devices["id"].take(pa.array(device))}
        ),
    },
)
print(graph)

# --- 1. rings of three ----------------------------------------------------------------------------
# The days are in order, so each ring is found once: from the account that paid first.
print("\nLarge amounts that come back to where they started within a week, over three accounts:")
rings = graph.query(
    """
    MATCH (a:Account)-[first:TRANSFER]->(b:Account)-[second:TRANSFER]->(c:Account)-[third:TRANSFER]->(a)
    WHERE first.amount > $large AND second.amount > $large AND third.amount > $large
      AND first.day < second.day AND second.day < third.day AND third.day - first.day <= 7
    RETURN a.id AS first, b.id AS second, c.id AS third, first.amount AS sent, third.amount AS came_back
    ORDER BY sent DESC
    """,
    {"large": 5_000},
)
duckdb.from_arrow(rings.to_arrow()).show()

# --- 2. any ring of four whose first two members share a device -----------------------------------
print("Rings of four in which the first two accounts log in from one device:")
shared = graph.query(
    """
    MATCH (a:Account)-[t1:TRANSFER]->(b:Account)-[t2:TRANSFER]->(c:Account)-[t3:TRANSFER]->(d:Account),
          (d)-[t4:TRANSFER]->(a),
          (a)-[:USES]->(device:Device)<-[:USES]-(b)
    WHERE t1.day < t2.day AND t2.day < t3.day AND t3.day < t4.day
    RETURN device.id AS device, a.id AS first, b.id AS second, c.id AS third, d.id AS fourth, t1.amount AS sent
    ORDER BY sent DESC
    """
)
duckdb.from_arrow(shared.to_arrow()).show()

# --- 3. which devices see most of it --------------------------------------------------------------
print("Devices by the large transfers between two accounts that both use them:")
suspects = graph.query(
    """
    MATCH (device:Device)<-[:USES]-(a:Account)-[t:TRANSFER]->(b:Account)-[:USES]->(device)
    WHERE t.amount > 5000
    RETURN device.id AS device, count(*) AS transfers, sum(t.amount) AS moved, collect(DISTINCT a.country) AS countries
    ORDER BY transfers DESC, moved DESC LIMIT 5
    """
)
duckdb.from_arrow(suspects.to_arrow()).show()

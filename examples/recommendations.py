"""Recommend products from what similar people bought, and join the answer with a price list in DuckDB.

The shop below is made up: people have one taste each, products have one kind, and most purchases follow taste.
"""

import duckdb
import numpy as np
import pyarrow as pa

import gquery

PEOPLE, PRODUCTS, PURCHASES, FRIENDSHIPS = 500, 100, 20_000, 2_000
KINDS = ["book", "game", "garden", "kitchen", "music"]
random = np.random.default_rng(7)

# --- the shop -------------------------------------------------------------------------------------
taste = random.integers(0, len(KINDS), PEOPLE)
kind = random.integers(0, len(KINDS), PRODUCTS)
people = pa.table({"id": np.arange(PEOPLE), "name": [f"person {number}" for number in range(PEOPLE)]})
products = pa.table({"id": [f"P{number:03}" for number in range(PRODUCTS)], "kind": np.array(KINDS)[kind]})

buyer = random.integers(0, PEOPLE, PURCHASES)
bought = random.integers(0, PRODUCTS, PURCHASES)
to_taste = (kind[bought] == taste[buyer]) | (random.random(PURCHASES) < 0.15)
buyer, bought = np.unique(np.stack([buyer, bought])[:, to_taste], axis=1)
friend, other = random.integers(0, PEOPLE, (2, FRIENDSHIPS))

graph = gquery.from_arrow(
    vertices={"Person": people, "Product": products},
    edges={
        ("Person", "BOUGHT", "Product"): pa.table(
            {
                "source": buyer,
                "target": products["id"].take(pa.array(bought)),
                "stars": random.integers(1, 6, len(buyer)),
            }
        ),
        ("Person", "KNOWS", "Person"): pa.table({"source": friend, "target": other}),
    },
)
print(graph)

# --- 1. bought together ---------------------------------------------------------------------------
print("\nProducts that the same people bought most often:")
together = graph.query(
    """
    MATCH (one:Product)<-[:BOUGHT]-(:Person)-[:BOUGHT]->(two:Product)
    WHERE one.id < two.id
    RETURN one.id AS one, two.id AS two, one.kind AS kind, count(*) AS people
    ORDER BY people DESC, one, two LIMIT 5
    """
)
duckdb.from_arrow(together.to_arrow()).show()

# --- 2. what people with the same good taste bought, at a price -----------------------------------
customer = {"customer": 42}
suggestions = graph.query(
    """
    MATCH (me:Person)-[mine:BOUGHT]->(:Product)<-[theirs:BOUGHT]-(:Person)-[good:BOUGHT]->(suggestion:Product)
    WHERE id(me) = $customer AND mine.stars >= 4 AND theirs.stars >= 4 AND good.stars = 5
    RETURN suggestion.id AS product, suggestion.kind AS kind, count(*) AS votes
    """,
    customer,
)
owned = graph.query(
    "MATCH (me:Person)-[:BOUGHT]->(p:Product) WHERE id(me) = $customer RETURN p.id AS product", customer
)
prices = pa.table({"product": products["id"], "price": random.uniform(3, 90, PRODUCTS).round(2)})

print("For customer 42, not owned yet and below 40 euros:")
duckdb.sql(
    """
    SELECT product, kind, votes, price
    FROM suggestions JOIN prices USING (product)
    WHERE price < 40 AND product NOT IN (SELECT product FROM owned)
    ORDER BY votes DESC, product LIMIT 5
    """
).show()

# --- 3. friends who could go together -------------------------------------------------------------
print("Pairs of friends who both gave four or five stars to most of the same things:")
pairs = graph.query(
    """
    MATCH (a:Person)-[:KNOWS]-(b:Person), (a)-[x:BOUGHT]->(p:Product)<-[y:BOUGHT]-(b)
    WHERE x.stars >= 4 AND y.stars >= 4 AND id(a) < id(b)
    RETURN a.name AS one, b.name AS other, count(*) AS shared, collect(p.id) AS products
    ORDER BY shared DESC, one, other LIMIT 5
    """
)
duckdb.from_arrow(pairs.to_arrow()).show()

"""Count small patterns in a network of proteins and genes, and see which are more frequent than chance would have it.

The cell below is made up: receptors switch on kinases, kinases switch on transcription factors, and factors regulate
genes. Feed-forward loops and bi-fans are planted among random edges, as they are found in real regulation.
"""

import duckdb
import numpy as np
import pyarrow as pa

import gquery

RECEPTORS, KINASES, FACTORS, GENES = 40, 120, 80, 600
random = np.random.default_rng(1953)


def distinct(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same edges, none twice and none from a vertex to itself."""
    pairs = np.unique(np.stack([source, target])[:, source != target], axis=1)
    return pairs[0], pairs[1]


def edges(source: np.ndarray, target: np.ndarray) -> pa.Table:
    return pa.table({"source": source, "target": target})


# --- who regulates whom: one number for every protein and gene, kind after kind -------------------
receptors = np.arange(RECEPTORS)
kinases = receptors[-1] + 1 + np.arange(KINASES)
factors = kinases[-1] + 1 + np.arange(FACTORS)
genes = factors[-1] + 1 + np.arange(GENES)

switch = distinct(random.choice(receptors, 150), random.choice(kinases, 150))
relay = distinct(random.choice(kinases, 300), random.choice(kinases, 300))
wake = distinct(random.choice(kinases, 250), random.choice(factors, 250))

master, helper = distinct(random.choice(factors, 60), random.choice(factors, 60))
common = random.choice(genes, (len(master), 4))  # genes that master and helper regulate together
regulator, gene = distinct(
    np.concatenate([np.repeat(master, 4), np.repeat(helper, 4), random.choice(factors, 700)]),
    np.concatenate([common.ravel(), common.ravel(), random.choice(genes, 700)]),
)


def network(master: np.ndarray, helper: np.ndarray, regulator: np.ndarray, gene: np.ndarray) -> gquery.Graph:
    """The cell with these regulations."""
    kinds = {"Receptor": receptors, "Kinase": kinases, "Factor": factors, "Gene": genes}
    return gquery.from_arrow(
        vertices={label: pa.table({"id": ids, "name": [f"{label} {i}" for i in ids]}) for label, ids in kinds.items()},
        edges={
            ("Receptor", "ACTIVATES", "Kinase"): edges(*switch),
            ("Kinase", "ACTIVATES", "Kinase"): edges(*relay),
            ("Kinase", "ACTIVATES", "Factor"): edges(*wake),
            ("Factor", "REGULATES", "Factor"): edges(master, helper),
            ("Factor", "REGULATES", "Gene"): edges(regulator, gene),
        },
    )


cell = network(master, helper, regulator, gene)
print(cell)

# --- 1. a signal's way from the membrane to a gene ------------------------------------------------
print("\nThe genes that most signals reach, over two or more steps of kinases or factors:")
reached = cell.query(
    """
    MATCH (:Receptor)-[:ACTIVATES]->(:Kinase)-[:ACTIVATES]->(:Kinase|Factor)-[:ACTIVATES|REGULATES]->(f:Factor),
          (f)-[:REGULATES]->(g:Gene)
    RETURN g.name AS gene, count(*) AS ways
    ORDER BY ways DESC, gene LIMIT 5
    """
)
duckdb.from_arrow(reached.to_arrow()).show()

# --- 2. motifs, against networks in which everybody keeps their regulators and genes, shuffled ----
print("Patterns of regulation that are more frequent than in 500 shuffled networks:")
motifs = [
    gquery.motifs(cell, size, types="REGULATES", by_label=True, random=500, seed=1).select(z=5, p=0.05, count=20)
    for size in (3, 4)
]
columns = ["pattern", "count", "mean", "z"]
duckdb.from_arrow(pa.concat_tables([found.table.select(columns).slice(0, 3) for found in motifs])).show(max_width=140)

three, four = motifs
four.write("motifs.html")
print("All of four are in motifs.html, with pictures. Who the first feed-forward loops are:")
loops = cell.query(
    f"{three.rows()[0]['pattern']} RETURN a.name AS a, b.name AS b, c.name AS c ORDER BY a, b, c LIMIT 3"
)
duckdb.from_arrow(loops.to_arrow()).show()

# --- 3. the same pattern under each match mode ----------------------------------------------------
CHAIN = "MATCH (a:Kinase)-[:ACTIVATES]-(b:Kinase)-[:ACTIVATES]-(c:Kinase) RETURN count(*)"
print("Chains of three kinases, either way round, under each match mode:")
modes = {
    "repeatable elements": "anything may repeat",
    "different edges": "no relationship twice",
    "different nodes": "no kinase twice",
    "induced": "no kinase twice, and no other relationship among the three",
}
answers = [cell.query(CHAIN, mode=mode).scalar() for mode in modes]
duckdb.from_arrow(pa.table({"mode": list(modes), "meaning": list(modes.values()), "chains": answers})).show()

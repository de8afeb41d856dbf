"""Network motifs, from an edge list to a report: which small patterns of gene regulation are more frequent than chance
would have it, who they are, and what else can be asked of the cell that they are in.

The cell below is made up: receptors switch on kinases, kinases switch on transcription factors, and factors regulate
genes. Feed-forward loops and bi-fans are planted among random edges, as they are found in real regulation.
"""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

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


# --- 1. an edge list in: two columns, a row for each regulation ------------------------------------
regulators, regulated = np.concatenate([master, regulator]), np.concatenate([helper, gene])
csv.write_csv(edges(regulators, regulated), "regulation.csv")
network = gquery.load("regulation.csv")
print(network, "from regulation.csv")

# --- 2. a report out, against networks in which everybody keeps their regulators and genes, shuffled
threes = gquery.motifs(network, 3, random=1000, seed=1)
print("\nHow patterns of three were counted:")
for note in threes.notes:
    print(" ", note)

motifs = gquery.motifs(network, 4, random=1000, seed=1).select(z=2, p=0.05, count=20)
motifs.write("motifs.html")
print(
    f"\n{len(motifs)} patterns of four are more frequent than in 1,000 shuffled networks, with pictures in motifs.html:"
)
duckdb.from_arrow(motifs.table.select(["class", "count", "mean", "z", "p_adjusted"]).slice(0, 4)).show()

# --- 3. who they are: the pattern of a motif finds its instances ----------------------------------
loop = next(row for row in threes.rows() if row["class"] == "000100110")
print(f"Whose genes the feed-forward loops share, most of them first ({loop['pattern']}):")
ends = network.query(
    f"{loop['pattern']} RETURN id(c) AS master, id(b) AS helper, count(*) AS genes ORDER BY genes DESC, master LIMIT 3"
)
duckdb.from_arrow(ends.to_arrow()).show()

# --- 4. the whole cell: labels and types can be part of a motif -----------------------------------
kinds = {"Receptor": receptors, "Kinase": kinases, "Factor": factors, "Gene": genes}
cell = gquery.from_arrow(
    vertices={label: pa.table({"id": ids, "name": [f"{label} {i}" for i in ids]}) for label, ids in kinds.items()},
    edges={
        ("Receptor", "ACTIVATES", "Kinase"): edges(*switch),
        ("Kinase", "ACTIVATES", "Kinase"): edges(*relay),
        ("Kinase", "ACTIVATES", "Factor"): edges(*wake),
        ("Factor", "REGULATES", "Factor"): edges(master, helper),
        ("Factor", "REGULATES", "Gene"): edges(regulator, gene),
    },
)
print(cell)
print("Patterns of three with labels and types, more frequent than in 500 shuffled cells:")
coloured = gquery.motifs(cell, 3, by_label=True, by_type=True, random=500, seed=1).select(z=5, p=0.05, count=20)
duckdb.from_arrow(coloured.table.select(["labels", "count", "mean", "z"]).slice(0, 3)).show(max_width=140)

print("The genes that most signals reach, over two or more steps of kinases or factors:")
reached = cell.query(
    """
    MATCH (:Receptor)-[:ACTIVATES]->(:Kinase)-[:ACTIVATES]->(:Kinase|Factor)-[:ACTIVATES|REGULATES]->(f:Factor),
          (f)-[:REGULATES]->(g:Gene)
    RETURN g.name AS gene, count(*) AS ways
    ORDER BY ways DESC, gene LIMIT 5
    """
)
duckdb.from_arrow(reached.to_arrow()).show()

# --- 5. the same pattern under each match mode ----------------------------------------------------
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

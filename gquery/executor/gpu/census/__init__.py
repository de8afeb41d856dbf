"""The census of motifs on the card: random graphs are made there, and subgraphs counted by code."""

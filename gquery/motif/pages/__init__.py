"""Motifs to look at: the report, its pictures, and the graph with its instances in colour."""

"""Counts of vertices and edges by label and type, and what rows look like from afar: made once, kept with the graph."""

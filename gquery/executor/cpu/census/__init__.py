"""Counting connected subgraphs by class, in a graph and in random ones like it: kernels and what calls them."""

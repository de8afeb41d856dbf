"""Counting connected subgraphs by class: kernels and what calls them."""

"""Counts of labelled and unlabelled patterns in real graphs, next to what research codes need for them."""

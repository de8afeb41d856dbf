"""Kernels that list matches, and what is made of lists."""

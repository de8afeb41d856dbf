"""Expressions over the elements of a graph: scans of columns, and of which elements what fails is asked."""

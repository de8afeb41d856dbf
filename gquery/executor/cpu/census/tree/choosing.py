"""Where counting random graphs along a tree is tried.

A census knows the classes of most codes after the first graphs. Of dense little graphs it does not: each has many codes
that no other had, and to find their classes takes far longer than to count. Along a tree only those classes are looked
for that are asked for. Elsewhere a tree takes some times as long, since it visits every subgraph. So both ways count
the first random graph, and what they take decides.
"""

from __future__ import annotations

from gquery.executor.census.layout import Layout

_CLASSES = 500  # that a graph has at least where a tree is thought of
_GRAPHS = 8  # random ones for each thread: the first is counted twice more, by one of them
_MARK_BITS = 30  # of what is known of a vertex beside a set


def worth_a_trial(layout: Layout, graphs: int, threads: int, classes: int) -> bool:
    """Whether a tree may pay; what is known of the last vertex of a motif has to fit into a mark."""
    fits = (layout.size - 1) * layout.state_bits <= _MARK_BITS
    return fits and classes >= _CLASSES and graphs >= _GRAPHS * threads

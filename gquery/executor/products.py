"""Matches of vertices that are looked up by themselves, and that nothing joins: every vertex of each with every other,
but for those that have to differ.

There is nothing for a backend to do: what filters ask of single vertices is asked in front of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from gquery.executor.expand import PIECE, Matches
from gquery.executor.lowering.masks import masks_of
from gquery.executor.lowering.reading import Reading
from gquery.planner.ir.filters import LookupFilter, PredicateFilter
from gquery.planner.ir.query_plan import QueryPlan


def products(plan: QueryPlan, reading: Reading) -> Iterator[Matches]:
    """All matches of a plan that only looks up, batch by batch."""
    masks = masks_of(plan.graph, plan.filters, reading).vertices
    steps = enumerate(plan.filters)
    by_itself = (LookupFilter, PredicateFilter)
    found = {step.vertex: masks[place].vertices for place, step in steps if isinstance(step, by_itself)}
    count = prod(map(len, found.values()))
    for begin in range(0, count, PIECE):
        reading.control.check()
        left, columns = np.arange(begin, min(count, begin + PIECE)), {}
        size = len(left)
        for vertex, vertices in found.items():
            left, places = np.divmod(left, len(vertices))
            columns[vertex] = vertices[places]
        matches = Matches(size, columns, {})
        for one, other in plan.problem.different:
            matches = matches.chosen(matches.vertices[one] != matches.vertices[other])
        reading.control.found(matches.count)
        yield matches

"""Matches of vertices that are looked up by themselves, and that nothing joins: every vertex of each with every other,
but for those that have to differ.

There is nothing for a backend to do: what filters ask of single vertices is asked in front of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from gquery.executor.expansion.expand import PIECE, Matches
from gquery.executor.lowering.masks import masks_of
from gquery.executor.lowering.reading import Reading
from gquery.planner.ir.filters import LookupFilter, PredicateFilter
from gquery.planner.ir.query_plan import QueryPlan


def looked_up(plan: QueryPlan, reading: Reading) -> dict[int, NDArray[np.int32]]:
    """What a plan that only looks up finds for each query vertex, ascending."""
    masks = masks_of(plan.graph, plan.filters, reading).vertices
    steps = enumerate(plan.filters)
    by_itself = (LookupFilter, PredicateFilter)
    return {step.vertex: masks[place].vertices for place, step in steps if isinstance(step, by_itself)}


def products(plan: QueryPlan, reading: Reading) -> Iterator[Matches]:
    """All matches of a plan that only looks up, batch by batch."""
    found = looked_up(plan, reading)
    count = prod(map(len, found.values()))
    for begin in range(0, count, PIECE):
        reading.control.check()
        size = min(PIECE, count - begin)
        matches = Matches(size, found if count == 1 else _part(found, begin, size), {})
        for one, other in plan.problem.different:
            matches = matches.chosen(matches.vertices[one] != matches.vertices[other])
        reading.control.found(matches.count)
        yield matches


def _part(found: Mapping[int, NDArray[np.int32]], begin: int, size: int) -> dict[int, NDArray[np.int32]]:
    """So many of all combinations, from one on."""
    left, columns = np.arange(begin, begin + size), {}
    for vertex, vertices in found.items():
        left, places = np.divmod(left, len(vertices))
        columns[vertex] = vertices[places]
    return columns

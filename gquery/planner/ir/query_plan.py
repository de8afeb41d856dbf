"""The first half of a plan: what is decided before the data is looked at."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from gquery.planner.ir.expr import Expression
from gquery.planner.ir.filters import Filter
from gquery.planner.ir.problem import Problem
from gquery.planner.ir.query_graph import QueryGraph
from gquery.planner.ir.segments import BoundQuery
from gquery.planner.memo.recent import Recent
from gquery.storage.statistics import Statistics

Advice = tuple[tuple[int, ...], bool]
"""A matching order that was the cheapest, and whether with symmetry broken along it."""

_PROBLEMS = 32  # of one query of which something is kept: a plan may stay for long


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The first half.

    filters: in the order in which they run. implied, costly: how many neighbour counts are left out because every
    vertex passes, because they cost more than they save. kept: the query vertices that are listed, none when the answer
    only counts; the others are summed out. weighted: what is listed comes with the number of matches that it stands
    for. existence: that number does not matter. residual: predicates that the relational tail checks. shape: what other
    queries may have in common with this one; orders: what is known of such, by shape.
    """

    bound: BoundQuery
    filters: tuple[Filter, ...]
    problem: Problem
    kept: frozenset[int]
    weighted: bool
    existence: bool
    residual: tuple[Expression, ...]
    statistics: Statistics
    shape: Hashable
    orders: Recent[Advice]
    implied: int = 0
    costly: int = 0
    # What `solving.py` knows of problems: whatever their cardinalities are, and solutions for some.
    structures: Recent[Any] = field(default_factory=lambda: Recent(_PROBLEMS), compare=False)
    solutions: Recent[Any] = field(default_factory=lambda: Recent(_PROBLEMS), compare=False)

    @property
    def graph(self) -> QueryGraph:
        return self.problem.graph

    @property
    def counting(self) -> bool:
        """Whether only the number of matches is wanted."""
        return bool(self.graph.vertices) and not self.kept

"""Query graphs: the bound form of MATCH. Everything below the binder speaks of vertices and edges by index."""

from __future__ import annotations

from dataclasses import dataclass

from gquery.planner.expr import Expression
from gquery.settings import MatchMode


@dataclass(frozen=True, slots=True)
class QueryVertex:
    """A query vertex u.

    tables: the vertex tables (label sets) that its label expressions admit, ascending.
    predicates: conjuncts of WHERE and of property maps that speak of this vertex alone.
    """

    index: int
    variable: str
    tables: tuple[int, ...]
    predicates: tuple[Expression, ...]
    described: str  # as a user would write it, such as `(a:Person)`


@dataclass(frozen=True, slots=True)
class QueryEdge:
    """A query edge from `source` to `target` (indices of query vertices); when not directed, the order is as written.

    types: the edge types that it admits, sorted. predicates: conjuncts that speak of this edge alone.
    """

    index: int
    variable: str
    source: int
    target: int
    types: tuple[str, ...]
    directed: bool
    predicates: tuple[Expression, ...]
    described: str  # such as `(a)-[:KNOWS]->(b)`

    def other(self, vertex: int) -> int:
        return self.target if vertex == self.source else self.source


@dataclass(frozen=True, slots=True)
class Scope:
    """One MATCH clause: the mode holds among its own vertices and edges (indices), not across clauses."""

    mode: MatchMode
    vertices: tuple[int, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathVariable:
    """A named path: variables of its vertices and edges in turn, one more vertex than edges."""

    name: str
    vertices: tuple[str, ...]
    edges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryGraph:
    """Consecutive MATCH clauses as one graph. `predicates`: the conjuncts that span several elements."""

    vertices: tuple[QueryVertex, ...]
    edges: tuple[QueryEdge, ...]
    scopes: tuple[Scope, ...]
    predicates: tuple[Expression, ...]
    paths: tuple[PathVariable, ...]

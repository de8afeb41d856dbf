"""Query graphs: the bound form of MATCH. Everything below the binder speaks of vertices and edges by index."""

from __future__ import annotations

from typing import Literal

from gquery.lasting.properties import cached_property
from gquery.planner.ir.expr import Expression
from gquery.planner.ir.relations import Binding, Relation
from gquery.records import record
from gquery.settings import MatchMode
from gquery.storage.schema import Direction

PartKind = Literal["optional", "exists", "absent"]


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class QueryEdge:
    """A query edge from `source` to `target` (indices of query vertices); when not directed, the order is as written.

    relation: what it stands for. predicates: conjuncts that speak of this edge alone.
    """

    index: int
    variable: str
    source: int
    target: int
    relation: Relation
    directed: bool
    predicates: tuple[Expression, ...]
    described: str  # such as `(a)-[:KNOWS]->(b)`

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the data edges that it admits, sorted; none for what no data edge is."""
        return self.relation.types

    def other(self, vertex: int) -> int:
        return self.target if vertex == self.source else self.source

    def direction(self, vertex: int) -> Direction:
        """How the edge leads away from one of its ends."""
        return "both" if not self.directed else "out" if vertex == self.source else "in"


@record(frozen=True, slots=True)
class Scope:
    """One MATCH clause or pattern predicate: the mode holds among its own vertices and edges (indices), not across
    clauses. `part`: the part whose patterns these are, None for a required MATCH."""

    mode: MatchMode
    vertices: tuple[int, ...]
    edges: tuple[int, ...]
    part: int | None = None


@record(frozen=True, slots=True)
class Part:
    """A sub-pattern that is not simply required: an OPTIONAL MATCH, or a pattern of which one match must exist or none.

    vertices, edges: indices of the query vertices and edges that only it has, at least one; through the ends of its
    edges it also uses vertices of what it hangs on. predicates: the conjuncts that speak of several elements or of
    earlier ones. within: index of the innermost optional part that it hangs on, None when it hangs on required
    vertices only. When that part has no match, neither has this one. It may use what that part itself hangs on too.
    """

    kind: PartKind
    vertices: tuple[int, ...]
    edges: tuple[int, ...]
    predicates: tuple[Expression, ...]
    within: int | None
    described: str  # such as `NOT (a)-[:KNOWS]->(b)` or `OPTIONAL MATCH (a)<-[:LIKES]-(b:Person)`


@record(frozen=True, slots=True)
class PathVariable:
    """A named path: variables of its vertices and edges in turn, one more vertex than edges."""

    name: str
    vertices: tuple[str, ...]
    edges: tuple[str, ...]


@record(frozen=True)
class QueryGraph:
    """Consecutive MATCH clauses as one graph. `predicates`: the conjuncts that span several elements.

    `parts`, in order of appearance: what is not simply required. Its vertices and edges stand among all others, the
    rest is required; predicates that speak of one of them alone are held there.
    """

    vertices: tuple[QueryVertex, ...]
    edges: tuple[QueryEdge, ...]
    scopes: tuple[Scope, ...]
    predicates: tuple[Expression, ...]
    paths: tuple[PathVariable, ...]
    parts: tuple[Part, ...] = ()

    @cached_property
    def incident(self) -> tuple[tuple[QueryEdge, ...], ...]:
        """The edges at every vertex, by index; a self-loop stands there once."""
        found: list[list[QueryEdge]] = [[] for _ in self.vertices]
        for edge in self.edges:
            found[edge.source].append(edge)
            if edge.target != edge.source:
                found[edge.target].append(edge)
        return tuple(map(tuple, found))

    def is_tree(self) -> bool:
        """Whether the edges join all vertices, and there is not one more than that takes."""
        if len(self.edges) != len(self.vertices) - 1:
            return False
        incident, reached, pending = self.incident, {0}, [0]
        while pending:
            vertex = pending.pop()
            new = {edge.other(vertex) for edge in incident[vertex]} - reached
            reached |= new
            pending += new
        return len(reached) == len(self.vertices)

    def bindings(self) -> tuple[QueryEdge, ...]:
        """The edges that lead from a seed to the vertices that it binds."""
        return tuple(edge for edge in self.edges if isinstance(edge.relation, Binding))

    def part_of(self, vertex: int) -> int | None:
        """The part that has the vertex as its own, None when it is required."""
        return next((number for number, part in enumerate(self.parts) if vertex in part.vertices), None)

    def is_existence(self, edge: QueryEdge) -> bool:
        """Whether only the existence of a data edge matters: it is all that a part without vertices says."""
        return any(edge.index in part.edges and not part.vertices for part in self.parts)

    def binds(self, edge: int, vertex: int) -> bool:
        """Whether every match of the vertex takes a match of the edge: not so when the vertex may be matched although
        the part that has the edge is not."""
        if not self.parts:
            return True
        number = next((number for number, part in enumerate(self.parts) if edge in part.edges), None)
        while number is not None and self.parts[number].kind == "exists":
            if vertex in self.parts[number].vertices:
                return True
            number = self.parts[number].within
        own = self.part_of(vertex)
        while own is not None and own != number and self.parts[own].kind == "exists":
            own = self.parts[own].within
        return own == number

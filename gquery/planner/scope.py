"""What names mean while a query is bound: the graph elements in scope and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from gquery.errors import BindError, Span, did_you_mean
from gquery.grammar import ast
from gquery.planner.expr import Expression
from gquery.planner.query_graph import PathVariable, Scope


@dataclass(slots=True)
class VertexDraft:
    """A query vertex while clauses are still adding to it."""

    variable: str
    named: bool
    labels: list[ast.LabelExpression] = field(default_factory=list)
    tables: tuple[int, ...] = ()
    predicates: list[Expression] = field(default_factory=list)


@dataclass(slots=True)
class EdgeDraft:
    """A query edge while clauses are still adding to it. `same_as`: the edge variable that it must equal."""

    variable: str
    named: bool
    source: int
    target: int
    types: tuple[str, ...]
    directed: bool
    predicates: list[Expression] = field(default_factory=list)


@dataclass(slots=True)
class Names:
    """Everything bound so far, by variable. Vertices and edges are in the order of their indices."""

    vertices: dict[str, VertexDraft] = field(default_factory=dict)
    edges: dict[str, EdgeDraft] = field(default_factory=dict)
    paths: dict[str, PathVariable] = field(default_factory=dict)
    scopes: list[Scope] = field(default_factory=list)

    def vertex_index(self, variable: str) -> int:
        return list(self.vertices).index(variable)

    def edge_index(self, variable: str) -> int:
        return list(self.edges).index(variable)

    def named(self) -> list[str]:
        """The variables that a user gave a name, elements first."""
        vertices = [name for name, vertex in self.vertices.items() if vertex.named]
        edges = [name for name, edge in self.edges.items() if edge.named]
        return vertices + edges + list(self.paths)

    def unknown(self, name: str, span: Span) -> BindError:
        """The error for a variable that nothing binds."""
        known = self.named()
        listing = "in scope are " + ", ".join(f"`{variable}`" for variable in known) if known else None
        return BindError(f"variable `{name}` is not defined", span=span, hint=did_you_mean(name, known) or listing)

    def expect_free(self, name: str, span: Span, wanted: str) -> None:
        """Raises when the name already stands for something that is not `wanted`."""
        for kind, taken in (("node", self.vertices), ("relationship", self.edges), ("path", self.paths)):
            if name in taken and kind != wanted:
                raise BindError(f"`{name}` is a {kind} already, it cannot be a {wanted} too", span=span)

"""Binds the patterns of CREATE and MERGE: which of their elements are there, and what the others are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gquery.errors import BindError, Span
from gquery.grammar import ast
from gquery.planner.binding.updates.computed import Computed, Known
from gquery.planner.ir.expr import Kind
from gquery.planner.ir.query_graph import PathVariable
from gquery.planner.ir.updates import OWN, Create, Given, MadeEdge, MadeVertex

Element = ast.NodePattern | ast.RelationshipPattern


@dataclass(slots=True)
class MadePatterns:
    """The patterns of a clause. variables, properties: of all elements, by path, nodes before relationships."""

    word: str
    patterns: Sequence[ast.PathPattern]
    computed: Computed
    variables: list[str] = field(default_factory=list)
    properties: list[tuple[Given, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for element in self._elements():
            if self.word == "MERGE" and isinstance(element.properties, ast.Parameter):
                hint = "name the properties that tell whether it is there, such as {id: $map.id}"
                raise BindError("MERGE cannot take a parameter as a map", span=element.properties.span, hint=hint)
            kind = "node" if isinstance(element, ast.NodePattern) else "relationship"
            unnamed = f"{OWN}{kind} {len(self.variables)}"  # which messages call a node
            self.variables.append(unnamed if element.variable is None else element.variable.name)
            self.properties.append(self.computed.entries(element.properties))

    def _elements(self) -> Iterator[Element]:
        for path in self.patterns:
            yield from path.nodes
            yield from path.relationships

    def create(self, known: Known) -> Create:
        """What is made for every row. Raises BindError for what is bound already and what cannot be made."""
        self.computed.expect_storable(tuple(given for each in self.properties for given in each), known)
        binder = _Binder(self.word, known)
        place = 0
        for path in self.patterns:
            size = len(path.nodes) + len(path.relationships)
            binder.path(path, self.variables[place : place + size], self.properties[place : place + size])
            place += size
        return Create(tuple(binder.vertices.values()), tuple(binder.edges.values()), tuple(binder.paths))

    def matched(self) -> ast.Match:
        """OPTIONAL MATCH of the one pattern, with the values that are computed."""
        (path,) = self.patterns
        count = len(path.nodes)
        nodes = [ast.NodePattern(ast.Variable(name, span=node.span), node.labels, None, None, span=node.span)
                 for node, name in zip(path.nodes, self.variables, strict=False)]  # fmt: skip
        links = [
            ast.RelationshipPattern(
                ast.Variable(name, span=link.span), link.types, link.direction, None, None, span=link.span
            )
            for link, name in zip(path.relationships, self.variables[count:], strict=True)
        ]
        whole = ast.PathPattern(path.variable, tuple(nodes), tuple(links), span=path.span)
        where: ast.Expression | None = None
        for name, properties in zip(self.variables, self.properties, strict=True):
            for given in properties:
                test = _equal(name, given, path.span)
                where = test if where is None else ast.Binary("and", where, test, span=path.span)
        return ast.Match((whole,), where, None, True, span=path.span)


def _equal(variable: str, given: Given, span: Span) -> ast.Binary:
    held = ast.Property(ast.Variable(variable, span=span), given.key, key_span=span, span=span)
    return ast.Binary("=", held, ast.Variable(given.column, span=span), span=span)


@dataclass(slots=True)
class _Binder:
    word: str
    known: Known
    vertices: dict[str, MadeVertex] = field(default_factory=dict)
    edges: dict[str, MadeEdge] = field(default_factory=dict)
    paths: list[PathVariable] = field(default_factory=list)

    def path(self, path: ast.PathPattern, names: Sequence[str], properties: Sequence[tuple[Given, ...]]) -> None:
        if path.shortest is not None or path.mode is not None:
            raise BindError(f"{self.word} has no search for paths", span=path.span)
        count = len(path.nodes)
        for node, name, given in zip(path.nodes, names, properties, strict=False):
            self._vertex(node, name, given, alone=not path.relationships)
        for place, (link, name) in enumerate(zip(path.relationships, names[count:], strict=True)):
            self._edge(link, name, (names[place], names[place + 1]), properties[count + place])
        if path.variable is not None:
            self._expect_new(path.variable, "path")
            self.paths.append(PathVariable(path.variable.name, tuple(names[:count]), tuple(names[count:])))

    def _vertex(self, node: ast.NodePattern, name: str, properties: tuple[Given, ...], alone: bool) -> None:
        if node.where is not None:
            raise BindError(f"{self.word} takes no conditions", span=node.where.span)
        there = name in self.known or name in self.vertices
        if there and (alone or node.labels is not None or node.properties is not None):
            hint = "a node that is there stands by its name alone at an end of a relationship"
            raise BindError(f"`{name}` is bound already, {self.word} cannot make it", span=node.span, hint=hint)
        if there:
            self._expect_node(name, node.span)
            return
        if node.variable is not None:
            self._expect_new(node.variable, "node")
        labels = tuple(dict.fromkeys(self._labels(node.labels)))
        self.vertices[name] = MadeVertex(name, labels, properties)

    def _expect_node(self, name: str, span: Span) -> None:
        known = self.known.get(name)
        if known is not None and known.type.kind not in (Kind.NODE, Kind.NULL):
            raise BindError(f"`{name}` is a value of type {known.type}, it cannot be a node", span=span)

    def _labels(self, labels: ast.LabelExpression | None) -> Iterator[str]:
        match labels:
            case None:
                return
            case ast.LabelName(name=name):
                yield name
            case ast.LabelAnd(left=left, right=right):
                yield from self._labels(left)
                yield from self._labels(right)
            case _:
                raise BindError(f"{self.word} takes labels by name, such as :A:B", span=labels.span)

    def _edge(
        self, link: ast.RelationshipPattern, name: str, ends: tuple[str, str], properties: tuple[Given, ...]
    ) -> None:
        if link.length is not None or link.inside is not None:
            raise BindError(f"{self.word} cannot make relationships of variable length", span=link.span)
        if link.where is not None:
            raise BindError(f"{self.word} takes no conditions", span=link.where.span)
        if link.variable is not None:
            self._expect_new(link.variable, "relationship")
        if not isinstance(link.types, ast.LabelName):
            hint = "such as -[:KNOWS]->"
            raise BindError(f"a relationship that {self.word} makes has one type", span=link.span, hint=hint)
        if link.direction == "both" and self.word == "CREATE":
            raise BindError("a relationship that CREATE makes has one direction", span=link.span)
        source, target = ends[::-1] if link.direction == "in" else ends
        self.edges[name] = MadeEdge(name, link.types.name, source, target, properties)

    def _expect_new(self, variable: ast.Variable, kind: str) -> None:
        name = variable.name
        if name.startswith(" "):
            raise BindError("a variable cannot begin with a blank", span=variable.span)
        own = name in self.vertices or name in self.edges or any(path.name == name for path in self.paths)
        if own or name in self.known:
            raise BindError(f"{kind} `{name}` is bound already, {self.word} cannot make it", span=variable.span)

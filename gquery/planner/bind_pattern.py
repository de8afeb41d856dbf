"""Binds the patterns of MATCH: first every element is declared, then the conditions on them are bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gquery.errors import BindError, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner import functions
from gquery.planner.bind_expression import ExpressionBinder, expect_boolean
from gquery.planner.expr import (
    NODE,
    RELATIONSHIP,
    STRING,
    Attribute,
    Call,
    Column,
    Constant,
    Expression,
    Kind,
    Type,
    conjuncts,
)
from gquery.planner.labels import tables_of, text_of, types_of
from gquery.planner.query_graph import PathVariable, Scope
from gquery.planner.scope import EdgeDraft, Names, VertexDraft
from gquery.settings import MatchMode
from gquery.storage.schema import Schema


class PatternBinder:
    """Declares the elements of MATCH clauses, in order, then binds their conditions."""

    def __init__(self, schema: Schema, parameters: Mapping[str, object], mode: MatchMode) -> None:
        self.schema = schema
        self.parameters = parameters
        self.mode = mode
        self.names = Names()
        self._variables: dict[int, str] = {}  # by identity: equal patterns may stand for several elements
        self._same_edges: list[tuple[str, str, Span]] = []

    def declare(self, clause: ast.Match) -> None:
        """Declares what a clause binds; `conditions_of` may be called once all clauses are declared."""
        if clause.optional:
            raise UnsupportedError("gquery has no OPTIONAL MATCH", span=clause.span)
        vertices: dict[int, None] = {}
        edges: list[int] = []
        own_edges: set[str] = set()
        for pattern in clause.patterns:
            chain = [self._declare_vertex(node) for node in pattern.nodes]
            vertices.update(dict.fromkeys(chain))
            links = []
            for position, relationship in enumerate(pattern.relationships):
                link = self._declare_edge(relationship, chain[position], chain[position + 1], own_edges)
                links.append(link)
                edges.append(self.names.edge_index(link))
            if pattern.variable is not None:
                self._declare_path(pattern.variable, chain, links)
        self.names.scopes.append(Scope(clause.mode or self.mode, tuple(vertices), tuple(edges)))
        for conjunct in _label_tests(clause.where):
            subject = conjunct.subject
            if isinstance(subject, ast.Variable) and subject.name in self.names.vertices:
                self.names.vertices[subject.name].labels.append(conjunct.labels)

    def resolve_tables(self) -> None:
        """Settles which vertex tables each vertex may come from, once every label expression is known."""
        for vertex in self.names.vertices.values():
            vertex.tables = tables_of(self.schema, vertex.labels)

    def conditions_of(self, clause: ast.Match) -> Iterator[Expression]:
        """The conjuncts of a clause: property maps, conditions inside the patterns, WHERE."""
        binder = ExpressionBinder(self.schema, self.names, self.parameters, aggregates=False, place="WHERE")
        for pattern in clause.patterns:
            elements: list[ast.NodePattern | ast.RelationshipPattern] = [*pattern.nodes, *pattern.relationships]
            for element in elements:
                variable = self._variables[id(element)]
                yield from self._property_conditions(binder, element, variable)
                if element.where is not None:
                    yield from conjuncts(expect_boolean(binder.bind(element.where), "WHERE"))
        if clause.where is not None:
            yield from conjuncts(expect_boolean(binder.bind(clause.where), "WHERE"))

    @property
    def same_edges(self) -> Iterator[Expression]:
        """Conditions for relationship variables that a later clause uses again."""
        for first, second, span in self._same_edges:
            pair = tuple(Column(RELATIONSHIP, span, name, Attribute.ELEMENT) for name in (first, second))
            yield Call(functions.resolve("=", (RELATIONSHIP, RELATIONSHIP), span), span, "=", pair)

    # --- declarations ------------------------------------------------------------------------------------------

    def _declare_vertex(self, node: ast.NodePattern) -> int:
        if node.variable is None:
            variable, named = f" v{len(self.names.vertices)}", False
        else:
            variable, named = node.variable.name, True
            self.names.expect_free(variable, node.variable.span, "node")
        vertex = self.names.vertices.setdefault(variable, VertexDraft(variable, named))
        if node.labels is not None:
            vertex.labels.append(node.labels)
        self._variables[id(node)] = variable
        return self.names.vertex_index(variable)

    def _declare_edge(self, relationship: ast.RelationshipPattern, left: int, right: int, own: set[str]) -> str:
        variable, named = f" e{len(self.names.edges)}", False
        if relationship.variable is not None:
            name, span = relationship.variable.name, relationship.variable.span
            self.names.expect_free(name, span, "relationship")
            if name in own:
                raise BindError(
                    f"relationship `{name}` stands twice in one MATCH",
                    span=span,
                    hint="give the second one a name of its own",
                )
            own.add(name)
            if name in self.names.edges:
                self._same_edges.append((name, variable, span))
            else:
                variable, named = name, True
        source, target = (right, left) if relationship.direction == "in" else (left, right)
        self.names.edges[variable] = EdgeDraft(
            variable, named, source, target, types_of(self.schema, relationship.types), relationship.direction != "both"
        )
        self._variables[id(relationship)] = variable
        return variable

    def _declare_path(self, variable: ast.Variable, chain: list[int], links: list[str]) -> None:
        name = variable.name
        if name in self.names.paths:
            raise BindError(f"path `{name}` is defined twice", span=variable.span)
        self.names.expect_free(name, variable.span, "path")
        vertices = list(self.names.vertices)
        self.names.paths[name] = PathVariable(name, tuple(vertices[index] for index in chain), tuple(links))

    def _property_conditions(
        self, binder: ExpressionBinder, element: ast.NodePattern | ast.RelationshipPattern, variable: str
    ) -> Iterator[Expression]:
        """`{key: value}` says `variable.key = value`; a map parameter says so for each of its keys."""
        kind = NODE if isinstance(element, ast.NodePattern) else RELATIONSHIP
        subject = Column(kind, element.span, variable, Attribute.ELEMENT)
        for key, key_span, value in _entries(binder, element.properties):
            wanted = ast.Property(
                subject=ast.Variable(name=variable, span=element.span), key=key, key_span=key_span, span=key_span
            )
            column = binder.element_property(subject, wanted)
            yield Call(functions.resolve("=", (column.type, value.type), key_span), key_span, "=", (column, value))


def _entries(
    binder: ExpressionBinder, properties: ast.MapLiteral | ast.Parameter | None
) -> Iterator[tuple[str, Span, Expression]]:
    match properties:
        case ast.MapLiteral(entries=entries):
            for entry in entries:
                yield entry.key, entry.span, binder.bind(entry.value)
        case ast.Parameter(name=name, span=span):
            parameter = binder.parameter(name, span)
            if parameter.type.kind is not Kind.MAP:
                raise BindError(f"parameter `${name}` must be a map here, not {parameter.type}", span=span)
            for key, field in parameter.type.fields:
                yield key, span, _field(parameter, key, field, span)


def _field(parameter: Expression, key: str, type: Type, span: Span) -> Expression:
    return Call(type, span, "field", (parameter, Constant(STRING, span, key)))


def _label_tests(where: ast.Expression | None) -> Iterator[ast.LabelTest]:
    """The label tests that every match must pass: they narrow the tables before anything else is bound."""
    match where:
        case ast.LabelTest():
            yield where
        case ast.Binary(operator="and", left=left, right=right):
            yield from _label_tests(left)
            yield from _label_tests(right)


def described_vertex(vertex: VertexDraft) -> str:
    """The vertex as a user would write it."""
    labels = "".join(f":{text_of(expression)}" for expression in dict.fromkeys(vertex.labels))
    return f"({vertex.variable if vertex.named else ''}{labels})"


def described_edge(edge: EdgeDraft, names: Names, all_types: tuple[str, ...]) -> str:
    """The edge between its ends' names, such as `(a)-[:KNOWS]->(b)`."""
    vertices = list(names.vertices.values())
    ends = [vertices[index].variable.strip() for index in (edge.source, edge.target)]
    types = "" if edge.types == tuple(sorted(all_types)) and len(all_types) > 1 else ":" + "|".join(edge.types)
    inside = (edge.variable if edge.named else "") + types
    return f"({ends[0]})-[{inside}]-{'>' if edge.directed else ''}({ends[1]})"

"""From the syntax tree to the bound query: every name resolved, every type known."""

from __future__ import annotations

from collections.abc import Mapping

from gquery.errors import Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.conditions import bind_conditions
from gquery.planner.binding.describe import described_edge, described_vertex
from gquery.planner.binding.expressions import ExpressionBinder
from gquery.planner.binding.labels import tables_of
from gquery.planner.binding.patterns import PatternBinder
from gquery.planner.binding.projections import bind_projection
from gquery.planner.binding.scope import Names
from gquery.planner.ir.expr import Expression, is_volatile, variables
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import Types
from gquery.planner.ir.segments import BoundQuery
from gquery.settings import MatchMode
from gquery.stopping import Check, unchecked
from gquery.storage.schema import Schema

MAX_ELEMENTS = 1_000  # nodes of one query, and relationships: most tests of a pattern are between two of them


def bind(
    tree: ast.Query, schema: Schema, parameters: Mapping[str, object], mode: MatchMode, check: Check = unchecked
) -> BoundQuery:
    """Binds a query against a graph's schema. `mode` is the session's, for clauses that name none. `check` is called
    for every clause, condition and expression.

    Raises BindError for anything unknown or ill-typed and UnsupportedError for what the engine lacks.
    """
    matches, last = _split(tree)
    patterns = PatternBinder(schema, mode)
    for clause in matches:
        check()
        patterns.declare(clause)
    names = patterns.names
    _expect_few(names, tree.span)
    for vertex in names.vertices.values():
        vertex.tables = tables_of(schema, vertex.labels)
    spanning: list[Expression] = []
    for block in patterns.blocks:
        rest = spanning if block.part is None else names.parts[block.part].predicates
        for condition in bind_conditions(block, names, schema, parameters, check):
            _place(condition, block.part, names, rest)
    binder = ExpressionBinder(schema, names, parameters, aggregates=True, place="RETURN", check=check)
    projection = bind_projection(last, binder)
    return BoundQuery(_query_graph(names, spanning, schema), projection, tuple(dict.fromkeys(names.notices)))


def _expect_few(names: Names, span: Span) -> None:
    for count, what in ((len(names.vertices), "nodes"), (len(names.edges), "relationships")):
        if count > MAX_ELEMENTS:
            raise UnsupportedError(
                f"the query has {count:,} {what}, gquery matches at most {MAX_ELEMENTS:,} at once",
                span=span,
                hint="ask for parts of the pattern in queries of their own",
            )


def _split(tree: ast.Query) -> tuple[list[ast.Match], ast.Return]:
    *before, last = tree.clauses
    matches = [clause for clause in before if isinstance(clause, ast.Match)]
    if len(matches) < len(before) or not isinstance(last, ast.Return):
        raise UnsupportedError("a query is MATCH clauses followed by one RETURN", span=tree.span)
    return matches, last


def _place(condition: Expression, part: int | None, names: Names, rest: list[Expression]) -> None:
    """Adds the condition to the one element that it speaks of, when that belongs to the same part, else to `rest`."""
    spoken_of = variables(condition)
    (variable,) = spoken_of if len(spoken_of) == 1 else (None,)
    if variable is None or variable in names.paths or names.owners(variable) != {part} or is_volatile(condition):
        rest.append(condition)
    elif variable in names.vertices:
        names.vertices[variable].predicates.append(condition)
    else:
        names.edges[variable].predicates.append(condition)


def _query_graph(names: Names, predicates: list[Expression], schema: Schema) -> QueryGraph:
    vertices = tuple(
        QueryVertex(index, vertex.variable, vertex.tables, tuple(vertex.predicates), described_vertex(vertex))
        for index, vertex in enumerate(names.vertices.values())
    )
    all_types = tuple(sorted(schema.types))
    edges = tuple(
        QueryEdge(
            index,
            edge.variable,
            edge.source,
            edge.target,
            Types(edge.types),
            edge.directed,
            tuple(edge.predicates),
            described_edge(edge, vertices, all_types),
        )
        for index, edge in enumerate(names.edges.values())
    )
    paths, parts = tuple(names.paths.values()), _parts(names)
    return QueryGraph(vertices, edges, tuple(names.scopes), tuple(predicates), paths, parts)


def _parts(names: Names) -> tuple[Part, ...]:
    return tuple(
        Part(
            part.kind,
            tuple(place for place, vertex in enumerate(names.vertices.values()) if vertex.part == index),
            tuple(place for place, edge in enumerate(names.edges.values()) if edge.part == index),
            tuple(part.predicates),
            part.within,
            part.described,
        )
        for index, part in enumerate(names.parts)
    )

"""From the syntax tree to the bound query: every name resolved, every type known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gquery.errors import BindError, UnsupportedError
from gquery.grammar import ast
from gquery.planner.bind_expression import ExpressionBinder
from gquery.planner.bind_pattern import PatternBinder, described_edge, described_vertex
from gquery.planner.bind_projection import bind_projection
from gquery.planner.expr import Call, Expression, variables, walk
from gquery.planner.logical import BoundQuery
from gquery.planner.query_graph import QueryEdge, QueryGraph, QueryVertex
from gquery.planner.scope import Names
from gquery.settings import MatchMode
from gquery.storage.schema import Schema


def bind(tree: ast.Query, schema: Schema, parameters: Mapping[str, object], mode: MatchMode) -> BoundQuery:
    """Binds a query against a graph's schema. `mode` is the session's, for clauses that name none.

    Raises BindError for anything unknown or ill-typed and UnsupportedError for what the engine lacks.
    """
    matches, last = _split(tree)
    patterns = PatternBinder(schema, parameters, mode)
    visible: list[frozenset[str]] = []
    for clause in matches:
        patterns.declare(clause)
        visible.append(
            frozenset(patterns.names.vertices) | frozenset(patterns.names.edges) | frozenset(patterns.names.paths)
        )
    patterns.resolve_tables()
    conditions = list(patterns.same_edges)
    for clause, names in zip(matches, visible, strict=True):
        for condition in patterns.conditions_of(clause):
            _check_visible(condition, names, patterns.names)
            conditions.append(condition)
    graph = _query_graph(patterns.names, conditions, schema)
    binder = ExpressionBinder(schema, patterns.names, parameters, aggregates=True, place="RETURN")
    return BoundQuery(graph, bind_projection(last, binder))


def _split(tree: ast.Query) -> tuple[list[ast.Match], ast.Return]:
    *before, last = tree.clauses
    matches = [clause for clause in before if isinstance(clause, ast.Match)]
    if len(matches) < len(before) or not isinstance(last, ast.Return):
        raise UnsupportedError("a query is MATCH clauses followed by one RETURN", span=tree.span)
    return matches, last


def _check_visible(condition: Expression, names: frozenset[str], all_names: Names) -> None:
    for node in walk(condition):
        variable = getattr(node, "variable", None)
        if variable is not None and variable not in names and not variable.startswith(" "):
            raise BindError(
                f"variable `{variable}` is not defined yet in this clause",
                span=node.span,
                hint="a MATCH below defines it; move the condition there",
            )


def _query_graph(names: Names, conditions: Iterable[Expression], schema: Schema) -> QueryGraph:
    spanning: list[Expression] = []
    for condition in conditions:
        spoken_of = variables(condition)
        (variable,) = spoken_of if len(spoken_of) == 1 else (None,)
        if variable is None or variable in names.paths or _is_volatile(condition):
            spanning.append(condition)
        elif variable in names.vertices:
            names.vertices[variable].predicates.append(condition)
        else:
            names.edges[variable].predicates.append(condition)
    vertices = tuple(
        QueryVertex(index, vertex.variable, vertex.tables, tuple(vertex.predicates), described_vertex(vertex))
        for index, vertex in enumerate(names.vertices.values())
    )
    edges = tuple(
        QueryEdge(
            index,
            edge.variable,
            edge.source,
            edge.target,
            edge.types,
            edge.directed,
            tuple(edge.predicates),
            described_edge(edge, names, schema.types),
        )
        for index, edge in enumerate(names.edges.values())
    )
    return QueryGraph(vertices, edges, tuple(names.scopes), tuple(spanning), tuple(names.paths.values()))


def _is_volatile(condition: Expression) -> bool:
    """Whether the condition gives another answer each time, so that it must be asked once for each match."""
    return any(isinstance(node, Call) and node.function == "rand" for node in walk(condition))

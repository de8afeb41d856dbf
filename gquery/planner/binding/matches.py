"""Binds a segment of MATCH clauses: from declared patterns to a query graph, and what it takes of the rows before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gquery.errors import BindError, Notice, Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.conditions import bind_conditions
from gquery.planner.binding.describe import described_edge, described_vertex
from gquery.planner.binding.expressions.binder import ExpressionBinder, expect_boolean, no_pattern
from gquery.planner.binding.hints import Hints
from gquery.planner.binding.labels import expect_known, tables_of
from gquery.planner.binding.lengths.searches import Search
from gquery.planner.binding.mentions import binds
from gquery.planner.binding.patterns import PatternBinder
from gquery.planner.binding.scope import Names, VertexDraft
from gquery.planner.binding.subqueries.pattern_condition import PatternTest
from gquery.planner.ir.expr import Expression, Kind, Type, is_volatile, variables
from gquery.planner.ir.query_graph import Part, QueryEdge, QueryGraph, QueryVertex
from gquery.planner.ir.relations import Types
from gquery.planner.ir.segments import Exists, Match, NotExists, OptionalMatch, Paths, Variable
from gquery.planner.ir.types.common_type import list_of
from gquery.records import replace
from gquery.settings import MatchMode
from gquery.stopping import Check
from gquery.storage.schema import Schema

_NOWHERE = Span(0, 0)
MAX_ELEMENTS = 1_000  # nodes of one query graph, and relationships: most tests of a pattern are between two of them


@dataclass(slots=True)
class MatchBinder:
    """Binds segments of MATCH clauses. `mode` is for clauses that name none; `strict` says whether names that the graph
    does not have are errors, but for those that are `written`; `notices` collects what has to be said."""

    schema: Schema
    parameters: Mapping[str, object]
    mode: MatchMode
    strict: bool
    check: Check
    notices: list[Notice]
    written: frozenset[str] = frozenset()
    hints: Hints = field(default_factory=Hints)

    def bind(self, clauses: tuple[ast.Match, ...], incoming: tuple[Variable, ...]) -> Iterator[Match]:
        """MATCH clauses with those OPTIONAL ones of which only the number of matches is asked, or one OPTIONAL MATCH
        alone; then what is asked of patterns with other variables than theirs."""
        patterns = self._patterns(incoming)
        optional = all(clause.optional for clause in clauses)
        foreign = {variable.name for variable in incoming if not optional or _may_not_be_node(variable)}
        if foreign:
            foreign.difference_update(*map(binds, clauses))
        for clause in clauses:
            self.check()
            patterns.declare(clause, clause.optional and not optional, foreign)
        if optional and patterns.deferred:
            raise _foreign(patterns.deferred[0][0].span)
        match = self._bound(patterns, OptionalMatch if optional else Match, clauses[0].span.to(clauses[-1].span))
        lead = self.hints.lead(clauses, patterns.names)
        yield replace(match, lead=lead) if lead else match
        for test, mode, visible in patterns.deferred:
            known = tuple(variable for variable in match.output if variable.name in visible)
            yield replace(self.bind_test(test, known, mode), input=match.output, output=match.output)

    def bind_test(self, test: PatternTest, incoming: tuple[Variable, ...], mode: MatchMode | None = None) -> Match:
        """A pattern as a condition on rows."""
        patterns = self._patterns(incoming)
        patterns.declare_test(test, mode or self.mode)
        bound = self._bound(patterns, Exists if test.kind == "exists" else NotExists, test.span)
        return replace(bound, output=incoming)

    def bind_search(self, search: Search, incoming: tuple[Variable, ...]) -> Paths:
        """Paths between two nodes, of which the rows bind one or both."""
        length, span = search.length, search.span
        endless = search.mode == "any" and not search.differ
        if endless and length.most is None and search.shortest is None:
            raise BindError(
                "there is no end of walks of any length",
                span=length.span,
                hint="give the length an upper end, or write TRAIL, ACYCLIC, SIMPLE or ANY SHORTEST before the pattern",
            )
        self.check()
        patterns = self._patterns(incoming)
        patterns.declare(ast.Match((search.hop,), None, "repeatable elements", False, span=span), False)
        if patterns.deferred or patterns.names.parts:
            raise no_pattern(span)
        match = _asked_of_edge(self._bound(patterns, Match, span))
        if match.predicates or match.graph.predicates:
            raise _of_something_else((*match.predicates, *match.graph.predicates)[0])
        (edge,) = match.graph.edges
        ends = (edge.source, edge.target)
        name = {vertex.index: vertex.variable for vertex in match.graph.vertices}
        begin = search.hop.nodes[0].variable
        source = next(end for end in ends if begin is not None and name[end] == begin.name)
        new = tuple(each for each in match.output if each not in incoming and each.name != edge.variable)
        way = Variable(search.way.name, self._path_type(edge))
        return Paths(
            replace(match.graph, paths=()) if match.graph.paths else match.graph,
            match.bound,
            (),
            incoming,
            (*incoming, *new, way),
            source=source,
            target=edge.other(source),
            direction=search.hop.relationships[0].direction,
            least=length.least,
            most=length.most,
            mode=search.mode,
            differ=search.differ,
            apart=search.apart,
            shortest="all" if search.shortest == "all" else int(search.shortest) if search.shortest else None,
            way=search.way.name,
            backwards=search.backwards,
            before=search.before.name,
            following=self._of_hops(search.following, search, edge, incoming),
            of_source=self._of_hops(search.of_begin, search, edge, incoming),
        )

    def _of_hops(
        self, conditions: tuple[ast.Expression, ...], search: Search, edge: QueryEdge, incoming: tuple[Variable, ...]
    ) -> tuple[Expression, ...]:
        """Conditions on an edge of a path, the one before it, and where it begins."""
        one, before = (Variable(name, self._edge_type(edge)) for name in (edge.variable, search.before.name))
        names = Names({each.name: each for each in (*incoming, one, before)}, self.strict, self.written)
        binder = ExpressionBinder(
            self.schema, names, self.parameters, aggregates=False, place="WHERE", check=self.check
        )
        bound = tuple(expect_boolean(binder.bind(each), "WHERE") for each in conditions)
        alone = next((each for each in bound if one.name not in variables(each)), None)
        if alone is not None:
            raise _of_something_else(alone)
        return bound

    def _path_type(self, edge: QueryEdge) -> Type:
        """Of paths of such edges, over vertices of any label."""
        nodes = Type(Kind.NODE, tables=tuple(range(len(self.schema.vertex_tables))))
        return Type(Kind.PATH, fields=(("nodes", list_of(nodes)), ("relationships", list_of(self._edge_type(edge)))))

    def _edge_type(self, edge: QueryEdge) -> Type:
        tables = (place for place, table in enumerate(self.schema.edge_tables) if table.type in edge.types)
        return Type(Kind.RELATIONSHIP, tables=tuple(tables))

    def _patterns(self, incoming: tuple[Variable, ...]) -> PatternBinder:
        names = Names({variable.name: variable for variable in incoming}, self.strict, self.written)
        return PatternBinder(self.schema, names, self.mode)

    def _bound(self, patterns: PatternBinder, kind: type[Match], span: Span) -> Match:
        names = patterns.names
        _expect_few(names, span)
        for vertex in names.vertices.values():
            vertex.tables = self._tables(vertex, names)
        spanning: list[Expression] = []
        joining: list[Expression] = []
        for block in patterns.blocks:
            rest = spanning if block.part is None else names.parts[block.part].predicates
            for condition in bind_conditions(block, names, self.schema, self.parameters, self.check):
                if all(map(names.is_own, variables(condition))):
                    _place(condition, block.part, names, rest)
                elif block.part is None:
                    joining.append(condition)
                else:
                    raise _foreign(condition.span)
        self.notices.extend(names.notices)
        bound = tuple(vertex.variable for vertex in names.vertices.values() if vertex.known is not None)
        graph = _query_graph(names, spanning, self.schema)
        output = self._output(names, nullable=kind is OptionalMatch)
        return kind(graph, bound, tuple(joining), tuple(names.incoming.values()), output)

    def _tables(self, vertex: VertexDraft, names: Names) -> tuple[int, ...]:
        for expression in vertex.labels:
            expect_known(expression, Kind.NODE, self.schema, names)
        tables = tables_of(self.schema, vertex.labels)
        known = vertex.known
        return tables if known is None else tuple(table for table in tables if table in known.type.tables)

    def _output(self, names: Names, nullable: bool) -> tuple[Variable, ...]:
        binder = ExpressionBinder(
            self.schema, names, self.parameters, aggregates=False, place="MATCH", check=self.check
        )
        new = [name for name in names.named() if name not in names.incoming]
        found = [Variable(name, binder.variable(name, _NOWHERE).type, nullable) for name in new]
        return (*names.incoming.values(), *found)


def _expect_few(names: Names, span: Span) -> None:
    for count, what in ((len(names.vertices), "nodes"), (len(names.edges), "relationships")):
        if count > MAX_ELEMENTS:
            raise UnsupportedError(
                f"the query has {count:,} {what}, gquery matches at most {MAX_ELEMENTS:,} at once",
                span=span,
                hint="ask for parts of the pattern in queries of their own",
            )


def _asked_of_edge(match: Match) -> Match:
    """With what speaks of nothing asked of its one edge, so that an empty path passes whatever it says."""
    said = tuple(each for each in match.graph.predicates if not variables(each) and not is_volatile(each))
    (edge,) = match.graph.edges
    edge = replace(edge, predicates=(*edge.predicates, *said))
    rest = tuple(each for each in match.graph.predicates if each not in said)
    return replace(match, graph=replace(match.graph, edges=(edge,), predicates=rest))


def _of_something_else(condition: Expression) -> UnsupportedError:
    return UnsupportedError(
        "gquery has no condition on relationships of any length that speaks of something else too",
        span=condition.span,
        hint="give the length small bounds, such as *1..3",
    )


def _may_not_be_node(variable: Variable) -> bool:
    return variable.nullable or variable.type.kind is not Kind.NODE


def _foreign(span: Span) -> UnsupportedError:
    return UnsupportedError(
        "gquery has no pattern as a condition of OPTIONAL MATCH that uses variables of earlier clauses only",
        span=span,
        hint="use these variables in the pattern of the OPTIONAL MATCH too",
    )


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


def _query_graph(names: Names, predicates: Iterable[Expression], schema: Schema) -> QueryGraph:
    vertices = tuple(
        QueryVertex(index, vertex.variable, vertex.tables, tuple(vertex.predicates), described_vertex(vertex))
        for index, vertex in enumerate(names.vertices.values())
    )
    all_types = tuple(sorted(schema.types))
    relations = {types: Types(types) for types in dict.fromkeys(edge.types for edge in names.edges.values())}
    edges = tuple(
        QueryEdge(
            index,
            edge.variable,
            edge.source,
            edge.target,
            relations[edge.types],
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

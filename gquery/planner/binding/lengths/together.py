"""What a match mode asks of pieces and paths together; inside a piece, and along a path, it is kept already."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from gquery.errors import UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.labels import types_of
from gquery.planner.binding.lengths.fragments import Pieces
from gquery.planner.binding.lengths.induced import no_edge_more
from gquery.planner.binding.lengths.written import binary, call, listed, negated
from gquery.storage.schema import Schema


def conditions_between(pieces: Pieces, schema: Schema) -> list[ast.Expression]:
    """Conditions that hold where the mode does."""
    match pieces.mode:
        case "different edges":
            return list(_different_edges(pieces, schema))
        case "different nodes":
            return list(_different_nodes(pieces))
        case "induced":
            return [*_different_nodes(pieces), no_edge_more(pieces)]
    return []


def _different_edges(pieces: Pieces, schema: Schema) -> Iterator[ast.Expression]:
    def meet(one: ast.RelationshipPattern, other: ast.RelationshipPattern) -> bool:
        return not set(types_of(schema, one.types)).isdisjoint(types_of(schema, other.types))

    for piece, other_piece in combinations(pieces.pieces, 2):
        for one, edge in piece.relationships:
            for other, other_edge in other_piece.relationships:
                if meet(one, other):
                    yield binary("<>", edge, other_edge)
    for way in pieces.ways:
        for one, edge in pieces.relationships:
            if any(meet(each, one) for each, _ in way.edges):
                yield negated(binary("in", edge, call("relationships", way.way)))
    for way, later in combinations(pieces.ways, 2):
        if any(meet(one, other) for one, _ in way.edges for other, _ in later.edges):
            yield _disjoint(call("relationships", way.way), call("relationships", later.way), None)


def _different_nodes(pieces: Pieces) -> Iterator[ast.Expression]:
    _expect_no_zero(pieces)
    joined = {frozenset(pair) for way in pieces.ways for pair in combinations(way.nodes, 2)}
    for piece, other_piece in combinations(pieces.pieces, 2):
        for one in piece.nodes:
            for other in other_piece.nodes:
                if {one.name, other.name} not in joined:
                    yield binary("<>", one, other)
    for way in pieces.ways:
        for piece in pieces.pieces:
            for one in piece.nodes:
                if one.name not in way.nodes:
                    yield negated(binary("in", one, call("nodes", way.way)))
    for way, later in combinations(pieces.ways, 2):
        span = later.way.span
        shared = [ast.Variable(name, span=span) for name in sorted({*way.nodes} & {*later.nodes})]
        yield _disjoint(call("nodes", way.way), call("nodes", later.way), listed(shared, span))


def _expect_no_zero(pieces: Pieces) -> None:
    """Raises where a length of zero may make nodes one that are told apart otherwise."""
    for way in pieces.ways:
        within = any(len({*way.nodes} & piece.names) > 1 for piece in pieces.pieces)
        if way.may_be_empty and (within or len(pieces.ways) > 1):
            raise UnsupportedError(
                "gquery has no DIFFERENT NODES or INDUCED over several lengths of which one is of any number from 0 on",
                span=way.way.span,
                hint="give all of them small bounds, such as *0..3",
            )


def _disjoint(one: ast.Expression, other: ast.Expression, shared: ast.ListLiteral | None) -> ast.Expression:
    """Lists that have nothing in common, but for some."""
    item = ast.Variable("each", span=other.span)
    common = binary("in", item, other)
    if shared is not None and shared.items:
        common = binary("and", common, negated(binary("in", item, shared)))
    return ast.Comprehension("none", item, one, common, None, span=other.span)

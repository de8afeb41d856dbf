"""What a match mode asks of pieces and paths together; inside a piece, and along a path, it is kept already."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from gquery.errors import Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.labels import types_of
from gquery.planner.binding.lengths.fragments import Link, Piece, Pieces
from gquery.storage.schema import Schema


def conditions_between(pieces: Pieces, schema: Schema) -> list[ast.Expression]:
    """Conditions that hold where the mode does. Raises UnsupportedError for INDUCED."""
    match pieces.mode:
        case "different edges":
            return list(_different_edges(pieces, schema))
        case "different nodes":
            return list(_different_nodes(pieces))
        case "induced":
            raise UnsupportedError(
                "gquery has no INDUCED match of shortest paths or of relationships of any length",
                span=pieces.links[0].relationship.span,
                hint="give the length small bounds, such as *1..3",
            )
    return []


def _different_edges(pieces: Pieces, schema: Schema) -> Iterator[ast.Expression]:
    def meet(one: ast.RelationshipPattern, other: ast.RelationshipPattern) -> bool:
        return not set(types_of(schema, one.types)).isdisjoint(types_of(schema, other.types))

    fixed = [
        (piece, relationship)
        for piece in pieces.pieces
        for fragment in piece.fragments
        for relationship in fragment.relationships
    ]
    for (piece, one), (other_piece, other) in combinations(fixed, 2):
        if piece is not other_piece and meet(one, other):
            yield _binary("<>", _variable(one), _variable(other))
    for link in pieces.links:
        for _, one in fixed:
            if meet(link.relationship, one):
                yield _not(_binary("in", _variable(one), _relationships(link)))
    for link, later in combinations(pieces.links, 2):
        if meet(link.relationship, later.relationship):
            yield _disjoint(_relationships(link), _relationships(later), None)


def _different_nodes(pieces: Pieces) -> Iterator[ast.Expression]:
    _expect_no_zero(pieces)
    joined = {frozenset(link.ends) for link in pieces.links}
    for piece, other_piece in combinations(pieces.pieces, 2):
        for one in _nodes(piece):
            for other in _nodes(other_piece):
                if {one.name, other.name} not in joined:
                    yield _binary("<>", one, other)
    for link in pieces.links:
        for piece in pieces.pieces:
            for one in _nodes(piece):
                if one.name not in link.ends:
                    yield _not(_binary("in", one, _of("nodes", link)))
    for link, later in combinations(pieces.links, 2):
        span = later.relationship.span
        shared = [ast.Variable(name, span=span) for name in sorted({*link.ends} & {*later.ends})]
        yield _disjoint(_of("nodes", link), _of("nodes", later), ast.ListLiteral(tuple(shared), span=span))


def _expect_no_zero(pieces: Pieces) -> None:
    """Raises where a length of zero may make nodes one that are told apart otherwise."""
    for link in pieces.links:
        within = any(set(link.ends) <= piece.names for piece in pieces.pieces) and link.left != link.right
        if link.length.least == 0 and (within or len(pieces.links) > 1):
            raise UnsupportedError(
                "gquery has no DIFFERENT NODES over several lengths of which one is of any number from 0 on",
                span=link.length.span,
                hint="give all of them small bounds, such as *0..3",
            )


def _nodes(piece: Piece) -> list[ast.Variable]:
    """The nodes of a piece, each once."""
    found = (node.variable for fragment in piece.fragments for node in fragment.nodes)
    return list({each.name: each for each in found if each is not None}.values())


def _disjoint(one: ast.Expression, other: ast.Expression, shared: ast.ListLiteral | None) -> ast.Expression:
    """Lists that have nothing in common, but for some."""
    span = other.span
    item = ast.Variable("each", span=span)
    common = _binary("in", item, other)
    if shared is not None and shared.items:
        common = _binary("and", common, _not(_binary("in", item, shared)))
    return ast.Comprehension("none", item, one, common, None, span=span)


def _variable(relationship: ast.RelationshipPattern) -> ast.Variable:
    assert relationship.variable is not None
    return relationship.variable


def _relationships(link: Link) -> ast.FunctionCall:
    return _of("relationships", link)


def _of(function: str, link: Link) -> ast.FunctionCall:
    span = link.relationship.span
    return ast.FunctionCall(function, (link.way,), False, False, Span(span.start, span.end), span=span)


def _binary(operator: str, left: ast.Expression, right: ast.Expression) -> ast.Binary:
    return ast.Binary(operator, left, right, span=right.span)


def _not(condition: ast.Expression) -> ast.Unary:
    return ast.Unary("not", condition, span=condition.span)

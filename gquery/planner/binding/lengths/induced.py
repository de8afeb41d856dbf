"""What INDUCED asks of pieces and paths together: where the pattern has no edge, the graph has none."""

from __future__ import annotations

from collections.abc import Iterator

from gquery.grammar import ast
from gquery.planner.binding.lengths.fragments import Pieces
from gquery.planner.binding.lengths.written import binary, call, chained, listed, negated


def no_edge_more(pieces: Pieces) -> ast.Expression:
    """No edge leads from one node of the clause to another, or back to it, but where the pattern has one:
    `NOT EXISTS { UNWIND nodes AS one MATCH (one)-->(other) WHERE other IN nodes AND NOT [one, other] IN joined }`."""
    span = pieces.ways[0].way.span
    one, other = pieces.unused.named("node", span), pieces.unused.named("node", span)
    fixed = {node.name: node for piece in pieces.pieces for node in piece.nodes}
    nodes = chained("+", [listed(fixed.values(), span), *(call("nodes", each.way) for each in pieces.ways)])
    joined = chained("+", [listed(_fixed(pieces), span), *_found(pieces)])
    edge = ast.RelationshipPattern(None, None, "out", None, None, span=span)
    ends = tuple(ast.NodePattern(name, None, None, None, span=span) for name in (one, other))
    path = ast.PathPattern(None, ends, (edge,), span=span)
    where = binary("and", binary("in", other, nodes), negated(binary("in", listed((one, other), span), joined)))
    match = ast.Match((path,), where, "repeatable elements", False, span=span)
    query = ast.Query((ast.Unwind(nodes, one, span=span), match), None, span=span)
    return negated(ast.Subquery("exists", query, span=span))


def _fixed(pieces: Pieces) -> Iterator[ast.Expression]:
    """The pairs of nodes between which a piece has an edge."""
    for relationship, edge in pieces.relationships:
        yield from _pairs(relationship, edge)


def _found(pieces: Pieces) -> Iterator[ast.Expression]:
    """Lists of those between which a path has one."""
    for way in pieces.ways:
        for relationship, edges in way.edges:
            each = pieces.unused.named("relationship", relationship.span)
            for pair in _pairs(relationship, each):
                yield ast.Comprehension("list", each, edges, None, pair, span=relationship.span)


def _pairs(relationship: ast.RelationshipPattern, edge: ast.Expression) -> Iterator[ast.ListLiteral]:
    """Begin and end of an edge; one without a direction stands for both."""
    ends = [call(function, edge) for function in ("startnode", "endnode")]
    yield listed(ends, relationship.span)
    if relationship.direction == "both":
        yield listed(ends[::-1], relationship.span)

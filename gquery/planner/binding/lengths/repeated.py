"""A repeated pattern of one relationship, as a relationship of variable length.

What it asks of the nodes at its ends is asked of where each relationship begins and ends: `((a:P)-[r]->(b))+` is
`-[r* WHERE startNode(r):P]->`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gquery.errors import Span, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.lengths.names import Unused, substituted
from gquery.planner.binding.mentions import below, names_in
from gquery.planner.binding.subqueries.pattern_condition import all_of
from gquery.records import replace

_ENDS: Mapping[ast.Direction, tuple[str, str]] = {"out": ("startnode", "endnode"), "in": ("endnode", "startnode")}
_PATTERNS = (ast.Subquery, ast.Exists, ast.PatternPredicate)


def is_relationship(relationship: ast.RelationshipPattern) -> bool:
    """Whether it is one of variable length, or a repeated pattern that can be: of one relationship, with a direction if
    something is asked of the nodes at its ends."""
    inside = relationship.inside
    if inside is None:
        return True
    if len(inside.relationships) > 1 or _ends_are_one(inside):
        return False
    directed = inside.relationships[0].direction in _ENDS
    return not _are_ends_asked(inside, relationship.where) or (directed and _is_plain(inside, relationship.where))


def as_relationship(repeated: ast.RelationshipPattern, unused: Unused) -> ast.RelationshipPattern:
    """Raises UnsupportedError where it cannot be one."""
    inside = repeated.inside
    if inside is None:
        return repeated
    if not is_relationship(repeated):
        raise UnsupportedError(
            "gquery repeats a pattern any number of times only where it is one relationship, with a direction if "
            "something is asked of its nodes",
            span=repeated.span,
            hint="give it small bounds, such as {1,3}",
        )
    (first, last), one = (inside.nodes[0], inside.nodes[-1]), inside.relationships[0]
    conditions = [each for each in (one.where, repeated.where) if each is not None]
    if _are_ends_asked(inside, repeated.where):
        variable = one.variable or unused.named("relationship", one.span)
        one = replace(one, variable=variable)
        ends = [_end(function, variable, repeated.span) for function in _ENDS[one.direction]]
        known = {node.variable.name: end for node, end in zip((first, last), ends, strict=True) if node.variable}
        if isinstance(one.properties, ast.MapLiteral):
            conditions += of_entries(one.properties, variable)
            one = replace(one, properties=None)
        for node, end in zip((first, last), ends, strict=True):
            conditions += _asked_of(node, end)
        conditions = [substituted(each, known) for each in conditions]
    return replace(one, where=all_of(conditions), length=repeated.length)


def _ends_are_one(inside: ast.PathPattern) -> bool:
    first, last = inside.nodes[0].variable, inside.nodes[-1].variable
    return first is not None and last is not None and first.name == last.name


def _are_ends_asked(inside: ast.PathPattern, where: ast.Expression | None) -> bool:
    """Whether something is asked of the nodes at the ends of a pattern of one relationship."""
    ends = inside.nodes[0], inside.nodes[-1]
    names = {each.variable.name for each in ends if each.variable is not None}
    one = inside.relationships[0]
    conditions = [each for each in (one.where, one.properties, where) if each is not None]
    return any(map(_is_asked, ends)) or any(names.intersection(names_in(each)) for each in conditions)


def _is_asked(node: ast.NodePattern) -> bool:
    return any(part is not None for part in (node.labels, node.properties, node.where))


def _is_plain(inside: ast.PathPattern, where: ast.Expression | None) -> bool:
    """Whether no condition has patterns of its own, and no properties are a parameter's."""
    parts: tuple[ast.NodePattern | ast.RelationshipPattern, ...] = (*inside.nodes, *inside.relationships)
    conditions = [each for each in (where, *(part.where for part in parts)) if each is not None]
    patterns = any(isinstance(part, _PATTERNS) for each in conditions for part in below(each))
    return not patterns and not any(isinstance(part.properties, ast.Parameter) for part in parts)


def _end(function: str, relationship: ast.Variable, span: Span) -> ast.FunctionCall:
    return ast.FunctionCall(function, (relationship,), False, False, span, span=span)


def _asked_of(node: ast.NodePattern, end: ast.FunctionCall) -> Iterator[ast.Expression]:
    """What a node says, of the end of a relationship."""
    if node.labels is not None:
        yield ast.LabelTest(end, node.labels, span=node.labels.span)
    if isinstance(node.properties, ast.MapLiteral):
        yield from of_entries(node.properties, end)
    if node.where is not None:
        yield node.where


def of_entries(properties: ast.MapLiteral, element: ast.Expression) -> Iterator[ast.Expression]:
    """Property values as conditions."""
    for each in properties.entries:
        own = ast.Property(element, each.key, each.span, span=each.span)
        yield ast.Binary("=", own, each.value, span=each.span)

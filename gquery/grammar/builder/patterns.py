"""From reductions to patterns."""

from __future__ import annotations

from gquery.errors import ParseError, UnsupportedError
from gquery.grammar import ast
from gquery.grammar.builder.children import Children, nodes, span_of
from gquery.grammar.chains import balanced
from gquery.grammar.literals import read_integer, read_name
from gquery.grammar.scanner import Token
from gquery.records import replace


class PatternRules:
    """The rules of patterns and labels."""

    def pattern(self, children: Children) -> ast.PathPattern:
        variable, _equals, shortest, mode, path = children
        if variable is None and shortest is None and mode is None:
            plain: ast.PathPattern = path
            return plain
        whole: ast.PathPattern = replace(
            path,
            variable=variable,
            shortest=None if shortest is None else shortest[0],
            mode=None if mode is None else mode[0],
            span=span_of([*children[:2], *(shortest or [None])[1:], *(mode or [None])[1:], path]),
        )
        return whole

    def shortest_path(self, children: Children) -> ast.PathPattern:
        variable, _equals, word, _open, path, _close = children
        if len(path.relationships) != 1:
            message = f"{word.text}() takes a pattern of two nodes and one relationship"
            raise ParseError(message, span=path.span, hint="write ANY SHORTEST or ALL SHORTEST before a longer one")
        shortest: int | str = 1 if word.type == "SHORTESTPATH" else "all"
        found: ast.PathPattern = replace(path, variable=variable, shortest=shortest, span=span_of(children))
        return found

    def shortest(self, children: Children) -> Children:
        """The number of paths, or `all`; then the words."""
        words = [child for child in children if child is not None]
        if words[0].type == "ALL":
            return ["all", *words]
        number = next((word for word in words if word.type == "INTEGER"), None)
        count = 1 if number is None else read_integer(number.text, 1, number.span)
        if number is not None and count < 1:
            raise ParseError("there is at least one shortest path", span=number.span)
        return [count, *words]

    def path_mode(self, children: Children) -> Children:
        words = [child for child in children if child is not None]
        return [words[0].text.lower(), *words]

    def path(self, children: Children) -> ast.PathPattern:
        """With a node wherever none is written."""
        nodes: list[ast.NodePattern] = []
        relationships: list[ast.RelationshipPattern] = []
        for part in children:
            if isinstance(part, ast.NodePattern):
                nodes.append(part)
                continue
            if len(nodes) == len(relationships):
                nodes.append(ast.NodePattern(None, None, None, None, span=part.span))
            relationships.append(part)
        if len(nodes) == len(relationships):
            nodes.append(ast.NodePattern(None, None, None, None, span=children[-1].span))
        return ast.PathPattern(None, tuple(nodes), tuple(relationships), span=span_of(children))

    def repeated_path(self, children: Children) -> ast.RelationshipPattern:
        _open, inside, where, _close, length = children
        if not inside.relationships:
            raise ParseError("a repeated pattern has a relationship", span=inside.span)
        nested = next((each for each in inside.relationships if each.length is not None), None)
        if nested is not None:
            raise UnsupportedError(
                "gquery has no relationships of variable length inside a repeated pattern", span=nested.span
            )
        return ast.RelationshipPattern(None, None, "both", None, where, length, inside, span=span_of(children))

    def details(self, children: Children) -> Children:
        return children

    def node(self, children: Children) -> ast.NodePattern:
        variable, labels, properties, where = children[1]
        return ast.NodePattern(
            variable=variable, labels=labels, properties=properties, where=where, span=span_of(children)
        )

    def relationship(self, children: Children) -> ast.RelationshipPattern:
        left, _dash, _open, details, _close, _second_dash, right, quantifier = children
        variable, types, length, properties, where = details or (None, None, None, None, None)
        if length is not None and quantifier is not None:
            raise ParseError("this relationship has a length already", span=quantifier.span)
        direction: ast.Direction = "both"
        if (left is None) != (right is None):
            direction = "out" if left is None else "in"
        return ast.RelationshipPattern(
            variable=variable,
            types=types,
            direction=direction,
            properties=properties,
            where=where,
            length=length or quantifier,
            span=span_of(children),
        )

    def exact_length(self, children: Children) -> ast.Length:
        """`*`, `*2` or `{2}`."""
        number = _integer(children[1])
        return ast.Length(least=1 if number is None else number, most=number, span=span_of(children))

    def length(self, children: Children) -> ast.Length:
        """`*1..3` or `{1,3}`; where the lower end is left out, Cypher's is 1 and GQL's 0."""
        opening, least, _between, most, *_ = children
        lowest = 1 if opening.text == "*" else 0
        start, end = _integer(least), _integer(most)
        if opening.text == "{" and end is not None and end < (start or 0):
            raise ParseError("the least number of repetitions is more than the greatest", span=span_of(children))
        return ast.Length(least=lowest if start is None else start, most=end, span=span_of(children))

    def repeated(self, children: Children) -> ast.Length:
        return ast.Length(least=1 if children[0].text == "+" else 0, most=None, span=span_of(children))

    def label_expression(self, children: Children) -> ast.LabelExpression:
        operands: list[ast.LabelExpression] = nodes(children)
        return balanced(operands, _label_or)

    def label_factor(self, children: Children) -> ast.LabelExpression:
        operands: list[ast.LabelExpression] = nodes(children)
        return balanced(operands, _label_and)

    def label_name(self, children: Children) -> ast.LabelName:
        token, span = children[0], children[0].span
        return ast.LabelName(name=read_name(token.text, span), span=span)

    def label_wildcard(self, children: Children) -> ast.LabelWildcard:
        return ast.LabelWildcard(span=span_of(children))

    def label_not(self, children: Children) -> ast.LabelNot:
        return ast.LabelNot(operand=children[1], span=span_of(children))


def _label_or(left: ast.LabelExpression, right: ast.LabelExpression) -> ast.LabelExpression:
    return ast.LabelOr(left=left, right=right, span=left.span.to(right.span))


def _label_and(left: ast.LabelExpression, right: ast.LabelExpression) -> ast.LabelExpression:
    return ast.LabelAnd(left=left, right=right, span=left.span.to(right.span))


def _integer(token: Token | None) -> int | None:
    return None if token is None else read_integer(token.text, 1, token.span)

"""From the parser's reductions to the syntax tree: one method for each rule or alias of `gquery.lark`.

A method gets the rule's children in order, every token among them and None for what was left out, so that the first
and the last child give the span. It returns a node, or for a part without a node of its own a list, tuple or string.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from gquery.errors import ParseError, Span, UnsupportedError
from gquery.grammar import ast
from gquery.grammar.chains import balanced
from gquery.grammar.literals import read_float, read_integer, read_name, read_string, shown
from gquery.grammar.scanner import NAME, Token, new_span

Children = list[Any]

_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}


class Builder:
    """The methods are called by the parser, by name; the object has no state."""

    # --- clauses ---

    def query(self, children: Children) -> ast.Query:
        command, query, _semicolon = children
        whole: ast.Query = replace(query, command=_word(command), span=_span(children))
        return whole

    def union(self, children: Children) -> ast.Query:
        first, *more = children
        if not more:
            single: ast.Query = first
            return single
        alls = {word is not None and word.type == "ALL" for word in more[1::3]}
        if len(alls) > 1:
            hint = "put one of them into CALL { ... }"
            raise ParseError("UNION and UNION ALL cannot be mixed", span=_span(children), hint=hint)
        span = _span(children)
        union = ast.Union(branches=tuple(_nodes(children)), distinct=alls == {False}, span=span)
        return ast.Query(clauses=(union,), command=None, span=span)

    def single(self, children: Children) -> ast.Query:
        return ast.Query(clauses=tuple(_nodes(children)), command=None, span=_span(children))

    block_single = single

    def single_procedure(self, children: Children) -> ast.Query:
        """A procedure alone, whose columns are the answer."""
        span = _span(children)
        everything = ast.Return(
            items=(), star=True, distinct=False, order_by=(), skip=None, limit=None, span=span
        )  # fmt: skip
        return ast.Query(clauses=(*_nodes(children), everything), command=None, span=span)

    def block_patterns(self, children: Children) -> ast.Query:
        patterns, where = children
        span = _span([*patterns, where])
        match = ast.Match(patterns=tuple(patterns), where=where, mode=None, optional=False, span=span)
        return ast.Query(clauses=(match,), command=None, span=span)

    def match(self, children: Children) -> ast.Match:
        optional, _match, mode, patterns, *hints, where = children
        span = _span(children)
        return ast.Match(tuple(patterns), where, mode, optional is not None, tuple(hints), span=span)

    def order_hint(self, children: Children) -> ast.OrderHint:
        return ast.OrderHint(tuple(_nodes(children)), span=_span(children))

    def device_hint(self, children: Children) -> ast.DeviceHint:
        return ast.DeviceHint(read_name(children[-1].text, children[-1].span), span=_span(children))

    def different_edges(self, children: Children) -> ast.MatchMode:
        return "different edges"

    def different_nodes(self, children: Children) -> ast.MatchMode:
        return "different nodes"

    def repeatable_elements(self, children: Children) -> ast.MatchMode:
        return "repeatable elements"

    def induced(self, children: Children) -> ast.MatchMode:
        return "induced"

    def unwind(self, children: Children) -> ast.Unwind:
        _unwind, items, _as, variable = children
        return ast.Unwind(items=items, variable=variable, span=_span(children))

    def filter(self, children: Children) -> ast.With:
        return _with_all(children, (), children[-1])

    def let(self, children: Children) -> ast.With:
        return _with_all(children, tuple(_nodes(children)), None)

    def definition(self, children: Children) -> ast.ProjectionItem:
        variable, _equals, expression = children
        return ast.ProjectionItem(expression=expression, alias=variable.name, text="", span=_span(children))

    def call_clause(self, children: Children) -> ast.Call:
        optional, _call, imports, _open, query, _close = children
        star = imports == "*"
        return ast.Call(
            query=query,
            imports=None if star or imports is None else tuple(imports),
            star=star,
            optional=optional is not None,
            span=_span(children),
        )

    def imports(self, children: Children) -> list[ast.Variable] | str:
        return "*" if any(isinstance(each, Token) and each.text == "*" for each in children) else _nodes(children)

    def procedure(self, children: Children) -> ast.Procedure:
        _call, name, _open, _close, _yield, columns, where = children
        found = None if columns is None else tuple(columns)
        return ast.Procedure(name.text, found, where, span=_span(children))

    def yielded_column(self, children: Children) -> ast.ProjectionItem:
        column, _as, alias = children
        named = column.name if alias is None else alias.name
        return ast.ProjectionItem(expression=column, alias=named, text="", span=_span(children))

    def return_clause(self, children: Children) -> ast.Return:
        return ast.Return(**_projecting(children), span=_span(children))

    def with_clause(self, children: Children) -> ast.With:
        *projecting, where = children
        return ast.With(**_projecting(projecting), where=where, span=_span(children))

    def projection(self, children: Children) -> Children:
        return children

    def item(self, children: Children) -> ast.ProjectionItem:
        expression, _as, alias = children
        name = None if alias is None else read_name(alias.text, alias.span)
        return ast.ProjectionItem(expression=expression, alias=name, text="", span=_span(children))

    def sort_item(self, children: Children) -> ast.SortItem:
        expression, order = children
        descending = order is not None and order.type in ("DESC", "DESCENDING")
        return ast.SortItem(expression=expression, descending=descending, span=_span(children))

    def listing(self, children: Children) -> list[ast.Node]:
        return _nodes(children)

    def argument(self, children: Children) -> ast.Node:
        node: ast.Node = children[-1]
        return node

    # --- patterns ---

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
            span=_span([*children[:2], *(shortest or [None])[1:], *(mode or [None])[1:], path]),
        )
        return whole

    def shortest_path(self, children: Children) -> ast.PathPattern:
        variable, _equals, word, _open, path, _close = children
        if len(path.relationships) != 1:
            message = f"{word.text}() takes a pattern of two nodes and one relationship"
            raise ParseError(message, span=path.span, hint="write ANY SHORTEST or ALL SHORTEST before a longer one")
        shortest: int | str = 1 if word.type == "SHORTESTPATH" else "all"
        found: ast.PathPattern = replace(path, variable=variable, shortest=shortest, span=_span(children))
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
        return ast.PathPattern(None, tuple(nodes), tuple(relationships), span=_span(children))

    def repeated_path(self, children: Children) -> ast.RelationshipPattern:
        _open, inside, where, _close, length = children
        if not inside.relationships:
            raise ParseError("a repeated pattern has a relationship", span=inside.span)
        nested = next((each for each in inside.relationships if each.length is not None), None)
        if nested is not None:
            message = "gquery has no relationships of variable length inside a repeated pattern"
            raise UnsupportedError(message, span=nested.span)
        return ast.RelationshipPattern(None, None, "both", None, where, length, inside, span=_span(children))

    def details(self, children: Children) -> Children:
        return children

    def node(self, children: Children) -> ast.NodePattern:
        variable, labels, properties, where = children[1]
        return ast.NodePattern(
            variable=variable, labels=labels, properties=properties, where=where, span=_span(children)
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
            span=_span(children),
        )

    def exact_length(self, children: Children) -> ast.Length:
        """`*`, `*2` or `{2}`."""
        number = _integer(children[1])
        return ast.Length(least=1 if number is None else number, most=number, span=_span(children))

    def length(self, children: Children) -> ast.Length:
        """`*1..3` or `{1,3}`; where the lower end is left out, Cypher's is 1 and GQL's 0."""
        opening, least, _between, most, *_ = children
        lowest = 1 if opening.text == "*" else 0
        start, end = _integer(least), _integer(most)
        return ast.Length(least=lowest if start is None else start, most=end, span=_span(children))

    def repeated(self, children: Children) -> ast.Length:
        return ast.Length(least=1 if children[0].text == "+" else 0, most=None, span=_span(children))

    def label_expression(self, children: Children) -> ast.LabelExpression:
        operands: list[ast.LabelExpression] = _nodes(children)
        return balanced(operands, _label_or)

    def label_factor(self, children: Children) -> ast.LabelExpression:
        operands: list[ast.LabelExpression] = _nodes(children)
        return balanced(operands, _label_and)

    def label_name(self, children: Children) -> ast.LabelName:
        token, span = children[0], children[0].span
        return ast.LabelName(name=read_name(token.text, span), span=span)

    def label_wildcard(self, children: Children) -> ast.LabelWildcard:
        return ast.LabelWildcard(span=_span(children))

    def label_not(self, children: Children) -> ast.LabelNot:
        return ast.LabelNot(operand=children[1], span=_span(children))

    # --- expressions ---

    def expression(self, children: Children) -> ast.Expression:
        operands: list[ast.Expression] = children[::2]
        return balanced(operands, partial(_binary, children[1].text.lower()))

    exclusive = conjunction = expression

    def comparison(self, children: Children) -> ast.Expression:
        operands, operators = children[::2], children[1::2]
        pairs: list[ast.Expression] = [
            _binary(operator.text, left, right)
            for operator, left, right in zip(operators, operands, operands[1:], strict=False)
        ]
        return balanced(pairs, partial(_binary, "and"))

    def unary(self, children: Children) -> ast.Unary:
        operator, operand = children
        return ast.Unary(operator=operator.text.lower(), operand=operand, span=_span(children))

    def binary(self, children: Children) -> ast.Binary:
        left, *words, right = children
        return _binary(" ".join(word.text.lower() for word in words), left, right)

    def null_test(self, children: Children) -> ast.Unary:
        operand, _is, negated, _null = children
        operator = "is null" if negated is None else "is not null"
        return ast.Unary(operator=operator, operand=operand, span=_span(children))

    def label_test(self, children: Children) -> ast.LabelTest:
        subject, _colon, labels = children
        return ast.LabelTest(subject=subject, labels=labels, span=_span(children))

    def pattern_predicate(self, children: Children) -> ast.PatternPredicate:
        return ast.PatternPredicate(pattern=children[1], span=children[1].span)

    def subquery(self, children: Children) -> ast.Exists | ast.Subquery:
        kind, _open, query, _close = children
        match query.clauses:
            case (ast.Match(optional=False) as only,) if kind.type == "EXISTS":
                return ast.Exists(match=only, span=_span(children))
        return ast.Subquery(kind=kind.text.lower(), query=query, span=_span(children))

    def pattern_comprehension(self, children: Children) -> ast.Subquery:
        _open, pattern, where, _bar, expression, _close = children
        span = _span(children)
        match = ast.Match(patterns=(pattern,), where=where, mode=None, optional=False, span=pattern.span)
        item = ast.ProjectionItem(expression=expression, alias=None, text="", span=expression.span)
        clause = ast.Return(
            items=(item,), star=False, distinct=False, order_by=(), skip=None, limit=None, span=expression.span
        )
        return ast.Subquery(
            kind="collect", query=ast.Query(clauses=(match, clause), command=None, span=span), span=span
        )

    def group(self, children: Children) -> ast.Node:
        node: ast.Node = children[1]
        return replace(node, span=_span(children))

    def property_access(self, children: Children) -> ast.Property:
        subject, _dot, key = children
        name = read_name(key.text, key.span)
        return ast.Property(subject=subject, key=name, key_span=key.span, span=_span(children))

    def index_access(self, children: Children) -> ast.Index:
        return ast.Index(subject=children[0], index=children[2], span=_span(children))

    def slice_access(self, children: Children) -> ast.Slice:
        start, _dots, end = children[2]
        return ast.Slice(subject=children[0], start=start, end=end, span=_span(children))

    def bounds(self, children: Children) -> Children:
        return children

    def call(self, children: Children) -> ast.FunctionCall:
        name, _open, distinct, arguments, _close = children
        return ast.FunctionCall(
            name=name.text,
            arguments=tuple(arguments or ()),
            distinct=distinct is not None,
            star=False,
            name_span=name.span,
            span=_span(children),
        )

    def star_call(self, children: Children) -> ast.FunctionCall:
        name, _open, star, _close = children
        if name.text != "count":
            raise ParseError(f"{shown(name.text + '(*)')} has no meaning", span=star.span, hint="only count takes `*`")
        return ast.FunctionCall(
            name=name.text, arguments=(), distinct=False, star=True, name_span=name.span, span=_span(children)
        )

    def case(self, children: Children) -> ast.Case:
        _case, subject, *branches, default, _end = children
        return ast.Case(subject=subject, branches=tuple(branches), default=default, span=_span(children))

    def branch(self, children: Children) -> ast.CaseBranch:
        _when, condition, _then, value = children
        return ast.CaseBranch(condition=condition, value=value, span=_span(children))

    def comprehension(self, children: Children) -> ast.Comprehension:
        _open, variable, _in, items, where, _bar, result, _close = children
        return ast.Comprehension(
            form="list", variable=variable, items=items, where=where, result=result, span=_span(children)
        )

    def quantifier(self, children: Children) -> ast.Comprehension:
        form, _open, variable, _in, items, where, _close = children
        return ast.Comprehension(
            form=form.text, variable=variable, items=items, where=where, result=None, span=_span(children)
        )

    def reduce(self, children: Children) -> ast.Reduce:
        _reduce, _open, accumulator, _equals, initial, _comma, variable, _in, items, _bar, step, _close = children
        return ast.Reduce(
            accumulator=accumulator, initial=initial, variable=variable, items=items, step=step, span=_span(children)
        )

    def map_projection(self, children: Children) -> ast.MapProjection:
        name, _open, projected, _close = children
        subject = self.variable([name])
        parts = [part for part in projected or () if not isinstance(part, Token) or part.type == NAME]
        star = any(isinstance(part, Token) and part.text == "*" for part in projected or ())
        entries = tuple(_projected(part, subject) for part in parts)
        return ast.MapProjection(subject=subject, entries=entries, star=star, span=_span(children))

    def projected(self, children: Children) -> Children:
        return children

    def list_literal(self, children: Children) -> ast.ListLiteral:
        return ast.ListLiteral(items=tuple(children[1] or ()), span=_span(children))

    def map_literal(self, children: Children) -> ast.MapLiteral:
        return ast.MapLiteral(entries=tuple(children[1] or ()), span=_span(children))

    def entry(self, children: Children) -> ast.MapEntry:
        key, _colon, value = children
        return ast.MapEntry(key=read_name(key.text, key.span), value=value, span=_span(children))

    def variable(self, children: Children) -> ast.Variable:
        token, span = children[0], children[0].span
        return ast.Variable(name=read_name(token.text, span), span=span)

    def parameter(self, children: Children) -> ast.Parameter:
        token = children[0]
        return ast.Parameter(name=read_name(token.text[1:], token.span), span=token.span)

    def string(self, children: Children) -> ast.Literal:
        token = children[0]
        return ast.Literal(value=read_string(token.text, token.span), span=token.span)

    def constant(self, children: Children) -> ast.Literal:
        return ast.Literal(value=_CONSTANTS[children[0].type], span=children[0].span)

    def number(self, children: Children) -> ast.Literal:
        token = children[-1]
        sign = -1 if len(children) == 2 else 1
        read = read_integer if token.type == "INTEGER" else read_float
        span = _span(children)
        return ast.Literal(value=read(token.text, sign, span), span=span)


def _binary(operator: str, left: ast.Expression, right: ast.Expression) -> ast.Binary:
    return ast.Binary(operator=operator, left=left, right=right, span=left.span.to(right.span))


def _label_or(left: ast.LabelExpression, right: ast.LabelExpression) -> ast.LabelExpression:
    return ast.LabelOr(left=left, right=right, span=left.span.to(right.span))


def _label_and(left: ast.LabelExpression, right: ast.LabelExpression) -> ast.LabelExpression:
    return ast.LabelAnd(left=left, right=right, span=left.span.to(right.span))


def _projected(part: Token | ast.Variable | ast.MapEntry, subject: ast.Variable) -> ast.MapEntry:
    """`.key`, `name` or `key: value` of a map projection, as an entry."""
    if isinstance(part, ast.MapEntry):
        return part
    if isinstance(part, ast.Variable):
        return ast.MapEntry(key=part.name, value=part, span=part.span)
    key = read_name(part.text, part.span)
    value = ast.Property(subject=subject, key=key, key_span=part.span, span=part.span)
    return ast.MapEntry(key=key, value=value, span=part.span)


def _nodes(children: Children) -> list[Any]:
    return [child for child in children if isinstance(child, ast.Node)]


def _projecting(children: Children) -> dict[str, Any]:
    """The fields that RETURN and WITH have in common."""
    _word, distinct, projection, order, skip, limit = children
    return {
        "items": tuple(item for item in projection if isinstance(item, ast.ProjectionItem)),
        "star": isinstance(projection[0], Token),
        "distinct": distinct is not None,
        "order_by": tuple(order or ()),
        "skip": skip,
        "limit": limit,
    }


def _with_all(children: Children, items: tuple[ast.ProjectionItem, ...], where: ast.Expression | None) -> ast.With:
    """`WITH *` and more."""
    return ast.With(
        items=items, star=True, distinct=False, order_by=(), skip=None, limit=None, where=where, span=_span(children)
    )


def _span(children: Children) -> Span:
    first, last = children[0], children[-1]
    if first is None or last is None:
        present = [child for child in children if child is not None]
        first, last = present[0], present[-1]
    while isinstance(last, list):
        last = last[-1]
    start = first.start if isinstance(first, Token) else first.span.start
    return new_span(Span, (start, last.end if isinstance(last, Token) else last.span.end))


def _integer(token: Token | None) -> int | None:
    return None if token is None else read_integer(token.text, 1, token.span)


def _word(token: Token | None) -> Any:
    return None if token is None else token.text.lower()

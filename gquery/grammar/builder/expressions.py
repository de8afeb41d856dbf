"""From reductions to expressions."""

from __future__ import annotations

from functools import partial

from gquery.errors import ParseError
from gquery.grammar import ast
from gquery.grammar.builder.children import Children, span_of
from gquery.grammar.chains import balanced
from gquery.grammar.literals import read_float, read_integer, read_name, read_string, shown
from gquery.grammar.scanner import NAME, Token
from gquery.records import replace

_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}


class ExpressionRules:
    """The rules of expressions."""

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
        return ast.Unary(operator=operator.text.lower(), operand=operand, span=span_of(children))

    def binary(self, children: Children) -> ast.Binary:
        left, *words, right = children
        return _binary(" ".join(word.text.lower() for word in words), left, right)

    def null_test(self, children: Children) -> ast.Unary:
        operand, _is, negated, _null = children
        operator = "is null" if negated is None else "is not null"
        return ast.Unary(operator=operator, operand=operand, span=span_of(children))

    def label_test(self, children: Children) -> ast.LabelTest:
        subject, _colon, labels = children
        return ast.LabelTest(subject=subject, labels=labels, span=span_of(children))

    def pattern_predicate(self, children: Children) -> ast.PatternPredicate:
        return ast.PatternPredicate(pattern=children[1], span=children[1].span)

    def subquery(self, children: Children) -> ast.Exists | ast.Subquery:
        kind, _open, query, _close = children
        match query.clauses:
            case (ast.Match(optional=False) as only,) if kind.type == "EXISTS":
                return ast.Exists(match=only, span=span_of(children))
        return ast.Subquery(kind=kind.text.lower(), query=query, span=span_of(children))

    def pattern_comprehension(self, children: Children) -> ast.Subquery:
        _open, pattern, where, _bar, expression, _close = children
        span = span_of(children)
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
        return replace(node, span=span_of(children))

    def property_access(self, children: Children) -> ast.Property:
        subject, _dot, key = children
        name = read_name(key.text, key.span)
        return ast.Property(subject=subject, key=name, key_span=key.span, span=span_of(children))

    def index_access(self, children: Children) -> ast.Index:
        return ast.Index(subject=children[0], index=children[2], span=span_of(children))

    def slice_access(self, children: Children) -> ast.Slice:
        start, _dots, end = children[2]
        return ast.Slice(subject=children[0], start=start, end=end, span=span_of(children))

    def bounds(self, children: Children) -> Children:
        return children

    def call(self, children: Children) -> ast.FunctionCall | ast.Exists:
        name, _open, distinct, arguments, _close = children
        match arguments:
            case [ast.PatternPredicate(pattern=pattern)] if name.text == "exists":  # which is how it was written once
                match = ast.Match(patterns=(pattern,), where=None, mode=None, optional=False, span=pattern.span)
                return ast.Exists(match=match, span=span_of(children))
            case [ast.PatternPredicate(span=span)] if name.text == "size":
                hint = "write COUNT { ... } for how many matches it has"
                raise ParseError("a pattern is a condition, it has no size", span=span, hint=hint)
        return ast.FunctionCall(
            name=name.text,
            arguments=tuple(arguments or ()),
            distinct=distinct is not None,
            star=False,
            name_span=name.span,
            span=span_of(children),
        )

    def star_call(self, children: Children) -> ast.FunctionCall:
        name, _open, star, _close = children
        if name.text != "count":
            raise ParseError(f"{shown(name.text + '(*)')} has no meaning", span=star.span, hint="only count takes `*`")
        return ast.FunctionCall(
            name=name.text, arguments=(), distinct=False, star=True, name_span=name.span, span=span_of(children)
        )

    def case(self, children: Children) -> ast.Case:
        _case, subject, *branches, default, _end = children
        return ast.Case(subject=subject, branches=tuple(branches), default=default, span=span_of(children))

    def branch(self, children: Children) -> ast.CaseBranch:
        _when, condition, _then, value = children
        return ast.CaseBranch(condition=condition, value=value, span=span_of(children))

    def comprehension(self, children: Children) -> ast.Comprehension:
        _open, variable, _in, items, where, _bar, result, _close = children
        return ast.Comprehension(
            form="list", variable=variable, items=items, where=where, result=result, span=span_of(children)
        )

    def quantifier(self, children: Children) -> ast.Comprehension:
        form, _open, variable, _in, items, where, _close = children
        return ast.Comprehension(
            form=form.text, variable=variable, items=items, where=where, result=None, span=span_of(children)
        )

    def reduce(self, children: Children) -> ast.Reduce:
        _reduce, _open, accumulator, _equals, initial, _comma, variable, _in, items, _bar, step, _close = children
        return ast.Reduce(
            accumulator=accumulator, initial=initial, variable=variable, items=items, step=step, span=span_of(children)
        )

    def map_projection(self, children: Children) -> ast.MapProjection:
        name, _open, projected, _close = children
        subject = self.variable([name])
        parts = [part for part in projected or () if not isinstance(part, Token) or part.type == NAME]
        star = any(isinstance(part, Token) and part.text == "*" for part in projected or ())
        entries = tuple(_projected(part, subject) for part in parts)
        return ast.MapProjection(subject=subject, entries=entries, star=star, span=span_of(children))

    def projected(self, children: Children) -> Children:
        return children

    def list_literal(self, children: Children) -> ast.ListLiteral:
        return ast.ListLiteral(items=tuple(children[1] or ()), span=span_of(children))

    def map_literal(self, children: Children) -> ast.MapLiteral:
        return ast.MapLiteral(entries=tuple(children[1] or ()), span=span_of(children))

    def entry(self, children: Children) -> ast.MapEntry:
        key, _colon, value = children
        return ast.MapEntry(key=read_name(key.text, key.span), value=value, span=span_of(children))

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
        span = span_of(children)
        return ast.Literal(value=read(token.text, sign, span), span=span)


def _binary(operator: str, left: ast.Expression, right: ast.Expression) -> ast.Binary:
    return ast.Binary(operator=operator, left=left, right=right, span=left.span.to(right.span))


def _projected(part: Token | ast.Variable | ast.MapEntry, subject: ast.Variable) -> ast.MapEntry:
    """`.key`, `name` or `key: value` of a map projection, as an entry."""
    if isinstance(part, ast.MapEntry):
        return part
    if isinstance(part, ast.Variable):
        return ast.MapEntry(key=part.name, value=part, span=part.span)
    key = read_name(part.text, part.span)
    value = ast.Property(subject=subject, key=key, key_span=part.span, span=part.span)
    return ast.MapEntry(key=key, value=value, span=part.span)

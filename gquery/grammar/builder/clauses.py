"""From reductions to clauses that read, and to the query."""

from __future__ import annotations

from typing import Any

from gquery.errors import ParseError
from gquery.grammar import ast
from gquery.grammar.builder.children import Children, nodes, span_of, word
from gquery.grammar.literals import read_name
from gquery.grammar.scanner import Token
from gquery.records import replace


class ClauseRules:
    """The rules of queries and clauses."""

    def query(self, children: Children) -> ast.Query:
        command, query, _semicolon = children
        whole: ast.Query = replace(query, command=word(command), span=span_of(children))
        return whole

    def union(self, children: Children) -> ast.Query:
        first, *more = children
        if not more:
            single: ast.Query = first
            return single
        alls = {word is not None and word.type == "ALL" for word in more[1::3]}
        if len(alls) > 1:
            hint = "put one of them into CALL { ... }"
            raise ParseError("UNION and UNION ALL cannot be mixed", span=span_of(children), hint=hint)
        span = span_of(children)
        union = ast.Union(branches=tuple(nodes(children)), distinct=alls == {False}, span=span)
        return ast.Query(clauses=(union,), command=None, span=span)

    def single(self, children: Children) -> ast.Query:
        last = children[-1]
        if isinstance(last, ast.Call) and last.query.returns:
            hint = "RETURN the rows of CALL { ... }"
            raise ParseError("a query ends with RETURN or a clause that writes", span=last.span, hint=hint)
        return ast.Query(clauses=tuple(nodes(children)), command=None, span=span_of(children))

    def block_single(self, children: Children) -> ast.Query:
        return ast.Query(clauses=tuple(nodes(children)), command=None, span=span_of(children))

    def single_procedure(self, children: Children) -> ast.Query:
        """A procedure alone, whose columns are the answer."""
        span = span_of(children)
        everything = ast.Return(
            items=(), star=True, distinct=False, order_by=(), skip=None, limit=None, span=span
        )  # fmt: skip
        return ast.Query(clauses=(*nodes(children), everything), command=None, span=span)

    def block_patterns(self, children: Children) -> ast.Query:
        patterns, where = children
        span = span_of([*patterns, where])
        match = ast.Match(patterns=tuple(patterns), where=where, mode=None, optional=False, span=span)
        return ast.Query(clauses=(match,), command=None, span=span)

    def match(self, children: Children) -> ast.Match:
        optional, _match, mode, patterns, *hints, where = children
        span = span_of(children)
        return ast.Match(tuple(patterns), where, mode, optional is not None, tuple(hints), span=span)

    def order_hint(self, children: Children) -> ast.OrderHint:
        return ast.OrderHint(tuple(nodes(children)), span=span_of(children))

    def device_hint(self, children: Children) -> ast.DeviceHint:
        return ast.DeviceHint(read_name(children[-1].text, children[-1].span), span=span_of(children))

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
        return ast.Unwind(items=items, variable=variable, span=span_of(children))

    def filter(self, children: Children) -> ast.With:
        return _with_all(children, (), children[-1])

    def let(self, children: Children) -> ast.With:
        return _with_all(children, tuple(nodes(children)), None)

    def definition(self, children: Children) -> ast.ProjectionItem:
        variable, _equals, expression = children
        return ast.ProjectionItem(expression=expression, alias=variable.name, text="", span=span_of(children))

    def call_clause(self, children: Children) -> ast.Call:
        optional, _call, imports, _open, query, _close = children
        star = imports == "*"
        return ast.Call(
            query=query,
            imports=None if star or imports is None else tuple(imports),
            star=star,
            optional=optional is not None,
            span=span_of(children),
        )

    def imports(self, children: Children) -> list[ast.Variable] | str:
        return "*" if any(isinstance(each, Token) and each.text == "*" for each in children) else nodes(children)

    def procedure(self, children: Children) -> ast.Procedure:
        _call, name, _open, _close, _yield, columns, where = children
        found = None if columns is None else tuple(columns)
        return ast.Procedure(name.text, found, where, span=span_of(children))

    def yielded_column(self, children: Children) -> ast.ProjectionItem:
        column, _as, alias = children
        named = column.name if alias is None else alias.name
        return ast.ProjectionItem(expression=column, alias=named, text="", span=span_of(children))

    def return_clause(self, children: Children) -> ast.Return:
        return ast.Return(**_projecting(children), span=span_of(children))

    def with_clause(self, children: Children) -> ast.With:
        *projecting, where = children
        return ast.With(**_projecting(projecting), where=where, span=span_of(children))

    def projection(self, children: Children) -> Children:
        return children

    def item(self, children: Children) -> ast.ProjectionItem:
        expression, _as, alias = children
        name = None if alias is None else read_name(alias.text, alias.span)
        return ast.ProjectionItem(expression=expression, alias=name, text="", span=span_of(children))

    def sort_item(self, children: Children) -> ast.SortItem:
        expression, order, _, end = children
        descending = order is not None and order.type in ("DESC", "DESCENDING")
        nulls = None if end is None else end.type.lower()
        return ast.SortItem(expression=expression, descending=descending, nulls=nulls, span=span_of(children))

    def listing(self, children: Children) -> list[ast.Node]:
        return nodes(children)

    def argument(self, children: Children) -> ast.Node:
        node: ast.Node = children[-1]
        return node


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
        items=items, star=True, distinct=False, order_by=(), skip=None, limit=None, where=where, span=span_of(children)
    )

"""From reductions to clauses that change the graph."""

from __future__ import annotations

from gquery.errors import ParseError
from gquery.grammar import ast
from gquery.grammar.builder.children import Children, nodes, span_of
from gquery.grammar.literals import read_name
from gquery.grammar.scanner import NAME, Token


class UpdateRules:
    """The rules of CREATE, MERGE, SET, REMOVE, DELETE and FOREACH."""

    def create(self, children: Children) -> ast.Create:
        return ast.Create(tuple(children[-1]), span=span_of(children))

    def merge(self, children: Children) -> ast.Merge:
        _merge, pattern, *actions = children
        chosen: dict[str, tuple[ast.SetItem, ...]] = {"CREATE": (), "MATCH": ()}
        for event, items in actions:
            chosen[event] += items
        return ast.Merge(pattern, chosen["CREATE"], chosen["MATCH"], span=span_of([*children[:2], *_ends(actions)]))

    def merge_action(self, children: Children) -> tuple[str, tuple[ast.SetItem, ...]]:
        _on, event, clause = children
        return event.type, clause.items

    def set_clause(self, children: Children) -> ast.Set:
        return ast.Set(tuple(nodes(children)), span=span_of(children))

    def set_equal(self, children: Children) -> ast.SetProperty | ast.SetProperties:
        target, _equals, value = children
        span = span_of(children)
        if isinstance(target, ast.Property):
            return ast.SetProperty(target, value, span=span)
        return ast.SetProperties(target, value, False, span=span)

    def set_added(self, children: Children) -> ast.SetProperties:
        subject, _sign, value = children
        return ast.SetProperties(subject, value, True, span=span_of(children))

    def set_labels(self, children: Children) -> ast.SetLabels:
        subject, *labels = children
        names = (each for each in labels if isinstance(each, Token) and each.type == NAME)
        found = tuple(ast.LabelName(read_name(each.text, each.span), span=each.span) for each in names)
        return ast.SetLabels(subject, found, span=span_of(children))

    def remove(self, children: Children) -> ast.Remove:
        return ast.Remove(tuple(nodes(children)), span=span_of(children))

    def removed_property(self, children: Children) -> ast.Property:
        (target,) = children
        if not isinstance(target, ast.Property):
            hint = "such as REMOVE n.name or REMOVE n:Label"
            raise ParseError("REMOVE takes properties and labels", span=target.span, hint=hint)
        return target

    def delete(self, children: Children) -> ast.Delete:
        detach, _delete, *items = children
        return ast.Delete(tuple(nodes(items)), detach is not None, span=span_of(children))

    def foreach(self, children: Children) -> ast.Foreach:
        _foreach, _open, variable, _in, items, _bar, *updates, _close = children
        return ast.Foreach(variable, items, tuple(updates), span=span_of(children))


def _ends(actions: list[tuple[str, tuple[ast.SetItem, ...]]]) -> list[ast.Node]:
    """The last item of what MERGE does besides."""
    return [actions[-1][1][-1]] if actions else []

"""SHORTEST over several relationships: all matches of the pattern, of which each two ends keep the shortest."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import combinations

from gquery.grammar import ast
from gquery.planner.binding.labels import types_of
from gquery.planner.binding.lengths.names import Unused, substituted
from gquery.planner.binding.lengths.repeated import is_relationship
from gquery.planner.binding.lengths.written import aliased, binary, call, chained, listed, number, with_items
from gquery.planner.binding.mentions import binds, names_in
from gquery.planner.binding.subqueries.pattern_condition import all_of
from gquery.records import record, replace
from gquery.settings import MatchMode
from gquery.storage.schema import Schema

_LENGTH, _ROW, _ROWS, _LEAST = "length", "row", "rows", "least"


@record(frozen=True, slots=True)
class Nearest:
    """A pattern of several relationships of which the shortest matches are asked. All of it has names."""

    path: ast.PathPattern
    unused: Unused

    @classmethod
    def of(cls, path: ast.PathPattern, unused: Unused) -> Nearest:
        def named(part: ast.NodePattern | ast.RelationshipPattern, base: str) -> ast.Variable:
            return part.variable or unused.named(base, part.span)

        nodes = tuple(replace(each, variable=named(each, "node")) for each in path.nodes)
        relationships = []
        for each in path.relationships:
            if each.inside is None:
                relationships.append(replace(each, variable=named(each, "relationship")))
                continue
            inside = each.inside.relationships
            inside = tuple(replace(part, variable=named(part, "relationship")) for part in inside)
            relationships.append(replace(each, inside=replace(each.inside, relationships=inside)))
        variable = path.variable or unused.named("path", path.span)
        return cls(replace(path, variable=variable, nodes=nodes, relationships=tuple(relationships)), unused)

    @property
    def way(self) -> ast.Variable:
        assert self.path.variable is not None
        return self.path.variable

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(node.variable.name for node in self.path.nodes if node.variable is not None)

    @property
    def ends(self) -> tuple[str, str]:
        return self.nodes[0], self.nodes[-1]

    @property
    def edges(self) -> Iterator[tuple[ast.RelationshipPattern, ast.Expression]]:
        """Its relationships, each with the list of the edges that stand for it."""
        for each in self.path.relationships:
            for part in _parts(each):
                assert part.variable is not None
                single = each.inside is None and each.length is None
                yield part, listed((part.variable,), each.span) if single else part.variable

    @property
    def may_be_empty(self) -> bool:
        return any(each.length is not None and each.length.least == 0 for each in self.path.relationships)

    def apart(self, known: AbstractSet[str]) -> tuple[Nearest, list[ast.Expression]]:
        """With names of their own for the nodes between its ends whose names are known, and that those are the same."""
        shared = known & {*self.nodes} - {*self.ends}
        own = {name: self.unused.named(name, self.path.span) for name in sorted(shared)}
        same: list[ast.Expression] = [
            binary("=", ast.Variable(name, span=each.span), each) for name, each in own.items()
        ]
        return replace(self, path=substituted(self.path, own)), same

    def clause(
        self, mode: MatchMode, known: AbstractSet[str], conditions: list[ast.Expression], schema: Schema
    ) -> ast.Call:
        """`CALL (known) { MATCH ... WITH ends, collect(row) AS rows UNWIND shortest of rows AS row RETURN row. ... }`.
        conditions: those of its ends."""
        span, (patterns, whole) = self.path.span, self._cut(mode, schema)
        match = ast.Match(patterns, all_of(conditions), mode, False, span=span)
        names = [name for name in dict.fromkeys(binds(replace(match, patterns=(self.path,)))) if name not in known]
        values = {name: whole if name == self.way.name else ast.Variable(name, span=span) for name in names}
        entries = [ast.MapEntry(f"value{place}", value, span=span) for place, value in enumerate(values.values())]
        row = ast.MapLiteral((ast.MapEntry(_LENGTH, call(_LENGTH, whole), span=span), *entries), span=span)
        ends = [(name, ast.Variable(name, span=span)) for name in dict.fromkeys(self.ends)]
        of_row, of_rows, least = (self.unused.named(name, span) for name in (_ROW, _ROWS, _LEAST))
        length = ast.Property(of_row, _LENGTH, span, span=span)
        told = with_items(aliased([*ends, (of_row.name, row)]), span)
        together = [(of_rows.name, call("collect", of_row)), (least.name, call("min", length))]
        shortest: ast.Expression
        if self.path.shortest == "all":
            shortest = ast.Comprehension("list", of_row, of_rows, binary("=", length, least), None, span=span)
        else:
            assert isinstance(self.path.shortest, int)
            told = replace(told, order_by=(ast.SortItem(length, False, span=span),))
            shortest = ast.Slice(of_rows, None, number(self.path.shortest, span), span=span)
        given = [
            (name, ast.Property(of_row, entry.key, span, span=span)) for name, entry in zip(names, entries, strict=True)
        ]
        query = ast.Query(
            (
                match,
                told,
                with_items(aliased([*ends, *together]), span),
                ast.Unwind(shortest, of_row, span=span),
                ast.Return(aliased(given), False, False, (), None, None, span=span),
            ),
            None,
            span=span,
        )
        imports = tuple(ast.Variable(name, span=span) for name in sorted(known & set(names_in(match))))
        return ast.Call(query, imports, False, False, span=span)

    def _cut(self, mode: MatchMode, schema: Schema) -> tuple[tuple[ast.PathPattern, ...], ast.Expression]:
        """The patterns to match, and the path that these make. Where relationships cannot meet, a shortest path of all
        is made of shortest ones, and of any of what can only be written out; else all paths are looked at."""
        path = self.path
        if not self._is_free(mode, schema):
            return (replace(path, shortest=None),), self.way
        patterns: list[ast.PathPattern] = []
        told = path.nodes[0]
        for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
            one = ast.PathPattern(
                self.unused.named("path", relationship.span),
                (told, node),
                (relationship,),
                path.shortest if relationship.length is not None and is_relationship(relationship) else None,
                path.mode,
                span=relationship.span,
            )
            patterns.append(one)
            told = ast.NodePattern(node.variable, None, None, None, span=node.span)
        parts = [each.variable for each in patterns if each.variable is not None]
        return tuple(patterns), chained("join paths", parts)

    def _is_free(self, mode: MatchMode, schema: Schema) -> bool:
        """Whether what is asked of the path is asked of each relationship by itself."""
        if mode not in ("different edges", "repeatable elements") or self.path.mode not in (None, "walk", "trail"):
            return False
        if mode == "repeatable elements" and self.path.mode != "trail":
            return True
        types = [
            {name for part in _parts(each) for name in types_of(schema, part.types)} for each in self.path.relationships
        ]
        return all(one.isdisjoint(other) for one, other in combinations(types, 2))


def _parts(relationship: ast.RelationshipPattern) -> tuple[ast.RelationshipPattern, ...]:
    """A relationship, or those of a repeated pattern."""
    return (relationship,) if relationship.inside is None else relationship.inside.relationships

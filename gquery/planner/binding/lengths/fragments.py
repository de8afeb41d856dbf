"""What is left of patterns without their relationships of variable length, and where those were."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from gquery.grammar import ast
from gquery.planner.binding.lengths.conditions.inlined import Inlined, Inlining
from gquery.planner.binding.lengths.names import Unused, substituted
from gquery.planner.binding.lengths.nearest import Nearest
from gquery.planner.binding.lengths.repeated import as_relationship, is_relationship, of_entries
from gquery.planner.binding.lengths.written import binary, call, chained, negated, number
from gquery.planner.binding.mentions import binds, named, names_in
from gquery.planner.binding.subqueries.pattern_condition import all_of, joined_by_and
from gquery.planner.ir.segments import PathMode
from gquery.records import record, replace
from gquery.settings import MatchMode


@dataclass(slots=True, eq=False)
class Piece:
    """Parts of patterns that have nodes in common. names: of their elements."""

    fragments: list[ast.PathPattern]
    names: set[str]

    @property
    def nodes(self) -> list[ast.Variable]:
        """Its nodes, each once."""
        found = (node.variable for fragment in self.fragments for node in fragment.nodes)
        return list({each.name: each for each in found if each is not None}.values())

    @property
    def relationships(self) -> Iterator[tuple[ast.RelationshipPattern, ast.Variable]]:
        """Each with its name."""
        for fragment in self.fragments:
            for each in fragment.relationships:
                assert each.variable is not None
                yield each, each.variable

    @property
    def is_node(self) -> bool:
        return not any(fragment.relationships for fragment in self.fragments)

    @property
    def says_something(self) -> bool:
        """Whether there is more to it than that its nodes are there."""
        nodes = (node for fragment in self.fragments for node in fragment.nodes)
        told = any(node.labels is not None or node.properties is not None for node in nodes)
        return told or not self.is_node or any(fragment.variable is not None for fragment in self.fragments)


@record(frozen=True, slots=True)
class Link:
    """A relationship of variable length between two nodes, by their names. one: what its condition calls each of the
    relationships, before: the one before it; way: what a path is called; mode: which of its nodes have to differ,
    differ: whether its relationships have to. following: what is asked of each but the first and the one before it;
    of_ends: of each, and the nodes that the path is between, or what may fail."""

    left: str
    right: str
    relationship: ast.RelationshipPattern
    length: ast.Length
    one: ast.Variable
    before: ast.Variable
    way: ast.Variable
    mode: PathMode
    differ: bool
    shortest: int | str | None
    following: tuple[ast.Expression, ...]
    of_ends: tuple[ast.Expression, ...]

    @property
    def nodes(self) -> tuple[str, str]:
        return self.left, self.right

    @property
    def edges(self) -> Iterator[tuple[ast.RelationshipPattern, ast.Expression]]:
        """Its relationship, with the list of the edges that stand for it."""
        yield self.relationship, call("relationships", self.way)

    @property
    def may_be_empty(self) -> bool:
        return self.length.least == 0


Way = Link | Nearest
"""What is searched for: a path, called `way`, on which the nodes with the names `nodes` lie."""


class Pieces:
    """A MATCH, taken apart. nearest: patterns of several relationships of which the shortest are asked. lets: what
    paths and lists of relationships are called that the clause names; again: that such a list is one that was known
    before; waiting: the conditions, but for those of relationships of variable length."""

    def __init__(self, clause: ast.Match, incoming: AbstractSet[str], by_item: bool) -> None:
        """by_item: conditions on all elements of a path become ones of its relationship of variable length."""
        self.mode = clause.mode
        self.pieces: list[Piece] = []
        self.links: list[Link] = []
        self.nearest: list[Nearest] = []
        self.lets: dict[str, ast.Expression] = {}
        self.again: list[ast.Expression] = []
        self.waiting = [] if clause.where is None else list(joined_by_and(clause.where))
        self._incoming = incoming
        self._by_item = by_item
        self._own = set(binds(clause)) - incoming
        self.unused = Unused([*names_in(clause), *incoming])
        for path in clause.patterns:
            self._take(path)

    @property
    def ways(self) -> list[Way]:
        return [*self.links, *self.nearest]

    @property
    def relationships(self) -> Iterator[tuple[ast.RelationshipPattern, ast.Variable]]:
        """Those of all pieces, each with its name."""
        for piece in self.pieces:
            yield from piece.relationships

    def is_pinned(self, piece: Piece, names: AbstractSet[str]) -> bool:
        """Whether values are asked of properties of one of some of its nodes."""
        nodes = (node for fragment in piece.fragments for node in fragment.nodes)
        told = (node.variable for node in nodes if node.properties is not None)
        if any(variable is not None and variable.name in names for variable in told):
            return True
        return any(
            isinstance(each, ast.Binary) and each.operator in ("=", "in") and set(names_in(each)) <= names
            for each in self.waiting
        )

    def _take(self, path: ast.PathPattern) -> None:
        word = _asked_of_all(path, self.mode)
        if word == "shortest":
            self.nearest.append(Nearest.of(path, self.unused))
            return
        nodes = [self._node(node) for node in path.nodes]
        parts: list[ast.Expression] = []
        begin = 0
        for place, relationship in enumerate(path.relationships):
            if relationship.length is None and path.shortest is None:
                continue
            parts += self._fragment(path, nodes, begin, place, word is not None)
            begin = place + 1
            link = self._link(path, as_relationship(relationship, self.unused), nodes[place], nodes[begin])
            parts.append(link.way)
            if relationship.inside is not None:
                self._name_nodes(relationship.inside, link.way)
        parts += self._fragment(path, nodes, begin, len(path.relationships), word is not None)
        if path.variable is not None and parts != [path.variable]:
            self.lets[path.variable.name] = chained("join paths", parts)
        if word is not None:
            self.again += _told_apart(word, chained("join paths", parts))

    def _node(self, node: ast.NodePattern) -> ast.NodePattern:
        """With a name; its condition is one of the clause."""
        if node.where is not None:
            self.waiting += joined_by_and(node.where)
        variable = node.variable or self.unused.named("node", node.span)
        return replace(node, variable=variable, properties=self._known(node.properties, variable), where=None)

    def _known(
        self, properties: ast.MapLiteral | ast.Parameter | None, variable: ast.Variable
    ) -> ast.MapLiteral | ast.Parameter | None:
        """Property values, if they are known before the clause; else they wait as conditions."""
        if not isinstance(properties, ast.MapLiteral) or self._own.isdisjoint(names_in(properties)):
            return properties
        self.waiting += of_entries(properties, variable)
        return None

    def _fragment(
        self, path: ast.PathPattern, nodes: list[ast.NodePattern], begin: int, end: int, told: bool
    ) -> Iterator[ast.Variable]:
        """Takes the part of a pattern from a node to another, and gives its name if paths need one, as they do where
        something is `told` of the whole."""
        relationships = tuple(self._named(each) for each in path.relationships[begin:end])
        name = None
        if (told or path.variable is not None) and (relationships or not path.relationships):
            name = self.unused.named("path" if path.variable is None else path.variable.name, path.span)
            yield name
        fragment = ast.PathPattern(name, tuple(nodes[begin : end + 1]), relationships, span=path.span)
        own = set(named([*fragment.nodes, *relationships]))
        places = set(named(fragment.nodes))
        same = [piece for piece in self.pieces if not places.isdisjoint(piece.names)]
        fragments = [*(each for piece in same for each in piece.fragments), fragment]
        kept = [piece for piece in self.pieces if piece not in same]
        self.pieces = [*kept, Piece(fragments, own.union(*(piece.names for piece in same)))]

    def _named(self, relationship: ast.RelationshipPattern) -> ast.RelationshipPattern:
        """A relationship that others have to differ from needs a name. What speaks of others of the clause waits."""
        variable = relationship.variable or self.unused.named("relationship", relationship.span)
        asked = [] if relationship.where is None else list(joined_by_and(relationship.where))
        others = [each for each in asked if not (self._own - {variable.name}).isdisjoint(names_in(each))]
        self.waiting += others
        where = all_of([each for each in asked if each not in others])
        properties = self._known(relationship.properties, variable)
        return replace(relationship, variable=variable, properties=properties, where=where)

    def _link(
        self,
        path: ast.PathPattern,
        relationship: ast.RelationshipPattern,
        left: ast.NodePattern,
        right: ast.NodePattern,
    ) -> Link:
        assert left.variable is not None
        assert right.variable is not None
        span, name = relationship.span, relationship.variable
        alone = path.variable if len(path.relationships) == 1 else None
        way = alone or self.unused.named("path", span)
        one, before = (self.unused.named("relationship" if name is None else name.name, span) for _ in range(2))
        if name is not None:
            relationship = replace(relationship, where=substituted(relationship.where, {name.name: one}))
            known: ast.Expression = call("relationships", way)
            if relationship.length is None:
                known = ast.Index(known, number(0, span), span=span)
            if name.name in self._incoming:
                self.again.append(ast.Binary("=", name, known, span=span))
            else:
                self.lets[name.name] = known
        following: tuple[ast.Expression, ...] = ()
        of_ends: tuple[ast.Expression, ...] = ()
        if path.shortest is None:
            if self._by_item:
                listed = None if name is None or name.name in self._incoming else name.name
                inlining = Inlining(path, listed, left.variable, right.variable, one, before)
                relationship, inlined = self._inlined(inlining, relationship)
                following, of_ends = tuple(inlined.following), tuple(inlined.of_ends)
            relationship, others = self._asked_later(relationship, one, way, {left.variable.name, right.variable.name})
            of_ends += others
        length = relationship.length or ast.Length(1, 1, span=span)
        closed = left.variable.name == right.variable.name
        link = Link(
            left.variable.name,
            right.variable.name,
            relationship,
            length,
            one,
            before,
            way,
            self._path_mode(path, closed),
            self.mode == "different edges" or path.mode == "trail",
            path.shortest,
            following,
            of_ends,
        )
        self.links.append(link)
        return link

    def _inlined(
        self, inlining: Inlining, relationship: ast.RelationshipPattern
    ) -> tuple[ast.RelationshipPattern, Inlined]:
        """The relationship with what is asked of all of the path, and what is asked besides."""
        found = inlining.of(self.waiting)
        self.waiting = [*(each for each in self.waiting if each not in found.told), *found.begin]
        conditions = [*found.each] if relationship.where is None else [relationship.where, *found.each]
        return replace(relationship, where=all_of(conditions)), found

    def _asked_later(
        self, relationship: ast.RelationshipPattern, one: ast.Variable, way: ast.Variable, ends: AbstractSet[str]
    ) -> tuple[ast.RelationshipPattern, tuple[ast.Expression, ...]]:
        """Without the conditions that speak of something else too: these are asked of the paths that are found, but for
        those that speak of the path's ends alone."""
        asked = [] if relationship.where is None else list(joined_by_and(relationship.where))
        told = relationship.properties
        if isinstance(told, ast.MapLiteral) and any(names_in(told)):
            asked += of_entries(told, one)
            relationship = replace(relationship, properties=None)
        own = [each for each in asked if set(names_in(each)) <= {one.name}]
        others = [each for each in asked if each not in own]
        of_ends = [each for each in others if self._by_item and set(names_in(each)) <= {one.name, *ends}]
        self.ask_again([each for each in others if each not in of_ends], one, way)
        return replace(relationship, where=all_of(own)), tuple(of_ends)

    def ask_again(self, conditions: list[ast.Expression], one: ast.Variable, way: ast.Variable) -> None:
        """Asks conditions of all relationships of the paths that are found."""
        if conditions:
            edges = call("relationships", way)
            self.again.append(ast.Comprehension("all", one, edges, all_of(conditions), None, span=way.span))

    def _name_nodes(self, inside: ast.PathPattern, way: ast.Variable) -> None:
        """What the nodes of a repeated relationship are called: all of the path but the last, and all but the first."""
        span = inside.span
        nodes = call("nodes", way)
        begin, end = number(1, span), number(-1, span)
        first, last = inside.nodes
        if first.variable is not None:
            self.lets[first.variable.name] = ast.Slice(nodes, None, end, span=span)
        if last.variable is not None:
            self.lets[last.variable.name] = ast.Slice(nodes, begin, None, span=span)

    def _path_mode(self, path: ast.PathPattern, closed: bool) -> PathMode:
        apart = self.mode == "different nodes" or self.mode == "induced"
        if path.mode == "acyclic" or (apart and not closed):
            return "acyclic"
        return "simple" if path.mode == "simple" or apart else "any"


def _asked_of_all(path: ast.PathPattern, mode: MatchMode | None) -> PathMode | Literal["trail", "shortest"] | None:
    """What is asked of a path of which only parts are searched for."""
    searched = path.shortest is not None or any(each.length is not None for each in path.relationships)
    if not path.relationships or (len(path.relationships) == 1 and searched and is_relationship(path.relationships[0])):
        return None
    if path.shortest is not None:
        return "shortest"
    if path.mode == "acyclic" or path.mode == "simple":
        return path.mode
    return "trail" if path.mode == "trail" and mode == "repeatable elements" else None


def _told_apart(asked: str, path: ast.Expression) -> Iterator[ast.Expression]:
    """That the elements of a path differ; in a simple one, the last from all but the first."""
    span = path.span
    elements = call("relationships" if asked == "trail" else "nodes", path)
    if asked != "simple":
        yield _all_different(elements)
        return
    yield _all_different(ast.Slice(elements, None, number(-1, span), span=span))
    yield _all_different(ast.Slice(elements, number(1, span), None, span=span))


def _all_different(items: ast.Expression) -> ast.Expression:
    """`all(each IN range(0, size(items) - 1) WHERE NOT items[each] IN items[each + 1..])`."""
    span, each = items.span, ast.Variable("each", span=items.span)
    one = number(1, span)
    places = call("range", number(0, span), binary("-", call("size", items), one))
    later = ast.Slice(items, binary("+", each, one), None, span=span)
    again = binary("in", ast.Index(items, each, span=span), later)
    return ast.Comprehension("all", each, places, negated(again), None, span=span)

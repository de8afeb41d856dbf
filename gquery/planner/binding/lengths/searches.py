"""A MATCH with relationships of variable length, as matches of what is left without them and searches between these.

What is left falls into pieces, whose nodes have nothing but searches between them. A search leads from a piece that is
known to one that is not, or between two that are. What pieces and searches may not share by the match mode is asked at
the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from gquery.errors import Span
from gquery.grammar import ast
from gquery.planner.binding.labels import types_of
from gquery.planner.binding.lengths.conditions.safe import cannot_fail
from gquery.planner.binding.lengths.conditions.unrolled import asks_of_lists
from gquery.planner.binding.lengths.fragments import Link, Piece, Pieces
from gquery.planner.binding.lengths.names import substituted
from gquery.planner.binding.lengths.nearest import Nearest
from gquery.planner.binding.lengths.repeated import is_relationship
from gquery.planner.binding.lengths.together import conditions_between
from gquery.planner.binding.mentions import binds, is_random, names_in
from gquery.planner.binding.scope import NOTHING
from gquery.planner.binding.subqueries.pattern_condition import all_of, pattern_test
from gquery.planner.ir.segments import PathMode
from gquery.records import record, replace
from gquery.settings import MatchMode
from gquery.storage.schema import Schema

_SHORT = 3  # relationships
_TURNED: dict[ast.Direction, ast.Direction] = {"out": "in", "in": "out", "both": "both"}


@record(frozen=True, slots=True)
class Search(ast.Clause):
    """Paths from a node that is known to one that is known or new. hop: the pattern of one relationship, from the known
    node on. before: what the relationship before it is called; following: what is asked of both, where there is one;
    of_begin: what is asked of each relationship and the known node. way: what a path is called. backwards: the path
    leads the other way. mode: which of its nodes have to differ; differ: whether its relationships have to; apart:
    whether the path has to end at another node than it begins at. shortest None: all paths."""

    hop: ast.PathPattern
    before: ast.Variable
    following: tuple[ast.Expression, ...]
    of_begin: tuple[ast.Expression, ...]
    length: ast.Length
    way: ast.Variable
    backwards: bool
    mode: PathMode
    differ: bool
    apart: bool
    shortest: int | str | None


def can_be_swept(clause: ast.Match, mode: MatchMode, schema: Schema) -> bool:
    """Whether there is a path between two nodes wherever there is a walk of such a length, so that nobody has to list
    paths to know: one relationship of variable length, of which no more is asked than that its relationships differ,
    and others of other types alone."""
    relationships = [each for path in clause.patterns for each in path.relationships]
    modes = {path.mode for path in clause.patterns}
    plain = mode in ("different edges", "repeatable elements") and modes <= {None, "walk", "trail"}
    searched = [each for each in relationships if each.length is not None]
    if not plain or len(searched) != 1 or any(each.inside is not None for each in relationships):
        return False
    types = set(types_of(schema, searched[0].types))
    alone = all(types.isdisjoint(types_of(schema, each.types)) for each in relationships if each is not searched[0])
    length = searched[0].length
    return alone and length is not None and length.least <= 1 and (length.most or 0) >= length.least


def finds_few(clause: ast.Match, mode: MatchMode, incoming: AbstractSet[str]) -> bool:
    """Whether paths of few lengths, too, are better searched for: relationships are compared with those before, so that
    few paths go on, and values are asked of a node at an end. mode: the clause's."""
    relationships = [each for path in clause.patterns for each in path.relationships]
    plain = mode in ("different edges", "repeatable elements") and all(map(is_relationship, relationships))
    if not plain or not asks_of_lists(clause):
        return False
    pieces = Pieces(replace(clause, mode=mode), incoming, True)
    ends = {name for link in pieces.links if link.following for name in link.nodes}
    return any(pieces.is_pinned(piece, ends & piece.names) for piece in pieces.pieces if ends & piece.names)


def searches(
    clause: ast.Match, mode: MatchMode, incoming: AbstractSet[str], schema: Schema, by_item: bool
) -> tuple[ast.Clause, ...]:
    """Matches and searches, and a WITH of what the clause and those before it bind, unless they bind just that. mode:
    where the clause names none. incoming: the names that are bound before. by_item: conditions on all elements of paths
    are asked of each."""
    clause = replace(clause, mode=clause.mode or mode)
    pieces = Pieces(clause, incoming, by_item)
    between = conditions_between(pieces, schema)
    if pieces.mode == "induced" and not _are_apart(pieces):
        clause = replace(clause, mode="different nodes")
    order = _Order(pieces, clause, incoming, schema)
    found = tuple(order.clauses())
    left = [*between, *pieces.again, *pieces.waiting]
    if not left and not pieces.lets and order.known == {*incoming, *binds(clause)}:
        return found
    return (*found, _together(clause, incoming, pieces, left))


def _together(
    clause: ast.Match, incoming: AbstractSet[str], pieces: Pieces, conditions: list[ast.Expression]
) -> ast.With:
    names = dict.fromkeys((*sorted(incoming), *binds(clause)))
    values = {name: pieces.lets.get(name, ast.Variable(name, span=clause.span)) for name in names}
    return _with(values or {NOTHING: ast.Literal(0, span=clause.span)}, conditions, clause.span)


def _with(values: Mapping[str, ast.Expression], conditions: list[ast.Expression], span: Span) -> ast.With:
    items = tuple(
        ast.ProjectionItem(value, name, "" if name == NOTHING else name, span=span) for name, value in values.items()
    )
    return ast.With(items, False, False, (), None, None, all_of(conditions), span=span)


def _are_apart(pieces: Pieces) -> bool:
    """Whether pieces may be induced by themselves: no path adds an edge between two nodes of one."""
    return not any(
        way.may_be_empty or any(piece.names.issuperset(way.nodes) for piece in pieces.pieces) for way in pieces.ways
    )


def _is_short(length: ast.Length) -> bool:
    """Whether paths lead to few nodes: fewer than are joined with what is named behind these."""
    return length.most is not None and length.most <= _SHORT


class _Order:
    """The clauses in the order in which they run. known: what those bind that are made."""

    def __init__(self, pieces: Pieces, clause: ast.Match, incoming: AbstractSet[str], schema: Schema) -> None:
        self._pieces = pieces
        self._clause = clause
        self._schema = schema
        self._incoming = incoming
        self.known = set(incoming)
        self._left = list(pieces.pieces)

    def clauses(self) -> Iterator[ast.Clause]:
        links = list(self._pieces.links)
        while self._left or links:
            begun = [piece for piece in self._left if not self.known.isdisjoint(piece.names)]
            link = next((each for each in links if not self.known.isdisjoint(each.nodes)), None)
            if begun or link is None:
                yield from self._match(min(begun or self._left, key=self._rank))
                continue
            links.remove(link)
            start, end = link.nodes if link.left in self.known else link.nodes[::-1]
            piece = next((each for each in self._left if end in each.names), None)
            if piece is not None and self._pieces.is_pinned(piece, {end} if _is_short(link.length) else piece.names):
                yield from self._match(piece)
                piece = None
            yield self._search(link, start, self._target(end, piece, link.relationship.span))
            self.known |= {end, link.way.name}
            if links:
                yield from self._asked_early()
        for nearest in self._pieces.nearest:
            yield self._nearest(nearest)

    def _asked_early(self) -> Iterator[ast.With]:
        """What is asked of the paths that are found: before others are searched for at the end of each."""
        again = self._pieces.again
        ready = [each for each in again if self._is_ready(each, self.known)]
        if ready:
            again[:] = [each for each in again if each not in ready]
            span = self._clause.span
            yield _with({name: ast.Variable(name, span=span) for name in sorted(self.known)}, ready, span)

    def _nearest(self, nearest: Nearest) -> ast.Call:
        """What is asked of the ends alone holds for all paths between them. Nodes between these that other patterns
        have, too, are compared afterwards: else it would hang on what comes first which paths are the shortest."""
        assert self._pieces.mode is not None
        nearest, same = nearest.apart(self.known - self._incoming)
        self._pieces.again += same
        conditions = [] if (where := self._conditions(self.known | {*nearest.ends})) is None else [where]
        mode = "different nodes" if self._pieces.mode == "induced" else self._pieces.mode
        found = nearest.clause(mode, self.known, conditions, self._schema)
        self.known.update(binds(replace(self._clause, patterns=(nearest.path,))))
        return found

    def _rank(self, piece: Piece) -> tuple[bool, int]:
        """Pieces that few matches are thought of come first, then those that are written first."""
        return not self._pieces.is_pinned(piece, piece.names), self._left.index(piece)

    def _match(self, piece: Piece) -> Iterator[ast.Match]:
        """A piece that is known already, and of which nothing else is said, need not be matched, unless a condition
        waits that speaks of nothing: no path is to be searched where that does not hold."""
        self._left.remove(piece)
        is_asked = piece.says_something or any(self._is_ready(each, frozenset()) for each in self._pieces.waiting)
        if piece.names <= self.known and not is_asked:
            return
        found = replace(self._clause, patterns=tuple(piece.fragments), where=None, optional=False)
        self.known.update(binds(found))
        yield replace(found, where=self._conditions(self.known))

    def _conditions(self, known: AbstractSet[str]) -> ast.Expression | None:
        """Those that wait and speak of nothing else, nor of chance: that is asked of each path."""
        waiting = self._pieces.waiting
        ready = [each for each in waiting if self._is_ready(each, known)]
        waiting[:] = [each for each in waiting if each not in ready]
        return all_of(ready)

    @staticmethod
    def _is_ready(condition: ast.Expression, known: AbstractSet[str]) -> bool:
        return pattern_test(condition) is None and set(names_in(condition)) <= known and not is_random(condition)

    def _target(self, name: str, piece: Piece | None, span: Span) -> ast.NodePattern:
        """The end of a search; with what is said of it, where it is new and alone."""
        plain = ast.NodePattern(ast.Variable(name, span=span), None, None, None, span=span)
        if piece is None or not piece.is_node or name in self.known or piece.fragments[0].variable is not None:
            return plain
        target = piece.fragments.pop(0).nodes[0]
        return replace(target, where=self._conditions({name}))

    def _search(self, link: Link, start: str, target: ast.NodePattern) -> Search:
        relationship, span = link.relationship, link.relationship.span
        backwards = start != link.left
        direction = _TURNED[relationship.direction] if backwards else relationship.direction
        hop = replace(relationship, variable=link.one, direction=direction, length=None)
        of_begin = [each for each in link.of_ends if set(names_in(each)) <= {link.one.name, start}]
        later = [each for each in link.of_ends if each not in of_begin or not cannot_fail(each)]
        self._pieces.ask_again(later, link.one, link.way)
        turned = {link.one.name: link.before, link.before.name: link.one} if backwards else {}
        begin = ast.NodePattern(ast.Variable(start, span=span), None, None, None, span=span)
        path = ast.PathPattern(None, (begin, target), (hop,), span=span)
        apart = self._are_apart(link)
        return Search(
            path,
            link.before,
            substituted(link.following, turned),
            tuple(of_begin),
            link.length,
            link.way,
            backwards,
            link.mode,
            link.differ,
            apart,
            link.shortest,
            span=span,
        )

    def _are_apart(self, link: Link) -> bool:
        """Whether a condition that waits tells the ends apart, of which one is new: it need not wait any longer."""
        if self.known.issuperset(link.nodes):
            return False
        waiting = self._pieces.waiting
        asked = [each for each in waiting if isinstance(each, ast.Binary) and _tells_apart(each, link.nodes)]
        waiting[:] = [each for each in waiting if each not in asked]
        return bool(asked)


def _tells_apart(condition: ast.Binary, names: tuple[str, str]) -> bool:
    """Whether it is that two nodes are not the same."""
    sides = (condition.left, condition.right)
    told = {side.name for side in sides if isinstance(side, ast.Variable)}
    return condition.operator == "<>" and told == set(names) and len(told) == 2

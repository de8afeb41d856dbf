"""A MATCH with relationships of few lengths, as queries with one pattern of fixed lengths each.

Their rows together are the rows of the clause, and what is counted of them adds up: a pattern of fixed length is
planned like any other, so that walks are counted by products of sums. Over no relationship at all both ends are one
node: there its name takes the place of the other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from gquery.errors import Notice, UnsupportedError
from gquery.grammar import ast
from gquery.planner.binding.lengths.conditions.unrolled import unrolled
from gquery.planner.binding.lengths.names import Unused, substituted
from gquery.planner.binding.lengths.repeated import is_relationship
from gquery.planner.binding.lengths.repeats import names_no_path
from gquery.planner.binding.mentions import below, binds, named, names_in
from gquery.planner.binding.scope import NOTHING
from gquery.planner.binding.subqueries.pattern_condition import all_of, joined_by_and
from gquery.records import record, replace
from gquery.settings import MatchMode

MOST_ALTERNATIVES = 24  # combinations of lengths of one clause
MOST_HOPS = 12  # relationships that the longest of them has for those of variable length
MOST_SUMMED = 40  # the same of walks that nobody lists, of which each relationship is one more sum


_PATTERNS = (ast.Subquery, ast.Exists, ast.PatternPredicate)


def have_lengths(clause: ast.Match) -> list[ast.RelationshipPattern]:
    """The relationships of variable length, and the repeated patterns."""
    return [each for path in clause.patterns for each in path.relationships if each.length is not None]


def empty_lengths(clause: ast.Match) -> Iterator[Notice]:
    """A word on lengths that no path has: openCypher lets them be."""
    for length in (each.length for each in have_lengths(clause)):
        if length is not None and length.most is not None and length.most < length.least:
            hint = "the lower bound comes first" if length.least > 1 else "a lower bound that is not written is 1"
            bounds = f"at least {length.least} and at most {length.most}"
            yield Notice(f"no path has {bounds} relationships: never matched", length.span, hint)


def has_lengths(clause: ast.Match) -> bool:
    """Whether it is no pattern of fixed lengths, of which all matches are asked for."""
    return bool(have_lengths(clause)) or _asks_shortest(clause)


def has_few_lengths(clause: ast.Match, mode: MatchMode) -> bool:
    """Whether it is the union of few patterns of fixed lengths. mode: the clause's."""
    return not _asks_shortest(clause) and _are_few(have_lengths(clause), clause, mode)


def not_searched(clause: ast.Match, mode: MatchMode) -> list[ast.RelationshipPattern]:
    """Repeated patterns that cannot be searched for, but for those under SHORTEST, if there are few ways to repeat
    them. Raises UnsupportedError where there would be, and they see too little."""
    paths = (path for path in clause.patterns if path.shortest is None)
    found = [each for path in paths for each in path.relationships if not is_relationship(each)]
    none = next((each for each in found if _begins_at_none(each)), None)
    if none is not None and _asks_that_nodes_differ(clause, mode):
        raise UnsupportedError(
            "gquery has no DIFFERENT NODES or INDUCED over a repeated pattern of 0 to few times, beside a condition "
            "that is a pattern",
            span=none.span,
            hint="repeat it once at least, as in {1,3}",
        )
    return found if _are_few(found, clause, mode) else []


def _begins_at_none(relationship: ast.RelationshipPattern) -> bool:
    length = relationship.length
    return length is not None and length.least == 0 and length.most is not None


def _are_few(relationships: list[ast.RelationshipPattern], clause: ast.Match, mode: MatchMode) -> bool:
    """Whether there are few combinations of lengths of some of the clause's relationships."""
    bounds = [(each.length.least, each.length.most) for each in relationships if each.length is not None]
    if any(least == 0 for least, _ in bounds) and _asks_that_nodes_differ(clause, mode):
        return False  # it has to see both names
    hops = [_hops(each) for each in relationships]
    most = MOST_SUMMED if mode == "repeatable elements" and names_no_path(clause) else MOST_HOPS
    if None in hops or sum(each for each in hops if each is not None) > most:
        return False
    return prod(max(1, most - least + 1) for least, most in bounds if most is not None) <= MOST_ALTERNATIVES


def _asks_that_nodes_differ(clause: ast.Match, mode: MatchMode) -> bool:
    """Whether a condition has a pattern whose nodes have to."""
    asked = [each for each in below(clause) if isinstance(each, _PATTERNS)]
    modes = {mode, *(each.mode for part in asked for each in below(part) if isinstance(each, ast.Match))}
    return bool(asked) and not modes.isdisjoint(("different nodes", "induced"))


def _asks_shortest(clause: ast.Match) -> bool:
    """Whether the shortest of several paths are asked for; a node alone is the only one."""
    return any(path.shortest is not None and path.relationships for path in clause.patterns)


def _hops(relationship: ast.RelationshipPattern) -> int | None:
    """How many relationships stand for one of variable length, or for a repeated pattern, at most."""
    most = None if relationship.length is None else relationship.length.most
    each = 1 if relationship.inside is None else len(relationship.inside.relationships)
    return None if most is None else most * each


def alternatives(
    clause: ast.Match, incoming: set[str], relationships: list[ast.RelationshipPattern], by_item: bool
) -> Iterator[ast.Query]:
    """The queries for all combinations of lengths of some relationships; others stay as they are. incoming: the names
    that are bound before. by_item: conditions on lists are asked of their items. Where no length fits there is one
    without rows."""
    lengths = [(each, each.length) for each in have_lengths(clause) if each.length is not None]
    ranges = [range(own.least, (own.most or 0) + 1) if each in relationships else (None,) for each, own in lengths]
    if not all(ranges):
        never = ast.Literal(False, span=clause.span)
        yield _Fixed(replace(clause, where=never), [1 for _ in ranges], incoming, False).query()
        return
    for chosen in product(*ranges):
        yield _Fixed(clause, chosen, incoming, by_item).query()


def returning(items: Sequence[tuple[str, ast.Expression]], clause: ast.Match) -> ast.Return:
    """RETURN of these columns; of one that nobody reads where there are none."""
    span = clause.span
    columns = items or [(NOTHING, ast.Literal(0, span=span))]
    projected = tuple(ast.ProjectionItem(expression, name, name, span=span) for name, expression in columns)
    return ast.Return(projected, False, False, (), None, None, span=span)


@record(frozen=True, slots=True)
class _Step:
    """What a relationship becomes: relationships with nodes between them; none where its ends are one."""

    relationships: tuple[ast.RelationshipPattern, ...]
    nodes: tuple[ast.NodePattern, ...]


class _Fixed:
    """One combination of lengths; None for what stays as it is. same: what the names of nodes that are another one
    become; lists: relationships and nodes by the names of their lists; beside: what the nodes say that are another one;
    conditions: what repeated patterns ask for, and that lists bound before are the same; equal: that nodes bound before
    are one."""

    def __init__(self, clause: ast.Match, lengths: Sequence[int | None], incoming: set[str], by_item: bool) -> None:
        self._clause = clause
        self._incoming = incoming
        self._unused = Unused([*names_in(clause), *incoming])
        self._same: dict[str, ast.Variable] = {}
        self._lists: dict[str, ast.ListLiteral] = {}
        self._beside: list[ast.PathPattern] = []
        self._conditions: list[ast.Expression] = []
        self._equal: list[ast.Expression] = []
        pending = iter(lengths)
        self._by_item = by_item
        self._asked = [] if clause.where is None else list(joined_by_and(clause.where))
        self._patterns = [self._told(self._pattern(path, pending)) for path in clause.patterns]

    def query(self) -> ast.Query:
        clause, span = self._clause, self._clause.span
        lists = {name: substituted(listed, self._same) for name, listed in self._lists.items()}
        known: Mapping[str, ast.Expression] = {**self._same, **lists}
        patterns = substituted((*self._patterns, *self._beside), known)
        told = {path.variable.name: path for path in patterns if path.variable and _is_fixed(path) and _is_told(path)}
        asked = self._unrolled(known, told) if self._by_item else substituted(tuple(self._asked), known)
        where = all_of([*asked, *substituted(tuple(self._conditions), known), *self._equal])
        match = replace(clause, patterns=patterns, where=where, optional=False)
        names = dict.fromkeys(name for name in binds(clause) if name not in self._incoming)
        items = [(name, substituted(ast.Variable(name, span=span), known)) for name in names]
        return ast.Query((match, returning(items, clause)), None, span=span)

    def _unrolled(
        self, known: Mapping[str, ast.Expression], paths: Mapping[str, ast.PathPattern]
    ) -> Iterator[ast.Expression]:
        """The clause's conditions, unrolled where they speak of lists or paths."""
        for condition in self._asked:
            told = substituted(condition, known)
            speaks = not (self._lists.keys() | paths).isdisjoint(names_in(condition))
            yield unrolled(told, paths) if speaks else told

    def _told(self, path: ast.PathPattern) -> ast.PathPattern:
        """A path of fixed length of which conditions speak, with names for all that is on it."""
        spoken = path.variable is not None and any(path.variable.name in names_in(each) for each in self._asked)
        if not self._by_item or not spoken or not _is_fixed(path):
            return path
        nodes = [replace(each, variable=self._name(each)) for each in path.nodes]
        relationships = [replace(each, variable=self._name(each)) for each in path.relationships]
        return replace(path, nodes=tuple(nodes), relationships=tuple(relationships))

    def _name(self, part: ast.NodePattern | ast.RelationshipPattern) -> ast.Variable:
        return part.variable or self._unused.named("part", part.span)

    def _pattern(self, path: ast.PathPattern, lengths: Iterator[int | None]) -> ast.PathPattern:
        nodes, relationships = [path.nodes[0]], []
        for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
            length = None if relationship.length is None else next(lengths)
            if length is None:
                relationships.append(relationship)
                nodes.append(node)
                continue
            if relationship.inside is not None:
                for inside in self._repeated(relationship, relationship.inside, length):
                    nodes[-1] = self._merged(nodes[-1], inside.nodes[0])
                    relationships += inside.relationships
                    nodes += inside.nodes[1:]
                nodes[-1] = self._merged(nodes[-1], node)
                continue
            step = self._step(relationship, length)
            if not step.relationships:
                nodes[-1] = self._merged(nodes[-1], node)
                continue
            relationships += step.relationships
            nodes += [*step.nodes, node]
        return replace(path, nodes=tuple(nodes), relationships=tuple(relationships))

    def _step(self, relationship: ast.RelationshipPattern, length: int) -> _Step:
        span, name = relationship.span, relationship.variable
        plain = replace(relationship, length=None)
        names: list[ast.Variable] = []
        found: list[ast.RelationshipPattern] = []
        for _ in range(length):
            own = None if name is None else self._unused.named(name.name, span)
            found.append(replace(plain if name is None or own is None else _called(plain, name, own), variable=own))
            names += [] if own is None else [own]
        if name is not None:
            listed = ast.ListLiteral(tuple(names), span=name.span)
            if name.name in self._incoming:
                self._conditions.append(ast.Binary("=", name, listed, span=name.span))
            else:
                self._lists[name.name] = listed
        between = ast.NodePattern(None, None, None, None, span=span)
        return _Step(tuple(found), (between,) * (length - 1))

    def _repeated(
        self, relationship: ast.RelationshipPattern, inside: ast.PathPattern, length: int
    ) -> list[ast.PathPattern]:
        """A repeated pattern as often as it stands there, with other names each time."""
        names = dict.fromkeys(named([*inside.nodes, *inside.relationships]))
        times = [{name: self._unused.named(name, relationship.span) for name in names} for _ in range(length)]
        if relationship.where is not None:
            self._conditions += (substituted(relationship.where, own) for own in times)
        for name in names:
            listed = ast.ListLiteral(tuple(own[name] for own in times), span=relationship.span)
            if name in self._incoming:
                self._conditions.append(ast.Binary("=", ast.Variable(name, span=listed.span), listed, span=listed.span))
            else:
                self._lists[name] = listed
        return [substituted(inside, own) for own in times]

    def _merged(self, node: ast.NodePattern, other: ast.NodePattern) -> ast.NodePattern:
        """The node that both are; what the other says of it stands beside."""
        if node.variable is None and other.variable is not None:
            node = replace(node, variable=other.variable)
        elif node.variable is None:
            node = replace(node, variable=self._unused.named("node", node.span))
        own, name = node.variable, other.variable
        assert own is not None
        own = self._same.get(own.name, own)
        if name is not None and (again := self._same.get(name.name, name)).name != own.name:
            if again.name in self._incoming and own.name in self._incoming:
                self._equal.append(ast.Binary("=", own, again, span=other.span))
            if again.name in self._incoming and own.name not in self._incoming:
                self._become(own.name, again)
                own = again
            else:
                self._become(again.name, own)
        self._beside.append(ast.PathPattern(None, (replace(other, variable=own),), (), span=other.span))
        return node

    def _become(self, name: str, other: ast.Variable) -> None:
        self._same = {each: other if to.name == name else to for each, to in self._same.items()}
        self._same[name] = other


def _is_fixed(path: ast.PathPattern) -> bool:
    return path.shortest is None and all(each.length is None for each in path.relationships)


def _is_told(path: ast.PathPattern) -> bool:
    """Whether all that is on it has names."""
    return len([*named(path.nodes), *named(path.relationships)]) == 1 + 2 * len(path.relationships)


def _called(relationship: ast.RelationshipPattern, name: ast.Variable, own: ast.Variable) -> ast.RelationshipPattern:
    """One of the relationships that a name stands for: its condition speaks of it alone."""
    return replace(relationship, where=substituted(relationship.where, {name.name: own}))

"""Which MATCH clauses are matched together, as one query graph.

Consecutive MATCH clauses are, with those OPTIONAL ones among them of which nothing but the number of matches is asked.
An OPTIONAL MATCH whose variables a later clause speaks of is a segment of its own. A WITH between them that carries
names on as they are changes no row: it is left out. Match modes hold for each clause by itself, however many are
matched together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gquery.grammar import ast
from gquery.planner.binding.mentions import (
    binds,
    is_random,
    links_of,
    name_of,
    named,
    names_after,
    names_bare_path,
    names_in,
    nodes_of,
    repeated_in,
)
from gquery.planner.binding.subqueries.in_expressions import holds_subquery
from gquery.planner.binding.subqueries.pattern_condition import is_checked_while_matching
from gquery.records import replace

MOST_NODES = 300  # of a query whose patterns are put together


def without_plain_projections(clauses: Sequence[ast.Clause]) -> Sequence[ast.Clause]:
    """The clauses without any WITH that only carries names on. Its conditions go to the MATCH before it."""
    if not any(isinstance(clause, ast.With) for clause in clauses):
        return clauses
    found: list[ast.Clause] = []
    known: set[str] = set()
    nodes = sum(len(path.nodes) for each in _matches(clauses) for path in each.patterns)
    small = nodes <= MOST_NODES and not any(map(is_random, clauses))  # a random value is one for each row
    for place, clause in enumerate(clauses):
        if isinstance(clause, ast.Match):
            known.update(binds(clause))
        if isinstance(clause, ast.Unwind):
            known.add(clause.variable.name)
        if isinstance(clause, ast.Call):
            known.update(names_after(clause.query))
        if not isinstance(clause, ast.With):
            found.append(clause)
            continue
        carried = _carried(clause, known)
        joined = _with_condition(found[-1], clause.where) if found and small and carried else None
        if joined is not None and _may_be_known(known, known - carried, clauses[place + 1 :]):
            found[-1] = joined
        else:
            found.append(clause)
        before = known if clause.star else set()
        known = carried or before.union(name for item in clause.items if (name := name_of(item)) is not None)
    return found


def _matches(clauses: Sequence[ast.Clause]) -> Iterator[ast.Match]:
    return (clause for clause in clauses if isinstance(clause, ast.Match))


def _carried(clause: ast.With, known: set[str]) -> set[str]:
    """The names that a WITH carries on, where it does nothing else; none where it does."""
    if clause.distinct or clause.order_by or clause.skip is not None or clause.limit is not None:
        return set()
    names = [
        item.expression.name
        for item in clause.items
        if isinstance(item.expression, ast.Variable) and item.alias in (None, item.expression.name)
    ]
    carried = known.intersection(names) | (known if clause.star else set())
    return carried if len(names) == len(clause.items) == len(carried.intersection(names)) else set()


def _with_condition(clause: ast.Clause, where: ast.Expression | None) -> ast.Match | None:
    """The MATCH with one more condition; None where it cannot have it."""
    if not isinstance(clause, ast.Match) or (where is not None and (clause.optional or holds_subquery(where))):
        return None
    if where is None or clause.where is None:
        return replace(clause, where=where or clause.where)
    span = clause.where.span.to(where.span)
    return replace(clause, where=ast.Binary(operator="and", left=clause.where, right=where, span=span))


def _may_be_known(known: set[str], dropped: set[str], later: Sequence[ast.Clause]) -> bool:
    """Whether later clauses are the same with the names of before in sight, those that a WITH drops too: they use none
    of these again, and say of a known element nothing that would have to be true of it before, too."""
    if dropped and any(isinstance(clause, ast.Projecting) and clause.star for clause in later):
        return False
    if not dropped.isdisjoint(name for clause in later for name in names_in(clause)):
        return False
    for path in (path for clause in _matches(later) for path in clause.patterns):
        labelled = [node for node in path.nodes if node.labels is not None]
        if not known.isdisjoint(named([path, *path.relationships, *repeated_in(path), *labelled])):
            return False
    return True


def grouped(
    clauses: Sequence[ast.Match], after: ast.Clause | None, incoming: set[str], all_apart: bool
) -> Iterator[tuple[ast.Match, ...]]:
    """The MATCH clauses before `after`, and behind the last other clause before them, by segment; None where nothing
    but their number is asked. incoming: the names that are bound before. all_apart: each OPTIONAL MATCH is alone."""
    optional = {number for number, clause in enumerate(clauses) if clause.optional}
    apart = optional if all_apart or not optional else _apart(clauses, after, incoming)
    together: list[ast.Match] = []
    for number, clause in enumerate(clauses):
        if number not in apart:
            together.append(clause)
            continue
        if together:
            yield tuple(together)
        yield (clause,)
        together = []
    if together:
        yield tuple(together)


def names_nothing_new(clause: ast.Match, known: set[str]) -> bool:
    """Whether all that its patterns, of fixed lengths, match is known before: then they match once, if at all."""
    parts: list[ast.NodePattern | ast.RelationshipPattern] = []
    for path in clause.patterns:
        parts += (*path.nodes, *path.relationships)
    return all(part.variable is not None for part in parts) and known.issuperset(binds(clause))


class _Clause:
    """What a clause speaks of, as far as the tree tells. binds: the names in its patterns; nodes: those of nodes;
    links: those of relationships."""

    def __init__(self, clause: ast.Match) -> None:
        self.clause = clause
        self.links = links_of(clause)
        self.mentions = set(names_in(clause))
        self.nodes = set(nodes_of(clause))
        self.binds = set(binds(clause))


def _apart(clauses: Sequence[ast.Match], after: ast.Clause | None, incoming: set[str]) -> set[int]:
    """The OPTIONAL MATCHes that are segments of their own."""
    told = [_Clause(clause) for clause in clauses]
    apart: set[int] = set()
    while True:
        apart |= _spoken_of(told, after, incoming, apart)
        misfits = _misfits(told, incoming, apart)
        if not misfits:
            return apart
        apart |= misfits


def _spoken_of(clauses: list[_Clause], after: ast.Clause | None, incoming: set[str], apart: set[int]) -> set[int]:
    """Those that bind what `after`, a MATCH or another such clause speaks of; behind what is no projection everything
    may be."""
    spoken_of = set() if after is None else set(names_in(after))
    if after is not None and not (isinstance(after, ast.Projecting) and not after.star):
        spoken_of.update(*(each.binds for each in clauses))
    found: set[int] = set()
    for number in reversed(range(len(clauses))):
        here = clauses[number]
        new = here.binds.difference(incoming, *(each.binds for each in clauses[:number]))
        if here.clause.optional and new & spoken_of:
            found.add(number)
        if not here.clause.optional or number in found | apart:
            spoken_of |= here.mentions
    return found


def _misfits(clauses: list[_Clause], incoming: set[str], apart: set[int]) -> set[int]:
    """Those that cannot be parts of a query graph: they speak of what it does not have, or of several parts of which
    none hangs on the others, or ask for what cannot be asked while matching."""
    found: set[int] = set()
    owner: dict[str, int | None] = {}
    nodes: set[str] = set()
    earlier = set(incoming)
    hangs_on: dict[int, set[int]] = {}
    for number, here in enumerate(clauses):
        if number in apart:
            owner, nodes = {}, set()
        elif not here.clause.optional:
            owner.update(dict.fromkeys(here.binds - owner.keys(), None))
            nodes |= here.nodes
        else:
            used = {part for name in here.binds if (part := owner.get(name)) is not None}
            hangs_on[number] = next((lineage for part in used if used <= (lineage := {part} | hangs_on[part])), set())
            told = {part for name in here.mentions if (part := owner.get(name)) is not None}
            nodes |= here.nodes
            fits = told <= hangs_on[number] and here.mentions & earlier <= owner.keys()
            fits = fits and _is_with_match(clauses, number, apart) and here.links.isdisjoint(earlier)
            fits = fits and not names_bare_path(here.clause)
            if not fits or not is_checked_while_matching(here.clause, nodes):
                found.add(number)
            owner.update(dict.fromkeys(here.binds - owner.keys(), number))
        earlier |= here.binds
    return found


def _is_with_match(clauses: list[_Clause], number: int, apart: set[int]) -> bool:
    """Whether a MATCH is among the clauses that would be matched together with this one."""
    begin = max((other + 1 for other in apart if other < number), default=0)
    end = min((other for other in apart if other > number), default=len(clauses))
    return any(not each.clause.optional for each in clauses[begin:end])

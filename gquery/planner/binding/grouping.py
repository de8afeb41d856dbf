"""Which MATCH clauses are matched together, as one query graph.

Consecutive MATCH clauses are, with those OPTIONAL ones among them of which nothing but the number of matches is asked.
An OPTIONAL MATCH whose variables a later clause speaks of is a segment of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gquery.grammar import ast
from gquery.planner.binding.mentions import binds, names_in, nodes_of
from gquery.planner.binding.pattern_condition import is_checked_while_matching


def grouped(clauses: Sequence[ast.Match], after: ast.Projecting, incoming: set[str]) -> Iterator[tuple[ast.Match, ...]]:
    """The clauses between two projections, of which `after` is the second, by segment. incoming: the names that are
    bound before."""
    apart = _apart(clauses, after, incoming) if any(clause.optional for clause in clauses) else set()
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


class _Clause:
    """What a clause speaks of, as far as the tree tells. binds: the names in its patterns; nodes: those of nodes."""

    def __init__(self, clause: ast.Match) -> None:
        self.clause = clause
        self.mentions = set(names_in(clause))
        self.nodes = set(nodes_of(clause))
        self.binds = set(binds(clause))


def _apart(clauses: Sequence[ast.Match], after: ast.Projecting, incoming: set[str]) -> set[int]:
    """The OPTIONAL MATCHes that are segments of their own."""
    told = [_Clause(clause) for clause in clauses]
    apart: set[int] = set()
    while True:
        apart |= _spoken_of(told, after, incoming, apart)
        misfits = _misfits(told, incoming, apart)
        if not misfits:
            return apart
        apart |= misfits


def _spoken_of(clauses: list[_Clause], after: ast.Projecting, incoming: set[str], apart: set[int]) -> set[int]:
    """Those that bind what the projection, a MATCH or another such clause speaks of."""
    spoken_of = set(names_in(after))
    if after.star:
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
            fits = fits and _is_with_match(clauses, number, apart)
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

"""Conditions on all relationships or nodes of a path, as conditions of its relationship of variable length.

`MATCH (a)-[r:X*]->(b) WHERE all(e IN r WHERE e.t > 3)` is `MATCH (a)-[r:X* WHERE r.t > 3]->(b)`: nothing is searched
for behind what does not fit, instead of all paths being looked at.
"""

from __future__ import annotations

from collections.abc import Iterable

from gquery.grammar import ast
from gquery.planner.binding.lengths.conditions.following import following
from gquery.planner.binding.lengths.conditions.safe import cannot_fail
from gquery.planner.binding.lengths.names import substituted
from gquery.planner.binding.lengths.written import call, negated
from gquery.planner.binding.mentions import is_random, names_in
from gquery.records import record

_ENDS = ("startnode", "endnode")


@record(frozen=True, slots=True)
class Inlined:
    """What is asked of each of the relationships; of each and the ends of the path, or what may fail; of the node that
    the first begins at; and of each but the first and the one before it. told: the conditions that say so, of which
    nothing else is left to ask: what may fail for two that follow each other is asked of whole paths, too."""

    each: list[ast.Expression]
    of_ends: list[ast.Expression]
    begin: list[ast.Expression]
    following: list[ast.Expression]
    told: list[ast.Expression]


@record(frozen=True, slots=True)
class Inlining:
    """path: one with a relationship of variable length; listed: the name of the list that stands for it, where it is
    not known before. begin, end: the nodes that it is between; one, before: what each of the relationships, and the one
    before it, are called."""

    path: ast.PathPattern
    listed: str | None
    begin: ast.Variable
    end: ast.Variable
    one: ast.Variable
    before: ast.Variable

    def of(self, conditions: Iterable[ast.Expression]) -> Inlined:
        found = Inlined([], [], [], [], [])
        ends = self.begin.name, self.end.name
        for each in conditions:
            if not isinstance(each, ast.Comprehension) or each.form not in ("all", "none") or is_random(each):
                continue
            alone = each.where is not None and {*names_in(each.where)} <= {each.variable.name, *ends}
            if alone and (self._is_list(each.items) or self._is_of_path(each.items, "relationships")):
                self._take(_asked(each, self.one), found)
                found.told.extend([each] if self._is_list(each.items) else [])
            elif alone and self._is_of_path(each.items, "nodes") and cannot_fail(_asked(each, self.begin)):
                for end in _ENDS:
                    self._take(_asked(each, call(end, self.one)), found)
                found.begin.append(_asked(each, self.begin))
                found.told.extend([each] if self._is_whole else [])
            elif (pair := following(each, self._is_list, self.before, self.one)) is not None:
                found.following.append(pair)
                found.told.extend([each] if cannot_fail(pair) else [])
        return found

    def _take(self, condition: ast.Expression, found: Inlined) -> None:
        alone = set(names_in(condition)) <= {self.one.name} and cannot_fail(condition)
        (found.each if alone else found.of_ends).append(condition)

    @property
    def _is_whole(self) -> bool:
        """Whether there is nothing else on the path."""
        return len(self.path.relationships) == 1

    def _is_list(self, tree: ast.Expression) -> bool:
        if isinstance(tree, ast.Variable):
            return tree.name == self.listed
        return self._is_whole and self._is_of_path(tree, "relationships")

    def _is_of_path(self, tree: ast.Expression, function: str) -> bool:
        whole = self.path.variable
        match tree:
            case ast.FunctionCall(name=name, arguments=(ast.Variable() as argument,)):
                return name == function and argument == whole
        return False


def _asked(condition: ast.Comprehension, element: ast.Expression) -> ast.Expression:
    asked = substituted(condition.where, {condition.variable.name: element})
    return negated(asked) if condition.form == "none" else asked

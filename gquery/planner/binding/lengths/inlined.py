"""Conditions on all relationships or nodes of a path, as conditions of its relationship of variable length.

`MATCH (a)-[r:X*]->(b) WHERE all(e IN r WHERE e.t > 3)` is `MATCH (a)-[r:X* WHERE r.t > 3]->(b)`: nothing is searched
for behind what does not fit, instead of all paths being looked at.
"""

from __future__ import annotations

from gquery.grammar import ast
from gquery.planner.binding.lengths.names import substituted
from gquery.planner.binding.lengths.written import call, negated
from gquery.planner.binding.mentions import is_random, names_in
from gquery.records import record

_ENDS = ("startnode", "endnode")


@record(frozen=True, slots=True)
class Inlined:
    """What is asked of `one`, each relationship of a path of variable length, and of the node that it begins at: begin.
    told: the conditions that say so, of which nothing else is left to ask."""

    one: list[ast.Expression]
    begin: list[ast.Expression]
    told: list[ast.Expression]


def inlined(
    conditions: list[ast.Expression], path: ast.PathPattern, name: str | None, one: ast.Variable, begin: ast.Variable
) -> Inlined:
    """name: that of the list of relationships, where it is not known before."""
    found = Inlined([], [], [])
    alone = len(path.relationships) == 1
    for each in conditions:
        if not isinstance(each, ast.Comprehension) or not _is_of_each(each):
            continue
        match each.items:
            case ast.Variable(name=listed) if listed == name:
                found.one.append(_asked(each, one))
                found.told.append(each)
            case ast.FunctionCall(name="relationships" | "nodes" as parts, arguments=(ast.Variable(name=whole),)):
                if path.variable is None or whole != path.variable.name:
                    continue
                elements = [one] if parts == "relationships" else [call(end, one) for end in _ENDS]
                found.one.extend(_asked(each, element) for element in elements)
                found.begin.extend([_asked(each, begin)] if parts == "nodes" else [])
                found.told.extend([each] if alone else [])
    return found


def _is_of_each(condition: ast.Comprehension) -> bool:
    """Whether it asks something of each item alone."""
    asked = condition.where
    if condition.form not in ("all", "none") or asked is None or is_random(asked):
        return False
    return set(names_in(asked)) <= {condition.variable.name}


def _asked(condition: ast.Comprehension, element: ast.Expression) -> ast.Expression:
    asked = substituted(condition.where, {condition.variable.name: element})
    return negated(asked) if condition.form == "none" else asked

"""Which conditions on rows are look-ups: a vertex's property or id is to be equal to a value that each row has.

Matching then begins at the vertices that the values name, as it does at vertices that rows have themselves. Where seeds
have several columns, each seed may name but few vertices in each: look-ups by what no two vertices share.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import pyarrow as pa

from gquery.planner.ir.expr import Attribute, Call, Column, Expression, Kind, Type, is_volatile, variables
from gquery.planner.ir.segments import Lookup, Match
from gquery.planner.ir.types.common_type import DATE
from gquery.planner.search.context import Context
from gquery.records import replace


def with_lookups(match: Match, context: Context) -> Match:
    """The match with its look-ups apart from the other conditions."""
    found: dict[str, Lookup] = {}
    for lookup in _lookups(match, context):
        if lookup.unique:
            found.setdefault(lookup.vertex, lookup)
    if not found and not match.bound:
        found = {lookup.vertex: lookup for lookup in [*_lookups(match, context)][:1]}
    taken = [lookup.condition for lookup in found.values()]
    left = tuple(condition for condition in match.predicates if condition not in taken)
    return replace(match, predicates=left, lookups=tuple(found.values())) if found else match


def _lookups(match: Match, context: Context) -> Iterator[Lookup]:
    tables = {vertex.variable: vertex.tables for vertex in match.graph.vertices if vertex.variable not in match.bound}
    before = {variable.name for variable in match.input}
    for condition in match.predicates:
        if not (isinstance(condition, Call) and condition.function == "=") or is_volatile(condition):
            continue
        for key, value in (condition.arguments, condition.arguments[::-1]):
            if _is_key(key) and key.variable in tables and variables(value) <= before and _says_which(key, value):
                name = None if key.attribute is Attribute.ID else key.key
                unique = all(context.statistics.unique(table, name) for table in tables[key.variable])
                yield Lookup(key.variable, key, value, condition, unique)
                break


def _is_key(expression: Expression) -> TypeGuard[Column]:
    return isinstance(expression, Column) and expression.attribute in (Attribute.PROPERTY, Attribute.ID)


def _says_which(key: Expression, value: Expression) -> bool:
    """Whether values of their types are equal when they are the same whole number, text or day, and never else."""
    keys, values = (set(side.type.members or (side.type,)) for side in (key, value))
    if all(each == DATE for each in keys | values):
        return True
    plain = all(_is_whole(each) or each.kind is Kind.STRING for each in keys)
    return plain and all(_is_whole(each) or each.kind in (Kind.STRING, Kind.BOOLEAN) for each in values)


def _is_whole(type_: Type) -> bool:
    """Whether values are whole numbers within 64 bits, one of which is the sign."""
    return type_.kind is Kind.INTEGER and type_.arrow is not None and not pa.types.is_uint64(type_.arrow)

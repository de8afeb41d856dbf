"""Whether a value is among the items of a list: true, else null when one of them may be it.

A list that is looked for among lists is compared with each of them item by item only where null or NaN may decide.
"""

from __future__ import annotations

from gquery.executor.relational.sql.comparison import PLAIN_ITEMS, all_known, equal, one_of, truth_code
from gquery.executor.relational.sql.values import key
from gquery.planner.ir.expr import Kind, Type
from gquery.planner.ir.functions.calls import comparable
from gquery.planner.ir.types.common_type import family, holds_any, unify

_ITEM = '" item"'  # what a lambda calls what it is given


def any_equal(value: str, one: Type, items: str, item: Type) -> str:
    """Whether one of a list's items is equal to a value: true, else null when one may be."""
    if one.kind is item.kind and one.kind in PLAIN_ITEMS - {Kind.FLOAT}:
        return (
            f"CASE WHEN {items} IS NULL THEN NULL WHEN len({items}) = 0 THEN FALSE WHEN {value} IS NULL THEN NULL "
            f"WHEN list_contains({items}, {value}) THEN TRUE WHEN list_count({items}) = len({items}) THEN FALSE END"
        )
    if finds_whole(one, item):
        return any_whole([value, items, searched(items, item, one), doubtful(items, item)], one, item)
    return _one_by_one(value, one, items, item)


def _one_by_one(value: str, one: Type, items: str, item: Type) -> str:
    pair = equal(value, one, _ITEM, item, depth=1)
    return one_of(f"list_max(list_transform({items}, lambda {_ITEM}: {truth_code(pair)}))", items, "FALSE")


def finds_whole(one: Type, item: Type | None) -> bool:
    """Whether a list is looked for among lists as a whole: where both hold numbers, texts and booleans, perhaps several
    of them. One without null and NaN may only be equal to a list that has null, and is equal to none of those."""
    return item is not None and _have_values(one) and _have_values(item) and comparable(one, item)


def any_whole(texts: list[str], one: Type, item: Type) -> str:
    """`any_equal` of lists that are found whole. texts: the value, the items, what is searched of them, and those that
    have null or NaN."""
    value, items, found_in, doubts = texts
    may_be_equal = equal(value, one, _ITEM, item, depth=1)
    return (
        f"CASE WHEN {items} IS NULL THEN NULL "
        f"WHEN {all_known(value, one)} IS NOT TRUE THEN {_one_by_one(value, one, items, item)} "
        f"WHEN list_contains({found_in}, {_sought(value, one, item)}) THEN TRUE "
        f"WHEN len(list_filter({doubts}, lambda {_ITEM}: ({may_be_equal}) IS NULL)) = 0 THEN FALSE END"
    )


def searched(items: str, item: Type, one: Type) -> str:
    """What a list is looked for in: the items of a list of lists, by their keys where DuckDB compares otherwise."""
    common = _keyed(one, item)
    return f"list_transform({items}, lambda {_ITEM}: {key(_ITEM, item, common)})" if common else items


def _sought(value: str, one: Type, item: Type) -> str:
    common = _keyed(one, item)
    return key(value, one, common) if common else value


def _keyed(one: Type, other: Type) -> Type | None:
    """The type among whose values two lists compare by their keys; None where their items are equal when DuckDB says
    so: where they are of one type, or of the same types, no two of which have equal values."""
    common = unify((one, other))
    if common.item is None or not holds_any(common):
        return None
    members = common.item.members
    apart = len({family(member, members) for member in members}) == len(members)
    return None if one == other and apart else common


def doubtful(items: str, item: Type) -> str:
    """The items that have null or NaN among theirs, or are null."""
    return f"list_filter({items}, lambda {_ITEM}: {all_known(_ITEM, item)} IS NOT TRUE)"


def _have_values(type_: Type) -> bool:
    """Whether a list's items are numbers, texts and booleans, maybe several of them."""
    item = type_.item
    return item is not None and {item.kind, *(member.kind for member in item.members)} <= {*PLAIN_ITEMS, Kind.ANY}

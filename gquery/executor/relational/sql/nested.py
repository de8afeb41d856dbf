"""Lists within lists: what is made for each item of a list.

DuckDB counts no memory for the values of an expression and is not interrupted while it computes one, so that a few
words, `[x IN range(1, 1000000) | range(1, 1000000)]`, would fill any memory. All items that are gone through for one
value are therefore counted before they are made.
"""

from __future__ import annotations

from collections.abc import Callable

from gquery.errors import UnsupportedError
from gquery.executor.relational.growth import MOST_WITHIN, error, grows
from gquery.planner.ir.expr import Call, Column, Comprehension, Expression, Kind, Local, Parameter, Reduce, walk

_SHORT = 200  # characters of a length that may be written, and computed, again for every item
_NAMES_INSIDE = 4
_TOO_MANY = error(f"lists within lists have at most {MOST_WITHIN:,} items together")


def goes_through_more(comprehension: Comprehension) -> bool:
    """Whether lists or long texts are made, or gone through, for each item."""
    parts = [part for part in (comprehension.where, comprehension.result) if part is not None]
    inside = (each for part in parts for each in walk(part))
    makes_more = (
        isinstance(each, Comprehension | Reduce) or (isinstance(each, Call) and grows(each, False)) for each in inside
    )
    return has_long_result(comprehension) or any(makes_more)


def has_long_result(comprehension: Comprehension) -> bool:
    """Whether the result for each item is the same list or text from outside."""
    result = comprehension.result
    outside = isinstance(result, Column | Parameter | Local) and result != comprehension.variable
    return outside and result is not None and result.type.kind in (Kind.LIST, Kind.STRING)


def length_of(items: Expression, text: str, write: Callable[[Expression], str]) -> str | None:
    """SQL of how many items there are; None where the list, which is `text`, would have to be made for that."""
    match items:
        case Call(function="list", arguments=written):
            return str(len(written))
        case Call(function="range", arguments=bounds):
            start, stop, step = (*map(write, bounds), "1")[:3]
            length = f"greatest(({stop}::HUGEINT - {start}) // nullif({step}, 0) + 1, 0)"
        case _:
            length = f"len({text})"
    return length if len(length) <= _SHORT and "lambda" not in length else None


def named(text: str, variable: Local, write: Callable[[str], str]) -> str:
    """What `write` makes of a list that gets a name of its own. Raises UnsupportedError for too many of them: DuckDB
    binds each twice for every one that it is inside of."""
    if variable.depth >= _NAMES_INSIDE:
        raise UnsupportedError("gquery has no lists within lists that are computed and so deep", span=variable.span,
                               hint="name the lists in a WITH before")  # fmt: skip
    name = f'" all {variable.depth}"'
    return f"list_transform([{text}], lambda {name}: {write(name)})[1]"


def times(around: str | None, length: str) -> str:
    """How many items lists within each other have together."""
    return f"{length}::HUGEINT" if around is None else f"{around} * {length}"


def within(value: str, count: str) -> str:
    """A list or a text of so many items with those around, or an error where these are too many."""
    return f"CASE WHEN {count} > {MOST_WITHIN} THEN {_TOO_MANY} ELSE {value} END"

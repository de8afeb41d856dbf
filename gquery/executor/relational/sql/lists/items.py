"""Lists item by item, by lambdas of DuckDB: comprehensions, `all`, `any`, `none`, `single`, and `reduce`.

What is asked of an item has three values: one of which it is unknown leaves open what the others do not decide.

DuckDB counts no memory for the values of an expression and is not interrupted while it computes one, so that a few
words, `[x IN range(1, 1000000) | range(1, 1000000)]`, would fill any memory. All items that are gone through for one
value are therefore counted before they are made.
"""

from __future__ import annotations

from collections.abc import Callable

from gquery.errors import UnsupportedError
from gquery.executor.relational.growth import MOST_WITHIN, copies_in_step, error, grows
from gquery.executor.relational.sql.comparison import one_of, truth_code
from gquery.executor.relational.sql.lists.weights import LONGEST_LIST, LONGEST_TEXT, weight
from gquery.executor.relational.sql.once import once
from gquery.executor.relational.sql.values import sql_type
from gquery.planner.ir.expr import (
    Call,
    Column,
    Comprehension,
    Expression,
    Form,
    Kind,
    Local,
    Parameter,
    Reduce,
    walk,
)

_TOO_LONG = error(f"reduce() makes lists of at most {LONGEST_LIST:,} values, texts of {LONGEST_TEXT:,} characters")
_FEW_COPIES = 4  # in a step of reduce(), that are let beyond
_SHORT = 200  # characters of a length that may be written, and computed, again for every item
_NAMES_INSIDE = 4
_TOO_MANY = error(f"lists within lists have at most {MOST_WITHIN:,} items together")
_TRUE = 2**31  # what an item of which it is true adds to a sum, where one of which it is unknown adds 1


def name_of(local: Local) -> str:
    """The parameter of a lambda that stands for it: no column's name begins with a blank and is a number."""
    return f'" {local.depth}"'


def listed(items: str, variable: Local, where: str | None, result: str | None) -> str:
    """The results for the items of which the condition is true."""
    name = name_of(variable)
    kept = items if where is None else f"list_filter({items}, lambda {name}: ({where})::BOOLEAN)"
    return kept if result is None else f"list_transform({kept}, lambda {name}: {result})"


def quantified(form: Form, items: str, variable: Local, where: str) -> str:
    """Whether the condition is true of all items, of any, of none, or of a single one."""
    condition = f"({where})::BOOLEAN"
    code = f"coalesce({condition}::BIGINT * {_TRUE}, 1)" if form == "single" else truth_code(condition)
    codes = f"list_transform({items}, lambda {name_of(variable)}: {code})"
    return once([codes], [False], lambda given: _TESTS[form](given[0]))


def reduced(reduce: Reduce, initial: str, items: str, step: str) -> str:
    """The accumulator after all items. DuckDB wants it to be of the items' type: both are fields of one struct, where
    `reduced_names` says. Before a step DuckDB looks at the first field, which fails where the second is too long."""
    names, types = (reduce.accumulator, reduce.variable), (reduce.type, reduce.variable.type)
    most = LONGEST_TEXT // max(1, copies_in_step(reduce) // _FEW_COPIES)
    of_both = f"STRUCT(i {sql_type(types[1])}, a {sql_type(types[0])})"
    accumulator, item = map(name_of, names)
    given = f"list_transform({items}, lambda {item}: {{i: {item}, a: NULL}}::{of_both})"
    long = weight(f"{accumulator}.a", types[0])
    checked = "NULL" if long is None else f"CASE WHEN {long} > {most} THEN {_TOO_LONG} END"
    taken = f"lambda {accumulator}, {item}: {{i: {checked}, a: {step}}}::{of_both}"
    return f"struct_extract(list_reduce({given}, {taken}, {{i: NULL, a: {initial}}}::{of_both}), 'a')"


def reduced_names(accumulator: Local, item: Local) -> dict[Local, str]:
    """How the step of a reduction reads its two names."""
    return {accumulator: f"{name_of(accumulator)}.a", item: f"{name_of(item)}.i"}


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


def _single(codes: str) -> str:
    found = f"coalesce(list_sum({codes}), 0)"
    tests = f"WHEN {found} IN (0, {_TRUE}) THEN {found} > 0 WHEN {found} >= {2 * _TRUE} THEN FALSE"
    return f"CASE WHEN {codes} IS NULL THEN NULL {tests} END"


_TESTS = {
    "all": lambda codes: one_of(f"list_min({codes})", codes, "TRUE"),
    "any": lambda codes: one_of(f"list_max({codes})", codes, "FALSE"),
    "none": lambda codes: f"(NOT {one_of(f'list_max({codes})', codes, 'FALSE')})",
    "single": _single,
}

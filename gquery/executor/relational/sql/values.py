"""Numbers of unlike types and values of several types in SQL: how they are compared, and made of one type.

A value of type ANY is a DuckDB UNION. DuckDB compares unions by their member first and an integer with a float as
floats; Cypher compares by value, exactly. So such values are compared, grouped and sorted by their *keys*, structs
whose order and equality are Cypher's:

    f     the family of values, in the order in which ORDER BY puts families
    d     of a number: the float that is nearest
    r, q  of a number: what it has beyond `d`, as a whole number and a fraction; 0 for every float
    m...  of any other value: the value itself, in the field of its family; a point in time without its zone, or its
            nanoseconds since 1970 where any has some

Beside a decimal a float is the number that it is written as: 0.57 is 0.57, although a float only comes near it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from gquery.executor.relational.sql.once import once
from gquery.executor.relational.sql.time.durations import SQL_TYPE as DURATION_TYPE
from gquery.executor.relational.sql.time.durations import is_duration, length
from gquery.executor.relational.sql.time.moments import alike, in_units_of, is_fine, nanoseconds
from gquery.executor.relational.sql.words import literal, quoted
from gquery.executor.relational.unions import member_names
from gquery.planner.ir.expr import Call, Kind, Type
from gquery.planner.ir.types.common_type import (
    MOST_DIGITS,
    NUMBERS,
    common_number,
    digits_and_scale,
    family,
    family_type,
    holds_any,
    member_of,
    unify,
)

_EXACT_DIGITS = 15  # decimals of so many digits are told apart by the floats that are nearest
EMPTY_MAP, EMPTY_MAP_TYPE = "' ': NULL", '" " INTEGER'  # a field that no answer shows
_ATOM = re.compile(
    r"""\0\w+:\d+\0 | (\w+\.)?"([^"]|"")*"(\[\d+\])? | \w+\.\w+ | e\d* | \$\w+ | CAST\(\$\w+\ AS\ [\w(),]+\) |
        \(?-?\d+\)?::BIGINT | '([^']|'')*'(::DOUBLE)?""",
    re.VERBOSE,
)


def bound(texts: tuple[str, ...], write: Callable[..., str]) -> str:
    """SQL that speaks of some values several times; what is more than a name stands in it once."""
    return once(texts, [_ATOM.fullmatch(text) is not None for text in texts], lambda marks: write(*marks))


# --- comparing ---------------------------------------------------------------------------------------------------


def needs_keys(one: Type, other: Type) -> bool:
    """Whether values of the two types compare by their keys; lists and maps compare by their items."""
    kinds = {one.kind, other.kind}
    if Kind.NULL in kinds:
        return False
    if Kind.ANY in kinds:
        return True
    return kinds <= NUMBERS and common_number((one, other)) is None


def compared(operator: str, left: str, one: Type, right: str, other: Type) -> str:
    """A comparison by keys. NaN equals nothing and is in no order; families of values have no order among them."""
    common = unify((one, other))
    families = {family(member, common.members) for member in common.members}
    ordered = operator not in ("=", "<>")

    def write(left: str, right: str) -> str:
        keys = key(left, one, common), key(right, other, common)
        cases = [f"WHEN {left} IS NULL OR {right} IS NULL THEN NULL"]
        if ordered and len(families) > 1:
            cases.append(f"WHEN ({keys[0]}).f <> ({keys[1]}).f THEN NULL")
        nan = [*is_nan(left, one), *is_nan(right, other)]
        if nan:
            cases.append(f"WHEN {' OR '.join(nan)} THEN {'TRUE' if operator == '<>' else 'FALSE'}")
        return f"CASE {' '.join(cases)} ELSE {keys[0]} {operator} {keys[1]} END"

    return bound((left, right), write)


def key(sql: str, type_: Type, common: Type, depth: int = 0) -> str:
    """The key of the value that an atom of SQL stands for, among values of the type `common`."""
    if type_.kind is Kind.NULL:
        return "NULL"
    if common.kind is Kind.ANY:
        return f"CASE WHEN {sql} IS NULL THEN NULL ELSE {_struct(sql, type_, common, depth)} END"
    if not has_key(common):
        return sql
    if type_.kind is Kind.TEMPORAL:
        return _time_key(sql, type_)
    if common.kind is Kind.LIST and type_.item is not None and common.item is not None:
        name = f"e{depth + 1}"
        return f"list_transform({sql}, lambda {name}: {key(name, type_.item, common.item, depth + 1)})"
    if common.kind is Kind.MAP:
        names = [literal(name) for name, _ in common.fields]
        pairs = zip(names, type_.fields, common.fields, strict=True)
        fields = (f"{name}: {key(f'struct_extract({sql}, {name})', of, among, depth)}"
                  for name, (_, of), (_, among) in pairs)  # fmt: skip
        return f"CASE WHEN {sql} IS NULL THEN NULL ELSE {{{', '.join(fields)}}} END"
    return sql


def sorting_key(sql: str, type_: Type) -> str:
    """What a value is sorted and grouped by: itself, unless it has a key."""
    return bound((sql,), lambda value: key(value, type_, type_)) if has_key(type_) else sql


def has_key(type_: Type) -> bool:
    """Whether values are sorted and told apart by something else than themselves, or hold values that are."""
    if type_.kind is Kind.ANY or _is_struct(type_):
        return True
    return (type_.item is not None and has_key(type_.item)) or any(has_key(field) for _, field in type_.fields)


def _is_struct(type_: Type) -> bool:
    """Whether it is a duration or a time of the day with an offset."""
    return type_.kind is Kind.TEMPORAL and (is_duration(type_) or pa.types.is_struct(type_.arrow))


def _time_key(sql: str, type_: Type) -> str:
    """Durations are sorted by their lengths before their parts; times of the day with an offset are equal at the same
    moment, whatever their offsets are."""
    if not is_duration(type_):
        return nanoseconds(sql, type_)
    return f"CASE WHEN {sql} IS NULL THEN NULL ELSE {{l: {length(sql)}, v: {sql}}} END"


def _struct(sql: str, type_: Type, common: Type, depth: int) -> str:
    parts = members_of(sql, type_)
    fields = {}
    families = [family(member, common.members) for member in common.members]
    if len(set(families)) > 1:
        fields["f"] = _family_of(sql, type_, common)
    for index, member in enumerate(common.members):
        if member.kind not in NUMBERS and families[index] == index:
            own = [(part, text) for part, text in parts
                   if part.kind not in NUMBERS and family(part, common.members) == index]  # fmt: skip
            fields[f"m{index}"] = _value(own, family_type(member, common.members), depth)
    numbers = [member for member in common.members if member.kind in NUMBERS]
    if numbers:
        scale = max([0, *(digits_and_scale(member)[1] for member in numbers if _is_long(member))])
        found = [_number(text, part) for part, text in parts if part.kind in NUMBERS]
        for index, name in enumerate(("d", "r", "q")):
            default, as_type = (("NULL", "DOUBLE"), ("0", "HUGEINT"), ("0", f"DECIMAL({MOST_DIGITS},{scale})"))[index]
            if name == "q" and not any(map(_is_long, numbers)):
                continue
            texts = [f"({number[index]})::{as_type}" for number in found if number[index] != "0"]
            fields[name] = f"coalesce({', '.join([*texts, f'{default}::{as_type}'])})"
    return "{" + ", ".join(f"'{name}': {text}" for name, text in fields.items()) + "}"


def _value(parts: list[tuple[Type, str]], wanted: Type, depth: int) -> str:
    """What values of a family compare by that are no numbers, of which only one part is not null."""
    if has_key(wanted):
        return next((key(text, part, wanted, depth) for part, text in parts), "NULL")
    if wanted.kind is Kind.TEMPORAL and is_fine(wanted):  # others may be of years that nanoseconds do not reach
        texts, held = [nanoseconds(text, part) for part, text in parts], "HUGEINT"
    else:
        held = sql_type(wanted)
        texts = [text if part == wanted else f"({text})::{held}" for part, text in parts]
    return f"coalesce({', '.join(texts)})" if len(texts) > 1 else (texts or [f"NULL::{held}"])[0]


def _family_of(sql: str, type_: Type, common: Type) -> str:
    if type_.kind is not Kind.ANY:
        return f"{family(type_, common.members)}::UTINYINT"
    cases = (
        f"WHEN '{name}' THEN {family(member, common.members)}"
        for name, member in zip(member_names(type_), type_.members, strict=True)
    )
    return f"CASE union_tag({sql}) {' '.join(cases)} END::UTINYINT"


def _is_long(number: Type) -> bool:
    return number.kind is Kind.DECIMAL and digits_and_scale(number)[0] > _EXACT_DIGITS


def _number(sql: str, type_: Type) -> tuple[str, str, str]:
    """The fields d, r and q of a number; null when it is null, or `0`."""
    near = f"{sql}::DOUBLE"
    if type_.kind is Kind.INTEGER:
        return near, f"({sql}::HUGEINT - {near}::HUGEINT)", "0"
    if not _is_long(type_):
        return near, "0", "0"
    # Where the nearest float is a whole number the rest is taken from it, else from the decimal that it is written as.
    digits, scale = digits_and_scale(type_)
    beyond = f"trunc({sql})::HUGEINT - {near}::HUGEINT"
    whole = f"CASE WHEN {near} = trunc({near}) THEN {beyond} WHEN {near} IS NOT NULL THEN 0 END"
    written = f"TRY_CAST({near}::VARCHAR AS DECIMAL({digits},{scale}))"
    return near, whole, f"CASE WHEN {near} = trunc({near}) THEN {sql} - trunc({sql}) ELSE {sql} - {written} END"


def is_nan(sql: str, type_: Type) -> list[str]:
    """Tests of whether a value is NaN; none where it cannot be."""
    if type_.kind is Kind.FLOAT:
        return [f"isnan({sql})"]
    floats = [index for index, member in enumerate(type_.members) if member.kind is Kind.FLOAT]
    return [f"coalesce(isnan({sql_of(sql, type_, index)}), FALSE)" for index in floats]


# --- members -----------------------------------------------------------------------------------------------------


def sql_of(sql: str, type_: Type, index: int) -> str:
    """A member of a value, null when the value is of another; a value of one type is its own only member."""
    return sql if type_.kind is not Kind.ANY else f"union_extract({sql}, '{member_names(type_)[index]}')"


def member(call: Call, arguments: list[str]) -> str:
    """A value of several types as one of the type that the call gives."""
    several = call.arguments[0].type
    return sql_of(arguments[0], several, member_of(call.type, several.members)) if several.members else arguments[0]


def members_of(sql: str, type_: Type) -> list[tuple[Type, str]]:
    """The types that a value may have, and the SQL of it as one of each."""
    return [(part, sql_of(sql, type_, index)) for index, part in enumerate(type_.members or (type_,))]


def by_member(sql: str, several: Type, write: Callable[[str, Type], str]) -> str:
    """What `write` makes of the value, whichever member it is of."""

    def written(value: str) -> str:
        texts = (write(sql_of(value, several, index), member) for index, member in enumerate(several.members))
        return f"coalesce({', '.join(texts)})"

    return bound((sql,), written)


def converted(sql: str, given: Type, wanted: Type) -> str:
    """A value of one type as one of another that holds values of several types, or finer times."""
    if is_held(given, wanted):
        return sql
    if given.kind is Kind.NULL:
        return f"NULL::{sql_type(wanted)}"
    if wanted.kind is Kind.LIST and wanted.item is not None:
        if given.item is None:
            return f"{sql}::{sql_type(wanted)}"
        item = '" item"'  # no column's name begins with a blank
        return f"list_transform({sql}, lambda {item}: {converted(item, given.item, wanted.item)})"
    if wanted.kind is Kind.TEMPORAL:
        return bound((sql,), lambda value: in_units_of(value, wanted))
    if given.kind is wanted.kind is Kind.MAP and wanted.fields:
        return bound((sql,), lambda value: _map_of(value, given, wanted))
    if wanted.kind is not Kind.ANY:
        return sql
    if given.kind is Kind.ANY:
        return by_member(sql, given, lambda value, member: _held(value, member, wanted))
    return _held(sql, given, wanted)


def _map_of(value: str, given: Type, wanted: Type) -> str:
    """A map with its values converted, key by key."""
    types = dict(given.fields)
    parts = (
        f"{literal(key)}: {converted(f'struct_extract({value}, {literal(key)})', types[key], type_)}"
        for key, type_ in wanted.fields
    )
    return f"CASE WHEN {value} IS NOT NULL THEN {{{', '.join(parts)}}} END"


def is_held(given: Type, wanted: Type) -> bool:
    """Whether DuckDB takes a value of one type for one of another by itself."""
    if given == wanted or (given.kind is Kind.NULL and not holds_any(wanted)):
        return True
    if given.kind is wanted.kind is Kind.LIST and given.item is not None and wanted.item is not None:
        return is_held(given.item, wanted.item)
    return alike(given, wanted) and not holds_any(wanted)


def _held(sql: str, given: Type, several: Type) -> str:
    """A value as the union that it is a member of; null stays null."""
    index = member_of(given, several.members)
    member, name = several.members[index], member_names(several)[index]
    union = sql_type(several)

    def write(value: str) -> str:
        return f"CASE WHEN {value} IS NOT NULL THEN union_value({name} := {value})::{union} END"

    return bound((f"{converted(sql, given, member)}::{sql_type(member)}",), write)


# --- types -------------------------------------------------------------------------------------------------------


def sql_type(type_: Type) -> str:
    """DuckDB's name of the type in which values travel."""
    arrow = type_.arrow
    match type_.kind:
        case Kind.ANY:
            names = member_names(type_)
            parts = (f"{name} {sql_type(member)}" for name, member in zip(names, type_.members, strict=True))
            return f"UNION({', '.join(parts)})"
        case Kind.LIST:
            return f"{sql_type(type_.item)}[]" if type_.item is not None else "INTEGER[]"
        case Kind.MAP:
            parts = (f"{quoted(name)} {sql_type(field)}" for name, field in type_.fields)
            return f"STRUCT({', '.join(parts) or EMPTY_MAP_TYPE})"
        case Kind.DECIMAL:
            digits, scale = digits_and_scale(type_)
            return f"DECIMAL({min(digits, MOST_DIGITS)},{scale})"
        case Kind.PATH:
            return "STRUCT(nodes INTEGER[], relationships BIGINT[])"
        case Kind.INTEGER if arrow is not None and pa.types.is_uint64(arrow):
            return "UBIGINT"
        case Kind.TEMPORAL:
            return _temporal(arrow)
        case _:
            return _PLAIN[type_.kind]


_PLAIN = {
    Kind.BOOLEAN: "BOOLEAN", Kind.INTEGER: "BIGINT", Kind.FLOAT: "DOUBLE", Kind.STRING: "VARCHAR", Kind.BYTES: "BLOB",
    Kind.NULL: "INTEGER", Kind.NODE: "INTEGER", Kind.RELATIONSHIP: "BIGINT",
}  # fmt: skip
_TIMESTAMPS = {"s": "TIMESTAMP_S", "ms": "TIMESTAMP_MS", "us": "TIMESTAMP", "ns": "TIMESTAMP_NS"}


def _temporal(arrow: pa.DataType) -> str:
    exact = "_NS" if getattr(arrow, "unit", "us") == "ns" else ""
    if pa.types.is_timestamp(arrow):
        return _TIMESTAMPS[arrow.unit] if arrow.tz is None else f"TIMESTAMPTZ{exact}"
    if pa.types.is_struct(arrow):
        return "STRUCT(time TIME_NS, offset_seconds INTEGER)"
    if pa.types.is_date(arrow):
        return "DATE"
    return f"TIME{exact}" if pa.types.is_time(arrow) else DURATION_TYPE

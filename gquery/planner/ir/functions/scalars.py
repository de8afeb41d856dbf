"""Every function that gives one value for one row. Adding one is a line here: `docs/functions.md` is made from it.

A function that no template says is written by `executor/relational/sql`, where its name stands in `calls.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gquery.planner.ir.expr import BOOLEAN, FLOAT, INTEGER, NODE, STRING
from gquery.planner.ir.functions.rules import (
    ANY,
    EDGE,
    LIST,
    NUMBER,
    PATH,
    SCALAR,
    TEMPORAL,
    TEXT,
    TRUTH,
    WHOLE,
    Function,
    Signature,
    arithmetic,
    date_type,
    datetime_type,
    fixed,
    item,
    local_datetime_type,
    local_time_type,
    part_of_path,
    same,
)
from gquery.planner.ir.types.common_type import list_of, unify
from gquery.records import record


@record(frozen=True, slots=True)
class Scalar(Function):
    """written: the name as users write it, with its arguments. says: what it gives. example: a condition that is true,
    empty where there is none."""

    written: str
    says: str
    example: str

    @property
    def name(self) -> str:
        """As users write it; calls have it in lower case."""
        return self.written.partition("(")[0]


_CALCULATED = Signature(1, 3, lambda _: None)  # the binder makes calls of `calculate` of them
_TO_TEXT = fixed(STRING, TEXT)
_TO_FLOAT = fixed(FLOAT, NUMBER)
_FIRST_ITEM = Signature(1, 1, item)

_BLANKS = r"[\s\v\p{{Z}}]"  # DuckDB's own trim takes away spaces alone
_TRUNCATED = "TRY_CAST(trunc({0}) AS BIGINT)"
_TEXT_TO_FLOAT = "TRY_CAST(replace(replace({0}, '_', 'x'), '+-', 'x') AS DOUBLE)"  # DuckDB reads 1_000 and +-1
_TEXT_TO_INTEGER = (
    r"CASE WHEN regexp_full_match({0}, '\s*[-+]?\d+\s*') THEN TRY_CAST({0} AS BIGINT) "
    f"ELSE TRY_CAST(trunc({_TEXT_TO_FLOAT}) AS BIGINT) END"
)
_TEXT_TO_BOOLEAN = "CASE WHEN lower(trim({0})) = 'true' THEN TRUE WHEN lower(trim({0})) = 'false' THEN FALSE END"
_SIZES = {"string": "length({0})", "other": "len({0})"}


def _of_elements() -> Iterator[Scalar]:
    yield Scalar(fixed(NODE, EDGE), None, "startNode(relationship)", "the node that it leads from", "")
    yield Scalar(fixed(NODE, EDGE), None, "endNode(relationship)", "the node that it leads to", "")
    for part in ("nodes", "relationships"):
        sql = {"null": "{0}", "other": f"struct_extract({{0}}, '{part}')"}
        yield Scalar(part_of_path(part), sql, f"{part}(path)", f"the {part} of a path, in order", "")
    sizes = {"path": "len(struct_extract({0}, 'relationships'))", **_SIZES}
    says = "the number of relationships of a path; of a text or a list, its size"
    yield Scalar(fixed(INTEGER, TEXT | LIST | PATH), sizes, "length(path)", says, "length([1, 2]) = 2")


def _of_numbers() -> Iterator[Scalar]:
    says = "without its sign"
    yield Scalar(Signature(1, 1, arithmetic), "abs({0})", "abs(number)", says, "abs(-2) = 2")
    yield Scalar(fixed(INTEGER, NUMBER), "sign({0})::BIGINT", "sign(number)", "-1, 0 or 1", "sign(-0.5) = -1")
    yield Scalar(_TO_FLOAT, "ceil({0}::DOUBLE)", "ceil(number)", "the next whole number above", "ceil(1.2) = 2.0")
    yield Scalar(_TO_FLOAT, "floor({0}::DOUBLE)", "floor(number)", "the next whole number below", "floor(-1.2) = -2.0")
    says = "the nearest whole number, halves go up; with a precision, so many digits, halves go away from zero"
    signature = fixed(FLOAT, NUMBER, WHOLE, optional=1)
    yield Scalar(signature, None, "round(number, precision?)", says, "round(2.5) = 3.0 AND round(1.25, 1) = 1.3")
    for name, sql, says, example in (
        ("sqrt", "sqrt", "the square root", "sqrt(9) = 3.0"),
        ("exp", "exp", "e to the power of the number", "exp(0) = 1.0"),
        ("log", "ln", "the natural logarithm", "log(1) = 0.0"),
        ("log10", "log10", "the logarithm to base 10", "log10(100) = 2.0"),
        ("sin", "sin", "the sine of an angle in radians", "sin(0) = 0.0"),
        ("cos", "cos", "the cosine of an angle in radians", "cos(0) = 1.0"),
        ("tan", "tan", "the tangent of an angle in radians", "tan(0) = 0.0"),
        ("asin", "asin", "the angle in radians that has this sine", "asin(0) = 0.0"),
        ("acos", "acos", "the angle in radians that has this cosine", "acos(1) = 0.0"),
        ("atan", "atan", "the angle in radians that has this tangent", "atan(0) = 0.0"),
        ("cot", "cot", "the cotangent of an angle in radians", "round(cot(1), 2) = 0.64"),
        ("degrees", "degrees", "an angle in radians in degrees", "degrees(pi()) = 180.0"),
        ("radians", "radians", "an angle in degrees in radians", "radians(180) = pi()"),
    ):
        yield Scalar(_TO_FLOAT, f"{sql}({{0}})", f"{name}(number)", says, example)
    says = "the angle in radians of the point (x, y)"
    yield Scalar(fixed(FLOAT, NUMBER, NUMBER), "atan2({0}, {1})", "atan2(y, x)", says, "atan2(0, 1) = 0.0")
    says = "half of the versed sine of an angle in radians, for distances on a sphere"
    yield Scalar(_TO_FLOAT, "(0.5 - 0.5 * cos({0}))", "haversin(number)", says, "haversin(pi()) = 1.0")
    says = "whether a float is no number, as 0.0 / 0.0 is none"
    yield Scalar(fixed(BOOLEAN, NUMBER), "isnan({0}::DOUBLE)", "isNaN(number)", says, "isNaN(0.0 / 0.0)")
    yield Scalar(fixed(FLOAT), "pi()", "pi()", "3.14159…", "pi() > 3.14")
    yield Scalar(fixed(FLOAT), "exp(1)", "e()", "2.71828…", "e() > 2.71")
    says = "a random number, at least 0.0 and less than 1.0, for each row"
    yield Scalar(fixed(FLOAT), "random()", "rand()", says, "rand() < 1.0")


def _of_texts() -> Iterator[Scalar]:
    for name in ("toLower", "lower"):
        yield Scalar(_TO_TEXT, "lower({0})", f"{name}(text)", "in small letters", f"{name}('Ab') = 'ab'")
    for name in ("toUpper", "upper"):
        yield Scalar(_TO_TEXT, "upper({0})", f"{name}(text)", "in capital letters", f"{name}('Ab') = 'AB'")
    for name, ends, pattern, example in (
        ("trim", "both ends", f"^{_BLANKS}+|{_BLANKS}+$", "trim(' a ') = 'a'"),
        ("ltrim", "its beginning", f"^{_BLANKS}+", "ltrim(' a') = 'a'"),
        ("rtrim", "its end", f"{_BLANKS}+$", "rtrim('a ') = 'a'"),
    ):
        sql = f"regexp_replace({{0}}, '{pattern}', '', 'g')"
        yield Scalar(_TO_TEXT, sql, f"{name}(text)", f"without blanks at {ends}", example)
    says = "with every `old` replaced by `new`"
    yield Scalar(
        fixed(STRING, TEXT, TEXT, TEXT), None, "replace(text, old, new)", says, "replace('aba', 'a', 'x') = 'xbx'"
    )
    says = "from a place on, counted from 0; so many characters at most"
    signature = fixed(STRING, TEXT, WHOLE, WHOLE, optional=1)
    yield Scalar(signature, None, "substring(text, start, length?)", says, "substring('abc', 1, 1) = 'b'")
    yield Scalar(fixed(STRING, TEXT, WHOLE), None, "left(text, length)", "its beginning", "left('abc', 2) = 'ab'")
    yield Scalar(fixed(STRING, TEXT, WHOLE), None, "right(text, length)", "its end", "right('abc', 2) = 'bc'")
    says = "the texts between delimiters"
    signature = fixed(list_of(STRING), TEXT, TEXT)
    sql = "CASE WHEN {1} IS NOT NULL THEN string_split({0}, {1}) END"  # DuckDB gives the text itself
    yield Scalar(signature, sql, "split(text, delimiter)", says, "split('a,b', ',') = ['a', 'b']")
    reversed_ = {"string": "reverse({0})", "other": "list_reverse({0})"}
    says = "the other way round; of a text or a list"
    yield Scalar(same(TEXT | LIST), reversed_, "reverse(text)", says, "reverse('abc') = 'cba'")
    says = "the number of characters of a text, of items of a list"
    yield Scalar(fixed(INTEGER, TEXT | LIST), _SIZES, "size(text)", says, "size('abc') = 3 AND size([1, 2]) = 2")
    for name in ("char_length", "character_length"):
        says, example = "the number of characters of a text", f"{name}('abc') = 3"
        yield Scalar(fixed(INTEGER, TEXT), "length({0})", f"{name}(text)", says, example)
    empty = {kind: f"({size} = 0)" for kind, size in _SIZES.items()}
    says = "whether a text has no characters, or a list no items"
    yield Scalar(fixed(BOOLEAN, TEXT | LIST), empty, "isEmpty(text)", says, "isEmpty('') AND NOT isEmpty([null])")


def _of_lists() -> Iterator[Scalar]:
    yield Scalar(_FIRST_ITEM, "{0}[1]", "head(list)", "the first item", "head([1, 2]) = 1")
    yield Scalar(_FIRST_ITEM, "{0}[-1]", "last(list)", "the last item", "last([1, 2]) = 2")
    yield Scalar(same(LIST), "{0}[2:]", "tail(list)", "without the first item", "tail([1, 2]) = [2]")
    says = "the whole numbers from one to another, both of them in it"
    signature = fixed(list_of(INTEGER), WHOLE, WHOLE, WHOLE, optional=1)
    yield Scalar(signature, None, "range(from, to, step?)", says, "range(1, 5, 2) = [1, 3, 5]")


def _of_time() -> Iterator[Scalar]:
    says = "a day: of a text, a map of its parts, or a point in time; without any, today in UTC"
    yield Scalar(Signature(0, 1, date_type), None, "date(value?)", says, "date('2024-01-15').month = 1")
    says = "a point in time in its zone, or in UTC where it says none; without any, now"
    example = "datetime('2024-01-15T10:00+02:00').hour = 10"
    yield Scalar(Signature(0, 1, datetime_type), None, "datetime(value?)", says, example)
    says = "the point in time so many seconds, and nanoseconds, after 1970 began in UTC"
    example = "datetime.fromEpoch(60, 0) = datetime('1970-01-01T00:01Z')"
    yield Scalar(_CALCULATED, None, "datetime.fromEpoch(seconds, nanoseconds)", says, example)
    says = "the point in time so many milliseconds after 1970 began in UTC"
    example = "datetime.fromEpochMillis(60000) = datetime('1970-01-01T00:01Z')"
    yield Scalar(_CALCULATED, None, "datetime.fromEpochMillis(milliseconds)", says, example)
    says = "the milliseconds from 1970 to now"
    yield Scalar(fixed(INTEGER), "epoch_ms(now())", "timestamp()", says, "timestamp() > 1700000000000")
    says = "a point in time without a zone"
    example = "localdatetime({year: 2024, week: 3}).day = 15"
    yield Scalar(Signature(0, 1, local_datetime_type), None, "localdatetime(value?)", says, example)
    says = "a time of the day without an offset"
    yield Scalar(Signature(0, 1, local_time_type), None, "localtime(value?)", says, "localtime('10:30').minute = 30")
    says = "a time of the day with an offset: of a text, a map of its parts, or another moment; without any, now in UTC"
    example = "time('10:30+01:00') = time('09:30Z')"
    yield Scalar(_CALCULATED, None, "time(value?)", says, example)
    says = "months, days and seconds: of a text, or a map of numbers"
    yield Scalar(_CALCULATED, None, "duration(value)", says, "duration('P1DT2H').hours = 2")
    says = "the beginning of the unit that the moment is in, with some parts changed: date, datetime, localtime …"
    example = "date.truncate('month', date('2024-01-15')).day = 1"
    yield Scalar(_CALCULATED, None, "date.truncate(unit, moment, parts?)", says, example)
    for name, says, example in (
        ("between", "the months, days and seconds between two moments", "P1M5D"),
        ("inMonths", "the whole months between two moments", "P1M"),
        ("inDays", "the whole days between two moments", "P36D"),
        ("inSeconds", "the time between two moments", "PT864H"),
    ):
        example = f"duration.{name}(date('2024-01-15'), date('2024-02-20')) = duration('{example}')"
        yield Scalar(_CALCULATED, None, f"duration.{name}(from, to)", says, example)


def _conversions() -> Iterator[Scalar]:
    sql = {"string": _TEXT_TO_INTEGER, "float": _TRUNCATED, "decimal": _TRUNCATED, "other": "{0}::BIGINT"}
    says = "as a whole number, without what is after the point; null of a text that is none"
    yield Scalar(fixed(INTEGER, SCALAR), sql, "toInteger(value)", says, "toInteger('7.9') = 7")
    says = "as a float; null of a text that is none"
    sql = {"string": _TEXT_TO_FLOAT, "other": "{0}::DOUBLE"}
    yield Scalar(fixed(FLOAT, NUMBER | TEXT), sql, "toFloat(value)", says, "toFloat('7.5') = 7.5")
    sql = {"string": _TEXT_TO_BOOLEAN, "other": "{0}::BOOLEAN"}
    says = "as true or false; null of a text that is neither"
    yield Scalar(fixed(BOOLEAN, TRUTH | TEXT | WHOLE), sql, "toBoolean(value)", says, "toBoolean('True') = true")
    says = "as a text"
    yield Scalar(fixed(STRING, SCALAR | TEMPORAL), None, "toString(value)", says, "toString(1.0E7) = '1.0E7'")
    says = "whether there is a value: the same as IS NOT NULL"
    yield Scalar(fixed(BOOLEAN, ANY), "({0} IS NOT NULL)", "exists(value)", says, "exists(1)")
    says = "the first of the values that is not null"
    yield Scalar(Signature(1, None, unify), None, "coalesce(value, …)", says, "coalesce(null, 2, 3) = 2")
    says = "the value, or null where it is equal to the other"
    first = Signature(2, 2, lambda types: types[0])
    yield Scalar(first, None, "nullIf(value, other)", says, "nullIf(1, 2) = 1 AND nullIf('', '') IS NULL")


SUBJECTS: Mapping[str, tuple[Scalar, ...]] = {
    "Elements and paths": tuple(_of_elements()),
    "Numbers": tuple(_of_numbers()),
    "Text": tuple(_of_texts()),
    "Lists": tuple(_of_lists()),
    "Time": tuple(_of_time()),
    "Conversion": tuple(_conversions()),
}
SCALARS: Mapping[str, Scalar] = {scalar.name.lower(): scalar for scalars in SUBJECTS.values() for scalar in scalars}

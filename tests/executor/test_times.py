"""Dates, times and durations: what is written is calculated exactly, what is computed by DuckDB, and both agree."""

from __future__ import annotations

import datetime as dt
import random
import zoneinfo
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import gquery
from gquery.planner.ir.types.common_type import TIME
from gquery.values import days
from gquery.values.durations import Duration, parse_duration
from gquery.values.moments import Moment, parse_moment
from tests.executor.relational_graph import value_of

TRUE = [
    # texts in all forms of ISO 8601
    "date('20150721') = date('2015-07-21')", "date('2015-W30-2') = date('2015-07-21')", "date('2015202').month = 7",
    "date('2015-07').day = 1", "date('-0044-03-15').year = -44", "localtime('214032.142').millisecond = 142",
    "datetime('2015-07-21T21:40:32.142+0100').offset = '+01:00'", "datetime('2015-W30T2140-02').day = 20",
    "datetime('2015-07-21T21:40[Europe/London]').offset = '+01:00'", "localdatetime('2015-07-21').hour = 0",
    "datetime('2015-07-21T21:40[Europe/London]').timezone = 'Europe/London'",
    # maps, which may name others
    "date({year: 1984, week: 10, dayOfWeek: 3}) = date('1984-03-07')",
    "date({year: 1984, quarter: 3, dayOfQuarter: 45}) = date('1984-08-14')",
    "date({year: 1984, ordinalDay: 202}) = date('1984-07-20')", "date({date: date('1984-11-11'), day: 28}).day = 28",
    "localtime({hour: 12, millisecond: 123, microsecond: 456, nanosecond: 789}).nanosecond = 123456789",
    "localtime({hour: 12, millisecond: 123, nanosecond: 456789}).nanosecond = 123456789",
    "datetime({year: 2024, timezone: '+05:00'}).epochSeconds = 1704049200",
    "datetime({epochSeconds: 1704049200}) = datetime('2023-12-31T19:00Z')",
    "datetime({datetime: datetime('2024-01-01T12:00+01:00'), timezone: '+05:00'}).hour = 16",
    "localdatetime({date: date('2024-01-02'), time: time('10:30+01:00')}) = localdatetime('2024-01-02T10:30')",
    "datetime.fromEpoch(1704049200, 5) = datetime('2023-12-31T19:00:00.000000005Z')",
    "datetime.fromEpochMillis(-1) = datetime('1969-12-31T23:59:59.999Z')", "datetime.fromEpochMillis(null) IS NULL",
    "[x IN [60, null] | datetime.fromEpoch(1, x) IS NULL] = [false, true]",
    # a null is a part that is not named, and null where the others stand on it
    "date({year: null}) IS NULL", "localdatetime({date: null, hour: 3}) IS NULL", "localtime({time: null}) IS NULL",
    "datetime({epochSeconds: null, nanosecond: 3}) IS NULL", "localdatetime({datetime: null, day: 1}) IS NULL",
    "date({year: 2020, month: null}) = date('2020-01-01')", "time({hour: null, minute: 5}) = time('00:05Z')",
    "date({date: date('2020-05-06'), year: null}) = date('2020-05-06')",
    "date.truncate('month', date('2020-05-06'), {day: null}) = date('2020-05-01')",
    # parts
    "date('2010-01-01').weekYear = 2009", "date('2024-05-17').dayOfQuarter = 47", "date('2024-05-17').weekDay = 5",
    "localtime('12:31:14.645876123').microsecond = 645876", "time('12:00-01:30').offsetMinutes = -90",
    "duration('P1Y2M').months = 14", "duration('PT-0.5S').nanoseconds = -500000000", "duration('P2W').days = 14",
    # sums
    "date('2024-01-31') + duration('P1M') = date('2024-02-29')",
    "date('2024-01-01') - duration('PT25H') = date('2023-12-31')",
    "datetime('2024-03-31T01:30[Europe/Zurich]') + duration('PT1H') = datetime('2024-03-31T03:30[Europe/Zurich]')",
    "localtime('23:30') + duration('PT1H') = localtime('00:30')", "time('23:30Z') + duration('PT1H') = time('00:30Z')",
    "duration('P1M') * 0.5 = duration('P15DT5H14M33S')", "duration('P3D') / 2 = duration('P1DT12H')",
    "toString(duration('PT1.000000001S') / 2) = 'PT0.5S'",
    "duration('-P1Y2MT3.5S') = duration('P-1Y-2MT-3.5S')", "duration('+P1D') = duration('P1D')",
    "duration('-P-1D') = duration('P1D')",
    "toString(duration('PT-1.000000003S') * 0.5) = 'PT-0.500000001S'",
    "duration('P1D') + duration('PT1H') = duration('P1DT1H')",
    "datetime('2024-01-02T00:00Z') - datetime('2024-01-01T00:00Z') = duration('PT24H')",
    # what lies between, and beginnings
    "duration.between(date('2024-01-31'), date('2024-03-01')) = duration('P1M1D')",
    "duration.inMonths(date('2024-01-31'), date('2024-02-29')) = duration('PT0S')",
    "duration.inDays(date('2024-03-01'), date('2024-02-01')) = duration('P-29D')",
    "duration.inSeconds(time('10:00+01:00'), time('10:00Z')) = duration('PT1H')",
    "date.truncate('millennium', date('2024-05-17')) = date('2000-01-01')",
    "date.truncate('week', date('2024-05-17'), {dayOfWeek: 2}) = date('2024-05-14')",
    "datetime.truncate('hour', datetime('2024-05-17T10:59+02:00')).epochSeconds = 1715932800",
    # comparisons
    "time('10:00+01:00') = time('09:00Z')", "time('10:00+01:00') < time('09:30Z')",
    "duration('P30D') <> duration('P1M')",
    "duration('P1D') < duration('PT25H')", "(date('2024-01-01') < localtime('10:00')) IS NULL",
    "date(null) IS NULL", "(date('2024-01-01') + null) IS NULL", "datetime() > datetime('2024-01-01')",
]  # fmt: skip


@pytest.mark.parametrize("condition", TRUE)
def test_is_true(condition: str) -> None:
    assert value_of(condition) is True


MISTAKES = [
    ("date('yesterday')", "'yesterday' is no date"), ("date({month: 2})", "a date needs a year"),
    ("date({year: 2024, month: 13})", "there is no month 13"), ("date('2023-02-29')", "there is no day 29 in 2023-02"),
    ("date({year: 2024, week: 53})", "there is no day 1 of week 53"), ("localtime('25:00')", "there is no hour 25"),
    ("date({year: 2024, dya: 1})", "a date has no dya"), ("duration({dayz: 1})", "a duration has no dayz"),
    ("datetime('2024-01-01T00:00[Europe/Nowhere]')", "there is no time zone 'Europe/Nowhere'"),
    ("localtime('10:00+01:00')", "has a zone"), ("duration('P')", "'P' is no duration"), ("duration(5)", "not 5"),
    ("date.truncate('moth', date('2024-01-01'))", "there is no unit 'moth'"), ("duration('P1D').dais", "has no `dais`"),
    ("duration({seconds: 1e300})", "at most 2^31 months"), ("duration({days: 2147483648})", "at most 2^31 months"),
    ("duration('P1M') * 1e300", "at most 2^31 months"),
    ("datetime.fromEpoch('x', 0)", "whole numbers"), ("datetime.fromEpochMillis(toFloat(1))", "cannot take FLOAT"),
    ("localdatetime({year: 9223372036854775807})", "of the years -290,000 to 290,000"),
    ("date('+99999999-01-01')", "to 5,750,000 only"),
    ("date('2024-01-01') + 1", "cannot take"), ("localtime('10:00') - localtime('09:00')", "cannot take"),
    ("duration('P1D') - date('2024-01-01')", "`-` cannot take"),
    ("duration('P1D') + 'x'", "`+` cannot take TEMPORAL and STRING"), ("'x' - date('2024-01-01')", "cannot take"),
    ("head([duration('P1D')]) - 'P1D'", "`-` cannot take TEMPORAL and STRING"),
    ("duration.between(1, 2)", "between two dates or times"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), MISTAKES)
def test_mistakes_are_found_before_running(expression: str, message: str) -> None:
    with pytest.raises(gquery.BindError) as caught:
        value_of(expression)
    assert message in caught.value.message
    assert caught.value.span is not None


def test_days_are_pythons() -> None:
    seed = 7
    print("seed", seed)
    drawn = random.Random(seed)
    for _ in range(2000):
        day = drawn.randint(-719162, 2932896)
        python = dt.date(1970, 1, 1) + dt.timedelta(days=day)
        assert days.date_of(day) == (python.year, python.month, python.day), seed
        assert days.day_of(*days.date_of(day)) == day, seed
        assert days.week_of(day) == days.Week(*python.isocalendar()), seed
        far = drawn.randint(-(10**9), 10**9)
        assert days.day_of(*days.date_of(far)) == far, seed


def test_texts_are_read_back() -> None:
    seed = 7
    print("seed", seed)
    drawn = random.Random(seed)
    for _ in range(1000):
        date, time = drawn.randint(-(10**7), 10**7), drawn.randrange(86400 * 10**9)
        offset = drawn.randint(-64800, 64800)
        for moment in (Moment(date), Moment(date, time), Moment(date, time, offset), Moment(None, time, offset)):
            assert parse_moment(str(moment), moment.family) == moment, seed
        duration = Duration(drawn.randint(-99, 99), drawn.randint(-99, 99), drawn.randint(-(10**15), 10**15))
        assert parse_duration(str(duration)) == duration, seed


FAR = ["-0044-03-15", "-0001-12-31", "0000-01-01", "0001-01-01", "9999-12-31", "+10000-01-01", "+123456-02-29"]
PARTS = ("year", "month", "day", "quarter", "week", "weekYear", "dayOfWeek", "ordinalDay", "dayOfQuarter")


@pytest.mark.parametrize("text", FAR)
@pytest.mark.parametrize("computed", [False, True])
def test_years_that_have_a_sign(text: str, computed: bool) -> None:
    """`toString` gave DuckDB's `0045-03-15 (BC)` and `10000-01-01`, which no function reads."""
    days = "duration({days: x - x})" if computed else "duration('PT0S')"
    graph = gquery.from_arrow(vertices={"A": {"id": [1, 2]}}, edges={})

    def shown(moment: str) -> Any:
        return graph.query(f"UNWIND [1] AS x RETURN toString({moment} + {days})").scalar()

    assert shown(f"date('{text}')") == text
    assert shown(f"localdatetime('{text}T10:30')") == f"{text}T10:30:00"
    assert shown(f"datetime('{text}T10:30:00.5Z')") == f"{text}T10:30:00.5Z"
    assert shown(f"datetime('{text}T23:30-03:30')") == f"{text}T23:30:00-03:30"
    berlin = shown(f"datetime('{text}T00:30[Europe/Berlin]')")
    assert berlin.startswith(f"{text}T00:30:00+")
    assert graph.query(f"RETURN datetime('{berlin}') = datetime('{text}T00:30[Europe/Berlin]')").scalar()
    day = f"date('{text}') + {days}"
    assert graph.query(f"UNWIND [1] AS x WITH {day} AS d RETURN date(toString(d)) = d").scalar()
    assert (
        graph.query(f"MATCH (a) WHERE toString(date('{text}')) = $text RETURN count(*)", {"text": text}).scalar() == 2
    )


def test_columns_of_any_year_are_written_and_parted() -> None:
    seed = 7
    print("seed", seed)
    drawn = random.Random(seed)
    near = [drawn.randint(-(10**6), 4 * 10**6) for _ in range(200)]
    far = [drawn.randint(-2_100_000_000, 2_100_000_000) for _ in range(200)]  # which points in time do not reach
    stored = pa.array([*near, *far, None], pa.int32()).cast(pa.date32())
    table = pa.table({"id": range(len(stored)), "d": stored, "at": pa.array(near + [None] * 201, pa.date32())})
    points = table.set_column(2, "at", table["at"].cast(pa.timestamp("s")).cast(pa.timestamp("us", "UTC")))
    graph = gquery.from_arrow(vertices={"A": points}, edges={})
    for name, known in (("d", [*near, *far]), ("at", near)):
        parts = ", ".join(f"a.{name}.{part}" for part in PARTS)
        found = graph.query(f"MATCH (a) RETURN toString(a.{name}), {parts} ORDER BY id(a)").rows()
        for day, row in zip(known, found, strict=False):
            (year, month, of_month), week = days.date_of(day), days.week_of(day)
            _, quarter, of_quarter = days.quarter_of(day)
            last = (week.week, week.year, week.day, day - days.day_of(year) + 1, of_quarter)
            text = str(Moment(day)) if name == "d" else f"{Moment(day)}T00:00:00Z"
            assert tuple(row) == (text, year, month, of_month, quarter, *last), seed
        assert tuple(found[-1]) == (None,) * (1 + len(PARTS))


ZONES = {"local": None, "utc": "UTC", "offset": "-03:30", "named": "Europe/Zurich"}


FORMS = (
    "{0} + {1}", "{0} - {1}", "toString({1})", "{1} * 3", "{1} + duration('P1DT1S')", "{0}.week",
    "{0}.weekYear", "{0}.dayOfQuarter", "{0}.nanosecond", "{1}.seconds", "{1}.months", "date({0})",
    "localtime({0})",
    "localdatetime({0})", "datetime({0})", "date.truncate('quarter', {0})",
    "localdatetime.truncate('week', {0})",
    "datetime.truncate('hour', {0})", "({1} < duration('P20D'))",
    "duration.between({0}, date('2020-02-29'))", "duration.between(time('10:00+03:00'), {0})",
    "duration.inMonths(localdatetime('2001-01-31T12:00:00.000000001'), {0})",
    "duration.inDays({0}, datetime('1999-12-31T23:00+09:00'))", "duration.inSeconds(date('2000-01-01'), {0})",
    "date.truncate('decade', {0}, {{day: 3}})", "datetime.truncate('day', {0}, {{nanosecond: 3}})",
    "time({0})", "time.truncate('minute', {0})", "localtime.truncate('second', {0}, {{millisecond: 7}})",
    "date({{date: {0}, week: 5}})", "localdatetime({{datetime: {0}, minute: 3}})",
    "datetime({{date: {0}, time: {0}, timezone: 'America/St_Johns'}})", "time({{time: {0}, second: 1}})",
    "duration({{days: {1}.days, nanoseconds: {1}.nanoseconds}})", "duration(toString({1}))",
    "date(toString(date({0})))", "localtime(toString(localtime({0})))", "time(toString(time({0})))",
    "localdatetime(toString(localdatetime({0})))", "datetime(toString(localdatetime({0})))",)  # fmt: skip
"""What is made of a point in time and a duration."""


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("zone", list(ZONES))
def test_what_is_computed_is_what_is_calculated(zone: str, unit: str) -> None:
    """Random points in time of a column, and the same ones written in the query."""
    seed = 7
    print("seed", seed)
    drawn, tz = random.Random(seed), ZONES[zone]
    numbers = [drawn.randrange(-(10**18), 2 * 10**18) // 1000 * 1000 for _ in range(3)]
    durations = [
        (drawn.randint(-40, 40), drawn.randint(-99, 99), drawn.randrange(-(10**14), 10**14) * 1000) for _ in range(3)
    ]
    stored = pa.array(numbers, pa.timestamp("ns", tz)).cast(pa.timestamp(unit, tz))
    lengths = pa.array(durations, pa.month_day_nano_interval())
    graph = gquery.from_arrow(vertices={"P": pa.table({"id": range(3), "at": stored, "d": lengths})}, edges={})
    texts = [row[0] for row in graph.query("MATCH (a) RETURN toString(a.at) ORDER BY id(a)").rows()]
    for row, text in enumerate(texts):
        made = f"{'local' if tz is None else ''}datetime('{text}')"
        length = f"duration('{Duration(*durations[row])}')"
        same = [f"{form.format('a.at', 'a.d')} = {form.format(made, length)} AS c{at}" for at, form in enumerate(FORMS)]
        (found,) = graph.query(f"MATCH (a {{id: {row}}}) RETURN {', '.join(same)}").rows()
        assert not [query for query, equal in zip(same, found, strict=True) if not equal], (seed, text)


def test_times_in_rows_groups_and_lists() -> None:
    graph = gquery.from_arrow(vertices={"A": {"id": [1]}}, edges={})

    def rows(text: str, **parameters: Any) -> list[Any]:
        return [tuple(row) for row in graph.query(text, parameters).rows()]

    east, west = (dt.timezone(dt.timedelta(hours=hours)) for hours in (5, -5))
    times = "UNWIND [time('10:00Z'), time('12:00+05:00'), time('04:00-05:00')] AS t"
    assert rows(f"{times} RETURN t ORDER BY t") == [
        (dt.time(12, tzinfo=east),), (dt.time(4, tzinfo=west),), (dt.time(10, tzinfo=dt.UTC),)
    ]  # fmt: skip
    assert rows(f"{times} RETURN min(t), max(t).hour, count(DISTINCT t)") == [(dt.time(12, tzinfo=east), 10, 3)]
    lengths = "UNWIND [duration('P1M'), duration('P29D'), duration('P31D'), duration('P1M')] AS d"
    assert rows(f"{lengths} RETURN d, count(*) AS n ORDER BY d") == [
        (pa.MonthDayNano([0, 29, 0]), 1), (pa.MonthDayNano([1, 0, 0]), 2), (pa.MonthDayNano([0, 31, 0]), 1)
    ]  # fmt: skip
    assert rows(f"{lengths} WITH d ORDER BY d DESC RETURN [x IN collect(d) | x.days] AS l") == [([31, 0, 0, 29],)]
    assert rows("RETURN [duration('PT0.000000001S'), 1, time('10:00Z')] AS l") == [
        ([pa.MonthDayNano([0, 0, 1]), 1, dt.time(10, tzinfo=dt.UTC)],)
    ]
    assert rows(f"{times} MATCH (a) RETURN t + duration({{hours: 20 * id(a)}}) AS u ORDER BY u LIMIT 1") == [
        (dt.time(8, tzinfo=east),)
    ]
    assert rows("WITH date('2024-01-31') AS d UNWIND [1, 2] AS n RETURN d + duration({months: n}) AS e") == [
        (dt.date(2024, 2, 29),), (dt.date(2024, 3, 31),)
    ]  # fmt: skip
    assert rows("RETURN $d + duration('P1D') AS x, [$d] AS l", d=dt.timedelta(hours=1)) == [
        (pa.MonthDayNano([0, 1, 3600 * 10**9]), [pa.MonthDayNano([0, 0, 3600 * 10**9])])
    ]


COMPUTED: list[tuple[str, Any]] = [
    ("duration(a.length)", [pa.MonthDayNano([14, 3, 4_000_000_005]), None]),
    ("date({year: a.year, month: a.month, day: 29})", [dt.date(2024, 2, 29), dt.date(2023, 12, 29)]),
    ("date({year: a.year, month: a.nothing})", [dt.date(2024, 1, 1), dt.date(2023, 1, 1)]),
    ("date(a.day)", [dt.date(2024, 1, 15), dt.date(2024, 1, 15)]),
    ("toString(localdatetime(a.at))", ["2024-01-15T10:00:00.123456789", "2024-01-15T10:00:00"]),
    ("toString(datetime(a.at))", ["2024-01-15T10:00:00.123456789Z", "2024-01-15T10:00:00Z"]),
    ("toString(time(a.clock))", ["10:30:00+01:00", "10:30:00.5Z"]),
    ("toString(datetime({year: a.year, timezone: 'Europe/Zurich'}))", [
        "2024-01-01T00:00:00+01:00[Europe/Zurich]", "2023-01-01T00:00:00+01:00[Europe/Zurich]"]),
    ("toString(datetime({date: datetime({year: a.year, timezone: 'Asia/Tokyo'}), time: localtime({hour: a.month})}))", [
        "2024-01-01T02:00:00Z", "2023-01-01T12:00:00Z"]),
    ("toString(datetime({epochSeconds: a.month, nanosecond: 1}))", [
        "1970-01-01T00:00:02.000000001Z", "1970-01-01T00:00:12.000000001Z"]),
    ("date.truncate(a.unit, date({year: a.year, month: a.month}))", [dt.date(2024, 2, 1), dt.date(2023, 1, 1)]),
    ("date.truncate('week', date(a.day), {dayOfWeek: a.month % 7 + 1})", [dt.date(2024, 1, 17), dt.date(2024, 1, 20)]),
    ("toString(duration.between(date(a.day), localdatetime(a.at)))", ["PT10H0.123456789S", "PT10H"]),
    ("[x IN [a.year, 2000] | date({year: x}).year]", [[2024, 2000], [2023, 2000]]),
    ("localtime({hour: a.month, nanosecond: 3}).nanosecond", [3, 3]), ("time({hour: a.month}).hour", [2, 12]),
    ("duration({days: a.month, nanoseconds: 1}).nanoseconds", [1, 1]),
    ("duration({days: a.month, months: a.nothing})", [pa.MonthDayNano([0, 2, 0]), pa.MonthDayNano([0, 12, 0])]),
    ("duration({days: a.month, months: null})", [pa.MonthDayNano([0, 2, 0]), pa.MonthDayNano([0, 12, 0])]),
    ("duration.between(date(a.day), null)", [None, None]),
    ("date({year: a.nothing, month: a.month})", [None, None]),
    ("date({year: a.year, month: a.nothing})", [dt.date(2024, 1, 1), dt.date(2023, 1, 1)]),
    ("localdatetime({date: date(CASE a.month WHEN 2 THEN a.day END), hour: 3})", [dt.datetime(2024, 1, 15, 3), None]),
    ("localdatetime({year: a.year}) - duration({nanoseconds: a.month - 11})", [
        dt.datetime(2024, 1, 1), dt.datetime(2022, 12, 31, 23, 59, 59, 999999)]),
    ("datetime({year: a.year}) + duration({nanoseconds: 11 - a.month})", [
        dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2022, 12, 31, 23, 59, 59, 999999, dt.UTC)]),
    ("duration.inSeconds(time.statement(), time()) = duration('PT0S')", [True, True]),
    ("time() = time(localtime())", [True, True]), ("toString(time.realtime()) ENDS WITH 'Z'", [True, True]),
    ("date.transaction() = date()", [True, True]), ("max(date(a.day)) > date('2024-01-14')", [True]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), COMPUTED)
def test_functions_of_computed_values(expression: str, expected: list[Any]) -> None:
    graph = gquery.from_arrow(vertices={"A": {
        "id": [1, 2], "year": [2024, 2023], "month": [2, 12], "nothing": pa.nulls(2, pa.int64()),
        "length": ["P1Y2M3DT4.000000005S", None], "unit": ["month", "year"], "day": ["2024-01-15", "2024-W03-1"],
        "at": ["2024-01-15T10:00:00.123456789", "2024015T10"], "clock": ["10:30+01:00", "10:30:00.5Z"],
    }}, edges={})  # fmt: skip
    assert [row[0] for row in graph.query(f"MATCH (a) RETURN {expression} AS x").rows()] == expected
    if "max(" not in expression:
        known = sum(value is not None for value in expected)
        assert graph.query(f"MATCH (a) WHERE ({expression}) IS NOT NULL RETURN count(*)").scalar() == known


@pytest.mark.parametrize("value", ["{}", "[{}]", "{{at: [{}, null], n: 1}}"])
def test_polars_has_points_in_time_at_an_offset_in_utc(value: str) -> None:
    """It knows zones by name alone, and raised an error of its own."""
    written = "datetime('2024-01-01T10:00+05:30')"
    graph = gquery.from_arrow(vertices={}, edges={})
    found = graph.query(f"RETURN {value.format(written)} AS x").to_polars()["x"].to_list()[0]
    at = dt.datetime(2024, 1, 1, 4, 30, tzinfo=dt.UTC)
    assert found == {"{}": at, "[{}]": [at]}.get(value, {"at": [at, None], "n": 1})


@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("hour", [0, 1])
def test_an_hour_that_a_clock_shows_twice_stays_itself(hour: int, unit: str) -> None:
    """What was made of a time in it was an hour off."""
    shown = dt.datetime(2024, 10, 27, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Zurich"), fold=hour)
    column = pa.array([shown.astimezone(dt.UTC)], pa.timestamp(unit, "Europe/Zurich"))
    graph = gquery.from_arrow(vertices={"A": pa.table({"id": [1], "at": column})}, edges={})
    offset = ("+02:00", "+01:00")[hour]
    for moment in ("a.at", "$at", f"datetime('2024-10-27T02:30{offset}[Europe/Zurich]')"):
        for expression, expected in (
            (f"{moment} + duration('PT0S')", f"02:30:00{offset}"), (f"{moment} - duration('P0M')", f"02:30:00{offset}"),
            (f"{moment} + duration('PT30M')", ("02:00:00+01:00", "03:00:00+01:00")[hour]),
            (f"{moment} + duration('P1D') - duration('P1D')", "02:30:00+01:00"),
            (f"datetime.truncate('hour', {moment})", f"02:00:00{offset}"),
            (f"datetime({{datetime: {moment}, minute: 5}})", f"02:05:00{offset}"),
        ):  # fmt: skip
            text = graph.query(f"MATCH (a) RETURN toString({expression})", {"at": shown}).scalar()
            assert text == f"2024-10-27T{expected}[Europe/Zurich]", expression
    first = graph.query("MATCH (a) WHERE a.at = '2024-10-27T02:30' RETURN count(*)")  # as datetime() has it
    assert first.scalar() == (hour == 0)


@pytest.mark.parametrize("seed", range(3))
def test_durations_are_multiplied_and_divided_exactly(seed: int) -> None:
    """Floats have 49 months / 49 as less than a month, and 100 months * 0.29 as less than 29."""
    draw = random.Random(seed)
    durations = [Duration(*(draw.randint(-most, most) for most in (12 * 49, 400, 10**15))) for _ in range(40)]
    rows = [(each, draw.choice([draw.randint(1, 90) / 100, float(draw.randint(-99, -1))])) for each in durations]
    rows += [(Duration(49, 49, 49), 49.0), (Duration(100, 100, 100), 0.29)]
    given = [{"d": pa.MonthDayNano([each.months, each.days, each.nanoseconds]), "n": number} for each, number in rows]
    text = "UNWIND $rows AS r RETURN [r.d * r.n, r.n * r.d, r.d / r.n, r.d / toInteger(r.n * 100)] AS x"
    found = gquery.from_arrow({"A": {"id": [1]}}, {}).query(text, {"rows": given}).rows()
    for (each, number), (shown,) in zip(rows, found, strict=True):
        factor, whole = Fraction(str(number)), int(number * 100)
        expected = [_scaled(each, by) for by in (factor, factor, 1 / factor, Fraction(1, whole))]
        assert [tuple(part) for part in shown] == expected, (seed, each, number)


def _scaled(duration: Duration, by: Fraction) -> tuple[int, int, int]:
    months = duration.months * by
    days = duration.days * by + (months - int(months)) * Fraction(2629746, 86400)
    left = duration.nanoseconds * by + (days - int(days)) * 86400 * 10**9
    return int(months), int(days), int(left)


COMPUTED_MISTAKES = [
    ("duration('P1D') / (a.id - 1)", gquery.ExecutionError, "a duration is divided by zero"),
    ("duration('P1D') * (0.0 / (a.id - 1))", gquery.ExecutionError, "factors of durations are finite, not nan"),
    ("duration('P' + toString(a.id * 3000000000) + 'M')", gquery.ExecutionError, "a duration has at most 2^31 months"),
    ("duration(a.text)", gquery.ExecutionError, "'x' is no duration"),
    ("date(a.text)", gquery.ExecutionError, "'x' is no date"),
    ("date({year: a.id, month: 13})", gquery.ExecutionError, "there is no month 13"),
    ("date({year: a.text})", gquery.ExecutionError, "year is a whole number, not 'x'"),
    ("localdatetime({year: a.id, nanosecond: 1})", gquery.ExecutionError, "lies in the years 1678 to 2261"),
    ("datetime(toString(datetime({year: 2000 + a.id, timezone: '+01:00'})))", gquery.ExecutionError, "cannot keep its"),
    ("localdatetime.truncate('hour', date({year: a.id}))", gquery.ExecutionError, "0001-01-01 has no hour"),
    ("date.truncate(a.text, date())", gquery.ExecutionError, "there is no unit 'x'"),
    ("date({yaer: a.id})", gquery.BindError, "a date has no `yaer`"),
    ("date(a.id)", gquery.BindError, "cannot take"),
    ("duration({yrs: a.id})", gquery.BindError, "a duration has no yrs"),
    ("time(a.id)", gquery.BindError, "cannot take"),
    ("date.truncate('month', a.id)", gquery.BindError, "`date.truncate` cannot take INTEGER"),
    ("datetime({year: a.id, timezone: 'X/Y'})", gquery.BindError, "there is no time zone 'X/Y'"),
    ("duration.between(a.text, date())", gquery.BindError, "`duration.between` cannot take STRING"),
    ("duration.between(date(a.text))", gquery.BindError, "cannot take 1 arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "kind", "message"), COMPUTED_MISTAKES)
def test_mistakes_in_computed_values(expression: str, kind: type[gquery.GQueryError], message: str) -> None:
    graph = gquery.from_arrow(vertices={"A": {"id": [1], "text": ["x"]}}, edges={})
    with pytest.raises(kind) as caught:
        graph.query(f"MATCH (a) RETURN {expression}").rows()
    assert message in caught.value.message
    assert (caught.value.span is not None) == (kind is gquery.BindError)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("$t = time('10:30+02:00')", True), ("$t < time('10:00Z')", True), ("toString($t) = '10:30:00+02:00'", True),
        ("$t IN [time('10:30+02:00')]", True), ("time('10:30+02:00') IN $l", True), ("$m.t.offset = '+02:00'", True),
        ("$l[1] = $t", True), ("$t = localtime('10:30')", False), ("a.at = $t", True), ("a.at IN $l", True),
    ],
)  # fmt: skip
def test_a_parameter_that_is_a_time_of_the_day_keeps_its_offset(condition: str, expected: bool) -> None:
    given = dt.time(10, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    at = pa.array([{"time": dt.time(10, 30), "offset_seconds": 7200}], TIME.arrow)
    graph = gquery.from_arrow({"A": pa.table({"id": [1], "at": at})}, {})
    parameters = {"t": given, "l": [1, given], "m": {"t": given}}
    assert graph.query(f"MATCH (a) RETURN {condition}", parameters).scalar() is expected
    assert graph.query("RETURN $t, $l, $m", parameters).rows() == [(given, [1, given], {"t": given})]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3601, "+01:00:01"), (-1, "-00:00:01"), (-7200, "-02:00"), (0, "Z"), (86_399, "+23:59:59"), (-5430, "-01:30:30")],
)
def test_seconds_of_an_offset_are_written(seconds: int, text: str) -> None:
    """They were left out, but for files of CSV."""
    at = dt.time(10, 30, tzinfo=dt.timezone(dt.timedelta(seconds=seconds)))
    graph = gquery.from_arrow({"A": {"id": [1], "at": [at], "text": [f"10:30{text}"]}}, {})
    for given in ("a.at", "$at", *(("time(a.text)",) if abs(seconds) < 64_800 else ())):
        found = graph.query(f"MATCH (a) RETURN toString({given}), {given}.offset, {given}", {"at": at})
        assert found.rows() == [(f"10:30:00{text}", text, at)]


@pytest.mark.parametrize("offset", ["999999", "null", "a.id"])
def test_a_map_in_the_shape_of_a_time_with_an_offset_is_a_map(offset: str) -> None:
    """It was taken for such a time, or was an error of Python's."""
    graph = gquery.from_arrow({"A": {"id": [7]}}, {})
    found = graph.query(f"MATCH (a) RETURN {{time: localtime('10:30'), offset_seconds: {offset}}}").scalar()
    assert found == {"time": dt.time(10, 30), "offset_seconds": {"null": None, "a.id": 7, "999999": 999_999}[offset]}


def test_a_time_of_the_day_in_a_zone_has_no_offset() -> None:
    with pytest.raises(gquery.BindError, match="no offset without a date"):
        value_of("$p", {"p": dt.time(10, tzinfo=zoneinfo.ZoneInfo("Europe/Zurich"))})


@pytest.mark.parametrize("moment", ["time('10:00Z')", "duration('P1D')"])
def test_texts_beside_times_that_are_not_read(moment: str) -> None:
    with pytest.raises(gquery.BindError, match=r"a text is not read as a (zoned time|duration)"):
        value_of(f"{moment} = '10:00+01:00'")


@pytest.mark.parametrize("held", ["t", "[t]", "{of: t}", "head([t, 1])", "[t, 1]"])
def test_equal_times_are_one_whatever_their_offsets(held: str) -> None:
    graph = gquery.from_arrow(vertices={"A": {"id": [1]}}, edges={})
    times = f"UNWIND [time('10:30+01:00'), time('09:30Z'), time('09:31Z')] AS t WITH {held} AS x"
    assert len(graph.query(f"{times} RETURN DISTINCT x").rows()) == 2
    assert graph.query(f"{times} RETURN count(DISTINCT x), size(collect(DISTINCT x))").rows() == [(2, 2)]
    assert sorted(graph.query(f"{times} RETURN x, count(*) AS n").to_arrow()["n"].to_pylist()) == [1, 2]


@pytest.mark.parametrize("held", ["[d]", "{of: d}.of", "head([d, 'x'])"])
def test_durations_are_in_order_of_their_lengths_wherever_they_are(held: str) -> None:
    graph = gquery.from_arrow(vertices={"A": {"id": [1]}}, edges={})
    lengths = f"UNWIND [duration('P2D'), duration('PT25H'), duration('P1D')] AS d WITH d, {held} AS x"
    assert [text for (text,) in graph.query(f"{lengths} ORDER BY x RETURN toString(d)").rows()] == [
        "P1D",
        "PT25H",
        "P2D",
    ]


def test_a_stored_time_of_the_day_with_an_offset(tmp_path: Path) -> None:
    stored = TIME.arrow
    values = pa.array([{"time": 3600 * 10**9 * 12 + 5, "offset_seconds": 3600}, None], stored)
    gquery.from_arrow({"P": pa.table({"id": [1, 2], "at": values})}, {}).save(tmp_path / "times.gq")
    graph = gquery.open(tmp_path / "times.gq")
    text = "MATCH (a) WHERE a.at > time('10:59Z') RETURN a.at.hour, a.at.nanosecond, a.at.offset, toString(a.at)"
    assert graph.query(text).rows() == [(12, 5, "+01:00", "12:00:00.000000005+01:00")]
    assert graph.query("MATCH (a) RETURN a.at AS at ORDER BY at").to_arrow()["at"].type == stored
    assert graph.query("MATCH (a) WHERE a.at = time('11:00:00.000000005Z') RETURN count(*)").scalar() == 1

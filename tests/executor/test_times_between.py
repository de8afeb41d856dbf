"""What lies between two moments, in zones whose clocks are turned too."""

from __future__ import annotations

import random

import pytest

import gquery
from gquery.values.moments import Moment, placed
from gquery.values.time_arithmetic import between, in_seconds, later

_ZONES = ("Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "+05:30")
_STOCKHOLM = "datetime({year: 2017, month: 10, day: 29, hour: %d, timezone: 'Europe/Stockholm'})"
"""Of the day on which clocks are put back."""


def test_durations_between_lead_from_one_to_the_other() -> None:
    """Of points in time without a zone: months, days and time added to the first give the second, within a day."""
    seed = 1256454879  # has a 31st that is less than a whole month from a 30th, backwards
    print("seed", seed)
    drawn = random.Random(seed)
    for _ in range(1000):
        one, other = (Moment(drawn.randint(-30000, 30000), drawn.randrange(86400 * 10**9)) for _ in range(2))
        found = between(one, other)
        assert len({part > 0 for part in (found.months, found.days, found.nanoseconds) if part}) <= 1, seed
        if one.instant <= other.instant:
            assert later(one, found) == other, seed


def test_durations_between_lead_from_one_to_the_other_in_zones() -> None:
    """Clocks are turned between most of them; what has no zone is a moment of the other's."""
    seed = 20171029
    print("seed", seed)
    drawn = random.Random(seed)
    for _ in range(1000):
        zone, known = drawn.choice(_ZONES), drawn.random() < 0.5
        one = placed(Moment(drawn.randint(14000, 19000), drawn.randrange(86400 * 10**9)), zone)
        shown = Moment(drawn.randint(14000, 19000), drawn.randrange(86400 * 10**9))
        other = placed(shown, drawn.choice(_ZONES)) if known else shown
        found, instant = between(one, other), (other if known else placed(shown, zone)).instant
        assert in_seconds(one, other).nanoseconds == instant - one.instant, seed
        if one.instant <= instant:
            assert later(one, found).instant == instant, seed


@pytest.mark.parametrize("function", ["between", "inSeconds"])
@pytest.mark.parametrize(
    ("one", "other", "hours"),
    [
        (_STOCKHOLM % 0, _STOCKHOLM % 4, 5),
        (_STOCKHOLM % 0, "localdatetime('2017-10-29T04:00')", 5),
        (_STOCKHOLM % 0, "localtime('04:00')", 5),
        (_STOCKHOLM % 4, "date('2017-10-29')", -5),
        ("localdatetime('2017-10-29T00:00')", _STOCKHOLM % 4, 5),
        ("localtime('00:00')", _STOCKHOLM % 4, 5),
        ("date('2017-10-29')", _STOCKHOLM % 4, 5),
        ("datetime('2017-07-01T12:00[Europe/Stockholm]')", "time('12:00+01:00')", 1),
        ("localtime('14:30')", "time('16:30+01:00')", 2),
    ],
)
def test_hours_are_those_that_pass(function: str, one: str, other: str, hours: int) -> None:
    graph = gquery.from_arrow({}, {})
    text = f"UNWIND [0] AS i WITH i, {one} AS a, {other} AS b RETURN toString(duration.{function}(a, b)) AS x"
    for each in (text, f"RETURN toString(duration.{function}({one}, {other})) AS x"):
        assert graph.query(each).scalar() == f"PT{hours}H"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("between(time('22:00-01:00'), time('00:00+01:00'))", "PT-24H"),
        ("inSeconds(time('00:08Z'), time('00:00+02:00'))", "PT-2H-8M"),
        ("between(time('23:00-04:30'), datetime('2016-01-01T01:00Z'))", "PT-26H-30M"),
        ("inDays(time('23:00-04:30'), datetime('2016-01-01T01:00Z'))", "PT0S"),
        ("inSeconds(datetime('2016-01-01T01:00Z'), time('23:00-04:30'))", "PT26H30M"),
    ],
)
def test_times_of_the_day_lead_to_no_other_day(call: str, text: str) -> None:
    """What lies between them is what tells which is the later one, and no day, however many hours it has."""
    graph = gquery.from_arrow({}, {})
    assert graph.query(f"RETURN toString(duration.{call}) AS x").scalar() == text

"""Durations that are parameters: Python's, those of answers, and those of other libraries."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import gquery

GRAPH = gquery.from_arrow(vertices={"P": {"id": [1]}}, edges={})


def test_durations() -> None:
    """They are Arrow's intervals, which Python's timedelta is not: a month has no fixed length."""
    length = dt.timedelta(days=1, seconds=2, microseconds=3)
    known = pa.MonthDayNano([0, 1, 2_000_003_000])
    rows = "RETURN $p AS x, [$p] AS l, coalesce($p, 1) AS c, count(*) AS n"
    assert GRAPH.query(rows, {"p": length}).rows() == [(known, [known], known, 1)]
    table = pa.table({"id": [1, 2], "d": pa.array([length, None], pa.duration("us"))})
    graph = gquery.from_arrow(vertices={"A": table}, edges={})
    assert graph.query("MATCH (a) WHERE a.d = $p RETURN a.d", {"p": length}).rows() == [(known,)]
    assert graph.query("MATCH (a) WHERE a.d > $p RETURN a.d", {"p": dt.timedelta(seconds=5)}).rows() == [(known,)]
    assert graph.query("MATCH (a) RETURN a.d IN [$p]", {"p": length}).rows() == [(True,), (None,)]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_a_negative_duration_is_found_by_itself(unit: str) -> None:
    """Python has -1 second as a day back and 86,399 seconds ahead, which is another duration."""
    lengths = [dt.timedelta(seconds=seconds) for seconds in (-1, -86_401, 86_401, 0)]
    table = pa.table({"id": [0, 1, 2, 3], "d": pa.array(lengths, pa.duration(unit))})
    graph = gquery.from_arrow(vertices={"A": table}, edges={})
    for number, length in enumerate(lengths):
        for given in (length, np.timedelta64(length), pd.Timedelta(length), table["d"][number]):
            for text in ("MATCH (a {d: $p}) RETURN id(a)", "MATCH (a) WHERE a.d IN [$p] RETURN id(a)"):
                assert graph.query(text, {"p": given}).rows() == [(number,)], (length, type(given))


def test_durations_of_other_libraries_keep_their_nanoseconds() -> None:
    for given in (np.timedelta64(-1, "ns"), pd.Timedelta(-1, "ns")):
        assert GRAPH.query("RETURN toString($p)", {"p": given}).scalar() == "PT-0.000000001S"
    given = np.array([1, "NaT"], "timedelta64[ns]")
    assert GRAPH.query("RETURN $p", {"p": given}).scalar() == [pa.MonthDayNano([0, 0, 1]), None]
    assert GRAPH.query("RETURN $p", {"p": given[0:1].reshape(())}).scalar() == pa.MonthDayNano([0, 0, 1])
    zoned = pd.Series(pd.to_datetime(["2024-01-15T10:00+01:00"]))
    assert GRAPH.query("RETURN toString($p[0])", {"p": zoned}).scalar() == "2024-01-15T10:00:00+01:00"


def test_a_year_that_python_has_not_is_no_number() -> None:
    with pytest.raises(gquery.BindError, match=r"`\$p` lies outside of Python's years"):
        GRAPH.query("RETURN $p", {"p": np.datetime64("12024-01-15")})


@pytest.mark.parametrize("given", [pa.MonthDayNano([14, -3, 5]), pa.scalar(pa.MonthDayNano([14, -3, 5]))])
def test_a_duration_of_an_answer_is_a_parameter(given: object) -> None:
    """Arrow's intervals are tuples in Python: they were lists of three numbers."""
    known = pa.MonthDayNano([14, -3, 5])
    graph = gquery.from_arrow(vertices={"A": {"id": [1, 2], "d": pa.array([known, None])}}, edges={})
    rows = "RETURN toString($p) AS x, date('2024-01-31') + $p AS y, [$p, null] AS l, {d: $p}.d AS m"
    expected = ("P1Y2M-3DT0.000000005S", dt.date(2025, 3, 28), [known, None], known)
    assert graph.query(rows, {"p": given}).rows() == [expected]
    assert graph.query("UNWIND $l AS p RETURN p", {"l": [given, 1]}).rows() == [(known,), (1,)]
    for condition in ("a.d = $p", "a.d IN [$p]", "a.d > duration('P1Y') AND a.d <= $p"):
        assert graph.query(f"MATCH (a) WHERE {condition} RETURN a.d", {"p": given}).rows() == [(known,)]

"""Values of Python in tables: what Arrow would change without a word stays, or is an error."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import gquery

EAST = dt.timezone(dt.timedelta(hours=5))
NINE, TEN = dt.time(9, 0, tzinfo=EAST), dt.time(10, 30, tzinfo=dt.UTC)
Load = Callable[[list[Any]], gquery.Graph]


def by_lists(values: list[Any]) -> gquery.Graph:
    return gquery.from_arrow({"A": {"id": range(len(values)), "t": values}}, {})


def by_rows(values: list[Any]) -> gquery.Graph:
    return gquery.from_arrow({"A": [{"id": row, "t": value} for row, value in enumerate(values)]}, {})


def by_pandas(values: list[Any]) -> gquery.Graph:
    return gquery.from_arrow({"A": pd.DataFrame({"id": range(len(values)), "t": pd.Series(values, dtype=object)})}, {})


def by_networkx(values: list[Any]) -> gquery.Graph:
    graph = nx.DiGraph()
    graph.add_nodes_from((row, {"label": "A", "t": value}) for row, value in enumerate(values))
    return gquery.from_networkx(graph)


def by_series(values: list[Any]) -> gquery.Graph:
    return gquery.from_arrow({"A": {"id": range(len(values)), "t": pd.Series(values, dtype=object)}}, {})


def by_arrays(values: list[Any]) -> gquery.Graph:
    column = np.empty(len(values), object)
    column[:] = values
    return gquery.from_arrow({"A": {"id": range(len(values)), "t": column}}, {})


def by_iterators(values: list[Any]) -> gquery.Graph:
    return gquery.from_arrow({"A": {"id": range(len(values)), "t": iter(values)}}, {})


ways = pytest.mark.parametrize("load", [by_lists, by_rows, by_pandas, by_networkx, by_series, by_arrays, by_iterators])


@ways
def test_times_of_the_day_keep_their_offsets(load: Load) -> None:
    found = load([NINE, None, TEN]).query("MATCH (a:A) RETURN a.t").rows()
    assert [(value.isoformat() if value else None) for (value,) in found] == ["09:00:00+05:00", None, "10:30:00+00:00"]


@ways
def test_times_without_offsets_have_none(load: Load) -> None:
    found = load([dt.time(9), dt.time(10, 30)]).query("MATCH (a:A) RETURN a.t").rows()
    assert found == [(dt.time(9),), (dt.time(10, 30),)]


@ways
@pytest.mark.parametrize(
    "values",
    [
        [NINE, dt.time(11)],
        [dt.time(11), NINE],
        [dt.datetime(2020, 1, 1, 9, tzinfo=EAST), dt.datetime(2020, 1, 1, 11)],
        [dt.datetime(2020, 1, 1, 11), None, dt.datetime(2020, 1, 1, 9, tzinfo=EAST)],
    ],
)
def test_some_have_offsets(load: Load, values: list[Any]) -> None:
    """Those without were taken for UTC's, or the others for local ones."""
    with pytest.raises(gquery.LoadError, match="11:00:00 has no offset"):
        load(values)


@ways
def test_points_in_time(load: Load) -> None:
    points = [dt.datetime(2020, 1, 1, 9, tzinfo=EAST), None, dt.datetime(2020, 1, 1, 11, tzinfo=EAST)]
    assert load(points).query("MATCH (a:A) RETURN a.t").rows() == [(each,) for each in points]


@ways
def test_points_in_time_among_dates(load: Load) -> None:
    """Their hours were left out."""
    with pytest.raises(gquery.LoadError, match="05:00:00 has a time of the day"):
        load([dt.date(2020, 1, 1), None, dt.datetime(2020, 1, 1, 5)])


@ways
@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[dt.date(2020, 1, 1)], None, [dt.datetime(2020, 1, 1, 5)]], "05:00:00 has a time of the day"),
        ([[dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5)]], "05:00:00 has a time of the day"),
        ([{"a": dt.date(2020, 1, 1)}, {"a": dt.datetime(2020, 1, 1, 5)}], "05:00:00 has a time of the day"),
        ([[NINE], [dt.time(11)]], "11:00:00 has no offset"),
        ([[[dt.datetime(2020, 1, 1, 9, tzinfo=EAST), dt.datetime(2020, 1, 1, 11)]]], "11:00:00 has no offset"),
    ],
)
def test_times_in_lists_and_maps(load: Load, values: list[Any], said: str) -> None:
    """Hours and offsets were left out in these."""
    with pytest.raises(gquery.LoadError, match=said):
        load(values)


@ways
def test_times_in_lists_keep_all_that_they_have(load: Load) -> None:
    values = [[NINE, None], None, [], [TEN]]
    assert load(values).query("MATCH (a:A) RETURN a.t").rows() == [(each,) for each in values]
    fine = load([{"at": [pd.Timestamp("2020-01-01 00:00:00.000000001")]}])
    assert fine.query("MATCH (a:A) RETURN toString(a.t.at[0])").scalar() == "2020-01-01T00:00:00.000000001"


@pytest.mark.parametrize("load", [by_lists, by_rows, by_networkx])
def test_values_of_several_types_in_one_table(load: Load) -> None:
    """The first one that does not fit is named, where Arrow tells its type alone."""
    for values in (["a", None, 5], [["a"], None, [5]], [dt.datetime(2020, 1, 1), None, dt.date(2020, 1, 1)]):
        with pytest.raises(gquery.LoadError) as error:
            load(values)
        assert f"{values[2]!r} is of another type than the values before it (row 3)" in str(error.value)
    with pytest.raises(gquery.LoadError, match=r"118059162071741130342.: Python int too large .* \(row 2\)"):
        load([1, 2**70])


@ways
def test_gaps_of_pandas_among_values(load: Load) -> None:
    """As in a frame; rows of `to_dict("records")` have them, and were refused."""
    for values in ([pd.NaT, dt.datetime(2020, 1, 1), None], [pd.NA, "x", None], [pd.NaT, pd.NA, None]):
        found = load(values).query("MATCH (a:A) RETURN a.t").rows()
        assert found == [(None,), (values[1] if values[1] is not pd.NA else None,), (None,)]


def test_lists_of_polars() -> None:
    """In a dict of columns they were refused, where those of a frame are not."""
    columns = {"id": pl.Series([1, 2]), "t": pl.Series([[dt.date(2020, 1, 1)], None])}
    found = gquery.from_arrow({"A": columns}, {}).query("MATCH (a:A) RETURN a.t").rows()
    assert found == [([dt.date(2020, 1, 1)],), (None,)]


def test_columns_of_one_name_as_text() -> None:
    """The first one was left out."""
    with pytest.raises(gquery.LoadError, match="two columns have the same name"):
        gquery.from_arrow({"A": {"id": [1], 3: [4], "3": [5]}}, {})


def test_rows_of_which_later_ones_have_more() -> None:
    """What the first row has not was left out."""
    rows = [{"id": 1, "s": "a"}, {"id": 2, 3: 4.5}]
    found = gquery.from_arrow({"A": rows}, {}).query("MATCH (a:A) RETURN a.s, a.`3`").rows()
    assert found == [("a", None), (None, 4.5)]


@pytest.mark.parametrize("text", ["ab", b"ab"])
def test_a_text_is_no_column(text: Any) -> None:
    """It was one of its letters, or of numbers."""
    with pytest.raises(gquery.LoadError, match=r"`t` is a (str|bytes), not a column"):
        gquery.from_arrow({"A": {"id": [1, 2], "t": text}}, {})


def test_the_column_is_named() -> None:
    with pytest.raises(gquery.LoadError, match=r"vertices \(:A\): .*: `t`: 'x' is of another type"):
        by_lists([1, "x"])


@ways
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pd.Timestamp("2020-01-01 00:00:00.000000001"), "2020-01-01T00:00:00.000000001"),
        (
            pd.Timestamp("2020-01-01 00:00:00.000000001", tz="Asia/Tokyo"),
            "2020-01-01T00:00:00.000000001+09:00[Asia/Tokyo]",
        ),
        (pd.Timedelta(1, "ns"), "PT0.000000001S"),
    ],
)
def test_nanoseconds_of_pandas(load: Load, value: Any, text: str) -> None:
    assert load([None, value]).query("MATCH (a:A) WHERE a.t IS NOT NULL RETURN toString(a.t)").scalar() == text


def test_objects_of_polars_are_refused() -> None:
    """Their addresses were taken for bytes."""
    frame = pl.DataFrame({"id": [1], "o": pl.Series([{1}], dtype=pl.Object)})
    with pytest.raises(gquery.LoadError, match="`o` holds objects of Python's"):
        gquery.from_arrow({"A": frame}, {})


@pytest.mark.parametrize("as_relation", [False, True])
def test_types_that_duckdb_does_not_hand_on(as_relation: bool) -> None:
    """Times of the day came without their offset, bits as the bytes that DuckDB keeps them in."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS id, '10:00:00.5+01'::TIMETZ AS \"t \"\"z\", '101'::BIT AS b")
        connection.execute("INSERT INTO a VALUES (2, NULL, NULL)")
        source = connection.table("a") if as_relation else "a"
        graph = gquery.from_duckdb(connection, {"A": source}, {})
        rows = graph.query('MATCH (a:A) RETURN a.id, a.`t "z`, a.b ORDER BY a.id').rows()
        east = dt.timezone(dt.timedelta(hours=1))
        assert rows == [(1, dt.time(10, 0, 0, 500000, tzinfo=east), "101"), (2, None, None)]
        for expression in ("['10:00:00+01'::TIMETZ]", "{'b': ['1'::BIT]}", "1::VARIANT"):
            query = f"SELECT 1 AS id, {expression} AS v"
            source = connection.sql(query) if as_relation else query
            with pytest.raises(gquery.LoadError, match=r"a column of type .* of DuckDB cannot be a property"):
                gquery.from_duckdb(connection, {"A": source}, {})


def test_what_nobody_can_read_is_refused() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS id, 12345678901234567890123::BIGNUM AS v")
        with pytest.raises(gquery.LoadError, match="a column of type bignum of DuckDB cannot be a property"):
            gquery.from_duckdb(connection, {"A": "a"}, {})


def test_gaps_of_a_frame() -> None:
    frame = pd.DataFrame(
        {"id": [1, 2], "t": pd.Series([pd.NaT, dt.datetime(2020, 1, 1, 9, tzinfo=EAST)], dtype=object)}
    )
    found = gquery.from_arrow({"A": frame}, {}).query("MATCH (a:A) RETURN a.t IS NULL").rows()
    assert found == [(True,), (False,)]


def test_nodes_of_networkx_that_are_one_text_are_named() -> None:
    graph = nx.Graph()
    graph.add_edge(0, "0")
    with pytest.raises(gquery.LoadError, match="the nodes 0 and '0' have the same id: not all nodes are integers"):
        gquery.from_networkx(graph)

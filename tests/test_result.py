"""A result runs when it is read, streams, and goes to every form that people want."""

from __future__ import annotations

import copy
import datetime
import io
import json
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import gquery
from gquery.errors import ExecutionError, QueryCancelled, QueryTimeout
from gquery.executor.progress import Control
from gquery.result import Result
from gquery.settings import Settings
from gquery.values.elements import Node, Relationship, Row
from gquery.values.elements import Path as GraphPath

NODE = pa.struct(
    [("id", pa.int64()), ("labels", pa.list_(pa.string())), ("properties", pa.struct([("name", pa.string())]))]
)
EDGE = pa.struct([("type", pa.string()), ("start", pa.int64()), ("end", pa.int64()), ("properties", pa.null())])
SCHEMA = pa.schema([("name", pa.string()), ("n", pa.int64())])


class Runs:
    """Starts runs of `batches` batches with two rows each, and remembers what became of them."""

    def __init__(self, batches: int = 3, error: Exception | None = None) -> None:
        self.batches = batches
        self.error = error
        self.started = 0
        self.pulled = 0
        self.closed = 0

    def __call__(self, control: Control) -> Iterator[pa.RecordBatch]:
        self.started += 1
        try:
            for index in range(self.batches):
                control.check()
                control.matches += 2
                self.pulled += 1
                yield pa.record_batch([["Ann", None], [index, index + 1]], schema=SCHEMA)
            if self.error:
                raise self.error
        finally:
            self.closed += 1


def result_of(runs: Runs, **settings: Any) -> Result:
    return Result(SCHEMA, runs, Settings(**settings))


def result_over(table: pa.Table) -> Result:
    return Result(table.schema, lambda control: iter(table.to_batches()), Settings())


def test_nothing_runs_before_it_is_read() -> None:
    runs = Runs()
    result = result_of(runs)
    assert (result.columns, result.schema) == (("name", "n"), SCHEMA)
    assert "name, n" in repr(result)
    assert runs.started == 0


def test_arrow_is_kept_and_reused() -> None:
    runs = Runs()
    result = result_of(runs)
    assert result.to_arrow().num_rows == 6
    assert result.to_arrow() is result.to_arrow()
    assert len(result.rows()) == 6
    assert result.to_pandas().shape == (6, 2)
    assert result.to_polars().shape == (6, 2)
    assert runs.started == 1
    assert "6 rows" in repr(result)


def test_every_reader_is_a_fresh_run() -> None:
    runs = Runs()
    result = result_of(runs)
    assert result.reader().read_all().num_rows == 6
    assert pa.table(result).num_rows == 6
    assert polars.DataFrame(result).shape == (6, 2)
    assert runs.started == 3


def test_duckdb_reads_it_in_place_and_again() -> None:
    r = result_of(Runs())
    connection = duckdb.connect()
    connection.register("r", r)
    assert connection.sql("SELECT count(*), sum(n) FROM r").fetchall() == [(6, 9)]
    assert connection.sql("SELECT count(*) FROM r AS x JOIN r AS y USING (n)").fetchall() == [(10,)]


def test_a_requested_schema_is_followed() -> None:
    wanted = pa.schema([("name", pa.string()), ("n", pa.int32())])
    assert pa.RecordBatchReader.from_stream(result_of(Runs()), schema=wanted).read_all().schema == wanted


def test_rows() -> None:
    row = result_of(Runs()).rows()[0]
    assert row == ("Ann", 0)
    assert (row[1], row["n"], row.keys(), row.asdict()) == (0, 0, ("name", "n"), {"name": "Ann", "n": 0})
    assert pickle.loads(pickle.dumps(row))["name"] == copy.copy(row)["name"] == "Ann"
    assert isinstance(row, Row)


def test_iterating_streams() -> None:
    runs = Runs(batches=1000)
    for row in result_of(runs):
        if row["n"] == 5:
            break
    assert runs.pulled <= 6
    del row
    assert runs.closed == 1


def test_dropping_a_reader_stops_its_run() -> None:
    runs = Runs(batches=1000)
    reader = result_of(runs).reader()
    reader.read_next_batch()
    del reader
    assert runs.closed == 1
    assert runs.pulled < 1000


def test_scalar() -> None:
    assert result_over(pa.table({"n": [7]})).scalar() == 7
    assert result_over(pa.table({"n": pa.array([None], pa.int64())})).scalar() is None
    for table, message in [
        (pa.table({"n": [1, 2]}), "one row, the answer has more"), (pa.table({"n": pa.array([], pa.int64())}), "none"),
        (pa.table({"n": [1], "m": [2]}), "one column, the answer has 2"),
    ]:  # fmt: skip
        with pytest.raises(ExecutionError, match=message):
            result_over(table).scalar()


def test_scalar_does_not_read_on() -> None:
    runs = Runs(batches=1000)
    with pytest.raises(ExecutionError):
        Result(pa.schema([("n", pa.int64())]), lambda c: (b.select(["n"]) for b in runs(c)), Settings()).scalar()
    assert runs.pulled == 1


# --- stopping ----------------------------------------------------------------------------------------------------


def test_cancel_from_another_thread() -> None:
    result = result_of(Runs(batches=10**9))
    timer = threading.Timer(0.05, result.cancel)
    timer.start()
    with pytest.raises(QueryCancelled):
        for _ in result.reader():
            pass
    timer.join()
    assert result.progress.matches > 0


def test_timeout_of_the_settings() -> None:
    with pytest.raises(QueryTimeout):
        result_of(Runs(batches=10**9), timeout=0.05).to_arrow()


def test_an_error_leaves_the_result_usable() -> None:
    runs = Runs(error=QueryTimeout("too late"))
    result = result_of(runs)
    for read in (result.to_arrow, result.rows, lambda: result.reader().read_all()):
        with pytest.raises(QueryTimeout, match="too late"):
            read()
    runs.error = None
    assert result.to_arrow().num_rows == 6


def test_ctrl_c_cancels() -> None:
    def interrupted(control: Control) -> Iterator[pa.RecordBatch]:
        yield from Runs()(control)
        raise KeyboardInterrupt

    result = Result(SCHEMA, interrupted, Settings())
    with pytest.raises(KeyboardInterrupt):
        result.to_arrow()
    assert result.progress.cancelled


# --- kept, shared, closed ----------------------------------------------------------------------------------------


def counted_runs() -> tuple[Result, list[int]]:
    """A result whose every run gives another number."""
    runs: list[int] = []

    def start(control: Control) -> Iterator[pa.RecordBatch]:
        runs.append(len(runs))
        yield pa.record_batch([[runs[-1]]], names=["n"])

    return Result(pa.schema([("n", pa.int64())]), start, Settings()), runs


@pytest.mark.parametrize("first", ["to_arrow", "rows", "scalar", "_repr_html_", "to_pandas", "to_polars"])
def test_what_is_read_whole_is_kept_for_all_readings(first: str, tmp_path: Path) -> None:
    result, runs = counted_runs()
    getattr(result, first)()
    result.write(tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["n"].to_pylist() == [0]
    assert (result.rows(), result.scalar(), [row["n"] for row in result]) == ([(0,)], 0, [0])
    assert result.reader().read_all() == pa.table(result) == result.to_arrow()
    assert "<td>0</td>" in result._repr_html_()
    assert runs == [0]


def test_streams_are_runs_of_their_own() -> None:
    result, runs = counted_runs()
    assert "runs when it is read" in repr(result)
    assert [result.reader().read_all()["n"].to_pylist(), [row[0] for row in result]] == [[0], [1]]
    assert runs == [0, 1]


def test_a_reader_of_several_threads_is_read_in_turns() -> None:
    for _ in range(5):
        reader = result_of(Runs(batches=2_000)).reader()
        counts: list[int] = []
        errors: list[BaseException] = []

        def read(reader: pa.RecordBatchReader = reader, counts: list[int] = counts, errors: Any = errors) -> None:
            try:
                counts.append(sum(batch.num_rows for batch in reader))
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert sum(counts) == 4_000


def test_closing_from_another_thread_stops_the_run() -> None:
    runs = Runs(batches=10**9)
    batches = result_of(runs).batches()
    timer = threading.Timer(0.05, batches.close)
    timer.start()
    with pytest.raises(QueryCancelled):
        for _ in batches:
            pass
    timer.join()
    assert runs.closed == 1


def test_a_with_block_stops_its_runs() -> None:
    runs = Runs(batches=10**9)
    with result_of(runs) as result:
        reader = result.reader()
        reader.read_next_batch()
    with pytest.raises(QueryCancelled):
        reader.read_next_batch()
    assert runs.closed == 1
    runs.batches = 1
    assert len(result.rows()) == 2


def test_a_closed_run_is_no_short_answer() -> None:
    runs = Runs()
    batches = result_of(runs).batches()
    next(batches)
    batches.close()
    assert runs.closed == 1
    with pytest.raises(QueryCancelled, match="closed"):
        next(batches)


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_result_cannot_be_pickled(copied: Any) -> None:
    with pytest.raises(ExecutionError, match="pickled"):
        copied(result_of(Runs()))


# --- files -------------------------------------------------------------------------------------------------------

READERS: dict[str, Any] = {
    ".parquet": pyarrow.parquet.read_table, ".csv": pyarrow.csv.read_csv, ".arrow": pyarrow.feather.read_table,
    ".feather": pyarrow.feather.read_table,
}  # fmt: skip


@pytest.mark.parametrize("ending", READERS)
def test_write(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"out{ending.upper()}"
    assert result_of(Runs()).write(target) == 6
    assert READERS[ending](str(target)).column("n").to_pylist() == [0, 1, 1, 2, 2, 3]
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_write_json_lines(tmp_path: Path) -> None:
    elements().write(tmp_path / "out.jsonl")
    (line,) = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(line)["a"]["properties"] == {"name": "Ann"}


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_whole_nodes_go_to_files(ending: str, tmp_path: Path) -> None:
    assert elements().write(tmp_path / f"out{ending}") == 1
    assert READERS[ending](str(tmp_path / f"out{ending}")).column_names == ["a", "e", "p", "list"]


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".arrow", ".jsonl"])
def test_an_error_leaves_no_half_file(ending: str, tmp_path: Path) -> None:
    target = tmp_path / f"out{ending}"
    target.write_text("before")
    with pytest.raises(QueryTimeout):
        result_of(Runs(error=QueryTimeout("too late"))).write(target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_an_unknown_ending_and_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(ExecutionError, match="format") as raised:
        result_of(Runs()).write(tmp_path / "out.xlsx")
    assert ".parquet" in (raised.value.hint or "")
    with pytest.raises(ExecutionError, match="cannot write"):
        result_of(Runs()).write(tmp_path / "absent" / "out.csv")


def test_bytes_are_hexadecimal_where_there_is_only_text() -> None:
    result = result_over(pa.table({"x": [b"\0\xff", None], "m": [{"y": b"a"}, None]}))
    sinks = {format: io.BytesIO() for format in ("csv", "json")}
    for format, sink in sinks.items():
        assert result.write_to(sink, format) == 2
    assert sinks["csv"].getvalue() == b'"x","m"\n"00ff","{""y"": ""61""}"\n,\n'
    assert sinks["json"].getvalue() == b'{"x": "00ff", "m": {"y": "61"}}\n{"x": null, "m": null}\n'


def test_years_beyond_pythons_are_written_as_iso_8601_has_them() -> None:
    """JSON, and lists in CSV, were errors of years; beside other types Polars and Parquet were errors of Python's."""
    graph = gquery.from_arrow(vertices={"P": {"id": [1], "d": pa.array([5_000_000], pa.date32())}}, edges={})
    result = graph.query(
        "MATCH (p) RETURN p.d AS d, p, [p.d, date('2024-01-01')] AS l, {at: localdatetime('-0044-03-15T10:00')} AS m, "
        "[p.d, 'x'] AS x, datetime('-0044-03-15T00:30+01:00') AS z"
    )
    sink = io.BytesIO()
    result.write_to(sink, "json")
    assert json.loads(sink.getvalue()) == {
        "d": "+15659-07-15", "p": {"id": 1, "labels": ["P"], "properties": {"id": 1, "d": "+15659-07-15"}},
        "l": ["+15659-07-15", "2024-01-01"], "m": {"at": "-0044-03-15T10:00"}, "x": ["+15659-07-15", "x"],
        "z": "-0044-03-15T00:30+01:00",
    }  # fmt: skip
    sink = io.BytesIO()
    result.write_to(sink, "csv")
    assert '"[""+15659-07-15"", ""2024-01-01""]"' in sink.getvalue().decode()
    assert result.to_polars()["x"].to_list() == [["+15659-07-15", "x"]]
    assert "<td>+15659-07-15</td><td>(:P {id: 1, d: +15659-07-15})</td>" in result._repr_html_()
    with pytest.raises(ExecutionError, match="outside of Python's years"):
        result.rows()


def test_nanoseconds_beside_other_types_are_written_whole(tmp_path: Path) -> None:
    text = "2024-01-01T00:00:00.123456789"
    result = gquery.from_arrow({}, {}).query(f"UNWIND [localdatetime('{text}'), 'x'] AS x RETURN x")
    result.write(tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["x"].to_pylist() == [text, "x"]


def test_what_a_format_does_not_have_is_an_error_of_ours() -> None:
    with pytest.raises(ExecutionError, match="cannot write the answer as parquet"):
        result_over(pa.table({"x": pa.array([{}], pa.struct([]))})).write_to(io.BytesIO(), "parquet")


def test_pandas_has_values_as_they_are() -> None:
    """Arrow makes floats of integers beside nulls, and numbers of times, where they are in maps."""
    large, zoned = 2**60 + 1, pa.timestamp("us", "Europe/Zurich")
    fine, time = pa.timestamp("ns"), pa.time64("ns")
    frame = result_over(
        pa.table(
            {
                "map": pa.array(
                    [{"n": large, "at": 1}, {"n": None, "at": None}], pa.struct([("n", pa.int64()), ("at", fine)])
                ),
                "list": pa.array([[large, None], None]),
                "zoned": pa.array([[0], []], pa.list_(zoned)),
                "time": pa.array([1_001, None], time),
            }
        )
    ).to_pandas()
    assert frame["map"].tolist() == [{"n": large, "at": pandas.Timestamp(1)}, {"n": None, "at": None}]
    assert frame["list"][0].tolist() == [large, None]
    assert frame["zoned"][0][0].utcoffset() == datetime.timedelta(hours=1)
    assert frame["time"].tolist() == [datetime.time(microsecond=1), None]
    with pytest.raises(ExecutionError, match="outside of Python's years"):
        result_over(pa.table({"x": pa.array([-1_000_000], pa.date32())})).to_pandas()


# --- elements ----------------------------------------------------------------------------------------------------

ANN = {"id": 1, "labels": ["Person"], "properties": {"name": "Ann"}}
NOBODY = {"id": 2, "labels": ["Person"], "properties": {"name": None}}
KNOWS = {"type": "KNOWS", "start": 2, "end": 1, "properties": None}


def elements() -> Result:
    parts = [("nodes", pa.list_(NODE)), ("relationships", pa.list_(EDGE)), ("forward", pa.list_(pa.bool_()))]
    table = pa.table(
        {
            "a": pa.array([ANN], NODE),
            "e": pa.array([KNOWS], EDGE),
            "p": pa.array([{"nodes": [ANN, NOBODY], "relationships": [KNOWS], "forward": [False]}], pa.struct(parts)),
            "list": pa.array([[NOBODY, None]], pa.list_(NODE)),
        }
    )
    return result_over(table)


def test_elements_are_read_as_such() -> None:
    (row,) = elements().rows()
    ann, nobody = Node(1, ("Person",), {"name": "Ann"}), Node(2, ("Person",), {})
    knows = Relationship("KNOWS", 2, 1, {})
    assert row == (ann, knows, GraphPath((ann, nobody), (knows,), (False,)), [nobody, None])
    assert [repr(value) for value in row[:3]] == [
        "(:Person {name: 'Ann'})", "[:KNOWS]", "<(:Person {name: 'Ann'})<-[:KNOWS]-(:Person)>"
    ]  # fmt: skip
    assert ann["name"] == "Ann"
    assert len({ann, Node(1, ("Person",), {"name": "Ann"}), nobody}) == 2


def test_notebooks_show_the_first_rows() -> None:
    runs = Runs(batches=1000)
    text = result_of(runs)._repr_html_()
    assert "<th>name</th>" in text
    assert "and more rows" in text
    assert runs.pulled <= 12
    assert "&lt;b&gt;" in result_over(pa.table({"x": ["<b>"]}))._repr_html_()

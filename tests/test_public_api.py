"""Wrong types and odd values in every public call: an error of ours that says what is wrong, never another's."""

from __future__ import annotations

import contextlib
import copy
import datetime
import decimal
import enum
import io
import pickle
import sys
import uuid
import warnings
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gquery

ODD: list[Any] = [
    None, 0, -1, 10**400,
    1.5, float("nan"), True, "", "x", "\ud800", "a\0b", b"x", [], [1], {}, {1: 2}, set(), object(),
    int, len, uuid.UUID(int=5), np.array([1, 2]), pd.NA, pa.array([1]), (value for value in [1]),
]  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> gquery.Graph:
    people = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"]}
    return gquery.from_arrow({"P": people}, {("P", "X", "P"): {"source": [1, 2], "target": [2, 3]}})


CALLS: dict[str, Callable[[gquery.Graph, Any], object]] = {
    "query": lambda graph, odd: graph.query(odd).to_arrow(),
    "motifs": lambda graph, odd: gquery.motifs(graph, odd, random=1),
    "motifs by option": lambda graph, odd: [
        gquery.motifs(graph, 3, **{"random": 1, name: odd}) for name in ("directed", "model", "labels", "types", "seed")
    ],
    "parameters": lambda graph, odd: graph.query("RETURN $a", odd).to_arrow(),
    "parameter": lambda graph, odd: graph.query("RETURN $a AS a", {"a": odd}).rows(),
    "parameter in a list": lambda graph, odd: graph.query("RETURN $a AS a", {"a": [odd, odd]}).rows(),
    "parameter in a map": lambda graph, odd: graph.query("RETURN $a AS a", {"a": {"b": odd}}).rows(),
    "parameter compared": lambda graph, odd: graph.query("MATCH (a) WHERE a.name = $a RETURN a", {"a": odd}).rows(),
    "parameter contained": lambda graph, odd: graph.query("MATCH (a) WHERE a.name IN $a RETURN a", {"a": odd}).rows(),
    "parameter as limit": lambda graph, odd: graph.query("MATCH (a) RETURN a.id LIMIT $a", {"a": odd}).rows(),
    "parameter added": lambda graph, odd: graph.query("MATCH (a) RETURN a.id + $a AS b", {"a": odd}).rows(),
    "mode": lambda graph, odd: graph.query("RETURN 1", mode=odd).rows(),
    "device": lambda graph, odd: graph.query("RETURN 1", device=odd).rows(),
    "timeout": lambda graph, odd: graph.query("RETURN 1", timeout=odd).rows(),
    "memory_limit": lambda graph, odd: graph.query("RETURN 1", memory_limit=odd).rows(),
    "threads": lambda graph, odd: graph.with_settings(threads=odd).query("RETURN 1").rows(),
    "with_settings": lambda graph, odd: graph.with_settings(mode=odd, device=odd, timeout=odd, memory_limit=odd),
    "explain": lambda graph, odd: graph.explain(odd),
    "explain, parameters": lambda graph, odd: graph.explain("RETURN $a", odd),
    "profile": lambda graph, odd: graph.profile("RETURN $a", odd),
    "save": lambda graph, odd: graph.save(odd),
    "open": lambda graph, odd: gquery.open(odd),
    "load": lambda graph, odd: gquery.load(odd),
    "from_arrow, vertices": lambda graph, odd: gquery.from_arrow(odd, {}),
    "from_arrow, edges": lambda graph, odd: gquery.from_arrow({"P": {"id": [1]}}, odd),
    "from_arrow, table": lambda graph, odd: gquery.from_arrow({"P": odd}, {}),
    "from_networkx": lambda graph, odd: gquery.from_networkx(odd),
    "from_duckdb": lambda graph, odd: gquery.from_duckdb(odd, {"P": "SELECT 1 AS id"}, {}),
    "write": lambda graph, odd: graph.query("RETURN 1").write(odd),
    "write_to": lambda graph, odd: graph.query("RETURN 1").write_to(odd, "csv"),
    "write_to, format": lambda graph, odd: graph.query("RETURN 1").write_to(io.BytesIO(), odd),
}


@pytest.mark.parametrize("call", CALLS)
def test_only_errors_of_ours(graph: gquery.Graph, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = []
    for odd in ODD:
        try:
            with warnings.catch_warnings(action="ignore"):
                CALLS[call](graph, odd)
        except gquery.GQueryError as error:
            str(error).encode()
        except Exception as error:
            foreign.append(f"{odd!r:.40}: {type(error).__name__}: {error!s:.90}")
    assert foreign == []


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"timeout": "x"}, "timeout"), ({"timeout": -1}, "timeout"), ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"), ({"timeout": True}, "timeout"), ({"timeout": float("inf")}, "timeout"),
        ({"mode": 3}, "mode"), ({"memory_limit": "9" * 400}, "not a size"), ({"memory_limit": 10**5000}, "not a size"),
        ({"memory_limit": -5}, "not a size"), ({"memory_limit": True}, "not a size"), ({"threads": 0}, "threads"),
        ({"threads": -1}, "threads"), ({"threads": 10**9}, "threads"), ({"threads": "2"}, "threads"),
        ({"device": "tpu"}, "device"), ({"foo": 1}, "no setting `foo`"), ({"time_out": 1}, "no setting"),
    ],
)  # fmt: skip
def test_settings_without_sense(graph: gquery.Graph, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(gquery.BindError, match=said):
        graph.with_settings(**settings)


def test_settings_with_sense(graph: gquery.Graph) -> None:
    changed = graph.with_settings(
        timeout=np.float32(60), threads=np.int64(1), memory_limit="64 MiB", mode="INDUCED", device="cpu"
    )
    assert changed.settings.memory_limit == 64 * 2**20
    assert changed.query("MATCH (a)-->(b) RETURN count(*)").scalar() == 2
    assert changed.with_settings(timeout=None, memory_limit=None).settings.timeout is None


class Colour(enum.Enum):
    RED = 1


class Number(enum.IntEnum):
    ONE = 1


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize("depth", [0, 1])
def test_a_key_that_is_empty_is_no_parameter_s(graph: gquery.Graph, depth: int) -> None:
    """What came was that this is a fault of gquery's."""
    value: Any = {"": 1}
    for _ in range(depth):
        value = [{"a": value}]
    with pytest.raises(gquery.BindError, match=r"a key of a map is not empty; parameter `.x` has one that is"):
        graph.query("RETURN $x AS x", {"x": value})


def test_a_key_with_a_nul_byte_is_no_parameter_s(graph: gquery.Graph) -> None:
    with pytest.raises(gquery.BindError, match=r"a key of a map has no NUL byte; parameter `.x` has 'a.x00'"):
        graph.query("RETURN $x AS x", {"x": [{"a\0": 1}]})


def test_a_bytearray_is_bytes(graph: gquery.Graph) -> None:
    assert graph.query("RETURN $x AS x", {"x": bytearray(b"ab")}).scalar() == b"ab"


@pytest.mark.parametrize(
    "value",
    [Colour.RED, uuid.UUID(int=7), (value for value in "ab"), LOOP, {"a": LOOP}, "\ud800", {"\udfff": 1}, {1: 2},
     object(), int, range, pd.DataFrame({"a": [1]}), 1j],
)  # fmt: skip
def test_parameters_that_are_no_values(graph: gquery.Graph, value: Any) -> None:
    with pytest.raises(gquery.BindError, match="parameter"):
        graph.query("RETURN $x AS x", {"x": value})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Number.ONE, 1), (np.int8(3), 3), (np.float32(0.5), 0.5), (np.bool_(True), True), (np.str_("a"), "a"),
        (pd.NaT, None), (pd.NA, None), (np.datetime64("NaT"), None), (pa.scalar(5), 5),
        (pa.array([1, None]), [1, None]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]), (pd.Series([1, 2]), [1, 2]), ((1, 2), [1, 2]),
        (np.datetime64("2024-02-29"), datetime.date(2024, 2, 29)), (np.datetime64("NaT", "D"), None),
        (np.array(["2024-02-29"], "datetime64[D]"), [datetime.date(2024, 2, 29)]),
        (np.datetime64("2024-02-29T01:02:03", "ns"), datetime.datetime(2024, 2, 29, 1, 2, 3)),
        (pd.Timestamp("2024-02-29 01:02:03"), datetime.datetime(2024, 2, 29, 1, 2, 3)),
        (np.array(["2024-02-29T00"], "datetime64[ns]"), [datetime.datetime(2024, 2, 29)]),
        (pd.DatetimeIndex(["2024-02-29", None], tz="UTC"), [datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC), None]),
        (pa.scalar([("a", 1)], pa.map_(pa.string(), pa.int64())), [["a", 1]]),
        (pd.Timedelta(1, "D"), pa.MonthDayNano([0, 1, 0])), (pd.Timedelta(1, "ns"), pa.MonthDayNano([0, 0, 1])),
        (b"\0\xff", b"\0\xff"), ("a\0b", "a\0b"), ({"a": {"b": [1]}}, {"a": {"b": [1]}}),
    ],
)  # fmt: skip
def test_parameters_of_other_libraries(graph: gquery.Graph, value: Any, expected: Any) -> None:
    found = graph.query("RETURN $x AS x", {"x": value}).scalar()
    assert found == expected


@pytest.mark.parametrize(
    "value",
    [pd.Timestamp("2024-02-29 00:00:00.000000001"), np.datetime64(1, "ns"),
     np.array([1, 0], "datetime64[ns]"), pa.scalar(1, pa.timestamp("ns")),
     pa.scalar(1, pa.time64("ns")), pl.Series([1]).cast(pl.Datetime("ns"))],
)  # fmt: skip
def test_times_that_are_too_fine_for_python_are_no_parameters(graph: gquery.Graph, value: Any) -> None:
    with pytest.raises(gquery.BindError, match=r"nanoseconds|would lose"):
        graph.query("RETURN $x AS x", {"x": value})


def test_years_that_python_does_not_have_are_no_parameters(graph: gquery.Graph) -> None:
    with pytest.raises(gquery.BindError, match="outside of Python's years"):
        graph.query("RETURN $x AS x", {"x": np.array(["2024-02-29", "20000-01-01"], "datetime64[D]")})


class Zone(datetime.tzinfo):
    def __init__(self, offset: datetime.timedelta | None) -> None:
        self.offset = offset

    def utcoffset(self, _: datetime.datetime | None) -> datetime.timedelta | None:
        return self.offset

    def tzname(self, _: datetime.datetime | None) -> str:
        return "Nowhere"


def test_zones_of_parameters(graph: gquery.Graph) -> None:
    """A zone that nobody knows is its offset."""

    def answer(zone: datetime.tzinfo) -> Any:
        return graph.query("RETURN $x AS x", {"x": datetime.datetime(2024, 2, 29, tzinfo=zone)}).to_arrow()["x"]

    assert answer(Zone(datetime.timedelta(hours=3))).type.tz == "+03:00"
    assert answer(zoneinfo.ZoneInfo("Europe/Zurich")).type.tz == "Europe/Zurich"
    with pytest.raises(gquery.BindError, match="gives no offset"):
        answer(Zone(None))
    with pytest.raises(gquery.UnsupportedError, match="an offset from UTC with seconds"):
        answer(datetime.timezone(datetime.timedelta(seconds=3601)))


@pytest.mark.parametrize("text", ["RETURN $x.a", "RETURN $x", "UNWIND [$x] AS x RETURN keys(x)"])
def test_maps_whose_keys_differ_in_case_only_are_no_parameters(graph: gquery.Graph, text: str) -> None:
    with pytest.raises(gquery.UnsupportedError, match="differ in case only") as caught:
        graph.query(text, {"x": {"a": 1, "A": 2}})
    assert caught.value.span is not None
    assert caught.value.span.start == text.index("$x")


def test_decimals_are_parameters(graph: gquery.Graph) -> None:
    assert graph.query("RETURN $x > 0.5 AS x", {"x": decimal.Decimal("0.57")}).scalar() is True


def test_a_later_change_of_a_parameter_changes_nothing(graph: gquery.Graph) -> None:
    names, numbers, inner = ["Ann", "Bob"], np.array([1, 2]), {"x": [1]}
    text = "MATCH (a) WHERE a.name IN $names AND a.id IN $numbers RETURN a.id AS id, $inner AS inner ORDER BY id"
    parameters = {"names": names, "numbers": numbers, "inner": inner}
    result = graph.query(text, parameters)
    names.clear()
    numbers[:] = 9
    inner["x"].append(2)
    parameters.clear()
    assert result.rows() == [(1, {"x": [1]}), (2, {"x": [1]})]


@pytest.mark.parametrize(
    "target", ["a\0b.csv", "", "folder.csv", "absent/out.csv", "x" * 5000 + ".csv", 5, None, b"out.csv"]
)
def test_places_that_cannot_be_written(graph: gquery.Graph, target: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    if target == b"out.csv":
        assert graph.query("RETURN 1 AS x").write(target) == 1
        return
    with pytest.raises(gquery.ExecutionError):
        graph.query("RETURN 1 AS x").write(target)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_little_of_python_s_stack_is_left(graph: gquery.Graph) -> None:
    """Where an answer is read, that is an answer or an error of ours, however deep the caller stands."""

    def below(frames: int, read: Callable[[], object]) -> object:
        return below(frames - 1, read) if frames else read()

    nested = "abs(" * 190 + "1" + ")" * 190
    for text in (f"RETURN {nested} AS x", f"EXPLAIN MATCH (a) RETURN {nested} AS x"):
        result = graph.query(text)
        for frames in range(500, sys.getrecursionlimit() - 100, 25):
            with contextlib.suppress(gquery.ExecutionError):
                below(frames, lambda result=result: list(result.batches()))


def test_little_of_python_s_stack_is_left_to_write(graph: gquery.Graph) -> None:
    """It was a RecursionError up to twenty frames before the last. The last few are too few for any error of ours."""

    def below(frames: int, work: Callable[[], object]) -> object:
        return below(frames - 1, work) if frames else work()

    def frames_left(low: int, high: int) -> int:
        """The deepest from which as many frames can be called as an error of ours needs."""
        while high - low > 1:
            middle = (low + high) // 2
            try:
                below(middle + 10, int)
                low = middle
            except RecursionError:
                high = middle
        return low

    store = gquery.Store(graph)
    new = iter(range(10_000, 20_000))
    works: list[Callable[[], object]] = [
        lambda: store.apply(insert={"New": {"id": [next(new)]}}),
        lambda: store.execute(f"CREATE (:New {{id: {next(new)}}})"),
    ]
    for work in works:
        work()
        deepest, refused = frames_left(0, sys.getrecursionlimit()), 0
        for frames in range(deepest - 60, deepest):
            before = store.version, store.graph.vertex_count
            try:
                below(frames, work)
                change = 1
            except gquery.GQueryError:
                refused, change = refused + 1, 0
            assert (store.version, store.graph.vertex_count) == (before[0] + change, before[1] + change)
        assert refused


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_graphs_stores_and_watches_cannot_be_pickled(copied: Any, tmp_path: Path) -> None:
    """What came was an AttributeError about a local function, for an opened graph another one."""
    made = gquery.from_arrow(vertices={"A": {"id": [1]}}, edges={})
    made.save(tmp_path / "a.gq")
    store = gquery.Store(made)
    for each in (made, gquery.open(tmp_path / "a.gq"), store, store.watch("MATCH (a) RETURN a.id")):
        with pytest.raises(gquery.ExecutionError, match="cannot be pickled or copied"):
            copied(each)

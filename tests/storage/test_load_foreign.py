"""Whatever a loading call is given, what comes out is a graph or an error of ours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import gquery
from gquery.errors import GQueryError, LoadError
from tests.storage.loaded import write


class Strange:
    """An object that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __bool__(self) -> bool:
        return True


ODD: list[Any] = [
    None, 5, -1, 2**70, 1.5, float("nan"), True, "", " ", "x", "\0", "a\0b", "x" * 5000, "\ud800", "**a*", b"", b"x",
    (), [], {}, set(), [None], [[]], [5], ("a",), ("a", "b", "c"), {"a": 1}, {5: 6}, {None: None}, {"A": {"id": [1]}},
    {("A", "R", "A"): 5}, {(1, 2, 3): {"a": [1], "b": [1]}}, {("A", None, "A"): {}}, object(), Strange(), Strange, int,
    lambda: None, np.zeros(3), np.int64(5), pd.DataFrame(), pd.DataFrame({"id": [1]}), pa.table({}),
    pa.table({"id": [1]}), Path("nowhere"), Path("x" * 300),
    NotImplemented, range(3), iter([]), Exception("x"), b"\xff\xfe",
]  # fmt: skip
PEOPLE = {"A": {"id": [1, 2], "x": ["a", None]}}
KNOWS = {("A", "R", "A"): {"a": [1, 2], "b": [2, 1]}}
LOADING = (
    "mapping", "super_labels", "undirected", "delimiter", "quote", "array_delimiter", "header", "null", "encoding",
    "types", "on_bad_row", "on_dangling", "progress", "timeout",
)  # fmt: skip
TABLES = ("id", "ends", "super_labels", "undirected", "on_bad_row", "on_dangling", "progress", "timeout")


def calls(folder: Path) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Every argument of every loading call, as a function of its value."""
    connection = duckdb.connect()
    yield "load", lambda value: gquery.load(value)
    yield "open", lambda value: gquery.open(value)
    for name in LOADING:
        yield f"load {name}", lambda value, name=name: gquery.load(folder, **{name: value})
    yield "from_arrow vertices", lambda value: gquery.from_arrow(value, {})
    yield "from_arrow edges", lambda value: gquery.from_arrow(PEOPLE, value)
    yield "from_arrow table", lambda value: gquery.from_arrow({"A": value}, {})
    yield "from_arrow edge table", lambda value: gquery.from_arrow(PEOPLE, {("A", "R", "A"): value})
    yield "from_arrow column", lambda value: gquery.from_arrow({"A": {"id": [1], "x": value}}, {})
    yield "from_arrow cell", lambda value: gquery.from_arrow({"A": {"id": [1], "x": [value]}}, {})
    yield "from_arrow id cell", lambda value: gquery.from_arrow({"A": {"id": [value]}}, {})
    yield "from_arrow label", lambda value: gquery.from_arrow({value: {"id": [1]}} if hashable(value) else {}, {})
    yield (
        "from_arrow type",
        lambda value: gquery.from_arrow(PEOPLE, {("A", value, "A"): {"a": [1], "b": [2]}} if hashable(value) else {}),
    )
    for name in TABLES:
        yield f"from_arrow {name}", lambda value, name=name: gquery.from_arrow(PEOPLE, KNOWS, **{name: value})
    yield "from_arrow id of one", lambda value: gquery.from_arrow(PEOPLE, KNOWS, id={"A": value})
    yield "from_arrow ends of one", lambda value: gquery.from_arrow(PEOPLE, KNOWS, ends={"R": value})
    yield "from_duckdb connection", lambda value: gquery.from_duckdb(value, {}, {})
    yield "from_duckdb vertices", lambda value: gquery.from_duckdb(connection, value, {})
    yield "from_duckdb edges", lambda value: gquery.from_duckdb(connection, {}, value)
    yield "from_duckdb table", lambda value: gquery.from_duckdb(connection, {"A": value}, {})
    yield "from_duckdb id", lambda value: gquery.from_duckdb(connection, PEOPLE, KNOWS, id=value)
    yield "from_networkx", lambda value: gquery.from_networkx(value)
    for name in ("super_labels", "undirected", "progress", "timeout"):
        yield f"from_networkx {name}", lambda value, name=name: gquery.from_networkx(Networkx(), **{name: value})
    yield "from_networkx nodes", lambda value: gquery.from_networkx(Networkx(nodes=[(value, {})]))
    yield "from_networkx attributes", lambda value: gquery.from_networkx(Networkx(nodes=[(1, {"x": value})]))
    yield "from_networkx label", lambda value: gquery.from_networkx(Networkx(nodes=[(1, {"label": value})]))
    yield "from_networkx type", lambda value: gquery.from_networkx(Networkx(edges=[(1, 1, {"type": value})]))


class Rows(list[Any]):
    def __call__(self, data: bool = False) -> Any:
        return self

    def __iter__(self) -> Iterator[Any]:
        return super().__iter__()


class Networkx:
    """The little of networkx that is read."""

    def __init__(self, nodes: Any = ((1, {}),), edges: Any = ()) -> None:
        self.nodes, self.edges, self.is_multigraph = Rows(nodes), Rows(edges), lambda: True


def hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def test_wrong_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "in", {"A.csv": "id,x\n1,a\n2,b\n", "A_r_A.csv": "source,target\n1,2\n"})
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")  # where `..` and the like lead nowhere large
    foreign = []
    for name, call in calls(folder):
        for value in ODD:
            if "progress" in name and callable(value):
                continue  # what it raises is its maker's
            try:
                call(value)
            except GQueryError as error:
                str(error)
            except BaseException as error:
                foreign.append(f"{name}({value!r:.60}): {type(error).__name__}: {error!s:.100}")
    assert not foreign, "\n".join(foreign)


MAPPINGS: list[Any] = [
    {"vertices": 5}, {"vertices": {"A": 5}}, {"vertices": {"A": {}}}, {"vertices": {"A": {"file": 5}}},
    {"vertices": {"A": {"file": []}}}, {"vertices": {"A": {"file": "**a*"}}}, {"vertices": {"A": {"file": "a\0b"}}},
    {"vertices": {"A": {"file": "x" * 5000}}}, {"vertices": {"A": {"file": "***"}}},
    {"vertices": {"A": {"file": "A.csv", "id": 5}}},
    {"vertices": {5: {"file": "A.csv"}}}, {"vertices": {"A": {"file": "A.csv", "labels": "A"}}}, {5: 6}, {"edges": {}},
    {"edges": [5]}, {"edges": [{"file": "A.csv"}]}, {"edges": [{"file": "A.csv", "type": ""}]}, {"super_labels": 5},
    {"vertices": {"A": {"file": "A.csv"}}, "super_labels": {"B": 5}},
    {"vertices": {"A": {"file": "A.csv", "columns": ["x"]}}},
    {"vertices": {"A": {"file": "A.csv", "columns": []}}}, {"vertices": {"A": {"file": "A.csv", "delimiter": "::"}}},
    {"vertices": {"A": {"file": "A.csv", "encoding": "x"}}}, {"vertices": {"A": {"file": "A.csv", "null": "NA"}}},
    {"vertices": {"A": {"file": "A.csv", "properties": ["x", "x"]}}}, {"vertices": {"A": {"file": ".."}}},
    {"vertices": {"A": {"file": "\ud800*"}}}, {"vertices": {"A": {"file": ["A.csv", "A.csv"]}}},
    {"edges": [{"file": "A.csv", "type": "R", "source_column": "x", "target_column": "x"}]},
    {"vertices": {"A": {"file": "/etc/*"}}}, {"vertices": {"": {"file": "A.csv"}}}, {None: None}, {"delimiter": 5},
]  # fmt: skip


@pytest.mark.parametrize("mapping", MAPPINGS, ids=lambda mapping: repr(mapping)[:60])
def test_odd_mappings(tmp_path: Path, mapping: Any) -> None:
    write(tmp_path, {"A.csv": "id,x\n1,a\n"})
    try:
        gquery.load(tmp_path, mapping=mapping)
    except LoadError as error:
        str(error)


@pytest.mark.parametrize(
    "text", ["", "[[vertices]]", "vertices = 5", "x" * 100, "[" * 5000, "a = " + "[" * 3000, "\ufeff", "\0"]
)
def test_odd_mapping_files(tmp_path: Path, text: str) -> None:
    with pytest.raises(LoadError):
        gquery.load(write(tmp_path, {"map.toml": text, "A.csv": "id\n1\n"}) / "map.toml")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", {"A.csv": "id\n1\n", "deep/B.csv": "id\n1\n"})
    _cannot_read(folder, folder / "A.csv", folder / "deep", folder)
    schema = "CREATE NODE TABLE A (id STRING, PRIMARY KEY (id));"
    folder = write(tmp_path / "of Kuzu", {"A.csv": "id\n1\n", "schema.cypher": schema})
    _cannot_read(folder, folder / "A.csv", folder / "schema.cypher", folder)


def _cannot_read(folder: Path, *hidden: Path) -> None:
    for path in hidden:
        for mode in (0, 0o111):  # whose files can be read, but not listed
            path.chmod(mode)
            try:
                with pytest.raises(LoadError, match="cannot read"):
                    gquery.load(folder)
            finally:
                path.chmod(0o755)


def test_folders_named_like_files(tmp_path: Path) -> None:
    (tmp_path / "A.csv").mkdir()
    with pytest.raises(LoadError):
        gquery.load(tmp_path)
    with pytest.raises(LoadError):
        gquery.load(tmp_path / "A.csv")
    (tmp_path / "B.csv").symlink_to("nowhere")
    with pytest.raises(LoadError, match="cannot read the file"):
        gquery.load(tmp_path)


def test_unknown_options() -> None:
    for call in (gquery.from_arrow, gquery.load):
        with pytest.raises((LoadError, TypeError)):
            call({}, {}, undirect=True)  # type: ignore[operator]
    with pytest.raises(LoadError, match="did you mean `undirected`"):
        gquery.from_arrow({}, {}, undirect=True)  # type: ignore[call-arg]
    with pytest.raises(LoadError, match="there is no option `delimiter`"):
        gquery.from_networkx(Networkx(), delimiter=",")  # type: ignore[call-arg]

"""Nothing that is loaded is without a bound: pipes, devices, bombs, endless lines, wide tables, time."""

from __future__ import annotations

import gzip
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import gquery
from gquery.errors import LoadError, QueryTimeout
from gquery.storage.load import from_arrow, load
from tests.conftest import patience
from tests.storage.loaded import edges, vertices, write

pytestmark = pytest.mark.alone

MB = 1 << 20


@contextmanager
def within(seconds: float, megabytes: int) -> Iterator[None]:
    """What is inside takes no longer, and takes no more memory than this at its peak than the process ever had."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - started < seconds * patience()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < megabytes * 1024


@pytest.mark.parametrize("name", ["g.txt", "g.csv", "g.graph", "g.sif", "g.parquet", "g.arrow", "map.toml", "g.csv.gz"])
def test_pipes_and_devices_are_refused(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with within(5, 50), pytest.raises(LoadError, match="this is a pipe"):
        load(tmp_path / name)
    (tmp_path / "device").mkdir()
    (tmp_path / "device" / name).symlink_to("/dev/zero")
    with within(5, 50), pytest.raises(LoadError, match="this is a device"):
        load(tmp_path / "device" / name)


def test_pipes_inside_folders_and_as_mappings(tmp_path: Path) -> None:
    write(tmp_path, {"A.csv": "id\n1\n"})
    os.mkfifo(tmp_path / "map.toml")
    with pytest.raises(LoadError, match="this is a pipe"):
        load(tmp_path, mapping=tmp_path / "map.toml")
    os.mkfifo(tmp_path / "B.csv")
    with pytest.raises(LoadError, match="this is a pipe"):
        load(tmp_path)


def bomb(piece: bytes, start: bytes = b"") -> bytes:
    """320 MB that gzip makes small. Many members make it in no time."""
    return gzip.compress(start) * bool(start) + gzip.compress(piece * (MB // len(piece)), mtime=0) * 320


@pytest.mark.parametrize("name", ["g.txt.gz", "g.csv.gz", "g.graph.gz", "g.sif.gz"])
@pytest.mark.parametrize(
    "content",
    [bomb(b"\0"), bomb(b"a"), bomb(b"\n"), bomb(b"\0", b"id,name\n1,a\n")],
    ids=["zeros", "word", "lines", "tail"],
)
def test_bombs_of_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    with (
        within(20, 300),
        pytest.raises(LoadError, match=r"longer than 16 MiB|200 times its size|NUL|expected|none of t, v"),
    ):
        load(write(tmp_path, {name: content}) / name)


@pytest.mark.parametrize("name", ["g.txt.gz", "g.csv.gz"])
def test_bombs_of_rows(tmp_path: Path, name: str) -> None:
    with within(60, 1200), pytest.raises(LoadError, match="200 times its size"):
        load(write(tmp_path, {name: bomb(b"100000000 200000000\n", b"source target\n" * ("csv" in name))}) / name)


@pytest.mark.parametrize("name", ["g.txt", "g.csv", "tail.csv", "g.graph", "g.sif", "g.arrow", "g.parquet", "g.toml"])
def test_sparse_files(tmp_path: Path, name: str) -> None:
    with open(tmp_path / name, "wb") as file:
        file.write(b"id,name\n1,a\n" if name.startswith("tail") else b"")
        file.truncate(20 << 30)
    with within(20, 300), pytest.raises(LoadError) as caught:
        load(tmp_path / name)
    assert name in str(caught.value)


def test_wide_tables(tmp_path: Path) -> None:
    for name, mark in (("g.csv", ","), ("g.txt", " ")):
        text = mark.join(f"c{i}" for i in range(100_000)) + "\n" + mark.join(map(str, range(100_000))) + "\n"
        with within(20, 300), pytest.raises(LoadError, match="100,000 columns"):
            load(write(tmp_path, {name: text}) / name)
    with pytest.raises(LoadError, match="20,000 columns"):
        from_arrow({"A": {f"c{i}": [1] for i in range(20_000)}}, {})


def test_more_rows_than_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa.parquet.write_table(pa.table({"a": [1] * 1000, "b": [2] * 1000}), tmp_path / "g.parquet")
    assert load(tmp_path / "g.parquet").report.edges == 1000
    monkeypatch.setattr("gquery.storage.load.assembly.arrow_values.os.sysconf", lambda _: 80)
    with pytest.raises(LoadError, match="1,000 rows of 2 columns"):
        load(tmp_path / "g.parquet")
    monkeypatch.undo()
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2**40], pa.int64()), [1])
    with pytest.raises(LoadError, match="1,099,511,627,776 rows of 1 columns"):
        from_arrow({"A": pa.table({"id": runs})}, {})


def test_a_header_of_half_a_megabyte(tmp_path: Path) -> None:
    names = ["id", *(f"{'long' * 100}{i}" for i in range(1300))]
    graph = load(write(tmp_path, {"A.csv": ",".join(names) + "\n" + ",".join(["7"] * 1301) + "\n"}))
    assert len(vertices(graph, "A")[0]) == 1301


def test_a_long_line_is_named(tmp_path: Path) -> None:
    for name, text in (("g.txt", "1 2\n3 "), ("A.csv", "id,name\n1,a\n2,")):
        with pytest.raises(LoadError, match="longer than 16 MiB") as caught:
            load(write(tmp_path, {name: text + "x" * (40 * MB)}) / name)
        assert caught.value.line == text.count("\n") + 1
        assert len(str(caught.value)) < 1000
        (tmp_path / name).unlink()


def test_fields_below_the_limit(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"A.csv": "id,name\n1," + "x" * (5 * MB) + "\n"}))
    assert len(str(vertices(graph, "A")[0]["name"])) == 5 * MB


# --- time ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An edge list, a folder of text and a Parquet file, each of which takes long enough to be stopped."""
    folder = tmp_path_factory.mktemp("large")
    ends = np.random.default_rng(9).integers(0, 10**6, (600_000, 2))
    (folder / "g.txt").write_text("".join(f"{a} {b}\n" for a, b in ends.tolist()))
    write(folder, {"in/E.csv": "source,target,x\n" + "".join(f"{a},{b},n{a}\n" for a, b in ends.tolist())})
    pa.parquet.write_table(pa.table({"a": ends[:, 0], "b": ends[:, 1]}), folder / "g.parquet")
    return folder


def loads(large: Path) -> dict[str, Callable[[], object]]:
    table = pa.table({"a": np.arange(2 * 10**6) % 10**6, "b": np.arange(2 * 10**6)[::-1] % 10**6})
    return {
        "list": lambda: gquery.load(large / "g.txt"),
        "folder": lambda: gquery.load(large / "in"),
        "parquet": lambda: gquery.load(large / "g.parquet"),
        "arrow": lambda: gquery.from_arrow({}, {("", "R", ""): table}),
    }


def test_ctrl_c_is_keyboard_interrupt(large: Path) -> None:
    late = []
    for kind, run in loads(large).items():
        started = time.monotonic()
        run()
        whole = time.monotonic() - started
        for share in (0.05, 0.2, 0.4, 0.6):
            sent: list[float] = []

            def press(sent: list[float] = sent) -> None:
                sent.append(time.monotonic())
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

            timer = threading.Timer(share * whole, press)
            try:
                timer.start()
                run()
                timer.join()  # the load was faster this time
                time.sleep(0.5)
            except KeyboardInterrupt:
                late.append((time.monotonic() - sent[0], kind))
    assert len(late) >= 8
    assert max(late)[0] < 1.0 * patience()  # 0.1 where nothing else runs
    assert sorted(late)[len(late) // 2][0] < 0.3 * patience()


def test_a_timeout_ends_a_load(large: Path) -> None:
    for kind in ("g.txt", "in"):
        started = time.monotonic()
        with pytest.raises(QueryTimeout, match=r"longer than its timeout of 0\.02 s"):
            gquery.load(large / kind, timeout=0.02)
        assert time.monotonic() - started < 1.0 * patience()
    assert gquery.load(large / "g.txt", timeout=100).edge_count == 600_000


def test_a_stopped_load_ends(large: Path) -> None:
    with pytest.raises(QueryTimeout):
        gquery.load(large / "g.txt", timeout=0.02)
    waited = 0.0
    while any(thread.name == "gquery load" for thread in threading.enumerate()):
        time.sleep(0.05)
        waited += 0.05
        assert waited < 10


def test_what_a_callback_raises_comes_out(tmp_path: Path) -> None:
    class Mine(Exception):
        pass

    def progress(what: str, fraction: float) -> None:
        raise Mine(what)

    with pytest.raises(Mine):
        load(write(tmp_path, {"g.txt": "1 2\n"}) / "g.txt", progress=progress)


def test_memory_that_ends_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("gquery.storage.load.formats.arrow.to_table", fail)
    with pytest.raises(LoadError, match="does not fit into memory"):
        from_arrow({"A": {"id": [1]}}, {})


def test_values_that_are_nested_too_deep() -> None:
    values = pa.array([1])
    for _ in range(900):
        values = pa.ListArray.from_arrays([0, 1], values)
    with pytest.raises(LoadError, match="nested too deep"):
        from_arrow({"A": pa.table({"id": [1], "x": values})}, {})


def test_a_small_load_is_whole(tmp_path: Path) -> None:
    assert len(edges(load(write(tmp_path, {"g.txt.gz": "1 2\n" * 1000}) / "g.txt.gz"))) == 1000

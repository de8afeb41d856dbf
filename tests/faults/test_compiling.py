"""Compiling kernels takes seconds, once on a machine: timeouts and Ctrl-C hold meanwhile, and Python ends cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import gquery
from gquery import caches
from gquery.executor.cpu.machine import compile as compiling
from gquery.executor.cpu.machine import kernel_cache
from gquery.stopping import stoppable
from tests.conftest import patience

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import sys, time
import gquery
ends = {"source": list(range(99)), "target": list(range(1, 100))}
graph = gquery.from_arrow(vertices={"V": {"id": list(range(100))}}, edges={("V", "X", "V"): ends})
text = "MATCH (a)-[:X]->(b)-[:X]->(c) WHERE a <> c RETURN id(a) AS a, id(c) AS c"
print("ready", flush=True)
began = time.monotonic()
try:
    graph.query(text, timeout=float(sys.argv[1])).to_arrow()
except (gquery.QueryTimeout, KeyboardInterrupt) as error:
    print(type(error).__name__, round(time.monotonic() - began, 2), flush=True)
"""


def _ask(cache: Path, timeout: float) -> subprocess.Popen[str]:
    """A process that has compiled nothing yet and asks a query."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ASK, str(timeout)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_timeout_and_exit_while_compiling(tmp_path: Path) -> None:
    process = _ask(tmp_path, 0.2)
    out, err = process.communicate(timeout=300)
    ready, stopped = out.splitlines()
    assert (ready, stopped.split()[0], process.returncode) == ("ready", "QueryTimeout", 0), err
    assert float(stopped.split()[1]) < 5 * patience()
    assert err == ""


MANY = """
import contextlib, threading, time
import gquery
def ask(text):
    with contextlib.suppress(gquery.QueryCancelled):  # where the machine is slow it was not waiting yet
        graph.query(text).to_arrow()
ends = {"source": list(range(99)), "target": list(range(1, 100))}
graph = gquery.from_arrow(vertices={"V": {"id": list(range(100))}}, edges={("V", "X", "V"): ends})
texts = (f"MATCH (a)-[:X]->(b) WHERE a.id > {number} RETURN id(a), id(b)" for number in range(8))
for text in texts:
    threading.Thread(target=ask, args=[text], daemon=True).start()
time.sleep(0.7)
"""


def test_exit_while_several_wait_for_kernels(tmp_path: Path) -> None:
    """Whoever was told to end where it waited for its turn never did, and Python waited for it."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", MANY], env=environment, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_while_compiling(tmp_path: Path) -> None:
    process = _ask(tmp_path, 60)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.2)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    assert process.stdout.readline().split()[0] == "KeyboardInterrupt"
    assert time.monotonic() - sent < 5 * patience()
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "Traceback" not in out + err


def test_waiting_ends_and_compiling_goes_on() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def compile_kernel() -> str:
        begun.set()
        go_on.wait(10)
        ended.set()
        return "kernel"

    def check() -> None:
        if begun.is_set():
            raise gquery.QueryCancelled("the query was cancelled")

    with pytest.raises(gquery.QueryCancelled), stoppable(check):
        compiling._compilations.wait(compile_kernel)
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(10)


UNCHECKED = """
import gquery
from gquery.executor.cpu.machine import compile as compiling
from gquery.stopping import check_of_this_thread, unchecked
waited = compiling._Compilations.wait
def wait(compilations, compile_kernel):
    assert check_of_this_thread() is not unchecked, "nothing stops who waits here"
    return waited(compilations, compile_kernel)
compiling._Compilations.wait = wait
count, edges = 400, 20_000
ends = {"source": [n * 7 % count for n in range(edges)], "target": [n * n % 397 for n in range(edges)]}
vertices = {"id": list(range(count)), "x": [n % 9 for n in range(count)], "f": [n / 3 for n in range(count)]}
graph = gquery.from_arrow(vertices={"V": vertices}, edges={("V", "X", "V"): ends})
graph.query("MATCH (a)-[:X]->(b)-[:X]->(c) RETURN a.x, c.x, stdev(b.x)").to_arrow()
graph.query("MATCH (a)-[:X]->(b)-[:X]->(c) RETURN a.x, sum(c.f), min(b.x)").to_arrow()
gquery.motifs(graph, 3, random=3)
"""


def test_all_who_wait_for_a_kernel_can_be_stopped() -> None:
    """Those of rows that are alike, of values that are added up and of motifs waited for as long as it took."""
    ended = subprocess.run([sys.executable, "-c", UNCHECKED], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr


def test_checks_are_those_of_the_innermost_query() -> None:
    def refuse() -> None:
        raise gquery.QueryCancelled("the query was cancelled")

    with stoppable(refuse):
        with stoppable(lambda: None):
            assert compiling._compilations.wait(lambda: 1) == 1
        with pytest.raises(gquery.QueryCancelled):
            compiling._compilations.wait(lambda: time.sleep(0.2))
    assert compiling._compilations.wait(lambda: 2) == 2


def test_what_fails_to_compile_is_raised_where_it_is_called() -> None:
    def fail() -> None:
        raise ZeroDivisionError("of the kernel")

    with pytest.raises(ZeroDivisionError, match="of the kernel"):
        compiling._compilations.wait(fail)


def test_one_compilation_for_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba compiles one after the other, and who comes later finds the kernel."""
    import numpy as np

    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path)
    calls = []

    def double(values):  # type: ignore[no-untyped-def]
        values[0] = values[0] * 2

    doubled = compiling.kernel(double)
    original = doubled._compiler.compile  # type: ignore[attr-defined]
    doubled._compiler.compile = lambda *rest: (calls.append(1), original(*rest))[1]  # type: ignore[attr-defined]
    columns = [np.ones(1, np.int64) for _ in range(8)]
    threads = [threading.Thread(target=doubled, args=(column,)) for column in columns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [int(column[0]) for column in columns] == [2] * 8
    assert len(calls) == 1


def test_kernels_of_earlier_sources_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that nobody has begun or used for a day."""
    monkeypatch.setattr(kernel_cache, "folder", lambda: tmp_path / "kernels-now")
    for name in ("kernels-old", "kernels-recent", "other"):
        (tmp_path / name / "inside").mkdir(parents=True)
        (tmp_path / name / "inside" / "kernel.nbi").write_text("")
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(tmp_path / "kernels-old", (long_ago, long_ago))
    os.utime(tmp_path / "other", (long_ago, long_ago))
    kernel_cache.begin()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernels-now", "kernels-recent", "other"]


def test_kernels_go_where_they_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And `gquery info` looks there."""
    kernel_cache.folder.cache_clear()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(caches.os, "access", lambda path, _: path == tmp_path)
    try:
        assert kernel_cache.folder().parent == tmp_path / "gquery"
        (kernel_cache.folder() / "cpu").mkdir(parents=True)
        (kernel_cache.folder() / "cpu" / "extend.nbi").write_text("")
        assert kernel_cache.compiled_kernels() == 1
    finally:
        kernel_cache.folder.cache_clear()


def test_of_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in many containers. What was installed with kernels has them, and nothing is read where the process stands."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(caches.os.path, "expanduser", str)
    monkeypatch.setattr(caches.os, "access", lambda *_: False)
    assert caches.folder_for(tmp_path) == tmp_path / "__pycache__"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert caches.folder_for(tmp_path) == tmp_path / "__pycache__"


def test_a_home_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(caches.os, "access", lambda path, _: not str(path).startswith(str(tmp_path)))
    assert caches.folder_for(tmp_path) == tmp_path / "__pycache__"


def test_a_later_process_compiles_nothing_and_learns_nothing_of_compiling() -> None:
    """Numba learns of all that it can compile before it compiles: a tenth of a second for nothing."""
    run = f"{ASK}\nprint(sorted(name for name in sys.modules if name == 'numba.cpython.setobj'))"
    for _ in range(2):
        answer = subprocess.run(
            [sys.executable, "-c", run, "600"], capture_output=True, text=True, check=True, cwd=ROOT
        )
    assert answer.stdout.splitlines()[-1] == "[]"


def test_damaged_kernels_are_compiled_anew(tmp_path: Path) -> None:
    """A disk was full, or the power went: half a file is not the end of all queries."""
    for damaged in (None, ".nbc", ".nbi"):
        files = list(tmp_path.rglob(f"*{damaged}"))
        assert files or damaged is None
        for file in files:
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        process = _ask(tmp_path, 600)
        assert process.communicate(timeout=300)[0] == "ready\n"
        assert process.returncode == 0


def test_kernels_are_used_that_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is full, or where others' files cannot be read."""
    import numpy as np
    from numba.core.caching import IndexDataCacheFile

    def refuse(*_: object) -> None:
        raise OSError("No space left on device")

    def triple(values):  # type: ignore[no-untyped-def]
        values[0] = values[0] * 3

    tripled, column = compiling.kernel(triple), np.ones(1, np.int64)
    for step in ("_load_index", "_save_index"):
        monkeypatch.setattr(IndexDataCacheFile, step, refuse)
    tripled(column)
    assert int(column[0]) == 3


def test_kernels_are_kept_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where their folder cannot be written: Numba's other places do not tell other sources apart, and it refused to
    compile at all for who may not write there either."""
    import numpy as np

    def half(values):  # type: ignore[no-untyped-def]
        values[0] = values[0] // 2

    monkeypatch.setattr(kernel_cache, "folder", lambda: Path("/dev/null/kernels"))
    halved, column = compiling.kernel(half), np.full(1, 8, np.int64)
    halved(column)
    assert int(column[0]) == 4
    assert halved._cache.cache_path.startswith("/dev/null/kernels")  # type: ignore[attr-defined]

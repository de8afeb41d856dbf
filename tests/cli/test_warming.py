"""`gquery warm` compiles the kernels of the common queries."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gquery.executor.cpu.machine import kernel_cache
from gquery.terminal import warming

Cli = Callable[..., tuple[int, bytes, str]]


def test_warm(cli: Cli) -> None:
    code, out, err = cli("warm")
    assert (code, out) == (0, b"")
    assert err.endswith("all common kernels are compiled\n")
    found = {path.name.split("-")[0] for path in kernel_cache.folder().glob("**/*.nbi")}
    assert kernel_cache.has_all()
    assert {"extend.extend", "tree.total", "chain.sweep", "branch.multiply", "walk.advance", "tally.tally"} <= found
    assert {"inside.sum_inside", "push.sum_push", "sample.sample", "adaptive.sum_adaptively"} <= found


@pytest.mark.parametrize(
    ("group", "kernels"),
    [
        (warming._LIST, {"extend.extend", "edge_choices.find_runs", "edge_choices.take_runs", "filters.with_ends"}),
        (warming._PATHS, {"reach.reach", "meet.meet", "meet.hop"}),
    ],
)
def test_what_a_group_compiles(group: str, kernels: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From nothing: what other tests have compiled does not count. The lists that were asked went a way of their own
    once, and others waited five seconds after `gquery warm`."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    process = warming._process(group, "first")
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert kernels <= {path.name.split("-")[0] for path in tmp_path.glob("**/*.nbi")}


def test_a_process_that_fails_is_told_of(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "GROUPS", ("MATCH (a:Nobody) RETURN a",))
    code, _, err = cli("warm")
    assert code == 1
    assert "the kernels cannot be compiled" in err


def test_kernels_that_cannot_be_kept_are_told_of(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warming, "GROUPS", ())
    monkeypatch.setattr(warming, "has_cupy", lambda: False)
    monkeypatch.setattr(kernel_cache, "folder", lambda: Path("/dev/null/kernels"))
    code, _, err = cli("warm")
    assert code == 1
    assert "the kernels cannot be kept in /dev/null" in err


def test_a_card_is_made_ready_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the kernels that every machine needs. What is wrong with it a query says."""
    begun: list[str] = []
    real = warming._process

    def process(question: str, rank: str) -> subprocess.Popen[str]:
        begun.append(question)
        return real(question, rank)

    monkeypatch.setattr(warming, "has_cupy", lambda: True)
    monkeypatch.setattr(warming, "GROUPS", ("motifs",))
    monkeypatch.setattr(warming, "_process", process)
    assert cli("warm")[0] == 0
    assert begun == ["motifs", "card"]


def test_a_long_load_compiles_meanwhile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel_cache, "has_all", lambda: False)
    monkeypatch.setattr(warming, "PATIENCE", 0.0)
    monkeypatch.setattr(warming, "GROUPS", ("one", "two"))
    asked = tmp_path / "asked"
    monkeypatch.setattr(warming, "_ASK", f"import sys; open({str(asked)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')")
    noted = threading.Event()
    monkeypatch.setattr(kernel_cache, "note_all", noted.set)
    with warming.warming_beside():
        assert noted.wait(30.0)
    assert sorted(asked.read_text().splitlines()) == ["one behind", "two behind"]


def test_what_is_not_compiled_when_a_load_ends_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache, "has_all", lambda: False)
    monkeypatch.setattr(warming, "PATIENCE", 0.0)
    monkeypatch.setattr(warming, "_ASK", "import time; time.sleep(600)")
    started = threading.Event()
    real = warming._process

    def process(question: str, rank: str) -> subprocess.Popen[str]:
        started.set()
        return real(question, rank)

    monkeypatch.setattr(warming, "_process", process)
    began = time.monotonic()
    with warming.warming_beside():
        assert started.wait(30.0)
    assert time.monotonic() - began < 60.0
    assert not [thread for thread in threading.enumerate() if thread.name == "gquery-warming"]


@pytest.mark.parametrize("known", [True, False])
def test_a_short_load_compiles_nothing(monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    monkeypatch.setattr(kernel_cache, "has_all", lambda: known)
    monkeypatch.setattr(warming, "PATIENCE", 0.0 if known else 600.0)
    monkeypatch.setattr(warming, "_process", None)
    with warming.warming_beside():
        pass

"""Bars on stderr, and only on a terminal."""

from __future__ import annotations

import time
from io import StringIO

import pytest
from rich.console import Console

import gquery
from gquery.terminal.messages import seconds
from gquery.terminal.output import progress


def console(terminal: bool) -> Console:
    return Console(file=StringIO(), force_terminal=terminal, width=100)


def printed(shown: Console) -> str:
    assert isinstance(shown.file, StringIO)
    return shown.file.getvalue()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUERY_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "LOAD_PATIENCE", 0.0)


def slow(result: gquery.Result) -> int:
    time.sleep(0.25)
    return len(result.rows())


@pytest.mark.parametrize("terminal", [True, False])
def test_a_query(graph: gquery.Graph, terminal: bool) -> None:
    result, shown = graph.query("MATCH (a) RETURN a"), console(terminal)
    assert progress.watch(result, lambda: slow(result), shown) == 5
    assert ("matches" in printed(shown)) is terminal


def test_compiling_is_said_once(graph: gquery.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "compiled_kernels", lambda: 0)
    result, shown = graph.query("MATCH (a) RETURN a"), console(True)
    progress.watch(result, lambda: slow(result), shown)
    assert printed(shown).count(progress.FIRST_RUN) == 1


def test_errors_come_through(graph: gquery.Graph) -> None:
    with pytest.raises(ZeroDivisionError):
        progress.watch(graph.query("MATCH (a) RETURN a"), lambda: 1 // 0, None)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_load(terminal: bool) -> None:
    shown = console(terminal)
    with progress.loading(shown) as tell:
        tell("reading people.csv", 0.5)
    assert ("reading people.csv" in printed(shown)) is terminal


def test_times() -> None:
    assert [seconds(each) for each in (0.0004, 0.012, 3.214, 242)] == ["0.4 ms", "12 ms", "3.21 s", "4 min 02 s"]

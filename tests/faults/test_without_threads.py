"""A system that starts no more threads, as a container that may have few: errors of ours, and nothing is lost."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

import gquery
from gquery import imports
from gquery.executor.cpu.machine.helper import Helper
from gquery.executor.progress import Control
from gquery.executor.relational.database.watch import _Watcher
from gquery.stopping import awaited
from gquery.terminal.warming import warming_beside


@contextmanager
def none_to_be_had() -> Iterator[None]:
    def refuse(*_: object) -> NoReturn:
        raise RuntimeError("can't start new thread")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        patch.setattr(_thread, "start_new_thread", refuse)
        yield


def test_loads_and_all_that_waits(tmp_path: Path) -> None:
    (tmp_path / "A.csv").write_text("id\n1\n")
    for call in (lambda: gquery.load(tmp_path), lambda: awaited(int, lambda: None)):
        with none_to_be_had(), pytest.raises(gquery.ExecutionError, match="can't start new thread"):
            call()
    assert gquery.load(tmp_path).vertex_count == 1


def test_what_is_done_ahead_is_left() -> None:
    with none_to_be_had(), warming_beside():
        imports.import_apart(("xml.dom.pulldom",), lambda: None)
    assert not imports._at_work


def test_helpers_are_done_without() -> None:
    helper = Helper(lambda: pytest.fail("it has begun"))
    with none_to_be_had():
        helper.start()
    helper.join()


def test_statements_are_watched_again() -> None:
    """Who had no thread once watched over nothing any more: timeouts inside DuckDB were not heard."""
    watcher, control, interrupted = _Watcher(), Control(), threading.Event()
    with none_to_be_had(), pytest.raises(gquery.ExecutionError):
        watcher.add(control, interrupted.set)
    control.cancel()
    ticket = watcher.add(control, interrupted.set)
    assert interrupted.wait(10)
    watcher.remove(ticket)

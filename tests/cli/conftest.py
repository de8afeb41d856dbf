"""A small graph, in memory and saved, and a shell whose output can be read."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

import gquery
from gquery.cli import main
from gquery.terminal.shell import Shell


def small_graph() -> gquery.Graph:
    """Three people who know each other in a circle, and two posts; one name is not safe to print."""
    people = pa.table({"id": [1, 2, 3], "name": ["Ann", "Bo", "C\x1b[31my"], "age": [30, None, 50]})
    posts = pa.table({"id": [10, 11], "content": ["two\nlines", "x" * 200], "score": [0.5, float("nan")]})
    knows = pa.table({"source": [1, 2, 3], "target": [2, 3, 1], "since": [2010, 2011, None]})
    likes = pa.table({"source": [1, 2], "target": [10, 11]})
    return gquery.from_arrow(
        vertices={"Person": people, "Post": posts},
        edges={("Person", "KNOWS", "Person"): knows, ("Person", "LIKES", "Post"): likes},
    )


@pytest.fixture(scope="session")
def graph() -> gquery.Graph:
    return small_graph()


@pytest.fixture(scope="session")
def saved(graph: gquery.Graph, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("graphs") / "small.gq"
    graph.save(folder)
    return str(folder)


@pytest.fixture
def cli(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, bytes, str]]:
    """Runs a command line in this process: exit code, stdout, stderr."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str | Path) -> tuple[int, bytes, str]:
        code = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out, err.decode()

    return run


class Screen:
    """A shell on the small graph, and what it prints."""

    def __init__(self, graph: gquery.Graph | None, width: int = 100, height: int = 30) -> None:
        self._out, self._notes = StringIO(), StringIO()
        self.shell = Shell(
            Console(file=self._out, width=width, height=height),
            Console(file=self._notes, highlight=False, soft_wrap=True),
        )
        if graph is not None:
            self.shell.use(graph, "small")

    def __call__(self, text: str) -> int:
        """Runs statements; `out` and `notes` then hold what they printed."""
        for stream in (self._out, self._notes):
            stream.seek(0)
            stream.truncate()
        return self.shell.execute_all(text)

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def notes(self) -> str:
        return self._notes.getvalue()


@pytest.fixture
def screen(graph: gquery.Graph) -> Screen:
    return Screen(graph)

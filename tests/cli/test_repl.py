"""Key by key: the prompt at a pretended terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from gquery import caches, repl
from tests.cli.conftest import Screen

ENTER, CTRL_C, CTRL_D, UP, ALT_ENTER = "\r", "\x03", "\x04", "\x1b[A", "\x1b\r"


@pytest.fixture(autouse=True)
def _no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(repl, "_warm_up", lambda: None)
    return


def type_in(screen: Screen, keys: str) -> str:
    """Everything that is printed while these keys are typed."""
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text(keys)
        assert repl.run(screen.shell, keyboard, DummyOutput()) == 0
    return screen.out + screen.notes


def test_a_line_is_run_by_enter(screen: Screen) -> None:
    printed = type_in(screen, f"MATCH (a:Person) RETURN a.name{ENTER}{CTRL_D}")
    assert "Ann" in printed
    assert "3 rows" in printed


def test_several_lines_end_with_a_semicolon_or_an_empty_line(screen: Screen) -> None:
    lines = f"MATCH (a:Person){ENTER}RETURN count(*) AS "
    printed = type_in(screen, f"{lines}x;{ENTER}{lines}y{ENTER}{ENTER}{CTRL_D}")
    assert printed.count("1 row ") == 2


def test_tab_puts_in_the_only_completion(screen: Screen) -> None:
    assert "(:Person)-[:KNOWS]->(:Person)" in type_in(screen, f":sch\t{ENTER}{CTRL_D}")
    assert "3 rows" in type_in(screen, f"MATCH (a:Pe\t) RETURN a.na\t{ENTER}{CTRL_D}")


def test_ctrl_c_clears_the_line(screen: Screen) -> None:
    printed = type_in(screen, f"MATCH (nonsense{CTRL_C}:timing off{ENTER}{CTRL_D}")
    assert "timing: off" in printed
    assert "error" not in printed


def test_alt_enter_runs_what_is_there(screen: Screen) -> None:
    assert "never closed" in type_in(screen, f"MATCH (a{ALT_ENTER}:quit{ENTER}")


def test_history_is_kept(screen: Screen, graph: object) -> None:
    type_in(screen, f":timing off{ENTER}{CTRL_D}")
    assert ":timing off" in repl.history_file().read_text()
    assert type_in(screen, f"{UP}{ENTER}{CTRL_D}").count("timing: off") == 2


def test_a_home_that_cannot_be_written(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    assert "timing: off" in type_in(screen, f":timing off{ENTER}{CTRL_D}")


def test_a_user_without_a_home(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(caches.os.path, "expanduser", str)
    assert "timing: off" in type_in(screen, f":timing off{ENTER}{CTRL_D}")


def test_a_history_that_cannot_be_written(screen: Screen) -> None:
    repl.history_file().mkdir(parents=True)
    assert "timing: off" in type_in(screen, f":timing off{ENTER}{CTRL_D}")


def test_toolbar(screen: Screen) -> None:
    def text() -> str:
        return "".join(piece[1] for piece in repl.toolbar(screen.shell))

    assert text() == "small · 5 nodes, 5 relationships · different edges"
    screen("MATCH (a) RETURN a; :mode induced")
    assert " · induced · last query " in text()
    assert "no graph" in "".join(piece[1] for piece in repl.toolbar(Screen(None).shell))

"""What the REPL does, without a terminal."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as parquet
import pytest

import gquery
from gquery.terminal.commands import COMMANDS
from gquery.terminal.messages import CANCELLED, TIMEOUT, USAGE, WRONG
from tests.cli.conftest import Screen

LETTERS = "abcdefghijklmnopqrst"
ENDLESS = "MATCH " + ", ".join(f"({letter})" for letter in LETTERS)
ENDLESS += " WHERE " + " + ".join(f"id({letter})" for letter in LETTERS) + " < 0 RETURN count(*)"


def test_a_query(screen: Screen) -> None:
    assert screen("MATCH (a:Person) WHERE a.age > 40 RETURN a.age, a") == 0
    assert "│      50 │ (:Person {" in screen.out
    assert screen.notes.startswith("1 row in ")


def test_timing_can_be_left_out(screen: Screen) -> None:
    assert screen(":timing off\nMATCH (a:Person) RETURN a.age") == 0
    assert screen.notes == "timing: off\n3 rows\n"


def test_rows_are_cut_to_the_screen(graph: gquery.Graph) -> None:
    small = Screen(graph, height=5)
    assert small("MATCH (a), (b) RETURN id(a), id(b)") == 0
    assert small.notes.startswith("25 rows in ")
    assert small.notes.endswith("; 10 shown, :export FILE for all\n")


def test_errors_are_shown_and_stop_a_script(screen: Screen) -> None:
    assert screen("MATCH (a:Persn) RETURN a; MATCH (a) RETURN a") == WRONG
    assert screen.out == ""
    assert "  1 | MATCH (a:Persn) RETURN a\n" in screen.notes
    assert "did you mean `Person`?" in screen.notes


def test_without_a_graph() -> None:
    empty = Screen(None)
    assert empty("MATCH (a) RETURN a") == USAGE
    assert ":load" in empty.notes
    assert empty(":set timeout 3\n:mode induced") == 0


def test_timeout(screen: Screen) -> None:
    assert screen(f":set timeout 0.2\n{ENDLESS}") == TIMEOUT


def test_ctrl_c_cancels_and_the_session_goes_on(screen: Screen) -> None:
    import _thread
    import threading

    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    assert screen(ENDLESS) == CANCELLED
    timer.join()
    assert screen("MATCH (a) RETURN count(*)") == 0


def test_parameters(screen: Screen) -> None:
    assert screen(":set $min 40\nMATCH (a:Person) WHERE a.age > $min RETURN a.age;") == 0
    assert "50" in screen.out
    assert screen(":param names ['Ann']\n:param min") == 0
    assert screen(":set") == 0
    assert "$names" in screen.notes
    assert "$min" not in screen.notes
    assert screen("MATCH (a:Person) WHERE a.age > $min RETURN a.age") == WRONG


@pytest.mark.parametrize(
    "line", [":param min=40", ":param $min = 40", ":param min => 40", ":set $min: 40", ":param `min` 40"]
)
def test_signs_between_a_parameter_and_its_value(screen: Screen, line: str) -> None:
    assert screen(line) == 0
    assert screen.shell.parameters == {"min": 40}
    assert screen(":param min") == 0
    assert "$min          has no value" in screen.notes
    assert not screen.shell.parameters


def test_settings(screen: Screen) -> None:
    assert screen(":set memory_limit 1GB\n:set threads 1\n:set device CPU\n:mode DIFFERENT nodes\n:set timeout 5s") == 0
    assert screen.shell.graph is not None
    settings = screen.shell.graph.settings
    assert (settings.memory_limit, settings.threads, settings.device) == (10**9, 1, "cpu")
    assert (settings.mode, settings.timeout) == ("different nodes", 5.0)
    assert screen(":set timeout none\n:set memory_limit none") == 0
    assert screen.shell.graph.settings.timeout is None
    assert screen(":set strict off\nMATCH (a:Nobody) RETURN count(*)") == 0
    assert "strict        off" in screen.notes
    assert "Warning: the graph has no label `Nobody`: no node has it" in screen.notes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (":expotr", "did you mean `:export`?"),
        (":e", ":explain or :export"),
        (":xyz", "`:help` lists them"),
        (":set tiemout 3", "did you mean `timeout`?"),
        (":set timeout", "lacks a value"),
        (":set timeout soon", "not a number of seconds"),
        (":set device tpu", "auto, cpu, gpu"),
        (":set $", "must follow `$`"),
        (":param {min: 40}", "is no name and value"),
        (":timing maybe", "neither on nor off"),
        (":load", "required: source"),
        (":load x --on-bad-row ignore", "invalid choice"),
        (":open 'x", "no closing quotation"),
        (":save", "takes one path"),
        (":export x.csv", "run a query first"),
        (":explain", "no last query"),
    ],
)
def test_usage_errors(screen: Screen, line: str, message: str) -> None:
    assert screen(line) == USAGE
    assert message in screen.notes


def test_unknown_modes_are_name_errors(screen: Screen) -> None:
    assert screen(":mode inducd") == WRONG
    assert "did you mean `induced`?" in screen.notes


def test_help(screen: Screen) -> None:
    assert screen("help;") == 0
    assert all(name in screen.out for name in COMMANDS)
    assert screen(":help export") == 0
    assert screen.out.count("\n") == 1


def test_schema(screen: Screen) -> None:
    assert screen(":schema") == 0
    lines = [line.split() for line in screen.out.splitlines()]
    assert ["(:Person)", "3", "id", "integer,", "name", "string,", "age", "integer"] in lines
    assert ["(:Person)-[:KNOWS]->(:Person)", "3", "since", "integer"] in lines
    assert ["(:Person)-[:LIKES]->(:Post)", "2"] in lines


def test_plans(screen: Screen) -> None:
    assert screen(":explain MATCH (a)-[:KNOWS]->(b) RETURN a") == 0
    assert "estimated" in screen.out
    assert screen("MATCH (a)-[:LIKES]->(b) RETURN a;\n:profile") == 0
    assert "LIKES" in screen.out.rpartition("Filter")[2]
    assert screen("EXPLAIN MATCH (a)-[:KNOWS]->(b) RETURN a") == 0
    assert "│" not in screen.out


def test_save_open_load_export(screen: Screen, tmp_path: Path) -> None:
    assert screen(f":save '{tmp_path}/a b.gq'\n:open '{tmp_path}/a b.gq'") == 0
    assert screen.shell.name == "a b.gq"
    assert screen(f"MATCH (a:Person) RETURN a.age;\n:export {tmp_path}/ages.parquet") == 0
    assert "3 rows written" in screen.notes
    assert parquet.read_table(tmp_path / "ages.parquet").num_rows == 3
    (tmp_path / "edges.txt").write_text("1 2\n2 1\n2 3\n")
    assert screen(f":load {tmp_path}/edges.txt --undirected") == 0
    assert screen.notes.startswith("3 nodes and 2 relationships loaded")
    assert screen(":export x.csv") == USAGE  # the answer was the old graph's


def test_quit_ends_a_script(screen: Screen) -> None:
    assert screen(":quit\nMATCH (a) RETURN a") == 0
    assert screen.shell.finished
    assert screen.out == ""


def test_mistakes_of_ours_do_not_end_the_session(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(gquery.Graph, "query", fail)
    assert screen("MATCH (a) RETURN a") == WRONG
    assert "please report it" in screen.notes

"""Statements that write, at the terminal: what they change is saved, and said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gquery
from gquery.terminal.messages import USAGE, WRONG
from tests.cli.conftest import Screen

Cli = Callable[..., tuple[int, bytes, str]]


@pytest.fixture
def folder(graph: gquery.Graph, tmp_path: Path) -> str:
    graph.save(tmp_path / "small.gq")
    return str(tmp_path / "small.gq")


@pytest.fixture
def empty() -> Iterator[Screen]:
    screen = Screen(None)
    yield screen
    screen.shell.close()


def test_run_writes_to_a_saved_graph(cli: Cli, folder: str) -> None:
    code, out, err = cli("run", folder, "CREATE (p:Person {id: 9, name: 'Di'}) RETURN p.name", "--write")
    assert (code, out) == (0, b'"p.name"\n"Di"\n')
    assert err.startswith("1 node created, 2 properties set\n")
    assert gquery.open(folder).query("MATCH (p:Person {id: 9}) RETURN p.name").scalar() == "Di"


def test_run_without_return_prints_the_counts_alone(cli: Cli, folder: str) -> None:
    code, out, err = cli("run", folder, "MATCH (p:Post) DETACH DELETE p", "--write")
    assert (code, out) == (0, b"")
    assert err == "2 nodes deleted, 2 relationships deleted, 6 properties removed, 1 label removed\n"


def test_run_refuses_to_write_otherwise(cli: Cli, folder: str, tmp_path: Path) -> None:
    code, _, err = cli("run", folder, "CREATE (:Person {id: 9})")
    assert code == WRONG
    assert "--write" in err
    source = tmp_path / "source"
    source.mkdir()
    (source / "Person.csv").write_text("id\n1\n")
    code, _, err = cli("run", source, "CREATE (:Person {id: 9})", "--write")
    assert code == USAGE
    assert "is no saved graph" in err


def test_the_plan_of_what_writes_needs_no_store(cli: Cli, folder: str, screen: Screen) -> None:
    """It was refused, with a hint at an option that `explain` does not have."""
    for graph in (folder, f"{folder}/../small.gq"):
        code, out, err = cli("explain", graph, "CREATE (:New)")
        assert (code, err) == (0, "")
        assert "CREATE, for all rows at once" in out.decode()
    assert screen(":explain CREATE (:New)") == 0
    assert "CREATE, for all rows at once" in screen.out
    assert "New" not in gquery.open(folder).schema.labels
    code, _, err = cli("explain", folder, "CREATE (:New) REMOVE n.x")
    assert (code, "  1 | CREATE (:New) REMOVE n.x" in err) == (WRONG, True), err


def test_an_error_leaves_the_folder_as_it_was(cli: Cli, folder: str) -> None:
    code, _, err = cli("run", folder, "MATCH (p:Person) SET p.x = 1 WITH p DELETE p", "--write")
    assert code == WRONG
    assert "still have" in err
    assert "x" not in gquery.open(folder).query("MATCH (p:Person {id: 1}) RETURN keys(p)").scalar()


def test_an_answer_that_cannot_be_written_is_none(cli: Cli, folder: str, tmp_path: Path) -> None:
    """The graph was changed, and an error told after that."""
    for target in (tmp_path / "missing" / "answer.csv", tmp_path):
        query = "CREATE (n:New) RETURN id(n)"
        code, _, err = cli("run", folder, query, "--write", "-o", target, "--format", "csv")
        assert (code, err.startswith("Execution error: cannot write")) == (WRONG, True), err
    assert "New" not in gquery.open(folder).schema.labels


def test_the_shell_writes_where_it_may(empty: Screen, folder: str) -> None:
    assert (
        empty(f":open {folder} --write\nMATCH (p:Person {{id: 1}}) SET p.age = 31;\nMATCH (p:Person) RETURN max(p.age)")
        == 0
    )
    assert "1 property set, 1 property removed\n" in empty.notes
    assert gquery.open(folder).query("MATCH (p:Person {id: 1}) RETURN p.age").scalar() == 31
    assert empty(":explain CREATE (:New)") == 0
    assert "CREATE, for all rows at once" in empty.out


def test_profile_says_what_it_has_changed(empty: Screen, folder: str) -> None:
    assert empty(f":open {folder} --write\n:profile CREATE (:New)") == 0
    assert "1 node created, 1 label added" in empty.notes


def test_a_folder_that_cannot_be_opened_leaves_the_one_before(empty: Screen, folder: str, tmp_path: Path) -> None:
    """It was still there to read, but not to write to."""
    assert empty(f":open {folder} --write") == 0
    assert empty(f":open {tmp_path} --write") == USAGE
    assert empty("CREATE (:New)") == 0
    assert empty(f":open {folder}/../small.gq --write\nCREATE (:New)") == 0
    assert gquery.open(folder).query("MATCH (n:New) RETURN count(*)").scalar() == 2


def test_the_shell_refuses_to_write_elsewhere(screen: Screen, folder: str) -> None:
    assert screen("CREATE (:Person)") == WRONG
    assert "this one never changes" in screen.notes
    assert screen(f":open {folder}\nCREATE (:Person)") == WRONG

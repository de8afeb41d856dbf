"""Completion: `§` marks the cursor."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import gquery
from gquery.terminal.entry.completion import QueryCompleter, Words


def complete(graph: gquery.Graph | None, marked: str, asked: bool = False) -> list[tuple[str, str]]:
    """What is kept of the text before the cursor, and what is put behind it, for each completion."""
    before, _, after = marked.partition("§")
    words = Words(graph.schema if graph else None, ("min", "name"))
    event = CompleteEvent(completion_requested=asked, text_inserted=not asked)
    found = QueryCompleter(lambda: words).get_completions(Document(before + after, len(before)), event)
    return [(before[: len(before) + completion.start_position], completion.text) for completion in found]


@pytest.mark.parametrize(
    ("marked", "offered"),
    [
        ("MATCH (a:§", ["Person", "Post"]),
        ("MATCH (a:pe§", ["Person"]),
        ("MATCH (:Person&!p§)", ["Person", "Post"]),
        ("MATCH (a)-[:§", ["KNOWS", "LIKES"]),
        ("MATCH (a)-[r:KNOWS|l§]->(b)", ["LIKES"]),
        ("MATCH (a)-[r]->() WHERE r:k§", ["KNOWS"]),
        ("MATCH (a)-[r]->() WHERE a:po§", ["Post"]),
        ("MATCH (p:Person)-[r:KNOWS]->(q:Post) RETURN p.§", ["id", "name", "age"]),
        ("MATCH (p:Person)-[r:KNOWS]->(q:Post) RETURN r.§", ["since"]),
        ("RETURN q.§ MATCH (q:Post)", ["id", "content", "score"]),
        ("MATCH (q) WHERE q.s§", ["score"]),
        ("MATCH (q:!Person) WHERE q.sc§", ["score"]),
        ("MATCH (:Person {§", ["id", "name", "age"]),
        ("MATCH (:Person {id: 1, n§", ["name"]),
        ("MATCH ()-[:KNOWS {§", ["since"]),
        ("MATCH (n) WHERE n.age > $m§", ["$min"]),
        ("MATCH (person) RETURN pers§", ["person"]),
        ("MATCH (a) RETURN count(a) AS total ORDER BY tot§", ["total"]),
        ("mat§", ["MATCH"]),
        ("MATCH (a) RETURN tostr§", ["tostring("]),
    ],
)
def test_queries(graph: gquery.Graph, marked: str, offered: list[str]) -> None:
    assert [text for _, text in complete(graph, marked)] == offered


def test_what_is_typed_is_replaced(graph: gquery.Graph) -> None:
    assert complete(graph, "MATCH (a:pe§)") == [("MATCH (a:", "Person")]


@pytest.mark.parametrize(
    "marked",
    ["RETURN 'Per§", "MATCH (a) // a:§", "RETURN 1.§", "MATCH (a) RETURN a AS §", "MATCH (a) §", "MATCH (nobody:§"],
)
def test_nothing_to_offer(marked: str) -> None:
    assert complete(None, marked) == []


def test_everything_when_asked(graph: gquery.Graph) -> None:
    offered = [text for _, text in complete(graph, "MATCH (a) §", asked=True)]
    assert "RETURN" in offered
    assert "a" in offered


def test_odd_names_are_quoted() -> None:
    odd = gquery.from_arrow(vertices={"3": {"id": [1]}}, edges={("3", "a b", "3"): {"source": [1], "target": [1]}})
    assert complete(odd, "MATCH (x:§") == [("MATCH (x:", "`3`")]
    assert complete(odd, "MATCH ()-[:`a§") == [("MATCH ()-[:", "`a b`")]


@pytest.mark.parametrize(
    ("marked", "completed"),
    [
        (":sch§", [":schema"]),
        (":mode ind§", [":mode induced"]),
        (":set $m§", [":set $min"]),
        (":set mode differ§", [":set mode different edges", ":set mode different nodes"]),
        (":timing o§", [":timing on", ":timing off"]),
        (":help expo§", [":help export"]),
        (":nonsense §", []),
        (":schema §", []),
    ],
)
def test_commands(graph: gquery.Graph, marked: str, completed: list[str]) -> None:
    command = marked.partition(" ")[0]
    assert [text if kept == "" else f"{command} {text}" for kept, text in complete(graph, marked)] == completed


def test_query_after_a_command(graph: gquery.Graph) -> None:
    assert [text for _, text in complete(graph, ":explain MATCH (a:Per§")] == ["Person"]


def test_paths(graph: gquery.Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("paths")
    (folder / "people.csv").touch()
    assert [text for _, text in complete(graph, f":load {folder}/peo§")] == ["ple.csv"]

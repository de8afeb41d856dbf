"""`.sif` files: a relation between the ends, several targets, vertices alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gquery.errors import LoadError
from gquery.storage.load import LoadedGraph, load
from tests.storage.loaded import edges, ids, write


def sif(folder: Path, text: str, name: str = "g.sif", **options: object) -> LoadedGraph:
    return load(write(folder, {name: text}) / name, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["g.sif", "g.sif.gz"])
@pytest.mark.parametrize("mark", [" ", "\t", "  "])
def test_relations_targets_and_vertices_alone(tmp_path: Path, name: str, mark: str) -> None:
    text = "A pp B C D\nB pd A\n\nE\nA pp A\n".replace(" ", mark)
    graph = sif(tmp_path, text, name)
    assert sorted(edges(graph)) == sorted(  # type: ignore[type-var]
        [("A", "pp", "B"), ("A", "pp", "C"), ("A", "pp", "D"), ("B", "pd", "A"), ("A", "pp", "A")]
    )
    assert sorted(map(str, ids(graph)[""])) == ["A", "B", "C", "D", "E"]
    assert graph.snapshot.schema.types == ("pp", "pd")


def test_blanks_in_names_and_tabs_at_the_end(tmp_path: Path) -> None:
    graph = sif(tmp_path, "node one\tinteracts with\tnode two\t\t\nnode three\t\n")
    assert edges(graph) == [("node one", "interacts with", "node two")]
    assert sorted(map(str, ids(graph)[""])) == ["node one", "node three", "node two"]


def test_ids_are_integers_when_all_are(tmp_path: Path) -> None:
    assert ids(sif(tmp_path, "1 x 2\n3\n")) == {"": [1, 2, 3]}
    assert ids(sif(tmp_path, "1 x 2\nc\n")) == {"": ["c", "1", "2"]}


@pytest.mark.parametrize("text", ["A pp\n", "A\tpp\tB\nC pd D\n", "A\tpp\t\n", "\tA\n"])
def test_lines_of_another_shape(tmp_path: Path, text: str) -> None:
    with pytest.raises(LoadError, match="SOURCE RELATION TARGET") as caught:
        sif(tmp_path, text)
    assert caught.value.line == text.count("\n")
    if text.count("\n") > 1:
        assert len(edges(sif(tmp_path, text, on_bad_row="skip"))) == 1


def test_nothing(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="neither edges nor vertices"):
        sif(tmp_path, "\n\n")
    assert sif(tmp_path, "A\nB\n").report.notes == ("the graph has no edges: no file or table was taken for edges",)

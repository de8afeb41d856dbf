"""Explicit mappings: TOML files and dicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gquery.errors import LoadError
from gquery.storage.load import load
from tests.storage.loaded import edges, ids, vertices, write

FILES = {
    "people.csv": "pid|name|boss|city\n1|Ann||10\n2|Bob|1|10\n3|Cid|1|\n",
    "cities.csv.gz": "10|Paris\n20|Rome\n",
    "likes_1.csv": "who|what|weight\n1|2|0.5\n",
    "likes_2.csv": "who|what|weight\n2|3|1\n",
}
TOML = """
delimiter = "|"

[super_labels]
Thing = ["Person", "City"]

[vertices.Person]
file = "people.csv"
id = "pid"

[vertices.City]
file = "cities.csv.gz"
columns = ["id", "name"]
labels = ["City", "Place"]

[[edges]]
type = "REPORTS_TO"
source = "Person"
target = "Person"
file = "people.csv"
source_column = "pid"
target_column = "boss"

[[edges]]
type = "LIVES_IN"
source = "Person"
target = "Place"
file = "people.csv"
source_column = "pid"
target_column = "city"

[[edges]]
type = "LIKES"
source = "Thing"
target = "Person"
file = "likes_*.csv"
"""


def check(graph: Any) -> None:
    assert ids(graph) == {"Person:Thing": [1, 2, 3], "City:Place:Thing": [10, 20]}
    assert vertices(graph, "Person:Thing")[0] == {"pid": 1, "name": "Ann"}  # foreign keys are edges, not properties
    assert edges(graph) == [
        (2, "REPORTS_TO", 1),
        (3, "REPORTS_TO", 1),
        (1, "LIVES_IN", 10),
        (2, "LIVES_IN", 10),
        (1, "LIKES", 2, {"weight": 0.5}),
        (2, "LIKES", 3, {"weight": 1.0}),
    ]


def test_toml_beside_its_files(tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "map.toml": TOML})
    check(load(tmp_path / "map.toml"))


def test_toml_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / "data", FILES)
    write(tmp_path, {"map.toml": TOML})
    check(load(tmp_path / "data", mapping=tmp_path / "map.toml"))
    check(load(tmp_path / "data" / "people.csv", mapping=str(tmp_path / "map.toml")))


def test_dict_with_chosen_properties(tmp_path: Path) -> None:
    mapping = {
        "vertices": {"P": {"file": "people.csv", "properties": ["name", "city"]}},
        "edges": [
            {
                "type": "B", "source": "P", "target": "P", "file": "people.csv", "source_column": "pid",
                "target_column": "boss", "properties": ["city"],
            }
        ],
    }  # fmt: skip
    graph = load(write(tmp_path, FILES), mapping=mapping)
    assert vertices(graph, "P")[1] == {"pid": 2, "name": "Bob", "city": 10}
    assert edges(graph) == [(2, "B", 1, {"city": 10}), (3, "B", 1, {"city": None})]


def test_edges_alone(tmp_path: Path) -> None:
    mapping = {"edges": [{"type": "LIKES", "file": ["likes_1.csv", "likes_2.csv"], "properties": []}]}
    graph = load(write(tmp_path, FILES), mapping=mapping)
    assert edges(graph) == [(1, "LIKES", 2), (2, "LIKES", 3)]


def test_an_empty_end_is_a_bad_row_where_no_vertex_has_the_file(tmp_path: Path) -> None:
    mapping = {"edges": [{"type": "B", "file": "people.csv", "source_column": "pid", "target_column": "boss"}]}
    with pytest.raises(LoadError, match="an end of the edge is missing"):
        load(write(tmp_path, FILES), mapping=mapping)


VERTICES = {"P": {"file": "people.csv"}}
EDGE = {"type": "T", "source": "P", "target": "P", "file": "people.csv"}


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({}, ["neither vertices nor edges"]),
        ({"vertexes": {}}, ["unknown setting `vertexes`", "did you mean `vertices`"]),
        ({"vertices": {"P": {}}}, ["`file` is missing"]),
        ({"vertices": {"P": 3}}, ["vertices.P is not a table"]),
        ({"vertices": {"P": {"file": 3}}}, ["`file` cannot be 3"]),
        ({"vertices": {"P": {"file": ""}}}, ["`file` is empty"]),
        ({"vertices": {"P": {"file": "peple.csv"}}}, ["no such file", "did you mean `people.csv`"]),
        ({"vertices": {"P": {"file": "people.csv", "id": "pidd"}}}, ["no column `pidd`", "did you mean `pid`"]),
        ({"vertices": {"P": {"file": "people.csv", "labels": "X"}}}, ["`labels` cannot be 'X'"]),
        ({"vertices": {"P": {"file": "people.csv", "delimiter": "||"}}}, ["option `delimiter`"]),
        ({"vertices": VERTICES, "edges": [{**EDGE, "source": "Q"}]}, ["no vertices `Q`", "known are P"]),
        ({"vertices": VERTICES, "edges": [{**EDGE, "kind": "Q"}]}, ["edges[0]", "unknown setting `kind`"]),
        ({"vertices": VERTICES, "edges": [{"file": "people.csv"}]}, ["`type` is missing"]),
        ({"vertices": VERTICES, "edges": [{"type": "T", "file": "people.csv"}]}, ["`source` is missing"]),
        ({"vertices": VERTICES, "edges": [{**EDGE, "target_column": "pid"}]}, ["need a column each"]),
        ({"vertices": VERTICES, "super_labels": {"M": ["Z"]}}, ["super label `M`", "no vertices are labelled `Z`"]),
        ({"vertices": VERTICES, "edges": [EDGE, 3]}, ["edges[1] is not a table"]),
    ],
)
def test_errors(tmp_path: Path, mapping: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(LoadError) as caught:
        load(write(tmp_path, FILES), mapping=mapping)
    for word in words:
        assert word in str(caught.value)


def test_broken_toml(tmp_path: Path) -> None:
    write(tmp_path, {"map.toml": "[vertices\n", "latin.toml": b"x = '\xff'"})
    for name in ("map.toml", "latin.toml"):
        with pytest.raises(LoadError, match="not TOML"):
            load(tmp_path / name)
    with pytest.raises(LoadError, match="cannot read"):
        load(tmp_path, mapping=tmp_path / "none.toml")

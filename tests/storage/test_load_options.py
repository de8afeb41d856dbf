"""The options of loading: encodings, null words, types; what is no option or does not fit is refused by name."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import gquery
from gquery.errors import LoadError
from gquery.storage.load import load, options
from tests.storage.loaded import edges, ids, vertices, write

PEOPLE = "id:ID,name\n1,Zoë\n2,Ærø\n"
NAMES = [{"id": 1, "name": "Zoë"}, {"id": 2, "name": "Ærø"}]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-32", "iso8859-15", "UTF8", "mac-roman"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    for name, data in (("P.csv", PEOPLE.encode(encoding)), ("P.csv.gz", PEOPLE)):
        chosen = encoding if isinstance(data, bytes) else None
        graph = load(write(tmp_path / name, {name: data}), encoding=chosen)
        assert vertices(graph, "P") == NAMES


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_tell_the_encoding(tmp_path: Path, encoding: str) -> None:
    assert vertices(load(write(tmp_path, {"P.csv": PEOPLE.encode(encoding)})), "P") == NAMES
    text = "é b\nb é\n"
    assert edges(load(write(tmp_path / "l", {"g.txt": text.encode(encoding)}) / "g.txt")) == [
        ("é", "EDGE", "b"),
        ("b", "EDGE", "é"),
    ]


def test_what_is_not_in_the_encoding_is_named_by_its_line(tmp_path: Path) -> None:
    folder = write(tmp_path, {"P.csv": b"id:ID,name\n1,a\n2,\xe9\n", "g.txt": b"1 a\n2 \x81\n"})
    with pytest.raises(LoadError, match="not ascii") as caught:
        load(folder, encoding="ascii")
    assert (caught.value.line, caught.value.value) == (3, "\\xe9")
    with pytest.raises(LoadError, match="not cp1252") as caught:
        load(folder / "g.txt", encoding="cp1252")
    assert caught.value.line == 2


def test_null_words(tmp_path: Path) -> None:
    text = 'id,name,balance\n1,NA,5\n2,"NA",n/a\n3,x,NA\n'
    graph = load(write(tmp_path, {"A.csv": text}), null=["NA", "n/a"])
    assert vertices(graph, "A") == [
        {"id": 1, "name": None, "balance": 5},
        {"id": 2, "name": "NA", "balance": None},
        {"id": 3, "name": "x", "balance": None},
    ]
    folder = write(tmp_path / "l", {"g.txt": "1 2 NA\n2 3 5\n"})
    assert edges(load(folder / "g.txt", null="NA"))[0] == (1, "EDGE", 2, {"column3": None})


def test_types_of_columns(tmp_path: Path) -> None:
    files = {"A.csv": "id,balance,zip,tags\n1,5,123,1;2\n2,6,456,3\n", "A_r_A.csv": "source,target,w\n1,2,3\n"}
    given = {"id": "string", "balance": "float", "zip": "string", "tags": "int[]", "w": "double"}
    graph = load(write(tmp_path, files), types=given)
    assert ids(graph) == {"A": ["1", "2"]}
    assert vertices(graph, "A")[0] == {"id": "1", "balance": 5.0, "zip": "123", "tags": [1, 2]}
    assert edges(graph) == [("1", "R", "2", {"w": 3.0})]
    with pytest.raises(LoadError, match="not true or false") as caught:
        load(tmp_path, types={"balance": "boolean"})
    assert (caught.value.line, caught.value.column, caught.value.value) == (2, "balance", "5")
    with pytest.raises(LoadError, match="did you mean `balance`"):
        load(tmp_path, types={"balanse": "float"})
    with pytest.raises(LoadError, match="ids cannot be float"):
        load(tmp_path, types={"id": "float"})


def test_types_of_columns_that_have_types(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"id": [1, 2], "x": [1, 2], "y": ["1", "z"]}), tmp_path / "A.parquet")
    assert vertices(load(tmp_path, types={"x": "float"}), "A")[0] == {"id": 1, "x": 1.0, "y": "1"}
    with pytest.raises(LoadError, match="not a 64-bit integer"):
        load(tmp_path, types={"y": "int"})
    with pytest.raises(LoadError, match="does not fit"):
        load(tmp_path, types={"x": "time"})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"undirect": True}, "did you mean `undirected`"),
    ({"undirected": "yes"}, "neither True nor False"),
    ({"header": "no"}, "neither True nor False"),
    ({"delimiter": 5}, "not one ASCII character"),
    ({"quote": b'"'}, "not one ASCII character"),
    ({"encoding": "utf-9"}, "did you mean `utf-8`"),
    ({"encoding": "rot13"}, "no text encoding"),
    ({"encoding": 8}, "no text encoding"),
    ({"null": 5}, "no word"),
    ({"null": ["NA", None]}, "no word"),
    ({"null": [""]}, "no word"),
    ({"types": ["x"]}, "not a mapping"),
    ({"types": {"x": "flaot"}}, "did you mean `float`"),
    ({"types": {5: "int"}}, "not two texts"),
    ({"super_labels": ["A"]}, "not a mapping"),
    ({"super_labels": {"A": 5}}, "cannot stand"),
    ({"super_labels": {"A": [5]}}, "no text"),
    ({"on_bad_row": 1}, "none of error, skip"),
    ({"on_dangling": ["skip"]}, "none of error"),
    ({"progress": "bar"}, "cannot be called"),
    ({"timeout": "1"}, "not a number of seconds"),
    ({"timeout": 0}, "not a number of seconds"),
    ({"mapping": 5}, "int is no path"),
]


@pytest.mark.parametrize(("given", "words"), WRONG)
def test_wrong_options(tmp_path: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(LoadError, match=words):
        load(write(tmp_path, {"P.csv": PEOPLE}), **given)


def test_members_of_super_labels_may_come_from_an_iterator(tmp_path: Path) -> None:
    assert ids(load(write(tmp_path, {"P.csv": PEOPLE}), super_labels={"S": iter(["P"])})) == {"P:S": [1, 2]}


def test_options_are_known_to_type_checkers() -> None:
    """Every option of the dataclass stands in the signatures, so that mypy refuses one that does not exist."""
    for function in (gquery.load, gquery.from_arrow, gquery.from_duckdb, gquery.from_networkx):
        assert "Unpack[" in function.__annotations__["options"]
    assert set(options.FileOptions.__annotations__) == {*options.Options.__dataclass_fields__, "mapping"}


def test_every_encoding_of_text_is_taken(tmp_path: Path) -> None:
    """Or refused by name: never anything else."""
    folder = write(tmp_path, {"P.csv": "id:ID,name\n1,a\n"})
    import encodings.aliases

    for name in sorted(set(encodings.aliases.aliases.values())):
        try:
            load(folder, encoding=name)
        except LoadError:
            continue
        assert codecs.lookup(name)

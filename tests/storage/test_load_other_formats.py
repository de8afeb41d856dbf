"""Formats that are not read are refused by name, whether their ending or their beginning tells them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gquery.errors import LoadError
from gquery.storage.load import load
from tests.storage.loaded import write

FILES: dict[str, tuple[str | bytes, str]] = {
    "g.mtx": ("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 0.5\n", "Matrix Market"),
    "matrix.txt": ("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 0.5\n", "Matrix Market"),
    "g.graphml": ("<graphml>\n</graphml>\n", "GraphML"),
    "xml.txt": ('<?xml version="1.0"?>\n<graph id="x">\n', "XML"),
    "g.json": ('[{"source": 1, "target": 2}]\n', "JSON"),
    "lines.txt": ('{"source": 1, "target": 2}\n{"source": 2, "target": 3}\n', "JSON"),
    "g.gml": ("graph [\n  node [ id 1 ]\n]\n", "GML"),
    "g.net": ("*Vertices 2\n1 2\n", "Pajek"),
    "g.xlsx": (b"PK\3\4...", "Excel"),
    "g.bz2": (b"BZh91AY&SY 1 2\n", "bzip2"),
    "packed.txt.gz": (gzip.compress(b"%%MatrixMarket matrix\n3 3 2\n1 2 3\n"), "Matrix Market"),
}


@pytest.mark.parametrize("name", FILES)
def test_other_formats(tmp_path: Path, name: str) -> None:
    content, kind = FILES[name]
    with pytest.raises(LoadError, match=f"does not read .*{kind}") as caught:
        load(write(tmp_path, {name: content}) / name)
    assert caught.value.hint


def test_files_of_a_folder_that_are_not_read_are_named(tmp_path: Path) -> None:
    files = {"A.csv": "id\n1\n", "A_r_A.csv": "source,target\n1,1\n", "README.txt": "hello", "more.txt": "1 2\n"}
    graph = load(write(tmp_path, {**files, "deep/x.graphml": "<graphml>"}))
    (note,) = graph.report.notes
    assert {"more.txt", "x.graphml"} == set(note.removeprefix("not read: ").split(";")[0].split(", "))

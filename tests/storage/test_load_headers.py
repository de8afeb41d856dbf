"""Whether a first line names columns or is an edge, and which columns are ends: told, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gquery.errors import LoadError
from gquery.storage.load import load
from gquery.storage.load.formats.names import find_ends
from tests.storage.loaded import edges, ids, vertices, write

WITH_HEADER = {
    "scores": "protein1 protein2 combined_score\n9606.A 9606.B 490\n9606.B 9606.C 20\n",
    "known ends": "source target weight\na b 1\nb c 2\n",
    "accounts": "from_account,to_account,amount\nx1,x2,5\nx2,x3,6\n",
    "only text": "from_account,to_account\nfoo,bar\nbaz,qux\n",
    "words above numbers": "person\tfriend\tsince\nann\tbob\t2010\ncid\tdan\t2011\n",
    "words above dates": "person;friend;since\nann;bob;2010-01-01\ncid;dan;2011-01-01\n",
    "quoted": '"person","friend","w"\n"ann","bob",5\n"cid","dan",6\n',
    "roles": "follower followee\nann bob\ncid dan\n",
    "one row": "gene_a gene_b\nTP53 MDM2\n",
    "camel case": "FromNodeId,ToNodeId\na,b\nc,d\n",
}


@pytest.mark.parametrize("case", WITH_HEADER)
def test_a_header_is_no_edge(tmp_path: Path, case: str) -> None:
    text = WITH_HEADER[case]
    for name in ("g.txt", "g.csv"):
        graph = load(write(tmp_path, {name: text}) / name)
        assert len(edges(graph)) == text.count("\n") - 1
        header = text.splitlines()[0].replace('"', "")
        names = header.replace("\t", ",").replace(";", ",").replace(" ", ",").split(",")
        assert list(graph.snapshot.edge_tables[0].columns) == names[2:]


WITHOUT_HEADER = {
    "an id again": "ann bob\nbob cid\n",
    "a number": "ann bob 5\nbob2 cid2 6\n",
    "a missing value": "ann bob n/a\ncid dan 6\n",
    "the shape of ids": "YAL001C YBR123W\nYAL002C YBR124W\nYAL003C YBR125W\n",
    "named by a comment": "# FromNodeId ToNodeId\nfoo bar\nbaz qux\n",
    "one line": "ann bob\n",
    "quoted": '"ann","bob"\n"bob","cid"\n',
}


@pytest.mark.parametrize("case", WITHOUT_HEADER)
def test_an_edge_is_no_header(tmp_path: Path, case: str) -> None:
    text = WITHOUT_HEADER[case]
    assert len(edges(load(write(tmp_path, {"g.csv": text}) / "g.csv"))) == text.replace("# F", "").count("\n") - (
        "#" in text
    )


@pytest.mark.parametrize("text", ["foo bar\nann bob\ncid dan\n", '"foo","bar"\n"ann","bob"\n"cid","dan"\n'])
def test_what_cannot_be_told_is_refused(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, {"g.csv": text}) / "g.csv"
    with pytest.raises(LoadError, match="--no-header") as caught:
        load(path)
    assert (caught.value.line, caught.value.value) == (1, "foo, bar")
    assert len(edges(load(path, header=True))) == 2
    assert len(edges(load(path, header=False))) == 3


def test_ends_of_two_kinds_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, {"p.csv": "name,age\nAnn,30\nBob,40\n"})
    with pytest.raises(LoadError, match=r"`name` .*`age`"):
        load(folder / "p.csv")


def test_a_table_that_begins_with_an_id_has_vertices(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"people.csv": "id,name,age\n1,Ann,30\n"}) / "people.csv")
    assert vertices(graph, "People") == [{"id": 1, "name": "Ann", "age": 30}]
    alone = load(write(tmp_path, {"keys.csv": "id\n1\n2\n"}) / "keys.csv")
    assert vertices(alone, "Keys") == [{"id": 1}, {"id": 2}]


ENDS = {
    "source,target": (0, 1), "id,from_x,to_x": (1, 2), "src_id,dst_id": (0, 1), "w,source_id,target_id": (1, 2),
    "payer,payee,amount": (0, 1), "payer_id,payee_id": (0, 1), "account_from,account_to": (0, 1),
    "protein1,protein2,combined_score": (0, 1), "Official Symbol Interactor A,Official Symbol Interactor B": (0, 1),
    "start_station_id,end_station_id,start_station_name,end_station_name": (0, 1), "fromNode,toNode": (0, 1),
    "src_ip,dst_ip,src_port,dst_port": (0, 1), "origin_airport,destination_airport": (0, 1),
    "id,name,start_date,end_date": None, "id,valid_from,valid_to": None, "id,payer,payee": None, "x1,x2,y": None,
    "id,start_x,end_x": None, "column1,column2": None, "person,company": None, "id,lat1,lon1": None, "": None,
    "feature1,feature2": None, "gene1,gene2,gene3": None,
}  # fmt: skip


@pytest.mark.parametrize("header", ENDS)
def test_names_of_ends(header: str) -> None:
    assert find_ends(header.split(",")) == ENDS[header]


PEOPLE = {"Person.csv": "id,name\n1,Ann\n2,Bob\n", "Company.csv": "id,name\n10,A\n11,B\n"}


@pytest.mark.parametrize("header", ["from_x,to_x", "id,from_x,to_x", "payer_id,payee_id", "person_from,person_to"])
def test_edge_files_of_a_folder(tmp_path: Path, header: str) -> None:
    row = "1,2" if header.count(",") == 1 else "7,1,2"
    graph = load(write(tmp_path, {"Person.csv": PEOPLE["Person.csv"], "pays.csv": f"{header}\n{row}\n"}))
    assert ids(graph) == {"Person": [1, 2]}
    assert edges(graph)[0][:3] == (1, "PAYS", 2)


def test_vertices_that_look_like_edges_are_told(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {**PEOPLE, "works.csv": "person,company\n1,10\n2,11\n"}))
    told, empty = graph.report.notes
    assert "works.csv was taken for vertices" in told
    assert "`person` (ids of Person) and `company` (ids of Company)" in told
    assert "no edges" in empty
    graph = load(write(tmp_path / "b", {**PEOPLE, "pay.csv": "id,payer,payee\n7,1,2\n8,2,1\n"}))
    assert "`payer` (ids of Person) and `payee` (ids of Person)" in graph.report.notes[0]
    with pytest.raises(LoadError, match="looks like edges between"):
        load(write(tmp_path / "c", {**PEOPLE, "works.csv": "person,company\n1,10\n1,11\n"}))


def test_keys_are_no_ends(tmp_path: Path) -> None:
    files = {"Country.csv": "id,name\n1,B\n2,F\n", "City.csv": "id,country\n1,1\n2,1\n", "r.csv": "from,to\nx,y\n"}
    assert load(write(tmp_path, files), on_dangling="skip").report.notes == (
        "the graph has no edges: the tables of edges are empty",
    )


def test_saved_graphs_inside_a_folder_are_passed_over(tmp_path: Path) -> None:
    from gquery.storage.persist import save

    graph = load(write(tmp_path / "in", {"A.csv": "id\n1\n", "A_r_A.csv": "source,target\n1,1\n"}))
    save(graph.snapshot, tmp_path / "in" / "saved.gq")
    save(graph.snapshot, tmp_path / "in" / "deep" / "other")
    assert ids(load(tmp_path / "in")) == {"A": [1]}
    with pytest.raises(LoadError, match="was saved"):
        load(tmp_path / "in" / "saved.gq")


@pytest.mark.parametrize("header", ["id:ID(Person,age", "a:START_ID(Person,b:END_ID(Person)", "id:id(P,age"])
def test_parentheses_are_closed(tmp_path: Path, header: str) -> None:
    """A table of vertices was one of edges with such a slip."""
    with pytest.raises(LoadError, match=r"`\(` is not closed in the header"):
        load(write(tmp_path, {"Person.csv": f"{header}\n1,30\n2,40\n"}) / "Person.csv")

"""Folders of CSV, Parquet and Arrow files."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import gquery
from gquery.errors import LoadError
from gquery.storage.load import load
from tests.storage.loaded import edges, ids, vertices, write

PEOPLE = "id:ID(Person)|name|age:int\n1|Ann|30\n2|Bob|\n"
CITIES = "id:ID(City)|name\n1|Paris\n2|Rome\n"


def test_labels_and_types_from_file_names(tmp_path: Path) -> None:
    files = {
        "Person.csv": PEOPLE,
        "City.csv": CITIES,
        "Person_isLocatedIn_City.csv": ":START_ID(Person)|:END_ID(City)\n1|2\n2|2\n",
        "Person_knows_Person.csv": ":START_ID(Person)|:END_ID(Person)|since:int\n1|2|2010\n",
    }
    graph = load(write(tmp_path, files))
    assert ids(graph) == {"City": [1, 2], "Person": [1, 2]}
    assert vertices(graph, "Person") == [{"id": 1, "name": "Ann", "age": 30}, {"id": 2, "name": "Bob", "age": None}]
    assert edges(graph) == [(1, "IS_LOCATED_IN", 2), (2, "IS_LOCATED_IN", 2), (1, "KNOWS", 2, {"since": 2010})]
    assert graph.snapshot.vertex_tables[1].id_name == "id"


def test_every_declared_type(tmp_path: Path) -> None:
    header = (
        "id:ID,a:int,b:long,c:short,d:byte,e:float,f:double,g:boolean,h:char,i:string,j:date,k:datetime,l:localdatetime,"
        "m:time,n:localtime,o:duration,p:point,q:int[],r:string[],s:IGNORE,t:double[]"
    )
    row = (
        "1,1,-2,+3, 4 ,1.5,1e3,TRUE,x,007,2020-02-29,2020-01-01T12:00:00.5+0100,2020-01-01T12:00:00,12:30:00,12:30,P1D,"
        "{x:1},1;2;3,a;b,zzz,"
    )
    graph = load(write(tmp_path, {"A.csv": f"{header}\n{row}\n"}))
    assert vertices(graph, "A") == [
        {
            "id": 1, "a": 1, "b": -2, "c": 3, "d": 4, "e": 1.5, "f": 1000.0, "g": True, "h": "x", "i": "007",
            "j": datetime.date(2020, 2, 29),
            "k": datetime.datetime(2020, 1, 1, 11, 0, 0, 500000, datetime.UTC),
            "l": datetime.datetime(2020, 1, 1, 12),
            "m": datetime.time(12, 30), "n": datetime.time(12, 30), "o": "P1D", "p": "{x:1}",
            "q": [1, 2, 3], "r": ["a", "b"], "t": None,
        }
    ]  # fmt: skip


def test_columns_without_type_are_inferred(tmp_path: Path) -> None:
    text = (
        "id,n,x,yes,day,at,zip,big,name,none,mixed\n"
        "1,1,1.5,true,2020-01-01,2020-01-01T10:00:00,01234,99999999999999999999,Ann,,1\n"
        "2,,2,false,2020-01-02,2020-01-01 11:00:00,98765,1,nan,,x\n"
    )
    schema = load(write(tmp_path, {"A.csv": text})).snapshot.schema.vertex_tables[0]
    assert schema.properties == {
        "id": pa.int64(), "n": pa.int64(), "x": pa.float64(), "yes": pa.bool_(), "day": pa.date32(),
        "at": pa.timestamp("us"), "zip": pa.string(), "big": pa.string(), "name": pa.string(), "none": pa.null(),
        "mixed": pa.string(),
    }  # fmt: skip


FINE = {
    "at": ("2020-01-01T00:00:00.123456789", pa.timestamp("ns")),
    "utc": ("2020-01-01T00:00:00.123456789+00:00", pa.timestamp("ns", "UTC")),
    "at:localdatetime": ("2020-01-01T00:00:00.123456789", pa.timestamp("ns")),
    "at:datetime": ("2020-01-01T00:00:00.123456789Z", pa.timestamp("ns", "UTC")),
    "at:time": ("00:00:00.123456789", pa.time64("ns")),
    "at:datetime[]": ("2020-01-01T00:00:00.123456789Z", pa.list_(pa.timestamp("ns", "UTC"))),
}


@pytest.mark.parametrize("header", FINE)
def test_nanoseconds(tmp_path: Path, header: str) -> None:
    """In one of several rows, and in one of several files. Where they were declared they were refused."""
    fine, type_ = FINE[header]
    coarse = fine.replace(".123456789", "")
    head = f"id:ID,{header},:LABEL\n"
    one = {"a.csv": f"{head}1,{fine},A\n2,{coarse},A\n3,,A\n"}
    two = {"a.csv": f"{head}1,{fine},A\n", "b.csv": f"{head}2,{coarse},A\n"}
    for folder, files in {"one": one, "two": two}.items():
        values = load(write(tmp_path / folder, files)).snapshot.vertex_tables[0].columns[header.split(":")[0]]
        assert values.type == type_
        times = values.combine_chunks().flatten() if pa.types.is_list(type_) else values
        first, second, *_ = times.cast(pa.int64()).to_pylist()
        assert first - second == 123_456_789


def test_a_row_among_nanoseconds_that_is_bad(tmp_path: Path) -> None:
    rows = {"x": "x", "1500-01-01T00:00:00Z": "of the years 1678 to 2261"}
    for value, words in rows.items():
        text = f"id,at:datetime\n1,2020-01-01T00:00:00.123456789Z\n2,{value}\n"
        with pytest.raises(LoadError, match=words) as caught:
            load(write(tmp_path, {"A.csv": text}))
        assert (caught.value.line, caught.value.value) == (3, value)
    far = {"b.csv": "id:ID,at:datetime,:LABEL\n2,,A\n3,1500-01-01T00:00:00Z,A\n"}
    fine = {"a.csv": "id:ID,at:datetime,:LABEL\n1,2020-01-01T00:00:00.123456789Z,A\n"}
    with pytest.raises(LoadError, match=r"does not fit into timestamp.*which other values of `A` need") as caught:
        load(write(tmp_path / "two", {**fine, **far}))
    error = caught.value
    assert (Path(error.file or "").name, error.line, error.column) == ("b.csv", 3, "at")
    assert str(error.value).startswith("1500")


def test_what_only_looks_like_nanoseconds_is_alone_in_being_bad(tmp_path: Path) -> None:
    """It was told by any seven digits behind a point, and then years that a date may have were bad, too."""
    text = "id,at:datetime\n1,1.1234567\n2,1500-01-01T00:00:00Z\n"
    loaded = load(write(tmp_path, {"A.csv": text}), on_bad_row="skip")
    assert loaded.report.rejects["value"].to_pylist() == ["1.1234567"]


def test_integers_that_no_float_holds_beside_floats(tmp_path: Path) -> None:
    """They were an error of Arrow's."""
    files = {"a.csv": "id:ID,x,:LABEL\n1,1,A\n2,9007199254740993,A\n", "b.csv": "id:ID,x,:LABEL\n3,1.5,A\n"}
    with pytest.raises(LoadError, match="does not fit into double") as caught:
        load(write(tmp_path, files))
    assert (Path(caught.value.file or "").name, caught.value.line) == ("a.csv", 3)
    assert load(tmp_path, types={"x": "string"}).snapshot.vertex_tables[0].columns["x"].type == pa.string()


def test_label_and_type_columns(tmp_path: Path) -> None:
    files = {
        "nodes.csv": "name:ID,:LABEL,x:int\nann,Person;Author,1\nbob,Person,2\nrex,,3\ncat,Author;Person,4\n",
        "links.csv": ":START_ID,:END_ID,:TYPE,w:float\n"
        "ann,bob,KNOWS,1.5\nbob,rex,likes,2\nann,ann,KNOWS,3\nann,bob,KNOWS,4\n",
    }
    graph = load(write(tmp_path, files))
    assert ids(graph) == {"Person:Author": ["ann", "cat"], "Person": ["bob"], "": ["rex"]}
    assert edges(graph) == [
        ("ann", "KNOWS", "bob", {"w": 1.5}),
        ("ann", "KNOWS", "ann", {"w": 3.0}),
        ("ann", "KNOWS", "bob", {"w": 4.0}),
        ("bob", "likes", "rex", {"w": 2.0}),
    ]
    assert (graph.report.self_loops, graph.report.parallel_edges) == (1, 1)


def test_unnamed_ids_are_no_property(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"A.csv": ":ID,x\n5,1\n"}))
    assert graph.snapshot.vertex_tables[0].id_name is None
    assert vertices(graph, "A") == [{"x": 1}]


@pytest.mark.parametrize("delimiter", [",", "|", ";", "\t"])
def test_delimiters_quotes_and_gzip(tmp_path: Path, delimiter: str) -> None:
    header, first = ["id:ID", '"na""me"', "note"], ["1", f'"a{delimiter}b"', '"two\nlines"']
    rows = [header, first, ["2", '""', ""], [], ["3", "it's", "x"]]
    text = "\r\n".join(delimiter.join(row) for row in rows)
    graph = load(write(tmp_path, {"A.csv.gz": "\ufeff" + text}))
    assert vertices(graph, "A") == [
        {"id": 1, 'na"me': f"a{delimiter}b", "note": "two\nlines"},
        {"id": 2, 'na"me': "", "note": None},
        {"id": 3, 'na"me': "it's", "note": "x"},
    ]


def test_given_delimiter_quote_and_array_delimiter(tmp_path: Path) -> None:
    text = "id~name:string[]~x,y\n1~'a/b~c'~4\n"
    graph = load(write(tmp_path, {"A.csv": text}), delimiter="~", quote="'", array_delimiter="/")
    assert vertices(graph, "A") == [{"id": 1, "name": ["a", "b~c"], "x,y": 4}]


def test_quotes_as_ordinary_characters(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"A.csv": 'id,name\n1,"big" one\n2,5"\n3,"x\n'}), quote="")
    assert [row["name"] for row in vertices(graph, "A")] == ['"big" one', '5"', '"x']


def test_a_quote_inside_a_field_is_ordinary(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"A.csv": 'id,name\n1,5" pipe\n2,"x"\n'}))
    assert [row["name"] for row in vertices(graph, "A")] == ['5" pipe', "x"]


def test_header_in_a_file_of_its_own_and_parts(tmp_path: Path) -> None:
    files = {
        "Person-header.csv": "id:ID(P)|name\n",
        "Person-1.csv": "1|Ann\n",
        "Person-part2.csv.gz": "2|Bob\n",
        "KNOWS-header.csv": ":START_ID(P)|:END_ID(P)\n",
        "KNOWS.csv": "1|2\n",
    }
    graph = load(write(tmp_path, files))
    assert ids(graph) == {"Person": [1, 2]}
    assert edges(graph) == [(1, "KNOWS", 2)]


def test_a_part_without_rows(tmp_path: Path) -> None:
    files = {"P-header.csv": "id:ID,x\n", "P.csv": "", "Q-header.csv": "id:ID\n", "Q.csv": "", "Q-part1.csv": "1\n"}
    assert ids(load(write(tmp_path, files))) == {"P": [], "Q": [1]}


def test_chunks_of_one_table(tmp_path: Path) -> None:
    files = {
        "person_0_0.csv": "id|name\n1|7\n",
        "person_1_0.csv": "id|name\n2|Bob\n",
        "person_knows_person_0_0.csv": "Person.id|Person.id|since\n1|2|2010\n",
        "City/part-00000-ab.csv": "id|name\n1|Paris\n",
        "City/part-00001-cd.csv": "id|name\n2|Rome\n",
    }
    graph = load(write(tmp_path, files))
    assert ids(graph) == {"City": [1, 2], "Person": [1, 2]}
    assert [row["name"] for row in vertices(graph, "Person")] == ["7", "Bob"]  # one type for all chunks
    assert edges(graph) == [(1, "KNOWS", 2, {"since": 2010})]


def test_id_spaces(tmp_path: Path) -> None:
    files = {
        "a.csv": "id:ID(one)\n1\n2\n",
        "b.csv": "id:ID(two)\n1\n3\n",
        "x.csv": ":START_ID(one),:END_ID(two)\n1,1\n2,3\n",
    }
    graph = load(write(tmp_path, files))
    source, target = graph.snapshot.edge_tables[0].ends
    assert (source.tolist(), target.tolist()) == ([0, 1], [2, 3])


def test_file_names_stand_for_missing_spaces(tmp_path: Path) -> None:
    files = {"A.csv": "id\n1\n2\n", "B.csv": "id\n1\n2\n"}
    graph = load(write(tmp_path, {**files, "A_x_B.csv": "source,target\n1,2\n", "A_y_A.csv": "p,q\n2,1\n"}))
    assert [table.ends[1].tolist() for table in graph.snapshot.edge_tables] == [[3], [0]]


def test_one_global_space(tmp_path: Path) -> None:
    files = {"A.csv": "id:ID\n1\n", "B.csv": "id:ID\n2\n", "LINK.csv": "src,dst\n1,2\n2,1\n"}
    assert edges(load(write(tmp_path, files))) == [(1, "LINK", 2), (2, "LINK", 1)]


def test_super_labels(tmp_path: Path) -> None:
    files = {
        "Post.csv": "id\n1\n",
        "Comment.csv": "id\n2\n",
        "Person.csv": "id\n1\n",
        "Person_likes_Message.csv": "a,b\n1,1\n1,2\n",
    }
    graph = load(write(tmp_path, files), super_labels={"Message": ["Post", "Comment"]})
    assert graph.snapshot.schema.labels == ("Comment", "Message", "Person", "Post")
    assert edges(graph) == [(1, "LIKES", 1), (1, "LIKES", 2)]


def test_string_ids_and_mixed_ids(tmp_path: Path) -> None:
    files = {"A.csv": "id\n007\n8\n", "A_x_A.csv": "source,target\n8,007\n", "A_y_A.csv": "source,target\n8,8\n"}
    graph = load(write(tmp_path, files))
    assert ids(graph) == {"A": ["007", "8"]}
    assert edges(graph) == [("8", "X", "007"), ("8", "Y", "8")]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_binary_tables(tmp_path: Path, ending: str) -> None:
    people = pa.table({"id": pa.array([1, 2], pa.int32()), "name": pa.array(["a", "b"]).dictionary_encode()})
    knows = pa.table({"source": [1, 2], "target": [2, 1], "w": pa.array([0.5, 1.5], pa.float32())})
    for name, table in (("Person", people), ("Person_knows_Person", knows)):
        path = tmp_path / f"{name}.{ending}"
        if ending == "parquet":
            pa.parquet.write_table(table, path)
        elif ending == "feather":
            pa.feather.write_feather(table, path)
        else:
            with pa.ipc.new_stream(path, table.schema) as writer:
                writer.write_table(table)
    graph = load(tmp_path)
    assert vertices(graph, "Person") == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    assert edges(graph) == [(1, "KNOWS", 2, {"w": 0.5}), (2, "KNOWS", 1, {"w": 1.5})]


@pytest.mark.parametrize("declared", [None, {"at": "datetime"}])
@pytest.mark.parametrize("is_list", [False, True])
def test_nanoseconds_in_one_of_several_binary_files(
    tmp_path: Path, declared: dict[str, str] | None, is_list: bool
) -> None:
    """The files were said to disagree, and what was declared did not fit."""
    coarse, fine = pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")
    for number, (values, type_) in enumerate(
        (([1, None], coarse), ([1_000_001, None], fine), ([None, None], pa.null()))
    ):
        column = pa.array([[value] for value in values], pa.list_(type_)) if is_list else pa.array(values, type_)
        pa.parquet.write_table(
            pa.table({"id": [2 * number, 2 * number + 1], "at": column}), tmp_path / f"A_{number}_0.parquet"
        )
    types = {name: f"{type_}[]" if is_list else type_ for name, type_ in (declared or {}).items()}
    (table,) = load(tmp_path, types=types).snapshot.vertex_tables
    values = table.columns["at"].combine_chunks()
    times = values.flatten() if is_list else values
    assert (times.type, times.cast(pa.int64()).to_pylist()) == (fine, [1000, None, 1_000_001, None, None, None])


def test_binary_files_of_a_table_that_do_not_go_together(tmp_path: Path) -> None:
    """The file that does not fit is named; it was an error of Arrow's."""
    for number, column in enumerate(([2**53 + 1], [1.5], [2])):
        pa.parquet.write_table(pa.table({"id": [number], "x": column}), tmp_path / f"A_{number}_0.parquet")
    with pytest.raises(LoadError, match="does not fit into double") as caught:
        load(tmp_path)
    assert (Path(caught.value.file or "").name, caught.value.column) == ("A_0_0.parquet", "x")


def test_parquet_and_csv_side_by_side(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"id:ID(A)": [1, 2], "x:IGNORE": [0, 0]}), tmp_path / "A.parquet")
    graph = load(write(tmp_path, {"A_r_A.csv": ":START_ID(A),:END_ID(A)\n1,2\n"}))
    assert vertices(graph, "A") == [{"id": 1}, {"id": 2}]
    assert edges(graph) == [(1, "R", 2)]


def test_empty_tables(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"A.csv": "id:ID(A)\n", "A_r_A.csv": ":START_ID(A),:END_ID(A)\n"}))
    assert (graph.report.vertices, graph.report.edges) == (0, 0)
    assert graph.snapshot.schema.types == ("R",)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r"])
def test_a_last_line_may_end_with_the_file(tmp_path: Path, end: str) -> None:
    files = {"A.csv": f'id,x,y:string\n1,"a",""\n2,b,{end}', "A_r_A.csv": f"source,target{end}"}
    graph = load(write(tmp_path, files))
    assert vertices(graph, "A") == [{"id": 1, "x": "a", "y": ""}, {"id": 2, "x": "b", "y": None}]
    assert graph.snapshot.schema.types == ("R",)


def test_no_header(tmp_path: Path) -> None:
    graph = load(write(tmp_path, {"A.csv": "1,x\n2,y\n", "A_r_A.csv": "1,2\n"}), header=False)
    assert vertices(graph, "A") == [{"column1": 1, "column2": "x"}, {"column1": 2, "column2": "y"}]
    assert edges(graph) == [(1, "R", 2)]


def test_nameless_columns_are_ignored(tmp_path: Path) -> None:
    assert vertices(load(write(tmp_path, {"A.csv": ",id,x\n0,5,7\n"})), "A") == [{"id": 5, "x": 7}]


def test_undirected_merges_pairs(tmp_path: Path) -> None:
    files = {"A.csv": "id\n1\n2\n", "A_r_A.csv": "source,target,w\n1,2,5\n2,1,6\n1,1,7\n1,2,8\n"}
    graph = load(write(tmp_path, files), undirected=True)
    assert edges(graph) == [(1, "R", 2, {"w": 5}), (1, "R", 1, {"w": 7})]
    assert graph.report.merged_edges == 2


def test_progress_rises_to_one(tmp_path: Path) -> None:
    seen: list[tuple[str, float]] = []
    files = {"A.csv": "id\n1\n", "A_r_A.csv.gz": "source,target\n1,1\n"}
    load(write(tmp_path, files), progress=lambda what, fraction: seen.append((what, fraction)))
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any("A.csv" in what for what, _ in seen)


def test_a_label_with_ids_of_two_spaces(tmp_path: Path) -> None:
    """Both vertices have the id, saved and opened too: ids are unique in their space and in nothing else."""
    rows = {"a.csv": "id:ID(One),name,:LABEL\n1,x,X\n2,y,X\n", "b.csv": "id:ID(Two),name,:LABEL\n1,z,X\n3,w,X\n"}
    edge = {"e.csv": ":START_ID(One),:END_ID(Two),:TYPE\n1,1,E\n"}
    (tmp_path / "from").mkdir()
    loaded = gquery.load(write(tmp_path / "from", rows | edge))
    loaded.save(tmp_path / "saved.gq")
    for graph in (loaded, gquery.open(tmp_path / "saved.gq")):
        assert graph.query("MATCH (a:X {id: 1})-->(b) WHERE id(a) = id(b) RETURN a.name, b.name").rows() == [("x", "z")]
        assert graph.query("MATCH (a), (b) WHERE id(a) = id(b) RETURN count(*)").scalar() == 6

"""Folders in the layout of Kùzu and Ladybug: their data sets, and what EXPORT DATABASE writes."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from gquery.errors import LoadError
from gquery.storage.load import load
from tests.storage.loaded import edges, ids, vertices, write

# As in a data set: small letters, no header rows, paths of another place.
DEMO = {
    "schema.cypher": "create node table User (name STRING, age INT64, PRIMARY KEY (name));\n"
    "create node table City(name STRING, population INT64, PRIMARY KEY (name)); -- the cities\n"
    "create rel table Follows(FROM User TO User, since INT64);\n"
    "create rel table LivesIn(FROM User TO City);\n",
    "copy.cypher": 'COPY User FROM "dataset/demo-db/csv/user.csv";\nCOPY City FROM "dataset/demo-db/csv/city.csv";\n'
    'copy Follows from "dataset/demo-db/csv/follows.csv";\nCOPY LivesIn FROM "dataset/demo-db/csv/lives-in.csv";\n',
    "user.csv": "Adam,30\nKarissa,40\nZhang,50\n",
    "city.csv": "Waterloo,150000\nKitchener,200000\n",
    "follows.csv": "Adam,Karissa,2020\nAdam,Zhang,2021\n",
    "lives-in.csv": "Adam,Waterloo\nZhang,Kitchener\n",
}


def test_a_data_set_without_headers(tmp_path: Path) -> None:
    graph = load(write(tmp_path, DEMO))
    assert ids(graph) == {"User": ["Adam", "Karissa", "Zhang"], "City": ["Waterloo", "Kitchener"]}
    assert vertices(graph, "User")[0] == {"name": "Adam", "age": 30}
    assert edges(graph) == [
        ("Adam", "Follows", "Karissa", {"since": 2020}),
        ("Adam", "Follows", "Zhang", {"since": 2021}),
        ("Adam", "LivesIn", "Waterloo"),
        ("Zhang", "LivesIn", "Kitchener"),
    ]


def test_files_that_are_not_read_are_named(tmp_path: Path) -> None:
    assert load(write(tmp_path, {**DEMO, "more.csv": "1,2\n"})).report.notes == (
        "not read, since copy.cypher does not name them: more.csv",
    )


def test_without_copy_statements(tmp_path: Path) -> None:
    files = {name: text for name, text in DEMO.items() if name != "copy.cypher"}
    files["livesin.csv"] = files.pop("lives-in.csv")
    assert len(edges(load(write(tmp_path, files)))) == 4
    (tmp_path / "city.csv").unlink()
    with pytest.raises(LoadError, match="no file is named like the table `City`"):
        load(tmp_path)


# As EXPORT DATABASE writes it.
SCHEMA = """\
CREATE NODE TABLE `City` (`name` STRING, PRIMARY KEY(`name`));
CREATE NODE TABLE `Person` (`id` INT64,`full name` STRING,`born` DATE,`at` TIMESTAMP,`tags` STRING[],`xs` INT64[2],\
`d` DECIMAL(10, 2),`ok` BOOL,`w` DOUBLE DEFAULT 1.5,`tz` TIMESTAMP_TZ,`code` STRING, PRIMARY KEY(`id`));
CREATE REL TABLE `Likes` (FROM `Person` TO `Person`, FROM `Person` TO `City`, `how` STRING,MANY_MANY);
CREATE REL TABLE `Empty` (FROM `City` TO `City`, MANY_ONE);
DROP SEQUENCE IF EXISTS `sq`;
CREATE SEQUENCE IF NOT EXISTS `sq` START 1 INCREMENT 1 MINVALUE 1 MAXVALUE 9223372036854775807 NO CYCLE;
RETURN nextval('sq');
CREATE MACRO `ADDONE` (a) AS a + 1;
"""
COPY = """\
COPY `City` (`name`) FROM "City.csv" ({options}parallel=true);
COPY `Person` (`id`,`full name`,`born`,`at`,`tags`,`xs`,`d`,`ok`,`w`,`tz`,`code`) FROM "Person.csv"\
 ({options}parallel=false);
COPY `Likes` (`how`) FROM "Likes_Person_Person.csv" (to='Person', from='Person', {options}parallel=true);
COPY `Likes` (`how`) FROM "Likes_Person_City.csv" (to='City', from='Person', {options}parallel=true);
COPY `Empty` FROM "Empty_City_City.csv" (to='City', from='City', {options}parallel=true);
"""
TABLES = {
    "City.csv": ("a.name", ["Paris", "Rome"]),
    "Person.csv": (
        "a.id,a.full name,a.born,a.at,a.tags,a.xs,a.d,a.ok,a.w,a.tz,a.code",
        ['1,"A,""n",2001-01-02,2020-01-01 10:00:00.5,"[a,b]","[1,2]",0.57,True,2.500000,2020-01-01 10:00:00+00,007',
         '2,"",,,"[]",,,,1.500000,,12'],
    ),
    "Likes_Person_Person.csv": ("a.id,b.id,r.how", ["1,2,"]),
    "Likes_Person_City.csv": ("a.id,b.name,r.how", ["1,Rome,much"]),
    "Empty_City_City.csv": ("a.name,b.name", []),
}  # fmt: skip


@pytest.mark.parametrize("options", ["header=true, ", "", "delim='|', header=false, ", "delim=delim='|', "])
def test_exports_as_csv(tmp_path: Path, options: str) -> None:
    files = {"schema.cypher": SCHEMA, "copy.cypher": COPY.format(options=options), "index.cypher": ""}
    for name, (header, rows) in TABLES.items():
        text = "".join(f"{row}\n" for row in [*([header] if "true" in options else []), *rows])
        files[name] = text.replace(",", "|").replace("a|b", "a,b").replace("1|2]", "1,2]") if "|" in options else text
        files[name] = files[name].replace("A|", "A,")
    graph = load(write(tmp_path, files))
    assert vertices(graph, "Person") == [
        {"id": 1, "full name": 'A,"n', "born": datetime.date(2001, 1, 2),
         "at": datetime.datetime(2020, 1, 1, 10, 0, 0, 500000), "tags": ["a", "b"], "xs": [1, 2],
         "d": decimal.Decimal("0.57"), "ok": True, "w": 2.5,
         "tz": datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC), "code": "007"},
        {"id": 2, "full name": "", "born": None, "at": None, "tags": [], "xs": None, "d": None, "ok": None, "w": 1.5,
         "tz": None, "code": "12"},
    ]  # fmt: skip
    assert edges(graph) == [(1, "Likes", 2, {"how": None}), (1, "Likes", "Rome", {"how": "much"})]
    assert graph.snapshot.schema.types == ("Likes", "Empty")


def test_exports_as_parquet(tmp_path: Path) -> None:
    schema = (
        "CREATE NODE TABLE `P` (`id` STRING,`u` UUID,`s` STRUCT(a INT64, b STRING), PRIMARY KEY(`id`));\n"
        "CREATE REL TABLE `R` (FROM `P` TO `P`, `w` DOUBLE,MANY_MANY);\n"
    )
    copies = 'COPY `P` (`id`,`u`,`s`) FROM "P.parquet" (parallel=true);\nCOPY `R` (`w`) FROM "R.parquet" (to=\'P\');\n'
    write(tmp_path, {"schema.cypher": schema, "copy.cypher": copies})
    people = pa.table(
        {"a.id": ["1", "2"], "a.u": pa.array([b"\1" * 16, None], pa.uuid()), "a.s": [{"a": 1, "b": "x"}] * 2}
    )
    pa.parquet.write_table(people, tmp_path / "P.parquet")
    pa.parquet.write_table(pa.table({"a.id": ["1"], "b.id": ["2"], "r.w": [0.5]}), tmp_path / "R.parquet")
    graph = load(tmp_path)
    assert vertices(graph, "P")[0] == {"id": "1", "u": "01010101-0101-0101-0101-010101010101", "s": {"a": 1, "b": "x"}}
    assert edges(graph) == [("1", "R", "2", {"w": 0.5})]


NODE = "CREATE NODE TABLE A(id INT64, PRIMARY KEY(id));"
WRONG = {
    "statement": (NODE + "ALTER TABLE A ADD x INT64;", "", "not understood"),
    "no key": ("CREATE NODE TABLE A(id INT64);", "", "no primary key"),
    "no ends": (NODE + "CREATE REL TABLE R(since INT64);", "", "FROM which"),
    "cut": ("CREATE NODE TABLE A(id INT64", "", "`\\)` should stand here"),
    "other vertices": (NODE + "CREATE REL TABLE R(FROM A TO B);", 'COPY R FROM "A.csv";', "leads to `B`"),
    "copy": (NODE, "LOAD FROM 'x.csv';", "not understood"),
    "query": (NODE, "COPY A FROM (MATCH (a) RETURN a);", "a file in quotes"),
    "table": (NODE, 'COPY AA FROM "A.csv";', "did you mean `A`"),
    "column": (NODE, 'COPY A (idd) FROM "A.csv";', "did you mean `id`"),
    "option": (NODE, 'COPY A FROM "A.csv" (skip=3);', "`skip` is not understood"),
    "list option": (NODE, 'COPY A FROM "A.csv" (null_strings=["x"]);', "no value that is understood"),
    "escape": (NODE, "COPY A FROM 'A.csv' (escape='!');", "doubled quote"),
    "file": (NODE, 'COPY A FROM "B.csv";', "no file `B.csv`"),
    "outside": (NODE, 'COPY A FROM "/etc/passwd";', "no file `passwd`"),
    "above": (NODE, 'COPY A FROM "../A2.csv";', "no file `A2.csv`"),
    "width": (NODE.replace("INT64,", "INT64, x INT64,"), 'COPY A FROM "A.csv";', "has 2 columns, its file has 1"),
    "value": (NODE.replace("PRIMARY", "x DATE, PRIMARY"), 'COPY A FROM "X.csv";', "not a date"),
    "type": (NODE.replace("PRIMARY", "x MAP(STRING, INT64), PRIMARY"), 'COPY A FROM "X.csv";', "type MAP"),
    "decimal": (NODE.replace("PRIMARY", "x DECIMAL(3,1), PRIMARY"), 'COPY A FROM "X.csv";', "no DECIMAL"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_understood_is_refused(tmp_path: Path, case: str) -> None:
    schema, copies, words = WRONG[case]
    write(tmp_path, {"A2.csv": "1\n"})
    files = {"schema.cypher": schema, "copy.cypher": copies, "A.csv": "1\n2\n", "X.csv": "1,zz\n"}
    with pytest.raises(LoadError, match=words):
        load(write(tmp_path / "in", files))

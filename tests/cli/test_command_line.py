"""The command line: exit codes, formats, pipes."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import gquery
from gquery import cli as command_line
from tests.cli.test_shell import ENDLESS

Cli = Callable[..., tuple[int, bytes, str]]
PEOPLE = "MATCH (a:Person) RETURN a.id AS id, a.name AS name, a AS node ORDER BY id"
GQUERY = [sys.executable, "-c", "import sys; from gquery.cli import main; sys.exit(main())"]
ROOT = Path(__file__).resolve().parents[2]


def test_module() -> None:
    told = subprocess.run([sys.executable, "-m", "gquery", "--help"], capture_output=True, text=True, check=True)
    assert "gquery" in told.stdout


def test_csv(cli: Cli, saved: str) -> None:
    code, out, err = cli("run", saved, "MATCH (a:Person) RETURN a.id AS id, a.name AS name, a.age ORDER BY id")
    assert code == 0
    assert out == b'"id","name","a.age"\n1,"Ann",30\n2,"Bo",\n3,"C\x1b[31my",50\n'
    assert err.startswith("3 rows in ")


def test_json_lines(cli: Cli, saved: str) -> None:
    _, out, _ = cli("run", saved, PEOPLE, "--format", "json")
    first, *rest = map(json.loads, out.splitlines())
    properties = {"id": 1, "name": "Ann", "age": 30}
    assert first == {"id": 1, "name": "Ann", "node": {"id": 1, "labels": ["Person"], "properties": properties}}
    assert len(rest) == 2
    _, out, _ = cli("run", saved, "MATCH (p:Post) RETURN p.score AS score ORDER BY p.id", "--format", "json")
    assert out == b'{"score": 0.5}\n{"score": null}\n'


def test_nested_values_in_csv_are_json(cli: Cli, saved: str) -> None:
    _, out, _ = cli("run", saved, "MATCH (a:Person) WHERE a.id = 2 RETURN a, [1, 2] AS l")
    assert out.splitlines()[1] == (
        b'"{""id"": 2, ""labels"": [""Person""], ""properties"": {""id"": 2, ""name"": ""Bo""}}","[1, 2]"'
    )


def test_binary_formats(cli: Cli, saved: str) -> None:
    _, out, _ = cli("run", saved, PEOPLE, "--format", "arrow")
    assert pa.ipc.open_stream(out).read_all()["id"].to_pylist() == [1, 2, 3]
    _, out, _ = cli("run", saved, PEOPLE, "--format", "parquet")
    assert parquet.read_table(io.BytesIO(out))["name"].to_pylist()[0] == "Ann"


def test_table_in_a_pipe_is_not_cut(cli: Cli, saved: str) -> None:
    _, out, _ = cli("run", saved, "MATCH (p:Post) RETURN p.content", "--format", "table")
    assert "x" * 200 in out.decode()
    assert b"\x1b" not in out


def test_files(cli: Cli, saved: str, tmp_path: Path) -> None:
    for name in ("a.csv", "a.json", "a.arrow", "a.parquet"):
        code, out, err = cli("run", saved, PEOPLE, "-o", tmp_path / name)
        assert (code, out) == (0, b"")
        assert err.startswith("3 rows")
    assert pa.ipc.open_file(tmp_path / "a.arrow").read_all().num_rows == 3
    for format in ("csv", "table"):
        assert cli("run", saved, PEOPLE, "-o", tmp_path / "a.txt", "--format", format)[0] == 0
        assert "Ann" in (tmp_path / "a.txt").read_text()
    assert cli("run", saved, PEOPLE, "-o", tmp_path / "b.txt")[0] == 2
    assert cli("run", saved, PEOPLE, "-o", tmp_path / "no" / "b.txt", "--format", "csv")[0] == 1
    assert cli("run", saved, PEOPLE, "-o", tmp_path / "no" / "b.csv")[0] == 1


@pytest.mark.parametrize("format", ["csv", "json", "arrow", "parquet", "table"])
def test_an_error_leaves_the_file_before(cli: Cli, saved: str, tmp_path: Path, format: str) -> None:
    """Whether the format is that of the file's ending or not."""
    for name in ("a.txt", "a.csv"):
        (tmp_path / name).write_text("kept")
        assert cli("run", saved, "UNWIND [1, 0] AS x RETURN 1 / x", "-o", tmp_path / name, "--format", format)[0] == 1
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name).read_text() == "kept"
        (tmp_path / name).unlink()


def test_a_device_is_written_to(cli: Cli, saved: str, tmp_path: Path) -> None:
    (tmp_path / "none").symlink_to("/dev/null")
    assert cli("run", saved, PEOPLE, "-o", tmp_path / "none", "--format", "csv")[0] == 0
    assert (tmp_path / "none").is_symlink()


def test_where_the_query_comes_from(cli: Cli, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "q.cypher").write_text("MATCH (a:Person)\nRETURN count(*) AS n;\n")
    assert cli("run", saved, f"@{tmp_path}/q.cypher")[1] == b'"n"\n3\n'
    monkeypatch.setattr("sys.stdin", io.StringIO("MATCH (a:Post) RETURN count(*) AS n"))
    assert cli("run", saved, "-")[1] == b'"n"\n2\n'
    assert cli("run", saved, "@nowhere")[0] == 2


def test_parameters_and_settings(cli: Cli, saved: str) -> None:
    query = "MATCH (a:Person) WHERE a.age >= $min AND NOT a.name IN $names RETURN a.id"
    _, out, _ = cli("run", saved, query, "--param", "min=30", "--param", 'names=["Ann"]', "--device", "cpu")
    assert out == b'"a.id"\n3\n'
    count = "MATCH (a:Person)-->(b:Person)-->(c:Person)-->(d:Person) RETURN count(*) AS n"
    assert cli("run", saved, count)[1] == b'"n"\n3\n'
    assert cli("run", saved, count, "--mode", "different nodes")[1] == b'"n"\n0\n'
    unknown = "MATCH (a:Nobody) RETURN count(*) AS n"
    assert cli("run", saved, unknown, "--strict")[0] == 1
    code, out, err = cli("run", saved, unknown, "--no-strict")
    assert (code, out) == (0, b'"n"\n0\n')
    assert "Warning: the graph has no label `Nobody`: no node has it" in err


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        (1, ["run", "GRAPH", "MATCH (a:Persn) RETURN a"], "did you mean `Person`?"),
        (1, ["run", "GRAPH", "MATCH (a"], "  1 | MATCH (a"),
        (1, ["run", "nowhere", "MATCH (a) RETURN a"], "nowhere"),
        (1, ["run", "nowhere.gq", "MATCH (a) RETURN a"], "nowhere.gq"),
        (2, ["run", "GRAPH"], "QUERY"),
        (2, ["rum", "GRAPH", "x"], "did you mean `run`?"),
        (2, ["run", "GRAPH", "x", "--param", "x"], "name=value"),
        (2, ["run", "GRAPH", "x", "--timeout", "0"], "number of seconds"),
        (2, ["run", "GRAPH", "x", "--mode", "inducd"], "did you mean `induced`?"),
        (2, ["run", "GRAPH", "x", "--memory-limit", "much"], "not a size"),
        (2, ["run", "GRAPH", "x", "--undirected"], "saved graph"),
        (2, ["load", "GRAPH"], "--output"),
        (2, ["load", "x", "-o", "y", "--super-label", "Message"], "Message=Post,Comment"),
        (2, ["load", "x", "-o", "y", "--delimiter", "--"], "--delimiter"),
        (1, ["x" * 5000], "cannot read the file: File name too long"),
        (124, ["run", "GRAPH", ENDLESS, "--timeout", "0.2"], "Timeout"),
    ],
)
def test_exit_codes(cli: Cli, saved: str, code: int, arguments: list[str], message: str) -> None:
    found, out, err = cli(*(saved if argument == "GRAPH" else argument for argument in arguments))
    assert found == code, err
    assert message in err
    assert b"error" not in out


def test_plans(cli: Cli, saved: str) -> None:
    assert "estimated" in cli("explain", saved, "MATCH (a)-[:KNOWS]->(b) RETURN a")[1].decode()
    assert "Total" in cli("profile", saved, "MATCH (a)-[:KNOWS]->(b) RETURN a")[1].decode()


@pytest.mark.parametrize("command", ["explain", "profile"])
def test_errors_of_plans_show_what_was_written(cli: Cli, saved: str, command: str) -> None:
    code, _, err = cli(command, saved, "MATCH (a:Persn) RETURN a")
    assert code == 1
    assert "  1 | MATCH (a:Persn) RETURN a\n    |          ^^^^^" in err


def test_info(cli: Cli, saved: str) -> None:
    code, out, _ = cli("info", saved)
    assert code == 0
    assert "(:Person)-[:KNOWS]->(:Person)" in out.decode()
    code, out, _ = cli("info")
    assert code == 0
    assert "cpu backend" in out.decode()
    assert cli("--version") == (0, f"gquery {gquery.__version__}\n".encode(), "")


def test_load(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Post.csv").write_text("id:ID(Post)|n:int\n1|5\n2|x\n")
    (tmp_path / "in" / "Comment.csv").write_text("id:ID(Comment)|n:int\n3|7\n")
    command = ["load", tmp_path / "in", "-o", tmp_path / "out.gq", "--super-label", "Message=Post,Comment"]
    code, _, err = cli(*command)
    assert code == 1
    assert "line 3, column n" in err
    code, out, err = cli(*command, "--on-bad-row", "skip", "--delimiter", "|", "--rejects", tmp_path / "rejects.csv")
    assert (code, out) == (0, b"")
    assert "2 nodes and 0 relationships loaded" in err
    assert "rows skipped or mended: 1" in err
    assert "Post.csv" in (tmp_path / "rejects.csv").read_text()
    assert cli("run", tmp_path / "out.gq", "MATCH (m:Message) RETURN sum(m.n) AS s")[1] == b'"s"\n12\n'


def test_loading_options(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "A.csv").write_bytes(
        "id;name;balance;zip\n1;Zoë;NA;1000\n2;'x;n/a;2000\n3;y;5;3000\n".encode("latin-1")
    )
    query = "MATCH (a) RETURN a.id, a.name, a.balance, a.zip ORDER BY a.id"
    code, out, err = cli(
        "run", tmp_path / "A.csv", query, "--encoding", "latin-1", "--null", "NA", "--null", "n/a", "--quote", "none",
        "--delimiter", ";", "--types", "balance=float", "--types", "zip=string", "--header",
    )  # fmt: skip
    assert (code, out.decode()) == (
        0,
        '"a.id","a.name","a.balance","a.zip"\n1,"Zoë",,"1000"\n2,"\'x",,"2000"\n3,"y",5,"3000"\n',
    )
    assert "note: the graph has no edges" in err
    (tmp_path / "g.txt").write_text("foo bar\nann bob\ncid dan\n")
    code, _, err = cli("load", tmp_path / "g.txt", "-o", tmp_path / "g.gq")
    assert (code, "--no-header" in err) == (1, True)
    for option, edges in (("--header", 2), ("--no-header", 3)):
        _, _, err = cli("load", tmp_path / "g.txt", "-o", tmp_path / "g.gq", option)
        assert f"{edges} relationships loaded" in err
    assert cli("load", tmp_path / "g.txt", "-o", tmp_path / "g.gq", "--types", "balance")[0] == 2
    assert cli("load", tmp_path / "g.txt", "-o", tmp_path / "g.gq", "--encoding", "utf-9")[0] == 1
    (tmp_path / "large.txt").write_text("1 2\n" * 500_000)  # which no machine loads before its timeout is looked at
    assert cli("load", tmp_path / "large.txt", "-o", tmp_path / "g.gq", "--timeout", "0.000001")[0] == 124


def test_what_a_load_says(cli: Cli, tmp_path: Path) -> None:
    rows = "".join(f"{i},{i}.5\n" for i in range(20))
    (tmp_path / "Account.csv").write_text(f"id,balance\n{rows}20,n/a\n")
    code, out, err = cli("load", tmp_path, "-o", tmp_path / "out.gq")
    assert (code, out) == (0, b"")
    assert "21 nodes and 0 relationships loaded" in err
    assert "note: the graph has no edges" in err
    assert f"note: Account.balance is text because of 'n/a' in {tmp_path}/Account.csv, line 22; the rest are num" in err


def test_scripts_from_a_pipe(cli: Cli, saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(text: str) -> tuple[int, bytes, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return cli(saved)

    code, out, _ = script(
        ":mode different nodes\nMATCH (a:Person) RETURN count(*) AS n;\nMATCH (a:Post)\nRETURN 1 AS x"
    )
    assert (code, out) == (0, b'"n"\n3\n"x"\n1\n1\n')
    code, out, _ = script("MATCH (a:Post) RETURN count(*) AS n; MATCH (a RETURN a; MATCH (a) RETURN a")
    assert (code, out) == (1, b'"n"\n2\n')
    assert script(":set timeout never")[0] == 2


# --- through real processes: each costs a start --------------------------------------------------------------------


ROWS = "MATCH REPEATABLE ELEMENTS " + ", ".join(f"({name})" for name in "abcdefghijkl") + " RETURN id(a), id(l)"


def started(saved: str) -> subprocess.Popen[bytes]:
    """A process in the middle of more rows than anybody can wait for."""
    child = subprocess.Popen([*GQUERY, "run", saved, ROWS], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b'"id(a)","id(l)"\n'
    return child


def test_nobody_reads_on(saved: str) -> None:
    """As in `gquery run ... | head -1`."""
    with started(saved) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert child.stderr.read() == b""
        assert child.wait(timeout=60) == 141


def test_ctrl_c(saved: str) -> None:
    with started(saved) as child:
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
        assert child.returncode == 130
        assert err == b"Cancelled: the query was cancelled\n"


def test_a_refusal_without_a_number(cli: Cli, saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a library that cannot be mapped for want of memory, say: the answer could not be written, None."""

    def refuse(_: object) -> NoReturn:
        raise OSError("could not load the library")

    monkeypatch.setattr(command_line, "_COMMANDS", {"info": refuse})
    monkeypatch.setattr(command_line, "_drop_stdout", lambda: None)
    assert cli("info", saved)[2] == "Execution error: cannot write the answer: could not load the library\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("script", [False, True])
def test_a_full_disk(saved: str, script: bool) -> None:
    command = [*GQUERY, saved] if script else [*GQUERY, "run", saved, PEOPLE]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, cwd=ROOT, input=PEOPLE.encode(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode() == f"Execution error: cannot write the answer: {os.strerror(28)}\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("run {} 'RETURN 1 AS x' >&-", 1, f"Execution error: cannot write the answer: {os.strerror(errno.EBADF)}"),
        ("run {} 'RETURN 1 AS x' -o answer.csv <&- >&-", 0, "1 row"), ("{} <&-", 0, ""),
        ("run {} - <&-", 1, "Syntax error: the query is empty"),
    ],
)  # fmt: skip
def test_streams_that_are_closed(saved: str, tmp_path: Path, arguments: str, code: int, said: str) -> None:
    command = f"{shlex.join(GQUERY)} {arguments.format(saved)}"
    found = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=found, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()[: len(said)]) == (code, said)
    assert bool(done.stderr) == bool(said)


NAMES = {"Straße": {"id": [1], "имя": ["Ж"]}}


def told_in(encoding: str, *arguments: str, script: bytes = b"") -> tuple[int, bytes, str]:
    """Exit code, stdout and stderr of a process whose standard streams have an encoding."""
    found = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*GQUERY, *arguments], cwd=ROOT, env=found, input=script, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode(encoding)


def test_a_character_that_stdout_cannot_write(tmp_path: Path) -> None:
    gquery.from_arrow(NAMES, {}).save(tmp_path / "names.gq")
    saved = str(tmp_path / "names.gq")
    code, out, _ = told_in("cp1252", "run", saved, "MATCH (a) RETURN a", "--format", "table")
    assert (code, "(:Straße {id: 1, \\u0438\\u043c\\u044f: '\\u0416'})" in out.decode("cp1252")) == (0, True)
    code, out, _ = told_in("ascii", "explain", saved, "MATCH (a:Straße) RETURN a")
    assert (code, b"(a:Stra\\xdfe)" in out) == (0, True)


def test_a_script_is_utf_8(saved: str, tmp_path: Path) -> None:
    script = "RETURN 'é' AS x"
    (tmp_path / "script.cypher").write_text(script, encoding="utf-8-sig")  # an editor on Windows begins with a mark
    for arguments in ([saved], ["run", saved, "-"], ["run", saved, f"@{tmp_path}/script.cypher"]):
        done = told_in("ascii", *arguments, script=script.encode("utf-8-sig"))
        assert done[:2] == (0, '"x"\n"é"\n'.encode())
    code, _, err = told_in("utf-8", saved, script=script.encode("latin-1"))
    assert code == 1
    assert err.endswith("hint: was the text decoded with the right encoding?\n")

"""`gquery motifs`: what it writes and says."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

Cli = Callable[..., tuple[int, bytes, str]]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Four feed-forward loops that share their ends, and a self-loop."""
    path = tmp_path_factory.mktemp("networks") / "loops.csv"
    edges = [(1, 9), (2, 2), *((1, middle) for middle in range(2, 6)), *((middle, 9) for middle in range(2, 6))]
    path.write_text("source,target\n" + "".join(f"{tail},{head}\n" for tail, head in edges))
    return str(path)


def test_csv_in_a_pipe(cli: Cli, network: str) -> None:
    code, out, err = cli("motifs", network, "-k", "3", "--random", "50")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out.decode())))
    assert {row["class"]: int(row["count"]) for row in rows} == {"000100110": 4, "000000110": 6, "000100100": 6}
    assert "self-loops, left out: 1" in err
    assert "50 random graphs, seed 0" in err
    assert "3 motifs in " in err


def test_files(cli: Cli, network: str, tmp_path: Path) -> None:
    page, table = tmp_path / "report.html", tmp_path / "table.parquet"
    for target in (page, table):
        assert cli("motifs", network, "-k", "4", "--random", "20", "--seed", "7", "-o", str(target))[0] == 0
    found = parquet.read_table(table)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2 * found.num_rows + 2 * min(3, found.num_rows) > 0
    assert all(pattern.replace(">", "&gt;") in text for pattern in found["pattern"].to_pylist())


def test_files_of_other_tools(cli: Cli, network: str, tmp_path: Path) -> None:
    for name, line in (("mfinder", "38\t4\t"), ("fanmod", "38,000,25.00000%")):
        target = tmp_path / f"{name}.txt"
        asked = ("motifs", network, "-k", "3", "--random", "20", "-o", str(target), "--format", name)
        assert cli(*asked)[0] == 0
        assert f"\n{line}" in target.read_text()


def test_choices(cli: Cli, network: str) -> None:
    _, out, _ = cli("motifs", network, "-k", "3", "--random", "0", "--ignore-directions", "--type", "EDGE")
    rows = list(csv.DictReader(io.StringIO(out.decode())))
    assert {row["mfinder"]: (row["count"], row["z"]) for row in rows} == {"78": ("12", ""), "238": ("4", "")}
    code, out, _ = cli("motifs", network, "-k", "3", "--random", "20", "--min-z", "1000")
    assert (code, len(out.splitlines())) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "9"], 1, "3 to 8 vertices"),
        (["-k", "3", "--type", "X"], 1, "no type `X`"),
        (["-k", "3", "--random", "10000000", "--timeout", "0.2", "--memory-limit", "100GB"], 124, "Timeout"),
        (["-k", "3", "--memory-limit", "1kB"], 1, "limit"),
        (["--random", "3"], 2, "-k"),
    ],
)
def test_what_cannot_be_done(cli: Cli, network: str, arguments: list[str], code: int, message: str) -> None:
    told, _, err = cli("motifs", network, *arguments)
    assert told == code
    assert message in err
